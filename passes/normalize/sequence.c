/* Sequences whose elements are known one by one become plain tensors. */
#include "passes/ir/attr.h"
#include "passes/normalize/rule.h"

/* More parts than this are no list that an exporter wrote out. */
enum { PART_MAX = 64, SPLIT_OPERAND_OPSET = 13 };

/* A one-element constant, or known content. */
static bool read_index(const VfValue *value, int64_t *index)
{
    const VfTensor *tensor = vf_value_const(value);
    if (tensor != NULL && tensor->count == 1) {
        *index = vf_tensor_get_i64(tensor, 0);
        return true;
    }
    if (value == NULL || value->content == NULL || value->n_content != 1 ||
        !vf_dim_is_known(value->content[0]))
        return false;
    *index = value->content[0].k;
    return true;
}

/* Position in a list of `n`, counted from the front. */
static bool position(const VfValue *value, int32_t n, int32_t *out)
{
    int64_t index;
    if (!read_index(value, &index) || index < -(int64_t)n || index >= n)
        return false;
    *out = (int32_t)(index < 0 ? index + n : index);
    return true;
}

/* --- SplitToSequence --- */

typedef struct Parts {
    int32_t n;
    int64_t length[PART_MAX];
    int64_t axis;
    bool drops_axis; /* the parts lose the axis, which has length 1 in each */
} Parts;

static bool equal_lengths(Parts *parts, int64_t total, int64_t length)
{
    if (length < 1 || total / length + (total % length != 0) > PART_MAX)
        return false;
    for (int64_t left = total; left > 0; left -= length)
        parts->length[parts->n++] = left < length ? left : length;
    return true;
}

static bool listed_lengths(Parts *parts, const VfTensor *sizes, int64_t total)
{
    if (sizes->count > PART_MAX)
        return false;
    int64_t left = total;
    for (size_t i = 0; i < sizes->count; i++) {
        int64_t length = vf_tensor_get_i64(sizes, i);
        if (length < 0 || length > left)
            return false;
        parts->length[parts->n++] = length;
        left -= length;
    }
    return left == 0;
}

/* keepdims counts where no sizes are given; runtimes heed it for a size of 1 too, as inference
 * does. */
static bool read_parts(const VfNode *node, Parts *parts)
{
    const VfValue *x = vf_node_in(node, 0);
    const VfTensor *sizes = vf_value_const(vf_node_in(node, 1));
    *parts = (Parts){.axis = vf_node_int(node, "axis")};
    if (x == NULL || x->type.rank < 1 || (sizes == NULL && vf_node_in(node, 1) != NULL))
        return false;
    parts->axis += parts->axis < 0 ? x->type.rank : 0;
    if (parts->axis < 0 || parts->axis >= x->type.rank ||
        !vf_dim_is_known(x->type.dims[parts->axis]))
        return false;
    int64_t total = x->type.dims[parts->axis].k;
    bool is_scalar = sizes == NULL || (sizes->rank == 0 && sizes->count == 1);
    int64_t length = is_scalar && sizes != NULL ? vf_tensor_get_i64(sizes, 0) : 1;
    parts->drops_axis = is_scalar && length == 1 && vf_node_int(node, "keepdims") == 0;
    return is_scalar ? equal_lengths(parts, total, length) : listed_lengths(parts, sizes, total);
}

/* Every reader is a SequenceAt of the same graph at a known position. */
static bool is_read_by_position(const VfNode *node, const Parts *parts)
{
    const VfValue *sequence = node->out[0];
    int32_t at;
    for (const VfUse *use = sequence->first_use; use != NULL; use = use->next)
        if (use->node->op != VF_OP_SEQUENCE_AT || use->node->graph != node->graph ||
            !position(vf_node_in(use->node, 1), parts->n, &at))
            return false;
    return sequence->n_use > 0;
}

static bool make_split(VfRewrite *rw, const VfNode *node, const Parts *parts, VfValue **part)
{
    VfValue *in[2] = {vf_node_in(node, 0), NULL};
    bool has_operand = vf_graph_opset(node->graph, vf_bytes("")) >= SPLIT_OPERAND_OPSET;
    if (has_operand)
        in[1] = vf_rewrite_const_i64(rw, parts->n, parts->length, "split");
    vf_rewrite_node_n(rw, vf_bytes(""), vf_bytes("Split"), has_operand ? 2 : 1, in, parts->n, part);
    vf_rewrite_int(rw, "axis", parts->axis);
    if (!has_operand)
        vf_rewrite_ints(rw, "split", parts->n, parts->length);
    return vf_rewrite_status(rw) == VF_OK;
}

VfStatus vf_normalize_split_sequence(VfPassCx *cx, VfNode *node, const char *rule, VfErr *err)
{
    Parts parts;
    VfValue *part[PART_MAX] = {NULL}, *element[PART_MAX] = {NULL};
    if (!read_parts(node, &parts) || parts.n < 1 || !is_read_by_position(node, &parts))
        return VF_OK;
    VfRewrite *rw = vf_normalize_begin(cx, node, rule);
    VF_TRY_ALLOC(rw, err);
    if (!make_split(rw, node, &parts, part))
        return vf_rewrite_commit(rw, err);
    for (const VfUse *use = node->out[0]->first_use; use != NULL; use = use->next) {
        int32_t at;
        if (!position(vf_node_in(use->node, 1), parts.n, &at))
            continue;
        if (element[at] == NULL)
            element[at] =
                parts.drops_axis ? vf_rewrite_squeeze(rw, part[at], 1, &parts.axis) : part[at];
        vf_rewrite_replace(rw, use->node->out[0], element[at]);
    }
    return vf_rewrite_commit(rw, err);
}

/* --- SequenceConstruct --- */

static const VfNode *constructed(const VfNode *node)
{
    const VfValue *sequence = vf_node_in(node, 0);
    bool is_listed = sequence != NULL && sequence->kind == VF_VALUE_RESULT &&
                     sequence->def->op == VF_OP_SEQUENCE_CONSTRUCT;
    return is_listed ? sequence->def : NULL;
}

VfStatus vf_normalize_sequence_at(VfPassCx *cx, VfNode *node, const char *rule, VfErr *err)
{
    const VfNode *list = constructed(node);
    int32_t at;
    if (list == NULL || !position(vf_node_in(node, 1), list->n_in, &at))
        return VF_OK;
    VfRewrite *rw = vf_normalize_begin(cx, node, rule);
    VF_TRY_ALLOC(rw, err);
    vf_rewrite_replace(rw, node->out[0], vf_node_in(list, at));
    return vf_rewrite_commit(rw, err);
}

/* ConcatFromSequence without a new axis is Concat. */
VfStatus vf_normalize_concat_sequence(VfPassCx *cx, VfNode *node, const char *rule, VfErr *err)
{
    const VfNode *list = constructed(node);
    if (list == NULL || vf_node_int(node, "new_axis") != 0)
        return VF_OK;
    VfValue **in = VF_NEW_ARRAY(cx->arena, VfValue *, (size_t)list->n_in);
    VF_TRY_ALLOC(in, err);
    for (int32_t i = 0; i < list->n_in; i++)
        in[i] = vf_node_in(list, i);
    VfRewrite *rw = vf_normalize_begin(cx, node, rule);
    VF_TRY_ALLOC(rw, err);
    VfValue *y = vf_rewrite_node(rw, VF_OP_CONCAT, list->n_in, in);
    vf_rewrite_int(rw, "axis", vf_node_int(node, "axis"));
    vf_rewrite_replace(rw, node->out[0], y);
    return vf_rewrite_commit(rw, err);
}
