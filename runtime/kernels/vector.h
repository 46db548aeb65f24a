/* Vectors as wide as the registers of the instruction set. Internal to runtime/kernels.
 *
 * For kernels whose sums must stay in registers. An element's value may not depend on the width:
 * that is up to the kernel. wide_load_dtype and wide_store_dtype move the first `width`
 * elements of a vector, at any alignment; of a constant width of WIDE_dtype they are one
 * instruction.
 */
#ifndef VFK_VECTOR_H
#define VFK_VECTOR_H

#include <stdint.h>
#include <string.h>

#if defined(__AVX512F__)
#define VFK_VECTOR_BYTES 64
#elif defined(__AVX__)
#define VFK_VECTOR_BYTES 32
#else
#define VFK_VECTOR_BYTES 16
#endif

#define VFK_VECTOR(dtype, T) \
    typedef T Wide_##dtype __attribute__((vector_size(VFK_VECTOR_BYTES))); \
    enum { WIDE_##dtype = VFK_VECTOR_BYTES / sizeof(T) }; \
    static inline Wide_##dtype wide_load_##dtype(const T *from, int64_t width) \
    { \
        Wide_##dtype v = {0}; \
        memcpy(&v, from, (size_t)width * sizeof(T)); \
        return v; \
    } \
    static inline void wide_store_##dtype(T *to, Wide_##dtype v, int64_t width) \
    { \
        memcpy(to, &v, (size_t)width * sizeof(T)); \
    }

VFK_VECTOR(f32, float)
VFK_VECTOR(f64, double)

#endif
