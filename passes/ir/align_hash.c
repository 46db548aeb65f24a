/* Structure as numbers: nodes that compute the same have the same hash. Unequal nodes may have it
 * too, by accident or design; that costs a good alignment, never a wrong diff. */
#include <stdlib.h>
#include <string.h>

#include "passes/ir/align_private.h"

uint64_t vf_align_mix(uint64_t h, uint64_t word)
{
    h ^= word + 0x9e3779b97f4a7c15U + (h << 6) + (h >> 2);
    h ^= h >> 32;
    h *= 0xd6e8feb86659fd93U;
    h ^= h >> 29;
    return h;
}

uint64_t vf_align_bytes(uint64_t h, const void *data, size_t size)
{
    const unsigned char *byte = data;
    uint64_t word;
    h = vf_align_mix(h, size);
    for (; size >= sizeof word; size -= sizeof word, byte += sizeof word) {
        memcpy(&word, byte, sizeof word);
        h = vf_align_mix(h, word);
    }
    word = 0;
    if (size > 0)
        memcpy(&word, byte, size);
    return vf_align_mix(h, word);
}

static uint64_t hash_type(uint64_t h, const VfTensor *tensor)
{
    h = vf_align_mix(h, (uint64_t)tensor->dtype);
    h = vf_align_mix(h, (uint64_t)tensor->rank);
    for (int32_t i = 0; i < tensor->rank; i++)
        h = vf_align_mix(h, (uint64_t)tensor->dims[i]);
    return h;
}

static uint64_t hash_tensor(uint64_t h, const VfTensor *tensor)
{
    h = hash_type(h, tensor);
    if (tensor->bytes > 0)
        return vf_align_bytes(h, tensor->data, tensor->bytes);
    const VfBytes *string = tensor->data;
    for (size_t i = 0; tensor->dtype == VF_STRING && i < tensor->count; i++)
        h = vf_align_bytes(h, string[i].data, string[i].size);
    return h;
}

static uint64_t hash_graph(uint64_t h, const VfGraph *graph)
{
    h = vf_align_mix(h, (uint64_t)graph->n_node);
    for (const VfNode *node = graph->first_node; node != NULL; node = node->next)
        h = vf_align_bytes(h, node->op_type.data, node->op_type.size);
    return h;
}

static uint64_t hash_list(uint64_t h, const VfAttr *attr)
{
    for (int32_t i = 0; i < attr->n; i++) {
        if (attr->type == VF_ATTR_FLOATS)
            h = vf_align_bytes(h, &attr->floats[i], sizeof attr->floats[i]);
        else if (attr->type == VF_ATTR_INTS)
            h = vf_align_mix(h, (uint64_t)attr->ints[i]);
        else if (attr->type == VF_ATTR_STRINGS)
            h = vf_align_bytes(h, attr->strings[i].data, attr->strings[i].size);
        else if (attr->type == VF_ATTR_TENSORS)
            h = hash_tensor(h, attr->tensors[i]);
        else if (attr->type == VF_ATTR_GRAPHS)
            h = hash_graph(h, attr->graphs[i]);
    }
    return h;
}

static uint64_t hash_attr(const VfAttr *attr)
{
    uint64_t h = vf_align_bytes((uint64_t)attr->type, attr->name.data, attr->name.size);
    h = vf_align_bytes(h, attr->ref.data, attr->ref.size);
    if (attr->ref.size != 0)
        return h;
    if (attr->type == VF_ATTR_FLOAT)
        return vf_align_bytes(h, &attr->f, sizeof attr->f);
    if (attr->type == VF_ATTR_INT)
        return vf_align_mix(h, (uint64_t)attr->i);
    if (attr->type == VF_ATTR_STRING)
        return vf_align_bytes(h, attr->s.data, attr->s.size);
    if (attr->type == VF_ATTR_TENSOR && attr->tensor != NULL)
        return hash_tensor(h, attr->tensor);
    if (attr->type == VF_ATTR_GRAPH && attr->graph != NULL)
        return hash_graph(h, attr->graph);
    return hash_list(h, attr);
}

/* Operator and attributes, these in any order. */
static uint64_t hash_operator(const VfNode *node)
{
    uint64_t attrs = 0;
    uint64_t h = vf_align_bytes(1, node->op_type.data, node->op_type.size);
    h = vf_align_bytes(h, node->domain.data, node->domain.size);
    h = vf_align_bytes(h, node->overload.data, node->overload.size);
    for (const VfAttr *attr = node->first_attr; attr != NULL; attr = attr->next)
        attrs += hash_attr(attr);
    return vf_align_mix(h, attrs);
}

