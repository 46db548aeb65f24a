/* First weights of linearize-attention's convolution: read from arrays, and fitted to calibration
 * data that stands for a softmax attention which is the linear part plus a known convolution. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "converter/lower/lower.h"
#include "passes/ir/vft.h"
#include "passes/manager.h"
#include "tests/support/check_main.h"
#include "tests/support/run_model.h"

enum { WIDTH = 2, SIDE = 4, N_QUERY = SIDE * SIDE, TAPS = 9, N_BATCH = 8, N_SAMPLE = 3 };

static const double eps = 1e-6;
static const double kernel[WIDTH * TAPS] = {0.1, 0,   -0.1, 0.2, 0.5,  0.2, 0, -0.3, 0,
                                            0,   0.1, 0,    0.1, -0.4, 0.1, 0, 0.1,  0.25};
static const double bias[WIDTH] = {0.05, -0.1};

typedef struct Case {
    int32_t stride; /* one key for stride x stride queries */
    bool is_1d;     /* values are stretched along the sequence */
} Case;

static const Case cases[] = {{1, false}, {2, false}, {2, true}, {1, true}};

static int32_t n_keys(const Case *c)
{
    return N_QUERY / (c->stride * c->stride);
}

static void fill(double *x, int32_t n, uint32_t seed)
{
    for (int32_t i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        x[i] = (double)(seed >> 8) / 8388608.0 - 1.0;
    }
}

/* --- reference of one batch entry --- */

static double relu(double x)
{
    return x > 0 ? x : 0;
}

static double core(const Case *c, const double *q, const double *k, const double *v, int32_t e)
{
    double above = 0, below = eps;
    for (int32_t j = 0; j < n_keys(c); j++) {
        double weight = relu(q[0]) * relu(k[j * WIDTH]) + relu(q[1]) * relu(k[j * WIDTH + 1]);
        above += weight * v[j * WIDTH + e];
        below += weight;
    }
    return above / below;
}

static double v_at(const Case *c, const double *v, int32_t y, int32_t x, int32_t e)
{
    if (y < 0 || x < 0 || y >= SIDE || x >= SIDE)
        return 0;
    if (!c->is_1d)
        return v[(y / c->stride * (SIDE / c->stride) + x / c->stride) * WIDTH + e];
    double from = (y * SIDE + x + 0.5) / (c->stride * c->stride) - 0.5;
    from = from < 0 ? 0 : from;
    int32_t left = (int32_t)from, right = left + 1 < n_keys(c) ? left + 1 : left;
    return (1 - (from - left)) * v[left * WIDTH + e] + (from - left) * v[right * WIDTH + e];
}

static double output(const Case *c, const double *q, const double *k, const double *v, int32_t at)
{
    int32_t i = at / WIDTH, e = at % WIDTH;
    double sum = core(c, q + i * WIDTH, k, v, e) + bias[e];
    for (int32_t t = 0; t < TAPS; t++)
        sum += kernel[e * TAPS + t] * v_at(c, v, i / SIDE + t / 3 - 1, i % SIDE + t % 3 - 1, e);
    return sum;
}

/* --- what the pass asks of the outside --- */

typedef struct Values {
    double q[N_BATCH * N_QUERY * WIDTH], k[N_BATCH * N_QUERY * WIDTH],
        v[N_BATCH * N_QUERY * WIDTH], out[N_BATCH * N_QUERY * WIDTH];
} Values;

static void make_values(const Case *c, uint32_t seed, Values *x)
{
    int32_t n = n_keys(c) * WIDTH;
    fill(x->q, N_BATCH * N_QUERY * WIDTH, seed);
    fill(x->k, N_BATCH * n, seed + 1);
    fill(x->v, N_BATCH * n, seed + 2);
    for (int32_t i = 0; i < N_BATCH * N_QUERY * WIDTH; i++) {
        int32_t b = i / (N_QUERY * WIDTH), at = i % (N_QUERY * WIDTH);
        x->out[i] = output(c, x->q + b * N_QUERY * WIDTH, x->k + b * n, x->v + b * n, at);
    }
}

typedef struct Samples {
    VfCalibration calibration;
    const Case *c;
    VfArena *arena;
} Samples;

static const VfTensor *tensor_of(VfArena *arena, int32_t rank, const int64_t *dims,
                                 const double *from)
{
    VfTensor *tensor;
    void *data;
    ck_assert_int_eq(vf_tensor_new(arena, VF_F64, rank, dims, &tensor, &data, NULL), VF_OK);
    for (size_t i = 0; i < tensor->count; i++)
        vf_tensor_put_double(data, VF_F64, i, from[i]);
    return tensor;
}

static const VfTensor *matrix_of(VfArena *arena, int32_t n_token, const double *from)
{
    const int64_t dims[] = {N_BATCH, n_token, WIDTH};
    return tensor_of(arena, 3, dims, from);
}

