/* How far the token kernel has moved after each layer, and the slope of leaky ReLUs.
 *
 * Signal-preserving attention moves the kernel of the tokens from the identity (layer 0) to a
 * target at the last layer, L, so that every layer does the same share: for the exponential
 * kernel exp(-γ |i-j|) the Cholesky diagonal sqrt(1 - exp(-2γ)) is geometric in l, for the
 * uniform kernel (1-ρ) I + ρ 1 1ᵀ it is 1 - ρ. Source: He et al., ICLR 2023, section 3 and
 * appendix A.
 *
 * A deep stack of leaky ReLUs is kept from collapsing by its slope (tailored activation
 * transformation): φ(x) = sqrt(2 / (1 + s²)) lrelu_s(x) maps the correlation c of two inputs to
 * C(c) = c + (1-s)² / (π (1+s²)) (sqrt(1-c²) - c arccos c), and s is chosen so that the n-fold
 * composition from 0 is a target below 1.
 */
#ifndef VF_SPA_SCHEDULE_H
#define VF_SPA_SCHEDULE_H

#include <stdint.h>

#include "runtime/base/status.h"

/* The exponential kernel after layer l of `depth`: 0 <= l <= depth; gamma_last > 0. */
typedef struct VfSpaDecay {
    double gamma;   /* INFINITY for l = 0 */
    double lambda;  /* exp(-gamma), 0 for l = 0 */
    double a;       /* sqrt(1 - lambda²), 1 for l = 0 */
    double one_less; /* 1 - lambda, without cancellation */
} VfSpaDecay;

VfSpaDecay vf_spa_decay(double gamma_last, int32_t depth, int32_t l);

/* lambda² of layer l less that of layer l - 1, without cancellation; l >= 1. */
double vf_spa_decay_step(double gamma_last, int32_t depth, int32_t l);

/* ρ after layer l: 1 - ρ_l = (1 - ρ_last)^(l/depth); 0 <= ρ_last < 1. */
double vf_spa_rho(double rho_last, int32_t depth, int32_t l);

/* --- leaky ReLU --- */

/* C(c) of one leaky ReLU; c in [-1, 1], slope in [0, 1]. */
double vf_tat_map(double slope, double c);

/* C applied n times, from 0. */
double vf_tat_compose(double slope, int32_t n);

/* The factor sqrt(2 / (1 + s²)) that keeps the mean square. */
double vf_tat_scale(double slope);

enum { VF_TAT_MAX_LAYERS = 100000 };

/* The slope for which n layers map 0 to `target` (usually 0.9). VF_USAGE: target not in (0, 1), n
 * not in 1..VF_TAT_MAX_LAYERS. VF_UNSUPPORTED: even plain ReLU stays below the target; the
 * sentence says how far it comes. */
VfStatus vf_tat_solve(int32_t n, double target, double *slope, VfErr *err);

#endif
