/* The sources that emitted programs are made of, kept inside vitfold as they are in its tree.
 *
 * Kernels keep their path, so that their includes work with -I of the emitted folder; a kernel
 * comes with the files that it includes from runtime/kernels, and theirs.
 */
#ifndef VF_EMIT_SOURCE_H
#define VF_EMIT_SOURCE_H

#include <stdbool.h>

#include "runtime/base/arena.h"

typedef struct VfEmitSource {
    const char *path; /* from the root of the tree: "runtime/kernels/matmul.c" */
    const char *data;
    size_t size;
} VfEmitSource;

/* All of them; the last row is {0}. */
extern const VfEmitSource vf_emit_source[];

/* The number of `path`, or -1. */
int vf_emit_source_find(const char *path, size_t n_path);

/* A set of sources by number. */
typedef struct VfEmitSet {
    bool *has; /* `n` entries */
    int n;
} VfEmitSet;

/* An empty set in `arena`. */
VfStatus vf_emit_set_init(VfEmitSet *set, VfArena *arena, VfErr *err);

/* Add "runtime/kernels/NAME" and all that it includes. VF_INTERNAL if there is no such file. */
VfStatus vf_emit_set_add_kernel(VfEmitSet *set, const char *name, VfErr *err);

#endif
