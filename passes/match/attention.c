#include "passes/match/attention_parts.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

enum { SUBGRAPH_DEPTH_MAX = 16, SENTENCE_MAX = 1024 };

VfAttention *vf_scan_add(VfScan *scan, VfAttentionKind kind, VfNode *norm_node)
{
    VfDim none = vf_dim_unknown();
    void *items = scan->site;
    if (vf_arena_grow(scan->arena, &items, &scan->site_capacity, (size_t)scan->n_site + 1,
                      sizeof(VfAttention), NULL) != VF_OK)
        return NULL;
    scan->site = items;
    VfAttention *site = &scan->site[scan->n_site++];
    *site = (VfAttention){.kind = kind,
                          .graph = norm_node->graph,
                          .norm_node = norm_node,
                          .label = vf_node_label(norm_node),
                          .scale = 1.0,
                          .gain = 1.0,
                          .heads = none,
                          .n_q = none,
                          .n_k = none,
                          .d = none,
                          .d_v = none,
                          .key_axis = -1,
                          .windows = vf_dim(1),
                          .grid_h = none,
                          .grid_w = none,
                          .prefix = none,
                          .alpha = (double)NAN};
    return site;
}

VfStatus vf_scan_miss(VfScan *scan, VfNode *node, const char *rule, VfErr *err, const char *fmt,
                      ...)
{
    char text[SENTENCE_MAX];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    void *items = scan->miss;
    VF_TRY(vf_arena_grow(scan->arena, &items, &scan->miss_capacity, (size_t)scan->n_miss + 1,
                         sizeof(VfMiss), err));
    scan->miss = items;
    const char *reason = vf_arena_string(scan->arena, text);
    VF_TRY_ALLOC(reason, err);
    scan->miss[scan->n_miss++] = (VfMiss){node, rule, reason};
    return VF_OK;
}

const char *vf_scan_type(const VfScan *scan, const VfValue *value)
{
    const char *text = vf_type_text(scan->arena, scan->model->symbols, &value->type);
    return text ? text : "?";
}

typedef VfStatus (*Recogniser)(VfScan *scan, VfNode *node, VfErr *err);

/* Run the recognisers, in order, on every node; subgraphs where their owner stands. */
static VfStatus visit(VfScan *scan, const VfGraph *graph, const Recogniser *list, int32_t depth,
                      VfErr *err)
{
    for (VfNode *node = graph->first_node; node != NULL; node = node->next) {
        for (const Recogniser *r = list; *r != NULL; r++)
            VF_TRY((*r)(scan, node, err));
        for (const VfAttr *attr = node->first_attr; attr != NULL; attr = attr->next) {
            if (attr->type == VF_ATTR_GRAPH && attr->graph != NULL && depth < SUBGRAPH_DEPTH_MAX)
                VF_TRY(visit(scan, attr->graph, list, depth + 1, err));
        }
    }
    return VF_OK;
}

/* Number the nodes in graph order, subgraphs included. */
static void number(const VfGraph *graph, int32_t depth, int32_t *place, int32_t *next)
{
    for (const VfNode *node = graph->first_node; node != NULL; node = node->next) {
        place[node->id] = (*next)++;
        for (const VfAttr *attr = node->first_attr; attr != NULL; attr = attr->next) {
            if (attr->type == VF_ATTR_GRAPH && attr->graph != NULL && depth < SUBGRAPH_DEPTH_MAX)
                number(attr->graph, depth + 1, place, next);
        }
    }
}

/* Insertion sort: the passes over the graph leave few runs, each in order. */
static void sort_sites(VfScan *scan, const int32_t *place)
{
    for (int32_t i = 1; i < scan->n_site; i++) {
        VfAttention site = scan->site[i];
        int32_t k = i;
        while (k > 0 && place[scan->site[k - 1].norm_node->id] > place[site.norm_node->id]) {
            scan->site[k] = scan->site[k - 1];
            k--;
        }
        scan->site[k] = site;
    }
    for (int32_t i = 0; i < scan->n_site; i++)
        scan->site[i].index = i;
}

static void sort_misses(VfScan *scan, const int32_t *place)
{
    for (int32_t i = 1; i < scan->n_miss; i++) {
        VfMiss miss = scan->miss[i];
        int32_t k = i;
        while (k > 0 && place[scan->miss[k - 1].node->id] > place[miss.node->id]) {
            scan->miss[k] = scan->miss[k - 1];
            k--;
        }
        scan->miss[k] = miss;
    }
}

VfStatus vf_find_attention(VfArena *arena, VfModel *model, VfAttentions *found, VfErr *err)
{
    /* A product belongs to the softmax around it first; what is left may be attention without one.
     */
    static const Recogniser first[] = {vf_match_fused, vf_match_softmax, NULL};
    static const Recogniser second[] = {vf_match_product_pair, vf_match_additive, NULL};
    VfScan scan = {.arena = arena, .model = model};
    VF_TRY(vf_axes_new(arena, model, &scan.axes, err));
    scan.is_taken = VF_NEW_ARRAY(arena, bool, (size_t)model->n_node_id + 1);
    VF_TRY_ALLOC(scan.is_taken, err);
    VF_TRY(visit(&scan, model->graph, first, 0, err));
    VF_TRY(visit(&scan, model->graph, second, 0, err));
    int32_t *place = VF_NEW_ARRAY(arena, int32_t, (size_t)model->n_node_id + 1);
    VF_TRY_ALLOC(place, err);
    int32_t next = 0;
    number(model->graph, 0, place, &next);
    sort_sites(&scan, place);
    sort_misses(&scan, place);
    *found = (VfAttentions){scan.site, scan.n_site, scan.miss, scan.n_miss};
    return VF_OK;
}
