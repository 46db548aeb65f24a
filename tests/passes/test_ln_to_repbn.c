/* ln-to-repbn against RepBN and least squares computed in double on the samples. */
#include <stdlib.h>

#include "tests/passes/norm_case.h"

#include "tests/support/check_main.h"

#define DEVIATION                                                                          \
    "    m = ReduceMean(x) {axes=[-1]} @mean\n    d = Sub(x, m) @sub\n"                     \
    "    q = Pow(d, two) @pow\n    v = ReduceMean(q) {axes=[-1]} @var\n"                    \
    "    k = Add(v, e) @eps\n    r = Sqrt(k) @sqrt\n    u = Div(d, r) @div\n"
#define RMS_HEAD "model ir=11 opset=23\n\ngraph g (x: f32[n, 5, 3]) -> (y) {\n" \
    "    s = const f32[3] {1.5, -0.5, 2}\n"

static const NormCase norm_table[] = {
    {"LayerNorm", TOKENS,
     "    y = LayerNormalization(x, s, b) {axis=-1, epsilon=1e-05} @norm\n", false, true},
    {"LayerNorm without a shift", TOKENS,
     "    y = LayerNormalization(x, s) {axis=-1, epsilon=1e-05} @norm\n", false, false},
    {"LayerNorm written out", TOKENS,
     DEVIATION "    t = Mul(u, s) @mul\n    y = Add(t, b) @norm\n", false, true},
    {"RMSNorm", RMS_HEAD, "    y = RMSNormalization(x, s) {axis=-1, epsilon=1e-05} @norm\n", true,
     false},
    {"RMSNorm written out", TOKENS,
     "    q = Pow(x, two) @pow\n    v = ReduceMean(q) {axes=[-1]} @var\n"
     "    k = Add(v, e) @eps\n    r = Sqrt(k) @sqrt\n    u = Div(x, r) @div\n"
     "    y = Mul(s, u) @norm\n", true, false},
    {"four axes", TOKENS,
     "    f = const i64[4] {0, 1, 5, 3}\n    g = const i64[3] {0, 5, 3}\n"
     "    w = Reshape(x, f) {allowzero=0}\n"
     "    h = LayerNormalization(w, s, b) {axis=-1, epsilon=1e-05} @norm\n"
     "    y = Reshape(h, g) {allowzero=0}\n", false, true},
    {"channels first", TOKENS,
     "    sc = const f32[3, 1] {1.5, -0.5, 2}\n    bc = const f32[3, 1] {0.25, 0, -1}\n"
     "    w = Transpose(x) {perm=[0, 2, 1]}\n    m = ReduceMean(w) {axes=[1]} @mean\n"
     "    d = Sub(w, m) @sub\n    q = Pow(d, two) @pow\n    v = ReduceMean(q) {axes=[1]} @var\n"
     "    k = Add(v, e) @eps\n    r = Sqrt(k) @sqrt\n    u = Div(d, r) @div\n"
     "    t = Mul(u, sc) @mul\n    z = Add(t, bc) @norm\n"
     "    y = Transpose(z) {perm=[0, 2, 1]}\n", false, true},
};
enum { N_NORM = sizeof norm_table / sizeof *norm_table };

/* --- references --- */

static void lsq(const NormCase *norm, double *y, double *r2)
{
    static double ln[N_X];
    double explained = 0, all = 0;
    norm_all(norm, ln);
    for (int c = 0; c < WIDTH; c++) {
        double cov = covariance_of(sample, ln, c), var = covariance_of(sample, sample, c);
        double a = cov / var, shift = mean_of(ln, c) - a * mean_of(sample, c);
        for (int i = c; i < N_X; i += WIDTH)
            y[i] = a * sample[i] + shift;
        explained += a * cov;
        all += covariance_of(ln, ln, c);
    }
    *r2 = explained / all;
}

