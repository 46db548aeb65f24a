/* Token kernels of small graphs against numbers worked out by hand. */
#include "converter/api/signal.h"

#include <math.h>
#include <stdio.h>

#include "passes/ir/infer.h"
#include "passes/spa/kernel.h"
#include "passes/spa/schedule.h"
#include "tests/support/check_main.h"
#include "tests/unit/ir/vft_case.h"

static VfArena *arena;
static VfModel *model;

static void set_up(void)
{
    arena = vf_arena_new();
    ck_assert_ptr_nonnull(arena);
}

static void tear_down(void)
{
    vf_model_free(model);
    model = NULL;
    vf_arena_free(arena);
}

/* Rows of the model whose body is `body`: x is f64[1, t, 6]. */
static VfSignal signal_of(int t, const char *body)
{
    static char text[16384];
    VfErr err = {0};
    VfSignal signal = {0};
    VfSiteList *sites = VF_NEW(arena, VfSiteList);
    snprintf(text, sizeof text,
             "model ir=8 opset=17\ngraph g (x: f64[1, %d, 6]) -> (y) {\n"
             "w = const f64[6, 6] random(1)\n%s}\n", t, body);
    model = read_vft(text);
    ck_assert_msg(vf_sites_find(arena, model, sites, &err) == VF_OK, "%s", err.text);
    ck_assert_msg(vf_signal_walk(arena, model, sites, &signal, &err) == VF_OK, "%s", err.text);
    return signal;
}

/* Projections and scores of a site that reads `in`; each name ends in `n`. */
#define SCORES(in, n)                                               \
    "q" n " = MatMul(" in ", w)\nk" n " = MatMul(" in ", w)\n"       \
    "v" n " = MatMul(" in ", w)\n"                                   \
    "t" n " = Transpose(k" n ") {perm=[0, 2, 1]}\n"                  \
    "s" n " = MatMul(q" n ", t" n ")\n"
#define VALUES(n) "o" n " = MatMul(p" n ", v" n ")\n"
#define PLAIN(in, n) SCORES(in, n) "p" n " = Softmax(s" n ") {axis=-1}\n" VALUES(n)
/* Far above all else on the diagonal: A is the identity. */
#define IDENTITY                                                              \
    "far = const f64[4, 4] {1000,0,0,0, 0,1000,0,0, 0,0,1000,0, 0,0,0,1000}\n"
#define KEEP(in, n) SCORES(in, n) "b" n " = Add(s" n ", far)\n"               \
    "p" n " = Softmax(b" n ") {axis=-1}\n" VALUES(n)

