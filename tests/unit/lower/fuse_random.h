/* Cases of fusion over random numbers, where only few of many steps are named.
 */
#ifndef VF_TESTS_FUSE_RANDOM_H
#define VF_TESTS_FUSE_RANDOM_H

#include <stdio.h>

#include "runtime/base/text.h"
#include "tests/unit/lower/lower_case.h"

/* A model of one graph, to which its inputs are added. */
static inline void case_begin(VfText *text, VfArena *arena)
{
    vf_text_init(text, arena);
    vf_text_printf(text, "model opset=17\ngraph g (");
}

/* Its last input, and its output of four axes; what it computes is added. */
static inline void case_begin_nodes(VfText *text)
{
    vf_text_printf(text, "one: f32[1] = f32[1] {0.75}) -> (y: f32[?, ?, ?, ?]) {\n");
}

static inline const char *case_end(VfText *text)
{
    VfBytes bytes;
    VfErr err;
    vf_text_printf(text, "}\n");
    ck_assert_int_eq(vf_text_get(text, &bytes, &err), VF_OK);
    return bytes.data;
}

/* "name: f32[dims] = f32[dims] {...}, " with numbers in [-2, 2). */
static inline void case_add_input(VfText *text, const char *name, int rank, const int *dims)
{
    char shape[64];
    size_t used = 0, count = 1;
    uint32_t state = (uint32_t)rank * 77u + (uint32_t)name[0];
    for (int i = 0; i < rank; i++) {
        count *= (size_t)dims[i];
        int n = snprintf(shape + used, sizeof shape - used, i == 0 ? "%d" : ", %d", dims[i]);
        used += (size_t)n;
    }
    vf_text_printf(text, "%s: f32[%s] = f32[%s] {", name, shape, shape);
    for (size_t i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u;
        vf_text_printf(text, "%s%g", i == 0 ? "" : ", ", (int)(state >> 24) / 64.0 - 2);
    }
    vf_text_printf(text, "},\n");
}

static inline int case_count(const VfPlan *plan, const char *name)
{
    int n = 0;
    for (int32_t i = 0; i < plan->n_step; i++)
        n += strcmp(plan->step[i].kernel->name, name) == 0;
    return n;
}

/* The model with fusion and without: the same numbers, by as many steps as they should be. */
static inline void case_fuse_random(const char *text, const char *what, const char *kernel,
                                    int n_kernel, int n_matmul)
{
    LowerCase plain, fused;
    VfDistance d;
    case_open(&plain, text);
    case_open(&fused, text);
    VfStatus status = case_lower(&plain, (VfLowerOptions){.no_fuse = true}, false);
    ck_assert_msg(status == VF_OK, "%s: %s", what, plain.err.text);
    ck_assert_int_eq(case_lower(&fused, (VfLowerOptions){0}, false), VF_OK);
    ck_assert_msg(case_count(fused.plan, kernel) == n_kernel, "%s", what);
    ck_assert_msg(case_count(fused.plan, "matmul_f32") == n_matmul, "%s", what);
    ck_assert_int_eq(case_count(plain.plan, kernel), 0);
    /* a bias that the walk gives to a product is not counted there */
    ck_assert_msg(fused.plan->flops <= plain.plan->flops &&
                      fused.plan->flops >= 0.8 * plain.plan->flops,
                  "%s: %g operations, not %g", what, fused.plan->flops, plain.plan->flops);
    case_run(&plain, 1);
    case_run(&fused, 2);
    const VfPlanTensor *y = &plain.plan->output[0];
    ck_assert_uint_eq(y->bytes, fused.plan->output[0].bytes);
    status = vf_compare(VF_F32, y->bytes / 4, 0, fused.out[0], plain.out[0], &d, &plain.err);
    ck_assert_int_eq(status, VF_OK);
    ck_assert_msg(d.max_abs <= 1e-5 * fmax(1, d.max_abs_b) && d.n_special_differ == 0,
                  "%s: off by %g of %g", what, d.max_abs, d.max_abs_b);
    case_close(&plain);
    case_close(&fused);
}

#endif
