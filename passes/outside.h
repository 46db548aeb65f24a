/* What a pass may ask of the world outside the graph. Layers above hand it in, so that passes
 * know neither files nor executors.
 */
#ifndef VF_OUTSIDE_H
#define VF_OUTSIDE_H

#include "passes/ir/graph.h"

/* Calibration data: samples of the model's inputs, kept by who made this. */
typedef struct VfCalibration VfCalibration;

/* Contents of the values asked for, in their order, for one batch of samples. They are readable
 * during the call only. A status other than VF_OK ends the measurement and is returned by it. */
typedef VfStatus VfCalibrationVisit(void *user, const VfTensor *const *tensor, VfErr *err);

struct VfCalibration {
    /* Run `model`, as it is now, over all samples and visit `n` values of its main graph batch by
     * batch. VF_UNSUPPORTED: it cannot be run, or a value is not computed. VF_USAGE: the samples
     * do not fit its inputs. */
    VfStatus (*measure)(const VfCalibration *self, const VfModel *model, int32_t n,
                        VfValue *const *value, VfCalibrationVisit *visit, void *user, VfErr *err);
};

/* The arrays of a file that an option names. */
typedef struct VfArrayFile {
    int32_t n;
    const char **name;
    const VfTensor **tensor;
} VfArrayFile;

/* Reads npz files. */
typedef struct VfArrayReader VfArrayReader;
struct VfArrayReader {
    /* All memory in `arena`. VF_IO, VF_INVALID, VF_NO_MEMORY as reading a file can fail. */
    VfStatus (*read)(const VfArrayReader *self, VfArena *arena, const char *path,
                     VfArrayFile *file, VfErr *err);
};

#endif
