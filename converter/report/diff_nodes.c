/* Nodes of aligned graphs: which have no twin, and what differs where they have one. */
#include <string.h>

#include "converter/report/diff_private.h"
#include "passes/ir/attr_default.h"
#include "passes/ir/equal_private.h"
#include "passes/ir/vft_print.h"

static VfStatus add(VfDiff *diff, VfDiffNode node, VfErr *err)
{
    VF_TRY(vf_arena_grow(diff->arena, (void **)&diff->node, &diff->node_capacity,
                         diff->n_node + 1, sizeof *diff->node, err));
    diff->node[diff->n_node++] = node;
    if (node.a != NULL)
        diff->at_a[node.a->id] = diff->n_node;
    if (node.b != NULL)
        diff->at_b[node.b->id] = diff->n_node;
    return VF_OK;
}

static VfStatus attr_text(VfDiff *diff, const VfNode *node, const VfAttr *attr, VfBytes *out,
                          VfErr *err)
{
    VfText text;
    VfVftPrint print = {.text = &text, .model = node->graph->model, .one_line = true};
    vf_text_init(&text, diff->arena);
    vf_vft_print_attr_value(&print, attr);
    return vf_text_get(&text, out, err);
}

enum { FEW = 16 }; /* attributes of a node that need no index */

/* The attributes of a node by the numbers of their names: of two of one name the first. */
typedef struct Attrs {
    const VfNode *node;
    VfIntern *name; /* NULL where they are few */
    const VfAttr **attr;
} Attrs;

static bool has_few(const VfNode *node)
{
    int32_t n = 0;
    for (const VfAttr *attr = node->first_attr; attr != NULL && n <= FEW; attr = attr->next)
        n++;
    return n <= FEW;
}

static VfStatus attrs_init(Attrs *attrs, VfArena *arena, const VfNode *node, VfErr *err)
{
    size_t capacity = 0;
    void *items = NULL;
    *attrs = (Attrs){.node = node};
    if (has_few(node))
        return VF_OK;
    attrs->name = vf_intern_new(arena);
    VF_TRY_ALLOC(attrs->name, err);
    for (const VfAttr *attr = node->first_attr; attr != NULL; attr = attr->next) {
        int32_t id, n = vf_intern_count(attrs->name);
        VF_TRY(vf_intern_add(attrs->name, attr->name, &id, err));
        VF_TRY(vf_arena_grow(arena, &items, &capacity, (size_t)id + 1, sizeof *attrs->attr, err));
        attrs->attr = items;
        if (id == n)
            attrs->attr[id] = attr;
    }
    return VF_OK;
}

static const VfAttr *find_attr(const Attrs *attrs, VfBytes name)
{
    int32_t id = attrs->name == NULL ? -1 : vf_intern_find(attrs->name, name);
    if (id >= 0)
        return attrs->attr[id];
    const VfAttr *attr = attrs->name == NULL ? attrs->node->first_attr : NULL;
    while (attr != NULL && !vf_bytes_is_equal(attr->name, name))
        attr = attr->next;
    return attr;
}

/* Subgraphs are pairs of graphs of their own: here they count as equal. */
static bool is_attr_equal(const VfDiff *diff, const VfAttr *a, const VfAttr *b)
{
    VfEqual eq = {.a = diff->align->a, .b = diff->align->b};
    VfAttr x = *a, y = *b;
    bool is_graph = a->type == b->type && (a->type == VF_ATTR_GRAPH || a->type == VF_ATTR_GRAPHS);
    if (is_graph && a->ref.size == 0 && b->ref.size == 0)
        return a->type == VF_ATTR_GRAPH || a->n == b->n;
    x.next = y.next = NULL;
    return vf_equal_attrs(&eq, &x, &y, "") == VF_OK;
}

/* An attribute that one side leaves to its default and the other writes out. */
static bool is_default(const VfNode *node, const VfAttr *attr)
{
    const VfAttrDefault *row = NULL;
    if (node->domain.size == 0)
        row = vf_attr_default_find(node->op, attr->name, vf_graph_opset(node->graph, node->domain));
    return row != NULL && vf_attr_says_default(attr, row);
}