/* The last row of the model, and what it should hold. */
static const struct {
    const char *name;
    int t;
    const char *body;
    double correlation, rank, low, high;
} case_row[] = {
    {"uniform attention has rank one after one layer", 4, PLAIN("x", "1") "y = MatMul(o1, w)\n",
     1, 1, 0.25, 0.25},
    {"causal", 3,
     "m = const f64[3, 3] {0,-10000,-10000, 0,0,-10000, 0,0,0}\n" SCORES("x", "1")
     "c1 = Add(s1, m)\np1 = Softmax(c1) {axis=-1}\n" VALUES("1") "y = MatMul(o1, w)\n",
     (0.707106781186548 + 0.577350269189626 + 0.816496580927726) / 3, 1.5, 1.0 / 3, 1},
    {"plain skip", 4, PLAIN("x", "1") "f = MatMul(o1, w)\ny = Add(x, f)\n",
     0.2, 16 / 4.48, 1.25, 1.25},
    {"normalised skip", 4,
     PLAIN("x", "1") "f = MatMul(o1, w)\na = const f64[] {0.8}\nb = const f64[] {0.6}\n"
     "g = Mul(f, b)\nz = Mul(x, a)\ny = Add(z, g)\n",
     0.09 / 0.73, 16 / (4 + 12 * 0.09 * 0.09 / 0.73 / 0.73), 0.73, 0.73},
    {"point-wise attention that is zero at zero logits", 4,
     SCORES("x", "1") "r1 = Relu(s1)\nl = const f64[] {4}\np1 = Div(r1, l)\n" VALUES("1")
     "y = MatMul(o1, w)\n", (double)NAN, (double)NAN, 0, 0},
    {"point-wise attention that is not", 4,
     SCORES("x", "1") "r1 = Softplus(s1)\nl = const f64[] {4}\np1 = Div(r1, l)\n" VALUES("1")
     "y = MatMul(o1, w)\n", 1, 1, 0.480453013918201 / 4, 0.480453013918201 / 4},
    {"point-wise attention with a bias of 4 I", 4,
     IDENTITY "h = const f64[] {0.004}\nd = Mul(far, h)\n" SCORES("x", "1")
     "b1 = Add(s1, d)\nr1 = Relu(b1)\nl = const f64[] {4}\np1 = Div(r1, l)\n" VALUES("1")
     "y = MatMul(o1, w)\n", 0, 4, 1, 1},
    {"value skip", 4,
     PLAIN("x", "1") "a = const f64[] {0.9}\nb = const f64[] {0.3}\n"
     "g = Mul(o1, b)\nz = Mul(v1, a)\nu = Add(z, g)\ny = MatMul(u, w)\n",
     0.1575 / 0.9675, 16 / (4 + 12 * 0.1575 * 0.1575 / 0.9675 / 0.9675), 0.9675, 0.9675},
    {"shaped", 4,
     PLAIN("x", "1") "a = const f64[] {0.9}\nb = const f64[] {0.3}\nc = const f64[] {0.2}\n"
     "e = ReduceMean(v1) {axes=[1], keepdims=1}\ni = Mul(e, c)\n"
     "g = Mul(o1, b)\nz = Mul(v1, a)\nu = Add(z, g)\nj = Sub(u, i)\ny = MatMul(j, w)\n",
     0.0475 / 0.8575, 16 / (4 + 12 * 0.0475 * 0.0475 / 0.8575 / 0.8575), 0.8575, 0.8575},
    {"rows have factors", 4,
     IDENTITY "d = const f64[1, 4, 1] {1, 2, 3, 4}\n" KEEP("x", "1")
     "u = Mul(o1, d)\ny = MatMul(u, w)\n", 0, 4, 1, 16},
    {"post-norm", 4,
     IDENTITY "g = const f64[6] splat 1\n" PLAIN("x", "1") "f = MatMul(o1, w)\nz = Add(x, f)\n"
     "n = LayerNormalization(z, g)\n" KEEP("n", "2") "y = MatMul(o2, w)\n",
     0.2, 16 / 4.48, 1, 1},
    {"pre-norm: the stream grows", 4,
     IDENTITY "g = const f64[6] splat 1\n" PLAIN("x", "1") "f = MatMul(o1, w)\nz = Add(x, f)\n"
     "n = LayerNormalization(z, g)\n" KEEP("n", "2") "f2 = MatMul(o2, w)\ny = Add(z, f2)\n",
     0.2, 16 / 4.48, 2.25, 2.25},
};
enum { CASE_COUNT = sizeof case_row / sizeof case_row[0] };

static void assert_number(double found, double wanted, const char *what)
{
    bool is_right = isnan(wanted) ? isnan(found) : fabs(found - wanted) <= 1e-9;
    ck_assert_msg(is_right, "%s: %.12g, not %.12g", what, found, wanted);
}

START_TEST(test_case)
{
    VfSignal signal = signal_of(case_row[_i].t, case_row[_i].body);
    ck_assert_int_ge(signal.n_row, 1);
    const VfSignalRow *row = &signal.row[signal.n_row - 1];
    ck_assert_msg(row->has_zero, "%s: %s", case_row[_i].name, row->note);
    ck_assert_int_eq(row->tokens, case_row[_i].t);
    ck_assert_ptr_null(row->note);
    ck_assert_str_eq(vf_value_label(row->output), "y");
    assert_number(row->zero.correlation, case_row[_i].correlation, case_row[_i].name);
    assert_number(row->zero.rank, case_row[_i].rank, case_row[_i].name);
    assert_number(row->zero.low, case_row[_i].low, case_row[_i].name);
    assert_number(row->zero.high, case_row[_i].high, case_row[_i].name);
}
END_TEST