/* γ (x-μ)/σ + β + η x */
static void repbn(const NormCase *norm, bool has_statistics, double eta, double *y)
{
    for (int c = 0; c < WIDTH; c++) {
        double gamma = has_statistics ? norm_scale[c] : 1;
        double beta = has_statistics && norm->has_shift ? norm_shift[c] : 0;
        double mean = has_statistics ? mean_of(sample, c) : 0;
        double var = has_statistics ? covariance_of(sample, sample, c) : 1;
        for (int i = c; i < N_X; i += WIDTH)
            y[i] = gamma * (sample[i] - mean) / sqrt(var + 1e-5) + beta + eta * sample[i];
    }
}

static void convert(NormRun *run, const NormCase *norm, const char *words)
{
    VfErr err = {0};
    norm_open(run, norm->head, norm->body);
    ck_assert_msg(norm_convert(run, words, true, &err) == VF_OK, "%s: %s", norm->name, err.text);
}

static const VfEdit *edit_of(const NormRun *run, const char *pass)
{
    for (int32_t i = 0; i < run->model.journal->n_edit; i++)
        if (strcmp(run->model.journal->edit[i].pass, pass) == 0)
            return &run->model.journal->edit[i];
    ck_abort_msg("no edit of '%s'", pass);
    return NULL;
}

/* --- tests --- */

/* Whatever η is, and also when RepBN is folded into one BatchNormalization. */
START_TEST(least_squares)
{
    static const char *const words[] = {"ln-to-repbn", "ln-to-repbn:init=lsq,eta=-0.75,eps=0.01",
                                        "ln-to-repbn:eta=0;fold-repbn"};
    const NormCase *norm = &norm_table[_i];
    static double want[N_X];
    static float got[N_X];
    for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
        NormRun run;
        double r2;
        convert(&run, norm, words[k]);
        lsq(norm, want, &r2);
        norm_results(&run, (double)NAN, got);
        norm_compare(got, want, norm->name);
        const char *told = strstr(edit_of(&run, "ln-to-repbn")->note, "R2 of an affine map ");
        ck_assert_ptr_nonnull(told);
        ck_assert_double_eq_tol(strtod(told + strlen("R2 of an affine map "), NULL), r2, 2e-6);
        ck_assert_ptr_nonnull(strstr(edit_of(&run, "ln-to-repbn")->note, "120 values a channel"));
        ck_assert(r2 > 0.2 && r2 < 0.999);
        norm_close(&run);
    }
}
END_TEST

START_TEST(statistics)
{
    const NormCase *norm = &norm_table[_i];
    static double want[N_X];
    static float got[N_X];
    NormRun run;
    convert(&run, norm, "ln-to-repbn:init=stats,eta=0.5");
    repbn(norm, true, 0.5, want);
    norm_results(&run, (double)NAN, got);
    norm_compare(got, want, norm->name);
    norm_close(&run);
}
END_TEST

START_TEST(new_layer)
{
    const NormCase *norm = &norm_table[_i];
    static double want[N_X];
    static float got[N_X];
    NormRun run;
    convert(&run, norm, "ln-to-repbn:init=default");
    repbn(norm, false, 1, want);
    norm_results(&run, (double)NAN, got);
    norm_compare(got, want, norm->name);
    norm_close(&run);
}
END_TEST

/* Also where it reads a value of the graph around: the rest of the model is converted. */
START_TEST(branch_is_left_alone)
{
    NormRun run;
    VfErr err = {0};
    norm_open(&run, TOKENS,
              "    a = ReduceSum(x) {keepdims=0}\n    c = Cast(a) {to=9}\n"
              "    y = If(c) {then_branch=graph t () -> (u) {\n"
              "        u = LayerNormalization(x, s, b) {axis=-1} @norm\n"
              "    }, else_branch=graph f () -> (w) {\n        w = Abs(x)\n    }}\n");
    ck_assert_msg(norm_convert(&run, "ln-to-repbn", true, &err) == VF_OK, "%s", err.text);
    ck_assert_int_eq(run.model.journal->n_refusal, 1);
    norm_close(&run);
}
END_TEST

START_TEST(needs_data)
{
    static const char *const words[] = {"ln-to-repbn", "ln-to-repbn:init=stats",
                                        "progressive-norm:init=lsq"};
    NormRun run;
    VfErr err = {0};
    norm_open(&run, norm_table[0].head, norm_table[0].body);
    ck_assert_int_eq(norm_convert(&run, words[_i], false, &err), VF_USAGE);
    ck_assert_ptr_nonnull(strstr(err.text, "init is measured on calibration data, and none is "
                                           "given; init=default needs none"));
    norm_close(&run);
}
END_TEST

