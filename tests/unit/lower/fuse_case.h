/* Cases of fusion: a model, how many steps and which kernels it is lowered to, and how far its
 * outputs may be from those of the plan without fusion.
 */
#ifndef VF_TESTS_FUSE_CASE_H
#define VF_TESTS_FUSE_CASE_H

#include "tests/unit/lower/lower_case.h"

typedef struct FuseCase {
    const char *name;
    const char *kernels; /* of all steps, "matmul_f32 gelu_f32" */
    double limit;        /* of the largest value; 0: bits are equal */
    const char *text;
} FuseCase;

static inline const char *case_kernels(const LowerCase *c)
{
    const char *list = "";
    for (int32_t i = 0; i < c->plan->n_step; i++)
        list = vf_arena_printf(c->arena, i == 0 ? "%s%s" : "%s %s", list,
                               c->plan->step[i].kernel->name);
    return list;
}

static inline void case_hold(const FuseCase *fc, const LowerCase *fused, const LowerCase *apart)
{
    for (int32_t i = 0; i < fused->plan->n_output; i++) {
        const VfPlanTensor *t = &fused->plan->output[i];
        VfDistance d;
        VfErr err = {0};
        size_t count = t->bytes / (vf_dtype_info(t->dtype)->bits / 8);
        ck_assert_int_eq(vf_compare(t->dtype, count, 0, fused->out[i], apart->out[i], &d, &err),
                         VF_OK);
        ck_assert_msg(d.max_abs <= fc->limit * d.max_abs_b && d.n_special_differ == 0,
                      "%s: '%s' is off by %g", fc->name, t->name.data, d.max_abs);
        if (fc->limit == 0)
            ck_assert_mem_eq(fused->out[i], apart->out[i], t->bytes);
    }
}

/* With reference kernels, and on one and two threads; constants of the fused model are not
 * aligned. */
static inline void case_fuse(const FuseCase *fc)
{
    LowerCase fused, apart;
    case_open(&fused, fc->text);
    case_open(&apart, fc->text);
    case_misalign(&fused);
    ck_assert_msg(case_lower(&fused, (VfLowerOptions){.reference = true}, false) == VF_OK, "%s: %s",
                  fc->name, fused.err.text);
    ck_assert_int_eq(
        case_lower(&apart, (VfLowerOptions){.reference = true, .no_fuse = true}, false), VF_OK);
    ck_assert_msg(strcmp(case_kernels(&fused), fc->kernels) == 0, "%s: %s", fc->name,
                  case_kernels(&fused));
    case_run(&apart, 1);
    for (int32_t n_thread = 1; n_thread <= 2; n_thread++) {
        case_run(&fused, n_thread);
        case_hold(fc, &fused, &apart);
    }
    case_close(&fused);
    case_close(&apart);
}

#endif
