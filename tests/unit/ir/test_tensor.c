#include "passes/ir/tensor.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "runtime/kernels/number.h"
#include "tests/support/arena_case.h"

/* dtype, value, its bits, the value that comes back */
static const struct {
    VfDtype dtype;
    double value;
    uint64_t bits;
    double back;
} number_case[] = {
    {VF_F32, 0.1, 0x3dcccccd, 0.100000001490116119384765625},
    {VF_F64, 0.1, 0x3fb999999999999a, 0.1},
    {VF_F16, 1.0, 0x3c00, 1.0},
    {VF_F16, 65504.0, 0x7bff, 65504.0},
    {VF_F16, 65519.9, 0x7bff, 65504.0},
    {VF_F16, 65520.0, 0x7c00, (double)INFINITY},
    {VF_F16, -0.0, 0x8000, -0.0},
    {VF_F16, 0x1p-24, 0x0001, 0x1p-24},
    {VF_F16, 0x1p-25, 0x0000, 0.0},
    {VF_F16, 0x1.8p-25, 0x0001, 0x1p-24},
    {VF_F16, 0x1.ffcp-15, 0x0400, 0x1p-14},
    {VF_F16, 2049.0, 0x6800, 2048.0},
    {VF_F16, 2051.0, 0x6802, 2052.0},
    {VF_BF16, 1.00390625, 0x3f80, 1.0},
    {VF_BF16, 1.01171875, 0x3f82, 1.015625},
    {VF_BF16, -3.0, 0xc040, -3.0},
    {VF_BF16, 3.4e38, 0x7f80, (double)INFINITY},
    {VF_F8E4M3FN, 448.0, 0x7e, 448.0},
    {VF_F8E4M3FN, 1e9, 0x7e, 448.0},
    {VF_F8E4M3FN, -(double)INFINITY, 0xfe, -448.0},
    {VF_F8E4M3FN, 0x1p-9, 0x01, 0x1p-9},
    {VF_F8E4M3FNUZ, -0.0, 0x00, 0.0},
    {VF_F8E4M3FNUZ, 240.0, 0x7f, 240.0},
    {VF_F8E5M2, 57344.0, 0x7b, 57344.0},
    {VF_F8E5M2, (double)INFINITY, 0x7b, 57344.0},
    {VF_F8E5M2FNUZ, 1.0, 0x40, 1.0},
    {VF_F4E2M1, 6.0, 0x7, 6.0},
    {VF_F4E2M1, -0.5, 0x9, -0.5},
    {VF_F4E2M1, 2.5, 0x4, 2.0},
    {VF_F8E8M0, 8.0, 130, 8.0},
    {VF_F8E8M0, 0.0, 0, 0x1p-127},
    {VF_I8, 200.0, 0x7f, 127.0},
    {VF_I8, -200.0, 0x80, -128.0},
    {VF_I8, 2.5, 2, 2.0},
    {VF_I8, 3.5, 4, 4.0},
    {VF_U8, -3.0, 0, 0.0},
    {VF_U8, 255.4, 255, 255.0},
    {VF_I4, -9.0, 0x8, -8.0},
    {VF_I4, 7.0, 0x7, 7.0},
    {VF_U4, 15.0, 0xf, 15.0},
    {VF_I2, -2.0, 0x2, -2.0},
    {VF_U2, 5.0, 0x3, 3.0},
    {VF_BOOL, 0.25, 1, 1.0},
    {VF_I32, -1.0, 0xffffffff, -1.0},
    {VF_I64, 1e30, INT64_MAX, 9223372036854775807.0},
    {VF_I64, -1e30, (uint64_t)INT64_MIN, -9223372036854775808.0},
    {VF_U64, 1e30, UINT64_MAX, 18446744073709551615.0},
    {VF_I32, (double)NAN, 0, 0.0},
};

START_TEST(numbers_are_rounded_to_nearest_even)
{
    VfDtype dtype = number_case[_i].dtype;
    uint64_t bits = vf_number_encode(dtype, number_case[_i].value);
    unsigned width = vf_dtype_info(dtype)->bits;
    uint64_t mask = UINT64_MAX >> (64 - width);
    ck_assert_uint_eq(bits & mask, number_case[_i].bits);
    double back = vf_number_value(dtype, number_case[_i].bits);
    ck_assert_double_eq(back, number_case[_i].back);
    ck_assert_int_eq(signbit(back) != 0, signbit(number_case[_i].back) != 0);
}
END_TEST

static const VfDtype float_case[] = {VF_F16,     VF_BF16,        VF_F8E4M3FN, VF_F8E4M3FNUZ,
                                     VF_F8E5M2,  VF_F8E5M2FNUZ,  VF_F4E2M1};

/* Every number of a narrow format comes back as itself; what is none comes back as one. */
START_TEST(narrow_floats_come_back)
{
    VfDtype dtype = float_case[_i];
    unsigned n = 1u << vf_dtype_info(dtype)->bits, n_number = 0;
    for (unsigned bits = 0; bits < n; bits++) {
        double value = vf_number_value(dtype, bits);
        uint64_t again = vf_number_encode(dtype, value);
        if (isnan(value)) {
            ck_assert(isnan(vf_number_value(dtype, again)));
        } else if (!isinf(value) || dtype == VF_F16 || dtype == VF_BF16) {
            ck_assert_uint_eq(again, bits);
            n_number++;
        }
    }
    ck_assert_uint_gt(n_number, n * 9 / 10);
}
END_TEST

