/* What passes see of the world outside the graph (passes/outside.h): samples of a model's inputs
 * that it is run on, and the arrays of files.
 *
 * Samples lie along the first axis of each array. An array is named after its input, or "x" for the
 * only one without a default, as in labelled data; its dtype is that of the input, and it is fed as
 * it is stored. Other arrays are left alone. An input whose first axis is fixed takes that many
 * samples a run, and those left over at the end are dropped with a note; one array for all runs is
 * allowed. Else a run takes a handful.
 */
#ifndef VF_API_CALIBRATION_H
#define VF_API_CALIBRATION_H

#include "converter/api/handle.h"
#include "passes/outside.h"

/* `data` for what `model` is read as or becomes; both must outlive it. In `arena`. */
VfStatus vf_calibration_new(VfArena *arena, const VitfoldModel *model, const VitfoldData *data,
                            const VfCalibration **calibration, VfErr *err);

/* VF_USAGE, as a measurement would say it, when the data does not fit the inputs of the model. */
VfStatus vf_calibration_check(VfArena *arena, const VitfoldModel *model, const VitfoldData *data,
                              VfErr *err);

/* The array that is fed to an input of `graph`, or NULL. */
const VfArray *vf_calibration_array(const VfGraph *graph, const VitfoldData *data,
                                    const VfValue *input);

/* Reads npz files. No state. */
const VfArrayReader *vf_array_reader(void);

#endif
