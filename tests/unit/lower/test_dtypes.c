/* Operators in dtypes that they are rarely met with. */
#include "tests/support/check_main.h"
#include "tests/unit/lower/lower_case.h"

/* What is tested, the model. */
static const char *const case_table[][2] = {
    {"best of unsigned numbers, above what is signed",
     "graph g (x: u64[4] = u64[4] {1, 18446744073709551615, 9223372036854775808, 3}) "
     "-> (v: u64[2], i: i64[2], m: i64[1]) {\n"
     "    want_v = const u64[2] {18446744073709551615, 9223372036854775808}\n"
     "    want_i = const i64[2] {1, 2}\n"
     "    want_m = const i64[1] {0}\n"
     "    k = const i64[1] {2}\n"
     "    v, i = TopK(x, k)\n"
     "    m = ArgMin(x)\n"
     "}\n"},
    {"running sums that wrap",
     "graph g (x: u32[3] = u32[3] {4294967295, 2, 3}) -> (y: u32[3]) {\n"
     "    want_y = const u32[3] {4294967295, 1, 4}\n"
     "    a = const i64[] {0}\n"
     "    y = CumSum(x, a)\n"
     "}\n"},
    {"a length of integers is truncated",
     "graph g (x: i32[3] = i32[3] {1, -2, 3}, z: u64[2] = u64[2] {3, 4}) "
     "-> (y: i32[], w: u64[]) {\n"
     "    want_y = const i32[] {3}\n"
     "    want_w = const u64[] {5}\n"
     "    y = ReduceL2(x) {keepdims=0}\n"
     "    w = ReduceL2(z) {keepdims=0}\n"
     "}\n"},
    {"extremes and means of u64",
     "graph g (x: u64[2] = u64[2] {18446744073709551615, 3}) "
     "-> (a: u64[], b: u64[], l: u64[]) {\n"
     "    want_a = const u64[] {18446744073709551615}\n"
     "    want_b = const u64[] {3}\n"
     "    want_l = const u64[] {2}\n"
     "    a = ReduceMax(x) {keepdims=0}\n"
     "    b = ReduceMin(x) {keepdims=0}\n"
     "    l = ReduceL1(x) {keepdims=0}\n"
     "}\n"},
    {"padding of numbers below a byte",
     "model opset=25\n"
     "graph g (x: u4[3] = u4[3] {1, 15, 7}, s: i4[3] = i4[3] {-8, 7, 1}) "
     "-> (y: u8[5], t: i8[4]) {\n"
     "    want_y = const u8[5] {9, 1, 15, 7, 9}\n"
     "    want_t = const i8[4] {-8, -8, 7, 1}\n"
     "    p = const i64[2] {1, 1}\n"
     "    q = const i64[2] {1, 0}\n"
     "    f = const u4[] {9}\n"
     "    y4 = Pad(x, p, f)\n"
     "    t4 = Pad(s, q) {mode=\"edge\"}\n"
     "    y = Cast(y4) {to=2}\n"
     "    t = Cast(t4) {to=3}\n"
     "}\n"},
    {"an image of integers",
     "model opset=22\n"
     "graph g (x: u8[1, 1, 1, 3] = u8[1, 1, 1, 3] {10, 200, 31}) -> (y: u8[1, 1, 1, 3]) {\n"
     "    want_y = const u8[1, 1, 1, 3] {10, 105, 115}\n"
     "    grid = const f32[1, 1, 3, 2] {-1, 0, -0.5, 0, 0.5, 0}\n"
     "    y = GridSample(x, grid) {align_corners=1}\n"
     "}\n"},
    {"an image of integers that f64 does not hold",
     "model opset=22\n"
     "graph g (x: i64[1, 1, 1, 2] = i64[1, 1, 1, 2] {9223372036854775807, -9007199254740993}, "
     "z: u64[1, 1, 1, 2] = u64[1, 1, 1, 2] {18446744073709551615, 3}) "
     "-> (y: i64[1, 1, 1, 3], w: u64[1, 1, 1, 3], m: i64[1, 1, 1, 1]) {\n"
     "    want_y = const i64[1, 1, 1, 3] {9223372036854775807, -9007199254740993, 0}\n"
     "    want_w = const u64[1, 1, 1, 3] {18446744073709551615, 3, 0}\n"
     "    want_m = const i64[1, 1, 1, 1] {15}\n"
     "    grid = const f32[1, 1, 3, 2] {-1, 0, 1, 0, 7, 0}\n"
     "    y = GridSample(x, grid) {align_corners=1, mode=\"nearest\"}\n"
     "    w = GridSample(z, grid) {align_corners=1, mode=\"nearest\"}\n"
     "    pair = const i64[1, 1, 1, 2] {10, 20}\n"
     "    middle = const f32[1, 1, 1, 2] {0, 0}\n"
     "    m = GridSample(pair, middle) {align_corners=1}\n"
     "}\n"},
    {"a product of 8-bit floats",
     "model opset=21\n"
     "graph g (a: f8e4m3fn[1, 2] = f8e4m3fn[1, 2] {1.5, 2}) -> (y: f32[1, 2]) {\n"
     "    want_y = const f32[1, 2] {13, 448}\n"
     "    half = const f32[] {0.5}\n"
     "    two = const f32[] {2}\n"
     "    one = const f8e4m3fn[] {1}\n"
     "    none = const f8e4m3fn[] {0}\n"
     "    b = const f8e4m3fn[2, 2] {1, 448, 2.25, 448}\n"
     "    y8 = QLinearMatMul(a, two, none, b, half, none, half, one)\n"
     "    y = Cast(y8) {to=1}\n"
     "}\n"},
    {"products of 8-bit floats and integers, rounded",
     "model opset=21\n"
     "graph g (a: f8e4m3fn[2, 1] = f8e4m3fn[2, 1] {1.5, 2}) "
     "-> (y: i8[2, 2], z: f32[2, 2], s: i8[2, 1]) {\n"
     "    want_y = const i8[2, 2] {3, 127, 4, 127}\n"
     "    want_z = const f32[2, 2] {1.5, 192, 1, 128}\n"
     "    want_s = const i8[2, 1] {2, 4}\n"
     "    one = const f32[] {1}\n    half = const f32[] {0.5}\n    rows = const f32[2] {1, 2}\n"
     "    none = const f8e4m3fn[] {0}\n    nil = const i8[] {0}\n    two = const i8[] {2}\n"
     "    zeros = const f8e4m3fn[2] {0, 0}\n"
     "    b = const f8e4m3fn[1, 2] {0.75, 448}\n"
     "    y = QLinearMatMul(a, one, none, b, one, none, one, two)\n"
     "    c = const i8[2, 1] {3, 2}\n"
     "    d = const i8[1, 2] {1, 127}\n"
     "    z8 = QLinearMatMul(c, one, nil, d, half, nil, one, none)\n    z = Cast(z8) {to=1}\n"
     "    e = const i8[1] {1}\n    s8 = QLinearMatMul(a, rows, zeros, e, one, nil, one, nil)\n"
     "    column = const i64[2] {2, 1}\n    s = Reshape(s8, column)\n"
     "}\n"},
    {"numbers below a byte that trips stack",
     "model opset=25\n"
     "graph g (x: i4[3] = i4[3] {-8, 7, 1}) -> (y: i8[2, 3]) {\n"
     "    want_y = const i8[2, 3] {-8, 7, 1, -8, 7, 1}\n"
     "    n = const i64[] {2}\n    zero = const f32[] {0}\n"
     "    k, q = Loop(n, _, zero) {body=graph b (i: i64[], c: bool[], v: f32[]) "
     "-> (d, e, t: i4[3]) {\n"
     "        d = Identity(c)\n        e = Identity(v)\n        t = Identity(x)\n    }}\n"
     "    y = Cast(q) {to=3}\n"
     "}\n"},
    {"8-bit floats that are all dropped",
     "model opset=22\n"
     "graph g (x: f8e5m2[2] = f8e5m2[2] {1.5, 2}) -> (y: f32[2], m: bool[2]) {\n"
     "    want_y = const f32[2] {0, 0}\n    want_m = const bool[2] {false, false}\n"
     "    most = const f8e4m3fn[] {1}\n    train = const bool[] {true}\n"
     "    y8, m = Dropout(x, most, train)\n    y = Cast(y8) {to=1}\n"
     "}\n"},
    {"a root-mean-square norm whose scale has another dtype",
     "model opset=23\n"
     "graph g (x: f32[1, 2] = f32[1, 2] {7, 1}, z: f64[1, 2] = f64[1, 2] {7, 1}) "
     "-> (y: f64[1, 2], u: f32[1, 2]) {\n"
     "    want_y = const f64[1, 2] {1.399999976158142, 0.20000000298023224}\n"
     "    want_u = const f32[1, 2] {1.4, 0.2}\n"
     "    scale = const f64[2] {1, 1}\n"
     "    single = const f32[2] {1, 1}\n"
     "    y = RMSNormalization(x, scale) {epsilon=0.0}\n"
     "    u = RMSNormalization(z, single) {epsilon=0.0}\n"
     "}\n"},
    {"attention whose values have another dtype",
     "model opset=23\n"
     "graph g (q: f64[1, 1, 1, 2] = f64[1, 1, 1, 2] {1, 0}, "
     "k: f64[1, 1, 2, 2] = f64[1, 1, 2, 2] {0, 0, 0, 0}, "
     "v: f32[1, 1, 2, 1] = f32[1, 1, 2, 1] {1, 2}) -> (y: f64[1, 1, 1, 1]) {\n"
     "    want_y = const f64[1, 1, 1, 1] {1.5}\n"
     "    y = Attention(q, k, v)\n"
     "}\n"},
};

