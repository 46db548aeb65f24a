/* What the files of this folder share. `spec` is resolved everywhere. */
#ifndef VF_SPA_PARTS_H
#define VF_SPA_PARTS_H

#include "passes/spa/kernel.h"

/* Fill layer->A (allocated, zero) with the matrix before the floor. A kernel that knows the
 * logarithms of its entries writes them to layer->B as well and says so. Scratch is freed by the
 * caller. */
typedef VfStatus VfSpaFill(VfArena *scratch, const VfSpaSpec *spec, VfSpaLayer *layer,
                           bool *has_log, VfErr *err);
VfSpaFill vf_spa_fill_causal, vf_spa_fill_line, vf_spa_fill_grid, vf_spa_fill_graph,
    vf_spa_fill_uniform_causal, vf_spa_fill_uniform;

/* Fill `sigma` (allocated, zero) with Σ_l, l >= 1. */
typedef VfStatus VfSpaSigma(VfArena *scratch, const VfSpaSpec *spec, int32_t l, VfMatrix *sigma,
                            VfErr *err);
VfSpaSigma vf_spa_sigma_line, vf_spa_sigma_grid, vf_spa_sigma_graph, vf_spa_sigma_uniform;

/* Mean of Σ_L off its diagonal for target spec->target. */
typedef VfStatus VfSpaMean(VfArena *scratch, const VfSpaSpec *spec, double *mean, VfErr *err);
VfSpaMean vf_spa_mean_line, vf_spa_mean_grid, vf_spa_mean_graph;

/* Σ_l^½ Σ_{l-1}^-½ of the exponential kernel on a line of `n`. */
VfStatus vf_spa_line_root(VfArena *scratch, const VfSpaSpec *spec, int32_t l, int32_t n,
                          VfMatrix *A, VfErr *err);

#endif
