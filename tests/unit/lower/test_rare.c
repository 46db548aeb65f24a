/* Operands, dtypes and attributes that operators are rarely given. Expected values were computed by
 * hand. */
#include "tests/support/check_main.h"
#include "tests/unit/lower/lower_case.h"

/* What is tested, the model. */
static const char *const case_table[][2] = {
    {"the place of a maximum that is the least number there is",
     "model opset=12\n"
     "graph g (x: f32[1, 1, 4] = f32[1, 1, 4] {5, -inf, -inf, 1}, "
     "z: u8[1, 1, 3] = u8[1, 1, 3] {3, 0, 0}) "
     "-> (y: f32[1, 1, 3], i: i64[1, 1, 3], u: u8[1, 1, 2], k: i64[1, 1, 2]) {\n"
     "    want_y = const f32[1, 1, 3] {5, -inf, 1}\n"
     "    want_i = const i64[1, 1, 3] {0, 1, 3}\n"
     "    want_u = const u8[1, 1, 2] {3, 0}\n"
     "    want_k = const i64[1, 1, 2] {0, 1}\n"
     "    y, i = MaxPool(x) {kernel_shape=[2]}\n"
     "    u, k = MaxPool(z) {kernel_shape=[2]}\n"
     "}\n"},
    {"reductions through indices in small, unsigned and 16-bit dtypes",
     "model opset=18\n"
     "graph g (a: i8[2] = i8[2] {127, 5}, b: u16[2] = u16[2] {300, 7}, "
     "c: u64[2] = u64[2] {18446744073709551615, 7}, h: f16[2] = f16[2] {1, 2}, "
     "q: bool[2] = bool[2] {false, true}) "
     "-> (s: i8[2], p: u16[2], m: u64[2], e: f16[2], any: bool[2], all: bool[2]) {\n"
     "    want_any = const bool[2] {true, true}\n"
     "    want_all = const bool[2] {false, true}\n"
     "    tf = const bool[2] {true, false}\n"
     "    want_s = const i8[2] {-127, 5}\n"
     "    want_p = const u16[2] {24464, 7}\n"
     "    want_m = const u64[2] {9223372036854775808, 7}\n"
     "    want_e = const f16[2] {4.5, 2}\n"
     "    i = const i64[2, 1] {0, 0}\n"
     "    k = const i64[1] {0}\n"
     "    one = const i8[2] {1, 1}\n"
     "    t = const u16[1] {300}\n"
     "    u = const u64[2] {9223372036854775808, 18446744073709551614}\n"
     "    f = const f16[2] {1.5, 2}\n"
     "    s = ScatterND(a, i, one) {reduction=\"add\"}\n"
     "    p = ScatterElements(b, k, t) {reduction=\"mul\"}\n"
     "    m = ScatterND(c, i, u) {reduction=\"min\"}\n"
     "    e = ScatterND(h, i, f) {reduction=\"add\"}\n"
     "    any = ScatterND(q, i, tf) {reduction=\"add\"}\n"
     "    all = ScatterND(q, i, tf) {reduction=\"mul\"}\n"
     "}\n"},
    {"a remainder of floats with the sign of the divisor",
     "model opset=28\n"
     "graph g (x: f32[6] = f32[6] {5.5, -5.5, 5.5, -5.5, 2, 3}) -> (y: f32[6], h: f16[6]) {\n"
     "    want_y = const f32[6] {1.5, 0.5, -0.5, -1.5, nan, -inf}\n"
     "    want_h = const f16[6] {1.5, 0.5, -0.5, -1.5, nan, -inf}\n"
     "    m = const f32[6] {2, 2, -2, -2, 0, -inf}\n"
     "    y = Mod(x, m)\n"
     "    x16 = Cast(x) {to=10}\n"
     "    m16 = Cast(m) {to=10}\n"
     "    h = Mod(x16, m16)\n"
     "}\n"},
    {"integer products of vectors, and zero points of batches",
     "graph g (a: u8[3] = u8[3] {1, 2, 3}, b: u8[2, 1, 2] = u8[2, 1, 2] {5, 6, 7, 8}) "
     "-> (y: i32[], w: i32[1], z: i32[2, 1, 1]) {\n"
     "    want_y = const i32[] {17}\n"
     "    want_w = const i32[1] {26}\n"
     "    want_z = const i32[2, 1, 1] {1, 3}\n"
     "    v = const u8[3] {4, 5, 6}\n"
     "    one = const u8[] {1}\n"
     "    c = const i8[3, 1] {4, 5, 4}\n"
     "    zero = const u8[2, 1, 1] {5, 6}\n"
     "    d = const i8[2, 1] {1, 1}\n"
     "    y = MatMulInteger(a, v, one)\n"
     "    w = MatMulInteger(a, c)\n"
     "    z = MatMulInteger(b, d, zero)\n"
     "}\n"},
    {"integers resized are rounded half to even and keep 32 bits",
     "model opset=18\n"
     "graph g (x: u8[1, 2] = u8[1, 2] {9, 0}, w: i32[1, 2] = i32[1, 2] {16777217, 16777217}) "
     "-> (y: u8[1, 5], z: i32[1, 4]) {\n"
     "    want_y = const u8[1, 5] {9, 8, 4, 1, 0}\n"
     "    want_z = const i32[1, 4] {16777217, 16777217, 16777217, 16777217}\n"
     "    s = const f32[2] {1, 2.5}\n"
     "    t = const f32[2] {1, 2}\n"
     "    y = Resize(x, _, s) {mode=\"linear\"}\n"
     "    z = Resize(w, _, t) {mode=\"cubic\"}\n"
     "}\n"},
    {"a region of half precision, and a batch without images",
     "graph g (x: f32[1, 1, 1, 4] = f32[1, 1, 1, 4] {1, 2, 3, 4}, "
     "n: f32[0, 1, 2, 2] = f32[0, 1, 2, 2] {}) -> (y: f32[1, 1, 1, 4], z: f32[0, 1, 4, 4]) {\n"
     "    want_y = const f32[1, 1, 1, 4] {2.5, 3, 3.5, 4}\n"
     "    want_z = const f32[0, 1, 4, 4] {}\n"
     "    roi = const f16[8] {0, 0, 0, 0.5, 1, 1, 1, 1}\n"
     "    size = const i64[4] {1, 1, 1, 4}\n"
     "    s = const f32[4] {1, 1, 2, 2}\n"
     "    y = Resize(x, roi, _, size) {mode=\"linear\", "
     "coordinate_transformation_mode=\"tf_crop_and_resize\"}\n"
     "    z = Resize(n, _, s) {mode=\"linear\"}\n"
     "}\n"},
    {"nearest pixels of opset 10, which had no choice of rounding",
     "model opset=10\n"
     "graph g (x: f32[1, 1, 1, 4] = f32[1, 1, 1, 4] {1, 2, 3, 4}) "
     "-> (y: f32[1, 1, 1, 2], z: f32[1, 1, 1, 6]) {\n"
     "    want_y = const f32[1, 1, 1, 2] {1, 3}\n"
     "    want_z = const f32[1, 1, 1, 6] {1, 1, 2, 3, 3, 4}\n"
     "    s = const f32[4] {1, 1, 1, 0.6}\n"
     "    t = const f32[4] {1, 1, 1, 1.5}\n"
     "    y = Resize(x, s) {mode=\"nearest\"}\n"
     "    z = Resize(x, t) {mode=\"nearest\"}\n"
     "}\n"},
    {"numbers below a byte are transposed and made",
     "model opset=21\n"
     "graph g (x: i4[2, 2] = i4[2, 2] {1, -8, 7, 3}) -> (y: i8[2, 2], z: u8[3]) {\n"
     "    want_y = const i8[2, 2] {1, 7, -8, 3}\n"
     "    want_z = const u8[3] {9, 9, 9}\n"
     "    s = const i64[1] {3}\n"
     "    y4 = Transpose(x)\n"
     "    z4 = ConstantOfShape(s) {value=tensor u4[1] {9}}\n"
     "    y = Cast(y4) {to=3}\n"
     "    z = Cast(z4) {to=2}\n"
     "}\n"},
    {"a sum of products of small integers wraps",
     "graph g (x: i8[2] = i8[2] {100, 100}, z: u16[2] = u16[2] {65535, 2}) "
     "-> (y: i8[], w: u16[]) {\n"
     "    want_y = const i8[] {44}\n"
     "    want_w = const u16[] {65531}\n"
     "    v = const i8[2] {2, 1}\n"
     "    u = const u16[2] {65533, 65532}\n"
     "    y = Einsum(x, v) {equation=\"i,i->\"}\n"
     "    w = Einsum(z, u) {equation=\"i,i\"}\n"
     "}\n"},
    {"a slice backwards from before the beginning starts at the first element",
     "graph g (x: f32[3] = f32[3] {1, 2, 3}, n: f32[0] = f32[0] {}) -> (y: f32[1], z: f32[0]) {\n"
     "    want_y = const f32[1] {1}\n"
     "    want_z = const f32[0] {}\n"
     "    b = const i64[1] {-7}\n"
     "    e = const i64[1] {-9223372036854775808}\n"
     "    a = const i64[1] {0}\n"
     "    s = const i64[1] {-2}\n"
     "    y = Slice(x, b, e, a, s)\n"
     "    z = Slice(n, b, e, a, s)\n"
     "}\n"},
    {"a ratio of eight bits",
     "model opset=22\n"
     "graph g (x: f32[2] = f32[2] {1, 2}) -> (y: f32[2]) {\n"
     "    want_y = const f32[2] {1, 2}\n"
     "    r = const f8e4m3fn[] {0.5}\n"
     "    y = Dropout(x, r)\n"
     "}\n"},
    {"norms whose statistics are taken in other dtypes",
     "model opset=23\n"
     "graph g (x: f32[1, 2] = f32[1, 2] {7, 1.001}) "
     "-> (y: f32[1, 2], m: f64[1, 1], z: f32[1, 2], n: bf16[1, 1], r: f32[1, 2], g: f32[1, 2]) {\n"
     "    want_y = const f32[1, 2] {1, -1}\n"
     "    want_m = const f64[1, 1] {4.00049996}\n"
     "    want_z = const f32[1, 2] {1, -1}\n"
     "    want_n = const bf16[1, 1] {4}\n"
     "    want_r = const f32[1, 2] {1.4, 0.2}\n"
     "    want_g = const f32[1, 2] {1, -1}\n"
     "    one = const f32[2] {1, 1}\n"
     "    zero = const f32[2] {0, 0}\n"
     "    y, m = LayerNormalization(x, one) {epsilon=0, stash_type=11}\n"
     "    z, n = LayerNormalization(x, one) {epsilon=0, stash_type=16}\n"
     "    r = RMSNormalization(x, one) {epsilon=0, stash_type=16}\n"
     "    g = GroupNormalization(x, one, zero) {epsilon=0, num_groups=1, stash_type=11}\n"
     "}\n"},
    {"a quotient rounded to 16 bits before it is quantized",
     "model opset=23\n"
     "graph g (x: f32[1] = f32[1] {100.7}) -> (y: u8[1], z: u8[1]) {\n"
     "    want_y = const u8[1] {101}\n"
     "    want_z = const u8[1] {100}\n"
     "    s = const f32[] {1}\n"
     "    y = QuantizeLinear(x, s)\n"
     "    z = QuantizeLinear(x, s) {precision=16}\n"
     "}\n"},
    {"strings that are a node's attribute",
     "model opset=19\n"
     "graph g (x: f32[1] = f32[1] {0}) -> (y: bool[2], z: bool[]) {\n"
     "    want_y = const bool[2] {true, false}\n"
     "    want_z = const bool[] {true}\n"
     "    a = Constant() {value_strings=[\"a\", \"b\"]}\n"
     "    b = Constant() {value_strings=[\"a\", \"c\"]}\n"
     "    c = Constant() {value_string=\"a\"}\n"
     "    y = Equal(a, b)\n"
     "    z = Equal(c, c)\n"
     "}\n"},
    {"factors on a product of integers, the error function of them, halves on a diagonal",
     "model opset=22\n"
     "graph g (a: i32[1, 2] = i32[1, 2] {1, 2}, e: i8[4] = i8[4] {-9, 0, 1, 7}, "
     "h: f16[2, 2] = f16[2, 2] {0, 0, 0, 0}, n: f32[2, 0, 0] = f32[2, 0, 0] {}) "
     "-> (y: i32[1, 1], z: i8[4], d: f16[2, 2], k: i64[2, 0, 1]) {\n"
     "    want_y = const i32[1, 1] {19}\n"
     "    want_z = const i8[4] {-1, 0, 0, 1}\n"
     "    want_d = const f16[2, 2] {1, 0, 0, 1}\n"
     "    want_k = const i64[2, 0, 1] {}\n"
     "    b = const i32[2, 1] {3, 4}\n"
     "    c = const i32[] {7}\n"
     "    y = Gemm(a, b, c) {alpha=3.0, beta=-2.0}\n"
     "    z = Erf(e)\n"
     "    d = EyeLike(h)\n"
     "    k = ArgMax(n) {axis=2}\n"
     "}\n"},
};

START_TEST(gives_the_expected_values)
{
    case_check(case_table[_i][0], case_table[_i][1]);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("lower/rare");
    TCase *tcase = tcase_create("cases");
    int n = (int)(sizeof case_table / sizeof *case_table);
    tcase_add_loop_test(tcase, gives_the_expected_values, 0, n);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
