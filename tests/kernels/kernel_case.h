/* Running one kernel in all its variants, for tests.
 *
 * case_run() calls variant ref over all units, then every other variant that this machine can
 * run, with the units cut into uneven shares; all must give the same bytes. So must the fused
 * variants among themselves; they and blas are compared with ref, with a tolerance, by
 * case_run_close().
 */
#ifndef VF_TESTS_KERNEL_CASE_H
#define VF_TESTS_KERNEL_CASE_H

#include <check.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/kernels/kernel.h"

enum { CASE_MAX_OUT = 3 };

typedef struct Case {
    const char *name;   /* of the kernel */
    const void *params;
    const void *in[8];
    size_t out_bytes[CASE_MAX_OUT]; /* 0 where there is no such result */
    int64_t units;
    size_t scratch_bytes;
} Case;

/* Whether the machine can run `kernel`. */
static inline int case_can_run(const VfkKernel *kernel)
{
    const char *variant = kernel->variant;
    size_t length = strlen(variant);
#if defined(__x86_64__)
    if (variant[length - 1] == '3') {
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    }
    if (variant[length - 1] == '4') {
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    }
#endif
    return variant[length - 1] != '3' && variant[length - 1] != '4';
}

/* Whether multiply-adds of the variant are fused. */
static inline int case_is_fused(const VfkKernel *kernel)
{
    return strncmp(kernel->variant, "fma", 3) == 0 || strcmp(kernel->variant, "neon") == 0;
}

/* Whether the variant promises the bits of ref. */
static inline int case_is_exact(const VfkKernel *kernel)
{
    return strcmp(kernel->variant, "blas") != 0 && !case_is_fused(kernel);
}

/* The first fused variant that this machine can run, or NULL. */
static inline const VfkKernel *case_find_fused(const char *name)
{
    for (int32_t i = 0; i < vfk_kernel_count; i++) {
        const VfkKernel *kernel = &vfk_kernel_table[i];
        if (strcmp(kernel->name, name) == 0 && case_is_fused(kernel) && case_can_run(kernel)) {
            return kernel;
        }
    }
    return NULL;
}

/* Buffers sized to the byte, so that sanitizers see every step over the end. */
static inline void *case_buffer(size_t bytes)
{
    void *buffer = malloc(bytes ? bytes : 1);
    ck_assert_ptr_nonnull(buffer);
    memset(buffer, 0x5a, bytes);
    return buffer;
}

static inline void case_call(const Case *c, const VfkKernel *kernel, void *out[CASE_MAX_OUT],
                             int64_t share)
{
    void *scratch = NULL;
    ck_assert_int_eq(posix_memalign(&scratch, 64, c->scratch_bytes + 64), 0);
    for (int64_t u = 0; u < c->units; u += share) {
        int64_t end = u + share < c->units ? u + share : c->units;
        VfkArgs args = {c->in, out, scratch, c->params, u, end, NULL};
        kernel->fn(&args);
    }
    free(scratch);
}

static inline void case_buffers(const Case *c, void *out[CASE_MAX_OUT])
{
    for (int r = 0; r < CASE_MAX_OUT; r++) {
        out[r] = c->out_bytes[r] ? case_buffer(c->out_bytes[r]) : NULL;
    }
}

/* All variants, fused or not as `fused` is, over uneven shares: the bytes must be `out`'s. */
static inline void case_run_others(const Case *c, int fused, void *const out[CASE_MAX_OUT])
{
    for (int32_t i = 0; i < vfk_kernel_count; i++) {
        const VfkKernel *kernel = &vfk_kernel_table[i];
        if (strcmp(kernel->name, c->name) != 0 || !case_can_run(kernel) ||
            !(fused ? case_is_fused(kernel) : case_is_exact(kernel))) {
            continue;
        }
        void *other[CASE_MAX_OUT];
        case_buffers(c, other);
        case_call(c, kernel, other, c->units > 6 ? c->units / 3 - 1 : 1);
        for (int r = 0; r < CASE_MAX_OUT; r++) {
            ck_assert_msg(!out[r] || memcmp(out[r], other[r], c->out_bytes[r]) == 0,
                          "%s: result %d differs from %s", kernel->symbol, r,
                          fused ? "the first that is fused" : "ref");
            free(other[r]);
        }
    }
}

