#include "passes/ir/op.h"

#include <string.h>

#include "passes/ir/attr_default.h"
#include "tests/support/check_main.h"

static VfBytes bytes(const char *text)
{
    return (VfBytes){text, strlen(text)};
}

START_TEST(every_row_is_found_by_its_name)
{
    for (int op = VF_OP_RETURN + 1; op < VF_OP_COUNT; op++) {
        const VfOpInfo *info = vf_op_info((VfOp)op);
        ck_assert_int_eq(info->op, op);
        ck_assert_int_eq(vf_op_find(bytes(info->domain), bytes(info->name)), op);
        ck_assert_int_ge(info->since, 1);
        ck_assert(info->max_in < 0 || info->max_in >= info->min_in);
        ck_assert(info->max_out < 0 || info->max_out >= info->min_out);
    }
}
END_TEST

/* name, domain, operator */
static const struct {
    const char *domain, *name;
    VfOp op;
} name_case[] = {
    {"", "MatMul", VF_OP_MATMUL},
    {"", "Abs", VF_OP_ABS},
    {"", "Xor", VF_OP_XOR},
    {"com.microsoft", "Attention", VF_OP_MS_ATTENTION},
    {"", "Attention", VF_OP_ATTENTION},
    {"com.microsoft", "Trilu", VF_OP_MS_TRILU},
    {"", "matmul", VF_OP_OTHER},
    {"", "MatMulX", VF_OP_OTHER},
    {"", "MatMu", VF_OP_OTHER},
    {"", "", VF_OP_OTHER},
    {"ai.onnx.ml", "Scaler", VF_OP_OTHER},
    {"com.microsof", "Attention", VF_OP_OTHER},
};

START_TEST(names_are_looked_up_whole)
{
    ck_assert_int_eq(vf_op_find(bytes(name_case[_i].domain), bytes(name_case[_i].name)),
                     name_case[_i].op);
}
END_TEST

START_TEST(numbers_out_of_range_are_other)
{
    ck_assert_int_eq(vf_op_info(VF_OP_COUNT)->op, VF_OP_OTHER);
    ck_assert_int_eq(vf_op_info((VfOp)-1)->op, VF_OP_OTHER);
}
END_TEST

/* Operator, opset, and what holds: fewest and most operands, fewest and most results. */
static const struct {
    VfOp op;
    int64_t opset;
    int32_t arity[4];
} arity_case[] = {
    {VF_OP_RELU, 17, {1, 1, 1, 1}},
    {VF_OP_SLICE, 9, {1, 1, 1, 1}},
    {VF_OP_SLICE, 10, {3, 5, 1, 1}},
    {VF_OP_SLICE, 17, {3, 5, 1, 1}},
    {VF_OP_SLICE, 0, {1, 5, 1, 1}},
    {VF_OP_SPLIT, 1, {1, 2, 1, -1}},
    {VF_OP_SPLIT, 2, {1, 1, 1, -1}},
    {VF_OP_BATCH_NORMALIZATION, 13, {5, 5, 1, 5}},
    {VF_OP_BATCH_NORMALIZATION, 14, {5, 5, 1, 3}},
    {VF_OP_UPSAMPLE, 9, {2, 2, 1, 1}},
};

START_TEST(arity_follows_the_opset)
{
    VfArity arity = vf_op_arity(arity_case[_i].op, arity_case[_i].opset);
    const int32_t *want = arity_case[_i].arity;
    ck_assert_int_eq(arity.min_in, want[0]);
    ck_assert_int_eq(arity.max_in, want[1]);
    ck_assert_int_eq(arity.min_out, want[2]);
    ck_assert_int_eq(arity.max_out, want[3]);
}
END_TEST

START_TEST(operands_between_others_may_be_omitted)
{
    ck_assert(vf_op_needs(VF_OP_SLICE, 10, 2));
    ck_assert(!vf_op_needs(VF_OP_SLICE, 10, 3));
    ck_assert(!vf_op_needs(VF_OP_SLICE, 9, 1));
    ck_assert(!vf_op_needs(VF_OP_RESIZE, 11, 1));
    ck_assert(!vf_op_needs(VF_OP_LOOP, 17, 0));
}
END_TEST

