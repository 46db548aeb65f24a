/* softmax-to-relu with gain, shift, L=valid and qk-norm against a reference in double. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "converter/lower/lower.h"
#include "passes/ir/vft.h"
#include "passes/manager.h"
#include "tests/support/check_main.h"
#include "tests/support/run_model.h"

enum { N = 3, WIDTH = 2 };

static const double q_data[] = {1, 0.5, -0.5, 2, 0.25, -1};
static const double k_data[] = {0.5, 1, 1, -1, -1, 0.5};
static const double causal[] = {0, -100, -100, 0, 0, -100, 0, 0, 0};
static const double row_empty[] = {0, -100, 0, -100, -100, -100, 0, 0, 0};

static const char TEXT[] = "model ir=8 opset=17\n\n"
                           "graph g (q: f32[1, 3, 2], k: f32[1, 3, 2]) -> (p, o) {\n"
                           "    scale = const f32[] {0.70710678}\n"
                           "    mask = const f32[3, 3] {%s}\n"
                           "    kt = Transpose(k) {perm=[0, 2, 1]} @kt\n"
                           "    s = MatMul(q, kt) @s\n"
                           "    t = Mul(s, scale) @t\n"
                           "    u = Add(t, mask) @u\n"
                           "    p = Softmax(u) {axis=-1} @softmax\n"
                           "    o = MatMul(p, k) @o\n"
                           "}\n";

typedef struct Row {
    const char *options;
    double alpha, gain, shift;
    bool is_valid, is_norm;
    const double *mask;
} Row;

static const Row row_table[] = {
    {"gain=auto", 1, 2.506628274631, 0, false, false, causal},
    {"gain=3,alpha=0.5", 0.5, 3, 0, false, false, causal},
    {"shift=auto", 1, 1, 0.899471561, false, false, causal},
    {"shift=-0.25,gain=2", 1, 2, -0.25, false, false, causal},
    {"L=valid", 1, 1, 0, true, false, causal},
    {"L=valid,alpha=0.5,gain=auto", 0.5, 2.506628274631, 0, true, false, causal},
    {"L=valid", 1, 1, 0, true, false, row_empty},
    {"qk-norm=on", 1, 1, 0, false, true, causal},
    {"qk-norm=on,L=valid,shift=auto", 1, 1, 0.899471561, true, true, causal},
};

/* Component `c` of row `i`, normalised over the width if asked. */
static double component(const double *x, int32_t i, int32_t c, bool is_norm)
{
    const double *row = x + i * WIDTH;
    double mean = (row[0] + row[1]) / 2;
    double variance = (pow(row[0] - mean, 2) + pow(row[1] - mean, 2)) / 2;
    return is_norm ? (row[c] - mean) / sqrt(variance + 1e-6) : row[c];
}

static double weight(const Row *row, int32_t i, int32_t j)
{
    double s = 0, length = 0;
    for (int32_t c = 0; c < WIDTH; c++)
        s += component(q_data, i, c, row->is_norm) * component(k_data, j, c, row->is_norm);
    s = s / sqrt(2) + row->mask[i * N + j] + row->shift;
    for (int32_t n = 0; n < N; n++)
        length += !row->is_valid || row->mask[i * N + n] > -100 ? 1 : 0;
    return s > 0 ? row->gain * pow(length > 1 ? length : 1, -row->alpha) * s : 0;
}

static const VfTensor *tensor_of(VfArena *arena, const double *from)
{
    const int64_t dims[3] = {1, N, WIDTH};
    VfTensor *tensor;
    void *data;
    ck_assert_int_eq(vf_tensor_new(arena, VF_F32, 3, dims, &tensor, &data, NULL), VF_OK);
    for (size_t i = 0; i < tensor->count; i++)
        vf_tensor_put_double(data, VF_F32, i, from[i]);
    return tensor;
}

static VfModel *make_model(const Row *row)
{
    char text[1024], mask[256];
    size_t at = 0;
    VfErr err = {0};
    VfModel *model = NULL;
    for (int32_t i = 0; i < N * N; i++)
        at += (size_t)snprintf(mask + at, sizeof mask - at, "%s%g", i > 0 ? ", " : "",
                               row->mask[i]);
    snprintf(text, sizeof text, TEXT, mask);
    ck_assert_msg(vf_vft_parse(vf_bytes(text), "text", &model, &err) == VF_OK, "%s", err.text);
    return model;
}

static VfStatus run_pass(VfModel *model, const char *words, int32_t *n_edit, VfErr *err)
{
    char text[128];
    VfPipeline pipeline;
    VfPipelineOptions options = {.evaluator = vf_evaluator(), .stop_after = -1};
    VfJournal *journal = vf_journal_new(model);
    snprintf(text, sizeof text, "softmax-to-relu:%s", words);
    VF_TRY(vf_pipeline_parse(model->arena, text, NULL, &pipeline, err));
    VF_TRY(vf_pipeline_run(model, &pipeline, &options, journal, NULL, NULL, err));
    *n_edit = journal->n_edit;
    return VF_OK;
}

START_TEST(pass_gives_the_reference)
{
    const Row *row = &row_table[_i];
    VfErr err = {0};
    VfTestOutputs outputs;
    int32_t n_edit = 0;
    VfModel *model = make_model(row);
    VfStatus status = run_pass(model, row->options, &n_edit, &err);
    ck_assert_msg(status == VF_OK, "%s", err.text);
    ck_assert_int_eq(n_edit, 1);
    model->graph->input[0]->tensor = tensor_of(model->arena, q_data);
    model->graph->input[1]->tensor = tensor_of(model->arena, k_data);
    status = vf_test_run(model, 1, model->arena, &outputs, &err);
    ck_assert_msg(status == VF_OK, "%s", err.text);
    for (int32_t i = 0; i < N; i++) {
        for (int32_t j = 0; j < N; j++)
            ck_assert_double_eq_tol(vf_tensor_get_double(outputs.tensor[0], (size_t)(i * N + j)),
                                    weight(row, i, j), 2e-6);
        for (int32_t c = 0; c < WIDTH; c++) {
            double sum = 0;
            for (int32_t j = 0; j < N; j++)
                sum += weight(row, i, j) * k_data[j * WIDTH + c];
            ck_assert_double_eq_tol(
                vf_tensor_get_double(outputs.tensor[1], (size_t)(i * WIDTH + c)), sum, 1e-5);
        }
    }
    vf_model_free(model);
}
END_TEST

static const char *const wrong[] = {"gain=auto,act=gelu", "shift=auto,act=sigmoid", "gain=much",
                                    "shift=1x", "gain=auto,shift=auto"};

START_TEST(wrong_numbers_are_refused)
{
    VfErr err = {0};
    int32_t n_edit = 0;
    VfModel *model = make_model(&row_table[0]);
    ck_assert_int_eq(run_pass(model, wrong[_i], &n_edit, &err), VF_USAGE);
    vf_model_free(model);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("relu options");
    TCase *tcase = tcase_create("cases");
    tcase_add_loop_test(tcase, pass_gives_the_reference, 0,
                        sizeof row_table / sizeof row_table[0]);
    tcase_add_loop_test(tcase, wrong_numbers_are_refused, 0, sizeof wrong / sizeof wrong[0]);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
