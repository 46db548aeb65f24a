/* From logits up to the product of queries and keys, and from probabilities down to the values. */
#include "passes/match/attention_parts.h"

#include <string.h>

#include "passes/ir/attr.h"
#include "passes/match/facts.h"

/* A neighbourhood larger than this is no attention. */
enum { VISIT_MAX = 160, DOWN_DEPTH_MAX = 14 };

typedef struct Climb {
    const VfScan *scan;
    VfScores *best;
    VfPath path;
    const VfNode *mixer;
    int32_t n_visit, stop_depth;
    bool is_nearest; /* look behind no product */
} Climb;

static void stop(Climb *c, const VfNode *node, const char *why)
{
    if (c->best->stop != NULL && c->path.n <= c->stop_depth)
        return;
    c->best->stop = node;
    c->best->stop_why = why;
    c->stop_depth = c->path.n;
}

static void offer(Climb *c, VfScoreRank rank, const VfProduct *p, int32_t query, int32_t key,
                  int32_t axis)
{
    VfScores *best = c->best;
    if (rank <= best->rank)
        return;
    best->rank = rank;
    best->product = *p;
    best->query_in = query;
    best->key_in = key;
    best->key_axis = axis;
    best->mixer = c->mixer;
    best->path = c->path;
}

/* Talking heads keep both axes of the scores: does the axis of the queries reach the logits? */
static bool keeps_queries(const Climb *c, const VfProduct *p, int32_t query, int32_t key)
{
    for (int32_t a = 0; a < p->out_rank; a++) {
        int8_t letter = p->out_letter[a];
        if (vf_product_axis(p, query, letter) < 0 || vf_product_axis(p, key, letter) >= 0)
            continue;
        int32_t axis = a;
        for (int32_t i = c->path.n - 1; i >= 0 && axis >= 0; i--)
            axis = vf_axis_down(c->scan->axes, c->path.node[i], c->path.slot[i], axis);
        if (axis >= 0)
            return true;
    }
    return false;
}

/* An operand of `p` that shares a summed axis with operand `key` and lacks `letter`; -1 if none. */
static int32_t find_query(const VfProduct *p, int32_t key, int8_t letter)
{
    for (int32_t i = 0; i < p->n_in; i++) {
        if (i == key || vf_product_axis(p, i, letter) >= 0)
            continue;
        for (int32_t a = 0; a < p->rank[i]; a++) {
            if (vf_product_is_contracted(p, p->letter[i][a]) &&
                vf_product_axis(p, key, p->letter[i][a]) >= 0)
                return i;
        }
    }
    return -1;
}

static void climb(Climb *c, VfValue *value, int32_t axis);

/* Follow operand `slot` of `node`. */
static void climb_operand(Climb *c, VfNode *node, int32_t slot, int32_t axis)
{
    VfValue *in = vf_node_in(node, slot);
    if (in == NULL || vf_is_fixed(in) || c->path.n == VF_PATH_MAX)
        return;
    int32_t up = vf_axis_up(c->scan->axes, node, slot, axis);
    if (up < 0 && vf_op_has(node->op, VF_OPF_VIEW)) {
        int32_t n = c->path.n;
        if (vf_through_split(c->scan, &c->path, node, axis, &in, &up)) {
            climb(c, in, up);
            c->path.n = n;
            return;
        }
    }
    if (up < 0) {
        stop(c, node, "splits, joins or broadcasts the axis normalised over");
        return;
    }
    c->path.node[c->path.n] = node;
    c->path.axis[c->path.n] = axis;
    c->path.slot[c->path.n++] = slot;
    climb(c, in, up);
    c->path.n--;
}

static void climb_mixed(Climb *c, VfNode *node, int32_t slot, int32_t axis)
{
    const VfNode *before = c->mixer;
    if (c->mixer == NULL)
        c->mixer = node;
    climb_operand(c, node, slot, axis);
    c->mixer = before;
}

