#include "tests/support/check_main.h"

#include "runtime/kernels/deform.h"
#include "tests/kernels/kernel_case.h"

/* What is seen at a place of the image 1 2 3, 4 5 6. */
static const struct Place {
    float y, x, want;
} place[] = {
    {0, 0, 1},    {0.5f, 0, 2.5f},  {0, 0.5f, 1.5f}, {0.5f, 1.5f, 4}, {-0.5f, 0, 0.5f},
    {-1, 0, 0},   {1, 2, 6},        {1.5f, 2, 3},    {2, 0, 0},       {1.25f, 2.5f, 2.25f},
    {NAN, 0, 0},  {0, INFINITY, 0}, {-1e30f, 0, 0},  {0, 3e38f, 0},   {-0.25f, -0.5f, 0.375f},
};

START_TEST(test_deform_place)
{
    const struct Place *p = &place[_i];
    const float x[] = {1, 2, 3, 4, 5, 6}, offset[] = {p->y, p->x}, mask = 2;
    VfkDeformParams params = {1, 1, 1, {2, 3}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {1, 1}};
    void *out[CASE_MAX_OUT];
    for (int i = 0; i < 2; i++) {
        Case c = {"deform_f32", &params, {x, offset, i ? &mask : NULL}, {4}, 1, 0};
        case_run(&c, out);
        const float got = *(float *)out[0], want = p->want * (float)(1 + i);
        ck_assert_msg(fabsf(got - want) <= 1e-6f, "row %d: %g", _i, (double)got);
        case_free(out);
    }
}
END_TEST

static double pixel(const double *plane, int64_t row, int64_t col)
{
    return row >= 0 && row < 3 && col >= 0 && col < 80 ? plane[row * 80 + col] : 0;
}

static double between(const double *plane, double y, double x)
{
    const int64_t row = (int64_t)floor(y), col = (int64_t)floor(x);
    const double t = y - (double)row, s = x - (double)col;
    return (1 - t) * ((1 - s) * pixel(plane, row, col) + s * pixel(plane, row, col + 1)) +
           t * ((1 - s) * pixel(plane, row + 1, col) + s * pixel(plane, row + 1, col + 1));
}

/* Two images of four channels in two groups, kernels of 2 x 3, more places than go at once. */
START_TEST(test_deform_layout)
{
    enum { N = 2, C = 4, G = 2, TAPS = 6, P = 2 * 39 };
    VfkDeformParams params = {N, C, G, {3, 80}, {2, 39}, {2, 3}, {2, 2}, {1, 0}, {2, 1}};
    double *x = case_doubles(N * C * 240, 1), *offset = case_doubles(N * G * TAPS * 2 * P, 2);
    double *mask = case_doubles(N * G * TAPS * P, 3);
    Case c = {"deform_f64", &params, {x, offset, mask}, {N * C * TAPS * P * 8}, N * G * TAPS, 0};
    void *out[CASE_MAX_OUT];
    case_run(&c, out);
    for (int64_t i = 0; i < N * C * TAPS * P; i++) {
        const int64_t p = i % P, tap = i / P % TAPS, plane = i / P / TAPS;
        const int64_t own = plane / (C / G) * TAPS + tap; /* of group, image and tap */
        const double y = (double)(p / 39 * 2 - 1 + tap / 3 * 2) + offset[own * 2 * P + p];
        const double z = (double)(p % 39 * 2 + tap % 3) + offset[own * 2 * P + P + p];
        const double want = between(x + plane * 240, y, z);
        ck_assert(fabs(((double *)out[0])[i] - want * mask[own * P + p]) <= 1e-12);
    }
    case_free(out);
    free(x);
    free(offset);
    free(mask);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("kernels/deform");
    case_add(suite, "places", test_deform_place, (int)(sizeof place / sizeof place[0]));
    case_add(suite, "layout", test_deform_layout, 1);
    return suite;
}

VF_CHECK_MAIN(make_suite)
