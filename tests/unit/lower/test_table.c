/* The rows of lower.def against the table of kernels: what a row says it takes, it can do. */
#include "converter/lower/low.h"

#include <stdio.h>
#include <string.h>

#include "converter/lower/ops.h"
#include "tests/support/check_main.h"

/* Rows whose word is a kernel that is called in the dtype of the operand itself. */
static bool is_direct(const VfLowRow *row)
{
    static VfLowFn *const direct[] = {vf_lower_map, vf_lower_binary, vf_lower_variadic,
                                      vf_lower_arg, vf_lower_cumulate, vf_lower_softmax,
                                      vf_lower_pool, vf_lower_global_pool};
    for (size_t i = 0; i < sizeof direct / sizeof direct[0]; i++)
        if (row->fn == direct[i])
            return true;
    return false;
}

static bool has_kernel(const char *word, VfDtype dtype)
{
    char name[64];
    snprintf(name, sizeof name, "%.*s_%s", (int)strcspn(word, " "), word,
             vf_dtype_info(dtype)->name);
    return vfk_kernel_find(name, 0) != NULL;
}

START_TEST(rows_have_their_kernels)
{
    const VfLowRow *row = vf_low_row((VfOp)_i);
    uint32_t halves = row != NULL && (row->flags & LOW_HALF) != 0 ? LOW_T_HALVES : 0;
    if (row == NULL || !is_direct(row))
        return;
    for (int dtype = 1; dtype < VF_DTYPE_COUNT; dtype++) {
        uint32_t bit = UINT32_C(1) << dtype;
        if ((row->dtypes & bit & ~halves & ~(uint32_t)LOW_T_STRING) == 0)
            continue;
        ck_assert_msg(has_kernel(row->arg, (VfDtype)dtype), "%s says %s, there is no kernel",
                      vf_op_info(row->op)->name, vf_dtype_info((VfDtype)dtype)->name);
    }
    ck_assert_msg((row->dtypes & halves) == 0 || (row->dtypes & LOW_T_F32) != 0,
                  "%s takes halves but not f32", vf_op_info(row->op)->name);
}
END_TEST

/* Twice the same operator, or an unknown one, is a slip of the hand. */
START_TEST(supported_operators_are_known)
{
    uint32_t dtypes;
    int n = 0;
    ck_assert(!vf_lower_supports(VF_OP_OTHER, &dtypes));
    ck_assert_uint_eq(dtypes, 0);
    for (int op = 0; op < VF_OP_COUNT; op++) {
        if (!vf_lower_supports((VfOp)op, &dtypes))
            continue;
        ck_assert_uint_ne(dtypes, 0);
        n++;
    }
    ck_assert_int_gt(n, 150);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("lower/table");
    TCase *tcase = tcase_create("rows");
    tcase_add_loop_test(tcase, rows_have_their_kernels, 0, VF_OP_COUNT);
    tcase_add_test(tcase, supported_operators_are_known);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
