/* Weights folded piece by piece into a file are those folded at once in memory. */
#include "passes/fold/layer.h"

#include <math.h>
#include <string.h>

#include "tests/support/check_main.h"

/* More than 1 MiB, in rows that no piece of a stream ends with. */
enum { ROWS = 701, COLUMNS = 613 };

static float weight(size_t i)
{
    return (float)((double)(i * 7919 % 1009) / 1009.0 - 0.4);
}

static VfTensor *weights(VfArena *arena)
{
    static const int64_t dims[] = {ROWS, COLUMNS};
    VfTensor *w;
    void *data;
    ck_assert_int_eq(vf_tensor_new(arena, VF_F32, 2, dims, &w, &data, NULL), VF_OK);
    for (size_t i = 0; i < w->count; i++) {
        float x = weight(i);
        memcpy((char *)data + i * sizeof x, &x, sizeof x);
    }
    return w;
}

static VfField field(VfArena *arena, size_t n, double step)
{
    VfField out;
    double *each = VF_NEW_ARRAY(arena, double, n);
    ck_assert_ptr_nonnull(each);
    for (size_t i = 0; i < n; i++)
        each[i] = 1.0 + step * (double)i;
    ck_assert_int_eq(vf_field_on_axis(arena, 1, 0, n, each, &out, NULL), VF_OK);
    return out;
}

START_TEST(each_element_and_sum)
{
    static const char *const folders[] = {NULL, "."};
    VfArena *keep = vf_arena_new(), *scratch = vf_arena_new();
    int32_t axis = _i % 2;
    vf_arena_page_to(keep, folders[_i / 2]);
    size_t n = axis == 0 ? ROWS : COLUMNS;
    VfField scale = field(scratch, n, 0.01), shift = field(scratch, n, -0.02);
    VfWeightFold job = {.keep = keep, .scratch = scratch, .w = weights(scratch), .axis = axis,
                        .scale = &scale, .shift = &shift};
    ck_assert_int_eq(vf_weights_fold(&job, NULL), VF_OK);
    double sum[ROWS > COLUMNS ? ROWS : COLUMNS] = {0};
    size_t n_wrong = 0;
    for (size_t i = 0; i < (size_t)ROWS * COLUMNS; i++) {
        size_t place = axis == 0 ? i / COLUMNS : i % COLUMNS;
        size_t to = axis == 0 ? i % COLUMNS : i / COLUMNS;
        float wanted = (float)((double)weight(i) * scale.data[place]);
        n_wrong += fabs(vf_tensor_get_double(job.scaled, i) - (double)wanted) > 0.0;
        sum[to] += (double)weight(i) * shift.data[place];
    }
    ck_assert_uint_eq(n_wrong, 0);
    ck_assert_uint_eq(job.sum.count, axis == 0 ? COLUMNS : ROWS);
    for (size_t i = 0; i < job.sum.count; i++)
        ck_assert_double_eq_tol(job.sum.data[i], sum[i], 1e-9);
    vf_arena_free(keep);
    vf_arena_free(scratch);
}
END_TEST

START_TEST(overflow_is_told)
{
    VfErr err = {0};
    VfArena *arena = vf_arena_new();
    int64_t dims[] = {1, 19};
    VfTensor *w;
    void *data;
    ck_assert_int_eq(vf_tensor_new(arena, VF_F32, 2, dims, &w, &data, &err), VF_OK);
    vf_tensor_put_double(data, VF_F32, (size_t)_i % 19, _i < 19 ? 3e38 : (double)INFINITY);
    VfField scale;
    ck_assert_int_eq(vf_field_uniform(arena, 1, 2.0, &scale, &err), VF_OK);
    for (int32_t axis = 0; axis < 2; axis++) {
        VfWeightFold job = {.keep = arena, .scratch = arena, .w = w, .axis = axis,
                            .scale = &scale};
        ck_assert_int_eq(vf_weights_fold(&job, &err), _i < 19 ? VF_DIFFERS : VF_OK);
    }
    vf_arena_free(arena);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("folded weights");
    TCase *tests = tcase_create("scale");
    tcase_add_loop_test(tests, each_element_and_sum, 0, 4);
    tcase_add_loop_test(tests, overflow_is_told, 0, 20);
    suite_add_tcase(suite, tests);
    return suite;
}

VF_CHECK_MAIN(make_suite)
