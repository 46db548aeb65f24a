/* What insert_spa.c and its helpers share; private to both. */
#ifndef VF_SPA_INSERT_H
#define VF_SPA_INSERT_H

#include "passes/match/attention.h"
#include "passes/pass.h"
#include "passes/rewrite/rewrite.h"
#include "passes/spa/kernel.h"

/* Rows of the option "kernel" behind those of VfSpaKernel. */
enum { VF_SPA_SKIPINIT = VF_SPA_KERNEL_COUNT, VF_SPA_SHAPED };

typedef struct VfSpaOptions {
    int kernel;          /* VfSpaKernel, VF_SPA_SKIPINIT or VF_SPA_SHAPED */
    const char *tau;     /* a number; NULL: not given */
    double gamma, rho;   /* of the last layer; 0: found from rho_bar */
    double rho_bar;
    double delta, link;
    int unit_diag;
    int64_t max_tokens;  /* 0: none */
    const char *grid, *prefix; /* "auto" or given */
    double alpha, beta, center;
} VfSpaOptions;

/* Attention layers over the same tokens. */
typedef struct VfSpaGroup {
    VfDim tokens, windows;
    bool is_causal, is_window;
    int32_t grid_h, grid_w, prefix; /* 0: no grid */
    int32_t depth;       /* layers on the longest path */
    bool is_built;
    VfSpaStack stack;
    const char *why;     /* set when it cannot be built */
    VfValue **bias;      /* by layer, from 1: made already; NULL before */
} VfSpaGroup;

/* One selected site. */
typedef struct VfSpaSite {
    const VfAttention *site;
    VfSpaGroup *group;
    int32_t l; /* depth in the group, from 1 */
    const char *why; /* not to be changed, or NULL */
} VfSpaSite;

typedef struct VfSpaPlan {
    VfPassCx *cx;
    const VfSpaOptions *options;
    double tau;
    int32_t n_site, n_group;
    VfSpaSite *site;
    VfSpaGroup **group;
} VfSpaPlan;

/* Why a site takes no bias whatever the kernel, or NULL. spa_insert/sites.c */
const char *vf_spa_why_not(const VfSpaPlan *plan, const VfAttention *site);

/* Group the sites that can be changed and number their layers. spa_insert/sites.c */
VfStatus vf_spa_group_sites(VfSpaPlan *plan, VfErr *err);

/* The axis of the site's result that counts queries; -1: not found. */
int32_t vf_spa_query_axis(const VfAttention *site);

/* Insert bias and row factors, or the Value-SkipInit terms. spa_insert/build.c */
VfStatus vf_spa_insert(VfSpaPlan *plan, VfSpaSite *site, VfErr *err);
VfStatus vf_spa_insert_values(VfSpaPlan *plan, VfSpaSite *site, VfErr *err);

/* Build the stack of the site's group, once. */
VfStatus vf_spa_build(VfSpaPlan *plan, VfSpaGroup *group, VfErr *err);

/* The slot of a fused operator that takes a bias; -1: it has none. */
int32_t vf_spa_bias_slot(const VfNode *node);

#endif