START_TEST(packed_elements_do_not_touch_each_other)
{
    static const VfDtype packed[] = {VF_U4, VF_I4, VF_U2, VF_I2};
    unsigned char data[4];
    for (size_t k = 0; k < 4; k++) {
        memset(data, 0, sizeof data);
        for (size_t i = 0; i < 7; i++)
            vf_tensor_put_double(data, packed[k], i, i % 2 != 0 ? 1.0 : 0.0);
        vf_tensor_put_double(data, packed[k], 2, 1.0);
        for (size_t i = 0; i < 7; i++)
            ck_assert_double_eq(vf_number_value(packed[k], vf_number_bits(data, packed[k], i)),
                                i % 2 != 0 || i == 2 ? 1.0 : 0.0);
    }
}
END_TEST

/* rank, dims, result */
static const struct {
    int32_t rank;
    int64_t dims[3];
    VfStatus status;
    size_t count;
} count_case[] = {
    {0, {0}, VF_OK, 1},
    {2, {3, 4}, VF_OK, 12},
    {2, {0, INT64_MAX}, VF_OK, 0},
    {1, {-1}, VF_INVALID, 0},
    {2, {INT64_MAX, 3}, VF_INVALID, 0},
    {3, {INT64_MAX, INT64_MAX, 0}, VF_OK, 0},
};

START_TEST(sizes_are_checked)
{
    size_t count = 0;
    VfErr err = {.status = VF_OK};
    ck_assert_int_eq(vf_dims_count(count_case[_i].rank, count_case[_i].dims, &count, &err),
                     count_case[_i].status);
    ck_assert_uint_eq(count, count_case[_i].count);
}
END_TEST

START_TEST(sizes_in_bytes_are_checked)
{
    static const int64_t dims[] = {INT64_MAX};
    VfTensor *tensor;
    void *data;
    VfErr err = {.status = VF_OK};
    ck_assert_int_eq(vf_tensor_new(arena, VF_F64, 1, dims, &tensor, &data, &err), VF_INVALID);
    ck_assert_int_eq(vf_tensor_new(arena, VF_STRING, 1, dims, &tensor, &data, &err), VF_INVALID);
}
END_TEST

START_TEST(getters_read_all_kinds)
{
    static const int64_t big[] = {INT64_MIN, INT64_MAX, -1};
    const VfTensor *tensor = vf_tensor_i64(arena, 3, big);
    for (size_t i = 0; i < 3; i++)
        ck_assert_int_eq(vf_tensor_get_i64(tensor, i), big[i]);
    ck_assert_int_eq(vf_tensor_get_i64(vf_tensor_scalar(arena, VF_F32, 0, -2.7), 0), -2);
    ck_assert_int_eq(vf_tensor_get_i64(vf_tensor_scalar(arena, VF_F32, 0, 1e30), 0), INT64_MAX);
    ck_assert_int_eq(vf_tensor_get_i64(vf_tensor_scalar(arena, VF_F32, 0, (double)NAN), 0), 0);
    ck_assert_int_eq(vf_tensor_get_i64(vf_tensor_scalar(arena, VF_U64, 1, 1e30), 0), INT64_MAX);
    ck_assert_double_eq(vf_tensor_get_double(vf_tensor_scalar(arena, VF_F16, 1, 0.5), 0), 0.5);
}
END_TEST

START_TEST(views_share_the_data)
{
    static const int64_t values[] = {1, 2, 3, 4, 5, 6}, good[] = {2, 3}, bad[] = {4};
    const VfTensor *tensor = vf_tensor_i64(arena, 6, values);
    const VfTensor *view = vf_tensor_view(arena, tensor, 2, good);
    ck_assert_ptr_eq(view->data, tensor->data);
    ck_assert_int_eq(view->dims[1], 3);
    ck_assert_ptr_null(vf_tensor_view(arena, tensor, 1, bad));
    ck_assert(!vf_tensor_is_equal(view, tensor));
}
END_TEST

START_TEST(equality_is_of_bits)
{
    const VfTensor *zero = vf_tensor_scalar(arena, VF_F32, 0, 0.0);
    ck_assert(vf_tensor_is_equal(zero, vf_tensor_scalar(arena, VF_F32, 0, 0.0)));
    ck_assert(!vf_tensor_is_equal(zero, vf_tensor_scalar(arena, VF_F32, 0, -0.0)));
    ck_assert(!vf_tensor_is_equal(zero, vf_tensor_scalar(arena, VF_F32, 1, 0.0)));
    ck_assert(!vf_tensor_is_equal(zero, vf_tensor_scalar(arena, VF_I32, 0, 0.0)));
    ck_assert(vf_tensor_is_all(vf_tensor_scalar(arena, VF_F32, 0, -0.0), 0.0));
    ck_assert(!vf_tensor_is_all(vf_tensor_i64(arena, 0, NULL), 0.0));
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("tensor");
    TCase *tcase = tcase_create("tensor");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, numbers_are_rounded_to_nearest_even, 0,
                        sizeof number_case / sizeof number_case[0]);
    tcase_add_loop_test(tcase, narrow_floats_come_back, 0,
                        sizeof float_case / sizeof float_case[0]);
    tcase_add_test(tcase, packed_elements_do_not_touch_each_other);
    tcase_add_loop_test(tcase, sizes_are_checked, 0, sizeof count_case / sizeof count_case[0]);
    tcase_add_test(tcase, sizes_in_bytes_are_checked);
    tcase_add_test(tcase, getters_read_all_kinds);
    tcase_add_test(tcase, views_share_the_data);
    tcase_add_test(tcase, equality_is_of_bits);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
