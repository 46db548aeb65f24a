#include "tests/support/check_main.h"

#include "runtime/kernels/det.h"
#include "tests/kernels/kernel_case.h"

static const struct Matrix {
    int64_t n;
    double x[16], want;
} matrix[] = {
    {0, {0}, 1},
    {1, {-3}, -3},
    {2, {1, 2, 3, 4}, -2},
    {2, {0, 2, 3, 4}, -6}, /* the first pivot is 0 */
    {2, {2, 4, 1, 2}, 0},
    {2, {0, (double)NAN, 0, 1}, 0},
    {3, {0, 0, 1, 1, 0, 0, 0, 1, 0}, 1}, /* two exchanges of rows */
    {3, {2, 0, 0, 5, 3, 0, 6, 7, 4}, 24},
    {3, {1e-9, 1, 0, 1, 1, 0, 0, 0, 1}, 1e-9 - 1}, /* a pivot that would leave few digits */
    {4, {4, 3, 2, 1, 3, 3, 2, 1, 2, 2, 2, 1, 1, 1, 1, 1}, 1},
};

/* Both dtypes, and a second matrix, twice the first. */
START_TEST(test_det)
{
    const struct Matrix *m = &matrix[_i];
    const int64_t size = m->n * m->n;
    const double twice = m->want * (double)(1 << m->n);
    float f[32];
    double d[32];
    void *out[CASE_MAX_OUT];
    for (int64_t i = 0; i < 2 * size; i++) {
        d[i] = i < size ? m->x[i] : 2 * m->x[i - size];
        f[i] = (float)d[i];
    }
    VfkDetParams params = {m->n};
    Case in_f32 = {"det_f32", &params, {f}, {8}, 2, (size_t)size * 8};
    case_run(&in_f32, out);
    ck_assert(fabs((double)((float *)out[0])[0] - m->want) <= 1e-6 * fabs(m->want));
    ck_assert(fabs((double)((float *)out[0])[1] - twice) <= 1e-6 * fabs(twice));
    case_free(out);
    Case in_f64 = {"det_f64", &params, {d}, {16}, 2, (size_t)size * 8};
    case_run(&in_f64, out);
    ck_assert(fabs(((double *)out[0])[0] - m->want) <= 1e-14 * fabs(m->want));
    ck_assert(fabs(((double *)out[0])[1] - twice) <= 1e-14 * fabs(twice));
    case_free(out);
}
END_TEST

START_TEST(test_det_is_no_number)
{
    const float x[4] = {NAN, 1, 0, 1};
    VfkDetParams params = {2};
    Case c = {"det_f32", &params, {x}, {4}, 1, 32};
    void *out[CASE_MAX_OUT];
    case_run(&c, out);
    ck_assert(isnan(*(float *)out[0]));
    case_free(out);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("kernels/det");
    case_add(suite, "matrices", test_det, (int)(sizeof matrix / sizeof matrix[0]));
    case_add(suite, "no number", test_det_is_no_number, 1);
    return suite;
}

VF_CHECK_MAIN(make_suite)