static VfStatus measure(const VfCalibration *self, const VfModel *model, int32_t n,
                        VfValue *const *value, VfCalibrationVisit *visit, void *user, VfErr *err)
{
    const Samples *s = (const Samples *)self;
    ck_assert_int_eq(n, 4);
    ck_assert_ptr_nonnull(model);
    ck_assert(vf_bytes_is_equal(value[0]->name, vf_bytes("q")));
    ck_assert(vf_bytes_is_equal(value[2]->name, vf_bytes("v")));
    for (uint32_t i = 0; i < N_SAMPLE; i++) {
        static Values x;
        make_values(s->c, 17 * i, &x);
        const VfTensor *tensor[] = {matrix_of(s->arena, N_QUERY, x.q),
                                    matrix_of(s->arena, n_keys(s->c), x.k),
                                    matrix_of(s->arena, n_keys(s->c), x.v),
                                    matrix_of(s->arena, N_QUERY, x.out)};
        VF_TRY(visit(user, tensor, err));
    }
    return VF_OK;
}

static VfStatus read_arrays(const VfArrayReader *self, VfArena *arena, const char *path,
                            VfArrayFile *file, VfErr *err)
{
    static const char *const name[] = {"weight", "bias", "other.bias", "1.weight"};
    static const double no_number[WIDTH] = {0, (double)NAN};
    const int64_t kernel_dims[] = {WIDTH, 1, 3, 3}, bias_dims[] = {WIDTH};
    bool is_finite = strcmp(path, "nan.npz") != 0;
    (void)self;
    if (strcmp(path, "empty.npz") == 0) {
        *file = (VfArrayFile){0, NULL, NULL};
        return VF_OK;
    }
    if (is_finite && strcmp(path, "given.npz") != 0)
        return vf_fail(err, VF_IO, "cannot open '%s'", path);
    const double *from[] = {kernel, is_finite ? bias : no_number, kernel, bias};
    *file = (VfArrayFile){4, VF_NEW_ARRAY(arena, const char *, 4),
                          VF_NEW_ARRAY(arena, const VfTensor *, 4)};
    for (int32_t i = 0; i < 4; i++) {
        file->name[i] = name[i];
        file->tensor[i] = i == 0 ? tensor_of(arena, 4, kernel_dims, from[i])
                                 : tensor_of(arena, 1, bias_dims, from[i]);
    }
    return VF_OK;
}

/* --- the pass --- */

static VfModel *make_model(const Case *c)
{
    char text[1024];
    VfModel *model = NULL;
    VfErr err = {0};
    snprintf(text, sizeof text,
             "model ir=8 opset=17\n\n"
             "graph g (q: f64[b, %d, 2], k: f64[b, %d, 2], v: f64[b, %d, 2]) -> (o) {\n"
             "    kt = Transpose(k) {perm=[0, 2, 1]} @kt\n"
             "    s = MatMul(q, kt) @s\n"
             "    p = Softmax(s) {axis=-1} @softmax\n"
             "    o = MatMul(p, v) @o\n"
             "}\n",
             N_QUERY, (int)n_keys(c), (int)n_keys(c));
    ck_assert_msg(vf_vft_parse(vf_bytes(text), "text", &model, &err) == VF_OK, "%s", err.text);
    ck_assert_int_eq(vf_infer_graph(model->graph, NULL, &err), VF_OK);
    return model;
}

static VfStatus run_pass(VfModel *model, const char *options, const VfPipelineOptions *run,
                         VfJournal **journal, VfErr *err)
{
    char text[256];
    VfPipeline pipeline;
    VfPipelineOptions own = *run;
    own.evaluator = vf_evaluator();
    own.stop_after = -1;
    *journal = vf_journal_new(model);
    snprintf(text, sizeof text, "linearize-attention:grid=4x4,%s", options);
    VF_TRY(vf_pipeline_parse(model->arena, text, NULL, &pipeline, err));
    return vf_pipeline_run(model, &pipeline, &own, *journal, NULL, NULL, err);
}

/* The model with its new weights gives the known function on values that were not measured. */
static void check_model(VfModel *model, const Case *c, double tolerance)
{
    static Values x;
    VfTestOutputs outputs;
    VfErr err = {0};
    make_values(c, 99, &x);
    model->graph->input[0]->tensor = matrix_of(model->arena, N_QUERY, x.q);
    model->graph->input[1]->tensor = matrix_of(model->arena, n_keys(c), x.k);
    model->graph->input[2]->tensor = matrix_of(model->arena, n_keys(c), x.v);
    VfStatus status = vf_test_run(model, N_BATCH, model->arena, &outputs, &err);
    ck_assert_msg(status == VF_OK, "%s", err.text);
    for (int32_t i = 0; i < N_BATCH * N_QUERY * WIDTH; i++)
        ck_assert_double_eq_tol(vf_tensor_get_double(outputs.tensor[0], (size_t)i), x.out[i],
                                tolerance);
}

