/* Value-SkipInit and shaped attention: the worked example [value_skipinit_shaped] to its digits,
 * and what shaped attention takes away under a causal mask and without a softmax. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "converter/lower/lower.h"
#include "passes/ir/vft.h"
#include "passes/manager.h"
#include "tests/support/check_main.h"
#include "tests/support/run_model.h"

enum { N = 3, WIDTH = 2 };

static const double tokens[3][N * WIDTH] = {
    {1, 0.5, -0.5, 2, 0.25, -1}, {0.5, 1, 1, -1, -1, 0.5}, {1, 2, 0, -1, 3, 0.5}};

static VfModel *make_model(bool is_causal)
{
    char text[1024];
    VfModel *model = NULL;
    VfErr err = {0};
    snprintf(text, sizeof text,
             "model ir=8 opset=17\n\n"
             "graph g (x: f64[1, 3, 6]) -> (o) {\n"
             "    two = const i64[3] {2, 2, 2}\n"
             "    scale = const f64[] {0.70710678118654752}\n"
             "    m = const f64[3, 3] {0, -100, -100, 0, 0, -100, 0, 0, 0}\n"
             "    q, k, v = Split(x, two) {axis=2} @split\n"
             "    kt = Transpose(k) {perm=[0, 2, 1]} @kt\n"
             "    s = MatMul(q, kt) @s\n"
             "    t = Mul(s, scale) @t\n"
             "    u = Add(t, m) @u\n"
             "    p = Softmax(%s) {axis=-1} @softmax\n"
             "    o = MatMul(p, v) @o\n"
             "}\n",
             is_causal ? "u" : "t");
    ck_assert_msg(vf_vft_parse(vf_bytes(text), "text", &model, &err) == VF_OK, "%s", err.text);
    return model;
}

/* Queries, keys and values side by side. */
static void set_input(VfModel *model, bool are_logits_zero)
{
    const int64_t dims[3] = {1, N, 3 * WIDTH};
    VfTensor *tensor;
    void *data;
    ck_assert_int_eq(vf_tensor_new(model->arena, VF_F64, 3, dims, &tensor, &data, NULL), VF_OK);
    for (size_t i = 0; i < tensor->count; i++) {
        size_t row = i / (3 * WIDTH), part = i / WIDTH % 3;
        vf_tensor_put_double(data, VF_F64, i, part == 0 && are_logits_zero
                                                  ? 0
                                                  : tokens[part][row * WIDTH + i % WIDTH]);
    }
    model->graph->input[0]->tensor = tensor;
}

/* The result after `passes`, in `o`. */
static void run(VfModel *model, const char *passes, bool are_logits_zero, double *o)
{
    VfErr err = {0};
    VfPipeline pipeline;
    VfTestOutputs outputs;
    VfPipelineOptions options = {.evaluator = vf_evaluator(), .stop_after = -1};
    VfJournal *journal = vf_journal_new(model);
    ck_assert_int_eq(vf_pipeline_parse(model->arena, passes, NULL, &pipeline, &err), VF_OK);
    VfStatus status = vf_pipeline_run(model, &pipeline, &options, journal, NULL, NULL, &err);
    ck_assert_msg(status == VF_OK, "%s: %s", passes, err.text);
    ck_assert_msg(journal->n_edit > 0 && journal->n_refusal == 0, "%s: %s", passes,
                  journal->n_refusal > 0 ? journal->refusal[0].reason : "no edit");
    set_input(model, are_logits_zero);
    ck_assert_msg(vf_test_run(model, 1, model->arena, &outputs, &err) == VF_OK, "%s", err.text);
    for (size_t i = 0; i < N * WIDTH; i++)
        o[i] = vf_tensor_get_double(outputs.tensor[0], i);
    vf_model_free(model);
}

static void assert_equal(const double *o, const double *want, const char *what)
{
    for (size_t i = 0; i < N * WIDTH; i++)
        ck_assert_msg(fabs(o[i] - want[i]) < 1e-12, "%s: [%d] is %.15g, not %.15g", what, (int)i,
                      o[i], want[i]);
}

START_TEST(worked_example)
{
    static const double skipinit[] = {1.1816392471518,    2.01726604349112, 0.558502085158592,
                                      -0.523397025965326, 2.89483972113641, 0.361301631120821};
    static const double shaped[] = {0.914972580485134,  1.91726604349112, 0.291835418491925,
                                    -0.623397025965326, 2.62817305446974, 0.261301631120821};
    double o[N * WIDTH];
    run(make_model(false), "insert-spa:kernel=skipinit,alpha=0.9,beta=0.3", false, o);
    assert_equal(o, skipinit, "skipinit");
    run(make_model(false), "insert-spa:kernel=shaped,alpha=0.9,beta=0.3,center=0.2", false, o);
    assert_equal(o, shaped, "shaped");
}
END_TEST

/* With beta = center attention at logits of zero is taken away whole: alpha V is left. */
START_TEST(center_is_attention_at_zero)
{
    static const char *const before[] = {"", "softmax-to-relu:act=softplus,gain=3,",
                                         "softmax-to-relu:act=relu,shift=0.5,",
                                         "softmax-to-relu:act=sigmoid,alpha=0.5,"};
    for (int k = 0; k < 8; k++) {
        char passes[128];
        double o[N * WIDTH], want[N * WIDTH];
        snprintf(passes, sizeof passes, "%sinsert-spa:kernel=shaped,alpha=0.75,beta=0.5,center=0.5",
                 before[k / 2]);
        run(make_model(k % 2 == 1), passes, true, o);
        for (size_t i = 0; i < N * WIDTH; i++)
            want[i] = 0.75 * tokens[2][i];
        assert_equal(o, want, passes);
    }
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("spa values");
    TCase *tcase = tcase_create("cases");
    tcase_add_test(tcase, worked_example);
    tcase_add_test(tcase, center_is_attention_at_zero);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
