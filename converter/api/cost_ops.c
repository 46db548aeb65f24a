/* The cost of a model by operator. */
#include <stdlib.h>

#include "converter/api/sites.h"

typedef struct Tally {
    VfArena *arena;
    VfErr *err;
    VfIntern *name;
    VfOpCost *row; /* by number of the name */
    size_t capacity;
    bool *is_counted; /* constants, by value id: each counts where it is read first */
} Tally;

static VfStatus row_of(Tally *tally, const VfNode *node, VfOpCost **row)
{
    VfBytes name;
    int32_t id;
    VF_TRY(vf_op_name(tally->arena, node, &name, tally->err));
    VF_TRY(vf_intern_add(tally->name, name, &id, tally->err));
    void *items = tally->row;
    VF_TRY(vf_arena_grow(tally->arena, &items, &tally->capacity, (size_t)id + 1,
                         sizeof *tally->row, tally->err));
    tally->row = items;
    *row = &tally->row[id];
    (*row)->name = vf_intern_get(tally->name, id);
    return VF_OK;
}

static void add_constants(Tally *tally, const VfNode *node, VfOpCost *row)
{
    for (int32_t i = 0; i < node->n_in; i++) {
        const VfValue *value = vf_node_in(node, i);
        if (value == NULL || value->tensor == NULL || value->kind == VF_VALUE_RESULT ||
            tally->is_counted[value->id])
            continue;
        tally->is_counted[value->id] = true;
        row->parameter_bytes += (double)value->tensor->bytes;
        if (vf_dtype_info(value->tensor->dtype)->is_float)
            row->n_parameter += (int64_t)value->tensor->count;
    }
}

static VfStatus add_node(Tally *tally, const VfNode *node)
{
    VfOpCost *row;
    VF_TRY(row_of(tally, node, &row));
    double work = vf_node_work(node);
    row->n++;
    row->n_unknown += work < 0;
    row->flops += work < 0 ? 0 : work;
    for (int32_t i = 0; i < node->n_out && !vf_op_has(node->op, VF_OPF_VIEW); i++)
        row->result_bytes += node->out[i] == NULL ? 0 : vf_value_bytes(node->out[i]);
    add_constants(tally, node, row);
    return VF_OK;
}

/* Most work first, then most results, then by name. */
static int by_work(const void *left, const void *right)
{
    const VfOpCost *a = left, *b = right;
    if (a->flops < b->flops || a->flops > b->flops)
        return a->flops < b->flops ? 1 : -1;
    if (a->result_bytes < b->result_bytes || a->result_bytes > b->result_bytes)
        return a->result_bytes < b->result_bytes ? 1 : -1;
    return vf_bytes_compare(a->name, b->name);
}

VfStatus vf_cost_by_op(VfArena *arena, const VfModel *model, VfOpCost **op, size_t *n_op,
                       VfErr *err)
{
    Tally tally = {
        .arena = arena,
        .err = err,
        .name = vf_intern_new(arena),
        .is_counted = VF_NEW_ARRAY(arena, bool, (size_t)model->n_value_id),
    };
    if (tally.name == NULL || tally.is_counted == NULL)
        return vf_no_memory(err);
    for (const VfNode *node = model->graph->first_node; node != NULL; node = node->next)
        VF_TRY(add_node(&tally, node));
    *op = tally.row;
    *n_op = (size_t)vf_intern_count(tally.name);
    if (*n_op > 1)
        qsort(*op, *n_op, sizeof **op, by_work);
    return VF_OK;
}
