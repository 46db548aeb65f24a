/* Running a model in a test, on inputs made from a seed. */
#ifndef VF_TESTS_RUN_MODEL_H
#define VF_TESTS_RUN_MODEL_H

#include "passes/ir/graph.h"

/* The outputs of one run: tensors in the arena that was passed in. */
typedef struct VfTestOutputs {
    const VfTensor **tensor;
    int32_t n;
} VfTestOutputs;

/* Lower and run the main graph. Dimensions that are no plain number count 3 for each symbol; floats
 * lie in [-1, 1), integers in 0 .. 3. Equal seeds and input types give equal inputs. */
VfStatus vf_test_run(const VfModel *model, uint64_t seed, VfArena *arena, VfTestOutputs *outputs,
                     VfErr *err);

/* The same with the reference kernels. Those of BLAS may round a row of a product otherwise when it
 * stands among others, so equal bits are asked of these. */
VfStatus vf_test_run_reference(const VfModel *model, uint64_t seed, VfArena *arena,
                               VfTestOutputs *outputs, VfErr *err);

/* Largest |a-b| over all outputs, over max(1, largest |a|); infinite when shapes or dtypes
 * differ. */
double vf_test_distance(const VfTestOutputs *a, const VfTestOutputs *b);

#endif
