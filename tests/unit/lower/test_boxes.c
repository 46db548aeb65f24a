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
};

CASE_TABLE_MAIN("lower/boxes")
