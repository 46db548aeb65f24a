#include "tests/support/check_main.h"

#include "runtime/kernels/quantize.h"
#include "runtime/kernels/resize.h"
#include "tests/kernels/kernel_case.h"

START_TEST(test_resample)
{
    float x[] = {1, 2, 3, 4, 5, 6}; /* 1 x 3 x 2 along the middle axis */
    int64_t index[] = {0, 1, -1, 0, 2, 0, 1, 2};
    float weight[] = {0.5f, 0.5f, 1, 1, 1, 0, 0.25f, 0.75f};
    float want[] = {2, 3, -7, -7, 5, 6, 4.5f, 5.5f};
    VfkResampleParams params = {1, 3, 4, 2, 2, -7};
    Case c = {"resample_f32", &params, {x, index, weight}, {sizeof want}, 4, 0};
    void *out[CASE_MAX_OUT];
    case_run(&c, out);
    ck_assert_mem_eq(out[0], want, sizeof want);
    case_free(out);
}
END_TEST

/* One row of four pixels; what a grid of x coordinates samples from it. */
static const struct Grid {
    int64_t mode, padding, align;
    float x[5], want[5];
} grid[] = {
    {0, 0, 1, {-1, 1, 0, -2, NAN}, {1, 8, 3, 0, 1}},
    {0, 0, 0, {-1, 1, 0, -0.75f, 9}, {0.5f, 4, 3, 1, 0}},
    {0, 1, 0, {-1, 1, 0, -INFINITY, INFINITY}, {1, 8, 3, 1, 8}},
    {0, 2, 0, {-1.25f, 1.25f, 0, -1.75f, 1.75f}, {1, 8, 3, 2, 4}},
    {0, 2, 1, {-1, 1, 0, -5.0f / 3, 5.0f / 3}, {1, 8, 3, 2, 4}},
    {1, 0, 0, {-0.75f, -0.3f, 0.3f, 0.75f, 2}, {1, 2, 4, 8, 0}},
    {1, 1, 0, {-0.75f, -0.3f, 0.3f, 0.75f, 2}, {1, 2, 4, 8, 8}},
    {2, 1, 0, {-0.75f, -0.25f, 0.25f, 0.75f, 0}, {1, 2, 4, 8, 2.71875f}},
};

START_TEST(test_grid_sample)
{
    const struct Grid *g = &grid[_i];
    float x[8] = {1, 2, 4, 8, 10, 20, 40, 80}, at[10];
    for (int i = 0; i < 5; i++) {
        at[2 * i] = g->x[i];
        at[2 * i + 1] = 0; /* the only row, whatever the mode */
    }
    VfkGridSampleParams params = {1, 2, 2, {1, 1, 4}, {1, 1, 5}, g->mode, g->padding, g->align};
    Case c = {"grid_sample_f32", &params, {x, at}, {40}, 1, 0};
    void *out[CASE_MAX_OUT];
    case_run(&c, out);
    for (int i = 0; i < 5; i++) {
        float one = ((float *)out[0])[i], ten = ((float *)out[0])[i + 5];
        ck_assert_msg(fabsf(one - g->want[i]) <= 1e-5f, "row %d, %g: %g", _i, (double)g->x[i],
                      (double)one);
        ck_assert(fabsf(ten - 10 * g->want[i]) <= 1e-4f);
    }
    case_free(out);
}
END_TEST

