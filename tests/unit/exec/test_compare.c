/* Distances between arrays. */
#include <math.h>

#include "runtime/exec/compare.h"
#include "tests/support/check_main.h"

static VfDistance compare(VfDtype dtype, size_t count, size_t row, const void *a, const void *b)
{
    VfDistance d;
    VfErr err = {0};
    ck_assert_int_eq(vf_compare(dtype, count, row, a, b, &d, &err), VF_OK);
    return d;
}

START_TEST(floats)
{
    static const float a[] = {1, 2, 4, 0, -1, 3}, b[] = {1, 2.5f, 4, 0, -1, 2};
    VfDistance d = compare(VF_F32, 6, 3, a, b);
    ck_assert_uint_eq(d.n_differ, 2);
    ck_assert_double_eq(d.max_abs, 1);
    ck_assert_uint_eq(d.worst, 5);
    ck_assert_double_eq_tol(d.mean_abs, 0.25, 1e-12);
    ck_assert_double_eq(d.max_rel, 0.5);
    ck_assert_double_eq_tol(d.norm_rel, sqrt(1.25 / 28.25), 1e-12);
    ck_assert_double_eq_tol(d.cosine, 29.0 / (sqrt(31.0) * sqrt(28.25)), 1e-12);
    ck_assert_double_eq(d.max_abs_b, 4);
    ck_assert_int_eq(d.n_row, 2);
    ck_assert_int_eq(d.n_top1, 2);
}
END_TEST

START_TEST(units_of_the_last_place)
{
    float a = 1, b = nextafterf(1, 2), c = nextafterf(0, 1), zero = 0;
    ck_assert_double_eq(compare(VF_F32, 1, 0, &a, &b).max_ulp, 1);
    ck_assert_double_eq(compare(VF_F32, 1, 0, &zero, &c).max_ulp, 1);
    static const uint16_t half[] = {0x3c00}, next[] = {0x3c03};
    ck_assert_double_eq(compare(VF_F16, 1, 0, half, next).max_ulp, 3);
    ck_assert_double_eq(compare(VF_BF16, 1, 0, half, next).max_ulp, 3);
}
END_TEST

START_TEST(special_values)
{
    static const float a[] = {NAN, INFINITY, 1, INFINITY, -0.0f};
    static const float b[] = {NAN, INFINITY, NAN, -INFINITY, 0};
    VfDistance d = compare(VF_F32, 5, 0, a, b);
    ck_assert_uint_eq(d.n_differ, 2);
    ck_assert_uint_eq(d.n_special_differ, 2);
    ck_assert_double_eq(d.max_abs, 0);
}
END_TEST

START_TEST(both_zero_or_one)
{
    static const float zero[2] = {0, 0}, one[2] = {1, 1};
    VfDistance d = compare(VF_F32, 2, 0, zero, zero);
    ck_assert_double_eq(d.cosine, 1);
    ck_assert_double_eq(d.norm_rel, 0);
    d = compare(VF_F32, 2, 0, one, zero);
    ck_assert_double_eq(d.cosine, 0);
    ck_assert(isinf(d.norm_rel));
}
END_TEST

START_TEST(integers_beyond_doubles)
{
    static const int64_t a[] = {INT64_MAX}, b[] = {INT64_MAX - 1};
    ck_assert_uint_eq(compare(VF_I64, 1, 0, a, b).n_differ, 1);
    ck_assert_double_eq(compare(VF_I64, 1, 0, a, b).max_abs, 1);
    static const uint64_t most[] = {UINT64_MAX}, none[] = {0};
    ck_assert_double_eq(compare(VF_U64, 1, 0, none, most).max_abs, 0x1p64);
    bool is_close;
    VfErr err = {0};
    ck_assert_int_eq(vf_compare_is_close(VF_I64, 1, a, b, 0, 0, &is_close, &err), VF_OK);
    ck_assert(!is_close);
    static const uint8_t yes[] = {1, 0}, no[] = {0, 0};
    ck_assert_uint_eq(compare(VF_BOOL, 2, 0, yes, no).n_differ, 1);
}
END_TEST

