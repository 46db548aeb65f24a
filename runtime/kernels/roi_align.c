#include "runtime/kernels/index.h"
#include "runtime/kernels/variant.h"

/* Numbers of samples stay where doubles and integers hold them; what is no number is 0. */
static double roi_count(double value)
{
    const double limit = 9007199254740992.0;
    return value > 0 ? (value < limit ? value : limit) : 0;
}

#define AXIS(dtype, T) \
    /* Bins along one axis: sample k of bin i is at start + i * size + (k + 0.5) * size / n. */ \
    typedef struct RoiBins_##dtype { \
        T start, size, n; \
    } RoiBins_##dtype; \
    /* Two pixels along one axis and their weights; `inside` is 0 far from the image. */ \
    typedef struct RoiTap_##dtype { \
        int64_t at[2]; \
        T weight[2]; \
        int inside; \
    } RoiTap_##dtype; \
    static RoiBins_##dtype roi_bins_##dtype(const VfkRoiAlignParams *params, T begin, T end, \
                                            int axis) \
    { \
        const T offset = params->half_pixel ? (T)0.5 : (T)0, scale = (T)params->scale; \
        const T start = begin * scale - offset, length = end * scale - offset - start; \
        const T least = params->half_pixel || length > 1 ? length : (T)1; \
        const T size = least / (T)params->out_dim[axis]; \
        const T n = params->samples ? (T)params->samples : (T)ceil((double)size); \
        return (RoiBins_##dtype){start, size, n > 0 && n <= (T)1e15 ? n : 0}; \
    } \
    /* The samples of a bin that may lie near the image. */ \
    static void roi_samples_##dtype(const VfkRoiAlignParams *params, \
                                    const RoiBins_##dtype *bins, T start, int64_t dim, \
                                    int64_t range[2]) \
    { \
        const double step = (double)bins->size / (double)bins->n, n = roi_count((double)bins->n); \
        const double begin = roi_count((-1 - (double)start) / step - 3); \
        const double end = roi_count(((double)dim - (double)start) / step + 3); \
        const int all = params->samples > 0; \
        range[0] = (int64_t)(all ? 0 : begin); \
        range[1] = (int64_t)(all || end > n ? n : end); \
    } \
    static RoiTap_##dtype roi_tap_##dtype(const RoiBins_##dtype *bins, T start, int64_t k, \
                                          int64_t dim) \
    { \
        const T place = start + ((T)k + (T)0.5) * bins->size / bins->n; \
        const T at = place > 0 ? place : 0; \
        if (dim < 1 || !(place >= -1 && place <= (T)dim)) { \
            return (RoiTap_##dtype){.inside = 0}; \
        } \
        if ((int64_t)at >= dim - 1) { \
            return (RoiTap_##dtype){{dim - 1, dim - 1}, {1, 0}, 1}; \
        } \
        const int64_t low = (int64_t)at; \
        const T part = at - (T)low; \
        return (RoiTap_##dtype){{low, low + 1}, {1 - part, part}, 1}; \
    } \
    /* Add a sample to the values of all channels, `step` apart. */ \
    static void roi_add_##dtype(const VfkRoiAlignParams *params, const T *image, \
                                const RoiTap_##dtype *v, const RoiTap_##dtype *h, T *y) \
    { \
        const int64_t width = params->in_dim[1], plane = params->in_dim[0] * width; \
        const int64_t step = params->out_dim[0] * params->out_dim[1]; \
        for (int64_t c = 0; c < params->channels; c++) { \
            const T *x = image + c * plane; \
            T sum = 0, most = -(T)INFINITY; \
            for (int i = 0; i < 4; i++) { \
                const T one = v->weight[i / 2] * h->weight[i % 2] * \
                              x[v->at[i / 2] * width + h->at[i % 2]]; \
                sum += one; \
                most = one > most || one != one ? one : most; \
            } \
            T *to = y + c * step; \
            if (!params->maximum) { \
                *to += sum; \
            } else if (most > *to || most != most) { \
                *to = most; \
            } \
        } \
    } \
    /* Add the samples of a bin; how many lie near the image. */ \
    static int64_t roi_sample_##dtype(const VfkRoiAlignParams *params, const T *image, \
                                      const RoiBins_##dtype bins[2], const int64_t bin[2], T *y) \
    { \
        T start[2]; \
        int64_t range[2][2], n_inside = 0; \
        for (int i = 0; i < 2; i++) { \
            start[i] = bins[i].start + (T)bin[i] * bins[i].size; \
            roi_samples_##dtype(params, &bins[i], start[i], params->in_dim[i], range[i]); \
        } \
        for (int64_t i = range[0][0]; i < range[0][1]; i++) { \
            const RoiTap_##dtype v = roi_tap_##dtype(&bins[0], start[0], i, params->in_dim[0]); \
            for (int64_t k = range[1][0]; v.inside && k < range[1][1]; k++) { \
                const RoiTap_##dtype h = \
                    roi_tap_##dtype(&bins[1], start[1], k, params->in_dim[1]); \
                if (h.inside) { \
                    roi_add_##dtype(params, image, &v, &h, y); \
                    n_inside++; \
                } \
            } \
        } \
        return n_inside; \
    }

#define ROI_ALIGN(dtype, T) \
    AXIS(dtype, T) \
    static void roi_bin_##dtype(const VfkRoiAlignParams *params, const T *image, \
                                const RoiBins_##dtype bins[2], const int64_t bin[2], T *y) \
    { \
        const int64_t step = params->out_dim[0] * params->out_dim[1]; \
        const T n = bins[0].n * bins[1].n; \
        for (int64_t c = 0; c < params->channels; c++) { \
            y[c * step] = params->maximum ? -(T)INFINITY : (T)0; \
        } \
        const int64_t n_inside = image ? roi_sample_##dtype(params, image, bins, bin, y) : 0; \
        const int has_zero = n_inside == 0 || (T)n_inside < n; \
        for (int64_t c = 0; c < params->channels; c++) { \
            T *to = y + c * step; \
            if (!params->maximum) { \
                *to /= n > 1 ? n : 1; \
            } else if (has_zero && *to < 0) { \
                *to = 0; \
            } \
        } \
    } \
    void VFK_FN(roi_align, dtype)(const VfkArgs *args) \
    { \
        const VfkRoiAlignParams *params = args->params; \
        const int64_t rows = params->out_dim[0], width = params->out_dim[1]; \
        const int64_t image = params->channels * params->in_dim[0] * params->in_dim[1]; \
        for (int64_t u = args->begin; u < args->end; u++) { \
            const int64_t r = u / rows; \
            const T *region = (const T *)args->in[1] + 4 * r, *x = NULL; \
            const RoiBins_##dtype bins[2] = {roi_bins_##dtype(params, region[1], region[3], 0), \
                                          roi_bins_##dtype(params, region[0], region[2], 1)}; \
            const int64_t at = vfk_index_of(args, 2, 8, r, params->batch); \
            if (at >= 0 && image > 0) { \
                x = (const T *)args->in[0] + image * at; \
            } \
            T *y = (T *)args->out[0] + (r * params->channels * rows + u % rows) * width; \
            for (int64_t i = 0; i < width; i++) { \
                roi_bin_##dtype(params, x, bins, (const int64_t[2]){u % rows, i}, y + i); \
            } \
        } \
    }

ROI_ALIGN(f32, float)
ROI_ALIGN(f64, double)
