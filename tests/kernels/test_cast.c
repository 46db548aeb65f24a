#include "tests/support/check_main.h"

#include <float.h>
#include <stdio.h>

#include "runtime/kernels/cast.h"
#include "tests/kernels/kernel_case.h"

/* Cast `n` elements; the result must be `want`, byte for byte. */
static void expect_by(VfkCastParams params, const char *name, const void *x, int64_t n,
                      const void *want, size_t bytes)
{
    int each = strstr(name, "u4") || strstr(name, "i4") || strstr(name, "f4") ? 2 : 1;
    each = strstr(name, "u2") || strstr(name, "i2") ? 4 : each;
    params.n = n;
    Case c = {name, &params, {x}, {bytes}, (n + each - 1) / each, 0};
    void *out[CASE_MAX_OUT];
    case_run(&c, out);
    for (size_t i = 0; i < bytes; i++) {
        ck_assert_msg(((uint8_t *)out[0])[i] == ((const uint8_t *)want)[i], "%s: byte %zu", name,
                      i);
    }
    case_free(out);
}

static void expect_with(int saturate, const char *name, const void *x, int64_t n,
                        const void *want, size_t bytes)
{
    expect_by((VfkCastParams){.saturate = saturate}, name, x, n, want, bytes);
}

static void expect(const char *name, const void *x, int64_t n, const void *want, size_t bytes)
{
    expect_with(1, name, x, n, want, bytes);
}

START_TEST(test_float_to_integer_clamps)
{
    float x[] = {1.9f, -1.9f, 300, -300, INFINITY, -INFINITY, NAN, 1e20f};
    int8_t i8[] = {1, -1, 127, -128, 127, -128, 0, 127};
    uint8_t u8[] = {1, 0, 255, 0, 255, 0, 0, 255}, truth[] = {1, 1, 1, 1, 1, 1, 1, 1};
    int32_t i32[] = {1, -1, 300, -300, INT32_MAX, INT32_MIN, 0, INT32_MAX};
    int64_t i64[] = {1, -1, 300, -300, INT64_MAX, INT64_MIN, 0, INT64_MAX};
    uint64_t u64[] = {1, 0, 300, 0, UINT64_MAX, 0, 0, UINT64_MAX};
    expect("cast_f32_i8", x, 8, i8, sizeof i8);
    expect("cast_f32_u8", x, 8, u8, sizeof u8);
    expect("cast_f32_i32", x, 8, i32, sizeof i32);
    expect("cast_f32_i64", x, 8, i64, sizeof i64);
    expect("cast_f32_u64", x, 8, u64, sizeof u64);
    expect("cast_f32_bool", x, 8, truth, sizeof truth);
}
END_TEST

START_TEST(test_integer_to_integer_wraps)
{
    int64_t x[] = {-1, 255, 256, INT64_MIN, 40000, 0};
    int8_t i8[] = {-1, -1, 0, 0, 64, 0};
    uint32_t u32[] = {UINT32_MAX, 255, 256, 0, 40000, 0};
    int16_t i16[] = {-1, 255, 256, 0, -25536, 0};
    uint8_t truth[] = {1, 1, 1, 1, 1, 0}, loose[] = {0, 2, 255};
    float f32[] = {-1, 255, 256, -9223372036854775808.0f, 40000, 0}, unit[] = {0, 1, 1};
    expect("cast_i64_i8", x, 6, i8, sizeof i8);
    expect("cast_i64_u32", x, 6, u32, sizeof u32);
    expect("cast_i64_i16", x, 6, i16, sizeof i16);
    expect("cast_i64_bool", x, 6, truth, sizeof truth);
    expect("cast_i64_f32", x, 6, f32, sizeof f32);
    expect("cast_bool_f32", loose, 3, unit, sizeof unit);
}
END_TEST

/* All 65536 halves go to float and back unchanged, NaN apart. */
START_TEST(test_f16_round_trip)
{
    enum { N = 65536 };
    uint16_t *x = case_buffer(N * sizeof *x);
    for (int i = 0; i < N; i++) {
        x[i] = (uint16_t)((i & 0x7c00) == 0x7c00 && (i & 0x3ff) ? 0 : i);
    }
    VfkCastParams params = {N, 1};
    Case c = {"cast_f16_f32", &params, {x}, {N * sizeof(float)}, N, 0};
    void *out[CASE_MAX_OUT];
    case_run(&c, out);
    ck_assert(((float *)out[0])[0x3c01] == 1.0009765625f);
    ck_assert(((float *)out[0])[1] == 0x1p-24f);
    ck_assert(((float *)out[0])[0x7bff] == 65504.0f);
    ck_assert(((float *)out[0])[0xfc00] == -INFINITY);
    expect("cast_f32_f16", out[0], N, x, N * sizeof *x);
    case_free(out);
    free(x);
}
END_TEST

