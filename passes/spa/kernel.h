/* The attention matrices of signal-preserving attention (SPA).
 *
 * In a stack of attention layers without skips, whose value and output projections are
 * orthogonal, the kernel of the tokens after layer l is Σ_l = Π_l Π_lᵀ with Π_l = A_l ... A_1.
 * Choose the kernels Σ_0 = I, ..., Σ_L and factors F_l F_lᵀ = Σ_l; then A_l = F_l F_{l-1}⁻¹ runs
 * through them exactly. Causal: F is the Cholesky factor. Otherwise: a symmetric root. Where
 * A >= 0 a softmax can realise it at zero logits:
 *
 *     D = diag(A 1),  P = D⁻¹ A,  B = log P        A = D softmax(B)
 *
 *     name           Σ_l[i,j]                                            A_l
 *     causal         exp(-γ_l |i-j|)                                     lower triangular
 *     s              exp(-γ_l |i-j|)                                     Σ_l^½ Σ_{l-1}^-½
 *     g              exp(-γ_l (|Δrow| + |Δcolumn|))                      Kronecker of two s
 *     r              resolvent c (m I + Laplacian)⁻¹ of the token graph  symmetric up to scaling
 *     u-causal       (1-ρ_l) I + ρ_l 1 1ᵀ                                lower triangular
 *     u              (1-ρ_l) I + ρ_l 1 1ᵀ                                p I + q 1 1ᵀ
 *
 * All are in closed form but for the roots of s and g, whose eigenvalues are found by halving.
 * Everything is double. Sources: He et al., ICLR 2023, sections 3 and A; the resolvent kernel is
 * our own: its A is non-negative for every graph, since (Laplacian + s I)⁻¹ is the inverse of an
 * M-matrix.
 */
#ifndef VF_SPA_KERNEL_H
#define VF_SPA_KERNEL_H

#include <stdbool.h>

#include "passes/spa/matrix.h"

typedef enum VfSpaKernel {
    VF_SPA_AUTO,     /* see vf_spa_choose */
    VF_SPA_CAUSAL,   /* E-SPA, causal */
    VF_SPA_LINE,     /* s: E-SPA on the order of the tokens */
    VF_SPA_GRID,     /* g: E-SPA on a grid without prefix tokens */
    VF_SPA_GRAPH,    /* r: a grid with prefix tokens joined to all of it */
    VF_SPA_UNIFORM_CAUSAL, /* U-SPA, causal */
    VF_SPA_UNIFORM,  /* u: U-SPA */
    VF_SPA_KERNEL_COUNT
} VfSpaKernel;

/* "auto", "causal", "s", "g", "r", "u-causal", "u". */
const char *vf_spa_kernel_name(VfSpaKernel kernel);

/* Whether A, B and D for fewer tokens are the leading block of those for more (with the same
 * target), so that a graph with a run-time token count may slice them: the causal kernels. */
bool vf_spa_is_leading(VfSpaKernel kernel);

/* Whether the kernel's target is ρ rather than γ. */
bool vf_spa_is_uniform(VfSpaKernel kernel);

enum { VF_SPA_MAX_DEPTH = 4096 };

/* What to build. Begin with vf_spa_spec. */
typedef struct VfSpaSpec {
    VfSpaKernel kernel;
    bool is_causal;      /* AUTO: the attention has a causal mask */
    int32_t tokens;      /* T, 1..VF_MATRIX_MAX */
    int32_t grid_h, grid_w, prefix; /* g, r: prefix + grid_h grid_w = tokens; else 0: no grid */
    double link;         /* r: weight of the edges of prefix tokens; 0: 1 / sqrt(grid tokens) */
    int32_t depth;       /* L */
    double target;       /* γ_L > 0, or ρ_L in (0, 1); 0: found from mean_correlation */
    double mean_correlation; /* mean of Σ_L off its diagonal, in (0, 1); default 0.5 */
    bool is_raw_diagonal; /* r: keep the diagonal of Σ at mean 1 only; then D is a scalar */
    double floor;        /* A is at least this share of its row's largest entry; 0: causal only */
} VfSpaSpec;

/* The defaults: floor 1e-12, mean correlation 0.5, no grid, target to be found. */
VfSpaSpec vf_spa_spec(VfSpaKernel kernel, int32_t tokens, int32_t depth);

/* One layer. A masked entry (above the diagonal of a causal kernel) is 0 in A and in B: the mask
 * of the graph hides it. */
