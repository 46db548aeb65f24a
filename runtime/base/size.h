/* Arithmetic on sizes. Checked functions store their result and return true, or return false and
 * store nothing when the result does not fit.
 */
#ifndef VF_BASE_SIZE_H
#define VF_BASE_SIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool vf_size_add(size_t a, size_t b, size_t *out)
{
    size_t sum;
    if (__builtin_add_overflow(a, b, &sum))
        return false;
    *out = sum;
    return true;
}

static inline bool vf_size_mul(size_t a, size_t b, size_t *out)
{
    size_t product;
    if (__builtin_mul_overflow(a, b, &product))
        return false;
    *out = product;
    return true;
}

/* `size` rounded up to a multiple of `align`, a power of two. */
static inline bool vf_size_align(size_t size, size_t align, size_t *out)
{
    size_t sum;
    if (__builtin_add_overflow(size, align - 1, &sum))
        return false;
    *out = sum & ~(align - 1);
    return true;
}

/* The number of elements of a shape; false also for a negative dim. 1 for rank 0. */
static inline bool vf_size_count(const int64_t *dims, size_t rank, size_t *out)
{
    size_t count = 1;
    bool fits = true, empty = false;
    for (size_t i = 0; i < rank; i++) {
        if (dims[i] < 0)
            return false;
        empty = empty || dims[i] == 0;
        fits = fits && !__builtin_mul_overflow(count, (size_t)dims[i], &count);
    }
    if (!fits && !empty)
        return false;
    *out = empty ? 0 : count;
    return true;
}

/* The number in [low, high] nearest to `value`. */
static inline int64_t vf_clamp(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

#endif
