/* Applying a rewrite: all checks and allocations first, then changes that cannot fail. */
#include <stdlib.h>
#include <string.h>

#include "passes/ir/infer.h"
#include "passes/rewrite/order.h"
#include "passes/rewrite/rewrite_state.h"

/* --- names --- */

static bool ends_in(VfBytes name, const char *part)
{
    size_t size = strlen(part);
    return name.size >= size && memcmp(name.data + name.size - size, part, size) == 0;
}

/* "<anchor>/<part>", without the part where the anchor ends in it and without the anchor where it
 * has no name that can be printed. */
static VfStatus make_name(VfRewrite *rw, const char *part, VfBytes *name, VfErr *err)
{
    VfBytes base = rw->anchor->name;
    bool is_plain = base.size > 0 && memchr(base.data, 0, base.size) == NULL;
    const char *text = part;
    if (is_plain)
        text = vf_arena_printf(rw->arena, "%.*s%s%s", (int)base.size, base.data,
                               ends_in(base, part) ? "" : "/", ends_in(base, part) ? "" : part);
    VF_TRY_ALLOC(text, err);
    return vf_journal_name(rw->journal, text, name, err);
}

static VfStatus name_node(VfRewrite *rw, VfNode *node, VfErr *err)
{
    VfBytes free_name;
    const char *type = vf_arena_copy(rw->arena, node->op_type.data, node->op_type.size);
    VF_TRY_ALLOC(type, err);
    VF_TRY(make_name(rw, type, &node->name, err));
    for (int32_t i = 0; i < node->n_out; i++) {
        if (node->out[i] == NULL)
            continue;
        const char *name = vf_arena_printf(rw->arena, "%s_output_%d", node->name.data, (int)i);
        VF_TRY_ALLOC(name, err);
        VF_TRY(vf_journal_name(rw->journal, name, &free_name, err));
        VF_TRY(vf_value_rename(node->out[i], free_name, err));
    }
    return VF_OK;
}

/* Give names to the new nodes, results and constants. */
static VfStatus name_all(VfRewrite *rw, VfErr *err)
{
    for (size_t i = 0; i < rw->n_constant; i++) {
        VfBytes name;
        VfPendingConst *constant = &rw->constant[i];
        VF_TRY(make_name(rw, constant->hint, &name, err));
        VF_TRY(vf_value_rename(constant->value, name, err));
    }
    for (size_t i = 0; i < rw->n_node; i++)
        VF_TRY(name_node(rw, rw->node[i].node, err));
    return VF_OK;
}

/* --- checks --- */

static VfStatus check_types(VfRewrite *rw, VfErr *err)
{
    VfSymbols *symbols = rw->journal->model->symbols;
    for (size_t i = 0; i < rw->n_replace; i++) {
        const VfValue *from = rw->replace[i].from, *to = rw->replace[i].to;
        if (vf_type_is_compatible(&from->type, &to->type))
            continue;
        const char *old_type = vf_type_text(rw->arena, symbols, &from->type);
        const char *new_type = vf_type_text(rw->arena, symbols, &to->type);
        return vf_fail(err, VF_INTERNAL, "rewrite at '%s': '%s' is %s, what replaces it %s",
                       vf_node_label(rw->anchor), vf_value_label(from),
                       old_type != NULL ? old_type : "?", new_type != NULL ? new_type : "?");
    }
    return VF_OK;
}

static VfStatus infer_all(VfRewrite *rw, VfErr *err)
{
    for (size_t i = 0; i < rw->n_node; i++) {
        VfStatus status = vf_rewrite_infer(rw, rw->node[i].node, err);
        if (status != VF_OK)
            return vf_context(err, "rewrite at '%s'", vf_node_label(rw->anchor));
    }
    return VF_OK;
}

/* What was known of a replaced value holds for its replacement. */
static VfStatus refine_type(VfRewrite *rw, const VfValue *from, VfValue *to, VfErr *err)
{
    VfType *type = &to->type;
    if (from->type.kind != VF_TYPE_TENSOR || !vf_rewrite_is_pending(to) ||
        to->kind != VF_VALUE_RESULT)
        return VF_OK;
    if (type->dtype == VF_UNDEFINED)
        type->dtype = from->type.dtype;
    if (type->rank == VF_RANK_UNKNOWN) {
        type->rank = from->type.rank;
        type->dims = from->type.dims;
        return VF_OK;
    }
    if (from->type.rank != type->rank || type->rank <= 0)
        return VF_OK;
    VfDim *dims = VF_NEW_ARRAY(rw->arena, VfDim, (size_t)type->rank);
    VF_TRY_ALLOC(dims, err);
    for (int32_t i = 0; i < type->rank; i++)
        dims[i] = vf_dim_is_known(type->dims[i])             ? type->dims[i]
                  : from->type.dims[i].sym == VF_SYM_UNKNOWN ? type->dims[i]
                                                             : from->type.dims[i];
    type->dims = dims;
    return VF_OK;
}

