/* The nodes between two values, of which a fusing pass makes one operator. */
#ifndef VF_FUSE_SITE_H
#define VF_FUSE_SITE_H

#include "passes/ir/graph.h"

enum { VF_FUSE_NODE_MAX = 48 };

typedef struct VfFuseSite {
    const VfNode *node[VF_FUSE_NODE_MAX]; /* the node of `y` first */
    int32_t n;
} VfFuseSite;

/* Collect the nodes that make `y` from `x`, walking up from `y` and stopping at `x`. False: more
 * than there is room for, or `y` is no result. */
bool vf_fuse_collect(const VfValue *x, const VfValue *y, VfFuseSite *site);

/* A result of a collected node other than that of `y` which something else reads, as a graph output
 * too; NULL if none. */
const VfValue *vf_fuse_shared(const VfFuseSite *site);

/* Does the site hold a node of `op`? */
bool vf_fuse_has(const VfFuseSite *site, VfOp op);

/* Same dtype and provably the same dims, or the same unknown ones. */
bool vf_fuse_same_type(const VfValue *x, const VfValue *y);

/* The GELU around an Erf or Tanh, however written out: its x and y. fuse_gelu.c */
bool vf_gelu_find(VfNode *node, VfValue **x, VfValue **y);

#endif
