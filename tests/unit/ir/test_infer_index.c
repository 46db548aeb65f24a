#include "tests/support/check_main.h"
#include "tests/unit/ir/infer_case.h"

static const InferCase rows[] = {
    {"Gather", "axis=1", "f32[b, 197, 192]; i64[]", "f32[b, 192]"},
    {"Gather", "axis=0", "f32[v, 192]; i64[b, n]", "f32[b, n, 192]"},
    {"Gather", "axis=3", "f32[v, 192]; i64[b]", "invalid"},
    {"Gather", "axis=0", "i64{batch, 3, 224}; i64(0)", "i64[]{batch}"},
    {"Gather", "axis=0", "i64{batch, 3, 224}; i64{-1, 1}", "i64[2]{224, 3}"},
    {"Gather", "axis=0", "i64{batch, 3}; i64(2)", "invalid"},
    {"GatherElements", "axis=1", "f32[3, 9]; i64[3, 2]", "f32[3, 2]"},
    {"GatherElements", "", "f32[3, 9]; i64[3]", "invalid"},
    {"GatherND", "", "f32[4, 5, 6]; i64[n, 2]", "f32[n, 6]"},
    {"GatherND", "batch_dims=1", "f32[b, 5, 6]; i64[b, 7, 1]", "f32[b, 7, 6]"},
    {"GatherND", "", "f32[4]; i64[n, 2]", "invalid"},
    {"ScatterND", "", "f32[4, 5]; i64[n, 2]; f32[n]", "f32[4, 5]"},
    {"TopK/11", "axis=1", "f32[b, 10]; i64{3}", "f32[b, 3]; i64[b, 3]"},
    {"TopK/9", "k=2", "f32[b, 10]", "f32[b, 2]; i64[b, 2]"},
    {"TopK/11", "", "f32[b, 10]; i64[1]", "f32[b, ?]; i64[b, ?]"},
    {"TopK/11", "", "f32[b, 10]; i64{11}", "invalid; invalid"},
    {"OneHot", "axis=1", "i64[b, n]; i64(5); f32[2]", "f32[b, 5, n]"},
    {"OneHot", "", "i64[b]; f32(5); f32[2]", "f32[b, 5]"},
    {"NonZero", "", "f32[b, 3]", "i64[2, ?]"},
    {"Compress", "axis=1", "f32[b, 3]; bool[3]", "f32[b, ?]"},
    {"Compress", "", "f32[b, 3]; bool[3]", "f32[?]"},
    {"Unique", "", "f32[b, 3]", "f32[?]"},
    {"NonMaxSuppression", "", "f32[b, n, 4]; f32[b, 80, n]", "i64[?, 3]"},
    {"NonMaxSuppression", "", "f32[b, n, 5]; f32[b, 80, n]", "invalid"},
    {"NonMaxSuppression", "", "f32[b, 9, 4]; f32[b, 80, 8]", "invalid"},
    {"NonMaxSuppression", "", "f32[2, n, 4]; f32[1, 80, n]", "invalid"},
    {"NonMaxSuppression", "", "f32[b, n, 4]; f32[80, n]", "invalid"},
    {"Trilu", "upper=0", "f32[n, n]", "f32[n, n]"},
    {"CumSum", "", "i64[n, 3]; i64(0)", "i64[n, 3]"},
    {"DepthToSpace", "blocksize=2", "f32[b, 12, h, w]", "f32[b, 3, 2*h, 2*w]"},
    {"DepthToSpace", "blocksize=2", "f32[b, 13, h, w]", "invalid"},
    {"SpaceToDepth", "blocksize=2", "f32[b, 3, 8, 2*w]", "f32[b, 12, 4, w]"},
    {"CenterCropPad/18", "axes=[1]", "f32[20, 8]; i64{10}", "f32[20, 10]"},
    {"ConstantOfShape", "", "i64{batch, 3}", "f32[batch, 3]"},
    {"ConstantOfShape", "", "i64{-1}", "invalid"},
    {"ConstantOfShape", "", "i64[2]", "f32[?, ?]"},
    {"Range", "", "i64(0); i64(n); i64(1)", "i64[n]"},
    {"Range", "", "i64(2); i64(n); i64(1)", "i64[n-2]"},
    {"Range", "", "i64(10); i64(3); i64(-3)", "i64[3]{10, 7, 4}"},
    {"Range", "", "i64(0); i64(9); i64(-1)", "i64[0]{}"},
    {"Range", "", "i64(0); i64(9); i64(0)", "invalid"},
    {"Range", "", "f32(0); f32(1); f32(0.25)", "f32[4]"},
    {"EyeLike", "dtype=11", "f32[3, n]", "f64[3, n]"},
    {"RandomNormal", "shape=[2,3]", "", "f32[2, 3]"},
    {"HannWindow", "", "i64(16)", "f32[16]"},
    {"ReduceMean/13", "axes=[-1]", "f32[b, n, 192]", "f32[b, n, 1]"},
    {"ReduceMean/18", "keepdims=0", "f32[b, n, 192]; i64{1}", "f32[b, 192]"},
    {"ReduceMean/18", "", "f32[b, n]", "f32[1, 1]"},
    {"ReduceMean/18", "noop_with_empty_axes=1", "f32[b, n]; i64{}", "f32[b, n]"},
    {"ReduceMean/18", "", "f32[b, n]; i64[1]", "f32[?, ?]"},
    {"ReduceMean/13", "axes=[3]", "f32[b, n]", "invalid"},
    {"ReduceProd/13", "keepdims=0", "i64{batch, 3, 4}", "i64[]{12*batch}"},
    {"ReduceSum/13", "", "i64{2, n}", "i64[1]{n+2}"},
    {"ReduceMax/13", "keepdims=0", "i64{2, 9, 4}", "i64[]{9}"},
    {"ReduceMean/13", "keepdims=0", "i64{2, 4}", "i64[]"},
    {"ArgMax", "axis=1 keepdims=0", "f32[b, 10]", "i64[b]"},
    {"QuantizeLinear/13", "", "f32[n]; f32[]", "u8[n]"},
    {"QuantizeLinear/13", "", "f32[n]; f32[]; i8[]", "i8[n]"},
    {"DequantizeLinear/13", "", "i8[n]; f32[]", "f32[n]"},
    {"DynamicQuantizeLinear", "", "f32[n]", "u8[n]; f32[]; u8[]"},
    {"SequenceEmpty", "", "", "seq(f32[...])"},
    {"SequenceConstruct", "", "f32[2, n]; f32[3, n]", "seq(f32[?, n])"},
    {"SequenceAt", "", "seq(f32[2, n]); i64()", "f32[2, n]"},
    {"SequenceInsert", "", "seq(f32[2, n]); f32[2, 4]", "seq(f32[2, ?])"},
    {"SequenceLength", "", "seq(f32[2])", "i64[]"},
    {"SplitToSequence", "axis=0", "f32[9, n]; i64(3)", "seq(f32[3, n])"},
    {"SplitToSequence", "axis=0 keepdims=0", "f32[9, n]", "seq(f32[n])"},
    {"SplitToSequence", "axis=0", "f32[9, n]; i64{4, 5}", "seq(f32[?, n])"},
    {"ConcatFromSequence", "axis=1", "seq(f32[2, 3])", "f32[2, ?]"},
    {"ConcatFromSequence", "axis=0 new_axis=1", "seq(f32[2, 3])", "f32[?, 2, 3]"},
    {"OptionalHasElement", "", "f32[2]", "bool[]"},
};

START_TEST(infers_results)
{
    infer_check(&rows[_i]);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("infer_index");
    TCase *tcase = tcase_create("table");
    tcase_add_loop_test(tcase, infers_results, 0, sizeof rows / sizeof rows[0]);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
