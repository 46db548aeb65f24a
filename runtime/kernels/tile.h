/* The micro-kernel of all products: a few rows of a times one or two vectors of columns of b, with
 * the sums in registers. Internal to runtime/kernels.
 *
 * Rows of a lie at the stride GEMM_STRIDE, so that one pointer reaches them all. Columns of b are
 * read in vectors, `b_step` elements apart from one step of k to the next: 64 bytes in a panel, a
 * row of the matrix where it was not packed.
 *
 * An element is the sum of its terms, GEMM_RUN after GEMM_RUN of them, each run summed from first
 * to last and then added to those before, whatever the tile; so all variants give the same bits.
 * Those with VFK_FMA defined fuse each multiplication with its addition, and agree.
 */
#ifndef VFK_TILE_H
#define VFK_TILE_H

#include "runtime/kernels/gemm_size.h"
#include "runtime/kernels/variant.h"
#include "runtime/kernels/vector.h"

/* GEMM_MR x 2 sums, two vectors of b and one of a fill the registers of the instruction set.
 * VFK_TILE_ROWS(X) calls X for each height. */
#if defined(__AVX512F__) || defined(__aarch64__)
#define GEMM_MR 14
#else
#define GEMM_MR 6
#endif

#define VFK_TILE_UP_TO_6(X, dtype) X(1, dtype) X(2, dtype) X(3, dtype) X(4, dtype) X(5, dtype) \
    X(6, dtype)
#if GEMM_MR == 14
#define VFK_TILE_ROWS(X, dtype) \
    VFK_TILE_UP_TO_6(X, dtype) X(7, dtype) X(8, dtype) X(9, dtype) X(10, dtype) X(11, dtype) \
    X(12, dtype) X(13, dtype) X(14, dtype)
#else
#define VFK_TILE_ROWS(X, dtype) VFK_TILE_UP_TO_6(X, dtype)
#endif

typedef float VfkType_f32;
typedef double VfkType_f64;

/* VFK_MADD_dtype(a, b, c): c + a b in vectors. */
#if !defined(VFK_FMA)
#define VFK_MADD_f32(a, b, c) ((c) + (a) * (b))
#define VFK_MADD_f64(a, b, c) ((c) + (a) * (b))
#elif defined(__AVX512F__)
#include <immintrin.h>
#define VFK_MADD_f32(a, b, c) ((Vector_f32)_mm512_fmadd_ps((a), (b), (c)))
#define VFK_MADD_f64(a, b, c) ((Vector_f64)_mm512_fmadd_pd((a), (b), (c)))
#elif defined(__FMA__)
#include <immintrin.h>
#define VFK_MADD_f32(a, b, c) ((Vector_f32)_mm256_fmadd_ps((a), (b), (c)))
#define VFK_MADD_f64(a, b, c) ((Vector_f64)_mm256_fmadd_pd((a), (b), (c)))
#elif defined(__aarch64__)
#include <arm_neon.h>
#define VFK_MADD_f32(a, b, c) ((Vector_f32)vfmaq_f32((c), (a), (b)))
#define VFK_MADD_f64(a, b, c) ((Vector_f64)vfmaq_f64((c), (a), (b)))
#else
#error "VFK_FMA needs an instruction set with fused multiply-add"
#endif

/* Rows [first, first + height) of block `index` when `rows` rows are shared evenly among as few
 * blocks of at most GEMM_MR as can hold them: no block is left with a single row. */
static inline int64_t vfk_tile_blocks(int64_t rows)
{
    return (rows + GEMM_MR - 1) / GEMM_MR;
}

static inline int64_t vfk_tile_height(int64_t rows, int64_t index)
{
    int64_t blocks = vfk_tile_blocks(rows);
    return rows / blocks + (index < rows % blocks);
}

/* Defined for each T:
 *   tile_dtype(height, vectors, &tile)  c (height rows at c_row, whole vectors) = a b
 *   block_dtype(height, width, &tile)   the same for `width` columns, b the first of their panels,
 *                                       panels b_panel elements apart; whole vectors too */