START_TEST(gives_the_expected_values)
{
    case_check(case_table[_i][0], case_table[_i][1]);
}
END_TEST

START_TEST(complex_numbers_are_moved)
{
    static const double want[2][6] = {{3, -4, 1, 2}, {0, 0, 1, 2, 3, -4}};
    LowerCase c;
    case_open(&c, "graph g (x: c128[2] = c128[2] hex 000000000000f03f0000000000000040"
                  "000000000000084000000000000010c0) -> (y: c128[2], z: c128[3]) {\n"
                  "    i = const i64[2] {1, 0}\n"
                  "    p = const i64[2] {1, 0}\n"
                  "    y = GatherElements(x, i)\n"
                  "    z = Pad(x, p)\n"
                  "}\n");
    ck_assert_msg(case_lower(&c, (VfLowerOptions){0}, false) == VF_OK, "%s", c.err.text);
    case_run(&c, 1);
    ck_assert_mem_eq(c.out[0], want[0], 32);
    ck_assert_mem_eq(c.out[1], want[1], 48);
    case_close(&c);
}
END_TEST

/* z = 1+2i, 3-4i; sums, products, and images of them. */
START_TEST(complex_numbers_are_computed)
{
    static const double want[5][6] = {
        {2, 4, 6, -8}, {-3, 4, -7, -24}, {2, -1, 0, 0}, {1, 2, 2, -1, 3, -4}, {-1, 0, 1, 2}};
    static const size_t n_want[5] = {4, 4, 4, 6, 4};
    LowerCase c;
    case_open(&c, "model opset=19\n"
                  "graph g (x: c128[2] = c128[2] hex 000000000000f03f0000000000000040"
                  "000000000000084000000000000010c0) -> (a: c128[2], m: c128[2], "
                  "s: c128[1, 1, 1, 2], r: c128[1, 1, 1, 3], o: c128[1, 1, 1, 2]) {\n"
                  "    at = const i64[2, 1] {0, 1}\n"
                  "    along = const i64[2] {0, 1}\n"
                  "    a = ScatterND(x, at, x) {reduction=\"add\"}\n"
                  "    m = ScatterElements(x, along, x) {reduction=\"mul\"}\n"
                  "    d = const i64[4] {1, 1, 1, 2}\n"
                  "    i = Reshape(x, d)\n"
                  "    grid = const f32[1, 1, 2, 2] {0, 0, 9, 9}\n"
                  "    s = GridSample(i, grid) {align_corners=1}\n"
                  "    f = const f32[4] {1, 1, 1, 1.5}\n"
                  "    r = Resize(i, _, f) {mode=\"linear\", "
                  "coordinate_transformation_mode=\"align_corners\"}\n"
                  "    roi = const f32[8] {0, 0, 0, -1, 1, 1, 1, 0}\n"
                  "    one = const f32[4] {1, 1, 1, 1}\n"
                  "    o = Resize(i, roi, one) {mode=\"linear\", extrapolation_value=-1.0, "
                  "coordinate_transformation_mode=\"tf_crop_and_resize\"}\n"
                  "}\n");
    ck_assert_msg(case_lower(&c, (VfLowerOptions){0}, false) == VF_OK, "%s", c.err.text);
    case_run(&c, 1);
    for (size_t i = 0; i < 5; i++)
        ck_assert_mem_eq(c.out[i], want[i], n_want[i] * sizeof want[i][0]);
    case_close(&c);
}
END_TEST

