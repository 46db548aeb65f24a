/* Movement of elements, views and shape arithmetic. Expected values were computed with NumPy. */
#include "tests/unit/lower/lower_case.h"
#include "tests/support/check_main.h"

/* What is tested, the model. */
static const char *const case_table[][2] = {
    {"transpose, then reshape",
     "model opset=17 opset com.microsoft=1\n"
     "graph g (z: f32[2, 3, 4] = f32[2, 3, 4] {2, 1.25, -1, -0.75, 0.75, 0.75, 0.75, 1.5, "
     "-1, 1.75, -2, -1.75, 2, 2, -0.75, -1.5, -0.75, -2, 1.75, 0.75, 0.25, -1, 0, -1.25}) "
     "-> (y: f32[4, 6]) {\n"
     "    s = const i64[2] {4, 6}\n"
     "    want_y = const f32[4, 6] {2, 0.75, -1, 2, -0.75, 0.25, 1.25, 0.75, 1.75, 2, -2, "
     "-1, -1, 0.75, -2, -0.75, 1.75, 0, -0.75, 1.5, -1.75, -1.5, 0.75, -1.25}\n"
     "    t = Transpose(z) {perm=[2, 0, 1]}\n"
     "    y = Reshape(t, s)\n"
     "}\n"},
    {"reshape of a view that needs no copy",
     "model opset=17 opset com.microsoft=1\n"
     "graph g (z: f32[2, 3, 4] = f32[2, 3, 4] {2, 1.25, -1, -0.75, 0.75, 0.75, 0.75, 1.5, "
     "-1, 1.75, -2, -1.75, 2, 2, -0.75, -1.5, -0.75, -2, 1.75, 0.75, 0.25, -1, 0, -1.25}) "
     "-> (y: f32[2, 2, 2, 2]) {\n"
     "    b = const i64[1] {1}\n"
     "    e = const i64[1] {3}\n"
     "    a = const i64[1] {1}\n"
     "    s = const i64[4] {2, 2, 2, -1}\n"
     "    want_y = const f32[2, 2, 2, 2] {0.75, 0.75, 0.75, 1.5, -1, 1.75, -2, -1.75, "
     "-0.75, -2, 1.75, 0.75, 0.25, -1, 0, -1.25}\n"
     "    v = Slice(z, b, e, a)\n"
     "    y = Reshape(v, s)\n"
     "}\n"},
    {"slices with steps and from the end",
     "model opset=17 opset com.microsoft=1\n"
     "graph g (z: f32[2, 3, 4] = f32[2, 3, 4] {2, 1.25, -1, -0.75, 0.75, 0.75, 0.75, 1.5, "
     "-1, 1.75, -2, -1.75, 2, 2, -0.75, -1.5, -0.75, -2, 1.75, 0.75, 0.25, -1, 0, -1.25}) "
     "-> (y: f32[2, 2, 2]) {\n"
     "    b = const i64[2] {9223372036854775807, -1}\n"
     "    e = const i64[2] {-9223372036854775808, -4}\n"
     "    a = const i64[2] {1, 2}\n"
     "    s = const i64[2] {-2, -2}\n"
     "    want_y = const f32[2, 2, 2] {-1.75, 1.75, -0.75, 1.25, -1.25, -1, -1.5, 2}\n"
     "    y = Slice(z, b, e, a, s)\n"
     "}\n"},
    {"an empty slice",
     "model opset=17 opset com.microsoft=1\n"
     "graph g (z: f32[2, 3, 4] = f32[2, 3, 4] {2, 1.25, -1, -0.75, 0.75, 0.75, 0.75, 1.5, "
     "-1, 1.75, -2, -1.75, 2, 2, -0.75, -1.5, -0.75, -2, 1.75, 0.75, 0.25, -1, 0, -1.25}) "
     "-> (y: f32[2, 0, 4]) {\n"
     "    b = const i64[1] {2}\n"
     "    e = const i64[1] {1}\n"
     "    a = const i64[1] {1}\n"
     "    want_y = const f32[2, 0, 4] {}\n"
     "    y = Slice(z, b, e, a)\n"
     "}\n"},
    {"split, then join in another order",
     "model opset=17 opset com.microsoft=1\n"
     "graph g (z: f32[2, 3, 4] = f32[2, 3, 4] {2, 1.25, -1, -0.75, 0.75, 0.75, 0.75, 1.5, "
     "-1, 1.75, -2, -1.75, 2, 2, -0.75, -1.5, -0.75, -2, 1.75, 0.75, 0.25, -1, 0, -1.25}) "
     "-> (y: f32[2, 3, 4]) {\n"
     "    s = const i64[3] {1, 2, 1}\n"
     "    want_y = const f32[2, 3, 4] {-0.75, 2, 1.25, -1, 1.5, 0.75, 0.75, 0.75, -1.75, "
     "-1, 1.75, -2, -1.5, 2, 2, -0.75, 0.75, -0.75, -2, 1.75, -1.25, 0.25, -1, 0}\n"
     "    p, q, r = Split(z, s) {axis=2}\n"
     "    y = Concat(r, p, q) {axis=-1}\n"
     "}\n"},
    {"one index is a view",
     "model opset=17 opset com.microsoft=1\n"
     "graph g (z: f32[2, 3, 4] = f32[2, 3, 4] {2, 1.25, -1, -0.75, 0.75, 0.75, 0.75, 1.5, "
     "-1, 1.75, -2, -1.75, 2, 2, -0.75, -1.5, -0.75, -2, 1.75, 0.75, 0.25, -1, 0, -1.25}) "
     "-> (y: f32[2, 4]) {\n"
     "    i = const i64[] {1}\n"
     "    want_y = const f32[2, 4] {0.75, 0.75, 0.75, 1.5, -0.75, -2, 1.75, 0.75}\n"
     "    y = Gather(z, i) {axis=1}\n"
     "}\n"},
    {"indices in steps are a view",
     "model opset=17 opset com.microsoft=1\n"
     "graph g (z: f32[2, 3, 4] = f32[2, 3, 4] {2, 1.25, -1, -0.75, 0.75, 0.75, 0.75, 1.5, "
     "-1, 1.75, -2, -1.75, 2, 2, -0.75, -1.5, -0.75, -2, 1.75, 0.75, 0.25, -1, 0, -1.25}) "
     "-> (y: f32[2, 3, 2]) {\n"
     "    i = const i64[2] {-1, 1}\n"
     "    want_y = const f32[2, 3, 2] {-0.75, 1.25, 1.5, 0.75, -1.75, 1.75, -1.5, 2, "
     "0.75, -2, -1.25, -1}\n"
     "    y = Gather(z, i) {axis=2}\n"
     "}\n"},
    {"other indices are gathered",
     "model opset=17 opset com.microsoft=1\n"
     "graph g (z: f32[2, 3, 4] = f32[2, 3, 4] {2, 1.25, -1, -0.75, 0.75, 0.75, 0.75, 1.5, "
     "-1, 1.75, -2, -1.75, 2, 2, -0.75, -1.5, -0.75, -2, 1.75, 0.75, 0.25, -1, 0, -1.25}, "
     "i: i64[2, 2] = i64[2, 2] {1, 0, 1, 1}) -> (y: f32[2, 2, 3, 4]) {\n"
     "    want_y = const f32[2, 2, 3, 4] {2, 2, -0.75, -1.5, -0.75, -2, 1.75, 0.75, 0.25, "
     "-1, 0, -1.25, 2, 1.25, -1, -0.75, 0.75, 0.75, 0.75, 1.5, -1, 1.75, -2, -1.75, 2, 2, "
     "-0.75, -1.5, -0.75, -2, 1.75, 0.75, 0.25, -1, 0, -1.25, 2, 2, -0.75, -1.5, -0.75, "
     "-2, 1.75, 0.75, 0.25, -1, 0, -1.25}\n"
     "    y = Gather(z, i)\n"
     "}\n"},
    {"tile",
     "model opset=17 opset com.microsoft=1\n"
     "graph g (x: f32[2, 3] = f32[2, 3] {1.25, -1.75, -1.25, -1, -1.25, 1.25}) -> (y: "
     "f32[4, 9]) {\n"
     "    r = const i64[2] {2, 3}\n"
     "    want_y = const f32[4, 9] {1.25, -1.75, -1.25, 1.25, -1.75, -1.25, 1.25, -1.75, "
     "-1.25, -1, -1.25, 1.25, -1, -1.25, 1.25, -1, -1.25, 1.25, 1.25, -1.75, -1.25, 1.25, "
     "-1.75, -1.25, 1.25, -1.75, -1.25, -1, -1.25, 1.25, -1, -1.25, 1.25, -1, -1.25, 1.25}\n"
     "    y = Tile(x, r)\n"
     "}\n"},
    {"expand, then add",
     "model opset=17 opset com.microsoft=1\n"
     "graph g (y0: f32[3] = f32[3] {1.5, 0.25, -2}) -> (y: f32[2, 3]) {\n"
     "    s = const i64[2] {2, 1}\n"
     "    one = const f32[] {1}\n"
     "    want_y = const f32[2, 3] {2.5, 1.25, -1, 2.5, 1.25, -1}\n"
     "    e = Expand(y0, s)\n"
     "    y = Add(e, one)\n"
     "}\n"},
    {"an expanded value as output",
     "model opset=17 opset com.microsoft=1\n"
     "graph g (y0: f32[3] = f32[3] {1.5, 0.25, -2}) -> (y: f32[2, 3]) {\n"
     "    s = const i64[2] {2, 3}\n"
     "    want_y = const f32[2, 3] {1.5, 0.25, -2, 1.5, 0.25, -2}\n"
     "    y = Expand(y0, s)\n"
     "}\n"},
    {"pads of every mode",
     "model opset=17 opset com.microsoft=1\n"
     "graph g (x: f32[2, 3] = f32[2, 3] {1.25, -1.75, -1.25, -1, -1.25, 1.25}) -> (c: "
     "f32[3, 6], e: f32[3, 6], r: f32[3, 6]) {\n"
     "    p = const i64[4] {1, 2, 0, 1}\n"
     "    nine = const f32[] {9}\n"
     "    want_c = const f32[3, 6] {9, 9, 9, 9, 9, 9, 9, 9, 1.25, -1.75, -1.25, 9, 9, 9, "
     "-1, -1.25, 1.25, 9}\n"
     "    want_e = const f32[3, 6] {1.25, 1.25, 1.25, -1.75, -1.25, -1.25, 1.25, 1.25, "
     "1.25, -1.75, -1.25, -1.25, -1, -1, -1, -1.25, 1.25, 1.25}\n"
     "    want_r = const f32[3, 6] {1.25, -1.25, -1, -1.25, 1.25, -1.25, -1.25, -1.75, "
     "1.25, -1.75, -1.25, -1.75, 1.25, -1.25, -1, -1.25, 1.25, -1.25}\n"
     "    c = Pad(x, p, nine)\n"
     "    e = Pad(x, p) {mode=\"edge\"}\n"
     "    r = Pad(x, p) {mode=\"reflect\"}\n"
     "}\n"},
    {"depth to space",
     "model opset=17 opset com.microsoft=1\n"
     "graph g (d: f32[1, 8, 1, 2] = f32[1, 8, 1, 2] {1.25, 0, -2, -1, 1, 0, -0.5, -1, "
     "-1.75, 0.5, 0.75, 0, 1.75, 1.75, -1.25, 0.5}) -> (y: f32[1, 2, 2, 4]) {\n"
     "    want_y = const f32[1, 2, 2, 4] {1.25, 1, 0, 0, -1.75, 1.75, 0.5, 1.75, -2, "
     "-0.5, -1, -1, 0.75, -1.25, 0, 0.5}\n"
     "    y = DepthToSpace(d) {blocksize=2, mode=\"DCR\"}\n"
     "}\n"},
    {"scatter",
     "model opset=17 opset com.microsoft=1\n"
     "graph g (z: f32[2, 3, 4] = f32[2, 3, 4] {2, 1.25, -1, -0.75, 0.75, 0.75, 0.75, 1.5, "
     "-1, 1.75, -2, -1.75, 2, 2, -0.75, -1.5, -0.75, -2, 1.75, 0.75, 0.25, -1, 0, -1.25}) "
     "-> (y: f32[2, 3, 4]) {\n"
     "    i = const i64[1, 2] {1, 2}\n"
     "    u = const f32[1, 4] {5, 5, 5, 5}\n"
     "    want_y = const f32[2, 3, 4] {2, 1.25, -1, -0.75, 0.75, 0.75, 0.75, 1.5, -1, "
     "1.75, -2, -1.75, 2, 2, -0.75, -1.5, -0.75, -2, 1.75, 0.75, 5, 5, 5, 5}\n"
     "    y = ScatterND(z, i, u)\n"
     "}\n"},
    {"shape arithmetic decides a reshape",
     "model opset=17 opset com.microsoft=1\n"
     "graph g (z: f32[2, 3, 4] = f32[2, 3, 4] {2, 1.25, -1, -0.75, 0.75, 0.75, 0.75, 1.5, "
     "-1, 1.75, -2, -1.75, 2, 2, -0.75, -1.5, -0.75, -2, 1.75, 0.75, 0.25, -1, 0, -1.25}) "
     "-> (y: f32[6, 4]) {\n"
     "    zero = const i64[] {0}\n"
     "    one = const i64[] {1}\n"
     "    ax = const i64[1] {0}\n"
     "    minus = const i64[1] {-1}\n"
     "    want_y = const f32[6, 4] {2, 1.25, -1, -0.75, 0.75, 0.75, 0.75, 1.5, -1, 1.75, "
     "-2, -1.75, 2, 2, -0.75, -1.5, -0.75, -2, 1.75, 0.75, 0.25, -1, 0, -1.25}\n"
     "    s = Shape(z)\n"
     "    a = Gather(s, zero)\n"
     "    b = Gather(s, one)\n"
     "    m = Mul(a, b)\n"
     "    u = Unsqueeze(m, ax)\n"
     "    t = Concat(u, minus) {axis=0}\n"
     "    y = Reshape(z, t)\n"
     "}\n"},
};

START_TEST(gives_the_expected_values)
{
    case_check(case_table[_i][0], case_table[_i][1]);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("lower/movement");
    TCase *tcase = tcase_create("cases");
    int n = (int)(sizeof case_table / sizeof *case_table);
    tcase_add_loop_test(tcase, gives_the_expected_values, 0, n);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
