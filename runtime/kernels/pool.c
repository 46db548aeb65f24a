#include "runtime/kernels/conv_unfold.h"

/* One window: along each axis the first input position that lies inside, the number of taps
 * inside the input, and the number inside the padded input. */
typedef struct Window {
    int64_t first[3];
    int64_t taps[3];
    int64_t padded_taps;
} Window;

/* Taps t < kernel with start + t * dilation below `limit`; start may be above it. */
static int64_t taps_below(int64_t start, int64_t dilation, int64_t limit, int64_t kernel)
{
    if (start >= limit) {
        return 0;
    }
    return vfk_min_i64(kernel, (limit - start + dilation - 1) / dilation);
}

static Window window_at(const VfkPoolParams *params, int64_t pixel)
{
    Window window = {.padded_taps = 1};
    for (int axis = 2; axis >= 0; axis--) {
        const int64_t out = pixel % params->out_dim[axis], dilation = params->dilation[axis];
        const int64_t start = out * params->stride[axis] - params->pad[axis];
        const int64_t dim = params->in_dim[axis], kernel = params->kernel[axis];
        const int64_t outside = taps_below(start, dilation, 0, kernel);
        pixel /= params->out_dim[axis];
        window.first[axis] = start + outside * dilation;
        window.taps[axis] = taps_below(start, dilation, dim, kernel) - outside;
        window.padded_taps *= taps_below(start, dilation, dim + params->pad_end[axis], kernel);
    }
    return window;
}

/* Run `body` for every tap of `window` inside the input: v is the element, at its position in
 * the plane, d, h and w its coordinates. */
#define FOR_TAPS(T, plane, body) \
    for (int64_t td = 0; td < window.taps[0]; td++) { \
        for (int64_t th = 0; th < window.taps[1]; th++) { \
            const int64_t d = window.first[0] + td * params->dilation[0]; \
            const int64_t h = window.first[1] + th * params->dilation[1]; \
            const int64_t line = (d * params->in_dim[1] + h) * params->in_dim[2]; \
            for (int64_t tw = 0; tw < window.taps[2]; tw++) { \
                const int64_t w = window.first[2] + tw * params->dilation[2]; \
                const int64_t at = line + w; \
                const T v = (plane)[at]; \
                body \
            } \
        } \
    }

/* The first position inside the input, 0 if there is none. */
static int64_t first_tap(const VfkPoolParams *params, const Window *window)
{
    const int64_t *first = window->first;
    if (vfk_volume(window->taps) == 0) {
        return 0;
    }
    return (first[0] * params->in_dim[1] + first[1]) * params->in_dim[2] + first[2];
}

/* Position in a plane with the last axis slowest. */
static int64_t column_major(const VfkPoolParams *params, int64_t at)
{
    const int64_t w = at % params->in_dim[2], rest = at / params->in_dim[2];
    const int64_t h = rest % params->in_dim[1], d = rest / params->in_dim[1];
    return (w * params->in_dim[1] + h) * params->in_dim[0] + d;
}

#define MAX_POOL(dtype, T, lowest) \
    void VFK_FN(max_pool, dtype)(const VfkArgs *args) \
    { \
        const VfkPoolParams *params = args->params; \
        const int64_t pixels = vfk_volume(params->out_dim), in_plane = vfk_volume(params->in_dim); \
        int64_t *indices = args->out[1]; \
        for (int64_t u = args->begin; u < args->end; u++) { \
            const T *x = (const T *)args->in[0] + u * in_plane; \
            T *y = (T *)args->out[0] + u * pixels; \
            for (int64_t i = 0; i < pixels; i++) { \
                const Window window = window_at(params, i); \
                T best = lowest; \
                int64_t best_at = first_tap(params, &window); /* all may be `lowest` */ \
                FOR_TAPS(T, x, { \
                    const int better = v > best || v != v; \
                    best_at = better ? at : best_at; \
                    best = better ? v : best; \
                    (void)w; \
                }) \
                y[i] = best; \
                if (indices) { \
                    const int64_t in = \
                        params->column_major ? column_major(params, best_at) : best_at; \
                    indices[u * pixels + i] = u * in_plane + in; \
                } \
            } \
        } \
    }

#define OTHER_POOLS(dtype, T) \
    void VFK_FN(average_pool, dtype)(const VfkArgs *args) \
    { \
        const VfkPoolParams *params = args->params; \
        const int64_t pixels = vfk_volume(params->out_dim), in_plane = vfk_volume(params->in_dim); \
        for (int64_t u = args->begin; u < args->end; u++) { \
            const T *x = (const T *)args->in[0] + u * in_plane; \
            T *y = (T *)args->out[0] + u * pixels; \
            for (int64_t i = 0; i < pixels; i++) { \
                const Window window = window_at(params, i); \
                const int64_t inside = vfk_volume(window.taps); \
                const int64_t count = params->count_include_pad ? window.padded_taps : inside; \
                double sum = 0.0; \
                FOR_TAPS(T, x, { sum += (double)v; }) \
                y[i] = count ? (T)(sum / (double)count) : (T)0; \
            } \
        } \
    } \
    void VFK_FN(lp_pool, dtype)(const VfkArgs *args) \
    { \
        const VfkPoolParams *params = args->params; \
        const int64_t pixels = vfk_volume(params->out_dim), in_plane = vfk_volume(params->in_dim); \
        const double p = (double)params->p; \
        for (int64_t u = args->begin; u < args->end; u++) { \
            const T *x = (const T *)args->in[0] + u * in_plane; \
            T *y = (T *)args->out[0] + u * pixels; \
            for (int64_t i = 0; i < pixels; i++) { \
                const Window window = window_at(params, i); \
                double sum = 0.0; \
                FOR_TAPS(T, x, { sum += pow(fabs((double)v), p); }) \
                y[i] = (T)pow(sum, 1.0 / p); \
            } \
        } \
    }

MAX_POOL(f32, float, -INFINITY)
MAX_POOL(f64, double, (double)-INFINITY)
MAX_POOL(u8, uint8_t, 0)
MAX_POOL(i8, int8_t, INT8_MIN)
OTHER_POOLS(f32, float)
OTHER_POOLS(f64, double)
