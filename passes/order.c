#include "passes/order.h"

#include <stdlib.h>
#include <string.h>

/* first, then, unless, why. Sources: arXiv 2309.08586 (softmax-to-relu), 2405.11582
 * (linearize-attention, ln-to-repbn, progressive-norm), 2302.10322 (insert-spa). */
const VfOrderRow vf_order_table[] = {
    {"softmax-to-relu", "linearize-attention", NULL,
     "linear attention has no logits, so nothing of the first would be left"},
    {"linearize-attention", "softmax-to-relu", NULL,
     "linear attention has no weights of keys to change"},
    {"linearize-attention", "insert-spa", NULL,
     "linear attention has no logits that a bias is added to"},
    {"insert-spa", "linearize-attention", NULL,
     "linear attention has no logits, so the bias of the first would have no place"},
    {"insert-spa", "softmax-to-relu", NULL,
     "the bias is made for the function of the logits; change that function first"},
    {"progressive-norm", "ln-to-repbn", "finish",
     "the first keeps its LayerNorm until training has faded it out"},
    {"ln-to-repbn", "progressive-norm", NULL, "no LayerNorm is left to fade out"},
    {"progressive-norm", "fold-repbn", "finish",
     "it would fold the parameters that training is to find; fold the trained model"},
};

const int32_t vf_order_count = (int32_t)(sizeof vf_order_table / sizeof vf_order_table[0]);

/* --- selections --- */

/* Sites of a selection that consists of numbers and ranges; at most N_RANGE_MAX parts are read. */
enum { N_RANGE_MAX = 64 };

typedef struct Ranges {
    long low[N_RANGE_MAX], high[N_RANGE_MAX];
    int32_t n;
} Ranges;

static bool read_ranges(const char *spec, Ranges *ranges)
{
    ranges->n = 0;
    if (spec[strspn(spec, "0123456789-,")] != '\0')
        return false;
    for (const char *part = spec; part != NULL && ranges->n < N_RANGE_MAX;) {
        char *end;
        long low = strtol(part, &end, 10);
        ranges->low[ranges->n] = low;
        ranges->high[ranges->n++] = *end == '-' ? strtol(end + 1, &end, 10) : low;
        part = strchr(part, ',');
        part = part != NULL ? part + 1 : NULL;
    }
    return true;
}

static bool ranges_meet(const Ranges *a, const Ranges *b)
{
    for (int32_t i = 0; i < a->n; i++)
        for (int32_t k = 0; k < b->n; k++)
            if (a->low[i] <= b->high[k] && b->low[k] <= a->high[i])
                return true;
    return false;
}

static bool is_all(const char *spec)
{
    return spec == NULL || strcmp(spec, "all") == 0;
}

/* Do both select a site for sure, if there is one? */
static bool surely_meet(const VfSites *a, const VfSites *b)
{
    Ranges in_a, in_b;
    if (is_all(a->spec) || is_all(b->spec))
        return true;
    if (strcmp(a->spec, b->spec) == 0)
        return true;
    return read_ranges(a->spec, &in_a) && read_ranges(b->spec, &in_b) && ranges_meet(&in_a, &in_b);
}

/* --- pairs --- */

static void print_option(const VfOption *row, const void *options, VfText *text, VfArena *arena)
{
    vf_text_init(text, arena);
    vf_option_print(row, options, text);
}

static bool is_same_text(const VfText *a, const VfText *b)
{
    return a->size == b->size && (a->size == 0 || memcmp(a->data, b->data, a->size) == 0);
}

/* Has the item another value than the default of its option `name` (NULL: no)? */
static bool is_set(const VfPipelineItem *item, const char *name, VfArena *arena)
{
    VfText own, usual;
    const VfOption *table = item->pass->option;
    const VfOption *row = name != NULL && table != NULL ? vf_option_find(table, name) : NULL;
    void *defaults = row != NULL ? vf_arena_alloc(arena, item->pass->options_bytes) : NULL;
    if (defaults == NULL || vf_option_defaults(table, defaults, arena, NULL) != VF_OK)
        return false;
    print_option(row, item->options, &own, arena);
    print_option(row, defaults, &usual, arena);
    return !is_same_text(&own, &usual);
}

static const VfOrderRow *find_row(const VfPass *first, const VfPass *then)
{
    for (int32_t i = 0; i < vf_order_count; i++)
        if (strcmp(vf_order_table[i].first, first->name) == 0 &&
            strcmp(vf_order_table[i].then, then->name) == 0)
            return &vf_order_table[i];
    return NULL;
}

/* The option of a pass that makes it end what a run before has begun. */
static const char step_option[] = "finish";

/* Why `then` may not follow, or NULL. */
static const char *find_reason(const VfPipelineItem *first, const VfPipelineItem *then,
                               VfArena *arena)
{
    const VfOrderRow *row = find_row(first->pass, then->pass);
    return row == NULL || is_set(first, row->unless, arena) ? NULL : row->why;
}

/* The option in which two items of one pass differ, or NULL. */
static const char *find_difference(const VfPipelineItem *a, const VfPipelineItem *b, VfArena *arena)
{
    for (int32_t i = 0; i < a->pass->n_option; i++) {
        const VfOption *row = &a->pass->option[i];
        VfText in_a, in_b;
        print_option(row, a->options, &in_a, arena);
        print_option(row, b->options, &in_b, arena);
        if (!is_same_text(&in_a, &in_b))
            return row->name;
    }
    return NULL;
}

static VfStatus check_pair(const VfPipelineItem *first, const VfPipelineItem *then, VfArena *arena,
                           VfErr *err)
{
    const char *why = find_reason(first, then, arena);
    if (!surely_meet(&first->sites, &then->sites))
        return VF_OK;
    if (why != NULL)
        return vf_fail(err, VF_USAGE, "'%s' cannot follow '%s' on the same sites: %s",
                       then->pass->name, first->pass->name, why);
    if (first->pass != then->pass || first->pass->exactness != VF_RETRAINED)
        return VF_OK;
    const char *option = find_difference(first, then, arena);
    if (option == NULL || is_set(then, step_option, arena))
        return VF_OK;
    return vf_fail(err, VF_USAGE, "'%s' is named twice for the same sites with different '%s'",
                   first->pass->name, option);
}

VfStatus vf_pipeline_check_order(const VfPipeline *pipeline, VfErr *err)
{
    VfArena *arena = vf_arena_new();
    VF_TRY_ALLOC(arena, err);
    VfStatus status = VF_OK;
    for (int32_t then = 1; then < pipeline->n_item && status == VF_OK; then++)
        for (int32_t first = 0; first < then && status == VF_OK; first++)
            status = check_pair(&pipeline->item[first], &pipeline->item[then], arena, err);
    vf_arena_free(arena);
    return status;
}
