/* Fusion: steps that work on the same elements become one step.
 *
 * It happens after the walk and before memory is planned, on steps: by then layouts are strides
 * and all spellings of an exporter look alike. The graph is not touched. Each row of fuse.def is
 * one fusion, a function that is called once for each step, in order, and may replace it and its
 * neighbours. A buffer that somebody keeps (an output, save_all) is never fused away.
 *
 * A removed step has no kernel; its place stays until all fusions are through. The fused step
 * stands where the last of the steps that it replaces stood, so all its operands are there; that
 * nobody writes into them in between is for the fusion to check (vf_fuse_is_stable).
 */
#ifndef VF_LOWER_FUSE_H
#define VF_LOWER_FUSE_H

#include "converter/lower/emit.h"

enum { FUSE_NO_STEP = -1 };

/* One operand or result of a step, in the list of all of its buffer. */
typedef struct VfFuseUse {
    struct VfFuseUse *prev, *next;
    int32_t step;
} VfFuseUse;

typedef struct VfFuse {
    VfLower *cx;
    VfFuseUse **reader, **writer; /* by buffer, in no order */
    VfFuseUse **use;              /* by step: its operands, then its results */
    size_t n_buffer, cap_reader, cap_writer;
    size_t n_fused;
    struct VfFusePack *pack; /* packed so far */
    size_t n_pack, cap_pack;
} VfFuse;

/* `step` is there. Edits with vf_fuse_replace; no match is VF_OK. */
typedef VfStatus VfFuseFn(VfFuse *fuse, int32_t step, VfErr *err);

/* --- what a step is --- */

/* Whether the kernel is `op` of any dtype that is a suffix: "gelu" for gelu_f32, not gelu_tanh. */
bool vf_fuse_is(const VfLowStep *step, const char *op);
/* The suffix; VF_UNDEFINED if the name has none. */
VfDtype vf_fuse_dtype(const VfLowStep *step);
bool vf_fuse_is_same(VfLowRef a, VfLowRef b);
/* How many of `n` operands or results lie in the buffer. */
int32_t vf_fuse_count(const VfLowRef *ref, int32_t n, int32_t buffer);

/* --- who reads and writes --- */

/* The only step that writes into the buffer, or FUSE_NO_STEP. */
int32_t vf_fuse_writer(const VfFuse *fuse, int32_t buffer);
/* The step that writes all that is at `ref` and nobody else anything there, or FUSE_NO_STEP. */
int32_t vf_fuse_source(const VfFuse *fuse, VfLowRef ref);
/* The only step that reads the buffer, if nobody keeps it and one step writes it: the two may
 * become one. Else FUSE_NO_STEP. */
int32_t vf_fuse_reader(const VfFuse *fuse, int32_t buffer);
/* Whether nobody but these steps uses the buffer. */
bool vf_fuse_is_private(const VfFuse *fuse, int32_t buffer, int32_t n, const int32_t *step);
/* Whether no step in [from, to] writes into the buffer. */
bool vf_fuse_is_stable(const VfFuse *fuse, int32_t buffer, int32_t from, int32_t to);

/* --- constants --- */

/* Bytes at `ref`, aligned or not, or NULL if it is no weight. */
const void *vf_fuse_data(const VfFuse *fuse, VfLowRef ref);
/* The first number there; false if it is no weight. */
bool vf_fuse_number(const VfFuse *fuse, VfLowRef ref, VfDtype dtype, double *number);

/* --- edits --- */

/* An operand or result for vf_fuse_replace: NULL for LOW_NO_BUFFER. */
VfStatus vf_fuse_value(VfFuse *fuse, VfLowRef ref, VfLowValue **value, VfErr *err);
/* The same as a row of `count` f32, each read or written once: what the step moves. */
VfStatus vf_fuse_row(VfFuse *fuse, VfLowRef ref, int64_t count, VfLowValue **value, VfErr *err);
/* Remove `n` steps, ascending, and put one in the place of the last. It belongs to a node whose
 * operator names those of all, "MatMul+Add+Gelu". */
VfStatus vf_fuse_replace(VfFuse *fuse, int32_t n, const int32_t *step, const VfLowEmit *emit,
                         VfErr *err);

/* --- the whole --- */

/* Call all fusions; steps, nodes and weights that are not needed any more are gone. */
VfStatus vf_low_fuse(VfLower *cx, VfErr *err);

#define VF_FUSION(name) VfFuseFn vf_fuse_##name;
#include "converter/lower/fuse.def"
#undef VF_FUSION

#endif
