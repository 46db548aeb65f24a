/* linearize-attention against a reference in double, the worked examples, and what must hold for
 * every linear attention (spec of the conversion passes, section 3). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "passes/ir/infer.h"
#include "passes/ir/vft.h"
#include "tests/passes/linear_attention_values.h"
#include "tests/support/check_main.h"
#include "tests/support/run_model.h"
#include "tests/support/run_pass.h"

enum { WIDTH = 2, TOKEN_MAX = 24 };

/* One attention of width 2 without a batch; the first `prefix` tokens lie outside the grid. */
typedef struct Attention {
    int32_t prefix, h, w, stride; /* one key for stride x stride queries */
    const double *q, *k, *v, *pos;
    const double *kernel, *bias; /* [2, side, side] and [2]; NULL: no convolution */
    int32_t side;
    const double *region; /* tokens see tokens of equal number only; NULL: all */
    double eps;
} Attention;

static int32_t n_queries(const Attention *a)
{
    return a->prefix + a->h * a->w;
}

static int32_t n_keys(const Attention *a)
{
    return a->prefix + a->h / a->stride * (a->w / a->stride);
}

/* --- reference, by the quadratic form --- */

static double relu(double x)
{
    return x > 0 ? x : 0;
}

static double feature(const Attention *a, int32_t j, int32_t c)
{
    double p = a->pos != NULL ? a->pos[j * WIDTH + c] : 0;
    return relu(a->k[j * WIDTH + c] + p);
}

static double weight(const Attention *a, int32_t i, int32_t j)
{
    double sum = 0;
    bool is_removed = a->region != NULL && fabs(a->region[i] - a->region[j]) > 0;
    for (int32_t c = 0; c < WIDTH; c++)
        sum += relu(a->q[i * WIDTH + c]) * feature(a, j, c);
    return is_removed ? 0 : sum;
}

static double core(const Attention *a, int32_t i, int32_t c)
{
    double above = 0, below = 0;
    for (int32_t j = 0; j < n_keys(a); j++) {
        above += weight(a, i, j) * a->v[j * WIDTH + c];
        below += weight(a, i, j);
    }
    return above / (below + a->eps);
}

/* V at a place of the queries' grid, by its nearest key; zero outside. */
static double v_at(const Attention *a, int32_t y, int32_t x, int32_t c)
{
    if (y < 0 || x < 0 || y >= a->h || x >= a->w)
        return 0;
    int32_t token = a->prefix + y / a->stride * (a->w / a->stride) + x / a->stride;
    return a->v[token * WIDTH + c];
}

static double convolved(const Attention *a, int32_t i, int32_t c)
{
    int32_t at = i - a->prefix, n = a->side;
    if (a->kernel == NULL || at < 0)
        return 0;
    double sum = a->bias[c];
    for (int32_t y = 0; y < n; y++) {
        for (int32_t x = 0; x < n; x++)
            sum += a->kernel[(c * n + y) * n + x] *
                   v_at(a, at / a->w + y - n / 2, at % a->w + x - n / 2, c);
    }
    return sum;
}

static double output(const Attention *a, int32_t i, int32_t c)
{
    return core(a, i, c) + convolved(a, i, c);
}

/* --- the pass --- */

static VfTensor *tensor_of(VfArena *arena, int32_t rank, const int64_t *dims, const double *from)
{
    VfTensor *tensor;
    void *data;
    ck_assert_int_eq(vf_tensor_new(arena, VF_F64, rank, dims, &tensor, &data, NULL), VF_OK);
    for (size_t i = 0; i < tensor->count; i++)
        vf_tensor_put_double(data, VF_F64, i, from[i]);
    return tensor;
}

static void print_mask(const Attention *a, char *text, size_t size)
{
    size_t at = 0;
    int32_t n = n_queries(a);
    text[0] = '\0';
    if (a->region == NULL)
        return;
    at += (size_t)snprintf(text, size, "    mask = const f64[%d, %d] {", (int)n, (int)n);
    for (int32_t i = 0; i < n * n; i++)
        at += (size_t)snprintf(text + at, size - at, "%s%d", i > 0 ? ", " : "",
                               fabs(a->region[i / n] - a->region[i % n]) > 0 ? -100 : 0);
    snprintf(text + at, size - at, "}\n    u = Add(t, mask) @u\n");
}

