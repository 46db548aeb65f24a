/* Random small graphs with norms in them: folding keeps what they compute, and settles.
 *
 * A graph is a chain of layers, norms and operators that move elements, with some values read
 * twice. Everything follows from the seed, so a failure names the seed and prints the graph.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "passes/ir/vft.h"
#include "passes/manager.h"
#include "tests/support/check_main.h"
#include "tests/support/run_model.h"

enum { RANK_MAX = 6, N_SEED = 400 };
static const double TOLERANCE = 1e-4;

/* The graph as it grows: `text` holds constants and nodes, value `v<last>` is the last made. */
typedef struct Gen {
    uint64_t state;
    VfText text;
    int last, n_const;
    int rank;
    int64_t dims[RANK_MAX];
} Gen;

static int64_t pick(Gen *g, int64_t n)
{
    g->state = g->state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((g->state >> 33) % (uint64_t)n);
}

static void print_dims(Gen *g, int n, const int64_t *dims)
{
    for (int i = 0; i < n; i++)
        vf_text_printf(&g->text, "%s%lld", i > 0 ? ", " : "", (long long)dims[i]);
}

/* A float constant of `n` dims with elements in [low, low + 1); its number. */
static int floats(Gen *g, int n, const int64_t *dims, double low)
{
    int64_t count = 1;
    for (int i = 0; i < n; i++)
        count *= dims[i];
    vf_text_printf(&g->text, "    c%d = const f32[", ++g->n_const);
    print_dims(g, n, dims);
    vf_text_string(&g->text, "] {");
    for (int64_t i = 0; i < count; i++)
        vf_text_printf(&g->text, "%s%.3f", i > 0 ? ", " : "", low + (double)pick(g, 1000) / 1000.0);
    vf_text_string(&g->text, "}\n");
    return g->n_const;
}

static int ints(Gen *g, int n, const int64_t *values)
{
    vf_text_printf(&g->text, "    c%d = const i64[%d] {", ++g->n_const, n);
    print_dims(g, n, values);
    vf_text_string(&g->text, "}\n");
    return g->n_const;
}

static int64_t count_of(const Gen *g)
{
    int64_t count = 1;
    for (int i = 0; i < g->rank; i++)
        count *= g->dims[i];
    return count;
}

/* --- operators; each leaves the graph alone where it does not apply --- */

static void norm(Gen *g)
{
    int64_t channels = g->rank >= 2 ? g->dims[1] : 0;
    if (channels == 0)
        return;
    int k = floats(g, 1, &channels, -0.5);
    floats(g, 1, &channels, -0.5);
    floats(g, 1, &channels, -0.5);
    floats(g, 1, &channels, 0.3);
    int x = g->last;
    vf_text_printf(&g->text, "    v%d = BatchNormalization(v%d, c%d, c%d, c%d, c%d) @bn%d\n", x + 1,
                   x, k, k + 1, k + 2, k + 3, x + 1);
    g->last++;
    if (pick(g, 3) != 0)
        return;
    int64_t one = 1;
    int eta = floats(g, 1, &one, 0.2);
    vf_text_printf(&g->text, "    v%d = Mul(c%d, v%d)\n    v%d = Add(v%d, v%d)\n", x + 2, eta, x,
                   x + 3, x + 1, x + 2);
    g->last = x + 3;
}

/* Times a scale and, half of the time, plus a shift along the last axis; or along axis 1. */
static void affine(Gen *g, int axis)
{
    int64_t dims[RANK_MAX], n = g->rank - axis;
    for (int64_t i = 0; i < n; i++)
        dims[i] = i == 0 ? g->dims[axis] : 1;
    int k = floats(g, (int)n, dims, -0.5);
    vf_text_printf(&g->text, "    v%d = Mul(v%d, c%d)\n", g->last + 1, g->last, k);
    g->last++;
    if (pick(g, 2) == 0)
        return;
    k = floats(g, (int)n, dims, -0.5);
    vf_text_printf(&g->text, "    v%d = Add(c%d, v%d)\n", g->last + 1, k, g->last);
    g->last++;
}