uint64_t vf_align_local(VfAligner *al, int side, const VfNode *node)
{
    uint64_t *kept = &al->side[side].local[node->id];
    if (*kept != 0)
        return *kept;
    uint64_t operands = 0;
    bool any_order = vf_op_is_commutative(node);
    for (int32_t i = 0; i < node->n_in; i++) {
        const VfValue *value = node->in[i].value;
        uint64_t one = value == NULL ? 3 : value->kind != VF_VALUE_CONST ? 5 : 0;
        if (one == 0)
            one = hash_type(7, value->tensor);
        operands = any_order ? operands + vf_align_mix(one, 1) : vf_align_mix(operands, one);
    }
    uint64_t h = vf_align_mix(hash_operator(node), operands);
    *kept = h == 0 ? 1 : h;
    return *kept;
}

/* What a value computes: twins are the same by definition, which keeps a change upstream from
 * changing all that follows. */
static uint64_t hash_value(VfAligner *al, int side, const VfValue *value, bool with_data)
{
    const VfAlign *out = al->out;
    if (value == NULL)
        return 11;
    const VfValue *twin = side == 0 ? out->value_b[value->id] : out->value_a[value->id];
    if (twin != NULL)
        return vf_align_mix(13, (uint64_t)(side == 0 ? value->id : twin->id));
    if (value->kind == VF_VALUE_INPUT)
        return 17;
    if (value->kind == VF_VALUE_RESULT)
        return al->side[side].value[value->id];
    if (!with_data)
        return hash_type(19, value->tensor);
    uint64_t *kept = &al->side[side].data[value->id];
    if (*kept == 0)
        *kept = hash_tensor(23, value->tensor) | 1;
    return *kept;
}

static void hash_node(VfAligner *al, int side, const VfNode *node, bool with_data)
{
    bool any_order = vf_op_is_commutative(node);
    uint64_t operands = 0, h = hash_operator(node);
    for (int32_t i = 0; i < node->n_in; i++) {
        uint64_t one = hash_value(al, side, node->in[i].value, with_data);
        operands = any_order ? operands + vf_align_mix(one, 1) : vf_align_mix(operands, one);
    }
    h = vf_align_mix(h, operands);
    al->side[side].node[node->id] = h;
    for (int32_t i = 0; i < node->n_out; i++)
        if (node->out[i] != NULL)
            al->side[side].value[node->out[i]->id] = vf_align_mix(h, (uint64_t)i);
}

static VfStatus collect(VfAligner *al, int side, const VfGraph *graph, bool with_data, size_t *n)
{
    const VfNode **twin = side == 0 ? al->out->node_b : al->out->node_a;
    int32_t place = 0;
    *n = 0;
    for (const VfNode *node = graph->first_node; node != NULL; node = node->next, place++) {
        hash_node(al, side, node, with_data);
        if (twin[node->id] != NULL)
            continue;
        VF_TRY(vf_arena_grow(al->arena, (void **)&al->item[side], &al->item_capacity[side], *n + 1,
                             sizeof *al->item[side], al->err));
        al->item[side][(*n)++] = (VfAlignItem){al->side[side].node[node->id], place, node};
    }
    if (*n > 0)
        qsort(al->item[side], *n, sizeof *al->item[side], vf_align_item_compare);
    return VF_OK;
}

static size_t run_of(const VfAlignItem *item, size_t n)
{
    size_t k = 1;
    while (k < n && item[k].key == item[0].key)
        k++;
    return k;
}

/* Nodes that compute the same are paired in the order of their graphs. Where only types of
 * constants agree, their numbers must agree too: else nothing tells which are missing. */
VfStatus vf_align_by_hash(VfAligner *al, const VfGraphPair *pair, bool with_data)
{
    size_t n_a, n_b, i = 0, j = 0;
    VF_TRY(collect(al, 0, pair->a, with_data, &n_a));
    VF_TRY(collect(al, 1, pair->b, with_data, &n_b));
    while (i < n_a && j < n_b) {
        const VfAlignItem *a = &al->item[0][i], *b = &al->item[1][j];
        size_t k_a = run_of(a, n_a - i), k_b = run_of(b, n_b - j);
        if (a->key != b->key) {
            i += a->key < b->key ? k_a : 0;
            j += a->key > b->key ? k_b : 0;
            continue;
        }
        for (size_t k = 0; k < k_a && k < k_b && (with_data || k_a == k_b); k++)
            if (vf_align_is_free(al, a[k].node, b[k].node))
                VF_TRY(vf_align_nodes(al, a[k].node, b[k].node, VF_ALIGN_HASH));
        i += k_a;
        j += k_b;
    }
    return VF_OK;
}
