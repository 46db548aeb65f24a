/* Which sites insert-spa has changed already.
 *
 * Nodes of a pass name it: in memory by their origin, in a file by metadata "vitfold.pass", of the
 * node or, in files before IR 10, of the model (converter/onnx/export.h). Where another tool has
 * dropped that, row factors tell: nothing else multiplies every query of attention by a number of
 * its own.
 */
#include "passes/spa_insert/own.h"

#include <string.h>

#include "passes/match/facts.h"
#include "passes/spa_insert/spa_insert.h"

static const char pass_key[] = "vitfold.pass", pass_name[] = "insert-spa";

/* Is the key "vitfold.pass:NAME" of this node? */
static bool is_key_of(VfBytes key, const VfNode *node)
{
    size_t n = sizeof pass_key; /* with the colon in place of the final zero */
    return node->name.size > 0 && key.size == n + node->name.size &&
           memcmp(key.data, pass_key, n - 1) == 0 && key.data[n - 1] == ':' &&
           memcmp(key.data + n, node->name.data, node->name.size) == 0;
}

static bool is_made(const VfModel *model, const VfNode *node)
{
    if (node == NULL)
        return false;
    if (node->origin != NULL)
        return strcmp(node->origin->pass, pass_name) == 0;
    for (const VfMeta *meta = node->meta; meta != NULL; meta = meta->next)
        if (vf_bytes_is_equal(meta->key, vf_bytes(pass_key)))
            return vf_bytes_is_equal(meta->value, vf_bytes(pass_name));
    for (const VfMeta *meta = model->meta; meta != NULL; meta = meta->next)
        if (is_key_of(meta->key, node))
            return vf_bytes_is_equal(meta->value, vf_bytes(pass_name));
    return false;
}

static bool is_made_value(const VfModel *model, const VfValue *value)
{
    return value != NULL && value->kind == VF_VALUE_RESULT && is_made(model, value->def);
}

/* A constant that varies along the axis of the queries and no other. */
static bool is_row_factor(const VfAttention *site, const VfValue *value)
{
    const VfTensor *tensor = value != NULL ? vf_value_const(value) : NULL;
    int32_t axis = vf_spa_query_axis(site);
    double low, high;
    if (tensor == NULL || axis < 0 || !vf_const_range(value, &low, &high) || !(low < high))
        return false;
    int32_t at = tensor->rank - (site->out->type.rank - axis);
    VfDim n = vf_dim_at(site->out, axis);
    return at >= 0 && vf_dim_is_known(n) && tensor->dims[at] == n.k &&
           tensor->count == (size_t)n.k;
}

bool vf_spa_is_own(const VfModel *model, const VfAttention *site)
{
    for (int32_t i = 0; i < site->n_term; i++)
        if ((site->score_node != NULL && is_made(model, site->term[i].node)) ||
            is_made_value(model, site->term[i].value))
            return true;
    if (is_made_value(model, site->probs) || is_made_value(model, site->logits))
        return true;
    for (const VfUse *use = site->out->first_use; use != NULL; use = use->next) {
        const VfNode *node = use->node;
        if (is_made(model, node) ||
            (node->op == VF_OP_MUL && is_row_factor(site, vf_other_in(node, use->slot))))
            return true;
    }
    return false;
}
