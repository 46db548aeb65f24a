/* How many nodes of each operator both models have. */
#include <stdlib.h>

#include "converter/report/diff_private.h"
#include "passes/ir/vft_print.h"
#include "passes/ir/walk.h"

typedef struct Counter {
    VfDiff *diff;
    VfIntern *name;
    bool is_b;
} Counter;

static VfStatus count_node(void *self, const VfNode *node, VfErr *err)
{
    Counter *cx = self;
    VfDiff *diff = cx->diff;
    VfText text;
    VfBytes name;
    int32_t id;
    vf_text_init(&text, diff->arena);
    vf_vft_print_operator(&text, node->domain, node->op_type, (VfBytes){NULL, 0});
    VF_TRY(vf_text_get(&text, &name, err));
    VF_TRY(vf_intern_add(cx->name, name, &id, err));
    VF_TRY(vf_arena_grow(diff->arena, (void **)&diff->operators, &diff->operator_capacity,
                         (size_t)id + 1, sizeof *diff->operators, err));
    VfDiffOperator *one = &diff->operators[id];
    if ((size_t)id == diff->n_operator) {
        *one = (VfDiffOperator){.name = vf_intern_get(cx->name, id)};
        diff->n_operator++;
    }
    one->a += !cx->is_b;
    one->b += cx->is_b;
    return VF_OK;
}

static int by_name(const void *x, const void *y)
{
    const VfDiffOperator *a = x, *b = y;
    return vf_bytes_compare(a->name, b->name);
}

VfStatus vf_diff_operators(VfDiff *diff, VfErr *err)
{
    Counter cx = {.diff = diff, .name = vf_intern_new(diff->arena)};
    VF_TRY_ALLOC(cx.name, err);
    for (int side = 0; side < 2; side++) {
        const VfModel *model = side == 0 ? diff->align->a : diff->align->b;
        cx.is_b = side == 1;
        VF_TRY(vf_graph_each_node(model->graph, count_node, &cx, err));
        for (const VfFunction *f = model->first_function; f != NULL; f = f->next)
            VF_TRY(vf_graph_each_node(f->body, count_node, &cx, err));
    }
    if (diff->n_operator > 0)
        qsort(diff->operators, diff->n_operator, sizeof *diff->operators, by_name);
    return VF_OK;
}
