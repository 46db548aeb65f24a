#include "passes/fold/walk.h"

#include <stdarg.h>
#include <stdio.h>

#include "passes/rewrite/order.h"

/* A walk longer than this is no norm next to its layer; the bound keeps hostile graphs cheap. */
enum { N_CARRIER_MAX = 512 };

/* Memory for fields of one walk; models in use need less than a hundredth of it. */
static const size_t ARENA_MAX = (size_t)256 << 20;

VfStatus vf_fold_stop(VfFoldWalk *walk, const VfNode *node, VfErr *err, const char *fmt, ...)
{
    char why[1024];
    va_list args;
    if (walk->why != NULL)
        return VF_OK;
    va_start(args, fmt);
    vsnprintf(why, sizeof why, fmt, args);
    va_end(args);
    walk->where = node;
    walk->why = vf_arena_string(walk->arena, why);
    VF_TRY_ALLOC(walk->why, err);
    return VF_OK;
}

const VfAffine *vf_fold_carried(const VfFoldWalk *walk, const VfValue *value)
{
    for (size_t i = walk->n_carrier; value != NULL && i > 0; i--) {
        if (walk->carrier[i - 1].value == value)
            return &walk->carrier[i - 1].affine;
    }
    return NULL;
}

VfStatus vf_fold_add_step(VfFoldWalk *walk, VfFoldKind kind, VfNode *node, int32_t slot,
                          const VfAffine *affine, VfErr *err)
{
    for (size_t i = 0; i < walk->n_step; i++) {
        const VfFoldStep *step = &walk->step[i];
        if (step->node == node && (step->kind != VF_FOLD_INTO_CONST || step->slot == slot))
            return vf_fold_stop(walk, node, err, "'%s' is reached in two ways",
                                vf_node_label(node));
    }
    VF_TRY(vf_arena_grow(walk->arena, (void **)&walk->step, &walk->step_capacity, walk->n_step + 1,
                         sizeof *walk->step, err));
    walk->step[walk->n_step++] = (VfFoldStep){kind, node, slot, *affine};
    return VF_OK;
}

static VfStatus add_carrier(VfFoldWalk *walk, VfValue *value, const VfAffine *affine, VfErr *err)
{
    if (vf_arena_used(walk->arena) > ARENA_MAX)
        return vf_fold_stop(walk, value->def, err, "the scales and shifts to carry are too large");
    if (walk->n_carrier >= N_CARRIER_MAX)
        return vf_fold_stop(walk, value->def, err, "more than %d values would carry the norm",
                            (int)N_CARRIER_MAX);
    VF_TRY(vf_arena_grow(walk->arena, (void **)&walk->carrier, &walk->carrier_capacity,
                         walk->n_carrier + 1, sizeof *walk->carrier, err));
    walk->carrier[walk->n_carrier++] = (VfCarrier){value, *affine};
    return VF_OK;
}

/* --- forward --- */

/* Keep the readers sorted, so that all operands of a node are known before it is visited. */
static VfStatus add_todo(VfFoldWalk *walk, VfNode *node, VfErr *err)
{
    if (walk->n_todo >= N_CARRIER_MAX)
        return vf_fold_stop(walk, node, err, "more than %d nodes read the norm",
                            (int)N_CARRIER_MAX);
    VF_TRY(vf_arena_grow(walk->arena, (void **)&walk->todo, &walk->todo_capacity, walk->n_todo + 1,
                         sizeof *walk->todo, err));
    size_t at = walk->n_todo;
    while (at > 0 && vf_order_of(walk->todo[at - 1]) < vf_order_of(node))
        at--;
    if (at > 0 && walk->todo[at - 1] == node)
        return VF_OK;
    for (size_t i = walk->n_todo; i > at; i--)
        walk->todo[i] = walk->todo[i - 1];
    walk->todo[at] = node;
    walk->n_todo++;
    return VF_OK;
}

VfStatus vf_fold_carry(VfFoldWalk *walk, VfValue *value, const VfAffine *affine, VfErr *err)
{
    if (value == NULL || value->first_use == NULL || vf_affine_is_identity(affine))
        return VF_OK;
    if (value->type.rank != affine->a.rank)
        return vf_fold_stop(walk, value->def, err, "the rank of '%s' is not known",
                            vf_value_label(value));
    VF_TRY(add_carrier(walk, value, affine, err));
    for (const VfUse *use = value->first_use; use != NULL && walk->why == NULL; use = use->next) {
        if (use->node->op == VF_OP_RETURN)
            return vf_fold_stop(walk, value->def, err, "'%s' is an output of the graph",
                                vf_value_label(value));
        if (use->node->graph != value->graph)
            return vf_fold_stop(walk, use->node, err, "'%s' is read inside a subgraph by '%s'",
                                vf_value_label(value), vf_node_label(use->node));
        VF_TRY(add_todo(walk, use->node, err));
    }
    return VF_OK;
}

/* In a function body an attribute may stand for one of the call, which is not known here. */
static bool has_open_attribute(const VfNode *node)
{
    for (const VfAttr *attr = node->first_attr; attr != NULL; attr = attr->next) {
        if (attr->ref.size > 0)
            return true;
    }
    return false;
}