static VfModel *make_model(const Attention *a)
{
    char text[4096], mask[2048];
    int n_q = (int)n_queries(a), n_k = (int)n_keys(a);
    VfModel *model = NULL;
    VfErr err = {0};
    print_mask(a, mask, sizeof mask);
    snprintf(text, sizeof text,
             "model ir=8 opset=17\n\n"
             "graph g (q: f64[b, %d, 2], k: f64[b, %d, 2], v: f64[b, %d, 2]) -> (o) {\n"
             "    scale = const f64[] {0.125}\n"
             "    kt = Transpose(k) {perm=[0, 2, 1]} @kt\n"
             "    s = MatMul(q, kt) @s\n"
             "    t = Mul(s, scale) @t\n"
             "%s"
             "    p = Softmax(%s) {axis=-1} @softmax\n"
             "    o = MatMul(p, v) @o\n"
             "}\n",
             n_q, n_k, n_k, mask, a->region != NULL ? "u" : "t");
    ck_assert_msg(vf_vft_parse(vf_bytes(text), "text", &model, &err) == VF_OK, "%s", err.text);
    ck_assert_int_eq(vf_infer_graph(model->graph, NULL, &err), VF_OK);
    return model;
}

static void run_pass(VfModel *model, const char *options)
{
    char text[256];
    snprintf(text, sizeof text, "linearize-attention:%s", options);
    VfJournal *journal = vf_test_passes(model, text);
    ck_assert_msg(journal->n_edit == 1, "%s: %s", options,
                  journal->n_refusal > 0 ? journal->refusal[0].reason : "no refusal");
}

/* Train what the pass put in: give its zeros the weights of the reference. */
static void put_weights(VfModel *model, const char *name, int32_t rank, const int64_t *dims,
                        const double *from)
{
    VfValue *value = vf_graph_find_value(model->graph, vf_bytes(name), false);
    ck_assert_msg(value != NULL, "no constant %s", name);
    ck_assert_int_eq(value->tensor->rank, rank);
    for (int32_t i = 0; i < rank; i++)
        ck_assert_int_eq(value->tensor->dims[i], dims[i]);
    ck_assert(vf_tensor_is_all(value->tensor, 0));
    value->tensor = tensor_of(model->arena, rank, dims, from);
}

static void train(VfModel *model, const Attention *a)
{
    const int64_t kernel_dims[] = {WIDTH, 1, a->side, a->side}, bias_dims[] = {WIDTH};
    const int64_t pos_dims[] = {WIDTH, n_keys(a)};
    double turned[TOKEN_MAX * WIDTH];
    if (a->kernel != NULL) {
        put_weights(model, "o/dwc_weight", 4, kernel_dims, a->kernel);
        put_weights(model, "o/dwc_bias", 1, bias_dims, a->bias);
    }
    if (a->pos == NULL)
        return;
    for (int32_t i = 0; i < n_keys(a) * WIDTH; i++)
        turned[i % WIDTH * n_keys(a) + i / WIDTH] = a->pos[i];
    put_weights(model, "o/key_position", 2, pos_dims, turned);
}

static void run_model(VfModel *model, const Attention *a, VfTestOutputs *outputs)
{
    VfErr err = {0};
    const int64_t q_dims[] = {1, n_queries(a), WIDTH}, k_dims[] = {1, n_keys(a), WIDTH};
    model->graph->input[0]->tensor = tensor_of(model->arena, 3, q_dims, a->q);
    model->graph->input[1]->tensor = tensor_of(model->arena, 3, k_dims, a->k);
    model->graph->input[2]->tensor = tensor_of(model->arena, 3, k_dims, a->v);
    VfStatus status = vf_test_run(model, 1, model->arena, outputs, &err);
    ck_assert_msg(status == VF_OK, "%s", err.text);
}

