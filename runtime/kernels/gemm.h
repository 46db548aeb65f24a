/* The product of two strided matrices, blocked and packed. Internal to runtime/kernels.
 *
 * Every element of c is a sum over blocks of GEMM_KC steps of k, each summed from first to last
 * and then added to what c holds. Tiles are as wide as the instruction set's vectors, which
 * changes where an element is computed but not how; so all variants give the same bits.
 */
#ifndef VFK_GEMM_H
#define VFK_GEMM_H

#include "runtime/kernels/gemm_size.h"
#include "runtime/kernels/variant.h"

#if defined(__AVX512F__)
#define GEMM_VECTOR 64
#elif defined(__AVX__)
#define GEMM_VECTOR 32
#else
#define GEMM_VECTOR 16
#endif

/* Define gemm_dtype over T, whose vectors hold `lanes` elements. */
#define VFK_GEMM(dtype, T) \
    typedef T Vector_##dtype __attribute__((vector_size(GEMM_VECTOR))); \
    enum { LANES_##dtype = GEMM_VECTOR / sizeof(T), NR_##dtype = 2 * LANES_##dtype }; \
    /* c = a b; element (i, j) of a matrix is at i * row + j * col. */ \
    typedef struct Gemm_##dtype { \
        const T *a, *b; \
        T *c; \
        int64_t m, n, k; \
        int64_t a_row, a_col, b_row, b_col, c_row; \
    } Gemm_##dtype; \
    /* Columns [0, n) and k steps of b into panels of NR columns, filled up with zeros. */ \
    static void pack_b_##dtype(const T *b, int64_t b_row, int64_t b_col, int64_t k, int64_t n, \
                               T *packed) \
    { \
        for (int64_t j = 0; j < n; j += NR_##dtype) { \
            int64_t width = vfk_min_i64(NR_##dtype, n - j); \
            for (int64_t p = 0; p < k; p++, packed += NR_##dtype) { \
                const T *from = b + p * b_row + j * b_col; \
                if (width == NR_##dtype && b_col == 1) { \
                    memcpy(packed, from, NR_##dtype * sizeof(T)); \
                    continue; \
                } \
                for (int64_t c = 0; c < NR_##dtype; c++) { \
                    packed[c] = c < width ? from[c * b_col] : 0; \
                } \
            } \
        } \
    } \
    /* Rows [0, m) and k steps of a into panels of GEMM_MR rows, filled up with zeros. */ \
    static void pack_a_##dtype(const T *a, int64_t a_row, int64_t a_col, int64_t m, int64_t k, \
                               T *packed) \
    { \
        for (int64_t i = 0; i < m; i += GEMM_MR) { \
            int64_t height = vfk_min_i64(GEMM_MR, m - i); \
            for (int64_t r = 0; r < GEMM_MR; r++) { \
                const T *from = a + (i + vfk_min_i64(r, height - 1)) * a_row; \
                for (int64_t p = 0; p < k; p++) { \
                    packed[p * GEMM_MR + r] = r < height ? from[p * a_col] : 0; \
                } \
            } \
            packed += k * GEMM_MR; \
        } \
    } \
    /* One tile: sum over k steps of packed panels. */ \
    static inline void tile_##dtype(const T *a, const T *b, int64_t k, \
                                    Vector_##dtype sum[GEMM_MR][2]) \
    { \
        Vector_##dtype acc[GEMM_MR][2] = {{{0}}}; \
        for (int64_t p = 0; p < k; p++, a += GEMM_MR, b += NR_##dtype) { \
            Vector_##dtype b0, b1; \
            memcpy(&b0, b, sizeof b0); \
            memcpy(&b1, b + LANES_##dtype, sizeof b1); \
            for (int i = 0; i < GEMM_MR; i++) { \
                acc[i][0] += a[i] * b0; \
                acc[i][1] += a[i] * b1; \
            } \
        } \
        memcpy(sum, acc, sizeof acc); \
    } \
    /* Put or add the height x width corner of a tile. */ \
    static void store_##dtype(Vector_##dtype sum[GEMM_MR][2], T *c, int64_t c_row, \
                              int64_t height, int64_t width, int add) \
    { \
        T row[NR_##dtype]; \
        for (int64_t i = 0; i < height; i++, c += c_row) { \
            memcpy(row, sum[i], sizeof row); \
            if (width == NR_##dtype) { \
                for (int j = 0; j < NR_##dtype; j++) { \
                    c[j] = add ? c[j] + row[j] : row[j]; \
                } \
            } else { \
                for (int64_t j = 0; j < width; j++) { \
                    c[j] = add ? c[j] + row[j] : row[j]; \
                } \
            } \
        } \
    } \
    /* All tiles of packed panels: m x n with k steps. */ \
    static void tiles_##dtype(const T *a, const T *b, T *c, int64_t c_row, const int64_t mnk[3], \
                              int add) \
    { \
        for (int64_t j = 0; j < mnk[1]; j += NR_##dtype) { \
            for (int64_t i = 0; i < mnk[0]; i += GEMM_MR) { \
                Vector_##dtype sum[GEMM_MR][2]; \
                tile_##dtype(a + i * mnk[2], b + j * mnk[2], mnk[2], sum); \
                store_##dtype(sum, c + i * c_row + j, c_row, vfk_min_i64(GEMM_MR, mnk[0] - i), \
                              vfk_min_i64(NR_##dtype, mnk[1] - j), add); \
            } \
        } \
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
        T *packed_b = scratch, *packed_a; \
        packed_a = packed_b + gemm_b_elements(g->n, g->k); \
        if (g->k == 0) { \
            gemm_zero_##dtype(g); \
        } \
        for (int64_t j = 0; j < g->n; j += GEMM_NC) { \
            int64_t n = vfk_min_i64(GEMM_NC, g->n - j); \
            for (int64_t p = 0; p < g->k; p += GEMM_KC) { \
                int64_t k = vfk_min_i64(GEMM_KC, g->k - p); \
                pack_b_##dtype(g->b + p * g->b_row + j * g->b_col, g->b_row, g->b_col, k, n, \
                               packed_b); \
                for (int64_t i = 0; i < g->m; i += GEMM_MC) { \
                    int64_t mnk[3] = {vfk_min_i64(GEMM_MC, g->m - i), n, k}; \
                    pack_a_##dtype(g->a + i * g->a_row + p * g->a_col, g->a_row, g->a_col, \
                                   mnk[0], k, packed_a); \
                    tiles_##dtype(packed_a, packed_b, g->c + i * g->c_row + j, g->c_row, mnk, \
                                  p > 0); \
                } \
            } \
        } \
    }

VFK_GEMM(f32, float)
VFK_GEMM(f64, double)

#endif