/* x / (sqrt(mean(x²)) + 0.1), or with epsilon inside of the root. */
static void rms_norm(Gen *g)
{
    int axis = g->rank == 4 && pick(g, 2) == 0 ? 1 : g->rank - 1, x = g->last;
    vf_text_printf(&g->text, "    c%d = const f32[] {0.1}\n", ++g->n_const);
    vf_text_printf(&g->text, "    v%d = Mul(v%d, v%d)\n", x + 1, x, x);
    vf_text_printf(&g->text, "    v%d = ReduceMean(v%d) {axes=[%d], keepdims=1}\n", x + 2, x + 1,
                   axis);
    bool is_inside = pick(g, 2) == 0;
    const char *first = is_inside ? "Add" : "Sqrt", *then = is_inside ? "Sqrt" : "Add";
    char floor[32];
    snprintf(floor, sizeof floor, ", c%d", g->n_const);
    vf_text_printf(&g->text, "    v%d = %s(v%d%s)\n", x + 3, first, x + 2, is_inside ? floor : "");
    vf_text_printf(&g->text, "    v%d = %s(v%d%s)\n", x + 4, then, x + 3, is_inside ? "" : floor);
    vf_text_printf(&g->text, "    v%d = Div(v%d, v%d)\n", x + 5, x, x + 4);
    g->last = x + 5;
    affine(g, axis);
}

static void layer_norm(Gen *g)
{
    int64_t dim = g->dims[g->rank - 1];
    int k = floats(g, 1, &dim, -0.5), x = g->last;
    floats(g, 1, &dim, -0.5);
    vf_text_printf(&g->text, "    v%d = LayerNormalization(v%d, c%d", x + 1, x, k);
    if (pick(g, 2) == 0)
        vf_text_printf(&g->text, ", c%d", k + 1);
    vf_text_string(&g->text, ") {axis=-1, epsilon=0.1}\n");
    g->last++;
}

static void matmul(Gen *g)
{
    int64_t dims[] = {g->dims[g->rank - 1], 2 + pick(g, 3)};
    int w = floats(g, 2, dims, -0.5);
    vf_text_printf(&g->text, "    v%d = MatMul(v%d, c%d)\n", g->last + 1, g->last, w);
    g->last++;
    g->dims[g->rank - 1] = dims[1];
    if (pick(g, 2) == 0)
        return;
    int b = floats(g, 1, &dims[1], -0.5);
    vf_text_printf(&g->text, "    v%d = Add(c%d, v%d)\n", g->last + 1, b, g->last);
    g->last++;
}

static void matmul_left(Gen *g)
{
    if (g->rank < 2)
        return;
    int64_t dims[] = {2 + pick(g, 3), g->dims[g->rank - 2]};
    int w = floats(g, 2, dims, -0.5);
    vf_text_printf(&g->text, "    v%d = MatMul(c%d, v%d)\n", g->last + 1, w, g->last);
    g->last++;
    g->dims[g->rank - 2] = dims[0];
}

static void conv(Gen *g)
{
    if (g->rank != 4)
        return;
    int64_t group = pick(g, 2) == 0 ? g->dims[1] : 1, kernel = 1 + pick(g, 3), pad = pick(g, 2);
    int64_t dims[] = {group * (1 + pick(g, 2)), g->dims[1] / group, kernel, kernel};
    if (g->dims[2] + 2 * pad < kernel || g->dims[3] + 2 * pad < kernel)
        return;
    int w = floats(g, 4, dims, -0.5), b = floats(g, 1, dims, -0.5);
    const char *bias = pick(g, 2) == 0 ? "" : ", c";
    vf_text_printf(&g->text, "    v%d = Conv(v%d, c%d%s", g->last + 1, g->last, w, bias);
    if (bias[0] != '\0')
        vf_text_printf(&g->text, "%d", b);
    vf_text_printf(&g->text, ") {group=%d, kernel_shape=[%d, %d], pads=[%d, %d, %d, %d]}\n",
                   (int)group, (int)kernel, (int)kernel, (int)pad, (int)pad, (int)pad, (int)pad);
    g->last++;
    g->dims[1] = dims[0];
    g->dims[2] += 2 * pad - kernel + 1;
    g->dims[3] += 2 * pad - kernel + 1;
}

