/* What insert_spa.c and its helpers share; private to both. */
#ifndef VF_SPA_INSERT_H
#define VF_SPA_INSERT_H

#include "passes/match/attention.h"
#include "passes/match/axis.h"
#include "passes/pass.h"
#include "passes/rewrite/rewrite.h"
#include "passes/spa/kernel.h"
#include "passes/spa_insert/own.h"

/* Rows of the option "kernel" behind those of VfSpaKernel. */
enum { VF_SPA_SKIPINIT = VF_SPA_KERNEL_COUNT, VF_SPA_SHAPED };

/* How attention without a softmax takes A up; rows of the option "form". */
typedef enum VfSpaForm {
    VF_SPA_ADDITIVE,       /* factor h(S + B_h), h(B_h) = A / factor */
    VF_SPA_MULTIPLICATIVE, /* A ⊙ h(1 + S), h(1) = 1 */
    VF_SPA_SPLIT           /* A V + factor h(S) V */
} VfSpaForm;

typedef struct VfSpaOptions {
    int kernel;          /* VfSpaKernel, VF_SPA_SKIPINIT or VF_SPA_SHAPED */
    const char *tau;     /* a number; NULL: not given */
    int form;            /* VfSpaForm */
    double gamma, rho;   /* of the last layer; 0: found from rho_bar */
    double rho_bar;
    double delta, link;
    int unit_diag, fold;
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
    double factor; /* POINTWISE: what the function's result is multiplied by */
    double shift;  /* POINTWISE: numbers added to all logits alike */
    VfMatrix bias; /* POINTWISE, form additive: B_h, by vf_spa_why_not_form */
} VfSpaSite;

typedef struct VfSpaPlan {
    VfPassCx *cx;
    const VfSpaOptions *options;
    double tau;
    int32_t n_site, n_group;
    VfSpaSite *site;
    VfSpaGroup **group;
} VfSpaPlan;

/* --- sites.c --- */

/* Set work->why where a site takes no bias whatever the kernel, and what else is told by the site
 * alone. */
void vf_spa_look_at(const VfSpaPlan *plan, VfSpaSite *work);

/* Group the sites that can be changed and number their layers. */
VfStatus vf_spa_group_sites(VfSpaPlan *plan, VfErr *err);

/* The axis of the site's result that counts queries; -1: not found. */
int32_t vf_spa_query_axis(const VfAttention *site);

/* The slot of a fused operator that takes a bias; -1: it has none. */
int32_t vf_spa_bias_slot(const VfNode *node);

/* --- build.c --- */

/* Build the stack of the site's group, once. */
VfStatus vf_spa_build(VfSpaPlan *plan, VfSpaGroup *group, VfErr *err);

typedef struct VfSpaShape {
    VfDtype dtype;
    int32_t rank;
    int64_t dims[VF_AXIS_MAX];
} VfSpaShape;

/* A constant. */
VfValue *vf_spa_const(const VfSpaPlan *plan, VfRewrite *rw, const VfSpaShape *shape,
                      const double *from, const char *hint);

/* The matrix as a constant of two axes. */
VfValue *vf_spa_matrix(const VfSpaPlan *plan, VfRewrite *rw, VfDtype dtype, const VfMatrix *matrix,
                       const char *hint);

/* Begin the rewrite of a site. NULL: out of memory. */
VfRewrite *vf_spa_begin(const VfSpaPlan *plan, const VfAttention *site, const char *rule);

/* Say in the journal what was built. */
void vf_spa_note(const VfSpaPlan *plan, const VfSpaSite *work, VfRewrite *rw, const char *more);

/* Insert bias and row factors around a softmax. */
VfStatus vf_spa_insert(VfSpaPlan *plan, VfSpaSite *work, VfErr *err);

/* --- pointwise.c --- */

/* Why the options cannot be met at a point-wise site, or NULL in `*why`; then work->bias is set
 * where the form needs it. */
VfStatus vf_spa_why_not_form(const VfSpaPlan *plan, VfSpaSite *work, const char **why, VfErr *err);

VfStatus vf_spa_insert_pointwise(VfSpaPlan *plan, VfSpaSite *work, VfErr *err);

/* The point-wise function at `x`. False: not known. */
bool vf_spa_act_at(const char *act, double x, double *y);

/* --- values.c --- */

/* Why nothing can be added to what the values give, or NULL. */
const char *vf_spa_why_not_values(const VfAttention *site);

/* The values in the layout of the site's result: weights W V of them come out as W times this.
 * Precondition: vf_spa_why_not_values gives NULL. */
VfValue *vf_spa_values(VfRewrite *rw, const VfAttention *site);

/* alpha V + beta O - center C V */
VfStatus vf_spa_insert_values(VfSpaPlan *plan, VfSpaSite *work, VfErr *err);

#endif
