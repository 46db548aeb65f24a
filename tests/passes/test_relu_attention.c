/* softmax-to-relu against a reference in double and the worked examples of the conversion passes.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "converter/lower/lower.h"
#include "passes/ir/vft.h"
#include "passes/manager.h"
#include "tests/passes/act_reference.h"
#include "tests/passes/relu_attention_values.h"
#include "tests/support/check_main.h"
#include "tests/support/run_model.h"

enum { WIDTH = 2, KEYS_MAX = 5 };

/* One attention without a batch: queries, keys and values of width 2. */
typedef struct Attention {
    int32_t n_q, n_k;
    const double *q, *k, *v;
    double scale;
    const double *mask; /* added to the logits; NULL: none */
} Attention;

static const double q3[] = {1, 0.5, -0.5, 2, 0.25, -1};
static const double k5[] = {0.5, 1, 1, -1, -1, 0.5, 2, 0.25, 0, -0.75};
static const double v5[] = {1, 2, 0, -1, 3, 0.5, -2, 1, 0.5, 0.5};
static const double mask3[] = {0, 0, -100, 0, 0, -100, -100, -100, 0};

static const char *const act_name[] = {"relu",     "relu2",   "relu6",   "gelu",
                                       "softplus", "sigmoid", "identity"};
enum { N_ACT = sizeof act_name / sizeof act_name[0] };

/* --- reference --- */

/* A key removed by the mask has weight zero under identity too. */
static double weight(const Attention *a, const char *act, double alpha, int32_t i, int32_t j)
{
    double s = 0, m = a->mask != NULL ? a->mask[i * a->n_k + j] : 0;
    for (int32_t c = 0; c < WIDTH; c++)
        s += a->q[i * WIDTH + c] * a->k[j * WIDTH + c];
    bool is_removed = m <= -100 && strcmp(act, "identity") == 0;
    return is_removed ? 0 : pow(a->n_k, -alpha) * apply(act, s * a->scale + m);
}

static double output(const Attention *a, const char *act, double alpha, int32_t i, int32_t c)
{
    double sum = 0;
    for (int32_t j = 0; j < a->n_k; j++)
        sum += weight(a, act, alpha, i, j) * a->v[j * WIDTH + c];
    return sum;
}

/* --- the pass --- */

static const VfTensor *tensor_of(VfArena *arena, int32_t rows, const double *from)
{
    const int64_t dims[3] = {1, rows, WIDTH};
    VfTensor *tensor;
    void *data;
    ck_assert_int_eq(vf_tensor_new(arena, VF_F32, 3, dims, &tensor, &data, NULL), VF_OK);
    for (size_t i = 0; i < tensor->count; i++)
        vf_tensor_put_double(data, VF_F32, i, from[i]);
    return tensor;
}

static void print_mask(const Attention *a, char *text, size_t size)
{
    size_t at = 0;
    text[0] = '\0';
    for (int32_t i = 0; a->mask != NULL && i < a->n_q * a->n_k; i++)
        at += (size_t)snprintf(text + at, size - at, "%s%g", i > 0 ? ", " : "", a->mask[i]);
}

static VfModel *make_model(const Attention *a, bool is_dynamic)
{
    char text[2048], mask[256], n_q[8] = "nq", n_k[8] = "nk";
    VfModel *model = NULL;
    VfErr err = {0};
    print_mask(a, mask, sizeof mask);
    if (!is_dynamic) {
        snprintf(n_q, sizeof n_q, "%d", (int)a->n_q);
        snprintf(n_k, sizeof n_k, "%d", (int)a->n_k);
    }
    snprintf(text, sizeof text,
             "model ir=8 opset=17\n\n"
             "graph g (q: f32[1, %s, 2], k: f32[1, %s, 2], v: f32[1, %s, 2]) -> (p, o) {\n"
             "    scale = const f32[] {%.9g}\n"
             "%s%s%s"
             "    kt = Transpose(k) {perm=[0, 2, 1]} @kt\n"
             "    s = MatMul(q, kt) @s\n"
             "    t = Mul(s, scale) @t\n"
             "%s"
             "    p = Softmax(%s) {axis=-1} @softmax\n"
             "    o = MatMul(p, v) @o\n"
             "}\n",
             n_q, n_k, n_k, a->scale, a->mask != NULL ? "    mask = const f32[3, 3] {" : "", mask,
             a->mask != NULL ? "}\n" : "", a->mask != NULL ? "    u = Add(t, mask) @u\n" : "",
             a->mask != NULL ? "u" : "t");
    ck_assert_msg(vf_vft_parse(vf_bytes(text), "text", &model, &err) == VF_OK, "%s", err.text);
    return model;
}

static void run_pass(VfModel *model, const char *act, double alpha)
{
    char text[128];
    VfErr err = {0};
    VfPipeline pipeline;
    VfPipelineOptions options = {.evaluator = vf_evaluator(), .stop_after = -1};
    VfJournal *journal = vf_journal_new(model);
    snprintf(text, sizeof text, "softmax-to-relu:act=%s,alpha=%g", act, alpha);
    ck_assert_int_eq(vf_pipeline_parse(model->arena, text, NULL, &pipeline, &err), VF_OK);
    VfStatus status = vf_pipeline_run(model, &pipeline, &options, journal, NULL, NULL, &err);
    ck_assert_msg(status == VF_OK, "%s", err.text);
    ck_assert_int_eq(journal->n_edit, 1);
}