/* 1, 1.5, -inf beside 1, 2, -inf; 7, -8 beside -8, 7; 1 and NaN beside 2 and NaN. */
START_TEST(small_dtypes)
{
    static const uint8_t e5m2[] = {0x3c, 0x3e, 0xfc}, other[] = {0x3c, 0x40, 0xfc};
    VfDistance d = compare(VF_F8E5M2, 3, 0, e5m2, other);
    ck_assert_uint_eq(d.n_differ, 1);
    ck_assert_uint_eq(d.n_special_differ, 0);
    ck_assert_double_eq(d.max_abs, 0.5);
    ck_assert_double_eq(d.max_ulp, 1);
    static const uint8_t nibbles[] = {0x87}, swapped[] = {0x78};
    d = compare(VF_I4, 2, 2, nibbles, swapped);
    ck_assert_uint_eq(d.n_differ, 2);
    ck_assert_double_eq(d.max_abs, 15);
    ck_assert_int_eq(d.n_top1, 0);
    static const uint8_t powers[] = {127, 255}, next[] = {128, 255};
    d = compare(VF_F8E8M0, 2, 0, powers, next);
    ck_assert_uint_eq(d.n_differ, 1);
    ck_assert_double_eq(d.max_abs, 1);
    ck_assert_double_eq(d.max_ulp, 0.5);
}
END_TEST

/* Points of the plane: 3 + 4i is 5 from 0. */
START_TEST(complex_numbers)
{
    static const float a[] = {3, 4, 1, NAN, 2, 0}, b[] = {0, 0, 1, NAN, 2, INFINITY};
    VfDistance d = compare(VF_C64, 3, 3, a, b);
    ck_assert_uint_eq(d.n_differ, 2);
    ck_assert_uint_eq(d.n_special_differ, 1);
    ck_assert_double_eq(d.max_abs, 5);
    ck_assert_int_eq(d.n_row, 0);
    static const double x[] = {3, 4}, y[] = {3, 3};
    bool is_close, is_closer;
    VfErr err = {0};
    ck_assert_int_eq(vf_compare_is_close(VF_C128, 1, x, y, 0.25, 0, &is_close, &err), VF_OK);
    ck_assert_int_eq(vf_compare_is_close(VF_C128, 1, x, y, 0.23, 0, &is_closer, &err), VF_OK);
    ck_assert(is_close && !is_closer);
}
END_TEST

typedef struct Close {
    float a, b;
    double rtol, atol;
    bool want;
} Close;

static const Close close_table[] = {
    {1, 1, 0, 0, true},          {1, 1.5f, 0, 0.5, true},   {1, 1.5f, 0, 0.25, false},
    {3, 2, 0.5, 0, true},        {2, 3, 0.25, 0, false},    {NAN, NAN, 0, 0, true},
    {NAN, 1, 9, 9, false},       {INFINITY, 1, 9, 9, false}, {INFINITY, INFINITY, 0, 0, true},
    {-INFINITY, INFINITY, 9, 9, false},
};

START_TEST(within_a_tolerance)
{
    const Close *c = &close_table[_i];
    bool is_close = !c->want;
    VfErr err = {0};
    VfStatus status =
        vf_compare_is_close(VF_F32, 1, &c->a, &c->b, c->rtol, c->atol, &is_close, &err);
    ck_assert_int_eq(status, VF_OK);
    ck_assert_int_eq(is_close, c->want);
}
END_TEST

START_TEST(no_meaning_for_strings)
{
    VfDistance d;
    VfErr err = {0};
    ck_assert_int_eq(vf_compare(VF_STRING, 0, 0, NULL, NULL, &d, &err), VF_UNSUPPORTED);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("exec/compare");
    TCase *tcase = tcase_create("cases");
    tcase_add_test(tcase, floats);
    tcase_add_test(tcase, units_of_the_last_place);
    tcase_add_test(tcase, special_values);
    tcase_add_test(tcase, both_zero_or_one);
    tcase_add_test(tcase, integers_beyond_doubles);
    tcase_add_test(tcase, small_dtypes);
    tcase_add_test(tcase, complex_numbers);
    tcase_add_loop_test(tcase, within_a_tolerance, 0,
                        (int)(sizeof close_table / sizeof *close_table));
    tcase_add_test(tcase, no_meaning_for_strings);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
