/* progressive-norm: the mix for any lambda, the norm as it was for lambda = 1, and the way back. */
#include "tests/passes/norm_case.h"

#include "passes/match/norm.h"
#include "tests/support/check_main.h"

static const NormCase layer = {
    "LayerNorm", TOKENS, "    y = LayerNormalization(x, s, b) {axis=-1, epsilon=1e-05} @norm\n",
    false, true};
static const NormCase written_out = {
    "LayerNorm written out", TOKENS,
    "    m = ReduceMean(x) {axes=[-1]} @mean\n    d = Sub(x, m) @sub\n    q = Mul(d, d) @pow\n"
    "    v = ReduceMean(q) {axes=[-1]} @var\n    k = Add(v, e) @eps\n    r = Sqrt(k) @sqrt\n"
    "    u = Div(d, r) @div\n    t = Mul(u, s) @mul\n    y = Add(t, b) @norm\n", false, true};

static void convert(NormRun *run, const char *words, bool has_data)
{
    VfErr err = {0};
    ck_assert_msg(norm_convert(run, words, has_data, &err) == VF_OK, "'%s': %s", words, err.text);
}

/* λ LN(x) + (1-λ) RepBN(x), RepBN(x) = x / √(1 + eps) + x, a new layer. */
static void check_mix(const NormCase *norm, NormRun *run, double lambda)
{
    static double want[N_X];
    static float got[N_X];
    norm_all(norm, want);
    double share = isnan(lambda) ? 1 : lambda; /* its default */
    for (int i = 0; i < N_X; i++)
        want[i] = share * want[i] + (1 - share) * (sample[i] / sqrt(1 + 1e-5) + sample[i]);
    norm_results(run, lambda, got);
    norm_compare(got, want, norm->name);
}

START_TEST(any_lambda)
{
    static const double lambda[] = {0, 0.25, 0.8, 1};
    const NormCase *norm = _i == 0 ? &layer : &written_out;
    NormRun run;
    norm_open(&run, norm->head, norm->body);
    convert(&run, "progressive-norm", false);
    check_mix(norm, &run, (double)NAN);
    for (size_t i = 0; i < sizeof lambda / sizeof *lambda; i++)
        check_mix(norm, &run, lambda[i]);
    norm_close(&run);
}
END_TEST

START_TEST(lambda_one_has_the_same_bits)
{
    static float before[N_X], after[N_X], given[N_X], back[N_X];
    const NormCase *norm = _i == 0 ? &layer : &written_out;
    NormRun run;
    norm_open(&run, norm->head, norm->body);
    convert(&run, "normalize", false);
    norm_results(&run, (double)NAN, before);
    convert(&run, "progressive-norm", true);
    norm_results(&run, (double)NAN, after);
    norm_results(&run, 1, given);
    ck_assert(memcmp(before, after, sizeof before) == 0);
    ck_assert(memcmp(before, given, sizeof before) == 0);
    convert(&run, "progressive-norm:finish=ln", false);
    ck_assert_int_eq(run.model.ir->graph->n_input, 1);
    norm_results(&run, (double)NAN, back);
    ck_assert(memcmp(before, back, sizeof before) == 0);
    norm_close(&run);
}
END_TEST

static int32_t n_norm(VfModel *model)
{
    VfNorms norms;
    VfErr err = {0};
    ck_assert_int_eq(vf_find_norms(model->arena, model, &norms, &err), VF_OK);
    return norms.n_layer + norms.n_batch;
}

/* Least squares, the mix, RepBN alone, one BatchNormalization, nothing: W (a x + c) + k is left. */
START_TEST(way_back_leaves_nothing)
{
    static const double w[WIDTH][WIDTH] = {{1, -2, 0.5}, {0.25, 1, -1}, {-0.5, 0, 2}};
    static double ln[N_X], want[N_X];
    static float got[N_X];
    NormRun run;
    norm_open(&run, TOKENS,
              "    w = const f32[3, 3] {1, -2, 0.5, 0.25, 1, -1, -0.5, 0, 2}\n"
              "    k = const f32[3] {0.5, 1, -2}\n"
              "    t = LayerNormalization(x, s, b) {axis=-1, epsilon=1e-05} @norm\n"
              "    p = MatMul(t, w) @fc\n    y = Add(p, k) @bias\n");
    convert(&run, "progressive-norm:eta=0.5", true);
    ck_assert_int_eq(n_norm(run.model.ir), 2);
    convert(&run, "progressive-norm:finish=repbn", false);
    ck_assert_int_eq(n_norm(run.model.ir), 1);
    convert(&run, "fold-repbn,fold-bn,remove-dead", false);
    ck_assert_int_eq(n_norm(run.model.ir), 0);
    ck_assert_int_eq(run.model.ir->graph->n_input, 1);
    norm_all(&layer, ln);
    for (int i = 0; i < N_X; i++) {
        static const double bias[WIDTH] = {0.5, 1, -2};
        want[i] = bias[i % WIDTH];
        for (int c = 0; c < WIDTH; c++) {
            double a = covariance_of(sample, ln, c) / covariance_of(sample, sample, c);
            double x = sample[i / WIDTH * WIDTH + c] - mean_of(sample, c);
            want[i] += (a * x + mean_of(ln, c)) * w[c][i % WIDTH];
        }
    }
    norm_results(&run, (double)NAN, got);
    norm_compare(got, want, "way back");
    norm_close(&run);
}
END_TEST

