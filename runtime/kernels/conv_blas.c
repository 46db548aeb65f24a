#include <cblas.h>

#include "runtime/kernels/conv_unfold.h"

/* The bias is put first and the product added to it. One pixel or one channel is a product with
 * a vector. Dimensions fit int (vfk_fits_int): lowering chooses another variant where they
 * do not. */
#define CONV(dtype, T, gemm) \
    static void blas_unit_##dtype(const VfkArgs *args, const VfkConvUnit *unit) \
    { \
        const VfkConvParams *params = args->params; \
        const int64_t depth = params->in_channels * vfk_volume(params->kernel); \
        const int64_t total = vfk_volume(params->out_dim); \
        const T *x = (const T *)args->in[0] + unit->x, *rows = args->scratch; \
        const T *bias = args->in[2]; \
        T *y = (T *)args->out[0] + unit->y; \
        int64_t ldb = unit->pixels; \
        if (vfk_conv_is_plain(params)) { \
            rows = x + unit->pixel; \
            ldb = total; \
        } else { \
            unfold_##dtype(params, unit, x, args->scratch); \
        } \
        for (int64_t o = 0; (bias || depth == 0) && o < params->out_channels; o++) { \
            const T shift = bias ? bias[unit->channel + o] : 0; \
            for (int64_t i = 0; i < unit->pixels; i++) { \
                y[o * total + i] = shift; \
            } \
        } \
        if (depth > 0) { \
            gemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)params->out_channels, \
                 (int)unit->pixels, (int)depth, (T)1, (const T *)args->in[1] + unit->weight, \
                 (int)depth, rows, (int)ldb, bias ? (T)1 : (T)0, y, (int)total); \
        } \
    } \
    void VFK_PASTE(conv, dtype, blas)(const VfkArgs *args) \
    { \
        for (int64_t u = args->begin; u < args->end; u++) { \
            const VfkConvUnit unit = vfk_conv_unit(args->params, u); \
            blas_unit_##dtype(args, &unit); \
        } \
    }

CONV(f32, float, cblas_sgemm)
CONV(f64, double, cblas_dgemm)
