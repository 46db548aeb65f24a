/* A scale and a shift that vary along some axes of a value: v ↦ a⊙v + c.
 *
 * Both are fields: arrays of doubles with the rank of the value, whose extent on an axis is 1
 * where they do not vary along it, else that of the value, which is then a plain number. So a
 * batch norm over [B, C, H, W] begins as fields [1, C, 1, 1], and what Transpose, Reshape,
 * Slice or Concat do to the value can be done to them. Fields never change once made; all
 * memory is the arena's that is passed in; `out` is never one of the operands. VF_UNSUPPORTED: a
 * field beyond the limits below; else "cannot" is an answer, not an error.
 */
#ifndef VF_FOLD_AFFINE_H
#define VF_FOLD_AFFINE_H

#include "passes/ir/graph.h"

enum { VF_FIELD_RANK_MAX = 12, VF_FIELD_COUNT_MAX = 1 << 22 };

typedef struct VfField {
    int32_t rank;
    int64_t dims[VF_FIELD_RANK_MAX];
    size_t count;
    const double *data; /* C order */
} VfField;

typedef struct VfAffine {
    VfField a, c;
} VfAffine;

/* A field of `rank` that is `n` numbers along `axis` and constant along the others. */
VfStatus vf_field_on_axis(VfArena *arena, int32_t rank, int32_t axis, size_t n, const double *data,
                          VfField *field, VfErr *err);

/* One number everywhere. */
VfStatus vf_field_uniform(VfArena *arena, int32_t rank, double number, VfField *field, VfErr *err);

/* The contents of a constant, of `rank` axes after leading ones were added. `*fits` is false when
 * it has more. */
VfStatus vf_field_of_tensor(VfArena *arena, const VfTensor *tensor, int32_t rank, VfField *field,
                            bool *fits, VfErr *err);

/* Does the field vary along no axis but `axis`? With axis -1: along none. */
bool vf_field_is_on_axis(const VfField *field, int32_t axis);
bool vf_field_is_all(const VfField *field, double number);
bool vf_field_is_finite(const VfField *field);
bool vf_field_is_equal(const VfField *x, const VfField *y);
/* Smallest element. */
double vf_field_min(const VfField *field);

/* max|x| / median|x|; 1 when nothing can be said. Beyond VF_SPREAD_LIMIT a scale is worth a word to
 * the user: some channel has next to no variance. Source: spec of the conversion passes, 2.5. */
#define VF_SPREAD_LIMIT 1e3
double vf_spread_of(VfArena *arena, size_t n, const double *x);

/* Element `i` along `axis` of a field on that axis. */
double vf_field_at(const VfField *field, int32_t axis, int64_t i);

/* x op y with broadcasting of extents 1; op is '+', '-' or '*'. Ranks must agree. `*fits` is false
 * when extents contradict. */
VfStatus vf_field_combine(VfArena *arena, char op, const VfField *x, const VfField *y, VfField *out,
                          bool *fits, VfErr *err);

VfStatus vf_field_transpose(VfArena *arena, const VfField *x, const int64_t *perm, VfField *out,
                            VfErr *err);

/* Elements index[0..n) along `axis`, on which the field must vary; indices are in range. */
VfStatus vf_field_take(VfArena *arena, const VfField *x, int32_t axis, size_t n,
                       const int64_t *index, VfField *out, VfErr *err);

/* A field that holds `x` at index[0..n) along `axis` of extent `extent`, and `rest` elsewhere; the
 * inverse of take. */
VfStatus vf_field_spread(VfArena *arena, const VfField *x, int32_t axis, size_t n,
                         const int64_t *index, int64_t extent, double rest, VfField *out,
                         VfErr *err);

/* Fields side by side along `axis`, extent[i] elements of the i-th. `*fits` is false when other
 * extents contradict. */
VfStatus vf_field_concat(VfArena *arena, int32_t n, const VfField *x, const int64_t *extent,
                         int32_t axis, VfField *out, bool *fits, VfErr *err);

/* The field repeated to the extents `dims`, without reducing it again. Extents are 1 or those of
 * `dims`. */
VfStatus vf_field_expand(VfArena *arena, const VfField *x, const int64_t *dims, VfField *out,
                         VfErr *err);

/* Same data under other dims of the same count; axes without variation are reduced. */
VfStatus vf_field_view(VfArena *arena, const VfField *x, int32_t rank, const int64_t *dims,
                       VfField *out, VfErr *err);

/* What a reshape from `from` to `to` does to a field. `*fits` is false when an axis along which it
 * varies is merged or split together with one that is no plain number, or the extents are not
 * known. */
VfStatus vf_field_reshape(VfArena *arena, VfSymbols *symbols, const VfField *x, const VfType *from,
                          const VfType *to, VfField *out, bool *fits, VfErr *err);

#endif
