/* The product of two strided matrices, blocked and packed. Internal to runtime/kernels.
 *
 * Every element of c is summed as tile.h says. Between blocks of GEMM_KC steps of k, c holds it.
 */
#ifndef VFK_GEMM_H
#define VFK_GEMM_H

#include "runtime/kernels/pack.h"

/* With so few rows, packing b costs more than reading it where it lies. */
enum { GEMM_FEW_ROWS = 2 * GEMM_MR };

/* Define gemm_dtype over T. */
#define VFK_GEMM(dtype, T) \
    /* c = a b; element (i, j) of a matrix is at i * row + j * col. */ \
    typedef struct Gemm_##dtype { \
        const T *a, *b; \
        T *c; \
        int64_t m, n, k; \
        int64_t a_row, a_col, b_row, b_col, c_row; \
    } Gemm_##dtype; \
    /* to = from, a height x width corner. */ \
    static void corner_##dtype(const T *from, int64_t from_row, T *to, int64_t to_row, \
                               int64_t height, int64_t width) \
    { \
        for (int64_t i = 0; i < height; i++, to += to_row, from += from_row) { \
            memcpy(to, from, (size_t)width * sizeof(T)); \
        } \
    } \
    /* All rows of packed a times one group of b, put to c or added to it. */ \
    static void group_##dtype(Tile_##dtype tile, int64_t rows, int64_t width, T *c, \
                              int64_t c_row, int add) \
    { \
        T sum[GEMM_MR * GROUP_##dtype] __attribute__((aligned(64))); \
        const int is_direct = width % LANES_##dtype == 0; \
        tile.is_more = add; \
        tile.c_row = is_direct ? c_row : GROUP_##dtype; \
        for (int64_t i = 0; i < vfk_tile_blocks(rows); i++) { \
            const int64_t height = vfk_tile_height(rows, i); \
            tile.c = is_direct ? c : sum; \
            if (!is_direct && add) { \
                corner_##dtype(c, c_row, sum, GROUP_##dtype, height, width); \
            } \
            block_##dtype(height, width, &tile); \
            if (!is_direct) { \
                corner_##dtype(sum, GROUP_##dtype, c, c_row, height, width); \
            } \
            tile.a += height * GEMM_STRIDE; \
            c += height * c_row; \
        } \
    } \
    /* The group of `width` columns at b, k steps: as it lies, or packed. */ \
    static Tile_##dtype tile_of_##dtype(const Gemm_##dtype *g, const T *b, int64_t k, \
                                        int64_t width, T *packed) \
    { \
        Tile_##dtype tile = {.b = b, .b_step = g->b_row, .b_panel = PANEL_##dtype, .k = k}; \
        if (g->m <= GEMM_FEW_ROWS && g->b_col == 1 && width % LANES_##dtype == 0) { \
            return tile; \
        } \
        pack_b_##dtype(b, g->b_row, g->b_col, k, width, packed); \
        tile.b = packed; \
        tile.b_step = PANEL_##dtype; \
        tile.b_panel = k * PANEL_##dtype; \
        return tile; \
    } \
    static void gemm_zero_##dtype(const Gemm_##dtype *g) \
    { \
        for (int64_t i = 0; i < g->m; i++) { \
            for (int64_t j = 0; j < g->n; j++) { \
                g->c[i * g->c_row + j] = 0; \
            } \
        } \
    } \
    static void gemm_##dtype(const Gemm_##dtype *g, void *scratch) \
    { \
        T *packed_b = scratch, *packed_a = packed_b + gemm_b_elements(g->k, sizeof(T)); \
        if (g->k == 0) { \
            gemm_zero_##dtype(g); \
        } \
        for (int64_t i = 0; i < g->m; i += GEMM_MC) { \
            const int64_t m = vfk_min_i64(GEMM_MC, g->m - i); \
            for (int64_t p = 0; p < g->k; p += GEMM_KC) { \
                const int64_t k = vfk_min_i64(GEMM_KC, g->k - p); \
                pack_a_##dtype(g->a + i * g->a_row + p * g->a_col, g->a_row, g->a_col, m, k, \
                               packed_a); \
                for (int64_t j = 0; j < g->n; j += GROUP_##dtype) { \
                    const int64_t width = vfk_min_i64(GROUP_##dtype, g->n - j); \
                    Tile_##dtype tile = tile_of_##dtype( \
                        g, g->b + p * g->b_row + j * g->b_col, k, width, packed_b); \
                    tile.a = packed_a; \
                    group_##dtype(tile, m, width, g->c + i * g->c_row + j, g->c_row, p > 0); \
                } \
            } \
        } \
    }

VFK_GEMM(f32, float)
VFK_GEMM(f64, double)

#endif
