#include "runtime/kernels/variant.h"

enum { BILINEAR, NEAREST, BICUBIC };
enum { ZEROS, BORDER, REFLECTION };

/* Taps along one axis: up to four input positions with weights; -1 reads a zero. */
#define AXIS(dtype, T) \
    typedef struct Axis_##dtype { \
        int64_t at[4]; \
        T weight[4]; \
        int n; \
    } Axis_##dtype; \
    /* The input coordinate of grid value g. It is brought near the input, where a change makes \
     * no difference to what padding gives, so that it fits an integer. */ \
    static T coordinate_##dtype(const VfkGridSampleParams *params, T g, int64_t dim) \
    { \
        const T n = (T)dim, value = g != g ? (T)-1 : g; \
        T x = params->align_corners ? (value + 1) / 2 * (n - 1) : ((value + 1) * n - 1) / 2; \
        if (params->padding == REFLECTION) { \
            const T low = params->align_corners ? (T)0 : (T)-0.5; \
            const T span = params->align_corners ? n - 1 : n; \
            const T turn = span > 0 ? (T)fmod(fabs((double)(x - low)), 2 * (double)span) : (T)0; \
            x = low + (turn > span ? 2 * span - turn : turn); \
        } \
        x = x > n + 3 ? n + 3 : x; \
        return x >= -4 ? x : (T)-4; \
    } \
    /* Where the padding rule reads for position i: in the input, or -1. */ \
    static int64_t pad_##dtype(const VfkGridSampleParams *params, int64_t i, int64_t dim) \
    { \
        if (i >= 0 && i < dim) { \
            return i; \
        } \
        if (params->padding == ZEROS) { \
            return -1; \
        } \
        if (params->padding == REFLECTION && dim > 1) { \
            const int64_t edge = params->align_corners ? 0 : 1; \
            i = i < 0 ? -edge - i : 2 * (dim - 1) + edge - i; \
        } \
        return vfk_min_i64(vfk_max_i64(i, 0), dim - 1); \
    } \
    static Axis_##dtype axis_##dtype(const VfkGridSampleParams *params, T g, int64_t dim) \
    { \
        const T x = coordinate_##dtype(params, g, dim); \
        const T base = params->mode == NEAREST ? (T)rint((double)x) : (T)floor((double)x); \
        const T t = x - base, s = 1 - t, a = (T)-0.75; \
        Axis_##dtype axis = {.weight = {1}, .n = 1}; \
        int64_t first = (int64_t)base; \
        if (params->mode == BILINEAR) { \
            axis = (Axis_##dtype){.weight = {s, t}, .n = 2}; \
        } else if (params->mode == BICUBIC) { \
            axis.n = 4; \
            axis.weight[0] = ((a * (t + 1) - 5 * a) * (t + 1) + 8 * a) * (t + 1) - 4 * a; \
            axis.weight[1] = ((a + 2) * t - (a + 3)) * t * t + 1; \
            axis.weight[2] = ((a + 2) * s - (a + 3)) * s * s + 1; \
            axis.weight[3] = ((a * (s + 1) - 5 * a) * (s + 1) + 8 * a) * (s + 1) - 4 * a; \
            first--; \
        } \
        for (int k = 0; k < axis.n; k++) { \
            axis.at[k] = pad_##dtype(params, first + k, dim); \
        } \
        return axis; \
    } \
    /* axis: depth, height, width. */ \
    static T sample_##dtype(const T *volume, const int64_t *dim, const Axis_##dtype *axis) \
    { \
        T total = 0; \
        for (int d = 0; d < axis[0].n; d++) { \
            T sum = 0; \
            for (int i = 0; i < axis[1].n; i++) { \
                const int64_t line = axis[0].at[d] * dim[1] + axis[1].at[i]; \
                const int reads = axis[0].at[d] >= 0 && axis[1].at[i] >= 0; \
                T row = 0; \
                for (int k = 0; k < axis[2].n; k++) { \
                    const int inside = reads && axis[2].at[k] >= 0; \
                    row += inside ? axis[2].weight[k] * volume[line * dim[2] + axis[2].at[k]] : 0; \
                } \
                sum += axis[1].weight[i] * row; \
            } \
            total += axis[0].weight[d] * sum; \
        } \
        return total; \
    } \
    /* A grid value has the coordinates of the last axis first. */ \
    static void axes_##dtype(const VfkGridSampleParams *params, const T *grid, \
                             Axis_##dtype axis[3]) \
    { \
        axis[0] = (Axis_##dtype){.weight = {1}, .n = 1}; \
        for (int64_t k = 0; k < params->spatial; k++) { \
            axis[2 - k] = axis_##dtype(params, grid[k], params->in_dim[2 - k]); \
        } \
    }

#define GRID_SAMPLE(dtype, T) \
    AXIS(dtype, T) \
    void VFK_FN(grid_sample, dtype)(const VfkArgs *args) \
    { \
        const VfkGridSampleParams *params = args->params; \
        const int64_t *in_dim = params->in_dim, *out_dim = params->out_dim; \
        const int64_t in_size = in_dim[0] * in_dim[1] * in_dim[2]; \
        const int64_t rows = out_dim[0] * out_dim[1], width = out_dim[2]; \
        for (int64_t u = args->begin; u < args->end && in_size > 0; u++) { \
            const int64_t b = u / rows, row = u % rows; \
            for (int64_t w = 0; w < width; w++) { \
                Axis_##dtype axis[3]; \
                axes_##dtype(params, (const T *)args->in[1] + params->spatial * (u * width + w), \
                             axis); \
                for (int64_t c = 0; c < params->channels; c++) { \
                    const int64_t plane = b * params->channels + c; \
                    const T *in = (const T *)args->in[0] + plane * in_size; \
                    T *out = (T *)args->out[0] + (plane * rows + row) * width; \
                    out[w] = sample_##dtype(in, in_dim, axis); \
                } \
            } \
        } \
    }

GRID_SAMPLE(f32, float)
GRID_SAMPLE(f64, double)
