#include "passes/match/residual.h"

#include <math.h>

#include "passes/match/depth.h"
#include "passes/match/facts.h"
#include "passes/match/fused.h"

/* Nodes between skip and sum looked at: skips over a whole stage fit, and time stays linear. */
enum { SPAN_MAX = 1 << 14, STEP_MAX = 16 };

/* How a node hangs on the skip. */
enum { APART = 0, REACHES = 1, THROUGH_LAYER = 2, THROUGH_ATTENTION = 3 };

typedef struct Search {
    VfArena *arena;
    int32_t *place;  /* by node id: position in `node`, -1: not of this graph */
    VfNode **node;   /* in graph order */
    int32_t *mark;   /* by position: number of the search that met it */
    uint8_t *state;  /* by position */
    int32_t n_search;
} Search;

/* --- facts --- */

static bool is_product(const VfNode *node)
{
    return node->op == VF_OP_MATMUL || node->op == VF_OP_GEMM || node->op == VF_OP_EINSUM ||
           node->op == VF_OP_MS_FUSED_MATMUL || node->op == VF_OP_MS_TRANSPOSE_MATMUL;
}

static bool has_fixed_operand(const VfNode *node)
{
    for (int32_t i = 0; i < node->n_in && i < 2; i++) {
        if (vf_node_in(node, i) != NULL && vf_is_fixed(vf_node_in(node, i)))
            return true;
    }
    return false;
}

bool vf_is_layer(const VfNode *node)
{
    bool is_conv = node->op == VF_OP_CONV || node->op == VF_OP_CONV_TRANSPOSE;
    if (is_conv || vf_fused_form(node->op) != NULL)
        return true;
    return is_product(node) && has_fixed_operand(node);
}

static bool is_attention(const VfNode *node)
{
    return vf_fused_form(node->op) != NULL || (is_product(node) && !has_fixed_operand(node));
}

static VfNode *def_of(const VfValue *value)
{
    return value != NULL && value->kind == VF_VALUE_RESULT ? value->def : NULL;
}

static int32_t place_of(const Search *search, const VfValue *value)
{
    const VfNode *def = def_of(value);
    return def != NULL ? search->place[def->id] : -1;
}

/* What the skip is a copy, part or multiple of. */
static VfValue *base_of(VfValue *value)
{
    for (int32_t i = 0; i < STEP_MAX; i++) {
        VfNode *def = def_of(value);
        int32_t slot = 0;
        double factor;
        bool is_part = def != NULL && (vf_is_mover(def) || def->op == VF_OP_SLICE ||
                                       def->op == VF_OP_GATHER || def->op == VF_OP_SPLIT ||
                                       def->op == VF_OP_AVERAGE_POOL || def->op == VF_OP_MAX_POOL);
        bool is_scale = def != NULL && vf_is_scale(def, &slot, &factor, NULL) && !isnan(factor);
        if (!is_part && !is_scale)
            break;
        value = vf_node_in(def, is_part ? 0 : slot);
    }
    return value;
}

/* --- from the skip to the sum --- */

static void mark_up(Search *search, int32_t from, int32_t to)
{
    for (int32_t at = from; at > to; at--) {
        const VfNode *node = search->node[at];
        for (int32_t i = 0; search->mark[at] == search->n_search && i < node->n_in; i++) {
            int32_t above = place_of(search, vf_node_in(node, i));
            if (above > to)
                search->mark[above] = search->n_search;
        }
    }
}

static uint8_t state_of(const Search *search, const VfValue *value, const VfValue *base)
{
    int32_t at = place_of(search, value);
    if (value == base)
        return REACHES;
    return at >= 0 && search->mark[at] == search->n_search ? search->state[at] : APART;
}

static uint8_t node_state(const Search *search, const VfNode *node, const VfValue *base)
{
    uint8_t state = APART;
    for (int32_t i = 0; i < node->n_in; i++) {
        uint8_t above = state_of(search, vf_node_in(node, i), base);
        state = above > state ? above : state;
    }
    if (state != APART && state < THROUGH_LAYER && vf_is_layer(node))
        state = THROUGH_LAYER;
    if (state >= THROUGH_LAYER && is_attention(node))
        state = THROUGH_ATTENTION;
    return state;
}

