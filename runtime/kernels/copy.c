#include "runtime/kernels/variant.h"
#include "runtime/kernels/walk.h"

/* Rows and columns of a transposing tile: a cache line of b4 elements each way. */
enum { TILE = 16 };

/* dst[r * dst_stride + c] = src[r + c * src_stride] for `rows` x `cols`. */
#define TRANSPOSE(dtype, T) \
    static void transpose_##dtype(const T *src, int64_t src_stride, T *dst, int64_t dst_stride, \
                                  int64_t rows, int64_t cols) \
    { \
        for (int64_t c0 = 0; c0 < cols; c0 += TILE) { \
            int64_t c_end = vfk_min_i64(cols, c0 + TILE); \
            for (int64_t r = 0; r < rows; r++) { \
                for (int64_t c = c0; c < c_end; c++) { \
                    dst[r * dst_stride + c] = src[r + c * src_stride]; \
                } \
            } \
        } \
    }

/* One row of n elements. */
#define ROW(dtype, T) \
    static void row_##dtype(const T *src, int64_t src_stride, T *dst, int64_t dst_stride, \
                            int64_t n) \
    { \
        if (src_stride == 1 && dst_stride == 1) { \
            memcpy(dst, src, (size_t)n * sizeof(T)); \
        } else if (dst_stride == 1) { \
            for (int64_t i = 0; i < n; i++) { \
                dst[i] = src[i * src_stride]; \
            } \
        } else { \
            for (int64_t i = 0; i < n; i++) { \
                dst[i * dst_stride] = src[i * src_stride]; \
            } \
        } \
    }

/* Whether the last two axes are a transposed plane. */
static int is_plane(const VfkCopyParams *params)
{
    int64_t last = params->rank - 1;
    return last >= 1 && params->dst_stride[last] == 1 && params->src_stride[last] != 1 &&
           params->src_stride[last - 1] == 1;
}

/* Rows of a plane are taken in runs of TILE, so that a source line is used up while cached. */
#define COPY(dtype, T) \
    TRANSPOSE(dtype, T) \
    ROW(dtype, T) \
    void VFK_FN(copy, dtype)(const VfkArgs *args) \
    { \
        const VfkCopyParams *params = args->params; \
        const T *src = args->in[0]; \
        T *dst = args->out[0]; \
        int64_t last = params->rank - 1; \
        int64_t n = last < 0 ? 1 : params->dim[last]; \
        int64_t src_step = last < 0 ? 1 : params->src_stride[last]; \
        int64_t dst_step = last < 0 ? 1 : params->dst_stride[last]; \
        int plane = is_plane(params); \
        VfkWalk walk = {.rank = last < 0 ? 0 : last, \
                        .dim = params->dim, \
                        .stride = {params->src_stride, params->dst_stride, NULL}}; \
        if (n == 0) { \
            return; \
        } \
        vfk_walk_seek(&walk, args->begin); \
        for (int64_t i = args->begin, rows; i < args->end; i += rows) { \
            const T *from = src + (params->src_offset + walk.offset[0]); \
            T *to = dst + (params->dst_offset + walk.offset[1]); \
            rows = plane ? vfk_min_i64(vfk_walk_run(&walk, args->end - i), TILE) : 1; \
            if (plane) { \
                transpose_##dtype(from, src_step, to, params->dst_stride[last - 1], rows, n); \
            } else { \
                row_##dtype(from, src_step, to, dst_step, n); \
            } \
            vfk_walk_skip(&walk, rows); \
        } \
    }

COPY(b1, uint8_t)
COPY(b2, uint16_t)
COPY(b4, uint32_t)
COPY(b8, uint64_t)
COPY(b16, VfkWide)
