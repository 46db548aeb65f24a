/* The weights of an emitted program: where each lies in memory and in the file.
 *
 * Weights lie at multiples of 64 bytes; tensors of the same bytes are stored once. The file holds
 * the memory as it is, or with float32 weights in a 16-bit type, which the program widens when it
 * loads them. A tensor with a finite number that the 16-bit type does not reach stays as it is.
 */
#ifndef VF_EMIT_WEIGHTS_H
#define VF_EMIT_WEIGHTS_H

#include "runtime/exec/plan.h"

typedef enum VfEmitDtype { VF_EMIT_F32, VF_EMIT_F16, VF_EMIT_BF16 } VfEmitDtype;

typedef struct VfEmitWeight {
    const VfPlanTensor *tensor;
    int32_t same;       /* number of the first weight with these bytes: its own if it is stored */
    size_t offset;      /* in memory */
    size_t file_offset;
    bool is_narrow;
} VfEmitWeight;

typedef struct VfEmitWeights {
    VfEmitWeight *weight; /* in the order of the tensors */
    int32_t n, n_stored, n_narrow;
    int32_t n_too_large; /* of float32, not narrow for a number beyond the smaller type's */
    VfEmitDtype dtype;
    size_t bytes, file_bytes; /* multiples of 64 */
    uint64_t digest;          /* FNV-1a of the memory, 64 bits */
    /* The narrow weights: the largest distance of one from what it was, and that of the worst
     * tensor relative to its largest number. */
    double error, relative_error;
    VfBytes worst; /* name of that tensor; empty where nothing was lost */
} VfEmitWeights;

/* Where the bytes go. */
typedef VfStatus VfEmitPutFn(void *user, const void *data, size_t size, VfErr *err);

/* Lay out `n` weights. Memory is `arena`'s; the tensors must outlive it. */
VfStatus vf_emit_weights_init(VfEmitWeights *weights, const VfPlanTensor *tensor, int32_t n,
                              VfEmitDtype dtype, VfArena *arena, VfErr *err);

/* The bytes of the memory (what a program has after loading), or of the file, in order. */
VfStatus vf_emit_weights_memory(const VfEmitWeights *weights, VfEmitPutFn *put, void *user,
                                VfErr *err);
VfStatus vf_emit_weights_file(const VfEmitWeights *weights, VfEmitPutFn *put, void *user,
                              VfErr *err);

#endif
