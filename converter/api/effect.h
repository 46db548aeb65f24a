/* The numeric effect of passes: how far the outputs and the ends of blocks moved after each pass
 * that edited, measured against the original model on the same data.
 *
 * An end of a block (converter/api/blocks.h) is followed by its name, and where a pass put another
 * value in its place by the journal. One that is gone, or has another shape by now, says so. The
 * noise floor is the original computed with plain kernels, which sum in another order.
 */
#ifndef VF_API_EFFECT_H
#define VF_API_EFFECT_H

#include "converter/api/blocks.h"
#include "converter/api/compare.h"
#include "converter/report/html/page.h"

/* What is known after one pass. */
typedef struct VfEffectStage {
    const char *pass; /* or "opset", the change of versions before the passes */
    int32_t n_edit;
    VfMoved *output; /* in the order of the model */
    VfMoved *block;  /* effect->n_block, in the order of effect->block */
} VfEffectStage;

typedef struct VfEffect {
    VfArena *arena;
    const VitfoldData *in; /* the caller's, until the transform is over */
    VitfoldRunOptions run;
    VfBlockValue *block; /* ends of blocks, in the order of the graph */
    int32_t n_block;
    bool has_residuals;
    const VfValue **at; /* where each block end is now; NULL: gone */
    VitfoldData *output, *output_noise, *end, *end_noise; /* of the original */
    VfEffectStage *stage;
    size_t n_stage, capacity;
    int32_t n_edit; /* journal entries that stages have told of */
} VfEffect;

/* Measure the original of `model`, which no pass has changed yet, on `in`. Free with
 * vf_effect_free. */
VfStatus vf_effect_new(const VitfoldModel *model, const VitfoldData *in,
                       const VitfoldRunOptions *run, VfEffect **effect, VfErr *err);

/* Add a stage called `pass` if the journal of `model` has grown since the last one. */
VfStatus vf_effect_add(VfEffect *effect, const VitfoldModel *model, const char *pass, VfErr *err);

/* NULL is allowed. */
void vf_effect_free(VfEffect *effect);

/* --- effect_report.c: NULL stands for "not measured" --- */

/* The key "effect" of the open object. */
void vf_effect_json(const VfEffect *effect, VfJson *json);

/* Two tables: outputs after each pass, and along the depth. Nothing for NULL. */
void vf_effect_text(const VfEffect *effect, VfArena *arena, VfText *text);

/* These tables: outputs after each pass; the ends of blocks with a column for each pass, of more
 * than fit the last ones. Of an effect with stages. */
void vf_effect_outputs(const VfEffect *effect, VfArena *arena, VfTable *table);
void vf_effect_blocks(const VfEffect *effect, VfArena *arena, VfTable *table);

/* A plot along the depth, one curve for each pass and one of the noise; empty for NULL or where
 * there is nothing to plot. In `arena`. */
VfStatus vf_effect_svg(const VfEffect *effect, VfArena *arena, VfBytes *svg, VfErr *err);

/* --- effect_page.c --- */

/* A section of a page; nothing for NULL. */
VfStatus vf_effect_section(const VfEffect *effect, VfPage *page, VfErr *err);

#endif