/* What the row of the operator does not list is refused before a kernel is looked for. */
START_TEST(other_dtypes_are_refused)
{
    LowerCase c;
    case_open(&c, "graph g (x: f8e4m3fn[2] = f8e4m3fn[2] hex 3840) -> (y: bool[2]) {\n"
                  "    y = IsNaN(x)\n"
                  "}\n");
    ck_assert_int_eq(case_lower(&c, (VfLowerOptions){0}, false), VF_UNSUPPORTED);
    ck_assert_msg(strstr(c.err.text, "elements of f8e4m3fn") != NULL, "%s", c.err.text);
    case_close(&c);
}
END_TEST

START_TEST(complex_numbers_have_no_order)
{
    LowerCase c;
    case_open(&c, "model opset=18\n"
                  "graph g (x: c64[1] = c64[1] hex 0000000000000000) -> (y: c64[1]) {\n"
                  "    i = const i64[1] {0}\n"
                  "    y = ScatterElements(x, i, x) {reduction=\"max\"}\n"
                  "}\n");
    ck_assert_int_eq(case_lower(&c, (VfLowerOptions){0}, false), VF_UNSUPPORTED);
    ck_assert_msg(strstr(c.err.text, "no greatest") != NULL, "%s", c.err.text);
    case_close(&c);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("lower/dtypes");
    TCase *tcase = tcase_create("cases");
    int n = (int)(sizeof case_table / sizeof *case_table);
    tcase_add_loop_test(tcase, gives_the_expected_values, 0, n);
    tcase_add_test(tcase, complex_numbers_are_moved);
    tcase_add_test(tcase, complex_numbers_are_computed);
    tcase_add_test(tcase, complex_numbers_have_no_order);
    tcase_add_test(tcase, other_dtypes_are_refused);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