/* --- the journal entry --- */

/* What a commit allocates before it changes anything. */
typedef struct Record {
    VfSwap *swap;
    int32_t n_swap;
    VfMove *move;
    int32_t n_move;
    const VfNode **after;
    int32_t n_after;
    VfOrigin *origin;
} Record;

/* The uses that will move; where to is known when they have. */
static VfStatus note_moves(VfRewrite *rw, Record *record, VfErr *err)
{
    size_t n = rw->n_set_in;
    for (size_t i = 0; i < rw->n_replace; i++)
        n += (size_t)rw->replace[i].from->n_use;
    record->move = VF_NEW_ARRAY(rw->arena, VfMove, n);
    VF_TRY_ALLOC(record->move, err);
    for (size_t i = 0; i < rw->n_replace; i++)
        for (const VfUse *use = rw->replace[i].from->first_use; use != NULL; use = use->next)
            record->move[record->n_move++] =
                (VfMove){.node = use->node, .slot = use->slot, .from = use->value};
    for (size_t i = 0; i < rw->n_set_in; i++) {
        const VfSetIn *set = &rw->set_in[i];
        record->move[record->n_move++] = (VfMove){.node = set->node, .slot = set->slot,
                                                  .from = vf_node_in(set->node, set->slot)};
    }
    return VF_OK;
}

static void finish_moves(const Record *record)
{
    for (int32_t i = 0; i < record->n_move; i++)
        record->move[i].to = vf_node_in(record->move[i].node, record->move[i].slot);
}

static VfStatus reserve_record(VfRewrite *rw, Record *record, VfErr *err)
{
    record->swap = VF_NEW_ARRAY(rw->arena, VfSwap, rw->n_replace + rw->n_set_in);
    VF_TRY_ALLOC(record->swap, err);
    record->after = VF_NEW_ARRAY(rw->arena, const VfNode *, rw->n_node);
    VF_TRY_ALLOC(record->after, err);
    record->origin = VF_NEW(rw->arena, VfOrigin);
    VF_TRY_ALLOC(record->origin, err);
    record->origin->pass = rw->info.pass;
    for (size_t i = 0; i < rw->n_replace; i++)
        record->swap[record->n_swap++] = (VfSwap){rw->replace[i].from, rw->replace[i].to};
    for (size_t i = 0; i < rw->n_set_in; i++) {
        const VfValue *old = vf_node_in(rw->set_in[i].node, rw->set_in[i].slot);
        record->swap[record->n_swap++] = (VfSwap){old, rw->set_in[i].to};
    }
    return note_moves(rw, record, err);
}

/* Make room for operands that are set past the end: omitted operands change nothing. */
static VfStatus reserve_operands(VfRewrite *rw, VfErr *err)
{
    for (size_t i = 0; i < rw->n_set_in; i++) {
        VfSetIn *set = &rw->set_in[i];
        while (set->slot >= set->node->n_in)
            VF_TRY(vf_node_add_in(set->node, NULL, err));
    }
    return VF_OK;
}

static int compare_id(const void *a, const void *b)
{
    const VfNode *const *x = a, *const *y = b;
    return ((*x)->id > (*y)->id) - ((*x)->id < (*y)->id);
}

