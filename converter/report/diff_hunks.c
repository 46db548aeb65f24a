/* Hunks: nodes that differ and touch each other. Groups: hunks that differ by names alone. */
#include <stdlib.h>
#include <string.h>

#include "converter/report/diff_private.h"
#include "passes/ir/vft_print.h"

typedef struct Joiner {
    VfDiff *diff;
    size_t *parent;    /* by number of a node that differs */
    size_t *reader;    /* by id of a value of a: 1 + a node that went and reads it */
    size_t *local;     /* place of a node in its hunk, from 1 */
    VfIntern *group;   /* what hunks look like without names */
} Joiner;

static size_t find(const Joiner *cx, size_t i)
{
    while (cx->parent[i] != i) {
        cx->parent[i] = cx->parent[cx->parent[i]];
        i = cx->parent[i];
    }
    return i;
}

/* The first node stands for its hunk. */
static void join(const Joiner *cx, size_t i, size_t j)
{
    i = find(cx, i);
    j = find(cx, j);
    if (i < j)
        cx->parent[j] = i;
    else
        cx->parent[i] = j;
}

static void join_operands(const Joiner *cx, size_t i, const VfNode *node, const size_t *at)
{
    for (int32_t k = 0; node != NULL && k < node->n_in; k++) {
        const VfValue *value = node->in[k].value;
        if (value != NULL && value->def != NULL && at[value->def->id] != 0)
            join(cx, i, at[value->def->id] - 1);
    }
}

/* What made the twin of a result of `node`, and what else reads a value that went with it. */
static void join_twins(const Joiner *cx, size_t i, const VfNode *node)
{
    const VfDiff *diff = cx->diff;
    for (int32_t k = 0; k < node->n_out; k++) {
        const VfValue *twin = node->out[k] == NULL ? NULL : diff->align->value_b[node->out[k]->id];
        if (twin != NULL && twin->def != NULL && diff->at_b[twin->def->id] != 0)
            join(cx, i, diff->at_b[twin->def->id] - 1);
    }
}

static void note_readers(const Joiner *cx, size_t i, const VfNode *node)
{
    for (int32_t k = 0; k < node->n_in; k++) {
        const VfValue *value = node->in[k].value;
        if (value != NULL && value->kind == VF_VALUE_RESULT)
            cx->reader[value->id] = i + 1;
    }
}

/* A node that came reads what one that went has read. */
static void join_reader(const Joiner *cx, size_t i, const VfNode *node)
{
    for (int32_t k = 0; k < node->n_in; k++) {
        const VfValue *value = node->in[k].value;
        const VfValue *twin = value == NULL ? NULL : cx->diff->align->value_a[value->id];
        if (twin != NULL && cx->reader[twin->id] != 0)
            join(cx, i, cx->reader[twin->id] - 1);
    }
}

static void join_all(const Joiner *cx)
{
    const VfDiff *diff = cx->diff;
    for (size_t i = 0; i < diff->n_node; i++)
        cx->parent[i] = i;
    for (size_t i = 0; i < diff->n_node; i++) {
        const VfDiffNode *node = &diff->node[i];
        join_operands(cx, i, node->a, diff->at_a);
        join_operands(cx, i, node->b, diff->at_b);
        if (node->a != NULL)
            join_twins(cx, i, node->a);
        if (node->kind == VF_DIFF_REMOVED)
            note_readers(cx, i, node->a);
    }
    for (size_t i = 0; i < diff->n_node; i++)
        if (diff->node[i].kind == VF_DIFF_ADDED)
            join_reader(cx, i, diff->node[i].b);
}

/* Number the hunks by their first nodes and list their members. */
static VfStatus list_hunks(const Joiner *cx, VfErr *err)
{
    VfDiff *diff = cx->diff;
    diff->hunk = VF_NEW_ARRAY(diff->arena, VfDiffHunk, diff->n_node);
    diff->member = VF_NEW_ARRAY(diff->arena, size_t, diff->n_node);
    VF_TRY_ALLOC(diff->hunk, err);
    VF_TRY_ALLOC(diff->member, err);
    for (size_t i = 0; i < diff->n_node; i++) {
        size_t first = find(cx, i);
        diff->node[i].hunk = first == i ? diff->n_hunk++ : diff->node[first].hunk;
        diff->hunk[diff->node[i].hunk].n++;
    }
    for (size_t i = 1; i < diff->n_hunk; i++)
        diff->hunk[i].first = diff->hunk[i - 1].first + diff->hunk[i - 1].n;
    for (size_t i = 0; i < diff->n_hunk; i++)
        diff->hunk[i].n = 0;
    for (size_t i = 0; i < diff->n_node; i++) {
        VfDiffHunk *hunk = &diff->hunk[diff->node[i].hunk];
        cx->local[i] = ++hunk->n;
        diff->member[hunk->first + hunk->n - 1] = i;
    }
    return VF_OK;
}

/* --- groups --- */

/* An operand as it looks from within a hunk: a node of it, a constant of some type, or outside. */
static void look_of_operand(const Joiner *cx, const VfValue *value, const size_t *at, VfText *text)
{
    size_t i = value == NULL || value->def == NULL ? 0 : at[value->def->id];
    if (value == NULL)
        vf_text_string(text, " _");
    else if (i != 0)
        vf_text_printf(text, " %%%zu.%d", cx->local[i - 1], (int)value->index);
    else if (value->kind == VF_VALUE_CONST)
        vf_text_printf(text, " c%d.%d", (int)value->tensor->dtype, (int)value->tensor->rank);
    else
        vf_text_string(text, " x");
}