/* Results of ref in `out`, which the caller frees with case_free(). */
static inline void case_run(const Case *c, void *out[CASE_MAX_OUT])
{
    const VfkKernel *ref = vfk_kernel_find(c->name, VFK_REFERENCE);
    const VfkKernel *fused = case_find_fused(c->name);
    ck_assert_msg(ref != NULL, "no kernel %s", c->name);
    case_buffers(c, out);
    case_call(c, ref, out, c->units > 0 ? c->units : 1);
    case_run_others(c, 0, out);
    if (fused != NULL) {
        void *other[CASE_MAX_OUT];
        case_buffers(c, other);
        case_call(c, fused, other, c->units > 0 ? c->units : 1);
        case_run_others(c, 1, other);
        for (int r = 0; r < CASE_MAX_OUT; r++) {
            free(other[r]);
        }
    }
}

static inline void case_free(void *out[CASE_MAX_OUT])
{
    for (int r = 0; r < CASE_MAX_OUT; r++) {
        free(out[r]);
    }
}

/* case_run(), and the variants blas and fma within `tolerance` of ref (absolute); result 0 is
 * f32 or, with `is_f64`, f64. */
static inline void case_run_close(const Case *c, void *out[CASE_MAX_OUT], int is_f64,
                                  double tolerance)
{
    case_run(c, out);
    for (int32_t i = 0; i < vfk_kernel_count; i++) {
        const VfkKernel *kernel = &vfk_kernel_table[i];
        if (strcmp(kernel->name, c->name) != 0 || !case_can_run(kernel) ||
            case_is_exact(kernel)) {
            continue;
        }
        void *other[CASE_MAX_OUT] = {case_buffer(c->out_bytes[0]), NULL, NULL};
        case_call(c, kernel, other, 1);
        for (size_t k = 0; k < c->out_bytes[0] / (is_f64 ? 8 : 4); k++) {
            double p = is_f64 ? ((double *)out[0])[k] : (double)((float *)out[0])[k];
            double q = is_f64 ? ((double *)other[0])[k] : (double)((float *)other[0])[k];
            ck_assert_msg(fabs(p - q) <= tolerance, "%s: element %zu is %g, not %g",
                          kernel->symbol, k, q, p);
        }
        free(other[0]);
    }
}

/* Run kernel `name` in place on a copy of in[0]: the bytes must be those of `expected`, or, of a
 * fused variant, those of a run that is not in place. */
static inline void case_in_place(const Case *c, const void *expected)
{
    for (int32_t i = 0; i < vfk_kernel_count; i++) {
        const VfkKernel *kernel = &vfk_kernel_table[i];
        if (strcmp(kernel->name, c->name) != 0 || !case_can_run(kernel)) {
            continue;
        }
        ck_assert(kernel->flags & VFK_IN_PLACE);
        void *buffer = case_buffer(c->out_bytes[0]);
        void *own[CASE_MAX_OUT];
        case_buffers(c, own);
        case_call(c, kernel, own, c->units > 0 ? c->units : 1);
        memcpy(buffer, c->in[0], c->out_bytes[0]);
        Case same = *c;
        same.in[0] = buffer;
        void *out[CASE_MAX_OUT] = {buffer, NULL, NULL};
        case_call(&same, kernel, out, c->units > 2 ? c->units / 2 : 1);
        ck_assert_msg(memcmp(buffer, case_is_fused(kernel) ? own[0] : expected,
                             c->out_bytes[0]) == 0, "%s in place", kernel->symbol);
        free(buffer);
        case_free(own);
    }
}

/* Numbers in [-1, 1), the same in every run. */
static inline double case_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(*state >> 11) / 4503599627370496.0 - 1.0;
}

static inline float *case_floats(size_t n, uint64_t seed)
{
    float *x = case_buffer(n * sizeof(float));
    for (size_t i = 0; i < n; i++) {
        x[i] = (float)case_random(&seed);
    }
    return x;
}

static inline double *case_doubles(size_t n, uint64_t seed)
{
    double *x = case_buffer(n * sizeof(double));
    for (size_t i = 0; i < n; i++) {
        x[i] = case_random(&seed);
    }
    return x;
}

/* One suite of loop tests over rows. */
static inline void case_add(Suite *suite, const char *name, const TTest *test, int rows)
{
    TCase *tcase = tcase_create(name);
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, test, 0, rows);
    suite_add_tcase(suite, tcase);
}

#endif
