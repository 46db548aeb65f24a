/* insert-spa on stacks of attention against its definition in double: every kernel and strength at
 * logits of zero and with trained queries and keys, attention without a softmax in its three forms,
 * and the worked examples to their digits.
 */
#include <stdio.h>

#include "converter/lower/lower.h"
#include "passes/ir/vft.h"
#include "passes/manager.h"
#include "tests/passes/act_reference.h"
#include "tests/passes/spa_reference.h"
#include "tests/support/check_main.h"
#include "tests/support/run_model.h"

enum { DEPTH = 3 };

/* The first four rows and columns are those of [spa_relu_composition]. */
static const double trained[SPA_N][SPA_N] = {
    {0.3, -0.2, 0.1, 0.0, 0.5, -1.0}, {-0.5, 0.4, 0.0, 0.2, 1.5, 0.25},
    {0.0, 0.1, -0.3, 0.6, -0.75, 0.1}, {0.2, 0.0, 0.5, -0.1, 0.3, -2.0},
    {1.0, 0.5, -0.4, 0.2, 0.0, 0.1},  {-0.3, 0.2, 0.7, -0.6, 0.8, 0.4},
};

/* How a layer makes weights of its logits. */
typedef struct Function {
    const char *act; /* NULL: softmax */
    double factor;   /* behind it */
    const char *form;
    double shift; /* added to the logits */
} Function;

typedef struct Run {
    const SpaCase *spa;
    double tau;
    bool is_trained, is_causal;
    Function function;
} Run;

/* --- reference --- */

static double inverse(const char *act, double y)
{
    if (strcmp(act, "relu2") == 0)
        return sqrt(y);
    return strcmp(act, "softplus") == 0 ? log(expm1(y)) : y;
}

static double logit(const Run *run, int32_t i, int32_t j)
{
    return run->is_trained ? trained[i][j] : 0;
}

/* Row i of D softmax(S + B). */
static void softmax_row(const Run *run, SpaMatrix A, int32_t i, double *row)
{
    int32_t n = run->is_causal ? i + 1 : run->spa->n;
    double D = 0, sum = 0;
    for (int32_t j = 0; j < n; j++)
        D += A[i][j];
    for (int32_t j = 0; j < n; j++)
        sum += row[j] = exp(logit(run, i, j) + run->tau * log(A[i][j] / D));
    for (int32_t j = 0; j < n; j++)
        row[j] *= pow(D, run->tau) / sum;
}

static double weight(const Run *run, double a, double s)
{
    const Function *f = &run->function;
    if (strcmp(f->form, "multiplicative") == 0)
        return a * apply(f->act, 1 + s);
    if (strcmp(f->form, "split") == 0)
        return a + f->factor * apply(f->act, s + f->shift);
    return f->factor * apply(f->act, s + inverse(f->act, a / f->factor));
}

/* What stands in place of the attention matrix. */
static void weights_of(const Run *run, SpaMatrix A, SpaMatrix out)
{
    memset(out, 0, sizeof(SpaMatrix));
    for (int32_t i = 0; i < run->spa->n; i++) {
        if (run->function.act == NULL)
            softmax_row(run, A, i, out[i]);
        for (int32_t j = 0; run->function.act != NULL && j < run->spa->n; j++)
            if (!run->is_causal || j <= i)
                out[i][j] = weight(run, A[i][j], logit(run, i, j));
    }
}

/* --- the pass --- */

/* Tokens are the rows of the identity, so that the result is the matrix itself; the layers stand
 * one behind the other by what is added of the one before: nothing. */
static size_t print_layer(const Run *run, int32_t l, char *text, size_t size)
{
    static const char layer[] = "    z%d = Mul(o%d, zero)\n"
                                "    x%d = Add(x0, z%d)\n"
                                "    q%d = MatMul(x%d, w)\n"
                                "    k%d = Transpose(x%d) {perm=[0, 2, 1]}\n"
                                "    s%d = MatMul(q%d, k%d)\n"
                                "%s"
                                "    p%d = Softmax(%s%d) {axis=-1} @p%d\n"
                                "    o%d = MatMul(p%d, x%d) @o%d\n";
    char mask[64];
    int k = (int)l;
    snprintf(mask, sizeof mask, "    m%d = Add(s%d, mask)\n", k, k);
    return (size_t)snprintf(text, size, layer, k, k - 1, k, k, k, k, k, k, k, k, k,
                            run->is_causal ? mask : "", k, run->is_causal ? "m" : "s", k, k, k, k,
                            k, k);
}

static size_t print_matrix(const Run *run, bool is_mask, char *text, size_t size)
{
    int32_t n = run->spa->n;
    size_t at = (size_t)snprintf(text, size, "    %s = const f64[%d, %d] {", is_mask ? "mask" : "w",
                                 (int)n, (int)n);
    for (int32_t i = 0; i < n * n; i++) {
        double removed = i % n <= i / n ? 0 : -100;
        at += (size_t)snprintf(text + at, size - at, "%s%.17g", i == 0 ? "" : ", ",
                               is_mask ? removed : logit(run, i / n, i % n));
    }
    return at + (size_t)snprintf(text + at, size - at, "}\n");
}

