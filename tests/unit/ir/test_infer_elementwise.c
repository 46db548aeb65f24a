#include "tests/support/check_main.h"
#include "tests/unit/ir/infer_case.h"

static const InferCase shapes[] = {
    {"Relu", "", "f32[batch, 3, 224]", "f32[batch, 3, 224]"},
    {"Relu", "", "f32[...]", "f32[...]"},
    {"IsNaN", "", "f32[2]", "bool[2]"},
    {"Add", "", "f32[batch, 197, 192]; f32[192]", "f32[batch, 197, 192]"},
    {"Add", "", "f32[batch, 1]; f32[1, n]", "f32[batch, n]"},
    {"Add", "", "f32[a]; f32[b]", "f32[?]"},
    {"Add", "", "f32[a]; f32[7]", "f32[7]"},
    {"Add", "", "f32[?]; f32[a]", "f32[?]"},
    {"Add", "", "f32[]; f32[...]", "f32[...]"},
    {"Add", "", "f32[0]; f32[1]", "f32[0]"},
    {"Add", "", "f32[2, 3]; f32[4, 3]", "invalid"},
    {"Add", "", "f32[2]; i64[2]", "invalid"},
    {"Equal", "", "i64[n]; i64[1]", "bool[n]"},
    {"Pow", "", "f32[2, 3]; i64[]", "f32[2, 3]"},
    {"Where", "", "bool[1, 5]; f32[4, 1]; f32[]", "f32[4, 5]"},
    {"Where", "", "f32[5]; f32[5]; f32[5]", "invalid"},
    {"Max", "", "f32[3, 1]; f32[1, 4]; f32[]", "f32[3, 4]"},
    {"PRelu", "", "f32[2, 3, 4]; f32[3, 1]", "f32[2, 3, 4]"},
    {"PRelu", "", "f32[]; f32[4]", "invalid"},
    {"PRelu", "", "f32[2, 1]; f32[2, 4]", "invalid"},
    {"Max", "", "f32[2]; f32[2]; i64[2]", "invalid"},
    {"Clip/11", "", "f32[n]; -; f32(6)", "f32[n]"},
    {"Cast", "to=10", "f32[n, 2]", "f16[n, 2]"},
    {"Cast", "to=99", "f32[n, 2]", "invalid"},
    {"CastLike", "", "f32[n]; i64[...]", "i64[n]"},
    {"Dropout/12", "", "f32[n, 2]", "f32[n, 2]; bool[n, 2]"},
    {"Dropout/7", "", "f32[n, 2]", "f32[n, 2]; f32[n, 2]"},
    {"Softmax/13", "axis=-1", "f32[b, h, n, n]", "f32[b, h, n, n]"},
    {"Softmax/13", "axis=4", "f32[b, h, n, n]", "invalid"},
    {"Softmax/11", "axis=2", "f32[b, n]", "f32[b, n]"},
};

static const InferCase contents[] = {
    {"Add", "", "i64{batch, 2}; i64{3, 4}", "i64[2]{batch+3, 6}"},
    {"Sub", "", "i64{batch}; i64{batch}", "i64[1]{0}"},
    {"Mul", "", "i64(batch); i64(12)", "i64[]{12*batch}"},
    {"Mul", "", "i64(a); i64(b)", "i64[]{a*b}"},
    {"Div", "", "i64{12*batch, -7}; i64{12, 2}", "i64[2]{batch, -3}"},
    {"Div", "", "i64(5); i64(0)", "i64[]{?}"},
    {"Mod", "", "i64{-7, 7, 14*n}; i64{4, 4, 7}", "i64[3]{1, 3, 0}"},
    {"Mod", "fmod=1", "i64{-7}; i64{4}", "i64[1]"},
    {"Neg", "", "i64{3, n}", "i64[2]{-3, -1*n}"},
    {"Abs", "", "i64{-3, n}", "i64[2]{3, n}"},
    {"Min", "", "i64{3, n}; i64{5, n}", "i64[2]{3, n}"},
    {"Max", "", "i64{3, n}; i64{5, 4}", "i64[2]{5, ?}"},
    {"Equal", "", "i64{batch, 197, 3}; i64{-1}", "bool[3]{0, 0, 0}"},
    {"Equal", "", "i64{batch, n}; i64{batch, 3}", "bool[2]{1, ?}"},
    {"Less", "", "i64{1, 5, n}; i64{2}", "bool[3]{1, 0, ?}"},
    {"GreaterOrEqual", "", "i64{1, n}; i64{2, n}", "bool[2]{0, 1}"},
    {"And", "", "bool{0, 1, ?}; bool{?, 1, ?}", "bool[3]{0, 1, ?}"},
    {"Or", "", "bool{1, 0}; bool{?, 0}", "bool[2]{1, 0}"},
    {"Not", "", "bool{1, 0, ?}", "bool[3]{0, 1, ?}"},
    {"Where", "", "bool{1, 0}; i64{1, 1}; i64{batch, n}", "i64[2]{1, n}"},
    {"Where", "", "bool{?, ?}; i64{n, 2}; i64{n, 3}", "i64[2]{n, ?}"},
    {"Cast", "to=6", "i64{5, n}", "i32[2]{5, n}"},
    {"Cast", "to=7", "f32{2.7, -2.7}", "i64[2]{2, -2}"},
    {"Cast", "to=9", "i64{5, n}", "bool[2]{1, ?}"},
    {"Cast", "to=6", "i64{4294967296}", "i32[1]{?}"},
    {"Cast", "to=1", "i64{5}", "f32[1]"},
    {"Identity", "", "i64{n, 2}", "i64[2]{n, 2}"},
    {"Add", "", "i64[2]; i64{1, 2}", "i64[2]{?, ?}"},
    {"Add", "", "i64[1000]; i64(1)", "i64[1000]"},
};

START_TEST(infers_shapes)
{
    infer_check(&shapes[_i]);
}
END_TEST

START_TEST(infers_contents)
{
    infer_check(&contents[_i]);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("infer_elementwise");
    TCase *tcase = tcase_create("tables");
    tcase_add_loop_test(tcase, infers_shapes, 0, sizeof shapes / sizeof shapes[0]);
    tcase_add_loop_test(tcase, infers_contents, 0, sizeof contents / sizeof contents[0]);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
