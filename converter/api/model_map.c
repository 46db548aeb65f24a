#include "converter/api/model_map.h"

#include "converter/lower/lower.h"
#include "passes/match/pointwise.h"
#include "passes/match/residual.h"

typedef struct Marks {
    VfArena *arena;
    VfModel *model;
    VfErr *err;
    int32_t *site_of; /* by node id */
    const char **note;
    VfMapSite *site;
    int32_t n_site;
    VfNode **list; /* scratch: the nodes of one site */
} Marks;

static VfNode *def_of(const VfValue *value)
{
    return value != NULL && value->kind == VF_VALUE_RESULT ? value->def : NULL;
}

static bool is_free(const Marks *marks, const VfNode *node)
{
    return node != NULL && !node->is_removed && node->graph == marks->model->graph &&
           node->op != VF_OP_RETURN && marks->site_of[node->id] < 0;
}

static bool all_users_in(const Marks *marks, const VfNode *node, int32_t site)
{
    for (int32_t i = 0; i < node->n_out; i++)
        for (const VfUse *use = node->out[i] == NULL ? NULL : node->out[i]->first_use; use != NULL;
             use = use->next)
            if (use->node->graph != marks->model->graph || use->node->op == VF_OP_RETURN ||
                marks->site_of[use->node->id] != site)
                return false;
    return true;
}

/* Layers with weights, and norms, are sites of their own, also if this one alone reads them. */
static bool is_own(const VfNode *node)
{
    return vf_is_layer(node) || node->op == VF_OP_LAYER_NORMALIZATION ||
           node->op == VF_OP_BATCH_NORMALIZATION;
}

/* Give the site what leads to its nodes and to nothing else, up to `stop`. */
static void spread(Marks *marks, int32_t n, int32_t site, VfValue *const *stop, int32_t n_stop)
{
    for (int32_t i = 0; i < n; i++) {
        const VfNode *node = marks->list[i];
        for (int32_t k = 0; k < node->n_in; k++) {
            VfValue *value = vf_node_in(node, k);
            VfNode *def = def_of(value);
            bool is_stop = !is_free(marks, def) || is_own(def) ||
                           !all_users_in(marks, def, site);
            for (int32_t s = 0; s < n_stop; s++)
                is_stop |= stop[s] == value;
            if (is_stop)
                continue;
            marks->site_of[def->id] = site;
            marks->list[n++] = def;
        }
    }
}

static void seed(Marks *marks, VfNode *node, int32_t site, int32_t *n)
{
    if (!is_free(marks, node))
        return;
    marks->site_of[node->id] = site;
    marks->list[(*n)++] = node;
}

/* Everything between the result and the stop; layers only `with_own`. */
static void seed_between(Marks *marks, VfValue *result, VfValue *stop, bool with_own,
                         int32_t site, int32_t *n)
{
    enum { MOST = 64 };
    int32_t first = *n;
    seed(marks, def_of(result), site, n);
    for (int32_t i = first; i < *n && *n - first < MOST; i++) {
        const VfNode *node = marks->list[i];
        for (int32_t k = 0; k < node->n_in; k++) {
            VfValue *value = vf_node_in(node, k);
            if (value != stop && def_of(value) != NULL && (with_own || !is_own(def_of(value))))
                seed(marks, def_of(value), site, n);
        }
    }
}

/* Does `value` come from `origin` in a few steps? */
static bool comes_from(const VfValue *value, const VfValue *origin, int32_t steps)
{
    const VfNode *def = def_of(value);
    if (value == origin)
        return true;
    for (int32_t i = 0; def != NULL && steps > 0 && i < def->n_in; i++)
        if (vf_node_in(def, i) != NULL && comes_from(vf_node_in(def, i), origin, steps - 1))
            return true;
    return false;
}

/* Attention of other kinds works on scores and weights in ways of its own, also by layers. */
static void seed_other(Marks *marks, const VfAttention *found, int32_t site, int32_t *n)
{
    enum { STEPS = 10 };
    VfValue *weights = vf_node_out(found->norm_node, 0);
    if (found->raw_scores != NULL && found->logits != NULL &&
        comes_from(found->logits, found->raw_scores, STEPS))
        seed_between(marks, found->logits, found->raw_scores, true, site, n);
    if (found->value_node == NULL || weights == NULL)
        return;
    for (int32_t i = 0; i < found->value_node->n_in; i++) {
        VfValue *value = vf_node_in(found->value_node, i);
        if (value != NULL && value != weights && comes_from(value, weights, STEPS))
            seed_between(marks, value, weights, true, site, n);
    }
}

static VfStatus mark_attention(Marks *marks, const VfAttention *found)
{
    int32_t n = 0, site = marks->n_site;
    if (found->kind == VF_ATTENTION_OTHER)
        seed_other(marks, found, site, &n); /* first: walks go through free nodes alone */
    seed(marks, found->norm_node, site, &n);
    seed(marks, found->score_node, site, &n);
    seed(marks, found->value_node, site, &n);
    for (int32_t i = 0; i < found->n_scale_node; i++)
        seed(marks, found->scale_node[i], site, &n);
    for (int32_t i = 0; i < found->n_term; i++)
        seed(marks, found->term[i].node, site, &n);
    if (n == 0)
        return VF_OK;
    VfValue *stop[] = {found->q, found->k, found->v};
    spread(marks, n, site, stop, 3);
    return vf_map_attention(marks->arena, marks->model, found, &marks->site[marks->n_site++],
                            marks->err);
}