static void check_run(const Attention *a, const char *options)
{
    char text[200];
    VfTestOutputs outputs;
    VfModel *model = make_model(a);
    int n = snprintf(text, sizeof text, "eps=%.17g,key-position=%s,%s", a->eps,
                     a->pos != NULL ? "on" : "off", options);
    if (a->kernel != NULL)
        snprintf(text + n, sizeof text - (size_t)n, ",kernel=%d,grid=%dx%d", (int)a->side,
                 (int)a->h, (int)a->w);
    run_pass(model, text);
    train(model, a);
    run_model(model, a, &outputs);
    for (int32_t i = 0; i < n_queries(a) * WIDTH; i++)
        ck_assert_double_eq_tol(vf_tensor_get_double(outputs.tensor[0], (size_t)i),
                                output(a, i / WIDTH, i % WIDTH), 1e-12);
    vf_model_free(model);
}

/* --- examples --- */

static Attention example(void)
{
    const double *q = sla_q + WIDTH, *k = sla_k + WIDTH, *v = sla_v + WIDTH;
    return (Attention){.h = 2, .w = 2, .stride = 1, .q = q, .k = k, .v = v, .pos = sla_pos + WIDTH,
                       .kernel = sla_kernel, .bias = sla_bias, .side = 3, .eps = sla_eps};
}

static Attention example_with_prefix(void)
{
    Attention a = example();
    a.prefix = 1;
    a.q = sla_q;
    a.k = sla_k;
    a.v = sla_v;
    a.pos = sla_pos;
    return a;
}

static void check_digits(const Attention *a, const double *core_rows, const double *rows)
{
    for (int32_t i = 0; i < n_queries(a) * WIDTH; i++) {
        ck_assert_double_eq_tol(core(a, i / WIDTH, i % WIDTH), core_rows[i], 1e-13);
        if (rows != NULL)
            ck_assert_double_eq_tol(output(a, i / WIDTH, i % WIDTH), rows[i], 1e-13);
    }
}

START_TEST(reference_gives_the_worked_examples)
{
    Attention a = example(), prefixed = example_with_prefix(), masked = example();
    masked.region = sla_region;
    check_digits(&a, sla_core, sla_out);
    check_digits(&prefixed, sla_prefix_core, sla_prefix_out);
    check_digits(&masked, sla_region_core, NULL);
}
END_TEST

static const char *const order[] = {"order=linear", "order=quadratic", "order=auto"};

START_TEST(pass_gives_the_reference)
{
    Attention a = example(), prefixed = example_with_prefix(), plain = example();
    check_run(&a, order[_i]);
    check_run(&prefixed, order[_i]);
    plain.kernel = plain.pos = NULL;
    char options[64];
    snprintf(options, sizeof options, "dwc=off,%s", order[_i]);
    check_run(&plain, options);
}
END_TEST

START_TEST(regions_stay_apart)
{
    Attention a = example();
    a.region = sla_region;
    check_run(&a, "order=auto");
    a.kernel = NULL;
    check_run(&a, "dwc=off,order=quadratic");
}
END_TEST

/* Numbers in [-1, 1] that repeat from run to run. */
static void fill(double *x, int32_t n, uint32_t seed)
{
    for (int32_t i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        x[i] = (double)(seed >> 8) / 8388608.0 - 1.0;
    }
}

START_TEST(reduced_keys_are_repeated)
{
    double q[TOKEN_MAX * WIDTH], k[TOKEN_MAX * WIDTH], v[TOKEN_MAX * WIDTH], kernel[WIDTH * 25];
    Attention a = {.h = 4, .w = 6, .stride = 2, .q = q, .k = k, .v = v,
                   .kernel = kernel, .bias = sla_bias, .side = 5, .eps = sla_eps};
    fill(q, n_queries(&a) * WIDTH, 1);
    fill(k, n_keys(&a) * WIDTH, 2);
    fill(v, n_keys(&a) * WIDTH, 3);
    fill(kernel, WIDTH * 25, 4);
    check_run(&a, order[_i]);
    a.stride = 1;
    fill(k, n_keys(&a) * WIDTH, 5);
    fill(v, n_keys(&a) * WIDTH, 6);
    check_run(&a, order[_i]);
}
END_TEST