#define VFK_TILE(dtype, T) \
    typedef T Vector_##dtype __attribute__((vector_size(VFK_VECTOR_BYTES))); \
    enum { \
        LANES_##dtype = VFK_VECTOR_BYTES / sizeof(T), \
        PANEL_##dtype = GEMM_PANEL_BYTES / sizeof(T), \
        GROUP_##dtype = 2 * PANEL_##dtype \
    }; \
    typedef struct Tile_##dtype { \
        const T *a, *b; \
        int64_t b_step, b_panel; /* elements to the next step of k, and to the next panel */ \
        int64_t k; \
        T *c; \
        int64_t c_row; \
    } Tile_##dtype; \
    static inline __attribute__((always_inline)) void tile_body_##dtype( \
        const int height, const int vectors, const Tile_##dtype *tile, const T *b0, const T *b1, \
        T *c) \
    { \
        Vector_##dtype sum[GEMM_MR][2]; \
        const T *a = tile->a; \
        const int64_t k = tile->k, b_step = tile->b_step, c_row = tile->c_row; \
        for (int i = 0; i < height; i++) { \
            sum[i][0] = sum[i][1] = (Vector_##dtype){0}; \
        } \
        Vector_##dtype x, y; \
        for (int64_t p = 0; p < k; p++, a++, b0 += b_step, b1 += b_step) { \
            memcpy(&x, b0, sizeof x); \
            memcpy(&y, vectors == 2 ? b1 : b0, sizeof y); \
            _Pragma("GCC unroll 14") for (int i = 0; i < height; i++) { \
                const Vector_##dtype s = a[i * GEMM_STRIDE] - (Vector_##dtype){0}; \
                sum[i][0] = VFK_MADD_##dtype(s, x, sum[i][0]); \
                if (vectors == 2) { \
                    sum[i][1] = VFK_MADD_##dtype(s, y, sum[i][1]); \
                } \
            } \
        } \
        _Pragma("GCC unroll 14") for (int i = 0; i < height; i++) { \
            x = sum[i][0]; /* not the address of a sum: all of them would lie in memory */ \
            memcpy(c + i * c_row, &x, sizeof x); \
            if (vectors == 2) { \
                y = sum[i][1]; \
                memcpy(c + i * c_row + LANES_##dtype, &y, sizeof y); \
            } \
        } \
    } \
    VFK_TILE_ROWS(VFK_TILE_PAIR, dtype) \
    typedef void TileFn_##dtype(const Tile_##dtype *tile, const T *b0, const T *b1, T *c); \
    static TileFn_##dtype *const tile_table_##dtype[][2] = { \
        {NULL, NULL}, VFK_TILE_ROWS(VFK_TILE_ENTRY, dtype)}; \
    static inline const T *tile_column_##dtype(const Tile_##dtype *tile, int64_t column) \
    { \
        return tile->b + column / PANEL_##dtype * tile->b_panel + column % PANEL_##dtype; \
    } \
    /* One or two vectors of columns from `column`, run after run. */ \
    static inline void vectors_##dtype(int64_t height, int is_wide, const Tile_##dtype *tile, \
                                       int64_t column) \
    { \
        T more[GEMM_MR * 2 * LANES_##dtype] __attribute__((aligned(64))); \
        TileFn_##dtype *fn = tile_table_##dtype[height][is_wide]; \
        const T *b0 = tile_column_##dtype(tile, column); \
        const T *b1 = tile_column_##dtype(tile, column + is_wide * LANES_##dtype); \
        Tile_##dtype run = *tile; \
        for (int64_t p = 0; p == 0 || p < tile->k; p += GEMM_RUN) { \
            run.k = vfk_min_i64(GEMM_RUN, tile->k - p); \
            run.c_row = p == 0 ? tile->c_row : 2 * LANES_##dtype; \
            fn(&run, b0 + p * tile->b_step, b1 + p * tile->b_step, \
               p == 0 ? tile->c + column : more); \
            run.a += run.k; \
            for (int64_t i = 0; p > 0 && i < height; i++) { \
                for (int64_t j = 0; j < (1 + is_wide) * LANES_##dtype; j++) { \
                    tile->c[i * tile->c_row + column + j] += more[i * 2 * LANES_##dtype + j]; \
                } \
            } \
        } \
    } \
    static inline void block_##dtype(int64_t height, int64_t width, const Tile_##dtype *tile) \
    { \
        const int64_t lanes = LANES_##dtype; \
        for (int64_t j = 0; j < width; j += 2 * lanes) { \
            vectors_##dtype(height, width - j > lanes, tile, j); \
        } \
    }

#define VFK_TILE_PAIR(n, dtype) \
    static inline void tile_##n##_narrow_##dtype(const Tile_##dtype *tile, \
                                               const VfkType_##dtype *b0, \
                                               const VfkType_##dtype *b1, VfkType_##dtype *c) \
    { \
        tile_body_##dtype(n, 1, tile, b0, b1, c); \
    } \
    static inline void tile_##n##_wide_##dtype(const Tile_##dtype *tile, \
                                               const VfkType_##dtype *b0, \
                                               const VfkType_##dtype *b1, VfkType_##dtype *c) \
    { \
        tile_body_##dtype(n, 2, tile, b0, b1, c); \
    }
#define VFK_TILE_ENTRY(n, dtype) {tile_##n##_narrow_##dtype, tile_##n##_wide_##dtype},

VFK_TILE(f32, float)
VFK_TILE(f64, double)


#endif