static void climb_product(Climb *c, const VfProduct *p, int32_t axis)
{
    int8_t letter = p->out_letter[axis];
    int32_t key = vf_product_owner(p, letter);
    if (key < 0 || vf_is_fixed(p->in[key])) {
        stop(c, p->node, "makes the scores with constant weights (a linear layer)");
        return;
    }
    int32_t query = find_query(p, key, letter);
    if (query < 0) {
        stop(c, p->node, "sums over no axis that both operands have");
        return;
    }
    if (!vf_is_fixed(p->in[query])) {
        if (c->mixer == NULL)
            offer(c, VF_SCORE_PLAIN, p, query, key, axis);
        else if (keeps_queries(c, p, query, key))
            offer(c, VF_SCORE_MIXED, p, query, key, axis);
        return;
    }
    /* Mixing heads looks like a constant query; what lies behind it tells. */
    bool is_behind_mixer = c->mixer != NULL && keeps_queries(c, p, query, key);
    offer(c, is_behind_mixer ? VF_SCORE_MIXED : VF_SCORE_CONST_QUERY, p, query, key, axis);
    if (!c->is_nearest)
        climb_mixed(c, p->node, key, axis);
}

static void climb(Climb *c, VfValue *value, int32_t axis)
{
    VfNode *node = value->kind == VF_VALUE_RESULT ? value->def : NULL;
    VfProduct p;
    if (node == NULL || ++c->n_visit > VISIT_MAX) {
        stop(c, node, "is no product");
        return;
    }
    if (vf_product_of(node, &p)) {
        climb_product(c, &p, axis);
        return;
    }
    bool is_elementwise = vf_op_has(node->op, VF_OPF_ELEMENTWISE);
    if (!is_elementwise && !vf_is_mover(node)) {
        stop(c, node, "is no product of queries and keys");
        bool is_normaliser = node->op == VF_OP_SOFTMAX;
        if (!is_normaliser && !c->is_nearest && value->index == 0)
            climb_mixed(c, node, 0, axis);
        return;
    }
    for (int32_t i = 0; i < node->n_in && (is_elementwise || i == 0); i++)
        climb_operand(c, node, i, axis);
}

void vf_find_scores(const VfScan *scan, VfValue *value, int32_t axis, VfScores *scores)
{
    memset(scores, 0, sizeof(*scores));
    Climb c = {.scan = scan, .best = scores, .stop_depth = -1};
    climb(&c, value, axis);
}

void vf_find_nearest_scores(const VfScan *scan, VfValue *value, int32_t axis, VfScores *scores)
{
    memset(scores, 0, sizeof(*scores));
    Climb c = {.scan = scan, .best = scores, .stop_depth = -1, .is_nearest = true};
    climb(&c, value, axis);
}

/* --- down to the values --- */

typedef struct Descent {
    const VfScan *scan;
    VfValues *best;
    const VfNode *mixer;
    int32_t n_visit;
} Descent;

static void offer_values(Descent *d, VfNode *node, const VfProduct *p, int32_t probs_in,
                         int32_t value_in)
{
    VfValues *best = d->best;
    if (best->node != NULL && (best->mixer == NULL || d->mixer != NULL))
        return;
    best->node = node;
    best->mixer = d->mixer;
    best->probs_in = probs_in;
    best->value_in = value_in;
    if (p != NULL) {
        best->product = *p;
        best->probs = p->in[probs_in];
        best->v = p->in[value_in];
    } else {
        best->product.n_in = 0;
    }
}

/* Remember the first reader that leads elsewhere; a product tells more than plumbing. */
static void stop_values(Descent *d, const VfNode *node, const char *why)
{
    VfProduct p;
    if (d->best->stop != NULL && !vf_product_of((VfNode *)node, &p))
        return;
    if (d->best->stop != NULL && vf_product_of((VfNode *)d->best->stop, &p))
        return;
    d->best->stop = node;
    d->best->stop_why = why;
}

/* The run-time operand of `p` other than `probs_in` that has `letter` and adds an axis of its own;
 * -1 if none. */
static int32_t find_value(const VfProduct *p, int32_t probs_in, int8_t letter)
{
    for (int32_t i = 0; i < p->n_in; i++) {
        if (i != probs_in && vf_product_axis(p, i, letter) >= 0 && !vf_is_fixed(p->in[i]))
            return i;
    }
    return -1;
}