static void check_edit(const VfJournal *journal)
{
    ck_assert_msg(journal->n_edit == 1, "%s",
                  journal->n_refusal > 0 ? journal->refusal[0].reason : "no refusal");
}

START_TEST(least_squares_find_the_convolution)
{
    const Case *c = &cases[_i];
    VfErr err = {0};
    VfJournal *journal;
    VfModel *model = make_model(c);
    Samples samples = {{measure}, c, model->arena};
    VfPipelineOptions run = {.calibration = &samples.calibration};
    VfStatus status = run_pass(model, c->is_1d ? "kernel=3,ridge=0,dwc=lsq,upsample=linear-1d"
                                               : "kernel=3,ridge=0,dwc=lsq",
                               &run, &journal, &err);
    ck_assert_msg(status == VF_OK, "%s", err.text);
    check_edit(journal);
    ck_assert_msg(strstr(journal->edit[0].note, "R2 1.0000") != NULL, "%s",
                  journal->edit[0].note);
    check_model(model, c, 1e-8);
    vf_model_free(model);
}
END_TEST

/* A strong ridge draws the taps, but not the bias, to zero. */
START_TEST(ridge_draws_to_zero)
{
    VfErr err = {0};
    VfJournal *journal;
    VfModel *model = make_model(&cases[0]);
    Samples samples = {{measure}, &cases[0], model->arena};
    VfPipelineOptions run = {.calibration = &samples.calibration};
    ck_assert_int_eq(
        run_pass(model, "kernel=3,ridge=1e6,dwc=lsq", &run, &journal, &err), VF_OK);
    check_edit(journal);
    VfValue *taps = vf_graph_find_value(model->graph, vf_bytes("o/dwc_weight"), false);
    VfValue *shift = vf_graph_find_value(model->graph, vf_bytes("o/dwc_bias"), false);
    for (size_t i = 0; i < WIDTH * TAPS; i++)
        ck_assert_double_eq_tol(vf_tensor_get_double(taps->tensor, i), 0, 1e-5);
    for (size_t i = 0; i < WIDTH; i++)
        ck_assert_double_eq_tol(vf_tensor_get_double(shift->tensor, i), bias[i], 0.1);
    vf_model_free(model);
}
END_TEST

START_TEST(weights_are_read)
{
    VfErr err = {0};
    VfJournal *journal;
    VfArrayReader reader = {read_arrays};
    VfPipelineOptions run = {.arrays = &reader};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        VfModel *model = make_model(&cases[i]);
        VfStatus status =
            run_pass(model, cases[i].is_1d ? "kernel=3,dwc=npz,dwc-file=given.npz,"
                                             "upsample=linear-1d"
                                           : "kernel=3,dwc=npz,dwc-file=given.npz",
                     &run, &journal, &err);
        ck_assert_msg(status == VF_OK, "%s", err.text);
        check_edit(journal);
        check_model(model, &cases[i], 1e-12);
        vf_model_free(model);
    }
}
END_TEST

static const struct {
    const char *options;
    VfStatus status;
    const char *says; /* the error, or the refusal under VF_OK */
} bad[] = {
    {"dwc=npz", VF_USAGE, "needs dwc-file"},
    {"dwc-file=given.npz", VF_USAGE, "dwc=npz only"},
    {"dwc=npz,dwc-file=gone.npz", VF_IO, "gone.npz"},
    {"dwc=npz,dwc-file=given.npz", VF_USAGE, "is not [2, 1, 5, 5] of numbers"},
    {"kernel=3,dwc=npz,dwc-file=nan.npz", VF_USAGE, "'bias' holds a number that is not finite"},
    {"dwc=npz,dwc-file=empty.npz", VF_OK, "no array of dwc-file"},
    {"dwc=lsq", VF_OK, "needs calibration data"},
    {"dwc=lsq,kernel=9", VF_USAGE, "at most 7 taps"},
};

START_TEST(what_is_missing_is_told)
{
    VfErr err = {0};
    VfJournal *journal;
    VfArrayReader reader = {read_arrays};
    VfPipelineOptions run = {.arrays = &reader};
    VfModel *model = make_model(&cases[0]);
    VfStatus status = run_pass(model, bad[_i].options, &run, &journal, &err);
    ck_assert_msg(status == bad[_i].status, "%s: %s", bad[_i].options, err.text);
    const char *text = status == VF_OK ? journal->refusal[0].reason : err.text;
    ck_assert_msg(strstr(text, bad[_i].says) != NULL, "%s: %s", bad[_i].options, text);
    ck_assert_int_eq(journal->n_edit, 0);
    vf_model_free(model);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("linear weights");
    TCase *tcase = tcase_create("cases");
    tcase_add_loop_test(tcase, least_squares_find_the_convolution, 0, 4);
    tcase_add_test(tcase, ridge_draws_to_zero);
    tcase_add_test(tcase, weights_are_read);
    tcase_add_loop_test(tcase, what_is_missing_is_told, 0, sizeof bad / sizeof bad[0]);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
