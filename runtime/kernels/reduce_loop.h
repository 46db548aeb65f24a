/* The loops of the reductions. Internal to runtime/kernels.
 *
 * Accumulators are of one type per family: double for floats, int64_t for integers (uint64_t for
 * u64), which hold every element exactly. Two paths: `lanes` when the last reduced axis is
 * contiguous, thirty-two accumulators merged in a tree at the end; `columns` otherwise, outputs
 * side by side, each adding its elements one after the other.
 */
#ifndef VFK_REDUCE_LOOP_H
#define VFK_REDUCE_LOOP_H

#include "runtime/kernels/lanes.h"
#include "runtime/kernels/variant.h"
#include "runtime/kernels/walk.h"

enum { VFK_LANES = 2 * VFK_SIXTEEN, VFK_COLUMNS = 64 };

static inline int64_t vfk_product(int64_t rank, const int64_t *dim)
{
    int64_t n = 1;
    for (int64_t i = 0; i < rank; i++) {
        n *= dim[i];
    }
    return n;
}

/* The kept and the reduced index space of `params`; the latter without its last axis. */
static inline VfkWalk vfk_keep_walk(const VfkReduceParams *params)
{
    return (VfkWalk){.rank = params->keep_rank,
                     .dim = params->keep_dim,
                     .stride = {params->keep_stride, NULL, NULL}};
}

static inline VfkWalk vfk_red_walk(const VfkReduceParams *params)
{
    return (VfkWalk){.rank = params->red_rank > 0 ? params->red_rank - 1 : 0,
                     .dim = params->red_dim,
                     .stride = {params->red_stride, NULL, NULL}};
}

/* Functions of one reduction over T with accumulators A. */
#define VFK_REDUCE_TYPES(dtype, T, A) \
    typedef struct Reduction_##dtype { \
        A init; \
        void (*lanes)(A lane[VFK_LANES], const T *x, int64_t n); \
        void (*columns)(A *acc, const T *x, int64_t n); \
        A (*merge)(A lane[VFK_LANES]); \
        A (*finish)(A acc, int64_t count); \
    } Reduction_##dtype; \
    static void lanes_##dtype(const VfkArgs *args, const Reduction_##dtype *op) \
    { \
        const VfkReduceParams *params = args->params; \
        const int64_t n = params->red_dim[params->red_rank - 1]; \
        const int64_t rows = vfk_product(params->red_rank - 1, params->red_dim); \
        VfkWalk keep = vfk_keep_walk(params), red = vfk_red_walk(params); \
        vfk_walk_seek(&keep, args->begin); \
        for (int64_t u = args->begin; u < args->end; u++) { \
            A lane[VFK_LANES]; \
            for (int l = 0; l < VFK_LANES; l++) { \
                lane[l] = op->init; \
            } \
            vfk_walk_seek(&red, 0); \
            for (int64_t r = 0; r < rows && n > 0; r++) { \
                op->lanes(lane, (const T *)args->in[0] + keep.offset[0] + red.offset[0], n); \
                vfk_walk_next(&red, red.rank - 1); \
            } \
            ((T *)args->out[0])[u] = (T)op->finish(op->merge(lane), rows * n); \
            vfk_walk_next(&keep, keep.rank - 1); \
        } \
    } \
    static void columns_##dtype(const VfkArgs *args, const Reduction_##dtype *op) \
    { \
        const VfkReduceParams *params = args->params; \
        const int64_t last = params->red_rank - 1, k = params->keep_rank - 1; \
        const int64_t n = last < 0 ? 1 : params->red_dim[last]; \
        const int64_t step = last < 0 ? 0 : params->red_stride[last]; \
        const int64_t rows = last < 0 ? 1 : vfk_product(last, params->red_dim); \
        const int64_t most = k >= 0 && params->keep_stride[k] == 1 ? VFK_COLUMNS : 1; \
        VfkWalk keep = vfk_keep_walk(params), red = vfk_red_walk(params); \
        vfk_walk_seek(&keep, args->begin); \
        for (int64_t u = args->begin, width; u < args->end; u += width) { \
            A acc[VFK_COLUMNS]; \
            width = vfk_min_i64(vfk_walk_run(&keep, args->end - u), most); \
            for (int64_t c = 0; c < width; c++) { \
                acc[c] = op->init; \
            } \
            vfk_walk_seek(&red, 0); \
            for (int64_t r = 0; r < rows && n > 0; r++) { \
                const T *x = (const T *)args->in[0] + keep.offset[0] + red.offset[0]; \
                for (int64_t i = 0; i < n; i++) { \
                    op->columns(acc, x + i * step, width); \
                } \
                vfk_walk_next(&red, red.rank - 1); \
            } \
            for (int64_t c = 0; c < width; c++) { \
                ((T *)args->out[0])[u + c] = (T)op->finish(acc[c], rows * n); \
            } \
            vfk_walk_skip(&keep, width); \
        } \
    } \
    static void reduce_##dtype(const VfkArgs *args, const Reduction_##dtype *op) \
    { \
        const VfkReduceParams *params = args->params; \
        if (args->begin >= args->end) { \
            return; \
        } \
        if (params->red_rank > 0 && params->red_stride[params->red_rank - 1] == 1) { \
            lanes_##dtype(args, op); \
        } else { \
            columns_##dtype(args, op); \
        } \
    }

/* Define kernel op_dtype. step(a, v) is an expression in accumulator a and element v, merge in
 * a and b, finish in a and count. */
#define VFK_REDUCE(op, dtype, T, A, first, step, joined, result) \
    static void op##_lanes_##dtype(A lane[VFK_LANES], const T *x, int64_t n) \
    { \
        A local[VFK_LANES]; \
        int64_t i = 0; \
        memcpy(local, lane, sizeof local); \
        for (; i + VFK_LANES <= n; i += VFK_LANES) { \
            for (int l = 0; l < VFK_LANES; l++) { \
                const A a = local[l], v = (A)x[i + l]; \
                local[l] = (step); \
            } \
        } \
        for (int l = 0; i < n; i++, l++) { \
            const A a = local[l], v = (A)x[i]; \
            local[l] = (step); \
        } \
        memcpy(lane, local, sizeof local); \
    } \
    static void op##_columns_##dtype(A *acc, const T *x, int64_t n) \
    { \
        for (int64_t i = 0; i < n; i++) { \
            const A a = acc[i], v = (A)x[i]; \
            acc[i] = (step); \
        } \
    } \
    static A op##_merge_##dtype(A lane[VFK_LANES]) \
    { \
        VFK_MERGE_STEP(A, lane, VFK_SIXTEEN, joined) \
        VFK_MERGE(A, lane, joined) \
        return lane[0]; \
    } \
    static A op##_finish_##dtype(A a, int64_t count) \
    { \
        (void)count; \
        return (result); \
    } \
    void VFK_FN(op, dtype)(const VfkArgs *args) \
    { \
        static const Reduction_##dtype reduction = {first, op##_lanes_##dtype, \
                                                    op##_columns_##dtype, op##_merge_##dtype, \
                                                    op##_finish_##dtype}; \
        reduce_##dtype(args, &reduction); \
    }

#endif
