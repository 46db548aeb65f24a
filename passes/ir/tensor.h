/* Constant data: immutable views on bytes that something else keeps alive.
 *
 * A tensor never owns its bytes. They lie in a mapped file, in the unpacked message, or in
 * an arena; a VfStorage says which, for reports and for the writer, which streams mapped
 * bytes without copying them. Changing weights means making a new tensor.
 */
#ifndef VF_IR_TENSOR_H
#define VF_IR_TENSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/arena.h"
#include "runtime/base/bytes.h"
#include "runtime/kernels/dtype.h"

typedef enum VfStorage {
    VF_STORAGE_ARENA, /* made by us: decoded, folded or rewritten */
    VF_STORAGE_FILE,  /* a range of a mapped model or external data file */
    VF_STORAGE_LENT   /* static or lent by the caller for the life of the model */
} VfStorage;

typedef struct VfTensor {
    VfDtype dtype;
    int32_t rank;
    const int64_t *dims; /* rank entries, each >= 0; NULL allowed when rank is 0 */
    size_t count;        /* number of elements: product of dims, checked */
    size_t bytes;        /* vf_dtype_bytes(dtype, count); for strings 0 */
    const void *data;    /* little endian, C order; possibly unaligned: read through the getters
                          * or memcpy. Strings: array of `count` VfBytes. NULL if count is 0 */
    VfStorage storage;
} VfTensor;

/* A tensor of `dtype` and `dims` in `arena` whose zeroed data is `*data` (may be written until the
 * tensor is published). Checks sizes. VF_INVALID on overflow or a negative dim. */
VfStatus vf_tensor_new(VfArena *arena, VfDtype dtype, int32_t rank, const int64_t *dims,
                       VfTensor **tensor, void **data, VfErr *err);

/* One-element tensor of rank 0 or 1 (`rank`), value converted to `dtype`; NULL when out of memory.
 */
const VfTensor *vf_tensor_scalar(VfArena *arena, VfDtype dtype, int32_t rank, double value);

/* Rank-1 int64 tensor with a copy of `values`; NULL when out of memory. */
const VfTensor *vf_tensor_i64(VfArena *arena, int64_t count, const int64_t *values);

/* All elements `value`; the elements `values`, rounded; those of `from` changed one by one, in
 * another dtype. NULL when out of memory or when the sizes do not fit. */
const VfTensor *vf_tensor_filled(VfArena *arena, VfDtype dtype, int32_t rank, const int64_t *dims,
                                 double value);
const VfTensor *vf_tensor_doubles(VfArena *arena, VfDtype dtype, int32_t rank, const int64_t *dims,
                                  const double *values);
const VfTensor *vf_tensor_map(VfArena *arena, const VfTensor *from, VfDtype dtype,
                              double (*change)(double));

/* Same data under other dims of the same count (a view); NULL when out of memory or counts differ.
 */
const VfTensor *vf_tensor_view(VfArena *arena, const VfTensor *tensor, int32_t rank,
                               const int64_t *dims);

/* Element `i` as double; any numeric dtype. Precondition: i < count. */
double vf_tensor_get_double(const VfTensor *tensor, size_t i);

/* Element `i` as int64 (floats truncated and saturated; bool 0 or 1). Precondition: i < count. */
int64_t vf_tensor_get_i64(const VfTensor *tensor, size_t i);

/* Write element `i` of raw data of `dtype`: rounded to nearest even, saturated for integers. */
void vf_tensor_put_double(void *data, VfDtype dtype, size_t i, double value);

/* Same dtype, dims and bytes (strings compared by content). */
bool vf_tensor_is_equal(const VfTensor *a, const VfTensor *b);

/* All elements equal `value`. False for strings and empty tensors. */
bool vf_tensor_is_all(const VfTensor *tensor, double value);

/* Product of dims with overflow check; VF_INVALID on overflow or negative dims. */
VfStatus vf_dims_count(int32_t rank, const int64_t *dims, size_t *count, VfErr *err);

#endif
