/* Operators that carry a state, and grids. Expected values were computed by hand. */
#include "tests/unit/lower/table_case.h"

/* What is tested, the model. */
static const char *const case_table[][2] = {
    {"a causal convolution that begins with zeros",
     "model opset=27\n"
     "graph g (x: f32[1, 2, 4] = f32[1, 2, 4] {1, 2, 3, 4, 1, 1, 1, 1}) "
     "-> (y: f32[1, 2, 4], s: f32[1, 2, 1]) {\n"
     "    want_y = const f32[1, 2, 4] {10.5, 21.5, 32.5, 43.5, 1, 3, 3, 3}\n"
     "    want_s = const f32[1, 2, 1] {4, 1}\n"
     "    w = const f32[2, 1, 2] {1, 10, 2, 1}\n"
     "    b = const f32[2] {0.5, 0}\n"
     "    y, s = CausalConvWithState(x, w, b)\n"
     "}\n"},
    {"a causal convolution of one token with a state",
     "model opset=27\n"
     "graph g (x: f32[1, 1, 1] = f32[1, 1, 1] {3}, p: f32[1, 1, 2] = f32[1, 1, 2] {1, 2}) "
     "-> (y: f32[1, 1, 1], s: f32[1, 1, 2]) {\n"
     "    want_y = const f32[1, 1, 1] {321}\n"
     "    want_s = const f32[1, 1, 2] {2, 3}\n"
     "    w = const f32[1, 1, 3] {1, 10, 100}\n"
     "    y, s = CausalConvWithState(x, w, _, p)\n"
     "}\n"},
    {"linear attention that forgets and corrects; two heads read one state",
     "model opset=27\n"
     "graph g (q: f32[1, 2, 2] = f32[1, 2, 2] {1, 2, 3, 4}, k: f32[1, 2, 1] = f32[1, 2, 1] {1, 1}, "
     "v: f32[1, 2, 1] = f32[1, 2, 1] {2, 1}, g: f32[1, 2, 1] = f32[1, 2, 1] {0, -0.6931472}, "
     "b: f32[1, 2, 1] = f32[1, 2, 1] {0.5, 0.5}) -> (y: f32[1, 2, 2], s: f32[1, 1, 1, 1]) {\n"
     "    want_y = const f32[1, 2, 2] {2, 4, 4.5, 6}\n"
     "    want_s = const f32[1, 1, 1, 1] {0.75}\n"
     "    y, s = LinearAttention(q, k, v, _, g, b) "
     "{q_num_heads=2, kv_num_heads=1, scale=2.0}\n"
     "}\n"},
    {"linear attention is a running sum of outer products",
     "model opset=27\n"
     "graph g (q: f32[1, 1, 2] = f32[1, 1, 2] {1, 2}, k: f32[1, 1, 2] = f32[1, 1, 2] {3, 1}, "
     "v: f32[1, 1, 1] = f32[1, 1, 1] {2}, p: f32[1, 1, 2, 1] = f32[1, 1, 2, 1] {1, 10}) "
     "-> (y: f32[1, 1, 1], s: f32[1, 1, 2, 1]) {\n"
     "    want_y = const f32[1, 1, 1] {31}\n"
     "    want_s = const f32[1, 1, 2, 1] {7, 12}\n"
     "    y, s = LinearAttention(q, k, v, p) "
     "{q_num_heads=1, kv_num_heads=1, scale=1.0, update_rule=\"linear\"}\n"
     "}\n"},
    {"writes around the end of a ring",
     "model opset=24\n"
     "graph g (c: f32[2, 3, 1] = f32[2, 3, 1] {1, 2, 3, 4, 5, 6}, "
     "u: f32[2, 2, 1] = f32[2, 2, 1] {10, 20, 30, 40}, i: i64[2] = i64[2] {2, 0}) "
     "-> (y: f32[2, 3, 1], z: f32[2, 3, 1]) {\n"
     "    want_y = const f32[2, 3, 1] {20, 2, 10, 30, 40, 6}\n"
     "    want_z = const f32[2, 3, 1] {10, 20, 3, 30, 40, 6}\n"
     "    y = TensorScatter(c, u, i) {mode=\"circular\"}\n"
     "    z = TensorScatter(c, u)\n"
     "}\n"},
    {"sequences turned round up to their lengths, whichever axis is which",
     "model opset=17\n"
     "graph g (x: f32[3, 2] = f32[3, 2] {1, 10, 2, 20, 3, 30}) "
     "-> (y: f32[3, 2], z: f32[3, 2]) {\n"
     "    want_y = const f32[3, 2] {2, 30, 1, 20, 3, 10}\n"
     "    want_z = const f32[3, 2] {1, 10, 20, 2, 30, 3}\n"
     "    n = const i64[2] {2, 3}\n"
     "    m = const i64[3] {1, 2, 2}\n"
     "    y = ReverseSequence(x, n)\n"
     "    z = ReverseSequence(x, m) {batch_axis=0, time_axis=1}\n"
     "}\n"},
    {"a grid that scales x, moves y; and one of corners in space",
     "model opset=20\n"
     "graph g (t: f32[1, 2, 3] = f32[1, 2, 3] {2, 0, 0, 0, 1, 0.25}, "
     "u: f32[1, 3, 4] = f32[1, 3, 4] {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}) "
     "-> (y: f32[1, 1, 2, 2], z: f32[1, 2, 1, 1, 3]) {\n"
     "    want_y = const f32[1, 1, 2, 2] {-1, 0.25, 1, 0.25}\n"
     "    want_z = const f32[1, 2, 1, 1, 3] {-1, -1, -1, -1, -1, 1}\n"
     "    n = const i64[4] {1, 1, 1, 2}\n"
     "    m = const i64[5] {1, 1, 2, 1, 1}\n"
     "    y = AffineGrid(t, n)\n"
     "    z = AffineGrid(u, m) {align_corners=1}\n"
     "}\n"},
};

CASE_TABLE_MAIN("lower/state")
