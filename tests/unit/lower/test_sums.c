/* Reductions, norms and walks along an axis. Expected values were computed with NumPy. */
#include "tests/unit/lower/table_case.h"

/* What is tested, the model. */
static const char *const case_table[][2] = {
    {"reductions of two axes",
     "model opset=17 opset com.microsoft=1\n"
     "graph g (z: f32[2, 3, 4] = f32[2, 3, 4] {2, 1.25, -1, -0.75, 0.75, 0.75, 0.75, 1.5, "
     "-1, 1.75, -2, -1.75, 2, 2, -0.75, -1.5, -0.75, -2, 1.75, 0.75, 0.25, -1, 0, -1.25}) "
     "-> (y: f32[3], m: f32[1, 3, 1]) {\n"
     "    a = const i64[2] {0, 2}\n"
     "    want_y = const f32[3] {3.25, 3.5, -5}\n"
     "    want_m = const f32[1, 3, 1] {0.40625, 0.4375, -0.625}\n"
     "    y = ReduceSum(z, a) {keepdims=0}\n"
     "    m = ReduceMean(z) {axes=[0, 2]}\n"
     "}\n"},
    {"a reduction of a transposed view",
     "model opset=17 opset com.microsoft=1\n"
     "graph g (z: f32[2, 3, 4] = f32[2, 3, 4] {2, 1.25, -1, -0.75, 0.75, 0.75, 0.75, 1.5, "
     "-1, 1.75, -2, -1.75, 2, 2, -0.75, -1.5, -0.75, -2, 1.75, 0.75, 0.25, -1, 0, -1.25}) "
     "-> (y: f32[2, 4]) {\n"
     "    want_y = const f32[2, 4] {2, 1.75, 0.75, 1.5, 2, 2, 1.75, 0.75}\n"
     "    t = Transpose(z) {perm=[2, 0, 1]}\n"
     "    r = ReduceMax(t) {axes=[2], keepdims=0}\n"
     "    y = Transpose(r)\n"
     "}\n"},
    {"no axes and no reduction",
     "model opset=17 opset com.microsoft=1\n"
     "graph g (x: f32[2, 3] = f32[2, 3] {1.25, -1.75, -1.25, -1, -1.25, 1.25}) -> (y: "
     "f32[2, 3]) {\n"
     "    want_y = const f32[2, 3] {1.25, -1.75, -1.25, -1, -1.25, 1.25}\n"
     "    y = ReduceSum(x) {noop_with_empty_axes=1}\n"
     "}\n"},
    {"extremes of a dtype without a kernel",
     "model opset=17 opset com.microsoft=1\n"
     "graph g (u: i8[2, 2] = i8[2, 2] {-56, 100, 7, 9}) -> (y: i8[2]) {\n"
     "    want_y = const i8[2] {-56, 7}\n"
     "    y = ReduceMin(u) {axes=[1], keepdims=0}\n"
     "}\n"},
    {"softmax on an inner axis",
     "model opset=17 opset com.microsoft=1\n"
     "graph g (z: f32[2, 3, 4] = f32[2, 3, 4] {2, 1.25, -1, -0.75, 0.75, 0.75, 0.75, 1.5, "
     "-1, 1.75, -2, -1.75, 2, 2, -0.75, -1.5, -0.75, -2, 1.75, 0.75, 0.25, -1, 0, -1.25}) "
     "-> (y: f32[2, 3, 4]) {\n"
     "    want_y = const f32[2, 3, 4] {0.74833953, 0.3071959, 0.14040048, 0.09211822, "
     "0.21440285, 0.18632372, 0.807949, 0.87399334, 0.03725763, 0.5064804, 0.051650457, "
     "0.0338884, 0.807949, 0.93623954, 0.06536165, 0.08494905, 0.051650457, 0.017147826, "
     "0.7962678, 0.8059741, 0.14040048, 0.04661262, 0.1383706, 0.10907674}\n"
     "    y = Softmax(z) {axis=1}\n"
     "}\n"},
    {"softmax of opset 11 flattens",
     "model opset=11 opset com.microsoft=1\n"
     "graph g (z: f32[2, 3, 4] = f32[2, 3, 4] {2, 1.25, -1, -0.75, 0.75, 0.75, 0.75, 1.5, "
     "-1, 1.75, -2, -1.75, 2, 2, -0.75, -1.5, -0.75, -2, 1.75, 0.75, 0.25, -1, 0, -1.25}) "
     "-> (y: f32[2, 3, 4]) {\n"
     "    want_y = const f32[2, 3, 4] {0.25493637, 0.12042341, 0.012692533, 0.016297538, "
     "0.073040485, 0.073040485, 0.073040485, 0.15462673, 0.012692533, 0.19854462, "
     "0.0046693226, 0.0059955283, 0.27477473, 0.27477473, 0.017565763, 0.008297479, "
     "0.017565763, 0.005032675, 0.21399477, 0.07872427, 0.047748692, 0.013680228, "
     "0.037186716, 0.010654173}\n"
     "    y = Softmax(z) {axis=1}\n"
     "}\n"},
    {"layer norm without a bias",
     "model opset=17 opset com.microsoft=1\n"
     "graph g (z: f32[2, 3, 4] = f32[2, 3, 4] {2, 1.25, -1, -0.75, 0.75, 0.75, 0.75, 1.5, "
     "-1, 1.75, -2, -1.75, 2, 2, -0.75, -1.5, -0.75, -2, 1.75, 0.75, 0.25, -1, 0, -1.25}) "
     "-> (y: f32[2, 3, 4]) {\n"
     "    g = const f32[4] {2.5, 1, 1.25, 2}\n"
     "    want_y = const f32[2, 3, 4] {3.1716657, 0.68312794, -1.3418585, -1.7566148, "
     "-1.4433073, -0.5773229, -0.72165364, 3.4639375, -0.41958973, 1.6783589, -1.0489743, "
     "-1.3426871, 2.4647546, 0.9859018, -0.9366067, -2.4450364, -1.2024881, -1.355532, "
     "1.5850979, 1.1368978, 2.9417057, -0.7844549, 0.9805686, -2.3533647}\n"
     "    y = LayerNormalization(z, g)\n"
     "}\n"},
    {"batch norm",
     "model opset=17 opset com.microsoft=1\n"
     "graph g (z: f32[2, 3, 4] = f32[2, 3, 4] {2, 1.25, -1, -0.75, 0.75, 0.75, 0.75, 1.5, "
     "-1, 1.75, -2, -1.75, 2, 2, -0.75, -1.5, -0.75, -2, 1.75, 0.75, 0.25, -1, 0, -1.25}) "
     "-> (y: f32[2, 3, 4]) {\n"
     "    s = const f32[3] {0.75, -1.25, 1.25}\n"
     "    b = const f32[3] {1.75, -0.25, 2}\n"
     "    m = const f32[3] {-1.25, -0.5, 1.5}\n"
     "    v = const f32[3] {2.5, 1.75, 3}\n"
     "    want_y = const f32[2, 3, 4] {3.2916074, 2.9358518, 1.8685852, 1.9871703, "
     "-1.4311357, -1.4311357, -1.4311357, -2.139817, 0.1957835, 2.1804216, -0.525903, "
     "-0.3454814, 3.2916074, 3.2916074, 1.9871703, 1.6314148, -0.013772875, 1.1673627, "
     "-2.376044, -1.4311357, 1.0978918, 0.1957835, 0.9174701, 0.015361905}\n"
     "    y = BatchNormalization(z, s, b, m, v)\n"
     "}\n"},
    {"arg max of the last of equals",
     "model opset=17 opset com.microsoft=1\n"
     "graph g (x: f32[2, 3] = f32[2, 3] {1, 3, 3, 2, 0, 2}) -> (y: i64[2, 1]) {\n"
     "    want_y = const i64[2, 1] {2, 2}\n"
     "    y = ArgMax(x) {axis=1, select_last_index=1}\n"
     "}\n"},
    {"running sums backwards, without self",
     "model opset=17 opset com.microsoft=1\n"
     "graph g (x: f32[3] = f32[3] {1, 2, 4}) -> (y: f32[3]) {\n"
     "    a = const i64[] {0}\n"
     "    want_y = const f32[3] {6, 4, 0}\n"
     "    y = CumSum(x, a) {exclusive=1, reverse=1}\n"
     "}\n"},
};

CASE_TABLE_MAIN("lower/sums")
