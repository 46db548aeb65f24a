/* Copying matrices into the form that tiles read. Internal to runtime/kernels. */
#ifndef VFK_PACK_H
#define VFK_PACK_H

#include "runtime/kernels/tile.h"

/* Defined for each T:
 *   pack_a_dtype    m x k elements, (i, p) at i * row + p * col, to rows at GEMM_STRIDE
 *   pack_b_dtype    k x n elements, (p, j) at p * row + j * col, to panels of k x PANEL, the last
 *                   filled up with zeros
 *   transpose_dtype  to[p * to_row + i] = from[i * from_row + p] for i < m, p < k */
#define VFK_PACK(dtype, T) \
    typedef T Quad_##dtype __attribute__((vector_size(4 * sizeof(T)))); \
    static inline void transpose_4x4_##dtype(const T *from, int64_t from_row, T *to, \
                                             int64_t to_row) \
    { \
        Quad_##dtype r0, r1, r2, r3; \
        memcpy(&r0, from, sizeof r0); \
        memcpy(&r1, from + from_row, sizeof r1); \
        memcpy(&r2, from + 2 * from_row, sizeof r2); \
        memcpy(&r3, from + 3 * from_row, sizeof r3); \
        const Quad_##dtype low01 = VFK_SHUFFLE(dtype, r0, r1, 0, 4, 1, 5); \
        const Quad_##dtype high01 = VFK_SHUFFLE(dtype, r0, r1, 2, 6, 3, 7); \
        const Quad_##dtype low23 = VFK_SHUFFLE(dtype, r2, r3, 0, 4, 1, 5); \
        const Quad_##dtype high23 = VFK_SHUFFLE(dtype, r2, r3, 2, 6, 3, 7); \
        r0 = VFK_SHUFFLE(dtype, low01, low23, 0, 1, 4, 5); \
        r1 = VFK_SHUFFLE(dtype, low01, low23, 2, 3, 6, 7); \
        r2 = VFK_SHUFFLE(dtype, high01, high23, 0, 1, 4, 5); \
        r3 = VFK_SHUFFLE(dtype, high01, high23, 2, 3, 6, 7); \
        memcpy(to, &r0, sizeof r0); \
        memcpy(to + to_row, &r1, sizeof r1); \
        memcpy(to + 2 * to_row, &r2, sizeof r2); \
        memcpy(to + 3 * to_row, &r3, sizeof r3); \
    } \
    static inline void transpose_##dtype(const T *from, int64_t from_row, int64_t m, int64_t k, \
                                         T *to, int64_t to_row) \
    { \
        const int64_t m4 = m / 4 * 4, k4 = k / 4 * 4; \
        for (int64_t p = 0; p < k4; p += 4) { \
            for (int64_t i = 0; i < m4; i += 4) { \
                transpose_4x4_##dtype(from + i * from_row + p, from_row, to + p * to_row + i, \
                                      to_row); \
            } \
        } \
        for (int64_t p = 0; p < k; p++) { \
            for (int64_t i = p < k4 ? m4 : 0; i < m; i++) { \
                to[p * to_row + i] = from[i * from_row + p]; \
            } \
        } \
    } \
    static inline void pack_a_row_##dtype(const T *from, int64_t col, int64_t k, T *to) \
    { \
        if (col == 1) { \
            memcpy(to, from, (size_t)k * sizeof(T)); \
            return; \
        } \
        for (int64_t p = 0; p < k; p++) { \
            to[p] = from[p * col]; \
        } \
    } \
    static inline void pack_a_##dtype(const T *a, int64_t row, int64_t col, int64_t m, int64_t k, \
                               T *packed) \
    { \
        if (row == 1 && col != 1) { \
            transpose_##dtype(a, col, k, m, packed, GEMM_STRIDE); \
            return; \
        } \
        for (int64_t i = 0; i < m; i++) { \
            pack_a_row_##dtype(a + i * row, col, k, packed + i * GEMM_STRIDE); \
        } \
    } \
    /* One panel of `width` columns. */ \
    static inline void pack_panel_##dtype(const T *b, int64_t row, int64_t col, int64_t k, \
                                   int64_t width, T *packed) \
    { \
        const int64_t panel = PANEL_##dtype; \
        if (width < panel) { \
            memset(packed, 0, (size_t)(k * panel) * sizeof(T)); \
        } \
        if (row == 1 && col != 1) { \
            transpose_##dtype(b, col, width, k, packed, panel); \
            return; \
        } \
        for (int64_t p = 0; p < k; p++, b += row, packed += panel) { \
            if (width == panel && col == 1) { \
                memcpy(packed, b, GEMM_PANEL_BYTES); \
                continue; \
            } \
            for (int64_t j = 0; j < width; j++) { \
                packed[j] = b[j * col]; \
            } \
        } \
    } \
    static inline void pack_b_##dtype(const T *b, int64_t row, int64_t col, int64_t k, int64_t n, \
                               T *packed) \
    { \
        for (int64_t j = 0; j < n; j += PANEL_##dtype, packed += k * PANEL_##dtype) { \
            pack_panel_##dtype(b + j * col, row, col, k, vfk_min_i64(PANEL_##dtype, n - j), \
                               packed); \
        } \
    }

/* Two vectors' elements in the order of the indices, those of `b` counted from 4. */
#if defined(__clang__)
#define VFK_SHUFFLE(dtype, a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
typedef int32_t VfkOrder_f32 __attribute__((vector_size(16)));
typedef int64_t VfkOrder_f64 __attribute__((vector_size(32)));
#define VFK_SHUFFLE(dtype, a, b, ...) __builtin_shuffle(a, b, (VfkOrder_##dtype){__VA_ARGS__})
#endif

VFK_PACK(f32, float)
VFK_PACK(f64, double)

#endif
