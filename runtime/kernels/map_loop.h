/* The loop of the elementwise kernels of one operand. Internal to runtime/kernels.
 *
 * Operand and result are the same buffer or do not overlap at all. The two cases are two
 * loops, so that neither has aliasing to fear and both compile to straight vector code.
 */
#ifndef VFK_MAP_LOOP_H
#define VFK_MAP_LOOP_H

#include "runtime/kernels/variant.h"

/* y[i] = expr for the units of `args`; `expr` is in terms of v, the element. */
#define VFK_MAP_LOOP(T, args, expr) \
    { \
        const T *restrict x = (args)->in[0]; \
        T *restrict y = (args)->out[0]; \
        T *same = (args)->out[0]; \
        if ((args)->in[0] == (args)->out[0]) { \
            for (int64_t i = (args)->begin; i < (args)->end; i++) { \
                const T v = same[i]; \
                same[i] = (expr); \
            } \
        } else { \
            for (int64_t i = (args)->begin; i < (args)->end; i++) { \
                const T v = x[i]; \
                y[i] = (expr); \
            } \
        } \
    }

/* Define kernel op_dtype: `expr` in terms of v (element), a and b (params as T). */
#define VFK_MAP(op, dtype, T, expr) \
    void VFK_FN(op, dtype)(const VfkArgs *args) \
    { \
        const VfkMapParams *params = args->params; \
        const T a = (T)params->alpha, b = (T)params->beta; \
        (void)a; \
        (void)b; \
        VFK_MAP_LOOP(T, args, expr) \
    }

/* Define clip: operands 1 and 2 are the least and greatest value, or else the given ones. */
#define VFK_MAP_CLIP(dtype, T, lowest, highest) \
    void VFK_FN(clip, dtype)(const VfkArgs *args) \
    { \
        const T *lo = args->in[1], *hi = args->in[2]; \
        const T a = lo ? *lo : (lowest), b = hi ? *hi : (highest); \
        VFK_MAP_LOOP(T, args, (v < a ? a : v) > b ? b : (v < a ? a : v)) \
    }

#endif
