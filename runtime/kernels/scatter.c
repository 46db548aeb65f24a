#include "runtime/kernels/index.h"
#include "runtime/kernels/variant.h"
#include "runtime/kernels/walk.h"

/* Put `n` updates of one dtype at `out`. */
typedef void Apply(void *out, const void *update, int64_t n, int64_t reduction);

/* Start `out` as a copy of data, unless it is that buffer. */
static void copy_data(const VfkArgs *args, int64_t n, int64_t bytes)
{
    if (args->in[0] != args->out[0] && n > 0) {
        memcpy(args->out[0], args->in[0], (size_t)(n * bytes));
    }
}

static void scatter_elements(const VfkArgs *args, int64_t bytes, Apply *apply)
{
    const VfkScatterElementsParams *params = args->params;
    if (args->begin >= args->end) {
        return;
    }
    copy_data(args, params->n, bytes);
    VfkWalk walk = {.rank = params->rank,
                    .dim = params->dim,
                    .stride = {params->data_stride, NULL, NULL}};
    int64_t n_update = 1, axis = params->axis;
    for (int64_t i = 0; i < params->rank; i++) {
        n_update *= params->dim[i];
    }
    vfk_walk_seek(&walk, 0);
    for (int64_t u = 0; u < n_update; u++) {
        int64_t at = vfk_index_find(args, params->index_bytes, u, params->axis_dim);
        if (at >= 0) {
            at = walk.offset[0] + (at - walk.index[axis]) * params->data_stride[axis];
            apply((char *)args->out[0] + at * bytes, (const char *)args->in[2] + u * bytes, 1,
                  params->reduction);
        }
        vfk_walk_next(&walk, params->rank - 1);
    }
}

/* The element offset that tuple `tuple` names, or -1 if it is outside. */
static int64_t target_offset(const VfkArgs *args, int64_t tuple)
{
    const VfkScatterNdParams *params = args->params;
    int64_t offset = 0;
    for (int64_t j = 0; j < params->depth; j++) {
        int64_t at = vfk_index_find(args, params->index_bytes, tuple * params->depth + j,
                                    params->dim[j]);
        if (at < 0) {
            return -1;
        }
        offset += at * params->stride[j];
    }
    return offset;
}

static void scatter_nd(const VfkArgs *args, int64_t bytes, Apply *apply)
{
    const VfkScatterNdParams *params = args->params;
    if (args->begin >= args->end) {
        return;
    }
    copy_data(args, params->n, bytes);
    for (int64_t t = 0; t < params->n_tuple && params->inner > 0; t++) {
        int64_t at = target_offset(args, t);
        if (at >= 0) {
            apply((char *)args->out[0] + at * bytes,
                  (const char *)args->in[2] + t * params->inner * bytes, params->inner,
                  params->reduction);
        }
    }
}

#define SCATTER(dtype, T) \
    void VFK_FN(scatter_elements, dtype)(const VfkArgs *args) \
    { \
        scatter_elements(args, (int64_t)sizeof(T), apply_##dtype); \
    } \
    void VFK_FN(scatter_nd, dtype)(const VfkArgs *args) \
    { \
        scatter_nd(args, (int64_t)sizeof(T), apply_##dtype); \
    }

#define SCATTER_SET(dtype, T) \
    static void apply_##dtype(void *out, const void *update, int64_t n, int64_t reduction) \
    { \
        (void)reduction; \
        memcpy(out, update, (size_t)n * sizeof(T)); \
    } \
    SCATTER(dtype, T)

/* Sums and products are formed in U, where they wrap. */
#define SCATTER_REDUCE(dtype, T, U) \
    static void apply_##dtype(void *out, const void *update, int64_t n, int64_t reduction) \
    { \
        T *y = out; \
        const T *x = update; \
        for (int64_t i = 0; i < n; i++) { \
            switch (reduction) { \
            case VFK_SCATTER_ADD: y[i] = (T)((U)y[i] + (U)x[i]); break; \
            case VFK_SCATTER_MUL: y[i] = (T)((U)y[i] * (U)x[i]); break; \
            case VFK_SCATTER_MAX: y[i] = y[i] != y[i] || y[i] > x[i] ? y[i] : x[i]; break; \
            case VFK_SCATTER_MIN: y[i] = y[i] != y[i] || y[i] < x[i] ? y[i] : x[i]; break; \
            default: y[i] = x[i]; break; \
            } \
        } \
    } \
    SCATTER(dtype, T)

/* Complex numbers have no order. */
#define SCATTER_COMPLEX(dtype, R) \
    typedef struct Complex_##dtype { \
        R re, im; \
    } Complex_##dtype; \
    static void apply_##dtype(void *out, const void *update, int64_t n, int64_t reduction) \
    { \
        Complex_##dtype *y = out; \
        const Complex_##dtype *x = update; \
        for (int64_t i = 0; i < n; i++) { \
            const Complex_##dtype a = y[i], b = x[i]; \
            if (reduction == VFK_SCATTER_ADD) { \
                y[i] = (Complex_##dtype){a.re + b.re, a.im + b.im}; \
            } else { \
                y[i].re = a.re * b.re - a.im * b.im; \
                y[i].im = a.re * b.im + a.im * b.re; \
            } \
        } \
    } \
    SCATTER(dtype, Complex_##dtype)

SCATTER_SET(b1, uint8_t)
SCATTER_SET(b2, uint16_t)
SCATTER_SET(b4, uint32_t)
SCATTER_SET(b8, uint64_t)
SCATTER_SET(b16, VfkWide)
SCATTER_REDUCE(f32, float, float)
SCATTER_REDUCE(f64, double, double)
SCATTER_REDUCE(u8, uint8_t, uint32_t)
SCATTER_REDUCE(u16, uint16_t, uint32_t)
SCATTER_REDUCE(u32, uint32_t, uint32_t)
SCATTER_REDUCE(u64, uint64_t, uint64_t)
SCATTER_REDUCE(i8, int8_t, uint32_t)
SCATTER_REDUCE(i16, int16_t, uint32_t)
SCATTER_REDUCE(i32, int32_t, uint32_t)
SCATTER_REDUCE(i64, int64_t, uint64_t)
SCATTER_COMPLEX(c64, float)
SCATTER_COMPLEX(c128, double)
