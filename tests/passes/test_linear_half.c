/* linearize-attention in half precision, which ends at 65504: sums over many keys stay below. */
#include <stdio.h>

#include "passes/ir/infer.h"
#include "passes/ir/vft.h"
#include "tests/support/check_main.h"
#include "tests/support/run_model.h"
#include "tests/support/run_pass.h"

enum { MANY = 2048 };

static VfModel *make_half_model(const char *n)
{
    char text[512];
    VfModel *model = NULL;
    VfErr err = {0};
    snprintf(text, sizeof text,
             "model ir=8 opset=17\n\n"
             "graph g (q: f16[1, 2, 2], k: f16[1, 2, %s], v: f16[1, %s, 2]) -> (o) {\n"
             "    s = MatMul(q, k) @s\n    p = Softmax(s) {axis=-1} @softmax\n"
             "    o = MatMul(p, v) @o\n}\n",
             n, n);
    ck_assert_msg(vf_vft_parse(vf_bytes(text), "text", &model, &err) == VF_OK, "%s", err.text);
    ck_assert_int_eq(vf_infer_graph(model->graph, NULL, &err), VF_OK);
    return model;
}

static VfTensor *half_tensor(VfArena *arena, int64_t rows, int64_t columns, double first,
                             double second)
{
    const int64_t dims[] = {1, rows, columns};
    VfTensor *tensor;
    void *data;
    ck_assert_int_eq(vf_tensor_new(arena, VF_F16, 3, dims, &tensor, &data, NULL), VF_OK);
    for (size_t i = 0; i < tensor->count; i++)
        vf_tensor_put_double(data, VF_F16, i, i < tensor->count / 2 ? first : second);
    return tensor;
}

/* The weights are 8 * 4 + 8 * 4 for each of 2048 keys, and their sum twice the largest half. */
START_TEST(halves_do_not_overflow)
{
    static const char *const words[] = {"linearize-attention:dwc=off,order=linear",
                                        "linearize-attention:dwc=off,order=quadratic"};
    static const char *const size[] = {"2048", "n"};
    VfModel *model = make_half_model(size[_i / 2]);
    VfTestOutputs outputs;
    VfErr err = {0};
    ck_assert_int_eq(vf_test_passes(model, words[_i % 2])->n_edit, 1);
    model->graph->input[0]->tensor = half_tensor(model->arena, 2, 2, 8, 8);
    model->graph->input[1]->tensor = half_tensor(model->arena, 2, MANY, 4, 4);
    model->graph->input[2]->tensor = half_tensor(model->arena, MANY, 2, 50, -20);
    VfStatus status = vf_test_run(model, 1, model->arena, &outputs, &err);
    ck_assert_msg(status == VF_OK, "%s", err.text);
    for (size_t i = 0; i < 4; i++)
        ck_assert_double_eq_tol(vf_tensor_get_double(outputs.tensor[0], i), 15, 0.05);
    vf_model_free(model);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("linear attention in half precision");
    TCase *tcase = tcase_create("cases");
    tcase_add_loop_test(tcase, halves_do_not_overflow, 0, 4);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
