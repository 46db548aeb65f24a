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

/* Before a loop over the rows of a tile: as many copies as it has turns. Clang understands the
 * pragma of GCC, but obeys it only where turns are a multiple of its number. */
#if defined(__clang__)
#define VFK_UNROLLED _Pragma("clang loop unroll(full)")
#else
#define VFK_UNROLLED _Pragma("GCC unroll 14")
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
 *   block_dtype(height, width, &tile)   c (height rows at c_row) = [c +] a b [+ bias] [+ add] for
 *                                       `width` columns, b the first of their panels, panels
 *                                       b_panel elements apart. Whole vectors are read and
 *                                       written, of c, bias and add, too */
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
        int is_more;   /* the sums are added to what c holds */ \
        const T *bias; /* NULL, or a row for all rows, added then */ \
        const T *add;  /* NULL, or what is added last, rows add_row apart */ \
        int64_t add_row; \
        /* NULL, or what is needed next: a line of it is asked for with each term of each two \
         * vectors, fetch_step bytes after the one before. */ \
        const char *fetch; \
        int64_t fetch_step; \
    } Tile_##dtype; \
    /* A run of terms of some columns, and what is done to their sums. */ \
    typedef struct TileRun_##dtype { \
        int64_t k, b_step; \
        T *c; \
        int64_t c_row; \
        const T *more, *bias, *add; /* NULL, or c; then as above */ \
        int64_t add_row; \
        const char *fetch; \
        int64_t fetch_step; \
    } TileRun_##dtype; \
    /* sum += x, a row of it for each of its rows. */ \
    static inline __attribute__((always_inline)) void tile_add_##dtype( \
        const int height, const int vectors, Vector_##dtype sum[][2], const T *x, int64_t x_row) \
    { \
        VFK_UNROLLED for (int i = 0; i < height; i++, x += x_row) { \
            Vector_##dtype more; \
            memcpy(&more, x, sizeof more); \
            sum[i][0] += more; \
            if (vectors == 2) { \
                memcpy(&more, x + LANES_##dtype, sizeof more); \
                sum[i][1] += more; \
            } \
        } \
    } \
    /* Loops over rows are unrolled and no address of a sum is taken: sums stay in registers. */ \
    static inline __attribute__((always_inline)) void tile_body_##dtype( \
        const int height, const int vectors, const T *a, const T *b0, const T *b1, \
        const TileRun_##dtype *run) \
    { \
        Vector_##dtype sum[GEMM_MR][2]; \
        const int64_t k = run->k, b_step = run->b_step, fetch_step = run->fetch_step; \
        const char *fetch = run->fetch; \
        VFK_UNROLLED for (int i = 0; i < height; i++) { \
            sum[i][0] = sum[i][1] = (Vector_##dtype){0}; \
        } \
        for (int64_t p = 0; p < k; p++, a++, b0 += b_step, b1 += b_step, fetch += fetch_step) { \
            Vector_##dtype x, y; \
            __builtin_prefetch(fetch, 0, 3); \
            memcpy(&x, b0, sizeof x); \
            memcpy(&y, vectors == 2 ? b1 : b0, sizeof y); \
            VFK_UNROLLED for (int i = 0; i < height; i++) { \
                const Vector_##dtype s = a[i * GEMM_STRIDE] - (Vector_##dtype){0}; \
                sum[i][0] = VFK_MADD_##dtype(s, x, sum[i][0]); \
                if (vectors == 2) { \
                    sum[i][1] = VFK_MADD_##dtype(s, y, sum[i][1]); \
                } \
            } \
        } \
        if (run->more) { \
            tile_add_##dtype(height, vectors, sum, run->more, run->c_row); \
        } \
        if (run->bias) { \
            tile_add_##dtype(height, vectors, sum, run->bias, 0); \
        } \
        if (run->add) { \
            tile_add_##dtype(height, vectors, sum, run->add, run->add_row); \
        } \
        T *c = run->c; \
        VFK_UNROLLED for (int i = 0; i < height; i++, c += run->c_row) { \
            const Vector_##dtype x = sum[i][0], y = sum[i][vectors - 1]; \
            memcpy(c, &x, sizeof x); \
            if (vectors == 2) { \
                memcpy(c + LANES_##dtype, &y, sizeof y); \
            } \
        } \
    } \
    VFK_TILE_ROWS(VFK_TILE_PAIR, dtype) \
    typedef void TileFn_##dtype(const T *a, const T *b0, const T *b1, \
                                const TileRun_##dtype *run); \
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
        TileFn_##dtype *fn = tile_table_##dtype[height][is_wide]; \
        const T *b0 = tile_column_##dtype(tile, column); \
        const T *b1 = tile_column_##dtype(tile, column + is_wide * LANES_##dtype); \
        T *c = tile->c + column; \
        TileRun_##dtype run = {.b_step = tile->b_step, .c = c, .c_row = tile->c_row, \
                               .more = tile->is_more ? c : NULL, .add_row = tile->add_row, \
                               .fetch = (const char *)b0, .fetch_step = tile->fetch_step}; \
        if (tile->fetch) { \
            run.fetch = tile->fetch + column / (2 * LANES_##dtype) * tile->k * tile->fetch_step; \
        } \
        for (int64_t p = 0; p == 0 || p < tile->k; p += GEMM_RUN, run.more = c) { \
            run.k = vfk_min_i64(GEMM_RUN, tile->k - p); \
            if (p + GEMM_RUN >= tile->k) { \
                run.bias = tile->bias ? tile->bias + column : NULL; \
                run.add = tile->add ? tile->add + column : NULL; \
            } \
            fn(tile->a + p, b0 + p * tile->b_step, b1 + p * tile->b_step, &run); \
            run.fetch += run.k * run.fetch_step; \
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
    static void tile_##n##_narrow_##dtype(const VfkType_##dtype *a, const VfkType_##dtype *b0, \
                                          const VfkType_##dtype *b1, \
                                          const TileRun_##dtype *run) \
    { \
        tile_body_##dtype(n, 1, a, b0, b1, run); \
    } \
    static void tile_##n##_wide_##dtype(const VfkType_##dtype *a, const VfkType_##dtype *b0, \
                                        const VfkType_##dtype *b1, const TileRun_##dtype *run) \
    { \
        tile_body_##dtype(n, 2, a, b0, b1, run); \
    }
#define VFK_TILE_ENTRY(n, dtype) {tile_##n##_narrow_##dtype, tile_##n##_wide_##dtype},

VFK_TILE(f32, float)
VFK_TILE(f64, double)


#endif
