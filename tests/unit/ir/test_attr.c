#include "passes/ir/attr.h"

#include "tests/support/check_main.h"
#include "tests/unit/ir/vft_case.h"

#define MODEL                                                                        \
    "model opset=12\n"                                                               \
    "function l::F opset=13 attr axis (x) -> (y) {\n"                                \
    "y = Softmax(x) {axis=ref int axis}\n}\n"                                        \
    "graph (x: f32[2]) -> (x) {\n"                                                   \
    "a1 = const i32[2] {-1, 2}\na2 = const i64[] {5}\na3 = const i64[1, 1] {5}\n"    \
    "plain = Softmax(x)\nset = Softmax(x) {axis=3}\nwrong = Softmax(x) {axis=3.5}\n" \
    "gemm = Gemm(x, x) {alpha=0.5}\nconv = Conv(x, x) {auto_pad=\"VALID\"}\n"        \
    "odd = Odd(x) {i=7, f=1.5, is=[4, 5], empty=ints [], fs=[0.5]}\n"                \
    "s0 = Squeeze(x) {axes=[0, 1]}\ns1 = Squeeze(x, a1)\ns2 = Squeeze(x, a2)\n"      \
    "s3 = Squeeze(x, a3)\ns4 = Squeeze(x, x)\ns5 = Squeeze(x)\n"                     \
    "s6 = Squeeze(x) {axes=4}\ns7 = Squeeze(x, _)\n}"

static VfModel *model;

static void set_up(void)
{
    model = read_vft(MODEL);
}

static void tear_down(void)
{
    vf_model_free(model);
}

/* node, attribute, its value as int */
static const struct {
    const char *node, *name;
    int64_t value;
} int_case[] = {
    {"plain", "axis", 1}, {"set", "axis", 3},  {"wrong", "axis", 1}, {"gemm", "transB", 0},
    {"conv", "group", 1}, {"odd", "i", 7},     {"odd", "axis", 0},   {"odd", "f", 0},
};

START_TEST(ints_have_defaults)
{
    ck_assert_int_eq(vf_node_int(find_def(model, int_case[_i].node), int_case[_i].name),
                     int_case[_i].value);
}
END_TEST

START_TEST(the_opset_of_a_function_counts)
{
    const VfNode *node = model->first_function->body->first_node;
    ck_assert_ptr_nonnull(vf_node_attr(node, "axis"));
    ck_assert_int_eq(vf_node_int(node, "axis"), -1);
}
END_TEST

START_TEST(floats_and_strings_have_defaults)
{
    ck_assert_double_eq(vf_node_float(find_def(model, "gemm"), "alpha"), 0.5);
    ck_assert_double_eq(vf_node_float(find_def(model, "gemm"), "beta"), 1.0);
    ck_assert_double_eq(vf_node_float(find_def(model, "odd"), "beta"), 0.0);
    ck_assert_str_eq(vf_node_string(find_def(model, "conv"), "auto_pad").data, "VALID");
    ck_assert_uint_eq(vf_node_string(find_def(model, "odd"), "auto_pad").size, 0);
}
END_TEST

START_TEST(lists_tell_empty_from_absent)
{
    int32_t n;
    const VfNode *node = find_def(model, "odd");
    ck_assert_int_eq(vf_node_ints(node, "is", &n)[1], 5);
    ck_assert_int_eq(n, 2);
    ck_assert_ptr_nonnull(vf_node_ints(node, "empty", &n));
    ck_assert_int_eq(n, 0);
    ck_assert_ptr_null(vf_node_ints(node, "none", &n));
    ck_assert_double_eq((double)vf_node_floats(node, "fs", &n)[0], 0.5);
    ck_assert_ptr_null(vf_node_floats(node, "is", &n));
}
END_TEST

/* node, expected count, first value */
static const struct {
    const char *node;
    int32_t n;
    int64_t first;
} axes_case[] = {
    {"s0", 2, 0},  {"s1", 2, -1}, {"s2", 1, 5}, {"s3", VF_RANK_UNKNOWN, 0},
    {"s4", VF_RANK_UNKNOWN, 0},   {"s5", 0, 0}, {"s6", 1, 4}, {"s7", 0, 0},
};

START_TEST(axes_come_from_attribute_or_operand)
{
    int32_t n;
    const int64_t *axes =
        vf_node_ints_or_operand(find_def(model, axes_case[_i].node), "axes", 1, &n);
    ck_assert_int_eq(n, axes_case[_i].n);
    ck_assert_int_eq(axes != NULL, axes_case[_i].n > 0);
    if (axes != NULL)
        ck_assert_int_eq(axes[0], axes_case[_i].first);
}
END_TEST

START_TEST(setting_replaces_or_appends)
{
    static const int64_t perm[] = {1, 0};
    VfNode *node = find_def(model, "odd");
    int32_t n;
    ck_assert_int_eq(vf_node_set_float(node, "i", 2.5f, NULL), VF_OK);
    ck_assert_int_eq(vf_node_set_ints(node, "perm", 2, perm, NULL), VF_OK);
    ck_assert_int_eq(vf_node_set_string(node, "mode", "linear", NULL), VF_OK);
    ck_assert_double_eq(vf_node_float(node, "i"), 2.5);
    ck_assert_int_eq(vf_node_ints(node, "perm", &n)[0], 1);
    ck_assert_str_eq(vf_node_string(node, "mode").data, "linear");
    ck_assert_str_eq(node->first_attr->name.data, "i");
    ck_assert_int_eq(vf_node_add_attr(node, vf_node_attr(find_def(model, "gemm"), "alpha"), NULL),
                     VF_OK);
    ck_assert_double_eq(vf_node_float(node, "alpha"), 0.5);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("attr");
    TCase *tcase = tcase_create("attr");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, ints_have_defaults, 0, sizeof int_case / sizeof int_case[0]);
    tcase_add_test(tcase, the_opset_of_a_function_counts);
    tcase_add_test(tcase, floats_and_strings_have_defaults);
    tcase_add_test(tcase, lists_tell_empty_from_absent);
    tcase_add_loop_test(tcase, axes_come_from_attribute_or_operand, 0,
                        sizeof axes_case / sizeof axes_case[0]);
    tcase_add_test(tcase, setting_replaces_or_appends);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
