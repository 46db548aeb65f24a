/* Deformable convolutions. Expected values were computed by hand. */
#include "tests/unit/lower/table_case.h"

/* What is tested, the model. */
static const char *const case_table[][2] = {
    {"offsets of half a pixel, to beyond the image and to no place",
     "model opset=19\n"
     "graph g (x: f32[1, 1, 2, 2] = f32[1, 1, 2, 2] {1, 2, 3, 4}, "
     "o: f32[1, 2, 2, 2] = f32[1, 2, 2, 2] {0.5, 0, -1, nan, 0, -0.5, 0, 0}) "
     "-> (y: f32[1, 1, 2, 2]) {\n"
     "    want_y = const f32[1, 1, 2, 2] {20, 15, 10, 0}\n"
     "    w = const f32[1, 1, 1, 1] {10}\n"
     "    y = DeformConv(x, w, o)\n"
     "}\n"},
    {"groups of channels and of offsets, a bias, a mask, two images in halves",
     "model opset=22\n"
     "graph g (x: f16[2, 2, 1, 2] = f16[2, 2, 1, 2] {1, 2, 3, 4, 5, 6, 7, 8}, "
     "o: f16[2, 4, 1, 2] = f16[2, 4, 1, 2] {0, 0, 0, 0, 0, 0, 1, -1, 0, 0, 0, 0, 0, 0, 1, -1}, "
     "m: f16[2, 2, 1, 2] = f16[2, 2, 1, 2] {1, 1, 1, 1, 0.5, 1, 2, 0}) "
     "-> (y: f16[2, 2, 1, 2]) {\n"
     "    want_y = const f16[2, 2, 1, 2] {11, 12, 420, 320, 12.5, 16, 1620, 20}\n"
     "    w = const f16[2, 1, 1, 1] {1, 100}\n"
     "    b = const f16[2] {10, 20}\n"
     "    y = DeformConv(x, w, o, b, m) {group=2, offset_group=2}\n"
     "}\n"},
    {"strides, dilations, pads and two results of one group",
     "model opset=22\n"
     "graph g (x: f64[1, 1, 1, 5] = f64[1, 1, 1, 5] {1, 2, 3, 4, 5}, "
     "o: f64[1, 4, 1, 3] = f64[1, 4, 1, 3] {0, 0, 0, 0, 0, 0.5, 0, 0, 0, 0, 0, 0}) "
     "-> (y: f64[1, 2, 1, 3]) {\n"
     "    want_y = const f64[1, 2, 1, 3] {20, 42, 4.5, 20, 40, 0}\n"
     "    w = const f64[2, 1, 1, 2] {1, 10, 0, 10}\n"
     "    y = DeformConv(x, w, o) {strides=[1, 2], dilations=[1, 2], pads=[0, 1, 0, 1]}\n"
     "}\n"},
};

CASE_TABLE_MAIN("lower/deform")
