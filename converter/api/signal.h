/* How the tokens of a model come to resemble each other on their way through its attention.
 *
 * With logits at zero (no data): every value of the graph that holds tokens carries their kernel,
 * the expected products of two tokens, from the identity where the first attention reads them.
 *
 *     attention        K -> mean over heads of A K Aᵀ, where A is what the graph computes from
 *                      scores of zero: masks, biases, factors of rows and of keys and values with
 *                      it, so uniform for a plain softmax, h(0) / L^α for a point-wise one
 *     weights          none: projections are taken for random and orthogonal
 *     a x + b f(x)     a² K + b² K': the branch's weights make it independent of the stream. A
 *                      plain skip is a = b = 1; normalize-skip's factors are read from the graph.
 *                      What is summed without weights between is summed as it is (α V + β A V)
 *     layer/RMS norm   K to correlations, K_ij / √(K_ii K_jj): so the stream of a pre-norm net
 *                      grows and the share of later branches falls
 *     ReLU, leaky ReLU C(c) of its slope; smooth activations are left out
 *     else             none; positions, masks of tokens, batch norms among them
 *
 * With data: the same numbers of the products of the tokens themselves, sample by sample, and the
 * numerical ranks of the attention matrices.
 *
 * Everything lies in the arena of the report.
 */
#ifndef VF_API_SIGNAL_H
#define VF_API_SIGNAL_H

#include "converter/api/handle.h"
#include "converter/api/sites.h"
#include "passes/outside.h"
#include "passes/spa/matrix.h"

/* Of a kernel or a Gram matrix. NaN: a token is zero, or there is one token only. */
typedef struct VfSignalShape {
    double correlation; /* mean off the diagonal */
    double rank;        /* effective: T² / (sum of squared correlations), 1 to T */
    double low, high;   /* of the diagonal */
} VfSignalShape;

/* The matrices of one attention: those of all heads and windows, or one if all are equal. */
typedef struct VfSignalMap {
    int32_t n;
    VfMatrix *matrix; /* queries x keys */
    const char *note; /* what was left out, or NULL */
} VfSignalMap;

typedef struct VfSignalRow {
    const VfAttention *site;
    const char *note;     /* what could not be told, or NULL */
    VfValue *output;      /* of the block, where it joins the stream, or NULL: not found */
    int32_t tokens;       /* queries of one attention; 0: not known */
    bool has_zero, has_data;
    VfSignalShape zero, data;
    double zero_rank;     /* mean numerical rank of the matrices at zero logits */
    double rank, rank_low, rank_high; /* of those measured; NaN: none could be read */
} VfSignalRow;

typedef struct VfSignal {
    const char *title;
    int32_t n_row;
    VfSignalRow *row;
    int64_t n_sample; /* measured */
} VfSignal;

/* --- signal_shape.c --- */

VfSignalShape vf_signal_shape(const VfMatrix *kernel);

/* `tokens` rows of `width` numbers; scratch in `arena`. */
VfStatus vf_signal_shape_of_tokens(VfArena *arena, const double *x, int32_t tokens, int32_t width,
                                   VfSignalShape *shape, VfErr *err);

/* How many singular values are above the longer side times 1.2e-7 (the float epsilon) of the
 * largest. Scratch in `arena`. */
VfStatus vf_signal_rank(VfArena *arena, const VfMatrix *matrix, int32_t *rank, VfErr *err);

/* --- signal_map.c --- */

/* What the graph computes for the site from scores of zero. VF_UNSUPPORTED says why it cannot be
 * told. */
VfStatus vf_signal_map(VfArena *arena, const VfAttention *site, VfSignalMap *map, VfErr *err);

/* --- signal_walk.c --- */

/* Fill the rows from the graph alone; `sites` are of `model`, which has no symbolic sizes. */
VfStatus vf_signal_walk(VfArena *arena, const VfModel *model, const VfSiteList *sites,
                        VfSignal *signal, VfErr *err);

/* --- signal_measure.c --- */

/* Run the model on samples and fill in what the rows' outputs and matrices are. */
VfStatus vf_signal_measure(VfArena *arena, const VfModel *model, const VfCalibration *data,
                           VfSignal *signal, VfErr *err);

/* --- signal_data.c --- */

/* The sizes of `options`, and those that the data has for other symbols. */
VfStatus vf_signal_dims(VfArena *arena, const VfModel *ir, const VitfoldSignalOptions *options,
                        VitfoldDim **dim, size_t *n_dim, VfErr *err);

/* --- signal_report.c --- */

void vf_signals_json(const VfSignal *signal, size_t n, VfJson *json);
void vf_signals_text(const VfSignal *signal, size_t n, VfArena *arena, VfText *text);
VfStatus vf_signals_svg(const VfSignal *signal, size_t n, VfArena *arena, VfBytes *svg,
                        VfErr *err);

#endif
