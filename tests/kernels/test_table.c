#include "tests/support/check_main.h"

#include <stdio.h>
#include <string.h>

#include "runtime/kernels/kernel.h"

START_TEST(test_rows_are_unique)
{
    for (int32_t i = 0; i < vfk_kernel_count; i++) {
        const VfkKernel *a = &vfk_kernel_table[i];
        for (int32_t j = i + 1; j < vfk_kernel_count; j++) {
            ck_assert_str_ne(a->symbol, vfk_kernel_table[j].symbol);
        }
    }
}
END_TEST

START_TEST(test_symbol_is_name_and_variant)
{
    for (int32_t i = 0; i < vfk_kernel_count; i++) {
        const VfkKernel *kernel = &vfk_kernel_table[i];
        char symbol[128];
        snprintf(symbol, sizeof symbol, "vfk_%s_%s", kernel->name, kernel->variant);
        ck_assert_str_eq(kernel->symbol, symbol);
        ck_assert(kernel->fn != NULL);
    }
}
END_TEST

/* Every byte of a params struct is in one field: a printed initialiser says all of it. */
START_TEST(test_fields_cover_params)
{
    for (int32_t i = 0; i < vfk_kernel_count; i++) {
        const VfkKernel *kernel = &vfk_kernel_table[i];
        size_t at = 0;
        for (int32_t f = 0; f < kernel->n_field; f++) {
            const VfkField *field = &kernel->field[f];
            int is_narrow = field->type == VFK_FIELD_I32 || field->type == VFK_FIELD_F32;
            ck_assert_msg(field->offset == at, "%s: %s", kernel->params, field->name);
            at += (is_narrow ? 4u : 8u) * (size_t)field->count;
        }
        ck_assert_msg(at == kernel->params_bytes, "%s", kernel->params);
    }
}
END_TEST

START_TEST(test_every_kernel_has_a_reference)
{
    for (int32_t i = 0; i < vfk_kernel_count; i++) {
        const VfkKernel *ref = vfk_kernel_find(vfk_kernel_table[i].name, 1);
        ck_assert_ptr_nonnull(ref);
        ck_assert_str_eq(ref->variant, "ref");
        const VfkKernel *best = vfk_kernel_find(vfk_kernel_table[i].name, 0);
        ck_assert_ptr_nonnull(best);
        ck_assert_str_eq(best->name, ref->name);
    }
}
END_TEST

START_TEST(test_unknown_name_gives_null)
{
    ck_assert_ptr_null(vfk_kernel_find("add", 0));
    ck_assert_ptr_null(vfk_kernel_find("", 1));
    ck_assert_ptr_null(vfk_kernel_find("softmax_string", 0));
}
END_TEST

START_TEST(test_dtype_names)
{
    for (int i = 0; i < VF_DTYPE_COUNT; i++) {
        const VfDtypeInfo *info = vf_dtype_info((VfDtype)i);
        ck_assert_ptr_nonnull(info->name);
        ck_assert_int_eq(vf_dtype_from_name(info->name), i);
        ck_assert_int_eq(vf_dtype_from_name(info->onnx), i);
    }
    ck_assert_int_eq(vf_dtype_from_name("float128"), VF_UNDEFINED);
    ck_assert_str_eq(vf_dtype_info((VfDtype)-1)->name, "undefined");
    ck_assert_str_eq(vf_dtype_info((VfDtype)VF_DTYPE_COUNT)->name, "undefined");
}
END_TEST

START_TEST(test_dtype_bytes)
{
    ck_assert_uint_eq(vf_dtype_bytes(VF_F32, 3), 12);
    ck_assert_uint_eq(vf_dtype_bytes(VF_I4, 3), 2);
    ck_assert_uint_eq(vf_dtype_bytes(VF_U2, 9), 3);
    ck_assert_uint_eq(vf_dtype_bytes(VF_U4, SIZE_MAX), SIZE_MAX / 2 + 1);
    ck_assert_uint_eq(vf_dtype_bytes(VF_C128, SIZE_MAX / 16), SIZE_MAX / 16 * 16);
    ck_assert_uint_eq(vf_dtype_bytes(VF_F64, SIZE_MAX / 8 + 1), SIZE_MAX);
    ck_assert_uint_eq(vf_dtype_bytes(VF_STRING, 5), 0);
    ck_assert_uint_eq(vf_dtype_bytes(VF_BOOL, 0), 0);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("kernels/table");
    TCase *tcase = tcase_create("table");
    tcase_add_test(tcase, test_rows_are_unique);
    tcase_add_test(tcase, test_symbol_is_name_and_variant);
    tcase_add_test(tcase, test_fields_cover_params);
    tcase_add_test(tcase, test_every_kernel_has_a_reference);
    tcase_add_test(tcase, test_unknown_name_gives_null);
    tcase_add_test(tcase, test_dtype_names);
    tcase_add_test(tcase, test_dtype_bytes);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