/* --- invariants --- */

static double run_at(const Attention *a, const char *options, int32_t i, int32_t c)
{
    VfTestOutputs outputs;
    VfModel *model = make_model(a);
    run_pass(model, options);
    run_model(model, a, &outputs);
    double x = vf_tensor_get_double(outputs.tensor[0], (size_t)(i * WIDTH + c));
    vf_model_free(model);
    return x;
}

START_TEST(scaled_query_changes_nothing)
{
    Attention a = example(), b = example();
    double q[4 * WIDTH];
    for (int32_t i = 0; i < 4 * WIDTH; i++)
        q[i] = 3 * a.q[i];
    b.q = q;
    ck_assert_double_eq_tol(run_at(&b, "dwc=off,eps=1e-12", 1, 1),
                            run_at(&a, "dwc=off,eps=1e-12", 1, 1), 1e-10);
}
END_TEST

START_TEST(silent_query_gives_zero)
{
    Attention a = example();
    for (int32_t c = 0; c < WIDTH; c++) {
        ck_assert_double_eq(run_at(&a, "dwc=off,order=linear", 2, c), 0);
        ck_assert_double_eq(run_at(&a, "dwc=off,order=quadratic", 2, c), 0);
    }
}
END_TEST

/* Rows are convex combinations: equal values come out as they are. */
START_TEST(weights_sum_to_one)
{
    Attention a = example();
    const double v[] = {3, -2, 3, -2, 3, -2, 3, -2};
    a.v = v;
    ck_assert_double_eq_tol(run_at(&a, "dwc=off,eps=0", 0, 0), 3, 1e-12);
    ck_assert_double_eq_tol(run_at(&a, "dwc=off,eps=0,order=quadratic", 3, 1), -2, 1e-12);
}
END_TEST

START_TEST(order_of_keys_does_not_matter)
{
    Attention a = example(), b = example();
    double k[4 * WIDTH], v[4 * WIDTH];
    for (int32_t i = 0; i < 4 * WIDTH; i++) {
        k[i] = a.k[(3 - i / WIDTH) * WIDTH + i % WIDTH];
        v[i] = a.v[(3 - i / WIDTH) * WIDTH + i % WIDTH];
    }
    b.k = k;
    b.v = v;
    ck_assert_double_eq_tol(run_at(&b, "dwc=off", 1, 0), run_at(&a, "dwc=off", 1, 0), 1e-12);
}
END_TEST

START_TEST(identity_adds_the_values)
{
    Attention a = example();
    for (int32_t i = 0; i < 4 * WIDTH; i++) {
        double without = run_at(&a, "dwc=off", i / WIDTH, i % WIDTH);
        ck_assert_double_eq(run_at(&a, "grid=2x2", i / WIDTH, i % WIDTH), without);
        ck_assert_double_eq(run_at(&a, "grid=2x2,dwc=identity", i / WIDTH, i % WIDTH),
                            without + a.v[i]);
    }
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("linear attention");
    TCase *tcase = tcase_create("cases");
    tcase_add_test(tcase, reference_gives_the_worked_examples);
    tcase_add_loop_test(tcase, pass_gives_the_reference, 0, 3);
    tcase_add_test(tcase, regions_stay_apart);
    tcase_add_loop_test(tcase, reduced_keys_are_repeated, 0, 3);
    tcase_add_test(tcase, scaled_query_changes_nothing);
    tcase_add_test(tcase, silent_query_gives_zero);
    tcase_add_test(tcase, weights_sum_to_one);
    tcase_add_test(tcase, order_of_keys_does_not_matter);
    tcase_add_test(tcase, identity_adds_the_values);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
