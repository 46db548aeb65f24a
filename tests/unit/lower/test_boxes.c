/* Boxes of images: which are kept, and what lies in them. Expected values were computed by hand. */
#include "tests/unit/lower/table_case.h"

/* What is tested, the model. */
static const char *const case_table[][2] = {
    {"boxes that overlap a better one: corners in any order, equal scores, one that is no number",
     "model opset=11\n"
     "graph g (x: f32[1] = f32[1] {0}) -> (y: i64[?, 3], z: i64[?, 3], e: i64[?, 3]) {\n"
     "    want_y = const i64[4, 3] {0, 0, 0, 0, 0, 3, 0, 1, 2, 0, 1, 3}\n"
     "    want_z = const i64[1, 3] {0, 1, 2}\n"
     "    want_e = const i64[0, 3] {}\n"
     "    b = const f32[1, 4, 4] {0, 0, 1, 1, 0, 0.1, 1, 1.1, 1, 1, 0, 0, 0, 2, 1, 3}\n"
     "    s = const f32[1, 2, 4] {0.75, 0.5, nan, 0.75, 0.1, 0.8, 0.9, 0}\n"
     "    three = const i64[] {3}\n"
     "    half = const f32[1] {0.5}\n"
     "    most = const f32[] {0.75}\n"
     "    y = NonMaxSuppression(b, s, three, half)\n"
     "    z = NonMaxSuppression(b, s, three, half, most)\n"
     "    e = NonMaxSuppression(b, s)\n"
     "}\n"},
    {"boxes given by their middles, of two images, some without area",
     "model opset=10\n"
     "graph g (x: f32[1] = f32[1] {0}) -> (y: i64[?, 3]) {\n"
     "    want_y = const i64[4, 3] {0, 0, 2, 0, 0, 1, 1, 0, 0, 1, 0, 1}\n"
     "    b = const f32[2, 3, 4] {0.5, 0.5, 1, 1, 0.75, 0.5, 1, 1, 2.5, 0.5, 1, 1,\n"
     "                            0.5, 0.5, 0, 1, 0.5, 0.5, -1, 1, 0.5, 0.5, 1, 1}\n"
     "    s = const f32[2, 1, 3] {0.5, 0.6, 0.7, 3, 2, 1}\n"
     "    two = const i64[] {2}\n"
     "    i = const f32[] {0.25}\n"
     "    t = const f32[] {0.25}\n"
     "    y = NonMaxSuppression(b, s, two, i, t) {center_point_box=1}\n"
     "}\n"},
    {"regions in halves, with both kinds of coordinates",
     "model opset=16\n"
     "graph g (x: f16[1, 1, 2, 2] = f16[1, 1, 2, 2] {1, 2, 3, 4}, "
     "r: f16[2, 4] = f16[2, 4] {0, 0, 4, 4, 1, 1, 3, 3}, i: i64[2] = i64[2] {0, 0}) "
     "-> (y: f16[2, 1, 1, 2], z: f16[2, 1, 1, 2]) {\n"
     "    want_y = const f16[2, 1, 1, 2] {2, 3, 2.25, 2.75}\n"
     "    want_z = const f16[2, 1, 1, 2] {3.5, 4, 3.75, 4}\n"
     "    y = RoiAlign(x, r, i) {output_width=2, sampling_ratio=1, spatial_scale=0.5}\n"
     "    z = RoiAlign(x, r, i) {output_width=2, sampling_ratio=1, spatial_scale=0.5, "
     "coordinate_transformation_mode=\"output_half_pixel\"}\n"
     "}\n"},
    {"the greatest of weighted pixels, in opset 10",
     "model opset=10\n"
     "graph g (x: f64[1, 1, 2, 2] = f64[1, 1, 2, 2] {1, 2, 3, 4}, "
     "r: f64[1, 4] = f64[1, 4] {0, 0, 1, 1}, i: i64[1] = i64[1] {0}) -> (y: f64[1, 1, 1, 1]) {\n"
     "    want_y = const f64[1, 1, 1, 1] {1}\n"
     "    y = RoiAlign(x, r, i) {mode=\"max\"}\n"
     "}\n"},
};

CASE_TABLE_MAIN("lower/boxes")