START_TEST(test_rounding_to_16_bits)
{
    float x[] = {65519.996f, 65520, 2049, 2051, 0x1p-25f, 0x1.8p-25f, -0.0f, 1e30f};
    uint16_t f16[] = {0x7bff, 0x7c00, 0x6800, 0x6802, 0, 1, 0x8000, 0x7c00};
    expect("cast_f32_f16", x, 8, f16, sizeof f16);
    float y[] = {1, 0x1.01p0f, 0x1.03p0f, 0x1.010002p0f, FLT_MAX, -INFINITY};
    uint16_t bf16[] = {0x3f80, 0x3f80, 0x3f82, 0x3f81, 0x7f80, 0xff80};
    expect("cast_f32_bf16", y, 6, bf16, sizeof bf16);
    /* Just above a tie: rounding through float first would lose the difference. */
    double z[] = {2049.0000000001, 2049, 1e300, -1e-300};
    uint16_t narrow[] = {0x6801, 0x6800, 0x7c00, 0x8000};
    expect("cast_f64_f16", z, 4, narrow, sizeof narrow);
    float nan = NAN;
    VfkCastParams params = {1, 1};
    Case c = {"cast_f32_f16", &params, {&nan}, {2}, 1, 0};
    void *out[CASE_MAX_OUT];
    case_run(&c, out);
    ck_assert_uint_gt(*(uint16_t *)out[0] & 0x7fff, 0x7c00);
    case_free(out);
}
END_TEST

/* All codes of an 8-bit format survive; the largest value, and what overflow gives. */
static const struct Format {
    const char *name;
    float most;
    uint8_t most_code, nan_code, overflow_code; /* of infinity without saturation */
} format[] = {
    {"f8e4m3fn", 448, 0x7e, 0x7f, 0x7f},
    {"f8e4m3fnuz", 240, 0x7f, 0x80, 0x80},
    {"f8e5m2", 57344, 0x7b, 0x7f, 0x7c},
    {"f8e5m2fnuz", 57344, 0x7f, 0x80, 0x80},
};

START_TEST(test_8_bit_floats)
{
    const struct Format *f = &format[_i];
    char to[32], from[32];
    uint8_t code[256];
    snprintf(to, sizeof to, "cast_f32_%s", f->name);
    snprintf(from, sizeof from, "cast_%s_f32", f->name);
    for (int i = 0; i < 256; i++) {
        code[i] = (uint8_t)i;
    }
    VfkCastParams loose = {256, 0}, saturating = {4, 1};
    Case c = {from, &loose, {code}, {1024}, 256, 0};
    void *value[CASE_MAX_OUT], *back[CASE_MAX_OUT];
    case_run(&c, value);
    ck_assert(((float *)value[0])[f->most_code] == f->most);
    Case d = {to, &loose, {value[0]}, {256}, 256, 0};
    case_run(&d, back);
    for (int i = 0; i < 256; i++) {
        int nan = isnan(((float *)value[0])[i]);
        ck_assert(nan || ((uint8_t *)back[0])[i] == i);
    }
    case_free(back);
    case_free(value);
    float x[] = {INFINITY, NAN, 1e30f, -1e30f};
    uint8_t want[] = {f->most_code, f->nan_code, f->most_code, (uint8_t)(f->most_code | 0x80)};
    Case e = {to, &saturating, {x}, {4}, 4, 0};
    case_run(&e, back);
    ck_assert_mem_eq(back[0], want, 4);
    case_free(back);
    saturating.saturate = 0;
    case_run(&e, back);
    ck_assert_uint_eq(((uint8_t *)back[0])[0], f->overflow_code);
    case_free(back);
}
END_TEST

START_TEST(test_4_bit)
{
    float x[] = {-8, -0.5f, 2.75f, 25, NAN, -9, INFINITY};
    uint8_t i4[] = {0x08, 0x92, 0x70, 0x00}, u4[] = {0x08, 0x92, 0x70, 0x00};
    float unpacked[] = {-8, 0, 2, -7, 0, 7, 0};
    int8_t narrow[] = {-8, 0, 2, -7, 0, 7, 0};
    uint8_t near[] = {0x08, 0x73, 0x80, 0x07}, above[] = {0x00, 0xf3, 0x00, 0x0f};
    expect_with(0, "cast_f32_i4", x, 7, i4, sizeof i4);
    expect_with(0, "cast_f32_u4", x, 7, u4, sizeof u4);
    expect_with(1, "cast_f32_i4", x, 7, near, sizeof near);
    expect_with(1, "cast_f32_u4", x, 7, above, sizeof above);
    expect("cast_i4_f32", i4, 7, unpacked, sizeof unpacked);
    expect("cast_i4_i8", i4, 7, narrow, sizeof narrow);
    expect("cast_i8_i4", narrow, 7, i4, sizeof i4);
}
END_TEST

