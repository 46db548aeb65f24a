#include "passes/fuse_site.h"

#include "passes/ir/shape.h"

static bool holds(const VfFuseSite *site, const VfNode *node)
{
    for (int32_t i = 0; i < site->n; i++) {
        if (site->node[i] == node)
            return true;
    }
    return false;
}

static bool add(VfFuseSite *site, const VfNode *node)
{
    if (holds(site, node))
        return true;
    if (site->n == VF_FUSE_NODE_MAX)
        return false;
    site->node[site->n++] = node;
    return true;
}

bool vf_fuse_collect(const VfValue *x, const VfValue *y, VfFuseSite *site)
{
    site->n = 0;
    if (y == NULL || y->kind != VF_VALUE_RESULT || y->def == NULL || y == x)
        return false;
    add(site, y->def);
    for (int32_t i = 0; i < site->n; i++) {
        for (int32_t k = 0; k < site->node[i]->n_in; k++) {
            const VfValue *in = vf_node_in(site->node[i], k);
            if (in == NULL || in == x || in->kind != VF_VALUE_RESULT)
                continue;
            if (!add(site, in->def))
                return false;
        }
    }
    return true;
}

static const VfValue *shared_of(const VfFuseSite *site, const VfNode *node)
{
    for (int32_t r = 0; r < node->n_out; r++) {
        const VfValue *out = vf_node_out(node, r);
        for (const VfUse *use = out != NULL ? out->first_use : NULL; use != NULL; use = use->next) {
            if (!holds(site, use->node))
                return out;
        }
    }
    return NULL;
}

const VfValue *vf_fuse_shared(const VfFuseSite *site)
{
    for (int32_t i = 1; i < site->n; i++) {
        const VfValue *shared = shared_of(site, site->node[i]);
        if (shared != NULL)
            return shared;
    }
    return NULL;
}

bool vf_fuse_has(const VfFuseSite *site, VfOp op)
{
    for (int32_t i = 0; i < site->n; i++) {
        if (site->node[i]->op == op)
            return true;
    }
    return false;
}

bool vf_fuse_same_type(const VfValue *x, const VfValue *y)
{
    if (x->type.dtype != y->type.dtype || x->type.rank != y->type.rank)
        return false;
    for (int32_t i = 0; i < x->type.rank; i++) {
        VfDim a = x->type.dims[i], b = y->type.dims[i];
        bool is_unknown = a.sym == VF_SYM_UNKNOWN && b.sym == VF_SYM_UNKNOWN;
        if (!is_unknown && !vf_dim_is_same(a, b))
            return false;
    }
    return true;
}