static void descend(Descent *d, VfValue *value, int32_t axis, int32_t depth);

static void descend_mixed(Descent *d, VfNode *node, int32_t slot, int32_t axis, int32_t depth)
{
    const VfNode *before = d->mixer;
    int32_t down = vf_axis_down(d->scan->axes, node, slot, axis);
    if (down < 0 || vf_node_out(node, 0) == NULL)
        return;
    if (d->mixer == NULL)
        d->mixer = node;
    descend(d, vf_node_out(node, 0), down, depth + 1);
    d->mixer = before;
}

static void descend_product(Descent *d, const VfProduct *p, int32_t slot, int32_t axis,
                            int32_t depth)
{
    int8_t letter = p->letter[slot][axis];
    if (vf_product_out_axis(p, letter) < 0) {
        int32_t value_in = find_value(p, slot, letter);
        if (value_in >= 0)
            offer_values(d, p->node, p, slot, value_in);
        else
            stop_values(d, p->node, "multiplies it with constants");
        return;
    }
    stop_values(d, p->node, "sums over another axis");
    if (vf_product_n_runtime(p) == 1)
        descend_mixed(d, p->node, slot, axis, depth);
}

/* Mul by a run-time value, then ReduceSum over the keys: a product written out. */
static void descend_mul_sum(Descent *d, VfNode *mul, int32_t slot, int32_t axis)
{
    VfValue *weighted = vf_node_out(mul, 0);
    int32_t down = vf_axis_down(d->scan->axes, mul, slot, axis);
    for (VfUse *use = weighted->first_use; use != NULL; use = use->next) {
        int64_t reduced[VF_AXIS_MAX];
        if (use->node->op != VF_OP_REDUCE_SUM || use->slot != 0)
            continue;
        if (vf_reduce_axes(use->node, reduced) == 1 && reduced[0] == down) {
            offer_values(d, use->node, NULL, slot, 1 - slot);
            if (d->best->node == use->node) {
                d->best->probs = vf_node_in(mul, slot);
                d->best->v = vf_other_in(mul, slot);
            }
        }
    }
}

static void descend_use(Descent *d, VfUse *use, int32_t axis, int32_t depth)
{
    VfNode *node = use->node;
    VfProduct p;
    int32_t slot;
    double factor;
    if (vf_product_of(node, &p)) {
        if (use->slot < p.n_in)
            descend_product(d, &p, use->slot, axis, depth);
        return;
    }
    if (node->op == VF_OP_SHAPE || node->op == VF_OP_RETURN || node->op == VF_OP_SOFTMAX ||
        node->op == VF_OP_IS_NAN)
        return;
    stop_values(d, node, "is no product with values");
    if (node->op == VF_OP_MUL && !vf_is_fixed(vf_other_in(node, use->slot)))
        descend_mul_sum(d, node, use->slot, axis);
    bool is_scale = vf_is_scale(node, &slot, &factor, NULL) && slot == use->slot;
    bool is_plain = use->slot == 0 ? vf_is_mover(node) : use->slot == 2 && vf_is_nan_guard(node);
    if (is_scale || is_plain) {
        int32_t down = vf_axis_down(d->scan->axes, node, use->slot, axis);
        if (down >= 0 && vf_node_out(node, 0) != NULL)
            descend(d, vf_node_out(node, 0), down, depth + 1);
        return;
    }
    descend_mixed(d, node, use->slot, axis, depth);
}

static void descend(Descent *d, VfValue *value, int32_t axis, int32_t depth)
{
    if (depth > DOWN_DEPTH_MAX)
        return;
    for (VfUse *use = value->first_use; use != NULL && d->n_visit < VISIT_MAX; use = use->next) {
        d->n_visit++;
        descend_use(d, use, axis, depth);
    }
}

void vf_find_values(const VfScan *scan, VfValue *probs, int32_t axis, VfValues *values)
{
    memset(values, 0, sizeof(*values));
    Descent d = {.scan = scan, .best = values};
    descend(&d, probs, axis, 0);
    if (values->node != NULL)
        values->stop = NULL;
}