START_TEST(test_2_bit)
{
    float x[] = {-3, -2, -1, 0, 1.9f, 2, 3, NAN, 9};
    uint8_t low[] = {0x39, 0x39, 0x01}, above[] = {0x00, 0x3a, 0x03}, near[] = {0x3a, 0x15, 0x01};
    float u2[] = {1, 2, 3, 0, 1, 2, 3, 0, 1}, i2[] = {1, -2, -1, 0, 1, -2, -1, 0, 1};
    int8_t narrow[] = {1, -2, -1, 0, 1, -2, -1, 0, 1};
    uint8_t wide[] = {1, 2, 3, 0, 1, 2, 3, 0, 1};
    expect_with(0, "cast_f32_u2", x, 9, low, sizeof low);
    expect_with(0, "cast_f32_i2", x, 9, low, sizeof low);
    expect_with(1, "cast_f32_u2", x, 9, above, sizeof above);
    expect_with(1, "cast_f32_i2", x, 9, near, sizeof near);
    expect("cast_u2_f32", low, 9, u2, sizeof u2);
    expect("cast_i2_f32", low, 9, i2, sizeof i2);
    expect("cast_i2_i8", low, 9, narrow, sizeof narrow);
    expect("cast_u2_u8", low, 9, wide, sizeof wide);
    expect("cast_i8_i2", narrow, 9, low, sizeof low);
    expect("cast_u8_u2", wide, 9, low, sizeof low);
}
END_TEST

/* Ties go to the even code; all 16 codes survive a round trip. */
START_TEST(test_f4e2m1)
{
    float x[] = {0.25f, 0.75f, 1.25f, 1.75f, 2.5f, 3.5f, 5, 5.0001f, -1e9f, NAN, -0.1f};
    uint8_t code[] = {0x20, 0x42, 0x64, 0x76, 0x8f, 0x08};
    uint8_t all[] = {0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0xfe};
    float value[] = {0,     0.5f,  1,  1.5f,  2,  3,  4,  6,
                     -0.0f, -0.5f, -1, -1.5f, -2, -3, -4, -6};
    expect("cast_f32_f4e2m1", x, 11, code, sizeof code);
    expect("cast_f4e2m1_f32", all, 16, value, sizeof value);
    expect("cast_f32_f4e2m1", value, 16, all, sizeof all);
}
END_TEST

START_TEST(test_f8e8m0)
{
    float x[] = {0, 1, 1.0001f, 0.124f, 0x1p-127f, 0x1.8p-127f, 0x1p-140f, FLT_MAX, INFINITY, NAN};
    uint8_t code[] = {0, 127, 128, 124, 0, 1, 0, 254, 254, 255};
    uint8_t some[] = {0, 1, 127, 130, 254};
    float value[] = {0x1p-127f, 0x1p-126f, 1, 8, 0x1p127f};
    expect("cast_f32_f8e8m0", x, 10, code, sizeof code);
    expect("cast_f8e8m0_f32", some, 5, value, sizeof value);
    expect("cast_f32_f8e8m0", value, 5, some, sizeof some);
}
END_TEST

static const struct {
    VfkCastParams rule;
    uint8_t code[12];
} e8m0_table[] = {
    {{.saturate = 1, .rounding = VFK_CAST_UP}, {0, 0, 0, 1, 1, 127, 128, 128, 128, 254, 254, 255}},
    {{.saturate = 1, .rounding = VFK_CAST_DOWN},
     {0, 0, 0, 0, 0, 127, 127, 127, 127, 254, 254, 255}},
    {{.saturate = 1, .rounding = VFK_CAST_NEAREST},
     {0, 0, 0, 0, 1, 127, 127, 128, 128, 254, 254, 255}},
    {{.saturate = 0, .rounding = VFK_CAST_UP},
     {255, 255, 0, 1, 1, 127, 128, 128, 128, 255, 255, 255}},
    {{.saturate = 0, .rounding = VFK_CAST_DOWN},
     {255, 255, 0, 0, 0, 127, 127, 127, 127, 255, 255, 255}},
    {{.saturate = 0, .rounding = VFK_CAST_NEAREST},
     {255, 255, 0, 0, 1, 127, 127, 128, 128, 255, 255, 255}},
};

START_TEST(test_f8e8m0_rules)
{
    float x[] = {0, 0x1p-128f, 0x1p-127f, 0x1.4p-127f, 0x1.8p-127f, 1, 0x1.7ffffep0f, 0x1.8p0f,
                 0x1.8p0f, 0x1.1p127f, INFINITY, NAN};
    expect_by(e8m0_table[_i].rule, "cast_f32_f8e8m0", x, 12, e8m0_table[_i].code, 12);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("kernels/cast");
    case_add(suite, "to integer", test_float_to_integer_clamps, 1);
    case_add(suite, "integers", test_integer_to_integer_wraps, 1);
    case_add(suite, "f16", test_f16_round_trip, 1);
    case_add(suite, "rounding", test_rounding_to_16_bits, 1);
    case_add(suite, "f8", test_8_bit_floats, 4);
    case_add(suite, "4 bit", test_4_bit, 1);
    case_add(suite, "2 bit", test_2_bit, 1);
    case_add(suite, "f4e2m1", test_f4e2m1, 1);
    case_add(suite, "f8e8m0", test_f8e8m0, 1);
    case_add(suite, "f8e8m0 rules", test_f8e8m0_rules,
             (int)(sizeof e8m0_table / sizeof *e8m0_table));
    return suite;
}

VF_CHECK_MAIN(make_suite)
