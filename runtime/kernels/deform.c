#include "runtime/kernels/variant.h"

enum { DEFORM_BLOCK = 64 }; /* places whose pixels are found before any channel is read */

#define DEFORM(dtype, T) \
    /* Four pixels of a plane, -1 where there is none, and their weights. */ \
    typedef struct DeformTap_##dtype { \
        int64_t at[4]; \
        T weight[4]; \
        T factor; \
    } DeformTap_##dtype; \
    static DeformTap_##dtype deform_tap_##dtype(const int64_t dim[2], T y, T x, T factor) \
    { \
        DeformTap_##dtype tap = {{-1, -1, -1, -1}, {0}, factor}; \
        if (!(y > -1 && y < (T)dim[0] && x > -1 && x < (T)dim[1])) { \
            return tap; \
        } \
        const T above = (T)floor((double)y), before = (T)floor((double)x); \
        const T down = y - above, right = x - before; \
        for (int k = 0; k < 4; k++) { \
            const int64_t row = (int64_t)above + k / 2, col = (int64_t)before + k % 2; \
            const int inside = row >= 0 && row < dim[0] && col >= 0 && col < dim[1]; \
            tap.at[k] = inside ? row * dim[1] + col : -1; \
            tap.weight[k] = (k / 2 ? down : 1 - down) * (k % 2 ? right : 1 - right); \
        } \
        return tap; \
    } \
    /* What tap `t` of the kernel sees at places from `first` on; offset and mask are its own. */ \
    static void deform_taps_##dtype(const VfkDeformParams *params, int64_t t, int64_t first, \
                                    int64_t n, const T *offset, const T *mask, \
                                    DeformTap_##dtype *tap) \
    { \
        const int64_t width = params->out_dim[1], places = params->out_dim[0] * width; \
        const int64_t *stride = params->stride, *dilation = params->dilation; \
        const int64_t down = t / params->kernel[1] * dilation[0] - params->pad[0]; \
        const int64_t right = t % params->kernel[1] * dilation[1] - params->pad[1]; \
        for (int64_t i = 0; i < n; i++) { \
            const int64_t p = first + i; \
            const T y = (T)(p / width * stride[0] + down) + offset[p]; \
            const T x = (T)(p % width * stride[1] + right) + offset[places + p]; \
            tap[i] = deform_tap_##dtype(params->in_dim, y, x, mask ? mask[p] : 1); \
        } \
    } \
    static T deform_value_##dtype(const T *x, int64_t first, const DeformTap_##dtype *tap) \
    { \
        T sum = 0; \
        for (int k = 0; k < 4; k++) { \
            sum += tap->at[k] < 0 ? 0 : tap->weight[k] * x[first + tap->at[k]]; \
        } \
        return sum * tap->factor; \
    } \
    void VFK_FN(deform, dtype)(const VfkArgs *args) \
    { \
        const VfkDeformParams *params = args->params; \
        const int64_t taps = params->kernel[0] * params->kernel[1]; \
        const int64_t places = params->out_dim[0] * params->out_dim[1]; \
        const int64_t plane = params->in_dim[0] * params->in_dim[1]; \
        const int64_t channels = params->channels / params->groups; \
        const T *x = args->in[0], *offset = args->in[1], *mask = args->in[2]; \
        DeformTap_##dtype tap[DEFORM_BLOCK]; \
        for (int64_t u = args->begin; u < args->end; u++) { \
            for (int64_t p = 0; p < places; p += DEFORM_BLOCK) { \
                const int64_t n = vfk_min_i64(DEFORM_BLOCK, places - p); \
                deform_taps_##dtype(params, u % taps, p, n, offset + 2 * u * places, \
                                    mask ? mask + u * places : NULL, tap); \
                for (int64_t c = 0; c < channels; c++) { \
                    const int64_t channel = u / taps * channels + c; \
                    T *y = (T *)args->out[0] + (channel * taps + u % taps) * places + p; \
                    for (int64_t i = 0; i < n; i++) { \
                        y[i] = deform_value_##dtype(x, channel * plane, &tap[i]); \
                    } \
                } \
            } \
        } \
    }

DEFORM(f32, float)
DEFORM(f64, double)
