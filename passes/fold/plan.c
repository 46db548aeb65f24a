#include "passes/fold/plan.h"

#include "passes/ir/attr.h"

/* Nodes of one norm: BatchNormalization, Mul, Add and the Transposes around them. */
enum { N_SITE_NODE_MAX = 16 };

typedef struct SiteNodes {
    const VfNode *node[N_SITE_NODE_MAX];
    int32_t n;
} SiteNodes;

static bool is_in(const SiteNodes *nodes, const VfNode *node)
{
    for (int32_t i = 0; i < nodes->n; i++) {
        if (nodes->node[i] == node)
            return true;
    }
    return false;
}

/* Do only nodes of the list read the results of `node`? */
static bool is_read_inside(const SiteNodes *nodes, const VfNode *node)
{
    for (int32_t i = 0; i < node->n_out; i++) {
        const VfUse *use = node->out[i] != NULL ? node->out[i]->first_use : NULL;
        for (; use != NULL; use = use->next) {
            if (!is_in(nodes, use->node))
                return false;
        }
    }
    return true;
}

/* The nodes that die when the norm's result loses its readers, down to those that read x. */
static void site_nodes(const VfBatchNorm *bn, const VfValue *x, SiteNodes *nodes)
{
    *nodes = (SiteNodes){{bn->last}, 1};
    for (int32_t at = 0; at < nodes->n; at++) {
        const VfNode *node = nodes->node[at];
        for (int32_t i = 0; i < node->n_in; i++) {
            const VfValue *value = vf_node_in(node, i);
            if (value == NULL || value == x || value->kind != VF_VALUE_RESULT)
                continue;
            bool is_new = !is_in(nodes, value->def) && is_read_inside(nodes, value->def);
            if (is_new && nodes->n < N_SITE_NODE_MAX)
                nodes->node[nodes->n++] = value->def;
        }
    }
}

/* Somebody else who reads x, or NULL. */
static VfNode *other_reader(const VfBatchNorm *bn, const VfValue *x)
{
    SiteNodes nodes;
    site_nodes(bn, x, &nodes);
    for (const VfUse *use = x->first_use; use != NULL; use = use->next) {
        if (!is_in(&nodes, use->node) && vf_fold_reads_contents(use->node))
            return use->node;
    }
    return NULL;
}

/* Reasons that no direction can be tried, or NULL. */
static const char *find_obstacle(VfArena *arena, const VfBatchNorm *bn)
{
    if (bn->why != NULL)
        return bn->why;
    for (int32_t i = 1; i < bn->bn->n_out; i++) {
        if (bn->bn->out[i] != NULL)
            return vf_arena_printf(arena, "'%s' also gives statistics, as in training",
                                   vf_node_label(bn->bn));
    }
    if (bn->x->type.rank < 2 || bn->x->type.rank > VF_FIELD_RANK_MAX)
        return vf_arena_printf(arena, "the rank of '%s' is not known", vf_value_label(bn->x));
    return NULL;
}

/* The map on x as BatchNormalization sees it: channels on axis 1. */
static VfStatus bn_affine(VfArena *arena, const VfBatchNorm *bn, VfAffine *affine, VfErr *err)
{
    double *a, *c;
    size_t n = (size_t)bn->channels;
    VF_TRY(vf_batch_norm_affine(arena, bn, &a, &c, err));
    VF_TRY(vf_field_on_axis(arena, bn->x->type.rank, 1, n, a, &affine->a, err));
    return vf_field_on_axis(arena, bn->x->type.rank, 1, n, c, &affine->c, err);
}

/* The map behind `node`, which moves elements; else the reason in the plan. */
static VfStatus move_map(VfFoldPlan *plan, VfArena *arena, VfModel *model, VfNode *node, VfErr *err)
{
    VfFoldWalk walk = {.arena = arena, .model = model};
    VfAffine in = plan->affine;
    const VfFoldRule *rule = vf_fold_rule(node->op);
    VfStatus status = rule != NULL ? rule->forward(&walk, node, 0, &in, err) : VF_OK;
    if (status != VF_OK && status != VF_UNSUPPORTED)
        return status;
    if (walk.n_carrier > 0)
        plan->affine = walk.carrier[0].affine;
    else if (plan->facts.why_not_forward == NULL && !vf_affine_is_identity(&in))
        plan->facts.why_not_forward =
            walk.why != NULL ? walk.why : "the layout of the sum is not known";
    return VF_OK;
}

