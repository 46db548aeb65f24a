/* What linearize_attention.c and its helpers share; private to both.
 *
 * Axes are told apart by letters of the scores' product (passes/match/product.h), and one more for
 * the width of V. Everything is built in one layout: the batch axes in the order of the scores,
 * then the two axes a step needs.
 */
#ifndef VF_LINEAR_LINEAR_H
#define VF_LINEAR_LINEAR_H

#include "passes/attention/unfuse.h"
#include "passes/match/attention.h"
#include "passes/match/product.h"
#include "passes/pass.h"
#include "passes/rewrite/rewrite.h"

enum { VF_LINEAR_PATH_MAX = 32 };

/* Rows of the options "order", "key-position", "dwc" and "upsample". */
enum { VF_ORDER_AUTO, VF_ORDER_LINEAR, VF_ORDER_QUADRATIC };
enum { VF_POSITION_OFF, VF_POSITION_ON, VF_POSITION_NPZ };
enum { VF_DWC_OFF, VF_DWC_ZERO, VF_DWC_IDENTITY, VF_DWC_NPZ, VF_DWC_LSQ };
enum { VF_UPSAMPLE_NEAREST, VF_UPSAMPLE_LINEAR_1D };

typedef struct VfLinearOptions {
    double eps;
    int order;          /* VF_ORDER_* */
    int key_position;   /* VF_POSITION_* */
    int dwc;            /* VF_DWC_* */
    int64_t kernel;     /* width of the convolution, odd */
    const char *grid;   /* "auto" or "HxW" */
    const char *prefix; /* "auto" or a number */
    const char *dwc_file; /* of VF_DWC_NPZ; NULL otherwise */
    const char *position_file; /* of VF_POSITION_NPZ; NULL otherwise */
    double ridge;         /* of VF_DWC_LSQ */
    int upsample;         /* VF_UPSAMPLE_* */
} VfLinearOptions;

/* An operand of the new form: a value of the graph and a letter for each of its axes. */
typedef struct VfLettered {
    VfValue *value;
    int32_t rank;
    int8_t letter[VF_AXIS_MAX];
} VfLettered;

/* Where the patch tokens lie among the keys and the queries. */
typedef struct VfTokenGrid {
    int64_t prefix, suffix;         /* queries before and behind the grid */
    int64_t key_prefix, key_suffix; /* the same of the keys */
    int64_t h, w;                   /* grid of the queries */
    int64_t stride;                 /* queries per key along each side (spatial reduction) */
} VfTokenGrid;

/* First weights of the convolution, in the dtype of the site's result; NULL is zero. */
typedef struct VfDwcWeights {
    const VfTensor *kernel, *bias; /* [d_v, 1, kernel, kernel] and [d_v] */
    double r2;                     /* of VF_DWC_LSQ: part of the variance that they explain */
} VfDwcWeights;

/* Nodes from the weights up to the raw scores, nearest to the weights first. */
typedef struct VfLinearPath {
    int32_t n;
    VfNode *node[VF_LINEAR_PATH_MAX];
} VfLinearPath;

/* Where the heads of K are: on an axis (or there is one head); inner or outer factor of the only
 * batch axis; not told. */
typedef enum VfHeadsPlace {
    VF_HEADS_AXIS,
    VF_HEADS_INNER,
    VF_HEADS_OUTER,
    VF_HEADS_HIDDEN
} VfHeadsPlace;

/* What leaves removed keys out of the sums: nothing to do; a factor of φ(K), for all queries see
 * the same keys; a factor of φ(Q)φ(K)ᵀ, in the quadratic form. */
typedef enum VfLinearMask {
    VF_LINEAR_MASK_NONE,
    VF_LINEAR_MASK_KEYS,
    VF_LINEAR_MASK_PAIRS
} VfLinearMask;