static VfStatus write_entry(VfRewrite *rw, Record *record, VfErr *err)
{
    for (size_t i = 0; i < rw->n_node; i++) {
        if (rw->node[i].node->is_linked)
            record->after[record->n_after++] = rw->node[i].node;
    }
    if (rw->n_removed > 1)
        qsort(rw->removed, rw->n_removed, sizeof *rw->removed, compare_id);
    record->origin->n_source = (int32_t)rw->n_removed;
    record->origin->source = (const VfNode *const *)rw->removed;
    VfEdit edit = {.pass = rw->info.pass,
                   .rule = rw->info.rule,
                   .site = rw->info.site,
                   .note = rw->info.note,
                   .n_before = (int32_t)rw->n_removed,
                   .n_after = record->n_after,
                   .n_swap = record->n_swap,
                   .n_weight = (int32_t)rw->n_weight,
                   .n_move = record->n_move,
                   .n_number = (int32_t)rw->n_number,
                   .before = (const VfNode *const *)rw->removed,
                   .after = record->after,
                   .swap = record->swap,
                   .weight = rw->weight,
                   .move = record->move,
                   .number = rw->number};
    return vf_journal_add(rw->journal, &edit, err);
}

/* --- the change --- */

static void add_to_values(VfValue *value)
{
    VfGraph *graph = value->graph;
    value->prev = graph->last_value;
    if (graph->last_value != NULL)
        graph->last_value->next = value;
    else
        graph->first_value = value;
    graph->last_value = value;
}

/* Subgraphs of attributes copied to a new node are its own from now on. */
static void adopt_subgraphs(VfNode *node)
{
    for (const VfAttr *attr = node->first_attr; attr != NULL; attr = attr->next) {
        if (attr->type == VF_ATTR_GRAPH && attr->graph != NULL)
            attr->graph->owner = node;
        for (int32_t i = 0; attr->type == VF_ATTR_GRAPHS && i < attr->n; i++)
            attr->graphs[i]->owner = node;
    }
}

static void apply(VfRewrite *rw, const Record *record)
{
    for (size_t i = 0; i < rw->n_replace; i++)
        vf_value_replace_uses(rw->replace[i].from, rw->replace[i].to);
    for (size_t i = 0; i < rw->n_constant; i++)
        add_to_values(rw->constant[i].value);
    for (size_t i = 0; i < rw->n_node; i++) {
        rw->node[i].node->origin = record->origin;
        vf_node_link(rw->node[i].node, rw->node[i].before);
        vf_order_insert(rw->node[i].node);
        adopt_subgraphs(rw->node[i].node);
    }
    for (size_t i = 0; i < rw->n_set_in; i++)
        vf_node_set_in(rw->set_in[i].node, rw->set_in[i].slot, rw->set_in[i].to);
}

/* Old values first: their operands are often what new nodes read. */
static VfStatus sweep(VfRewrite *rw, const Record *record, VfErr *err)
{
    for (int32_t i = 0; i < record->n_swap; i++) {
        if (record->swap[i].from != NULL)
            VF_TRY(vf_rewrite_sweep(rw, (VfValue *)record->swap[i].from, err));
    }
    for (size_t i = 0; i < rw->n_dead; i++)
        VF_TRY(vf_rewrite_sweep(rw, rw->dead[i], err));
    for (size_t i = rw->n_node; i > 0; i--) {
        VfNode *node = rw->node[i - 1].node;
        for (int32_t k = 0; k < node->n_out && node->is_linked; k++) {
            if (node->out[k] != NULL)
                VF_TRY(vf_rewrite_sweep(rw, node->out[k], err));
        }
    }
    for (size_t i = 0; i < rw->n_constant; i++)
        VF_TRY(vf_rewrite_sweep(rw, rw->constant[i].value, err));
    return VF_OK;
}

VfStatus vf_rewrite_commit(VfRewrite *rw, VfErr *err)
{
    Record record = {0};
    if (rw->status != VF_OK)
        return vf_fail(err, rw->status, "rewrite at '%s': %s", vf_node_label(rw->anchor), rw->why);
    VF_TRY(infer_all(rw, err));
    VF_TRY(check_types(rw, err));
    VF_TRY(vf_rewrite_place(rw, err));
    for (size_t i = 0; i < rw->n_replace; i++)
        VF_TRY(refine_type(rw, rw->replace[i].from, rw->replace[i].to, err));
    VF_TRY(name_all(rw, err));
    VF_TRY(reserve_record(rw, &record, err));
    VF_TRY(reserve_operands(rw, err));
    VF_TRY(vf_rewrite_reveal(rw, err));
    apply(rw, &record);
    finish_moves(&record);
    VF_TRY(sweep(rw, &record, err));
    VF_TRY(write_entry(rw, &record, err));
    /* A second commit of the same rewrite is a bug of the pass. */
    vf_rewrite_fail(rw, VF_INTERNAL, "a rewrite was committed twice");
    return VF_OK;
}
