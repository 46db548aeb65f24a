#include "runtime/kernels/variant.h"

/* First scale of row `unit` (outer * n + a). */
static int64_t scale_of_row(const VfkQuantizeParams *params, int64_t unit)
{
    return unit / params->n * params->scale_outer +
           unit % params->n / params->block * params->scale_axis;
}

/* x / scale rounded half to even, plus zero, clamped to [least, most]; NaN gives zero. */
static inline float to_steps(float x, float scale, float zero, float least, float most)
{
    float v = rintf(x / scale) + zero;
    v = v > most ? most : v;
    v = v < least ? least : v;
    return v != v ? zero : v;
}

#define QUANTIZE(dtype, T, least, most) \
    void VFK_FN(quantize_f32, dtype)(const VfkArgs *args) \
    { \
        const VfkQuantizeParams *params = args->params; \
        const float *scale = args->in[1]; \
        const T *zero = args->in[2]; \
        const int64_t inner = params->inner, step = params->scale_inner; \
        for (int64_t u = args->begin; u < args->end; u++) { \
            const float *x = (const float *)args->in[0] + u * inner; \
            T *y = (T *)args->out[0] + u * inner; \
            const int64_t at = scale_of_row(params, u); \
            for (int64_t i = 0; i < inner; i++) { \
                const float z = zero ? (float)zero[at + i * step] : 0.0f; \
                y[i] = (T)to_steps(x[i], scale[at + i * step], z, least, most); \
            } \
        } \
    }

#define DEQUANTIZE(dtype, T) \
    void VFK_FN(dequantize_##dtype, f32)(const VfkArgs *args) \
    { \
        const VfkQuantizeParams *params = args->params; \
        const float *scale = args->in[1]; \
        const T *zero = args->in[2]; \
        const int64_t inner = params->inner, step = params->scale_inner; \
        for (int64_t u = args->begin; u < args->end; u++) { \
            const T *x = (const T *)args->in[0] + u * inner; \
            float *y = (float *)args->out[0] + u * inner; \
            const int64_t at = scale_of_row(params, u); \
            for (int64_t i = 0; i < inner; i++) { \
                const int64_t z = zero ? zero[at + i * step] : 0; \
                y[i] = (float)(x[i] - z) * scale[at + i * step]; \
            } \
        } \
    }

QUANTIZE(u8, uint8_t, 0.0f, 255.0f)
QUANTIZE(i8, int8_t, -128.0f, 127.0f)
QUANTIZE(u16, uint16_t, 0.0f, 65535.0f)
QUANTIZE(i16, int16_t, -32768.0f, 32767.0f)
DEQUANTIZE(u8, uint8_t)
DEQUANTIZE(i8, int8_t)
DEQUANTIZE(u16, uint16_t)
DEQUANTIZE(i16, int16_t)
DEQUANTIZE(i32, int32_t)

/* The range always holds 0. A range of nothing gets scale 1. */
void VFK_FN(dynamic_quantize, f32)(const VfkArgs *args)
{
    const VfkDynamicQuantizeParams *params = args->params;
    const float *x = args->in[0];
    uint8_t *y = args->out[0], *zero = args->out[2];
    float least = 0.0f, most = 0.0f, *scale = args->out[1];
    if (args->begin >= args->end) {
        return;
    }
    for (int64_t i = 0; i < params->n; i++) {
        least = x[i] < least ? x[i] : least;
        most = x[i] > most ? x[i] : most;
    }
    *scale = most == least ? 1.0f : (most - least) / 255.0f;
    *zero = (uint8_t)to_steps(-least, *scale, 0.0f, 0.0f, 255.0f);
    for (int64_t i = 0; i < params->n; i++) {
        y[i] = (uint8_t)to_steps(x[i], *scale, (float)*zero, 0.0f, 255.0f);
    }
}
