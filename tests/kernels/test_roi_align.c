#include "tests/support/check_main.h"

#include "runtime/kernels/roi_align.h"
#include "tests/kernels/kernel_case.h"

/* Regions of two images of 4 x 4 pixels, -8 to 7 and 8 to 23, as one bin. */
static const struct Region {
    int64_t maximum, half_pixel, samples, image;
    float corner[4], want;
} region[] = {
    {0, 1, 0, 0, {1, 1, 3, 3}, -0.5f},          /* four samples, each on a pixel */
    {1, 1, 0, 0, {1, 1, 3, 3}, 2},
    {0, 0, 0, 1, {1, 1, 3, 3}, 18},             /* each between four */
    {1, 0, 0, 1, {1, 1, 3, 3}, 5.75f},          /* a quarter of the last pixel */
    {0, 0, 1, 0, {1, 1, 3, 3}, 2},              /* one, in the middle */
    {0, 0, 0, 0, {1, 1, 1, 0}, -0.5f},          /* at least a pixel */
    {0, 1, 0, 0, {1, 1, 1, 0}, 0},              /* none */
    {0, 1, 2, 0, {3, 3, 1, 1}, -0.5f},          /* from the end */
    {0, 0, 0, 7, {1, 1, 3, 3}, 0},              /* no image: told where a run looks */
    {0, 0, 0, -2, {1, 1, 3, 3}, 2},
    {0, 0, 0, 1, {-9, 0, -7, 2}, 0},            /* outside */
    {1, 0, 0, 0, {-3, 0, 1, 1}, 0},             /* what is outside is greater */
    {0, 0, 0, 1, {0, 0, 8, 4}, 8.6875f},        /* half of it is there */
    {0, 1, 0, 1, {NAN, 0, 1, 1}, 0},
    {0, 0, 0, 1, {NAN, 0, 1, 1}, 0},
    {1, 0, 0, 1, {0, -INFINITY, 2, INFINITY}, 0},
    {1, 0, 0, 1, {-1e30f, 0, 1e30f, 1}, 0},
    {1, 0, 3, 1, {-1e30f, 0, 1e30f, 1}, 0},
    {0, 1, 0, 1, {-1e5f, -1e5f, 1e5f, 1e5f}, 0},
};

START_TEST(test_roi_align)
{
    const struct Region *r = &region[_i];
    float x[32];
    for (int i = 0; i < 32; i++)
        x[i] = (float)(i - 8);
    VfkRoiAlignParams params = {2, 1, {4, 4}, {1, 1}, r->samples, r->maximum, r->half_pixel, 1};
    Case c = {"roi_align_f32", &params, {x, r->corner, &r->image}, {4}, 1, 0};
    void *out[CASE_MAX_OUT];
    case_run(&c, out);
    ck_assert_msg(fabsf(*(float *)out[0] - r->want) <= 1e-5f, "row %d: %g", _i,
                  (double)*(float *)out[0]);
    case_free(out);
}
END_TEST

/* Two regions, two channels, bins of a pixel; then images without pixels, and no image. */
START_TEST(test_roi_align_bins)
{
    const double x[] = {1, 2, 3, 4, 10, 20, 30, 40}, corner[] = {0, 0, 4, 4, 1, 1, 3, 3};
    const double want[] = {1,    2,    3,    4,    10,   20,   30,   40,
                           1.75, 2.25, 2.75, 3.25, 17.5, 22.5, 27.5, 32.5};
    const double none[16] = {0};
    const int64_t image[] = {0, 0};
    VfkRoiAlignParams params = {1, 2, {2, 2}, {2, 2}, 1, 0, 1, 0.5};
    Case c = {"roi_align_f64", &params, {x, corner, image}, {sizeof want}, 4, 0};
    void *out[CASE_MAX_OUT];
    case_run(&c, out);
    for (int i = 0; i < 16; i++)
        ck_assert_msg(fabs(((double *)out[0])[i] - want[i]) <= 1e-12, "%d: %g", i,
                      ((double *)out[0])[i]);
    case_free(out);
    for (int i = 0; i < 2; i++) {
        params.in_dim[0] = i == 0 ? 0 : 2;
        params.batch = i == 0;
        case_run(&c, out);
        ck_assert_mem_eq(out[0], none, sizeof none);
        case_free(out);
    }
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("kernels/roi_align");
    case_add(suite, "regions", test_roi_align, (int)(sizeof region / sizeof region[0]));
    case_add(suite, "bins", test_roi_align_bins, 1);
    return suite;
}

VF_CHECK_MAIN(make_suite)
