/* NumPy's .npy files, format versions 1 to 3.
 *
 * Source: numpy.lib.format. Reading gives little-endian C order whatever the file has: big
 * endian is swapped, Fortran order transposed. Numeric dtypes and bool; strings, dates, objects
 * and records are VF_UNSUPPORTED. Anything malformed is VF_INVALID.
 */
#ifndef VF_DATA_NPY_H
#define VF_DATA_NPY_H

#include "converter/data/array.h"
#include "runtime/base/file.h"
#include "runtime/base/text.h"

/* Read a whole file of `size` bytes. The array's data points into `data` where order and
 * alignment allow, else into `arena`. `name` is for messages. */
VfStatus vf_npy_read(VfArena *arena, const void *data, size_t size, const char *name,
                     VfArray *array, VfErr *err);

/* Append magic and header of a version 1 file; the bytes of the array follow. VF_UNSUPPORTED for
 * dtypes that NumPy does not have. */
VfStatus vf_npy_header(VfText *text, const VfArray *array, VfErr *err);

/* Write `array` as a file at `path`, whole or not at all. */
VfStatus vf_npy_write(const char *path, const VfArray *array, VfErr *err);

#endif