static VfStatus mark_layer_norm(Marks *marks, const VfLayerNorm *found)
{
    int32_t n = 0;
    if (found->last->is_removed || !is_free(marks, found->last))
        return VF_OK;
    if (found->root == found->last)
        seed(marks, found->last, marks->n_site, &n);
    else
        seed_between(marks, found->y, found->x, false, marks->n_site, &n);
    return vf_map_layer_norm(marks->arena, marks->model, found, &marks->site[marks->n_site++],
                             marks->err);
}

static VfStatus mark_batch_norm(Marks *marks, const VfBatchNorm *found)
{
    int32_t n = 0;
    if (!is_free(marks, found->bn))
        return VF_OK;
    seed(marks, found->bn, marks->n_site, &n);
    seed(marks, found->mul, marks->n_site, &n);
    seed(marks, found->add, marks->n_site, &n);
    for (int32_t i = 0; i < found->n_back; i++)
        seed(marks, found->back[i], marks->n_site, &n);
    return vf_map_batch_norm(marks->arena, found, &marks->site[marks->n_site++], marks->err);
}

/* Rows of a constant table, by number. */
static bool is_embedding(const VfNode *node)
{
    const VfTensor *table = node->op == VF_OP_GATHER ? vf_value_const(vf_node_in(node, 0)) : NULL;
    return table != NULL && table->rank == 2 && vf_dtype_info(table->dtype)->is_float;
}

static VfStatus mark_layers(Marks *marks)
{
    for (VfNode *node = marks->model->graph->first_node; node != NULL; node = node->next) {
        if (!(vf_is_layer(node) || is_embedding(node)) || !is_free(marks, node))
            continue;
        marks->site_of[node->id] = marks->n_site;
        VF_TRY(vf_map_layer(marks->arena, node, &marks->site[marks->n_site++], marks->err));
    }
    return VF_OK;
}

/* The outermost point-wise functions; what they are written out with is not told again. */
static VfStatus note_functions(Marks *marks)
{
    enum { MOST = 16 };
    bool *is_part = VF_NEW_ARRAY(marks->arena, bool, (size_t)marks->model->n_node_id);
    VF_TRY_ALLOC(is_part, marks->err);
    for (VfNode *node = marks->model->graph->last_node; node != NULL; node = node->prev) {
        VfValue *of = NULL, *out = vf_node_out(node, 0);
        if (is_part[node->id] || marks->site_of[node->id] >= 0 || out == NULL)
            continue;
        marks->note[node->id] = vf_pointwise_of(out, &of);
        if (marks->note[node->id] == NULL)
            continue;
        int32_t n = 0;
        marks->list[n++] = node;
        for (int32_t i = 0; i < n && n < MOST; i++)
            for (int32_t k = 0; k < marks->list[i]->n_in; k++) {
                VfValue *value = vf_node_in(marks->list[i], k);
                VfNode *def = def_of(value);
                if (value == of || def == NULL || is_part[def->id] || n == MOST)
                    continue;
                is_part[def->id] = true;
                marks->list[n++] = def;
            }
    }
    return VF_OK;
}

static VfStatus mark(Marks *marks, const VfSiteList *sites)
{
    for (int32_t i = 0; i < sites->norm.n_batch; i++)
        VF_TRY(mark_batch_norm(marks, &sites->norm.batch[i]));
    for (int32_t i = 0; i < sites->norm.n_layer; i++)
        VF_TRY(mark_layer_norm(marks, &sites->norm.layer[i]));
    for (int32_t i = 0; i < sites->attention.n_site; i++)
        VF_TRY(mark_attention(marks, &sites->attention.site[i]));
    VF_TRY(mark_layers(marks));
    return note_functions(marks);
}

VfStatus vf_model_map(VfArena *arena, VfModel *model, const VfSiteList *sites, VfBytes title,
                      VfDrawSheet *sheet, VfErr *err)
{
    size_t n_id = (size_t)model->n_node_id;
    size_t most = (size_t)(sites->attention.n_site + sites->norm.n_layer + sites->norm.n_batch +
                           model->graph->n_node);
    Marks marks = {
        .arena = arena,
        .model = model,
        .err = err,
        .site_of = VF_NEW_ARRAY(arena, int32_t, n_id),
        .note = VF_NEW_ARRAY(arena, const char *, n_id),
        .site = VF_NEW_ARRAY(arena, VfMapSite, most),
        .list = VF_NEW_ARRAY(arena, VfNode *, n_id + 16),
    };
    if (marks.site_of == NULL || marks.note == NULL || marks.site == NULL || marks.list == NULL)
        return vf_no_memory(err);
    for (size_t i = 0; i < n_id; i++)
        marks.site_of[i] = -1;
    VF_TRY(mark(&marks, sites));
    VfMapAsk ask = {.title = title, .graph = model->graph, .n_site = marks.n_site,
                    .site = marks.site, .site_of = marks.site_of, .note = marks.note};
    VF_TRY(vf_map_sheet(arena, &ask, sheet, err));
    return vf_labels_check(model->labels, err);
}
