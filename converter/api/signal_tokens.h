/* Token kernels on their way through a graph: the state of each value, and the rules by which
 * nodes change it. signal.h says what the rules are; this is shared by the files that hold them.
 */
#ifndef VF_API_SIGNAL_TOKENS_H
#define VF_API_SIGNAL_TOKENS_H

#include "converter/api/signal.h"

/* What a value holds: linear maps of the tokens of one source. Values of one source are summed as
 * maps, values of two as independent. */
typedef struct VfTokens {
    int32_t source;
    int32_t n;              /* tokens of the source */
    const VfMatrix *kernel; /* of the source; NULL: identity */
    int32_t n_map;          /* 0: the identity */
    const VfMatrix *map;    /* of each head: tokens now x tokens of the source */
    double factor;          /* of all maps */
    int32_t site;           /* the attention whose branch this is; -1: none */
    int32_t n_product;      /* products with weights behind that attention */
} VfTokens;

typedef struct VfWalk {
    VfArena *arena;
    VfSignal *signal;
    const VfTokens **state; /* by value id; NULL: no attention has read tokens before it */
    int32_t *site_of;       /* by node id: 1 + the site that ends there */
    int32_t *norm_of;       /* by node id: 1 + the layer norm that ends there */
    int32_t n_source;
} VfWalk;

/* --- signal_tokens.c --- */

/* VF_UNSUPPORTED: all of them would take too much memory; the arena gives none back. */
VfStatus vf_walk_matrix(VfWalk *walk, int32_t n_row, int32_t n_col, VfMatrix *m, VfErr *err);

/* Uniform attention: one row says all. */
bool vf_walk_has_equal_rows(const VfMatrix *m);

static inline int32_t vf_tokens_count(const VfTokens *t)
{
    return t->n_map == 0 ? t->n : t->map[0].n_row;
}

/* The kernel of the tokens themselves. */
VfStatus vf_tokens_kernel(VfWalk *walk, const VfTokens *t, VfMatrix *kernel, VfErr *err);

/* A copy of `value`; NULL when out of memory. */
VfTokens *vf_tokens_new(VfWalk *walk, VfTokens value);

/* `n` tokens that are independent of all others. `kernel` (NULL: identity) is copied, its numbers
 * are not. */
VfStatus vf_tokens_source(VfWalk *walk, int32_t n, const VfMatrix *kernel, VfTokens **out,
                          VfErr *err);

/* --- signal_rules.c --- */

/* Give `value` its tokens, and note that the branch of a site has come so far. */
void vf_walk_keep(VfWalk *walk, const VfValue *value, const VfTokens *t);

VfStatus vf_walk_norm(VfWalk *walk, const VfLayerNorm *norm, VfErr *err);

/* The rule for any node that ends neither an attention nor a layer norm. */
VfStatus vf_walk_node(VfWalk *walk, VfNode *node, VfErr *err);

#endif
