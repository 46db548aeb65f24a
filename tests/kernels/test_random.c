#include "runtime/kernels/random.h"

#include "tests/kernels/kernel_case.h"
#include "tests/support/check_main.h"

enum { N = 200 * 1000 };

typedef struct Moments {
    double mean, variance, low, high;
} Moments;

static Moments moments_of(const double *x)
{
    Moments m = {0, 0, x[0], x[0]};
    for (int i = 0; i < N; i++) {
        m.mean += x[i] / N;
        m.low = x[i] < m.low ? x[i] : m.low;
        m.high = x[i] > m.high ? x[i] : m.high;
    }
    for (int i = 0; i < N; i++)
        m.variance += (x[i] - m.mean) * (x[i] - m.mean) / N;
    return m;
}

/* Five standard errors of the mean and of the variance. */
static void check_moments(const double *x, double mean, double variance, double fourth)
{
    Moments m = moments_of(x);
    ck_assert_double_eq_tol(m.mean, mean, 5 * sqrt(variance / N));
    ck_assert_double_eq_tol(m.variance, variance, 5 * sqrt((fourth - variance * variance) / N));
}

START_TEST(test_uniform)
{
    VfkRandomParams params = {N, 17, 0, -2, 4};
    Case c = {"random_f64", &params, {NULL}, {8 * N}, N, 0};
    void *out[CASE_MAX_OUT];
    case_run(&c, out); /* also: the cut into units makes no difference */
    check_moments(out[0], 0, 16.0 / 12, 256.0 / 80);
    Moments m = moments_of(out[0]);
    ck_assert(m.low >= -2 && m.low < -1.999 && m.high < 2 && m.high > 1.999);
    case_free(out);
}
END_TEST

START_TEST(test_normal)
{
    VfkRandomParams params = {N, -1, 1, 3, 0.5};
    Case c = {"random_f64", &params, {NULL}, {8 * N}, N, 0};
    void *out[CASE_MAX_OUT];
    case_run(&c, out);
    check_moments(out[0], 3, 0.25, 3 * 0.0625);
    case_free(out);
}
END_TEST

/* Seeds next to each other give numbers that have nothing in common. */
START_TEST(test_seeds)
{
    VfkRandomParams params[2] = {{N, 0, 0, 0, 1}, {N, 1, 0, 0, 1}};
    void *out[2][CASE_MAX_OUT];
    double sum = 0;
    for (int i = 0; i < 2; i++) {
        Case c = {"random_f64", &params[i], {NULL}, {8 * N}, N, 0};
        case_run(&c, out[i]);
    }
    for (int i = 0; i < N; i++)
        sum += (((double *)out[0][0])[i] - 0.5) * (((double *)out[1][0])[i] - 0.5);
    ck_assert_double_le(fabs(sum / N), 5 / 12.0 / sqrt(N));
    case_free(out[0]);
    case_free(out[1]);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("kernels/random");
    case_add(suite, "uniform", test_uniform, 1);
    case_add(suite, "normal", test_normal, 1);
    case_add(suite, "seeds", test_seeds, 1);
    return suite;
}

VF_CHECK_MAIN(make_suite)