static void check_run(const Attention *a, const char *act, double alpha, bool is_dynamic)
{
    VfErr err = {0};
    VfTestOutputs outputs;
    VfModel *model = make_model(a, is_dynamic);
    run_pass(model, act, alpha);
    model->graph->input[0]->tensor = tensor_of(model->arena, a->n_q, a->q);
    model->graph->input[1]->tensor = tensor_of(model->arena, a->n_k, a->k);
    model->graph->input[2]->tensor = tensor_of(model->arena, a->n_k, a->v);
    VfStatus status = vf_test_run(model, 1, model->arena, &outputs, &err);
    ck_assert_msg(status == VF_OK, "%s", err.text);
    for (int32_t i = 0; i < a->n_q; i++) {
        for (int32_t j = 0; j < a->n_k; j++)
            ck_assert_double_eq_tol(
                vf_tensor_get_double(outputs.tensor[0], (size_t)(i * a->n_k + j)),
                weight(a, act, alpha, i, j), 1e-6);
        for (int32_t c = 0; c < WIDTH; c++)
            ck_assert_double_eq_tol(
                vf_tensor_get_double(outputs.tensor[1], (size_t)(i * WIDTH + c)),
                output(a, act, alpha, i, c), 1e-5);
    }
    vf_model_free(model);
}

/* --- cases --- */

static Attention square(const double *mask)
{
    return (Attention){3, 3, q3, k5, v5, sqrt(0.5), mask};
}

START_TEST(reference_gives_the_worked_examples)
{
    const ReluExample *row = &relu_example[_i];
    Attention a = square(NULL);
    for (int32_t at = 0; at < 9; at++)
        ck_assert_double_eq_tol(weight(&a, row->act, row->alpha, at / 3, at % 3), row->weights[at],
                                1e-12);
    for (int32_t at = 0; at < 6; at++)
        ck_assert_double_eq_tol(output(&a, row->act, row->alpha, at / 2, at % 2), row->outputs[at],
                                1e-12);
}
END_TEST

START_TEST(reference_gives_the_masked_examples)
{
    const ReluMasked *row = &relu_masked[_i];
    Attention a = square(mask3);
    for (int32_t at = 0; at < 9; at++)
        ck_assert_double_eq_tol(weight(&a, row->act, 1, at / 3, at % 3), row->weights[at], 1e-12);
}
END_TEST

START_TEST(pass_gives_the_reference)
{
    Attention a = square(NULL);
    check_run(&a, act_name[_i], 1, false);
    check_run(&a, act_name[_i], 0.5, false);
    check_run(&a, act_name[_i], 1, true);
    check_run(&a, act_name[_i], 0.5, true);
}
END_TEST

START_TEST(masks_keep_their_meaning)
{
    double endless[9];
    Attention a = square(mask3);
    check_run(&a, act_name[_i], 1, false);
    for (int32_t i = 0; i < 9; i++)
        endless[i] = mask3[i] < 0 ? -3.4e38 : 0;
    a.mask = endless;
    check_run(&a, act_name[_i], 1, false);
}
END_TEST

/* The length is that of the keys: `relu_attention_cross`. */
START_TEST(cross_attention_counts_keys)
{
    const double weights[] = {0.14142135623731,
                              0.0707106781186548,
                              0,
                              0.300520382004283,
                              0,
                              0.247487373415292,
                              0,
                              0.212132034355964,
                              0,
                              0};
    Attention a = {2, 5, q3, k5, v5, sqrt(0.5), NULL};
    for (int32_t at = 0; at < 10; at++)
        ck_assert_double_eq_tol(weight(&a, "relu", 1, at / 5, at % 5), weights[at], 1e-12);
    check_run(&a, "relu", 1, false);
    check_run(&a, "relu", 1, true);
}
END_TEST

/* `relu6_saturation`: logits 7.5, -1 and 3. */
START_TEST(relu6_saturates)
{
    const double q[] = {1, 0}, k[] = {7.5, 0, -1, 0, 3, 0}, weights[] = {2, 0, 1};
    Attention a = {1, 3, q, k, v5, 1, NULL};
    for (int32_t j = 0; j < 3; j++)
        ck_assert_double_eq_tol(weight(&a, "relu6", 1, 0, j), weights[j], 1e-12);
    check_run(&a, "relu6", 1, false);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("relu attention");
    TCase *tcase = tcase_create("cases");
    tcase_add_loop_test(tcase, reference_gives_the_worked_examples, 0,
                        sizeof relu_example / sizeof relu_example[0]);
    tcase_add_loop_test(tcase, reference_gives_the_masked_examples, 0,
                        sizeof relu_masked / sizeof relu_masked[0]);
    tcase_add_loop_test(tcase, pass_gives_the_reference, 0, N_ACT);
    tcase_add_loop_test(tcase, masks_keep_their_meaning, 0, N_ACT);
    tcase_add_test(tcase, cross_attention_counts_keys);
    tcase_add_test(tcase, relu6_saturates);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