/* A cube of eight corners: its middle is their mean, linear steps between are linear. */
START_TEST(test_grid_sample_volume)
{
    static const struct Point {
        float x, y, z, want[2]; /* linear, nearest */
    } point[] = {
        {-1, -1, -1, {0, 0}}, {1, 1, 1, {7, 7}}, {0, 0, 0, {3.5f, 0}}, {1, -1, -1, {1, 1}},
        {-1, 1, -1, {2, 2}}, {-1, -1, 1, {4, 4}}, {0.5f, -1, 1, {4.75f, 5}}, {3, 0, 0, {0, 0}},
    };
    enum { N = sizeof point / sizeof point[0] };
    const float x[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    float at[3 * N];
    for (int i = 0; i < N; i++)
        memcpy(&at[3 * i], &point[i], 3 * sizeof(float));
    VfkGridSampleParams params = {1, 1, 3, {2, 2, 2}, {2, 2, 2}, _i, 0, 1};
    Case c = {"grid_sample_f32", &params, {x, at}, {4 * N}, 4, 0};
    void *out[CASE_MAX_OUT];
    case_run(&c, out);
    for (int i = 0; i < N; i++)
        ck_assert_float_eq_tol(((float *)out[0])[i], point[i].want[_i], 1e-6f);
    case_free(out);
}
END_TEST

START_TEST(test_quantize)
{
    float x[] = {0, 2.5f, 3.5f, -1, 1e9f, -INFINITY, NAN, 200}, scale = 1;
    uint8_t zero = 10, want[] = {10, 12, 14, 9, 255, 0, 10, 210};
    int8_t plain[] = {0, 2, 4, -1, 127, -128, 0, 127};
    float back[] = {0, 2, 4, -1, 245, -10, 0, 200};
    VfkQuantizeParams params = {1, 1, 8, 1, 0, 0, 0};
    Case u8 = {"quantize_f32_u8", &params, {x, &scale, &zero}, {8}, 1, 0};
    void *out[CASE_MAX_OUT];
    case_run(&u8, out);
    ck_assert_mem_eq(out[0], want, 8);
    case_free(out);
    Case i8 = {"quantize_f32_i8", &params, {x, &scale, NULL}, {8}, 1, 0};
    case_run(&i8, out);
    ck_assert_mem_eq(out[0], plain, 8);
    case_free(out);
    Case d = {"dequantize_u8_f32", &params, {want, &scale, &zero}, {32}, 1, 0};
    case_run(&d, out);
    ck_assert_mem_eq(out[0], back, 32);
    case_free(out);
}
END_TEST

/* 2 x 4 x 1 with scales per axis, and in blocks of two along it. */
START_TEST(test_quantize_axis_and_block)
{
    float axis_scale[] = {1, 2, 3, 4}, block_scale[] = {1, 10, 100, 1000};
    int8_t q[] = {1, 1, 1, 1, 1, 1, 1, 1};
    float axis[] = {1, 2, 3, 4, 1, 2, 3, 4}, block[] = {1, 1, 10, 10, 100, 100, 1000, 1000};
    VfkQuantizeParams by_axis = {2, 4, 1, 1, 0, 1, 0}, by_block = {2, 4, 1, 2, 2, 1, 1};
    Case a = {"dequantize_i8_f32", &by_axis, {q, axis_scale, NULL}, {32}, 8, 0};
    void *out[CASE_MAX_OUT];
    case_run(&a, out);
    ck_assert_mem_eq(out[0], axis, 32);
    case_free(out);
    Case b = {"dequantize_i8_f32", &by_block, {q, block_scale, NULL}, {32}, 8, 0};
    case_run(&b, out);
    ck_assert_mem_eq(out[0], block, 32);
    case_free(out);
}
END_TEST

START_TEST(test_dynamic_quantize)
{
    float x[] = {-1, 0, 1.55f, 0.5f}, nothing[] = {0, 0};
    uint8_t want[] = {0, 100, 255, 150}, zeros[] = {0, 0};
    VfkDynamicQuantizeParams params = {4};
    Case c = {"dynamic_quantize_f32", &params, {x}, {4, 4, 1}, 1, 0};
    void *out[CASE_MAX_OUT];
    case_run(&c, out);
    ck_assert_mem_eq(out[0], want, 4);
    ck_assert(fabsf(*(float *)out[1] - 0.01f) < 1e-6f);
    ck_assert_uint_eq(*(uint8_t *)out[2], 100);
    case_free(out);
    params.n = 2;
    Case d = {"dynamic_quantize_f32", &params, {nothing}, {2, 4, 1}, 1, 0};
    case_run(&d, out);
    ck_assert_mem_eq(out[0], zeros, 2);
    ck_assert(*(float *)out[1] == 1);
    case_free(out);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("kernels/resize");
    case_add(suite, "resample", test_resample, 1);
    case_add(suite, "grid sample", test_grid_sample, (int)(sizeof grid / sizeof grid[0]));
    case_add(suite, "grid sample in a volume", test_grid_sample_volume, 2);
    case_add(suite, "quantize", test_quantize, 1);
    case_add(suite, "axis and block", test_quantize_axis_and_block, 1);
    case_add(suite, "dynamic", test_dynamic_quantize, 1);
    return suite;
}

VF_CHECK_MAIN(make_suite)
