/* Dtypes of operands: a hit and a miss of each letter of operand_dtypes.def, also of constants. */
#include "tests/support/check_main.h"
#include "tests/unit/ir/infer_case.h"

static const InferCase row[] = {
    {"Not", "", "bool[2]", "bool[2]{?, ?}"},
    {"Not", "", "i64[2]", "invalid"},
    {"Not", "", "i64{1, 0}", "invalid"},
    {"Not", "", "f32{1, 0}", "invalid"},
    {"Not", "", "?[2]", "?[2]"},
    {"Exp", "", "bf16[2]", "bf16[2]"},
    {"Exp", "", "i32[2]", "invalid"},
    {"Exp", "", "i32{1, 0}", "invalid"},
    {"Add", "", "u8[2]; u8[2]", "u8[2]{?, ?}"},
    {"Add", "", "bool[2]; bool[2]", "invalid"},
    {"Add", "", "string[2]; string[2]", "invalid"},
    {"Add", "", "i32[2]; i64[2]", "invalid"},
    {"MatMul", "", "i32[2, 2]; i32[2, 2]", "i32[2, 2]"},
    {"MatMul", "", "i8[2, 2]; i8[2, 2]", "invalid"},
    {"ReduceSum", "", "u64[2]; i64{0}", "u64[1]{?}"},
    {"ReduceSum/11", "", "u64[2]", "u64[1]{?}"},
    {"ReduceSum/11", "", "u8[2]", "invalid"},
    {"ReduceMax/20", "", "bool[2]; i64{0}", "bool[1]"},
    {"ReduceMax/20", "", "string[2]; i64{0}", "invalid"},
    {"Neg", "", "i8[2]", "i8[2]{?, ?}"},
    {"Neg", "", "u8[2]", "invalid"},
    {"BitwiseNot/18", "", "u8[2]", "u8[2]"},
    {"BitwiseNot/18", "", "f32[2]", "invalid"},
    {"IsNaN/20", "", "f8e4m3fn[2]", "bool[2]"},
    {"IsNaN/20", "", "i8[2]", "invalid"},
    {"MaxPool", "kernel_shape=[1]", "i8[1, 1, 2]", "i8[1, 1, 2]"},
    {"MaxPool", "kernel_shape=[1]", "i32[1, 1, 2]", "invalid"},
    {"StringConcat/20", "", "string[2]; string[2]", "string[2]"},
    {"StringConcat/20", "", "u8[2]; u8[2]", "invalid"},
    {"Pow", "", "i32[2]; f32[2]", "i32[2]"},
    {"Pow", "", "u8[2]; f32[2]", "invalid"},
    {"Pow/11", "", "f32[2]; i32[2]", "invalid"},
};

START_TEST(dtypes_are_those_of_onnx)
{
    infer_check(&row[_i]);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("infer_dtypes");
    TCase *tcase = tcase_create("table");
    tcase_add_loop_test(tcase, dtypes_are_those_of_onnx, 0, sizeof row / sizeof row[0]);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