static VfStatus add_attr(VfDiff *diff, VfDiffNode *node, VfDiffPart part, bool is_silent,
                         VfErr *err)
{
    if (!is_silent)
        return vf_diff_add_part(diff->arena, &node->parts, part, err);
    const char *key = vf_arena_printf(diff->arena, "%s %.*s", vf_node_label(node->a),
                                      (int)part.key.size, part.key.data);
    VF_TRY_ALLOC(key, err);
    part.what = "default written out";
    part.key = vf_bytes(key);
    return vf_diff_add_part(diff->arena, &diff->notes, part, err);
}

static VfStatus compare_attrs(VfDiff *diff, VfDiffNode *node, VfErr *err)
{
    const VfNode *a = node->a, *b = node->b;
    Attrs of_a, of_b;
    VF_TRY(attrs_init(&of_a, diff->arena, a, err));
    VF_TRY(attrs_init(&of_b, diff->arena, b, err));
    for (const VfAttr *x = a->first_attr; x != NULL; x = x->next) {
        const VfAttr *y = find_attr(&of_b, x->name);
        VfDiffPart part = {.what = "attribute", .key = x->name};
        if (y != NULL && is_attr_equal(diff, x, y))
            continue;
        VF_TRY(attr_text(diff, a, x, &part.a, err));
        if (y != NULL)
            VF_TRY(attr_text(diff, b, y, &part.b, err));
        VF_TRY(add_attr(diff, node, part, y == NULL && is_default(a, x), err));
    }
    for (const VfAttr *y = b->first_attr; y != NULL; y = y->next) {
        VfDiffPart part = {.what = "attribute", .key = y->name};
        if (find_attr(&of_a, y->name) != NULL)
            continue;
        VF_TRY(attr_text(diff, b, y, &part.b, err));
        VF_TRY(add_attr(diff, node, part, is_default(b, y), err));
    }
    return VF_OK;
}

static VfBytes operand_text(const VfValue *value)
{
    return value == NULL ? (VfBytes){NULL, 0} : vf_bytes(vf_value_label(value));
}

/* Operands that changed places keep their meaning only where the operator says so, but are told. */
static bool is_exchanged(const VfDiff *diff, const VfNode *a, const VfNode *b)
{
    return a->n_in == 2 && b->n_in == 2 && vf_op_is_commutative(a) &&
           vf_align_is_same(diff->align, a->in[0].value, b->in[1].value) &&
           vf_align_is_same(diff->align, a->in[1].value, b->in[0].value);
}

static VfStatus compare_operands(VfDiff *diff, VfDiffNode *node, VfErr *err)
{
    const VfNode *a = node->a, *b = node->b;
    int32_t n = a->n_in > b->n_in ? a->n_in : b->n_in;
    bool is_swap = is_exchanged(diff, a, b);
    for (int32_t i = 0; i < n; i++) {
        const VfValue *x = vf_node_in(a, i), *y = vf_node_in(b, i);
        if (vf_align_is_same(diff->align, x, y))
            continue;
        VfDiffPart part = {.what = is_swap ? "first operand" : "operand",
                           .a = operand_text(x), .b = operand_text(y)};
        if (!is_swap)
            VF_TRY(vf_diff_number(diff->arena, i, &part.key, err));
        VF_TRY(vf_diff_add_part(diff->arena, &node->parts, part, err));
        if (is_swap)
            break;
    }
    for (int32_t i = 0; i < a->n_out || i < b->n_out; i++) {
        const VfValue *x = vf_node_out(a, i), *y = vf_node_out(b, i);
        if (x == NULL ? y == NULL : y != NULL && diff->align->value_b[x->id] == y)
            continue;
        VfDiffPart part = {.what = "result", .a = operand_text(x), .b = operand_text(y)};
        VF_TRY(vf_diff_number(diff->arena, i, &part.key, err));
        VF_TRY(vf_diff_add_part(diff->arena, &node->parts, part, err));
    }
    return VF_OK;
}