typedef struct VfSpaLayer {
    int32_t l;       /* 1..depth */
    bool is_causal;
    VfMatrix A, B;   /* T x T, after the floor: A = D exp(B) */
    double *D;       /* T row factors */
    bool is_scalar;  /* all D are D[0]: it may be folded into the output projection */
    double smallest; /* unmasked entry of A before the floor */
    double largest;
    double row_error; /* largest |1 - row sum of exp(B)| */
} VfSpaLayer;

/* Resolve what `spec` leaves open: the kernel of AUTO, the target, the link weight. VF_USAGE with
 * a sentence that says why it cannot be built: sizes, a grid that does not fit, numbers out of
 * range. */
VfStatus vf_spa_resolve(const VfSpaSpec *spec, VfSpaSpec *resolved, VfErr *err);

/* Layer `l` of a stack, counted from 1. Memory in `arena`: 16 T² bytes and little more, also
 * for what is needed on the way. Entries may be negative (see smallest). */
VfStatus vf_spa_layer(VfArena *arena, const VfSpaSpec *spec, int32_t l, VfSpaLayer *layer,
                      VfErr *err);

/* The kernel Σ_l (l = 0: the identity). */
VfStatus vf_spa_sigma(VfArena *arena, const VfSpaSpec *spec, int32_t l, VfMatrix *sigma,
                      VfErr *err);

/* --- whole stacks --- */

/* What was found out about a stack after it was built. */
typedef struct VfSpaCheck {
    double smallest, largest; /* unmasked entry of all A, before the floor */
    int32_t smallest_layer;
    double row_error;     /* largest |1 - row sum of exp(B)| */
    double product_error; /* largest |Π_L Π_Lᵀ - Σ_L| over the rows looked at */
    int32_t n_row;        /* rows looked at: all up to 64, else 64 spread evenly */
} VfSpaCheck;

typedef struct VfSpaStack {
    VfSpaSpec spec;       /* resolved */
    const char *fallback; /* why AUTO's first choice was not taken; NULL if it was */
    int32_t n_layer;
    VfSpaLayer *layer;
    VfSpaCheck check;
} VfSpaStack;

/* All layers, checked. A stack whose smallest entry is below -1e-12 of its largest cannot be a
 * softmax, one whose product error is above 1e-6 (with a floor up to 1e-9) is not what was asked
 * for: AUTO then takes r where there is a grid, else u or u-causal; an explicit kernel is
 * VF_UNSUPPORTED. VF_UNSUPPORTED too: more than VF_SPA_STACK_BYTES of matrices. Memory in
 * `arena`. */
VfStatus vf_spa_stack(VfArena *arena, const VfSpaSpec *spec, VfSpaStack *stack, VfErr *err);

#define VF_SPA_STACK_BYTES ((int64_t)1 << 31)

/* The kernel AUTO stands for: causal; r on a grid with prefix tokens; g on a grid without; s for
 * up to 1024 tokens without a grid; else u. */
VfSpaKernel vf_spa_choose(const VfSpaSpec *spec);

/* The target for which the mean of Σ_L off its diagonal is spec->mean_correlation; `spec` has its
 * kernel chosen. VF_UNSUPPORTED: no target gives it (one token alone). */
VfStatus vf_spa_target(const VfSpaSpec *spec, double *target, VfErr *err);

/* --- using a layer otherwise (compose.c) --- */

/* Strength τ in [0, 1]: B becomes τ B, D becomes D^τ, A what they give. 0: the attention as it
 * was; 1: no change. */
void vf_spa_weaken(VfSpaLayer *layer, double tau);

/* The additive bias that gives A through a point-wise attention A = h(S + bias) / scale at S = 0,
 * where scale is L^alpha: relu and identity: scale A; relu2: sqrt(scale A); softplus:
 * log(expm1(scale A)). Masked pairs get 0. VF_UNSUPPORTED for other functions, saying why. */
VfStatus vf_spa_pointwise_bias(VfArena *arena, const VfSpaLayer *layer, const char *act,
                               double scale, VfMatrix *bias, VfErr *err);

/* alpha I + beta A - gamma C in place of A: Value-SkipInit (gamma = 0, C may be NULL) and shaped
 * attention, C being A at zero logits. Square, of one size. */
void vf_spa_shape(VfMatrix *A, double alpha, double beta, double gamma, const VfMatrix *C);

#endif
