/* The walk over the main graph, and what an attention does to the tokens. */
#include "converter/api/signal_tokens.h"

#include <math.h>
#include <string.h>

#include "passes/match/facts.h"

/* Where the tokens that V is made of come from: what its projection gives. */
static VfValue *root_of(VfValue *value)
{
    enum { STEP_MAX = 32 };
    for (int i = 0; i < STEP_MAX && value != NULL && value->kind == VF_VALUE_RESULT; i++) {
        VfNode *node = value->def;
        int32_t slot = 0;
        double factor;
        bool is_part = node->op == VF_OP_SPLIT || node->op == VF_OP_SLICE ||
                       node->op == VF_OP_GATHER;
        if (!is_part && !vf_is_mover(node) && !vf_is_scale(node, &slot, &factor, NULL))
            break;
        value = vf_node_in(node, slot);
    }
    return value;
}

/* Mean rank of the matrices. */
static VfStatus mean_rank(const VfSignalMap *map, double *rank, VfErr *err)
{
    VfArena *scratch = vf_arena_new();
    VfStatus status = VF_OK;
    VF_TRY_ALLOC(scratch, err);
    *rank = 0;
    for (int32_t k = 0; k < map->n && status == VF_OK; k++) {
        int32_t one = 0;
        vf_arena_reset(scratch);
        VfMatrix row = map->matrix[k];
        if (vf_walk_has_equal_rows(&row))
            row.n_row = 1;
        status = vf_signal_rank(scratch, &row, &one, err);
        *rank += one / (double)map->n;
    }
    vf_arena_free(scratch);
    return status;
}

/* The tokens of V, of which there must be `n`. */
static VfStatus find_tokens(VfWalk *walk, VfSignalRow *row, int32_t n, const VfTokens **out,
                            VfErr *err)
{
    VfTokens *made;
    VfMatrix kernel;
    const VfTokens *from = row->site->v == NULL ? NULL : walk->state[row->site->v->id];
    if (from != NULL && vf_tokens_count(from) != n) {
        row->note = "other tokens than before: begun anew";
        from = NULL;
    }
    if (from == NULL) {
        VF_TRY(vf_tokens_source(walk, n, NULL, &made, err));
        from = made;
    } else if (from->n_map > 0) {
        VF_TRY(vf_tokens_kernel(walk, from, &kernel, err));
        VF_TRY(vf_tokens_source(walk, n, &kernel, &made, err));
        from = made;
    }
    *out = from;
    return VF_OK;
}

static VfStatus apply_map(VfWalk *walk, VfSignalRow *row, const VfSignalMap *map, VfErr *err)
{
    const VfTokens *from;
    VF_TRY(find_tokens(walk, row, map->matrix[0].n_col, &from, err));
    VfTokens *made = vf_tokens_new(walk, *from);
    VF_TRY_ALLOC(made, err);
    made->n_map = map->n;
    made->map = map->matrix;
    made->site = (int32_t)(row - walk->signal->row);
    made->n_product = 0;
    row->tokens = map->matrix[0].n_row;
    row->has_zero = true;
    if (map->note != NULL)
        row->note = map->note;
    VF_TRY(mean_rank(map, &row->zero_rank, err));
    vf_walk_keep(walk, row->site->out, made);
    return VF_OK;
}

/* Attention whose matrix cannot be told leaves the tokens as they are, and says why. */
static VfStatus visit_site(VfWalk *walk, VfSignalRow *row, VfErr *err)
{
    VfSignalMap map;
    VfErr why = {0};
    VfStatus status = vf_signal_map(walk->arena, row->site, &map, &why);
    if (status == VF_OK)
        return apply_map(walk, row, &map, err);
    if (status != VF_UNSUPPORTED)
        return vf_fail(err, status, "%s", why.text);
    row->note = vf_arena_string(walk->arena, why.text);
    VF_TRY_ALLOC(row->note, err);
    const VfTokens *from = row->site->v == NULL ? NULL : walk->state[row->site->v->id];
    if (vf_dim_is_known(row->site->n_q) && row->site->n_q.k <= INT32_MAX)
        row->tokens = (int32_t)row->site->n_q.k;
    if (row->site->out == NULL)
        return VF_OK;
    if (from == NULL) {
        row->output = row->site->out;
        return VF_OK;
    }
    VfTokens *made = vf_tokens_new(walk, *from);
    VF_TRY_ALLOC(made, err);
    made->site = (int32_t)(row - walk->signal->row);
    made->n_product = 0;
    vf_walk_keep(walk, row->site->out, made);
    return VF_OK;
}

