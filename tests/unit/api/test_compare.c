/* How far apart tensors may be by rounding alone. */
#include "converter/api/compare.h"

#include "passes/ir/infer.h"

#include "tests/support/check_main.h"
#include "tests/unit/ir/vft_case.h"

/* A model, the dtype it computes with, the limit of a float32 output of it. */
static const struct {
    const char *text;
    VfDtype dtype;
    double limit;
} row[] = {
    {"model\ngraph g (x: f32[2]) -> (y) {\ny = Relu(x)\n}\n", VF_F32, 1e-4},
    {"model\ngraph g (x: f64[2]) -> (y) {\ny = Relu(x)\n}\n", VF_F32, 1e-4},
    {"model\ngraph g (x: f32[2]) -> (y) {\nh = Cast(x) {to=10}\nr = Relu(h)\n"
     "y = Cast(r) {to=1}\n}\n",
     VF_F16, 0x1p-8},
    {"model\ngraph g (x: f16[2], c: bool[]) -> (y) {\ny = If(c) {then_branch=graph a () -> (t) "
     "{\nh = Cast(x) {to=16}\nt = Cast(h) {to=10}\n}, else_branch=graph b () -> (e) {\n"
     "e = Relu(x)\n}}\n}\n",
     VF_BF16, 0x1p-5},
};

START_TEST(rounding_follows_what_is_computed)
{
    VfModel *model = read_vft(row[_i].text);
    VfErr err = {0};
    VfDtype dtype;
    ck_assert_int_eq(vf_infer_graph(model->graph, NULL, &err), VF_OK);
    ck_assert_int_eq(vf_computed_dtype(model, &dtype, &err), VF_OK);
    ck_assert_int_eq(dtype, row[_i].dtype);
    ck_assert_double_eq_tol(vf_close_limit(VF_F32, dtype), row[_i].limit, 1e-12);
    ck_assert(vf_close_limit(VF_BF16, VF_UNDEFINED) >= 0x1p-5);
    vf_model_free(model);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("compare");
    TCase *cases = tcase_create("limits");
    tcase_add_loop_test(cases, rounding_follows_what_is_computed, 0,
                        (int)(sizeof row / sizeof row[0]));
    suite_add_tcase(suite, cases);
    return suite;
}

VF_CHECK_MAIN(make_suite)
