/* NumPy's .npz files: zip archives of .npy members.
 *
 * Reading takes stored and deflated members; what does not end in ".npy" is skipped. A member
 * that claims more than deflate can give is refused before memory is asked for. Writing
 * stores without compression, without times: the same arrays give the same bytes.
 */
#ifndef VF_DATA_NPZ_H
#define VF_DATA_NPZ_H

#include "converter/data/array.h"

/* Read all arrays of the archive at `path`, in the order of its directory. All memory in
 * `arena`. Two members of one name are VF_INVALID. */
VfStatus vf_npz_read(VfArena *arena, const char *path, VfNamedArray **array, size_t *n_array,
                     VfErr *err);

/* Write the arrays as members NAME.npy of a file at `path`, whole or not at all. */
VfStatus vf_npz_write(const char *path, const VfNamedArray *array, size_t n_array, VfErr *err);

#endif
