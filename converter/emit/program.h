/* Inside of converter/emit: one model ready to be printed, and the printers. */
#ifndef VF_EMIT_PROGRAM_H
#define VF_EMIT_PROGRAM_H

#include "converter/emit/emit_c.h"
#include "converter/emit/source.h"
#include "runtime/base/text.h"

typedef struct VfEmitProgram {
    const VfEmitOptions *options;
    const VfEmitModel *model;
    const VfPlan *plan;       /* the last one: of the fixed shapes, or of the largest batch */
    VfEmitRange whole;        /* the smallest and the largest batch, for inputs and outputs */
    int32_t n_step;           /* of all plans that are printed */
    const char *stem, *upper; /* "model", "MODEL": what its files and names begin with */
    VfEmitWeights weights;    /* of all plans that are printed, in order */
    size_t scratch_offset;    /* in the arena */
    size_t arena_bytes;       /* with scratch */
    const VfkKernel **kernel; /* the different ones, in order of first use */
    const VfkKernel **blas;   /* beside each the OpenBLAS variant, or NULL */
    int32_t n_kernel;
    const char **in_name, **out_name; /* identifiers' tails */
} VfEmitProgram;

/* Prepare model `index` of the options. Memory is `arena`'s. */
VfStatus vf_emit_program_init(VfEmitProgram *program, const VfEmitOptions *options, int32_t index,
                              VfArena *arena, VfErr *err);

/* Whether the weights are in a file of their own. */
static inline bool vf_emit_has_weights_file(const VfEmitProgram *program)
{
    return program->weights.bytes > 0 && !program->options->weights_in_c;
}

/* Weight `index` of the plan of a range. */
const VfEmitWeight *vf_emit_weight(const VfEmitProgram *program, int32_t range, int32_t index);

/* How npy files spell the dtype; types they do not have as bytes. */
const char *vf_emit_npy_type(VfDtype dtype);

/* The comment at the top of a generated file; `what` is its first sentence. */
void vf_emit_front_matter(const VfEmitProgram *program, const char *what, VfText *text);

/* model.h, and model.c behind its includes. */
void vf_emit_model_h(const VfEmitProgram *program, VfText *text);
void vf_emit_model_c(const VfEmitProgram *program, VfText *text);
/* The text of the kernels in one piece, each header once, behind the includes of model.c. */
void vf_emit_kernels(const VfEmitSet *kernels, VfArena *arena, VfText *text);
/* The steps: static const params structs and the function that runs them all. */
void vf_emit_steps(const VfEmitProgram *program, VfText *text);

/* executors.c, Makefile, README.md of `n` programs. `kernels` are the sources of all. */
void vf_emit_executors_c(const VfEmitProgram *program, int32_t n, VfText *text);
void vf_emit_makefile(const VfEmitProgram *program, int32_t n, const VfEmitSet *kernels,
                      VfText *text);
void vf_emit_readme(const VfEmitProgram *program, int32_t n, VfText *text);

#endif