/* Tokens exist from where the first attention takes its values; the walk meets that place before
 * the attention itself. */
static VfStatus mark_root(VfWalk *walk, const int32_t *n_token, const VfValue *value, VfErr *err)
{
    VfTokens *made;
    if (value == NULL || n_token[value->id] == 0 || walk->state[value->id] != NULL)
        return VF_OK;
    VF_TRY(vf_tokens_source(walk, n_token[value->id], NULL, &made, err));
    walk->state[value->id] = made;
    return VF_OK;
}

static VfStatus walk_nodes(VfWalk *walk, const VfModel *model, const VfSiteList *sites,
                           const int32_t *n_token, VfErr *err)
{
    for (int32_t i = 0; i < model->graph->n_input; i++)
        VF_TRY(mark_root(walk, n_token, model->graph->input[i], err));
    for (VfNode *node = model->graph->first_node; node != NULL; node = node->next) {
        int32_t site = walk->site_of[node->id], norm = walk->norm_of[node->id];
        if (site > 0)
            VF_TRY(visit_site(walk, &walk->signal->row[site - 1], err));
        else if (norm > 0)
            VF_TRY(vf_walk_norm(walk, &sites->norm.layer[norm - 1], err));
        else
            VF_TRY(vf_walk_node(walk, node, err));
        for (int32_t k = 0; k < node->n_out; k++)
            VF_TRY(mark_root(walk, n_token, vf_node_out(node, k), err));
    }
    return VF_OK;
}

static VfStatus finish_row(VfWalk *walk, VfSignalRow *row, VfErr *err)
{
    VfMatrix kernel;
    const VfTokens *t = row->output == NULL ? NULL : walk->state[row->output->id];
    row->has_zero = row->has_zero && t != NULL;
    if (!row->has_zero)
        return VF_OK;
    VF_TRY(vf_tokens_kernel(walk, t, &kernel, err));
    row->zero = vf_signal_shape(&kernel);
    return VF_OK;
}

static VfStatus make_tables(VfWalk *walk, const VfModel *model, const VfSiteList *sites,
                            int32_t **n_token, VfErr *err)
{
    size_t n_value = (size_t)model->n_value_id, n_node = (size_t)model->n_node_id;
    walk->state = VF_NEW_ARRAY(walk->arena, const VfTokens *, n_value);
    walk->site_of = VF_NEW_ARRAY(walk->arena, int32_t, n_node);
    walk->norm_of = VF_NEW_ARRAY(walk->arena, int32_t, n_node);
    *n_token = VF_NEW_ARRAY(walk->arena, int32_t, n_value);
    VF_TRY_ALLOC(walk->state, err);
    VF_TRY_ALLOC(walk->site_of, err);
    VF_TRY_ALLOC(walk->norm_of, err);
    VF_TRY_ALLOC(*n_token, err);
    for (int32_t i = 0; i < sites->attention.n_site; i++) {
        const VfAttention *site = &sites->attention.site[i];
        const VfNode *end = site->value_node != NULL ? site->value_node : site->norm_node;
        VfValue *root = root_of(site->v);
        walk->site_of[end->id] = i + 1;
        if (root != NULL && vf_dim_is_known(site->n_k) && site->n_k.k >= 1 &&
            site->n_k.k <= VF_MATRIX_MAX)
            (*n_token)[root->id] = (int32_t)site->n_k.k;
    }
    for (int32_t i = 0; i < sites->norm.n_layer; i++)
        if (!sites->norm.layer[i].last->is_removed)
            walk->norm_of[sites->norm.layer[i].last->id] = i + 1;
    return VF_OK;
}

VfStatus vf_signal_walk(VfArena *arena, const VfModel *model, const VfSiteList *sites,
                        VfSignal *signal, VfErr *err)
{
    VfWalk walk = {.arena = arena, .signal = signal};
    int32_t *n_token;
    VF_TRY(make_tables(&walk, model, sites, &n_token, err));
    signal->n_row = sites->attention.n_site;
    signal->row = VF_NEW_ARRAY(arena, VfSignalRow, (size_t)signal->n_row + 1);
    VF_TRY_ALLOC(signal->row, err);
    for (int32_t i = 0; i < signal->n_row; i++) {
        signal->row[i].site = &sites->attention.site[i];
        if (signal->row[i].site->graph != model->graph)
            signal->row[i].note = "inside a subgraph or function: not followed";
    }
    VF_TRY(walk_nodes(&walk, model, sites, n_token, err));
    for (int32_t i = 0; i < signal->n_row; i++)
        VF_TRY(finish_row(&walk, &signal->row[i], err));
    return VF_OK;
}
