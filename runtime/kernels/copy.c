#include "runtime/kernels/variant.h"
#include "runtime/kernels/walk.h"

/* Rows and columns of a transposing tile: a cache line of b4 elements each way. */
enum { TILE = 16 };

/* dst[r * dst_stride + c] = src[r + c * src_stride] for `rows` x `cols`. */
#define TRANSPOSE(dtype, T) \
    static void transpose_##dtype(const T *src, int64_t src_stride, T *dst, int64_t dst_stride, \
                                  int64_t rows, int64_t cols) \
    { \
        for (int64_t r = 0; r < rows; r++) { \
            for (int64_t c = 0; c < cols; c++) { \
                dst[r * dst_stride + c] = src[r + c * src_stride]; \
            } \
        } \
    }

/* Four elements; two vectors' elements in the order of the indices, those of the second counted
 * from 4. */
typedef uint32_t Quad __attribute__((vector_size(16)));
#if defined(__clang__)
#define SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (Quad){__VA_ARGS__})
#endif

static inline void transpose_quads(const uint32_t *src, int64_t src_stride, uint32_t *dst,
                                   int64_t dst_stride)
{
    Quad c[4], r[4];
    for (int i = 0; i < 4; i++) {
        memcpy(&c[i], src + i * src_stride, sizeof c[i]);
    }
    const Quad low01 = SHUFFLE(c[0], c[1], 0, 4, 1, 5), high01 = SHUFFLE(c[0], c[1], 2, 6, 3, 7);
    const Quad low23 = SHUFFLE(c[2], c[3], 0, 4, 1, 5), high23 = SHUFFLE(c[2], c[3], 2, 6, 3, 7);
    r[0] = SHUFFLE(low01, low23, 0, 1, 4, 5);
    r[1] = SHUFFLE(low01, low23, 2, 3, 6, 7);
    r[2] = SHUFFLE(high01, high23, 0, 1, 4, 5);
    r[3] = SHUFFLE(high01, high23, 2, 3, 6, 7);
    for (int i = 0; i < 4; i++) {
        memcpy(dst + i * dst_stride, &r[i], sizeof r[i]);
    }
}

TRANSPOSE(b1, uint8_t)
TRANSPOSE(b2, uint16_t)
TRANSPOSE(rest, uint32_t)
TRANSPOSE(b8, uint64_t)
TRANSPOSE(b16, VfkWide)

static void transpose_b4(const uint32_t *src, int64_t src_stride, uint32_t *dst,
                         int64_t dst_stride, int64_t rows, int64_t cols)
{
    const int64_t r4 = rows / 4 * 4, c4 = cols / 4 * 4;
    for (int64_t r = 0; r < r4; r += 4) {
        for (int64_t c = 0; c < c4; c += 4) {
            transpose_quads(src + r + c * src_stride, src_stride, dst + r * dst_stride + c,
                            dst_stride);
        }
    }
    transpose_rest(src + c4 * src_stride, src_stride, dst + c4, dst_stride, rows, cols - c4);
    transpose_rest(src + r4, src_stride, dst + r4 * dst_stride, dst_stride, rows - r4, c4);
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

/* `rows` rows of a plane, in tiles. */
#define PLANE(dtype, T) \
    static void plane_##dtype(const T *src, int64_t src_stride, T *dst, int64_t dst_stride, \
                              int64_t rows, int64_t cols) \
    { \
        for (int64_t c = 0; c < cols; c += TILE) { \
            transpose_##dtype(src + c * src_stride, src_stride, dst + c, dst_stride, rows, \
                              vfk_min_i64(cols - c, TILE)); \
        } \
    }

/* Rows of a plane are taken in runs of TILE, so that a source line is used up while cached. */
#define COPY(dtype, T) \
    ROW(dtype, T) \
    PLANE(dtype, T) \
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
                plane_##dtype(from, src_step, to, params->dst_stride[last - 1], rows, n); \
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
