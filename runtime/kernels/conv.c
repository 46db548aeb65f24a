#include "runtime/kernels/conv_unfold.h"
#include "runtime/kernels/gemm.h"

/* The unfolded matrix is at the front of scratch, the packed panels behind it. */
#define CONV(dtype, T) \
    static void unit_##dtype(const VfkArgs *args, const VfkConvUnit *unit) \
    { \
        const VfkConvParams *params = args->params; \
        const int64_t depth = params->in_channels * vfk_volume(params->kernel); \
        const size_t unfolded = (size_t)(depth * params->block_cols) * sizeof(T); \
        const T *x = (const T *)args->in[0] + unit->x; \
        Gemm_##dtype g = {.a = (const T *)args->in[1] + unit->weight, \
                          .b = args->scratch, \
                          .c = (T *)args->out[0] + unit->y, \
                          .m = params->out_channels, \
                          .n = unit->pixels, \
                          .k = depth, \
                          .a_row = depth, \
                          .a_col = 1, \
                          .b_row = unit->pixels, \
                          .b_col = 1, \
                          .c_row = vfk_volume(params->out_dim)}; \
        if (vfk_conv_is_plain(params)) { \
            g.b = x + unit->pixel; \
            g.b_row = g.c_row; \
        } else { \
            unfold_##dtype(params, unit, x, args->scratch); \
        } \
        gemm_##dtype(&g, (char *)args->scratch + (unfolded + 63) / 64 * 64); \
        const T *bias = args->in[2]; \
        for (int64_t o = 0; bias && o < params->out_channels; o++) { \
            const T shift = bias[unit->channel + o]; \
            for (int64_t i = 0; i < unit->pixels; i++) { \
                g.c[o * g.c_row + i] += shift; \
            } \
        } \
    } \
    void VFK_FN(conv, dtype)(const VfkArgs *args) \
    { \
        for (int64_t u = args->begin; u < args->end; u++) { \
            const VfkConvUnit unit = vfk_conv_unit(args->params, u); \
            unit_##dtype(args, &unit); \
        } \
    }

CONV(f32, float)
CONV(f64, double)