static VfModel *make_model(const Run *run)
{
    static char text[8192];
    VfModel *model = NULL;
    VfErr err = {0};
    int n = (int)run->spa->n;
    size_t at = (size_t)snprintf(text, sizeof text,
                                 "model ir=8 opset=17\n\n"
                                 "graph g (x0: f64[1, %d, %d], o0: f64[1, %d, %d])"
                                 " -> (o1, o2, o3) {\n"
                                 "    zero = const f64[] {0}\n", n, n, n, n);
    at += print_matrix(run, false, text + at, sizeof text - at);
    if (run->is_causal)
        at += print_matrix(run, true, text + at, sizeof text - at);
    for (int32_t l = 1; l <= DEPTH; l++)
        at += print_layer(run, l, text + at, sizeof text - at);
    snprintf(text + at, sizeof text - at, "}\n");
    ck_assert_msg(vf_vft_parse(vf_bytes(text), "text", &model, &err) == VF_OK, "%s", err.text);
    return model;
}

static void run_passes(VfModel *model, const char *passes, int32_t n_edit)
{
    VfErr err = {0};
    VfPipeline pipeline;
    VfPipelineOptions options = {.evaluator = vf_evaluator(), .stop_after = -1};
    VfJournal *journal = vf_journal_new(model);
    ck_assert_msg(vf_pipeline_parse(model->arena, passes, NULL, &pipeline, &err) == VF_OK, "%s",
                  err.text);
    VfStatus status = vf_pipeline_run(model, &pipeline, &options, journal, NULL, NULL, &err);
    ck_assert_msg(status == VF_OK, "%s: %s", passes, err.text);
    ck_assert_msg(journal->n_edit == n_edit, "%s: %d edits", passes, (int)journal->n_edit);
}

static VfTestOutputs outputs_of(VfModel *model, int32_t n)
{
    const int64_t dims[3] = {1, n, n};
    VfTestOutputs outputs;
    VfTensor *tensor;
    void *data;
    VfErr err = {0};
    for (int k = 0; k < 2; k++) {
        ck_assert_int_eq(vf_tensor_new(model->arena, VF_F64, 3, dims, &tensor, &data, NULL), VF_OK);
        for (size_t i = 0; i < tensor->count; i++)
            vf_tensor_put_double(data, VF_F64, i, i / (size_t)n == i % (size_t)n);
        model->graph->input[k]->tensor = tensor;
    }
    ck_assert_msg(vf_test_run(model, 1, model->arena, &outputs, &err) == VF_OK, "%s", err.text);
    return outputs;
}

static void options_of(const Run *run, char *text, size_t size)
{
    const SpaCase *c = run->spa;
    const Function *f = &run->function;
    bool is_uniform = spa_is(c, "u") || spa_is(c, "u-causal");
    size_t at = 0;
    if (f->act != NULL)
        at = (size_t)snprintf(text, size, "softmax-to-relu:act=%s,gain=%.17g,alpha=1,shift=%.17g,",
                              f->act, f->factor * c->n, f->shift);
    at += (size_t)snprintf(text + at, size - at, "insert-spa:kernel=%s,%s=%.17g,tau=%g,form=%s",
                           c->kernel, is_uniform ? "rho" : "gamma", c->target, run->tau, f->form);
    if (c->h > 0)
        at += (size_t)snprintf(text + at, size - at, ",grid=%dx%d,prefix=%d,w=%.17g,unit-diag=%s",
                               (int)c->h, (int)c->w, (int)c->prefix, c->link,
                               c->is_raw ? "off" : "on");
}

/* All layers of a run against the reference; the pass works in double, but constants of ReLU
 * attention are floats' numbers. */
static void check(const Run *run)
{
    char passes[512];
    options_of(run, passes, sizeof passes);
    VfModel *model = make_model(run);
    int32_t n = run->spa->n;
    run_passes(model, passes, run->function.act != NULL ? 2 * DEPTH : DEPTH);
    VfTestOutputs outputs = outputs_of(model, n);
    for (int32_t l = 1; l <= DEPTH; l++) {
        SpaMatrix A, want;
        spa_layer(run->spa, l, A);
        weights_of(run, A, want);
        for (int32_t i = 0; i < n * n; i++) {
            double got = vf_tensor_get_double(outputs.tensor[l - 1], (size_t)i);
            ck_assert_msg(fabs(got - want[i / n][i % n]) < 1e-10,
                          "%s: layer %d: [%d, %d] is %.15g, not %.15g", passes, (int)l,
                          (int)(i / n), (int)(i % n), got, want[i / n][i % n]);
        }
    }
    vf_model_free(model);
}

/* --- cases --- */

static const SpaCase line = {"s", 4, DEPTH, 0, 0, 0, 0.25, 0, false};