static VfStatus note_node(VfDiff *diff, const VfNode *a, const VfNode *b, VfErr *err)
{
    VfBytes key = vf_bytes(vf_node_label(a));
    VF_TRY(vf_diff_text_part(diff, &diff->notes, "name of node", key, a->name, b->name, err));
    VF_TRY(vf_diff_text_part(diff, &diff->notes, "doc of node", key, a->doc, b->doc, err));
    VF_TRY(vf_diff_meta(diff, &diff->notes, "metadata of node", key, a->meta, b->meta, err));
    if (vf_equal_raw(a->raw, b->raw))
        return VF_OK;
    return vf_diff_add_part(diff->arena, &diff->notes,
                            (VfDiffPart){"other fields of node", key, vf_bytes("other"),
                                         vf_bytes("other")}, err);
}

static VfStatus note_value(VfDiff *diff, const VfValue *a, const VfValue *b, VfErr *err)
{
    VfBytes key = vf_bytes(vf_value_label(a)), x = {NULL, 0}, y = {NULL, 0};
    VF_TRY(vf_diff_text_part(diff, &diff->notes, "name of value", key, a->name, b->name, err));
    VF_TRY(vf_diff_text_part(diff, &diff->notes, "doc of value", key, a->doc, b->doc, err));
    VF_TRY(vf_diff_meta(diff, &diff->notes, "metadata of value", key, a->meta, b->meta, err));
    if (a->kind != VF_VALUE_RESULT || b->kind != VF_VALUE_RESULT)
        return VF_OK;
    if (a->is_declared)
        VF_TRY(vf_diff_type(diff->arena, diff->align->a, &a->type, &x, err));
    if (b->is_declared)
        VF_TRY(vf_diff_type(diff->arena, diff->align->b, &b->type, &y, err));
    return vf_diff_text_part(diff, &diff->notes, "declared type", key, x, y, err);
}

static VfStatus compare_pair(VfDiff *diff, const VfNode *a, const VfNode *b, VfErr *err)
{
    VfDiffNode node = {.kind = VF_DIFF_CHANGED, .a = a, .b = b};
    VF_TRY(compare_attrs(diff, &node, err));
    VF_TRY(compare_operands(diff, &node, err));
    VF_TRY(note_node(diff, a, b, err));
    if (node.parts.n > 0)
        return add(diff, node, err);
    diff->n_same++;
    return VF_OK;
}

static VfStatus visit_graphs(VfDiff *diff, const VfGraphPair *pair, VfErr *err)
{
    const VfAlign *align = diff->align;
    for (const VfNode *a = pair->a->first_node; a != NULL; a = a->next) {
        const VfNode *b = align->node_b[a->id];
        if (b != NULL)
            VF_TRY(compare_pair(diff, a, b, err));
        else
            VF_TRY(add(diff, (VfDiffNode){.kind = VF_DIFF_REMOVED, .a = a}, err));
    }
    for (const VfNode *b = pair->b->first_node; b != NULL; b = b->next)
        if (align->node_a[b->id] == NULL)
            VF_TRY(add(diff, (VfDiffNode){.kind = VF_DIFF_ADDED, .b = b}, err));
    for (const VfValue *a = pair->a->first_value; a != NULL; a = a->next)
        if (align->value_b[a->id] != NULL)
            VF_TRY(note_value(diff, a, align->value_b[a->id], err));
    return VF_OK;
}

VfStatus vf_diff_nodes(VfDiff *diff, VfErr *err)
{
    diff->at_a = VF_NEW_ARRAY(diff->arena, size_t, (size_t)diff->align->a->n_node_id);
    diff->at_b = VF_NEW_ARRAY(diff->arena, size_t, (size_t)diff->align->b->n_node_id);
    VF_TRY_ALLOC(diff->at_a, err);
    VF_TRY_ALLOC(diff->at_b, err);
    for (size_t i = 0; i < diff->align->n_pair; i++)
        VF_TRY(visit_graphs(diff, &diff->align->pair[i], err));
    return VF_OK;
}