/* A channel that never varies: a = 0 there, and R2 counts the others. */
START_TEST(constant_channel)
{
    NormRun run;
    VfErr err = {0};
    static float got[N_X];
    static double ln[N_X];
    norm_open(&run, TOKENS, "    z = const f32[3] {1, 0, 1}\n    w = Mul(x, z)\n"
              "    y = LayerNormalization(w, s, b) {axis=-1, epsilon=1e-05} @norm\n");
    ck_assert_msg(norm_convert(&run, "ln-to-repbn:eta=0", true, &err) == VF_OK, "%s", err.text);
    for (int i = 1; i < N_X; i += WIDTH)
        sample[i] = 0;
    norm_all(&norm_table[0], ln);
    make_samples();
    norm_results(&run, (double)NAN, got);
    for (int i = 1; i < N_X; i += WIDTH)
        ck_assert(fabs((double)got[i] - mean_of(ln, 1)) < 1e-4);
    norm_close(&run);
}
END_TEST

/* y = a x + c with the a and c of least squares from u to LN(u). */
static void fit_and_apply(const double *u, const double *x, double *y)
{
    static double ln[N_X];
    for (int i = 0; i < N_ROW; i++)
        norm_row(u + i * WIDTH, &norm_table[0], ln + i * WIDTH);
    for (int c = 0; c < WIDTH; c++) {
        double a = covariance_of(u, ln, c) / covariance_of(u, u, c);
        for (int i = c; i < N_X; i += WIDTH)
            y[i] = a * (x[i] - mean_of(u, c)) + mean_of(ln, c);
    }
}

static void multiply(const double *x, double *y)
{
    static const double w[WIDTH][WIDTH] = {{1, -2, 0.5}, {0.25, 1, -1}, {-0.5, 0, 2}};
    for (int i = 0; i < N_X; i++) {
        y[i] = 0;
        for (int c = 0; c < WIDTH; c++)
            y[i] += x[i / WIDTH * WIDTH + c] * w[c][i % WIDTH];
    }
}

/* Two norms with a product between: the second is fitted to what reaches it before or after the
 * first is changed. */
START_TEST(joint_and_in_turn)
{
    static const char *const words[] = {"ln-to-repbn", "ln-to-repbn:fit=in-turn"};
    static double before[N_X], first[N_X], old[N_X], reaching[N_X], want[N_X];
    static float got[N_X];
    NormRun run;
    VfErr err = {0};
    norm_open(&run, TOKENS,
              "    w = const f32[3, 3] {1, -2, 0.5, 0.25, 1, -1, -0.5, 0, 2}\n"
              "    t = LayerNormalization(x, s, b) {axis=-1, epsilon=1e-05} @norm\n"
              "    p = MatMul(t, w)\n"
              "    y = LayerNormalization(p, s, b) {axis=-1, epsilon=1e-05} @norm2\n");
    ck_assert_msg(norm_convert(&run, words[_i], true, &err) == VF_OK, "%s", err.text);
    norm_all(&norm_table[0], first);
    multiply(first, before);
    fit_and_apply(sample, sample, old);
    multiply(old, reaching);
    fit_and_apply(_i == 0 ? before : reaching, reaching, want);
    norm_results(&run, (double)NAN, got);
    norm_compare(got, want, words[_i]);
    norm_close(&run);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("ln-to-repbn");
    TCase *tcase = tcase_create("ln-to-repbn");
    tcase_add_loop_test(tcase, least_squares, 0, N_NORM);
    tcase_add_loop_test(tcase, statistics, 0, N_NORM);
    tcase_add_loop_test(tcase, new_layer, 0, N_NORM);
    tcase_add_loop_test(tcase, needs_data, 0, 3);
    tcase_add_test(tcase, branch_is_left_alone);
    tcase_add_test(tcase, constant_channel);
    tcase_add_loop_test(tcase, joint_and_in_turn, 0, 2);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