/* Leaky ReLU between two blocks maps the correlation by C; the factor of a tailored one keeps the
 * mean square. */
START_TEST(test_activation)
{
    VfSignal signal = signal_of(
        4, IDENTITY "r = const f64[] {1.3719886811400708}\n" PLAIN("x", "1")
           "f = MatMul(o1, w)\nz = Add(x, f)\nh = MatMul(z, w)\n"
           "a = LeakyRelu(h) {alpha=0.25}\nc = MatMul(a, w)\n" KEEP("c", "2")
           "e = MatMul(o2, w)\nb = LeakyRelu(e) {alpha=0.25}\nd = Mul(b, r)\n" KEEP("d", "3")
           "y = MatMul(o3, w)\n");
    double once = vf_tat_map(0.25, 0.2), kept = 1.25 * (1 + 0.0625) / 2;
    ck_assert_int_eq(signal.n_row, 3);
    assert_number(signal.row[0].zero.correlation, 0.2, "before");
    assert_number(signal.row[1].zero.correlation, once, "behind");
    assert_number(signal.row[1].zero.low, kept, "mean square");
    assert_number(signal.row[2].zero.correlation, vf_tat_map(0.25, once), "behind two");
    assert_number(signal.row[2].zero.high, kept, "mean square kept");
    assert_number(vf_tat_scale(0.25), 1.3719886811400708, "factor");
}
END_TEST

/* Two heads, one uniform and one the identity: the mean of their kernels. */
START_TEST(test_heads)
{
    VfSignal signal = signal_of(
        4, "far = const f64[1, 2, 4, 4] {0,0,0,0, 0,0,0,0, 0,0,0,0, 0,0,0,0,"
           " 1000,0,0,0, 0,1000,0,0, 0,0,1000,0, 0,0,0,1000}\n"
           "sh = const i64[4] {1, 4, 2, 3}\nback = const i64[3] {1, 4, 6}\n"
           "q = MatMul(x, w)\nq2 = Reshape(q, sh)\nq3 = Transpose(q2) {perm=[0, 2, 1, 3]}\n"
           "k = MatMul(x, w)\nk2 = Reshape(k, sh)\nk3 = Transpose(k2) {perm=[0, 2, 3, 1]}\n"
           "v = MatMul(x, w)\nv2 = Reshape(v, sh)\nv3 = Transpose(v2) {perm=[0, 2, 1, 3]}\n"
           "s = MatMul(q3, k3)\nb = Add(s, far)\np = Softmax(b) {axis=-1}\no = MatMul(p, v3)\n"
           "o2 = Transpose(o) {perm=[0, 2, 1, 3]}\no3 = Reshape(o2, back)\ny = MatMul(o3, w)\n");
    ck_assert_int_eq(signal.n_row, 1);
    assert_number(signal.row[0].zero.correlation, 0.2, "correlation");
    assert_number(signal.row[0].zero.low, 0.625, "diagonal");
    assert_number(signal.row[0].zero_rank, 2.5, "mean rank of the matrices");
}
END_TEST

static int put_numbers(char *text, size_t size, const double *number, int32_t n)
{
    int used = 0;
    for (int32_t i = 0; i < n; i++)
        used += snprintf(text + used, size - (size_t)used, "%s%.17g", i == 0 ? "" : ", ",
                         number[i]);
    return used;
}

/* A term from an input is left out, linear attention passes its tokens on, and both are told. */
START_TEST(test_notes)
{
    VfSignal signal = signal_of(
        4, PLAIN("x", "1") "z = MatMul(o1, w)\n" SCORES("z", "2") "m = ReduceMax(x) {axes=[2]}\n"
           "b2 = Add(s2, m)\np2 = Softmax(b2) {axis=-1}\n" VALUES("2") "z2 = MatMul(o2, w)\n"
           "q = MatMul(z2, w)\nr = Relu(q)\nk = MatMul(z2, w)\nl = Relu(k)\n"
           "v = MatMul(z2, w)\nlt = Transpose(l) {perm=[0, 2, 1]}\nkv = MatMul(lt, v)\n"
           "o = MatMul(r, kv)\ny = MatMul(o, w)\n");
    ck_assert_int_eq(signal.n_row, 3);
    ck_assert_ptr_null(signal.row[0].note);
    ck_assert(signal.row[1].has_zero);
    ck_assert_ptr_nonnull(strstr(signal.row[1].note, "taken for a softmax without it"));
    ck_assert(!signal.row[2].has_zero);
    ck_assert_str_eq(signal.row[2].note, "linear attention has no matrix at zero logits");
    ck_assert_str_eq(vf_value_label(signal.row[2].output), "y");
}
END_TEST