static void transpose(Gen *g)
{
    int64_t perm[RANK_MAX], dims[RANK_MAX];
    for (int i = 0; i < g->rank; i++)
        perm[i] = i;
    for (int i = g->rank - 1; i > 0; i--) {
        int64_t j = pick(g, i + 1), kept = perm[i];
        perm[i] = perm[j];
        perm[j] = kept;
    }
    vf_text_printf(&g->text, "    v%d = Transpose(v%d) {perm=[", g->last + 1, g->last);
    print_dims(g, g->rank, perm);
    vf_text_string(&g->text, "]}\n");
    for (int i = 0; i < g->rank; i++)
        dims[i] = g->dims[perm[i]];
    memcpy(g->dims, dims, sizeof dims);
    g->last++;
}

static void reshape(Gen *g)
{
    int i = (int)pick(g, g->rank);
    if (g->rank > 2 && i + 1 < g->rank) {
        g->dims[i] *= g->dims[i + 1];
        memmove(&g->dims[i + 1], &g->dims[i + 2], (size_t)(g->rank - i - 2) * sizeof g->dims[0]);
        g->rank--;
    } else if (g->rank < RANK_MAX && g->dims[i] % 2 == 0) {
        memmove(&g->dims[i + 1], &g->dims[i], (size_t)(g->rank - i) * sizeof g->dims[0]);
        g->dims[i] /= 2;
        g->dims[i + 1] = 2;
        g->rank++;
    }
    int shape = ints(g, g->rank, g->dims);
    vf_text_printf(&g->text, "    v%d = Reshape(v%d, c%d)\n", g->last + 1, g->last, shape);
    g->last++;
}

/* The elements from 1 on, then (for a roll) the first behind them. */
static void slice(Gen *g)
{
    int64_t axis = pick(g, g->rank), zero = 0, one = 1, end = INT64_MAX;
    if (g->dims[axis] < 2)
        return;
    int a = ints(g, 1, &axis), z = ints(g, 1, &zero), o = ints(g, 1, &one), e = ints(g, 1, &end);
    int x = g->last;
    vf_text_printf(&g->text, "    v%d = Slice(v%d, c%d, c%d, c%d)\n", x + 1, x, o, e, a);
    g->last = x + 1;
    if (pick(g, 2) == 0) {
        g->dims[axis]--;
        return;
    }
    vf_text_printf(&g->text, "    v%d = Slice(v%d, c%d, c%d, c%d)\n", x + 2, x, z, o, a);
    vf_text_printf(&g->text, "    v%d = Concat(v%d, v%d) {axis=%d}\n", x + 3, x + 1, x + 2,
                   (int)axis);
    g->last = x + 3;
}

static void gather(Gen *g)
{
    int64_t axis = pick(g, g->rank), n = 1 + pick(g, 3), index[3];
    for (int64_t i = 0; i < n; i++)
        index[i] = pick(g, g->dims[axis]);
    int k = ints(g, (int)n, index);
    vf_text_printf(&g->text, "    v%d = Gather(v%d, c%d) {axis=%d}\n", g->last + 1, g->last, k,
                   (int)axis);
    g->dims[axis] = n;
    g->last++;
}

static void mean(Gen *g)
{
    int64_t axis = pick(g, g->rank);
    vf_text_printf(&g->text, "    v%d = ReduceMean(v%d) {axes=[%d], keepdims=1}\n", g->last + 1,
                   g->last, (int)axis);
    g->dims[axis] = 1;
    g->last++;
}

static void term(Gen *g)
{
    int64_t dim = g->dims[g->rank - 1];
    int k = floats(g, 1, &dim, 0.5);
    static const char *const op[] = {"Add", "Sub", "Mul", "Div"};
    vf_text_printf(&g->text, "    v%d = %s(v%d, c%d)\n", g->last + 1, op[pick(g, 4)], g->last, k);
    g->last++;
}

static void relu(Gen *g)
{
    vf_text_printf(&g->text, "    v%d = Relu(v%d)\n", g->last + 1, g->last);
    g->last++;
}

