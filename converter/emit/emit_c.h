/* Plans to a folder of C: the same kernel calls in the same order on the same kernel sources.
 *
 * The plans must be made with reference kernels and must not depend on the contents of inputs.
 * The same plans and options give the same bytes. The folder appears whole under its name or
 * not at all (converter/emit/folder.h).
 */
#ifndef VF_EMIT_EMIT_C_H
#define VF_EMIT_EMIT_C_H

#include "converter/emit/batch.h"
#include "converter/emit/weights.h"

enum { VF_EMIT_MAX_MODELS = 2 };

/* A file beside the program: a sample input or the output expected for it. */
typedef struct VfEmitSample {
    const VfPlanTensor *tensor;
    const void *data;
    size_t bytes;
    bool is_output;
    VfBytes npy; /* the header of the npy file */
} VfEmitSample;

typedef struct VfEmitModel {
    /* One plan for fixed shapes; or plans for batches, in order and without a gap: all from one
     * batch to another, or the smallest alone and then the others. They were checked. */
    VfEmitRange range[VF_EMIT_MAX_RANGES];
    int32_t n_range;
    VfBytes file;       /* the model's file name, for comments */
    const char *sha256; /* of its bytes */
    const char *opsets; /* "ai.onnx 17, com.microsoft 1" */
    const char *open;   /* the types of inputs with open dimensions, or "" */
    int32_t n_node;     /* of the graph */
    const VfEmitSample *sample;
    int32_t n_sample;
} VfEmitModel;

typedef struct VfEmitOptions {
    const char *version; /* of vitfold */
    VfEmitDtype weights_dtype;
    bool weights_in_c;   /* no file: an array in C */
    bool is_single_file; /* the kernels inside model.c */
    int32_t n_model;     /* two: "original" and "converted" in one program */
    const VfEmitModel *model;
} VfEmitOptions;

typedef struct VfEmitFile {
    const char *path;
    uint64_t bytes;
} VfEmitFile;

/* What was written, in `arena` of the call. */
typedef struct VfEmitted {
    const VfEmitFile *file;
    int32_t n_file;
    uint64_t bytes; /* of all files */
    struct {
        size_t arena_bytes, scratch_bytes; /* the scratch is part of the arena */
        int32_t n_step;   /* of all ranges */
        int32_t n_kernel; /* different ones */
        VfEmitWeights weights;
    } model[VF_EMIT_MAX_MODELS];
} VfEmitted;

/* A program that is whole on the disk, but without its name. */
typedef struct VfEmission VfEmission;

/* Write the folder `path`, but for its name. All memory is in `arena`, which must outlive the
 * emission; `options` need not. */
VfStatus vf_emit_prepare(const VfEmitOptions *options, const char *path, VfArena *arena,
                         VfEmission **emission, VfEmitted *emitted, VfErr *err);

/* Give it the name, or leave nothing of it; a failure leaves nothing. NULL may be abandoned. */
VfStatus vf_emission_commit(VfEmission *emission, VfErr *err);
void vf_emission_abandon(VfEmission *emission);

#endif
