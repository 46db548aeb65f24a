/* A dense array read from or going to a data file.
 *
 * The bytes are not owned: they lie in an arena or in a mapped file, which must outlive the
 * array. Little endian, C order, aligned for the dtype. Any dtype whose elements are whole
 * bytes, or packed as runtime/kernels/dtype.h says.
 */
#ifndef VF_DATA_ARRAY_H
#define VF_DATA_ARRAY_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/base/arena.h"
#include "runtime/base/bytes.h"
#include "runtime/kernels/dtype.h"

enum { VF_ARRAY_MAX_RANK = 32 };

typedef struct VfArray {
    VfDtype dtype;
    int32_t rank;
    const int64_t *dims; /* rank entries >= 0; may be NULL for rank 0 */
    size_t count;        /* elements */
    size_t bytes;
    const void *data;
} VfArray;

typedef struct VfNamedArray {
    VfBytes name; /* any bytes */
    VfArray array;
} VfNamedArray;

/* Fill `array` with a copy of `dims` in `arena` and checked sizes; `data` stays where it is. A
 * negative dim, too high a rank, or sizes that overflow are VF_INVALID. */
VfStatus vf_array_init(VfArray *array, VfArena *arena, VfDtype dtype, int32_t rank,
                       const int64_t *dims, const void *data, VfErr *err);

/* The same with zeroed data in `arena`, which is returned in `*data` for writing. */
VfStatus vf_array_new(VfArray *array, VfArena *arena, VfDtype dtype, int32_t rank,
                      const int64_t *dims, void **data, VfErr *err);

/* Element `i` as a double; NaN for complex numbers and strings. */
double vf_array_get_double(const VfArray *array, size_t i);

/* "f32[1, 3, 224, 224]" in `arena`, or NULL when out of memory. */
const char *vf_array_text(VfArena *arena, const VfArray *array);

/* The array called `name`, or NULL. */
const VfArray *vf_array_find(const VfNamedArray *array, size_t n_array, VfBytes name);

/* The same for one seed on every machine: floats and both parts of complex numbers in [-1, 1),
 * f8e8m0 in (0, 1], integers in [0, 8) or, of 2 bits, all, bool 0 or 1. VF_UNSUPPORTED for strings.
 * The array's data is in `arena`. */
VfStatus vf_array_random(VfArray *array, VfArena *arena, VfDtype dtype, int32_t rank,
                         const int64_t *dims, uint64_t seed, VfErr *err);

#endif