/* Norms and layers several times, so that they meet often. */
static void (*const operators[])(Gen *g) = {
    norm,  norm,   norm,      matmul,    matmul,  matmul,  matmul_left, conv,   conv, mean,
    term,  relu,   transpose, transpose, reshape, reshape, slice,       gather, rms_norm,
    layer_norm, layer_norm,
};

static const char *make_graph(VfArena *arena, int seed, bool is_dynamic)
{
    Gen g = {.state = (uint64_t)seed, .rank = 2 + seed % 3, .dims = {2, 4, 3, 6}};
    VfText whole;
    VfBytes out;
    vf_text_init(&g.text, arena);
    vf_text_init(&whole, arena);
    vf_text_string(&whole, "model ir=8 opset=17\n\ngraph g (v0: f32[");
    Gen head = {.text = whole, .rank = g.rank};
    if (is_dynamic)
        vf_text_string(&head.text, "n, ");
    print_dims(&head, g.rank - is_dynamic, g.dims + is_dynamic);
    int64_t n = 6 + pick(&g, 8), second = -1;
    if (is_dynamic)
        g.dims[0] = 3;
    for (int64_t i = 0; i < n && count_of(&g) < 4000; i++) {
        operators[pick(&g, (int64_t)(sizeof operators / sizeof operators[0]))](&g);
        if (pick(&g, 12) == 0)
            second = g.last;
    }
    if (g.last == 0)
        relu(&g);
    vf_text_printf(&head.text, "]) -> (v%d", g.last);
    if (second > 0 && second != g.last)
        vf_text_printf(&head.text, ", v%d", (int)second);
    vf_text_printf(&head.text, ") {\n%s}\n", g.text.data);
    return vf_text_get(&head.text, &out, NULL) == VF_OK ? out.data : NULL;
}

static VfModel *parse(const char *text)
{
    VfErr err = {0};
    VfModel *model = NULL;
    VfStatus status = vf_vft_parse((VfBytes){text, strlen(text)}, "random", &model, &err);
    ck_assert_msg(status == VF_OK, "%s\n%s", err.text, text);
    return model;
}

/* Fold and say how many edits that took. */
static int32_t fold(VfArena *arena, VfModel *model, const char *text)
{
    VfErr err = {0};
    VfPipeline pipeline;
    VfPipelineOptions options = {.stop_after = -1};
    VfJournal *journal = vf_journal_new(model);
    const char *words = "fold-repbn,fold-bn,fold-ln-affine";
    ck_assert_int_eq(vf_pipeline_parse(arena, words, NULL, &pipeline, &err), VF_OK);
    VfStatus status = vf_pipeline_run(model, &pipeline, &options, journal, NULL, NULL, &err);
    ck_assert_msg(status == VF_OK, "%s\n%s", err.text, text);
    return journal->n_edit;
}

START_TEST(folding_keeps_the_function)
{
    VfErr err = {0};
    VfTestOutputs before, after;
    int32_t n_edit = 0;
    for (int seed = _i * 100; seed < _i * 100 + 100; seed++) {
        VfArena *arena = vf_arena_new();
        const char *text = make_graph(arena, seed, seed % 2 == 1);
        VfModel *old = parse(text), *new = parse(text);
        VfStatus status = vf_test_run(old, 7, arena, &before, &err);
        ck_assert_msg(status == VF_OK, "seed %d: %s\n%s", seed, err.text, text);
        n_edit += fold(arena, new, text);
        status = vf_test_run(new, 7, arena, &after, &err);
        ck_assert_msg(status == VF_OK, "seed %d: %s\n%s", seed, err.text, text);
        double distance = vf_test_distance(&before, &after);
        ck_assert_msg(distance <= TOLERANCE, "seed %d: outputs moved by %g\n%s", seed, distance,
                      text);
        ck_assert_msg(fold(arena, new, text) == 0, "seed %d: a second run edits\n%s", seed, text);
        vf_model_free(old);
        vf_model_free(new);
        vf_arena_free(arena);
    }
    ck_assert_msg(n_edit >= 20, "only %d edits in 100 graphs: the generator is blunt", (int)n_edit);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("random folds");
    TCase *tcase = tcase_create("random");
    tcase_set_timeout(tcase, 300);
    tcase_add_loop_test(tcase, folding_keeps_the_function, 0, N_SEED / 100);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
