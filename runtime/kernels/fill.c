#include "runtime/kernels/index.h"
#include "runtime/kernels/variant.h"
#include "runtime/kernels/walk.h"

#define FILL(dtype, T) \
    void VFK_FN(fill, dtype)(const VfkArgs *args) \
    { \
        const T *value = args->in[0]; \
        const T zero = {0}, filler = value ? *value : zero; \
        T *out = args->out[0]; \
        for (int64_t i = args->begin; i < args->end; i++) { \
            out[i] = filler; \
        } \
    }

/* expr: element i from start and delta. */
#define RANGE(dtype, T, expr) \
    void VFK_FN(range, dtype)(const VfkArgs *args) \
    { \
        const T *first = args->in[0], *step = args->in[1]; \
        const T start = *first, delta = *step; \
        T *out = args->out[0]; \
        for (int64_t i = args->begin; i < args->end; i++) { \
            out[i] = (T)(expr); \
        } \
    }

#define EYELIKE(dtype, T) \
    void VFK_FN(eyelike, dtype)(const VfkArgs *args) \
    { \
        const VfkTriangleParams *params = args->params; \
        T *out = args->out[0]; \
        for (int64_t row = args->begin; row < args->end; row++) { \
            for (int64_t col = 0; col < params->cols; col++) { \
                out[row * params->cols + col] = (T)(col == row + params->k); \
            } \
        } \
    }

/* Columns [keep, keep_end) of a row stay. */
#define TRILU(dtype, T) \
    void VFK_FN(trilu, dtype)(const VfkArgs *args) \
    { \
        const VfkTriangleParams *params = args->params; \
        const T *in = args->in[0]; \
        T *out = args->out[0]; \
        const int64_t cols = params->cols; \
        const T zero = {0}; \
        for (int64_t unit = args->begin; unit < args->end; unit++) { \
            int64_t diagonal = unit % params->rows + params->k; \
            int64_t keep = params->upper ? diagonal : 0; \
            int64_t keep_end = params->upper ? cols : diagonal + 1; \
            for (int64_t col = 0; col < cols; col++) { \
                T v = in[unit * cols + col]; \
                out[unit * cols + col] = col >= keep && col < keep_end ? v : zero; \
            } \
        } \
    }

#define ONE_HOT(dtype, T) \
    void VFK_FN(one_hot, dtype)(const VfkArgs *args) \
    { \
        const VfkOneHotParams *params = args->params; \
        const T *value = args->in[1]; \
        const int64_t inner = params->inner, depth = params->depth; \
        for (int64_t o = args->begin; o < args->end; o++) { \
            for (int64_t i = 0; i < inner; i++) { \
                T *out = (T *)args->out[0] + o * depth * inner + i; \
                int64_t at = \
                    vfk_index_wrap(args->in[0], params->index_bytes, o * inner + i, depth); \
                for (int64_t d = 0; d < depth; d++) { \
                    out[d * inner] = value[d == at]; \
                } \
            } \
        } \
    }

#define BYTES(dtype, T) FILL(dtype, T) TRILU(dtype, T) ONE_HOT(dtype, T)

BYTES(b1, uint8_t)
BYTES(b2, uint16_t)
BYTES(b4, uint32_t)
BYTES(b8, uint64_t)
BYTES(b16, VfkWide)
RANGE(f32, float, start + (float)i * delta)
RANGE(f64, double, start + (double)i * delta)
RANGE(i16, int16_t, (uint64_t)start + (uint64_t)i * (uint64_t)delta)
RANGE(i32, int32_t, (uint64_t)start + (uint64_t)i * (uint64_t)delta)
RANGE(i64, int64_t, (uint64_t)start + (uint64_t)i * (uint64_t)delta)
EYELIKE(f32, float)
EYELIKE(f64, double)
EYELIKE(u8, uint8_t)
EYELIKE(u16, uint16_t)
EYELIKE(u32, uint32_t)
EYELIKE(u64, uint64_t)
EYELIKE(i8, int8_t)
EYELIKE(i16, int16_t)
EYELIKE(i32, int32_t)
EYELIKE(i64, int64_t)
EYELIKE(bool, uint8_t)
