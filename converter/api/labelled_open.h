/* Labelled data for one model. */
#ifndef VF_API_LABELLED_OPEN_H
#define VF_API_LABELLED_OPEN_H

#include "converter/api/handle.h"
#include "converter/data/labelled.h"

/* The only input that a run of `model` must be given. VF_UNSUPPORTED when there are more or
 * none. */
VfStatus vf_single_input(const VitfoldModel *model, const VfValue **input, VfErr *err);

/* Open the npz file or the folder at `path`; images become what `model` and `options` say. Memory
 * in `arena`. */
VfStatus vf_labelled_open(VfArena *arena, const char *path, const VitfoldModel *model,
                          const VitfoldEvalOptions *options, VfLabelled *data, VfErr *err);

/* What is done to the samples before they are fed, in words, in `arena`. */
const char *vf_labelled_preprocessing(VfArena *arena, const VfLabelled *data);

#endif