/* How `value` hangs on `base`. */
static uint8_t search_up(Search *search, const VfValue *value, const VfValue *base)
{
    int32_t from = place_of(search, value), to = place_of(search, base);
    if (from <= to || from - to > SPAN_MAX || def_of(value) == NULL)
        return APART;
    search->n_search++;
    search->mark[from] = search->n_search;
    mark_up(search, from, to);
    for (int32_t at = to + 1; at <= from; at++) {
        if (search->mark[at] == search->n_search)
            search->state[at] = node_state(search, search->node[at], base);
    }
    return search->state[from];
}

/* --- sums --- */

typedef struct Sum {
    int32_t n;
    VfResidualLeaf leaf[VF_RESIDUAL_LEAF_MAX];
} Sum;

static bool is_sum(const VfNode *node)
{
    return node != NULL && (node->op == VF_OP_ADD || node->op == VF_OP_SUM);
}

static bool add_leaves(Sum *sum, VfNode *node)
{
    for (int32_t i = 0; i < node->n_in; i++) {
        const VfValue *value = vf_node_in(node, i);
        const VfNode *def = def_of(value);
        int32_t slot;
        double factor = 1.0;
        if (value == NULL || sum->n == VF_RESIDUAL_LEAF_MAX)
            return false;
        if (def == NULL || !vf_is_scale(def, &slot, &factor, NULL) || isnan(factor))
            factor = 1.0;
        sum->leaf[sum->n++] = (VfResidualLeaf){node, i, factor};
    }
    return sum->n >= 2;
}

static VfValue *value_of(const VfResidualLeaf *leaf)
{
    return vf_node_in(leaf->node, leaf->slot);
}

/* A term that is repeated to the shape of the sum is a mask or a bias, also where what it is added
 * to was computed from it. */
static bool is_spread(const VfValue *term, const VfNode *add)
{
    const VfValue *out = vf_node_out(add, 0);
    if (out == NULL || out->type.rank < 0 || term->type.rank < 0)
        return false;
    for (int32_t i = 0; i < term->type.rank && i < out->type.rank; i++)
        if (vf_dim_is(term->type.dims[i], 1) && !vf_dim_is(out->type.dims[i], 1))
            return true;
    return term->type.rank != out->type.rank;
}

/* Is leaf `skip` what all others come from? */
static bool try_skip(Search *search, const Sum *sum, int32_t skip, VfResidual *site)
{
    VfValue *term = value_of(&sum->leaf[skip]), *base = base_of(term);
    if (base == NULL || base->kind == VF_VALUE_CONST || is_spread(term, site->add))
        return false;
    site->skip = sum->leaf[skip];
    site->n_branch = 0;
    site->is_attention = false;
    for (int32_t i = 0; i < sum->n; i++) {
        if (i == skip)
            continue;
        uint8_t state = search_up(search, value_of(&sum->leaf[i]), base);
        if (state < THROUGH_LAYER)
            return false;
        site->is_attention = site->is_attention || state == THROUGH_ATTENTION;
        site->branch[site->n_branch++] = sum->leaf[i];
    }
    return true;
}

static bool try_sum(Search *search, const Sum *sum, VfResidual *site)
{
    for (int32_t skip = 0; skip < sum->n; skip++) {
        if (try_skip(search, sum, skip, site))
            return true;
    }
    return false;
}

/* The sums that only `node` reads, taken apart. */
static bool expand(const VfNode *node, Sum *sum)
{
    bool is_longer = false;
    for (int32_t i = 0; i < node->n_in; i++) {
        VfNode *inner = def_of(vf_node_in(node, i));
        bool is_own = is_sum(inner) && vf_value_single_user(vf_node_out(inner, 0)) == node;
        if (is_own && !add_leaves(sum, inner))
            return false;
        is_longer = is_longer || is_own;
        if (is_own)
            continue;
        Sum one = {0};
        if (!add_leaves(&one, (VfNode *)node) || i >= one.n || sum->n == VF_RESIDUAL_LEAF_MAX)
            return false;
        sum->leaf[sum->n++] = one.leaf[i];
    }
    return is_longer;
}

