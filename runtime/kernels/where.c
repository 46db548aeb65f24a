#include "runtime/kernels/variant.h"
#include "runtime/kernels/walk.h"

#define WHERE(dtype, T) \
    static void choose_row_##dtype(const uint8_t *c, const T *x, const T *y, T *out, \
                                   const int64_t stride[3], int64_t n) \
    { \
        const int64_t sc = stride[0], sx = stride[1], sy = stride[2]; \
        for (int64_t i = 0; i < n; i++) { \
            T p = x[i * sx], q = y[i * sy]; \
            out[i] = c[i * sc] ? p : q; \
        } \
    } \
    void VFK_FN(where, dtype)(const VfkArgs *args) \
    { \
        const VfkWhereParams *params = args->params; \
        int64_t last = params->rank - 1, stride[3] = {0, 0, 0}; \
        VfkWalk walk = {.rank = params->rank, \
                        .dim = params->dim, \
                        .stride = {params->stride_c, params->stride_x, params->stride_y}}; \
        vfk_walk_seek(&walk, args->begin); \
        for (int s = 0; s < 3 && last >= 0; s++) { \
            stride[s] = walk.stride[s][last]; \
        } \
        const uint8_t *c = args->in[0]; \
        const T *x = args->in[1], *y = args->in[2]; \
        T *out = args->out[0]; \
        for (int64_t i = args->begin, n; i < args->end; i += n) { \
            n = vfk_walk_run(&walk, args->end - i); \
            choose_row_##dtype(c + walk.offset[0], x + walk.offset[1], y + walk.offset[2], \
                               out + i, stride, n); \
            vfk_walk_skip(&walk, n); \
        } \
    }

WHERE(b1, uint8_t)
WHERE(b2, uint16_t)
WHERE(b4, uint32_t)
WHERE(b8, uint64_t)
WHERE(b16, VfkWide)
