#include "runtime/kernels/variant.h"

#define RESAMPLE(dtype, T) \
    /* One output slice: y = sum of weighted input slices of `plane`. */ \
    static void slice_##dtype(const VfkResampleParams *params, const T *restrict plane, \
                              const int64_t *index, const T *weight, T *restrict y) \
    { \
        const int64_t inner = params->inner; \
        if (index[0] < 0) { \
            for (int64_t i = 0; i < inner; i++) { \
                y[i] = (T)params->extrapolation; \
            } \
            return; \
        } \
        for (int64_t i = 0; i < inner; i++) { \
            y[i] = weight[0] * plane[index[0] * inner + i]; \
        } \
        for (int64_t t = 1; t < params->taps; t++) { \
            const T *restrict x = plane + index[t] * inner; \
            const T w = weight[t]; \
            for (int64_t i = 0; i < inner; i++) { \
                y[i] += w * x[i]; \
            } \
        } \
    } \
    void VFK_FN(resample, dtype)(const VfkArgs *args) \
    { \
        const VfkResampleParams *params = args->params; \
        const int64_t *index = args->in[1], taps = params->taps; \
        const T *weight = args->in[2]; \
        for (int64_t u = args->begin; u < args->end; u++) { \
            const int64_t o = u / params->n_out, j = u % params->n_out; \
            const T *plane = (const T *)args->in[0] + o * params->n_in * params->inner; \
            slice_##dtype(params, plane, index + j * taps, weight + j * taps, \
                          (T *)args->out[0] + u * params->inner); \
        } \
    }

RESAMPLE(f32, float)
RESAMPLE(f64, double)
