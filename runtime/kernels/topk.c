#include "runtime/kernels/variant.h"

size_t vfk_topk_scratch_bytes(const VfkTopkParams *params)
{
    size_t bytes;
    return __builtin_mul_overflow((size_t)params->k, sizeof(int64_t), &bytes) ? SIZE_MAX : bytes;
}

/* A heap of the k best indices so far, the worst at the root. before(i, j): i comes before j in
 * the result. Sifting down keeps it; taking the root k times gives the result backwards. */
#define TOPK(dtype, T) \
    static int before_##dtype(const T *x, int64_t inner, int largest, int64_t i, int64_t j) \
    { \
        const T p = x[i * inner], q = x[j * inner]; \
        const int p_more = p > q || (p != p && q == q); \
        const int q_more = q > p || (q != q && p == p); \
        if (p_more || q_more) { \
            return largest ? p_more : q_more; \
        } \
        return i < j; \
    } \
    static void sift_##dtype(int64_t *heap, int64_t size, const T *x, int64_t inner, int largest) \
    { \
        for (int64_t at = 0, child; (child = 2 * at + 1) < size; at = child) { \
            if (child + 1 < size && \
                before_##dtype(x, inner, largest, heap[child], heap[child + 1])) { \
                child++; \
            } \
            if (before_##dtype(x, inner, largest, heap[child], heap[at])) { \
                return; \
            } \
            int64_t moved = heap[at]; \
            heap[at] = heap[child]; \
            heap[child] = moved; \
        } \
    } \
    static void lift_##dtype(int64_t *heap, int64_t at, const T *x, int64_t inner, int largest) \
    { \
        while (at > 0 && before_##dtype(x, inner, largest, heap[(at - 1) / 2], heap[at])) { \
            int64_t moved = heap[at]; \
            heap[at] = heap[(at - 1) / 2]; \
            heap[(at - 1) / 2] = moved; \
            at = (at - 1) / 2; \
        } \
    } \
    static void select_##dtype(int64_t *heap, const VfkTopkParams *params, const T *x) \
    { \
        const int largest = params->largest != 0; \
        const int64_t k = params->k, inner = params->inner; \
        for (int64_t i = 0; i < params->n; i++) { \
            if (i < k) { \
                heap[i] = i; \
                lift_##dtype(heap, i, x, inner, largest); \
            } else if (before_##dtype(x, inner, largest, i, heap[0])) { \
                heap[0] = i; \
                sift_##dtype(heap, k, x, inner, largest); \
            } \
        } \
    } \
    void VFK_FN(topk, dtype)(const VfkArgs *args) \
    { \
        const VfkTopkParams *params = args->params; \
        const int64_t n = params->n, k = params->k, inner = params->inner; \
        int64_t *heap = args->scratch; \
        for (int64_t u = args->begin; u < args->end && k > 0; u++) { \
            const T *x = (const T *)args->in[0] + u / inner * n * inner + u % inner; \
            const int64_t first = u / inner * k * inner + u % inner; \
            select_##dtype(heap, params, x); \
            for (int64_t size = k; size > 0; size--) { \
                const int64_t at = first + (size - 1) * inner; \
                ((T *)args->out[0])[at] = x[heap[0] * inner]; \
                ((int64_t *)args->out[1])[at] = heap[0]; \
                heap[0] = heap[size - 1]; \
                sift_##dtype(heap, size - 1, x, inner, params->largest != 0); \
            } \
        } \
    }

TOPK(f32, float)
TOPK(f64, double)
TOPK(u8, uint8_t)
TOPK(i8, int8_t)
TOPK(i32, int32_t)
TOPK(i64, int64_t)
TOPK(u16, uint16_t)
TOPK(i16, int16_t)
TOPK(u32, uint32_t)
TOPK(u64, uint64_t)
