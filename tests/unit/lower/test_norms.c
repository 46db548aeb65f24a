/* Norms whose scale and bias differ from row to row. Expected values were computed by hand: with
 * epsilon 0 the norm of a row of two numbers is -1 and 1. */
#include "tests/unit/lower/table_case.h"

#define X "x: f32[2, 2, 2] = f32[2, 2, 2] {1, 3, -2, 2, 5, 1, 0, 8}"

/* What is tested, the model. */
static const char *const case_table[][2] = {
    {"a scale for each row",
     "model opset=17\n"
     "graph g (" X ") -> (y: f32[2, 2, 2]) {\n"
     "    want_y = const f32[2, 2, 2] {-2, 2, -3, 3, 2, -2, -3, 3}\n"
     "    s = const f32[2, 1] {2, 3}\n"
     "    y = LayerNormalization(x, s) {epsilon=0.0}\n"
     "}\n"},
    {"a scale for each image, a bias of a row, statistics",
     "model opset=17\n"
     "graph g (" X ") -> (y: f32[2, 2, 2], m: f32[2, 2, 1], d: f32[2, 2, 1]) {\n"
     "    want_y = const f32[2, 2, 2] {8, 22, 8, 22, 6, 17, 14, 23}\n"
     "    want_m = const f32[2, 2, 1] {2, 0, 3, 4}\n"
     "    want_d = const f32[2, 2, 1] {1, 0.5, 0.5, 0.25}\n"
     "    s = const f32[2, 1, 2] {2, 2, -4, 3}\n"
     "    b = const f32[2] {10, 20}\n"
     "    y, m, d = LayerNormalization(x, s, b) {epsilon=0.0}\n"
     "}\n"},
    {"a bias for each row, a scale with axes of length 1 before it",
     "model opset=17\n"
     "graph g (" X ", h: f16[2, 2] = f16[2, 2] {1, 3, -2, 2}) "
     "-> (y: f32[2, 2, 2], u: f16[2, 2]) {\n"
     "    want_y = const f32[2, 2, 2] {8, 14, 17, 23, 12, 6, 17, 23}\n"
     "    want_u = const f16[2, 2] {8, 14, 17, 23}\n"
     "    s = const f32[1, 1, 2] {2, 4}\n"
     "    b = const f32[2, 1] {10, 19}\n"
     "    y = LayerNormalization(x, s, b) {epsilon=0.0}\n"
     "    t = const f16[1, 2] {2, 4}\n"
     "    e = const f16[2, 1] {10, 19}\n"
     "    u = LayerNormalization(h, t, e) {epsilon=0.0}\n"
     "}\n"},
    {"as many scales as columns, one for each row",
     "model opset=23\n"
     "graph g (x: f32[2, 2] = f32[2, 2] {1, 3, 4, -4}, h: f32[2, 2] = f32[2, 2] {3, 3, 4, -4}) "
     "-> (y: f32[2, 2], z: f32[2, 2], w: f16[2, 2]) {\n"
     "    want_y = const f32[2, 2] {-2, 2, 3, -3}\n"
     "    want_z = const f32[2, 2] {2, 2, 3, -3}\n"
     "    want_w = const f16[2, 2] {2, 2, 3, -3}\n"
     "    s = const f32[2, 1] {2, 3}\n"
     "    t = const f16[2, 1] {2, 3}\n"
     "    y = LayerNormalization(x, s) {epsilon=0.0}\n"
     "    z = RMSNormalization(h, s) {epsilon=0.0}\n"
     "    w = RMSNormalization(h, t) {epsilon=0.0}\n"
     "}\n"},
};

CASE_TABLE_MAIN("lower/norms")