/* With η x added in the layout before bn's Transpose, x and the map are those of that layout. */
static VfStatus move_back(VfFoldPlan *plan, VfArena *arena, VfModel *model, const VfBatchNorm *bn,
                          VfErr *err)
{
    for (int32_t i = 0; i < bn->n_back; i++) {
        plan->x = vf_node_in(plan->x->def, 0);
        if (plan->facts.why_not_forward == NULL)
            VF_TRY(move_map(plan, arena, model, bn->back[i], err));
    }
    return VF_OK;
}

static VfStatus walk_both(VfFoldPlan *plan, VfArena *arena, VfModel *model, const VfBatchNorm *bn,
                          VfErr *err)
{
    VfFoldFacts *facts = &plan->facts;
    VF_TRY(vf_fold_walk_forward(&plan->forward, arena, model, plan->y, &plan->affine, err));
    facts->why_not_forward = plan->forward.why;
    facts->node_forward = plan->forward.where;
    facts->needs_border_map = plan->forward.needs_border_map;
    const VfNode *other = other_reader(bn, plan->x);
    if (plan->x->graph != bn->bn->graph) {
        facts->why_not_backward = "what it normalises comes from the graph around";
        return VF_OK;
    }
    if (other != NULL) {
        bool is_output = other->op == VF_OP_RETURN;
        facts->why_not_backward =
            vf_arena_printf(arena, "'%s' is also %s%s%s", vf_value_label(plan->x),
                            is_output ? "an output of the graph" : "read by '",
                            is_output ? "" : vf_node_label(other), is_output ? "" : "'");
        VF_TRY_ALLOC(facts->why_not_backward, err);
        facts->node_backward = is_output ? bn->bn : other;
        return VF_OK;
    }
    VF_TRY(vf_fold_walk_backward(&plan->backward, arena, model, plan->x, &plan->affine, err));
    facts->why_not_backward = plan->backward.why;
    facts->node_backward = plan->backward.where;
    return VF_OK;
}

/* An answer about the whole norm. */
static void refuse_both(VfFoldPlan *plan, const VfBatchNorm *bn, const char *why)
{
    plan->facts.why_not_forward = plan->facts.why_not_backward = why;
    plan->facts.node_forward = plan->facts.node_backward = bn->bn;
}

VfStatus vf_fold_plan(VfArena *arena, VfModel *model, const VfBatchNorm *bn, VfFoldPlan *plan,
                      VfErr *err)
{
    *plan = (VfFoldPlan){.x = bn->x, .y = bn->y};
    const char *why = find_obstacle(arena, bn);
    if (why != NULL) {
        refuse_both(plan, bn, why);
        return VF_OK;
    }
    VfStatus status = bn_affine(arena, bn, &plan->affine, err);
    if (status == VF_UNSUPPORTED) {
        refuse_both(plan, bn, "it has too many channels");
        return VF_OK;
    }
    VF_TRY(status);
    if (!vf_field_is_finite(&plan->affine.a) || !vf_field_is_finite(&plan->affine.c)) {
        refuse_both(plan, bn, "its scale and shift are not finite");
        return VF_OK;
    }
    VF_TRY(move_back(plan, arena, model, bn, err));
    if (plan->facts.why_not_forward != NULL) {
        refuse_both(plan, bn, plan->facts.why_not_forward);
        return VF_OK;
    }
    VF_TRY(walk_both(plan, arena, model, bn, err));
    bool can_forward = plan->facts.why_not_forward == NULL,
         can_backward = plan->facts.why_not_backward == NULL;
    plan->facts.direction = can_forward && can_backward ? VF_FOLD_BOTH
                            : can_forward               ? VF_FOLD_FORWARD
                            : can_backward              ? VF_FOLD_BACKWARD
                                                        : VF_FOLD_NONE;
    return VF_OK;
}

VfStatus vf_fold_facts(VfArena *arena, VfModel *model, const VfBatchNorm *bn, VfFoldFacts *facts,
                       VfErr *err)
{
    VfFoldPlan *plan = VF_NEW(arena, VfFoldPlan);
    VF_TRY_ALLOC(plan, err);
    VF_TRY(vf_fold_plan(arena, model, bn, plan, err));
    *facts = plan->facts;
    return VF_OK;
}