START_TEST(flags_say_what_they_should)
{
    ck_assert(vf_op_has(VF_OP_ADD, VF_OPF_COMMUTATIVE));
    ck_assert(!vf_op_has(VF_OP_SUB, VF_OPF_COMMUTATIVE));
    ck_assert(vf_op_has(VF_OP_RESHAPE, VF_OPF_VIEW));
    ck_assert(!vf_op_has(VF_OP_TRANSPOSE, VF_OPF_VIEW));
    ck_assert(vf_op_has(VF_OP_LOOP, VF_OPF_CONTROL));
    ck_assert(vf_op_has(VF_OP_RANDOM_NORMAL, VF_OPF_IMPURE));
    ck_assert(vf_op_has(VF_OP_WHERE, VF_OPF_ELEMENTWISE));
    ck_assert(!vf_op_has(VF_OP_SOFTMAX, VF_OPF_ELEMENTWISE));
}
END_TEST

/* An operator's default by opset; no default: has 0 in both and `has` false. */
static const struct {
    VfOp op;
    const char *name;
    int64_t opset;
    bool has;
    int64_t i;
    float f;
} default_case[] = {
    {VF_OP_SOFTMAX, "axis", 12, true, 1, 0},
    {VF_OP_SOFTMAX, "axis", 13, true, -1, 0},
    {VF_OP_SOFTMAX, "axis", 22, true, -1, 0},
    {VF_OP_FLATTEN, "axis", 13, true, 1, 0},
    {VF_OP_GEMM, "alpha", 13, true, 0, 1.0f},
    {VF_OP_GEMM, "transB", 9, true, 0, 0},
    {VF_OP_BATCH_NORMALIZATION, "epsilon", 15, true, 0, 1e-5f},
    {VF_OP_LAYER_NORMALIZATION, "axis", 17, true, -1, 0},
    {VF_OP_REDUCE_MEAN, "keepdims", 18, true, 1, 0},
    {VF_OP_REDUCE_MEAN, "axes", 13, false, 0, 0},
    {VF_OP_LEAKY_RELU, "alpha", 16, true, 0, 0.01f},
    {VF_OP_HARD_SIGMOID, "alpha", 6, true, 0, 0.2f},
    {VF_OP_CONV, "group", 11, true, 1, 0},
    {VF_OP_AVERAGE_POOL, "count_include_pad", 11, true, 0, 0},
    {VF_OP_SELU, "gamma", 6, true, 0, 1.05070102214813232421875f},
    {VF_OP_MS_SKIP_LAYER_NORMALIZATION, "epsilon", 1, true, 0, 1e-12f},
};

START_TEST(defaults_follow_the_opset)
{
    const VfAttrDefault *row = vf_attr_default_find(
        default_case[_i].op, bytes(default_case[_i].name), default_case[_i].opset);
    ck_assert_ptr_nonnull(row);
    ck_assert_int_eq(row->has_value, default_case[_i].has);
    ck_assert_int_eq(row->i, default_case[_i].i);
    ck_assert_double_eq((double)row->f, (double)default_case[_i].f);
}
END_TEST

START_TEST(unknown_attributes_have_no_row)
{
    ck_assert_ptr_null(vf_attr_default_find(VF_OP_SOFTMAX, bytes("axes"), 13));
    ck_assert_ptr_null(vf_attr_default_find(VF_OP_OTHER, bytes("axis"), 13));
    ck_assert_ptr_null(vf_attr_default_find(VF_OP_RELU, bytes("axis"), 13));
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("op");
    TCase *tcase = tcase_create("op");
    tcase_add_test(tcase, every_row_is_found_by_its_name);
    tcase_add_loop_test(tcase, names_are_looked_up_whole, 0,
                        sizeof name_case / sizeof name_case[0]);
    tcase_add_test(tcase, numbers_out_of_range_are_other);
    tcase_add_loop_test(tcase, arity_follows_the_opset, 0,
                        sizeof arity_case / sizeof arity_case[0]);
    tcase_add_test(tcase, operands_between_others_may_be_omitted);
    tcase_add_test(tcase, flags_say_what_they_should);
    tcase_add_loop_test(tcase, defaults_follow_the_opset, 0,
                        sizeof default_case / sizeof default_case[0]);
    tcase_add_test(tcase, unknown_attributes_have_no_row);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