/* Three layers whose bias and row factors are those of a stack run through its kernels. */
START_TEST(test_stack)
{
    static char body[8192];
    VfErr err = {0};
    VfSpaStack stack;
    VfSpaSpec spec = vf_spa_spec(_i == 0 ? VF_SPA_LINE : VF_SPA_UNIFORM, 4, 3);
    ck_assert_int_eq(vf_spa_stack(arena, &spec, &stack, &err), VF_OK);
    int used = 0;
    for (int l = 0; l < 3; l++) {
        char b[512], d[128];
        put_numbers(b, sizeof b, stack.layer[l].B.at, 16);
        put_numbers(d, sizeof d, stack.layer[l].D, 4);
        used += snprintf(
            body + used, sizeof body - (size_t)used,
            "B%d = const f64[1, 4, 4] {%s}\nD%d = const f64[1, 4, 1] {%s}\n"
            "q%d = MatMul(x%d, w)\nk%d = MatMul(x%d, w)\nv%d = MatMul(x%d, w)\n"
            "t%d = Transpose(k%d) {perm=[0, 2, 1]}\ns%d = MatMul(q%d, t%d)\n"
            "b%d = Add(s%d, B%d)\np%d = Softmax(b%d) {axis=-1}\no%d = MatMul(p%d, v%d)\n"
            "u%d = Mul(o%d, D%d)\nx%d = MatMul(u%d, w)\n",
            l, b, l, d, l, l, l, l, l, l, l, l, l, l, l, l, l, l, l, l, l, l, l, l, l, l, l + 1, l);
    }
    snprintf(body + used, sizeof body - (size_t)used, "y = Identity(x3)\n");
    memcpy(strstr(body, "MatMul(x0"), "MatMul(x ", 9);
    memcpy(strstr(body, "MatMul(x0"), "MatMul(x ", 9);
    memcpy(strstr(body, "MatMul(x0"), "MatMul(x ", 9);
    VfSignal signal = signal_of(4, body);
    ck_assert_int_eq(signal.n_row, 3);
    for (int32_t l = 1; l <= 3; l++) {
        VfMatrix sigma;
        ck_assert_int_eq(vf_spa_sigma(arena, &stack.spec, l, &sigma, &err), VF_OK);
        VfSignalShape wanted = vf_signal_shape(&sigma), found = signal.row[l - 1].zero;
        assert_number(found.correlation, wanted.correlation, "correlation");
        assert_number(found.low, 1, "diagonal");
        assert_number(found.high, 1, "diagonal");
    }
    assert_number(signal.row[2].zero.correlation, 0.5, "last kernel");
    assert_number(signal.row[2].zero_rank, 4, "rank of A");
}
END_TEST

/* --- numbers of tokens and matrices --- */

START_TEST(test_shape_of_tokens)
{
    static const double wide[] = {3, 0, 0, 0, 3, 4, 0, 0, 0, 2, 0, 0};
    static const double tall[] = {1, 0, 1, 0, 0, 5, 0, 1};
    VfErr err = {0};
    VfSignalShape shape;
    ck_assert_int_eq(vf_signal_shape_of_tokens(arena, wide, 3, 4, &shape, &err), VF_OK);
    assert_number(shape.correlation, (0.6 + 0 + 0.8) / 3, "correlation");
    assert_number(shape.rank, 9 / (3 + 2 * (0.36 + 0.64)), "rank");
    assert_number(shape.low, 1, "smallest mean square");
    assert_number(shape.high, 6.25, "largest mean square");
    ck_assert_int_eq(vf_signal_shape_of_tokens(arena, tall, 4, 2, &shape, &err), VF_OK);
    assert_number(shape.correlation, 2.0 / 6, "correlation");
    assert_number(shape.rank, 2, "rank");
}
END_TEST

