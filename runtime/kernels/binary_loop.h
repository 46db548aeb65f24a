/* The loops of the elementwise kernels of two operands. Internal to runtime/kernels. */
#ifndef VFK_BINARY_LOOP_H
#define VFK_BINARY_LOOP_H

#include "runtime/kernels/variant.h"
#include "runtime/kernels/walk.h"

/* One run along the last axis: strides are of that axis. */
typedef void VfkBinaryRow(const void *a, int64_t stride_a, const void *b, int64_t stride_b,
                          void *out, int64_t n);

/* Call `row` for the runs of the units of `args`. Sizes are those of operand and result
 * elements. */
static inline void vfk_binary_rows(const VfkArgs *args, int64_t in_bytes, int64_t out_bytes,
                                   VfkBinaryRow *row)
{
    const VfkBinaryParams *params = args->params;
    VfkWalk walk = {.rank = params->rank,
                    .dim = params->dim,
                    .stride = {params->stride_a, params->stride_b, NULL}};
    int64_t last = params->rank - 1;
    int64_t stride_a = last < 0 ? 0 : params->stride_a[last];
    int64_t stride_b = last < 0 ? 0 : params->stride_b[last];
    if (args->begin >= args->end) {
        return;
    }
    vfk_walk_seek(&walk, args->begin);
    for (int64_t i = args->begin; i < args->end;) {
        int64_t n = vfk_walk_run(&walk, args->end - i);
        row((const char *)args->in[0] + walk.offset[0] * in_bytes, stride_a,
            (const char *)args->in[1] + walk.offset[1] * in_bytes, stride_b,
            (char *)args->out[0] + i * out_bytes, n);
        vfk_walk_skip(&walk, n);
        i += n;
    }
}

/* out[i] = expr in terms of p and q; `out` overlaps neither operand. */
#define VFK_BINARY_APART(T, U, expr) \
    { \
        const T *restrict pa = a, *restrict pb = b; \
        U *restrict y = out; \
        if (stride_a == 1 && stride_b == 1) { \
            for (int64_t i = 0; i < n; i++) { \
                const T p = pa[i], q = pb[i]; \
                y[i] = (expr); \
            } \
        } else if (stride_a == 1 && stride_b == 0) { \
            const T q = *pb; \
            for (int64_t i = 0; i < n; i++) { \
                const T p = pa[i]; \
                y[i] = (expr); \
            } \
        } else if (stride_a == 0 && stride_b == 1) { \
            const T p = *pa; \
            for (int64_t i = 0; i < n; i++) { \
                const T q = pb[i]; \
                y[i] = (expr); \
            } \
        } else { \
            for (int64_t i = 0; i < n; i++) { \
                const T p = pa[i * stride_a], q = pb[i * stride_b]; \
                y[i] = (expr); \
            } \
        } \
    }

/* The same where `out` is operand a, contiguous; b may be that buffer too. */
#define VFK_BINARY_SAME(T, expr) \
    { \
        T *y = out; \
        const T *restrict pb = b; \
        if (a == b && stride_b == 1) { \
            for (int64_t i = 0; i < n; i++) { \
                const T p = y[i], q = p; \
                y[i] = (expr); \
            } \
        } else if (stride_b == 0) { \
            const T q = *pb; \
            for (int64_t i = 0; i < n; i++) { \
                const T p = y[i]; \
                y[i] = (expr); \
            } \
        } else if (stride_b == 1) { \
            for (int64_t i = 0; i < n; i++) { \
                const T p = y[i], q = pb[i]; \
                y[i] = (expr); \
            } \
        } else { \
            for (int64_t i = 0; i < n; i++) { \
                const T p = y[i], q = pb[i * stride_b]; \
                y[i] = (expr); \
            } \
        } \
    }

/* Define kernel op_dtype with operands T and result U, fast apart and in place. */
#define VFK_BINARY_FAST(op, dtype, T, expr) \
    static void row_##op##_##dtype(const void *a, int64_t stride_a, const void *b, \
                                   int64_t stride_b, void *out, int64_t n) \
    { \
        if (a == out && stride_a == 1) \
            VFK_BINARY_SAME(T, expr) \
        else \
            VFK_BINARY_APART(T, T, expr) \
    } \
    VFK_BINARY_KERNEL(op, dtype, T, T)

/* The kernel around row_op_dtype. */
#define VFK_BINARY_KERNEL(op, dtype, T, U) \
    void VFK_FN(op, dtype)(const VfkArgs *args) \
    { \
        vfk_binary_rows(args, (int64_t)sizeof(T), (int64_t)sizeof(U), row_##op##_##dtype); \
    }

/* Define kernel op_dtype with one plain loop, for what is rare: less code. */
#define VFK_BINARY(op, dtype, T, U, expr) \
    static void row_##op##_##dtype(const void *a, int64_t stride_a, const void *b, \
                                   int64_t stride_b, void *out, int64_t n) \
    { \
        const T *pa = a, *pb = b; \
        U *y = out; \
        for (int64_t i = 0; i < n; i++) { \
            const T p = pa[i * stride_a], q = pb[i * stride_b]; \
            y[i] = (U)(expr); \
        } \
    } \
    VFK_BINARY_KERNEL(op, dtype, T, U)

#endif
