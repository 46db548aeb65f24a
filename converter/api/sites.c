#include "converter/api/sites.h"

#include <stdlib.h>
#include <string.h>

#include "converter/api/handle.h"
#include "converter/lower/lower.h"
#include "passes/ir/walk.h"
#include "runtime/base/text.h"

VfStatus vf_sites_find(VfArena *arena, VfModel *model, VfSiteList *sites, VfErr *err)
{
    VfNorms unfolded;
    VF_TRY(vf_clean_up(model, NULL, err));
    VF_TRY(vf_find_norms(arena, model, &unfolded, err));
    VF_TRY(vf_clean_up(model, vf_evaluator(), err));
    VF_TRY(vf_find_attention(arena, model, &sites->attention, err));
    VF_TRY(vf_find_norms(arena, model, &sites->norm, err));
    /* Folding computes the norm of a constant away, and may be what shows the numbers of one. */
    if (unfolded.n_layer >= sites->norm.n_layer) {
        sites->norm.layer = unfolded.layer;
        sites->norm.n_layer = unfolded.n_layer;
    }
    size_t n = (size_t)sites->norm.n_batch;
    sites->fold = VF_NEW_ARRAY(arena, VfFoldFacts, n);
    VF_TRY_ALLOC(sites->fold, err);
    for (size_t i = 0; i < n; i++)
        VF_TRY(vf_fold_facts(arena, model, &sites->norm.batch[i], &sites->fold[i], err));
    return VF_OK;
}

int32_t vf_sites_count(const VfSiteList *sites, VfAttentionKind kind)
{
    int32_t n = 0;
    for (int32_t i = 0; i < sites->attention.n_site; i++)
        n += sites->attention.site[i].kind == kind;
    return n;
}

const char *vf_attention_kind_name(VfAttentionKind kind)
{
    static const char *const name[] = {
        [VF_ATTENTION_SOFTMAX] = "softmax",
        [VF_ATTENTION_POINTWISE] = "pointwise",
        [VF_ATTENTION_LINEAR] = "linear",
        [VF_ATTENTION_OTHER] = "other",
    };
    return name[kind];
}

const char *vf_mask_kind_name(VfMaskKind kind)
{
    static const char *const name[] = {
        [VF_MASK_NONE] = "none",     [VF_MASK_CONST] = "const",     [VF_MASK_WINDOW] = "window",
        [VF_MASK_CAUSAL] = "causal", [VF_MASK_RUNTIME] = "runtime",
    };
    return name[kind];
}

const char *vf_fold_direction_name(VfFoldDirection direction)
{
    static const char *const name[] = {
        [VF_FOLD_NONE] = "none",
        [VF_FOLD_FORWARD] = "forward",
        [VF_FOLD_BACKWARD] = "backward",
        [VF_FOLD_BOTH] = "both",
    };
    return name[direction];
}

/* The names counted so far. */
typedef struct Counter {
    VfArena *arena;
    VfIntern *name;
    int64_t *n; /* by number of the name */
    size_t capacity;
    int64_t n_node;
} Counter;

VfStatus vf_op_name(VfArena *arena, const VfNode *node, VfBytes *name, VfErr *err)
{
    VfText text;
    vf_text_init(&text, arena);
    if (node->domain.size > 0) {
        vf_text_add(&text, node->domain.data, node->domain.size);
        vf_text_char(&text, '.');
    }
    vf_text_add(&text, node->op_type.data, node->op_type.size);
    return vf_text_get(&text, name, err);
}

static VfStatus count_node(void *self, const VfNode *node, VfErr *err)
{
    Counter *counter = self;
    VfBytes name;
    int32_t id;
    VF_TRY(vf_op_name(counter->arena, node, &name, err));
    VF_TRY(vf_intern_add(counter->name, name, &id, err));
    void *items = counter->n;
    VF_TRY(vf_arena_grow(counter->arena, &items, &counter->capacity, (size_t)id + 1,
                         sizeof *counter->n, err));
    counter->n = items;
    counter->n[id]++;
    counter->n_node++;
    return VF_OK;
}

static int by_name(const void *a, const void *b)
{
    return vf_bytes_compare(((const VfOpCount *)a)->name, ((const VfOpCount *)b)->name);
}

VfStatus vf_count_ops(VfArena *arena, const VfModel *model, VfOpCount **op, size_t *n_op,
                      int64_t *n_node, VfErr *err)
{
    Counter counter = {.arena = arena, .name = vf_intern_new(arena)};
    VF_TRY_ALLOC(counter.name, err);
    VF_TRY(vf_graph_each_node(model->graph, count_node, &counter, err));
    *n_op = (size_t)vf_intern_count(counter.name);
    *n_node = counter.n_node;
    *op = VF_NEW_ARRAY(arena, VfOpCount, *n_op);
    VF_TRY_ALLOC(*op, err);
    for (size_t i = 0; i < *n_op; i++)
        (*op)[i] = (VfOpCount){vf_intern_get(counter.name, (int32_t)i), counter.n[i]};
    if (*n_op > 1)
        qsort(*op, *n_op, sizeof **op, by_name);
    return VF_OK;
}