static VfStatus no_rule(VfFoldWalk *walk, const VfNode *node, VfErr *err)
{
    return vf_fold_stop(walk, node, err, "'%s' (%.*s) does not commute with a scale and shift",
                        vf_node_label(node), (int)node->op_type.size, node->op_type.data);
}

/* What is too large or of too high a rank is an obstacle, no failure. */
static VfStatus settle(VfFoldWalk *walk, const VfNode *node, VfStatus status, VfErr *err)
{
    if (status != VF_UNSUPPORTED)
        return status;
    return vf_fold_stop(walk, node, err, "'%s' needs %s", vf_node_label(node),
                        err != NULL ? err->text : "more than can be carried");
}

static VfStatus visit_reader(VfFoldWalk *walk, VfNode *node, VfErr *err)
{
    const VfFoldRule *rule = vf_fold_rule(node->op);
    int32_t slot = 0, n_carried = 0;
    for (int32_t i = node->n_in - 1; i >= 0; i--) {
        if (vf_fold_carried(walk, vf_node_in(node, i)) != NULL) {
            slot = i;
            n_carried++;
        }
    }
    if (rule == NULL || rule->forward == NULL || has_open_attribute(node))
        return no_rule(walk, node, err);
    if (!rule->any_slot && (slot != 0 || n_carried != 1))
        return vf_fold_stop(walk, node, err, "'%s' reads it as operand %d", vf_node_label(node),
                            (int)slot);
    VfAffine in = *vf_fold_carried(walk, vf_node_in(node, slot));
    return settle(walk, node, rule->forward(walk, node, slot, &in, err), err);
}

static void init(VfFoldWalk *walk, VfArena *arena, VfModel *model)
{
    *walk = (VfFoldWalk){.arena = arena, .model = model};
}

VfStatus vf_fold_walk_forward(VfFoldWalk *walk, VfArena *arena, VfModel *model, VfValue *y,
                              const VfAffine *affine, VfErr *err)
{
    init(walk, arena, model);
    VF_TRY(vf_fold_carry(walk, y, affine, err));
    while (walk->n_todo > 0 && walk->why == NULL)
        VF_TRY(visit_reader(walk, walk->todo[--walk->n_todo], err));
    return VF_OK;
}

/* --- backward --- */

static VfStatus visit_maker(VfFoldWalk *walk, VfValue *value, const VfAffine *affine, VfErr *err)
{
    if (vf_affine_is_identity(affine))
        return VF_OK;
    if (value->kind == VF_VALUE_INPUT)
        return vf_fold_stop(walk, NULL, err, "'%s' is an input of the graph",
                            vf_value_label(value));
    if (value->kind == VF_VALUE_CONST)
        return vf_fold_stop(walk, NULL, err, "'%s' is a constant", vf_value_label(value));
    VfNode *node = value->def;
    const VfFoldRule *rule = vf_fold_rule(node->op);
    if (rule == NULL || rule->backward == NULL || has_open_attribute(node))
        return no_rule(walk, node, err);
    if (vf_fold_carried(walk, value) != NULL)
        return vf_fold_stop(walk, node, err, "'%s' is reached in two ways", vf_node_label(node));
    if (value->type.rank != affine->a.rank)
        return vf_fold_stop(walk, node, err, "the rank of '%s' is not known",
                            vf_value_label(value));
    VF_TRY(add_carrier(walk, value, affine, err));
    if (walk->why != NULL)
        return VF_OK;
    return settle(walk, node, rule->backward(walk, node, value->index, affine, err), err);
}

bool vf_fold_reads_contents(const VfNode *node)
{
    return node->op != VF_OP_SHAPE && node->op != VF_OP_SIZE;
}

/* The reader that keeps `value` from being changed for `node` alone, or NULL. */
static VfNode *other_reader(const VfValue *value, const VfNode *node, int32_t slot)
{
    for (const VfUse *use = value->first_use; use != NULL; use = use->next) {
        if ((use->node != node || use->slot != slot) && vf_fold_reads_contents(use->node))
            return use->node;
    }
    return NULL;
}

VfStatus vf_fold_demand(VfFoldWalk *walk, VfNode *node, int32_t slot, const VfAffine *affine,
                        VfErr *err)
{
    VfValue *value = vf_node_in(node, slot);
    if (walk->why != NULL || vf_affine_is_identity(affine))
        return VF_OK;
    if (value->graph != node->graph)
        return vf_fold_stop(walk, node, err, "'%s' comes from the graph around",
                            vf_value_label(value));
    VfNode *other = other_reader(value, node, slot);
    if (value->kind == VF_VALUE_RESULT && other != NULL && other->op == VF_OP_RETURN)
        return vf_fold_stop(walk, value->def, err, "'%s' is an output of the graph",
                            vf_value_label(value));
    if (value->kind == VF_VALUE_RESULT && other != NULL)
        return vf_fold_stop(walk, other, err, "'%s' is also read by '%s'", vf_value_label(value),
                            vf_node_label(other));
    return visit_maker(walk, value, affine, err);
}

VfStatus vf_fold_walk_backward(VfFoldWalk *walk, VfArena *arena, VfModel *model, VfValue *x,
                               const VfAffine *affine, VfErr *err)
{
    init(walk, arena, model);
    return visit_maker(walk, x, affine, err);
}
