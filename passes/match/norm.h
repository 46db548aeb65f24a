/* Normalisation layers as passes see them, decomposed or not.
 *
 * Source: ONNX LayerNormalization (17), RMSNormalization (23), BatchNormalization (7, 9, 14, 15);
 * RepBN(x) = BN(x) + η x of SLAB (spec section 2).
 */
#ifndef VF_MATCH_NORM_H
#define VF_MATCH_NORM_H

#include "passes/ir/graph.h"

typedef struct VfLayerNorm {
    const char *label;
    VfNode *root; /* first node of the site in graph order (ReduceMean, ReduceL2 or the operator) */
    VfNode *last; /* node whose result is the normalised (scaled, shifted) value */
    VfValue *x, *y;         /* what is normalised; the result */
    VfValue *scale, *shift; /* NULL when absent */
    double epsilon;
    int32_t n_axis; /* axes normalised over, ascending, non-negative */
    int32_t axis[8];
    VfDim width; /* elements normalised over */
    bool is_rms; /* no mean subtraction */
    bool is_decomposed;
    const char *differs; /* why it is not the function of the operators (epsilon elsewhere, variance
                          * of a sample), NULL: it is */
    bool is_over_channels; /* between two Transposes, or over axis 1 of an image */
} VfLayerNorm;

enum { VF_NORM_BACK_MAX = 3 };

/* One BatchNormalization, with the RepBN sum around it if there is one. */
typedef struct VfBatchNorm {
    const char *label;
    VfNode *bn;        /* the BatchNormalization node */
    VfNode *last;      /* bn itself, or the Add of a RepBN */
    VfValue *x, *y;    /* what goes into bn; what comes out of `last` */
    bool is_rep;       /* BN(x) + η x */
    VfValue *eta;      /* η, constant; NULL if not rep or η = 1 (plain BN(x) + x) */
    VfNode *mul, *add; /* nodes of the RepBN sum, NULL otherwise; mul NULL too when η = 1 */
    VfNode *back[VF_NORM_BACK_MAX]; /* Transposes and views between bn and add, in order, when η x
                                     * is taken before those in front of bn that they undo: then y
                                     * has the layout before these, x the one behind them */
    int32_t n_back;
    const VfTensor *gamma, *beta, *mean, *var; /* NULL when not constant: then `why` says so */
    double epsilon;
    int64_t channels;     /* -1 when gamma is not constant */
    const char *why;      /* reason that the parameters cannot be read, or NULL */
} VfBatchNorm;

typedef struct VfNorms {
    VfLayerNorm *layer;
    int32_t n_layer;
    VfBatchNorm *batch;
    int32_t n_batch;
} VfNorms;

/* Find all norms of the model in graph order, on a normalised graph. All memory in `arena`. */
VfStatus vf_find_norms(VfArena *arena, VfModel *model, VfNorms *found, VfErr *err);

/* RepBN or BN as one affine map: a = γ/σ + η, c = β - γμ/σ in double, `channels` entries each, in
 * `arena`. VF_UNSUPPORTED with the reason when parameters are not constant. */
VfStatus vf_batch_norm_affine(VfArena *arena, const VfBatchNorm *bn, double **a, double **c,
                              VfErr *err);

#endif