static bool find_site(Search *search, VfNode *node, VfResidual *site)
{
    Sum sum = {0}, longer = {0};
    site->add = node;
    if (!add_leaves(&sum, node))
        return false;
    return try_sum(search, &sum, site) || (expand(node, &longer) && try_sum(search, &longer, site));
}

/* --- all of a graph --- */

static VfStatus begin(Search *search, const VfGraph *graph, VfErr *err)
{
    size_t n = (size_t)graph->n_node + 1, n_id = (size_t)graph->model->n_node_id + 1;
    search->place = VF_NEW_ARRAY(search->arena, int32_t, n_id);
    search->node = VF_NEW_ARRAY(search->arena, VfNode *, n);
    search->mark = VF_NEW_ARRAY(search->arena, int32_t, n);
    search->state = VF_NEW_ARRAY(search->arena, uint8_t, n);
    VF_TRY_ALLOC(search->place, err);
    VF_TRY_ALLOC(search->node, err);
    VF_TRY_ALLOC(search->mark, err);
    VF_TRY_ALLOC(search->state, err);
    for (size_t i = 0; i < n_id; i++)
        search->place[i] = -1;
    int32_t at = 0;
    for (VfNode *node = graph->first_node; node != NULL; node = node->next, at++) {
        search->place[node->id] = at;
        search->node[at] = node;
    }
    return VF_OK;
}

/* A longer sum takes the place of the shorter ones it took apart. */
static void drop_inner(VfResiduals *found, const VfResidual *site)
{
    VfResidual *last = found->n_site > 0 ? &found->site[found->n_site - 1] : NULL;
    for (int32_t i = 0; last != NULL && i < site->n_branch; i++) {
        if (last->add == site->skip.node || last->add == site->branch[i].node) {
            found->n_site--;
            return;
        }
    }
}

static VfStatus count_depth(VfArena *arena, const VfGraph *graph, VfResiduals *found, VfErr *err)
{
    bool *counts = VF_NEW_ARRAY(arena, bool, (size_t)graph->model->n_node_id + 1);
    const int32_t *depth;
    VF_TRY_ALLOC(counts, err);
    for (int32_t i = 0; i < found->n_site; i++)
        counts[found->site[i].add->id] = true;
    VF_TRY(vf_count_depth(arena, graph, counts, &depth, &found->depth, err));
    for (int32_t i = 0; i < found->n_site; i++)
        found->site[i].depth = depth[found->site[i].add->id];
    return VF_OK;
}

VfStatus vf_find_residuals(VfArena *arena, VfGraph *graph, VfResiduals *found, VfErr *err)
{
    Search search = {.arena = arena};
    size_t capacity = 0;
    *found = (VfResiduals){0};
    VF_TRY(begin(&search, graph, err));
    for (int32_t at = 0; at < graph->n_node; at++) {
        VfResidual site = {0};
        if (!is_sum(search.node[at]) || !find_site(&search, search.node[at], &site))
            continue;
        drop_inner(found, &site);
        VF_TRY(vf_arena_grow(arena, (void **)&found->site, &capacity, (size_t)found->n_site + 1,
                             sizeof *found->site, err));
        found->site[found->n_site++] = site;
    }
    return count_depth(arena, graph, found, err);
}

/* The sum of squares is off by as much as factors lose in the dtype of the network. */
static double slack_of(const VfResidual *site)
{
    VfDtype dtype = site->add->out[0]->type.dtype;
    return dtype == VF_F16 ? 2e-3 : dtype == VF_BF16 ? 1.6e-2 : 1e-5;
}

bool vf_residual_is_normal(const VfResidual *site)
{
    double alpha = site->skip.factor, beta = site->branch[0].factor;
    for (int32_t i = 1; i < site->n_branch; i++) {
        if (fabs(site->branch[i].factor - beta) > 0.0)
            return false;
    }
    return fabs(alpha * alpha + beta * beta - 1.0) < slack_of(site);
}