/* Put what training found into the initializer `/repbn_PART` of the norm. */
static void set_parameter(NormRun *run, const char *part, int64_t n, const double *number)
{
    char name[64];
    VfTensor *tensor;
    void *data;
    snprintf(name, sizeof name, "norm/repbn_%s", part);
    VfValue *value = find_value(run->model.ir, name);
    ck_assert_int_eq(value->kind, VF_VALUE_CONST);
    ck_assert_int_eq(vf_tensor_new(run->arena, VF_F32, 1, &n, &tensor, &data, NULL), VF_OK);
    for (int64_t i = 0; i < n; i++)
        vf_tensor_put_double(data, VF_F32, (size_t)i, number[i]);
    value->tensor = tensor;
}

/* Worked example [repbn]: its parameters found by a training outside, and back. */
START_TEST(worked_example)
{
    static const double gamma[] = {1.2, -0.5, 0.8}, beta[] = {0.1, 0.2, -0.3};
    static const double mean[] = {0.5, -1, 2}, var[] = {0.25, 4, 1}, eta[] = {0.7};
    static const double a[] = {3.09995200143995, 0.450000312499414, 1.49999600003};
    static const double c[] = {-1.09997600071998, -0.0499996875005859, -1.89999200006};
    static const char *const words[] = {"progressive-norm:finish=repbn", "fold-repbn"};
    static double want[N_X];
    static float got[N_X];
    NormRun run;
    norm_open(&run, TOKENS,
              "    t = LayerNormalization(x, s, b) {axis=-1, epsilon=1e-05} @norm\n"
              "    y = Neg(t)\n");
    convert(&run, "progressive-norm", false);
    set_parameter(&run, "scale", 3, gamma);
    set_parameter(&run, "shift", 3, beta);
    set_parameter(&run, "mean", 3, mean);
    set_parameter(&run, "var", 3, var);
    set_parameter(&run, "eta", 1, eta);
    for (int i = 0; i < N_X; i++)
        want[i] = -(a[i % WIDTH] * sample[i] + c[i % WIDTH]);
    norm_results(&run, 0, got);
    norm_compare(got, want, "lambda 0");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        convert(&run, words[i], false);
        norm_results(&run, (double)NAN, got);
        norm_compare(got, want, words[i]);
    }
    norm_close(&run);
}
END_TEST

START_TEST(order)
{
    static const struct {
        const char *words;
        VfStatus status;
    } row[] = {
        {"progressive-norm,fold-repbn", VF_USAGE},
        {"progressive-norm:finish=repbn,fold-repbn,fold-bn", VF_OK},
        {"progressive-norm,progressive-norm:finish=repbn", VF_OK},
        {"progressive-norm,progressive-norm:eta=0", VF_USAGE},
        {"progressive-norm,ln-to-repbn", VF_USAGE},
        {"progressive-norm:finish=ln,ln-to-repbn", VF_OK},
        {"ln-to-repbn,progressive-norm", VF_USAGE},
    };
    VfArena *arena = vf_arena_new();
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        VfPipeline pipeline;
        VfErr err = {0};
        ck_assert_msg(vf_pipeline_parse(arena, row[i].words, NULL, &pipeline, &err) ==
                      row[i].status, "'%s': %s", row[i].words, err.text);
    }
    vf_arena_free(arena);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("progressive-norm");
    TCase *tcase = tcase_create("progressive-norm");
    tcase_add_loop_test(tcase, any_lambda, 0, 2);
    tcase_add_loop_test(tcase, lambda_one_has_the_same_bits, 0, 2);
    tcase_add_test(tcase, way_back_leaves_nothing);
    tcase_add_test(tcase, worked_example);
    tcase_add_test(tcase, order);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