static const SpaCase kernel_table[] = {
    {"causal", 4, DEPTH, 0, 0, 0, 0.25, 0, false}, {"s", 4, DEPTH, 0, 0, 0, 0.25, 0, false},
    {"s", 5, DEPTH, 0, 0, 0, 0.7, 0, false},       {"g", 6, DEPTH, 2, 3, 0, 0.2, 0, false},
    {"r", 5, DEPTH, 2, 2, 1, 0.2, 0.5, false},     {"r", 6, DEPTH, 2, 2, 2, 0.3, 0.25, true},
    {"u-causal", 4, DEPTH, 0, 0, 0, 0.8, 0, false}, {"u", 4, DEPTH, 0, 0, 0, 0.8, 0, false},
};
enum { N_KERNEL = sizeof kernel_table / sizeof kernel_table[0] };

START_TEST(kernels)
{
    static const double tau[] = {0, 0.5, 1};
    const SpaCase *c = &kernel_table[_i];
    bool is_causal = spa_is(c, "causal") || spa_is(c, "u-causal");
    for (int k = 0; k < 6; k++) {
        Run run = {c, tau[k % 3], k >= 3, is_causal, {NULL, 0, "additive", 0}};
        check(&run);
    }
}
END_TEST

static const Function function_table[] = {
    {"relu", 0.25, "additive", 0},      {"relu", 0.625, "additive", 0},
    {"relu", 0.1, "additive", 0.5},     {"relu2", 0.25, "additive", 0},
    {"softplus", 0.25, "additive", 0},  {"softplus", 0.25, "additive", -0.5},
    {"identity", 0.25, "additive", 0},  {"relu", 0.25, "multiplicative", 0},
    {"relu2", 0.5, "multiplicative", 0}, {"relu", 0.25, "split", 0},
    {"softplus", 0.5, "split", 0.5},
};
enum { N_FUNCTION = sizeof function_table / sizeof function_table[0] };

START_TEST(functions)
{
    for (int k = 0; k < 4; k++) {
        Run run = {k / 2 == 0 ? &line : &kernel_table[0], 1, k % 2 == 1, k / 2 == 1,
                   function_table[_i]};
        check(&run);
    }
}
END_TEST

/* The second layer of the line, T = 4: [spa_partial_tau] and [spa_relu_composition]. */
static const struct {
    Run run;
    double weights[16];
} example_table[] = {
    {{&line, 0.5, false, false, {NULL, 0, "additive", 0}},
     {0.595812703520451, 0.184088558894509, 0.145700376906645, 0.128590392502198,
      0.191718041872109, 0.5501236125316, 0.16922539034775, 0.151452621489459,
      0.151452621489459, 0.169225390347749, 0.5501236125316, 0.191718041872109,
      0.128590392502198, 0.145700376906645, 0.184088558894509, 0.595812703520452}},
    {{&line, 1, true, false, {"relu", 0.25, "additive", 0}},
     {0.999680806651014, 0.0382726006211984, 0.0802959948764235, 0.0430714378121638, 0.0,
      0.973885447511222, 0.0826922833082967, 0.116234997558531, 0.0662349975585309,
      0.107692283308296, 0.798885447511222, 0.256135312770658, 0.0930714378121638,
      0.0552959948764233, 0.213272600621199, 0.899680806651014}},
    {{&line, 1, true, false, {"relu", 0.25, "multiplicative", 0}},
     {1.20208504864632, 0.0706180804969587, 0.0608255943640659, 0.0430714378121638,
      0.053067656385329, 1.22343962651571, 0.0826922833082967, 0.0794819970702368,
      0.0662349975585309, 0.090961511639126, 0.611719813257855, 0.169816500433053,
      0.0516857253745966, 0.0552959948764233, 0.132408900931798, 0.832212725985913}},
    {{&line, 1, true, false, {NULL, 0, "additive", 0}},
     {0.97367406385157, 0.0563768023240482, 0.0476712498367447, 0.0335987239484365,
      0.0474489986843427, 0.960918796873816, 0.0609507947310994, 0.0596294508594493,
      0.0748952901426946, 0.103338324323992, 0.732037190580925, 0.218677236101095,
      0.0536303852628551, 0.0563710763087629, 0.148366486904938, 0.852952891484244}},
};
enum { N_EXAMPLE = sizeof example_table / sizeof example_table[0] };

START_TEST(examples)
{
    char passes[512];
    const Run *run = &example_table[_i].run;
    options_of(run, passes, sizeof passes);
    VfModel *model = make_model(run);
    run_passes(model, passes, run->function.act != NULL ? 2 * DEPTH : DEPTH);
    VfTestOutputs outputs = outputs_of(model, 4);
    for (size_t i = 0; i < 16; i++)
        ck_assert_double_eq_tol(vf_tensor_get_double(outputs.tensor[1], i),
                                example_table[_i].weights[i], 1e-12);
    vf_model_free(model);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("spa layers");
    TCase *tcase = tcase_create("cases");
    tcase_add_loop_test(tcase, kernels, 0, N_KERNEL);
    tcase_add_loop_test(tcase, functions, 0, N_FUNCTION);
    tcase_add_loop_test(tcase, examples, 0, N_EXAMPLE);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