static void look_of_node(const Joiner *cx, const VfNode *node, const size_t *at, VfText *text)
{
    VfVftPrint print = {.text = text, .model = node->graph->model, .one_line = true};
    vf_vft_print_operator(text, node->domain, node->op_type, node->overload);
    for (int32_t i = 0; i < node->n_in; i++)
        look_of_operand(cx, node->in[i].value, at, text);
    for (const VfAttr *attr = node->first_attr; attr != NULL; attr = attr->next) {
        vf_text_char(text, ' ');
        vf_vft_print_name(text, attr->name);
        vf_text_char(text, '=');
        if (attr->type != VF_ATTR_TENSOR || attr->tensor->count <= 8)
            vf_vft_print_attr_value(&print, attr);
    }
    vf_text_char(text, '\n');
}

static VfStatus find_group(const Joiner *cx, VfDiffHunk *hunk, VfErr *err)
{
    const VfDiff *diff = cx->diff;
    VfText text;
    VfBytes look;
    int32_t id;
    vf_text_init(&text, diff->arena);
    for (size_t k = 0; k < hunk->n; k++) {
        const VfDiffNode *node = &diff->node[diff->member[hunk->first + k]];
        vf_text_printf(&text, "%d ", (int)node->kind);
        if (node->a != NULL)
            look_of_node(cx, node->a, diff->at_a, &text);
        if (node->b != NULL)
            look_of_node(cx, node->b, diff->at_b, &text);
    }
    VF_TRY(vf_text_get(&text, &look, err));
    VF_TRY(vf_intern_add(cx->group, look, &id, err));
    hunk->group = (size_t)id;
    return VF_OK;
}

static VfStatus list_groups(const Joiner *cx, VfErr *err)
{
    VfDiff *diff = cx->diff;
    for (size_t i = 0; i < diff->n_hunk; i++)
        VF_TRY(find_group(cx, &diff->hunk[i], err));
    diff->n_group = (size_t)vf_intern_count(cx->group);
    diff->group = VF_NEW_ARRAY(diff->arena, VfDiffGroup, diff->n_group);
    diff->grouped = VF_NEW_ARRAY(diff->arena, size_t, diff->n_hunk);
    VF_TRY_ALLOC(diff->group, err);
    VF_TRY_ALLOC(diff->grouped, err);
    for (size_t i = 0; i < diff->n_hunk; i++)
        diff->group[diff->hunk[i].group].n++;
    for (size_t i = 1; i < diff->n_group; i++)
        diff->group[i].first = diff->group[i - 1].first + diff->group[i - 1].n;
    for (size_t i = 0; i < diff->n_group; i++)
        diff->group[i].n = 0;
    for (size_t i = 0; i < diff->n_hunk; i++) {
        VfDiffGroup *group = &diff->group[diff->hunk[i].group];
        diff->grouped[group->first + group->n++] = i;
    }
    return VF_OK;
}

VfStatus vf_diff_hunks(VfDiff *diff, VfErr *err)
{
    Joiner cx = {.diff = diff, .group = vf_intern_new(diff->arena)};
    cx.parent = VF_NEW_ARRAY(diff->arena, size_t, diff->n_node);
    cx.local = VF_NEW_ARRAY(diff->arena, size_t, diff->n_node);
    cx.reader = VF_NEW_ARRAY(diff->arena, size_t, (size_t)diff->align->a->n_value_id);
    VF_TRY_ALLOC(cx.group, err);
    VF_TRY_ALLOC(cx.parent, err);
    VF_TRY_ALLOC(cx.local, err);
    VF_TRY_ALLOC(cx.reader, err);
    join_all(&cx);
    VF_TRY(list_hunks(&cx, err));
    return list_groups(&cx, err);
}

/* --- places --- */

static size_t common_prefix(VfBytes a, VfBytes b)
{
    size_t n = 0;
    while (n < a.size && n < b.size && a.data[n] == b.data[n])
        n++;
    return n;
}

static VfBytes name_of(const VfDiffNode *node)
{
    const VfNode *one = node->a != NULL ? node->a : node->b;
    const VfValue *value = vf_node_out(one, 0);
    return one->name.size == 0 && value != NULL ? value->name : one->name;
}

VfStatus vf_diff_place(const VfDiff *diff, const VfDiffHunk *hunk, VfBytes *place, VfErr *err)
{
    const VfDiffNode *first = &diff->node[diff->member[hunk->first]];
    VfBytes common = name_of(first);
    for (size_t k = 1; k < hunk->n; k++) {
        VfBytes name = name_of(&diff->node[diff->member[hunk->first + k]]);
        common.size = common_prefix(common, name);
    }
    while (hunk->n > 1 && common.size > 0 && common.data[common.size - 1] != '/' &&
           common.data[common.size - 1] != '.')
        common.size--;
    if (common.size > 1 && hunk->n > 1)
        common.size--;
    if (common.size < 2)
        common = vf_bytes(vf_node_label(first->a != NULL ? first->a : first->b));
    *place = common;
    (void)err;
    return VF_OK;
}