/* One site as it will be built. */
typedef struct VfLinearSite {
    VfPassCx *cx;
    const VfLinearOptions *options;
    const VfAttention *site;
    VfRewrite *rw;
    VfProduct score, product; /* Q Kᵀ and P V */
    VfLettered q, k, v, out;
    int8_t batch[VF_AXIS_MAX]; /* letters of the batch axes */
    int32_t n_batch;
    int8_t query, key, width, value_width; /* letters of N_q, N_k, d, d_v */
    VfDim n_q, n_k, d, d_v;
    VfLinearPath path;
    bool is_straight; /* weights and scores have the same axes: batch, N_q, N_k */
    VfTokenGrid grid; /* valid when there is a convolution */
    VfHeadsPlace heads; /* valid when there are key positions */
    VfLinearMask mask;
    bool is_fused;
    VfUnfused unfused; /* valid while a fused operator is rewritten */
    VfDwcWeights dwc;
    const VfTensor *position; /* key positions [heads, d, N_k], in the dtype of the site's result;
                               * NULL: zero */
    const char *why; /* why it is left alone, or NULL */
} VfLinearSite;

/* Fill the letters, dims and the path. Returns why the site cannot be read, or NULL.
 * linear/layout.c */
const char *vf_linear_read(VfLinearSite *work);

/* The same of a fused operator: the letters are those that its operands have once taken apart,
 * which vf_linear_split_fused does. linear/fused.c */
const char *vf_linear_read_fused(VfLinearSite *work);
void vf_linear_split_fused(VfLinearSite *work);

/* `operand` with its axes as batch, `a`, `b`; leading batch axes it does not have stay away. */
VfValue *vf_linear_arrange(const VfLinearSite *work, const VfLettered *operand, int8_t a, int8_t b);

/* The result (batch, N_q, d_v) in the layout of the old result. */
VfValue *vf_linear_restore(const VfLinearSite *work, VfValue *value);

/* Swap the last two axes. */
VfValue *vf_linear_swap(const VfLinearSite *work, VfValue *value);

/* Tell work->mask of a site that has been read. Returns why its masks cannot be multiplied, or
 * NULL. linear/mask.c */
const char *vf_linear_find_mask(VfLinearSite *work);

/* Zero what removed keys add: `x` times the masks as 0 and 1 if they are of the form `where`, else
 * `x` as it is. `x` is φ(K) (batch, d, N_k) for KEYS, φ(Q)φ(K)ᵀ (batch, N_q, N_k) for PAIRS. */
VfValue *vf_linear_mask(VfLinearSite *work, VfLinearMask where, VfValue *x);

/* Find the grid of tokens. Returns why it is not known, in the pass's arena, or NULL.
 * linear/grid.c */
const char *vf_linear_find_grid(VfLinearSite *work);

/* The depthwise convolution of V, zero for tokens outside the grid: (batch, N_q, d_v).
 * linear/conv.c */
VfValue *vf_linear_convolve(const VfLinearSite *work);

/* First weights of the `n` sites that have no `why` yet, from the files that the options name, or
 * fitted to the calibration data, before anything is rewritten. A site that gets none is given a
 * `why`. VF_USAGE: an array has another shape. linear/arrays.c, linear/fit.c */
VfStatus vf_linear_load(VfPassCx *cx, VfLinearSite *site, int32_t n, VfErr *err);
VfStatus vf_linear_fit(VfLinearSite *site, int32_t n, VfErr *err);

/* K + P of K (batch, d, N_k), P the table given, or of zeros. linear/position.c */
VfHeadsPlace vf_linear_find_heads(const VfLinearSite *work);
VfValue *vf_linear_add_position(const VfLinearSite *work, VfValue *k);

/* What is added to the sum of the weights φ(q)·φ(k). In half precision, which works with about
 * their means, this is about N_k times what stands in the graph; N_k known. linear/build.c */
double vf_linear_epsilon(const VfLinearSite *work);

/* What the weights of a softmax are multiplied by behind it: the new ones are, too. NaN: not one
 * number. linear/build.c */
double vf_linear_gain(const VfLinearSite *work);

/* Are the numbers the cost depends on known? Then: does the linear form cost less than softmax, and
 * the number of tokens from which on it does (queries and keys alike). linear/build.c */
bool vf_linear_has_sizes(const VfLinearSite *work);
bool vf_linear_pays(const VfLinearSite *work);
double vf_linear_break_even(const VfLinearSite *work);

/* Replace the site that vf_linear_read has read. */
VfStatus vf_linear_rewrite(VfLinearSite *work, VfErr *err);

#endif
