/* insert-spa against a reference in double: with logits of zero a causal layer is the Cholesky
 * factor of its kernel, and with strength 0 it is the old network. */
#include <math.h>
#include <stdio.h>

#include "converter/lower/lower.h"
#include "passes/ir/vft.h"
#include "passes/manager.h"
#include "tests/support/check_main.h"
#include "tests/support/run_model.h"

enum { N = 4, WIDTH = 2 };

static const double value[N * WIDTH] = {1, 2, 0.5, -1, 3, 0.25, -2, 1};

/* Lower triangular F with F Fᵀ = exp(-gamma |i-j|), column by column. */
static void factor(double gamma, double F[N][N])
{
    for (int j = 0; j < N; j++) {
        for (int i = 0; i < N; i++) {
            double sum = exp(-gamma * fabs((double)(i - j)));
            for (int k = 0; k < j; k++)
                sum -= F[i][k] * F[j][k];
            F[i][j] = i < j ? 0.0 : i == j ? sqrt(sum) : sum / F[j][j];
        }
    }
}

static void check(const char *passes, double A[N][N])
{
    char text[1024];
    const int64_t dims[3] = {1, N, WIDTH};
    VfModel *model = NULL;
    VfErr err = {0};
    VfPipeline pipeline;
    VfTestOutputs outputs;
    VfTensor *tensor;
    void *data;
    VfPipelineOptions options = {.evaluator = vf_evaluator(), .stop_after = -1};
    snprintf(text, sizeof text,
             "model ir=8 opset=17\n\n"
             "graph g (v: f32[1, 4, 2]) -> (o) {\n"
             "    w = const f32[2, 2] {0, 0, 0, 0}\n"
             "    m = const f32[4, 4] {0, -inf, -inf, -inf, 0, 0, -inf, -inf, 0, 0, 0, -inf, 0, 0, "
             "0, 0}\n"
             "    q = MatMul(v, w) @q\n"
             "    kt = Transpose(v) {perm=[0, 2, 1]} @kt\n"
             "    s = MatMul(q, kt) @s\n"
             "    t = Add(s, m) @mask\n"
             "    p = Softmax(t) {axis=-1} @softmax\n"
             "    o = MatMul(p, v) @o\n"
             "}\n");
    ck_assert_msg(vf_vft_parse(vf_bytes(text), "text", &model, &err) == VF_OK, "%s", err.text);
    VfJournal *journal = vf_journal_new(model);
    ck_assert_int_eq(vf_pipeline_parse(model->arena, passes, NULL, &pipeline, &err), VF_OK);
    VfStatus status = vf_pipeline_run(model, &pipeline, &options, journal, NULL, NULL, &err);
    ck_assert_msg(status == VF_OK, "%s", err.text);
    ck_assert_int_eq(journal->n_edit, 1);
    ck_assert_int_eq(vf_tensor_new(model->arena, VF_F32, 3, dims, &tensor, &data, NULL), VF_OK);
    for (size_t i = 0; i < tensor->count; i++)
        vf_tensor_put_double(data, VF_F32, i, value[i]);
    model->graph->input[0]->tensor = tensor;
    status = vf_test_run(model, 1, model->arena, &outputs, &err);
    ck_assert_msg(status == VF_OK, "%s", err.text);
    for (int i = 0; i < N * WIDTH; i++) {
        double sum = 0;
        for (int j = 0; j < N; j++)
            sum += A[i / WIDTH][j] * value[j * WIDTH + i % WIDTH];
        ck_assert_double_eq_tol(vf_tensor_get_double(outputs.tensor[0], (size_t)i), sum, 1e-5);
    }
    vf_model_free(model);
}

START_TEST(zero_logits_give_the_factor)
{
    double F[N][N];
    factor(0.25, F);
    check("insert-spa:gamma=0.25,tau=1", F);
}
END_TEST

START_TEST(strength_zero_is_the_old_network)
{
    double A[N][N];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            A[i][j] = j <= i ? 1.0 / (double)(i + 1) : 0.0;
    check("insert-spa:gamma=0.25,tau=0", A);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("insert spa");
    TCase *tcase = tcase_create("cases");
    tcase_add_test(tcase, zero_logits_give_the_factor);
    tcase_add_test(tcase, strength_zero_is_the_old_network);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