START_TEST(test_rank)
{
    double one[] = {1, 2, 3, 2, 4, 6, -1, -2, -3}, two[] = {1, 0, 1, 0, 1, 1, 1, 1, 2};
    double flat[] = {1, 2, 0, 1, 0, 1e-3}, tiny[] = {1, 0, 0, 1e-9}, none[] = {0, 0, 0, 0};
    double large[12 * 12];
    for (int i = 0; i < 144; i++) /* three smooth functions of the row times three of the column */
        large[i] = 1 + sin(i / 12 * 0.7) * (i % 12) + cos(i / 12 * 1.3) * (i % 12) * (i % 12);
    const struct {
        VfMatrix matrix;
        int32_t rank;
    } row[] = {
        {{3, 3, one}, 1},  {{3, 3, two}, 2},  {{2, 3, flat}, 2}, {{3, 2, flat}, 2},
        {{2, 2, tiny}, 1}, {{2, 2, none}, 0}, {{1, 3, one}, 1},  {{12, 12, large}, 3},
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        VfErr err = {0};
        int32_t rank;
        ck_assert_int_eq(vf_signal_rank(arena, &row[i].matrix, &rank, &err), VF_OK);
        ck_assert_msg(rank == row[i].rank, "row %zu: %d, not %d", i, rank, row[i].rank);
    }
}
END_TEST

/* --- data --- */

/* Two samples of 3 tokens of width 2, then of 2 heads of 2 x 2 matrices; `value` says which. */
static VfStatus hand_out(const VfCalibration *self, const VfModel *of, int32_t n,
                         VfValue *const *value, VfCalibrationVisit *visit, void *user, VfErr *err)
{
    static const float tokens[] = {1, 0, 0, 2, 3, 0, /* */ 1, 1, 1, 1, 1, 1};
    static const float matrix[] = {1, 0, 0, 1, 1, 1, 1, 1, /* */ 1, 2, 2, 4, 1, 0, 0, 0};
    static const int64_t token_dims[] = {2, 3, 2}, matrix_dims[] = {2, 2, 2, 2};
    VfTensor given[] = {{VF_F32, 3, token_dims, 12, 48, tokens, VF_STORAGE_LENT},
                        {VF_F32, 4, matrix_dims, 16, 64, matrix, VF_STORAGE_LENT}};
    const VfTensor *list[] = {&given[0], &given[1]};
    (void)self, (void)of;
    ck_assert_int_eq(n, 2);
    ck_assert_str_eq(vf_value_label(value[0]), "y");
    ck_assert_str_eq(vf_value_label(value[1]), "p1");
    return visit(user, list, err);
}

START_TEST(test_measure)
{
    VfErr err = {0};
    VfCalibration data = {hand_out};
    VfSignal signal = signal_of(3, PLAIN("x", "1") "y = MatMul(o1, w)\n");
    ck_assert_int_eq(vf_signal_measure(arena, model, &data, &signal, &err), VF_OK);
    const VfSignalRow *row = &signal.row[0];
    ck_assert(row->has_data);
    ck_assert_int_eq(signal.n_sample, 2);
    assert_number(row->data.correlation, (1.0 / 3 + 1) / 2, "correlation");
    assert_number(row->data.rank, (9.0 / 5 + 1) / 2, "effective rank");
    assert_number(row->data.low, 0.5, "smallest mean square");
    assert_number(row->data.high, 4.5, "largest mean square");
    assert_number(row->rank, 5.0 / 4, "mean rank");
    assert_number(row->rank_low, 1, "least rank");
    assert_number(row->rank_high, 2, "largest rank");
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("api/signal");
    TCase *tcase = tcase_create("signal");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, test_case, 0, CASE_COUNT);
    tcase_add_test(tcase, test_activation);
    tcase_add_test(tcase, test_heads);
    tcase_add_test(tcase, test_notes);
    tcase_add_loop_test(tcase, test_stack, 0, 2);
    tcase_add_test(tcase, test_shape_of_tokens);
    tcase_add_test(tcase, test_rank);
    tcase_add_test(tcase, test_measure);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
