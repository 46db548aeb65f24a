#include "passes/ir/align.h"

#include <stdlib.h>
#include <string.h>

#include "passes/ir/align_private.h"

/* Of 100 common names, how many must stand for the same operator on both sides. */
enum { TRUST_PERCENT = 90, WORK_MAX = 1 << 28, ROUNDS = 4 };

bool vf_op_is_commutative(const VfNode *node)
{
    static const char *const name[] = {"Add", "Mul", "And", "Or", "Xor", "Equal", "Max", "Min"};
    if (node->n_in != 2 || node->domain.size != 0)
        return false;
    for (size_t i = 0; i < sizeof name / sizeof name[0]; i++)
        if (vf_bytes_is_equal(node->op_type, vf_bytes(name[i])))
            return true;
    return false;
}

bool vf_align_same_op(const VfNode *a, const VfNode *b)
{
    return vf_bytes_is_equal(a->op_type, b->op_type) && vf_bytes_is_equal(a->domain, b->domain) &&
           vf_bytes_is_equal(a->overload, b->overload);
}

bool vf_align_is_free(const VfAligner *al, const VfNode *a, const VfNode *b)
{
    return al->out->node_b[a->id] == NULL && al->out->node_a[b->id] == NULL &&
           vf_align_same_op(a, b);
}

VfStatus vf_align_values(VfAligner *al, const VfValue *a, const VfValue *b)
{
    VfAlign *out = al->out;
    if (out->value_b[a->id] != NULL || out->value_a[b->id] != NULL)
        return VF_OK;
    VF_TRY(vf_arena_grow(al->arena, (void **)&al->queue, &al->queue_capacity, al->n_queue + 1,
                         sizeof(const VfValue *), al->err));
    out->value_b[a->id] = b;
    out->value_a[b->id] = a;
    al->queue[al->n_queue++] = a;
    return VF_OK;
}

VfStatus vf_align_nodes(VfAligner *al, const VfNode *a, const VfNode *b, VfAlignBy by)
{
    al->out->node_b[a->id] = b;
    al->out->node_a[b->id] = a;
    al->out->by[a->id] = (unsigned char)by;
    for (int32_t i = 0; i < a->n_out && i < b->n_out; i++)
        if (a->out[i] != NULL && b->out[i] != NULL)
            VF_TRY(vf_align_values(al, a->out[i], b->out[i]));
    return VF_OK;
}

int vf_align_item_compare(const void *x, const void *y)
{
    const VfAlignItem *a = x, *b = y;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return (a->place > b->place) - (a->place < b->place);
}

bool vf_align_is_same(const VfAlign *align, const VfValue *a, const VfValue *b)
{
    if (a == NULL || b == NULL)
        return a == b;
    if (align->value_b[a->id] == b)
        return true;
    return a->kind == VF_VALUE_CONST && b->kind == VF_VALUE_CONST &&
           vf_tensor_is_equal(a->tensor, b->tensor);
}

/* --- names --- */

/* Values of graph b by name. */
typedef struct Names {
    VfIntern *table;
    const VfValue **value;
    size_t capacity;
} Names;

static VfStatus index_names(VfAligner *al, const VfGraph *graph, Names *names)
{
    *names = (Names){.table = vf_intern_new(al->arena)};
    VF_TRY_ALLOC(names->table, al->err);
    for (const VfValue *value = graph->first_value; value != NULL; value = value->next) {
        int32_t id, n = vf_intern_count(names->table);
        if (value->name.size == 0)
            continue;
        VF_TRY(vf_intern_add(names->table, value->name, &id, al->err));
        VF_TRY(vf_arena_grow(al->arena, (void **)&names->value, &names->capacity, (size_t)id + 1,
                             sizeof(const VfValue *), al->err));
        if (id == n)
            names->value[id] = value;
    }
    return VF_OK;
}

static const VfValue *find_name(const Names *names, const VfValue *value)
{
    int32_t id = value->name.size == 0 ? -1 : vf_intern_find(names->table, value->name);
    return id < 0 ? NULL : names->value[id];
}

static bool is_trusted(const Names *names, const VfGraph *graph)
{
    int64_t n = 0, n_same = 0;
    for (const VfNode *node = graph->first_node; node != NULL; node = node->next)
        for (int32_t i = 0; i < node->n_out; i++) {
            const VfValue *b = node->out[i] == NULL ? NULL : find_name(names, node->out[i]);
            if (b == NULL || b->kind != VF_VALUE_RESULT)
                continue;
            n++;
            n_same += vf_align_same_op(node, b->def);
        }
    return n_same * 100 >= n * TRUST_PERCENT;
}

/* A name that ends in a number after '_' or is one: exporters count so. */
static bool is_counted(VfBytes name)
{
    size_t n = name.size;
    while (n > 0 && name.data[n - 1] >= '0' && name.data[n - 1] <= '9')
        n--;
    return n < name.size && (n == 0 || name.data[n - 1] == '_');
}

static bool is_like_constant(const VfValue *a, const VfValue *b)
{
    const VfTensor *x = a->tensor, *y = b->tensor;
    return b->kind == VF_VALUE_CONST && x->dtype == y->dtype && x->rank == y->rank &&
           (x->rank == 0 || memcmp(x->dims, y->dims, (size_t)x->rank * sizeof *x->dims) == 0);
}

static VfStatus name_constants(VfAligner *al, const Names *names, const VfGraph *graph)
{
    for (const VfValue *a = graph->first_value; a != NULL; a = a->next) {
        const VfValue *b = a->kind == VF_VALUE_RESULT ? NULL : find_name(names, a);
        if (b == NULL)
            continue;
        bool is_input = a->kind == VF_VALUE_INPUT && b->kind == VF_VALUE_INPUT;
        bool is_good = a->kind == VF_VALUE_CONST && is_like_constant(a, b) &&
                       a->constant == NULL && !is_counted(a->name);
        if (is_input || is_good || al->trusts_names)
            VF_TRY(vf_align_values(al, a, b));
    }
    return VF_OK;
}

static bool has_common_operand(const VfAlign *out, const VfNode *a, const VfNode *b)
{
    for (int32_t i = 0; i < a->n_in && i < b->n_in; i++) {
        const VfValue *x = a->in[i].value;
        if (x != NULL && out->value_b[x->id] != NULL && out->value_b[x->id] == b->in[i].value)
            return true;
    }
    return false;
}

static VfStatus name_node(VfAligner *al, const Names *names, const VfNode *node)
{
    for (int32_t i = 0; i < node->n_out; i++) {
        const VfValue *a = node->out[i], *b = a == NULL ? NULL : find_name(names, a);
        if (b == NULL)
            continue;
        bool is_result = b->kind == VF_VALUE_RESULT && b->index == i;
        if (is_result && vf_align_is_free(al, node, b->def) &&
            (al->trusts_names || has_common_operand(al->out, node, b->def)))
            VF_TRY(vf_align_nodes(al, node, b->def, VF_ALIGN_NAME));
        else if (al->trusts_names)
            VF_TRY(vf_align_values(al, a, b));
    }
    return VF_OK;
}

static VfStatus by_name(VfAligner *al, const VfGraphPair *pair)
{
    Names names;
    VF_TRY(index_names(al, pair->b, &names));
    al->trusts_names = is_trusted(&names, pair->a);
    VF_TRY(name_constants(al, &names, pair->a));
    for (const VfNode *node = pair->a->first_node; node != NULL; node = node->next)
        VF_TRY(name_node(al, &names, node));
    return VF_OK;
}

/* --- graphs --- */

/* First outputs by name. */
static VfStatus index_outputs(VfAligner *al, const VfGraph *graph, VfIntern **name, int32_t **place)
{
    *name = vf_intern_new(al->arena);
    *place = VF_NEW_ARRAY(al->arena, int32_t, (size_t)graph->ret->n_in);
    VF_TRY_ALLOC(*name, al->err);
    VF_TRY_ALLOC(*place, al->err);
    for (int32_t i = 0; i < graph->ret->n_in; i++) {
        int32_t id, n = vf_intern_count(*name);
        VF_TRY(vf_intern_add(*name, graph->output_name[i], &id, al->err));
        if (id == n)
            (*place)[id] = i;
    }
    return VF_OK;
}

/* Outputs go by name, those whose names are in one graph alone by their place. */
static VfStatus outputs_by_place(VfAligner *al, const VfGraph *a, const VfGraph *b)
{
    VfIntern *name_a, *name_b;
    int32_t *place_a, *place_b;
    VF_TRY(index_outputs(al, a, &name_a, &place_a));
    VF_TRY(index_outputs(al, b, &name_b, &place_b));
    for (int32_t i = 0; i < a->ret->n_in; i++) {
        int32_t id = vf_intern_find(name_b, a->output_name[i]), j = id < 0 ? -1 : place_b[id];
        if (j < 0 && i < b->ret->n_in && vf_intern_find(name_a, b->output_name[i]) < 0)
            j = i;
        const VfValue *x = a->ret->in[i].value, *y = j < 0 ? NULL : b->ret->in[j].value;
        if (x != NULL && y != NULL)
            VF_TRY(vf_align_values(al, x, y));
    }
    return VF_OK;
}

/* Inputs that no name aligned go by their place; so do outputs. */
static VfStatus by_place(VfAligner *al, const VfGraphPair *pair)
{
    const VfGraph *a = pair->a, *b = pair->b;
    for (int32_t i = 0; i < a->n_input && i < b->n_input; i++)
        VF_TRY(vf_align_values(al, a->input[i], b->input[i]));
    return outputs_by_place(al, a, b);
}

/* What aligned nodes read at one place where nodes without twins made it: one stands in for the
 * other, and the readers are unchanged. */
static VfStatus stand_in(VfAligner *al, const VfGraphPair *pair)
{
    for (const VfNode *a = pair->a->first_node; a != NULL; a = a->next) {
        const VfNode *b = al->out->node_b[a->id];
        for (int32_t i = 0; b != NULL && i < a->n_in && i < b->n_in; i++) {
            const VfValue *x = a->in[i].value, *y = b->in[i].value;
            if (x == NULL || y == NULL || x->kind != VF_VALUE_RESULT || y->kind != VF_VALUE_RESULT)
                continue;
            if (al->out->node_b[x->def->id] == NULL && al->out->node_a[y->def->id] == NULL)
                VF_TRY(vf_align_values(al, x, y));
        }
    }
    al->n_queue = al->next = 0;
    return VF_OK;
}

static VfStatus add_pair(VfAligner *al, VfGraphPair pair)
{
    VfAlign *out = al->out;
    VF_TRY(vf_arena_grow(al->arena, (void **)&out->pair, &out->pair_capacity, out->n_pair + 1,
                         sizeof *out->pair, al->err));
    out->pair[out->n_pair++] = pair;
    return VF_OK;
}

static bool has_graphs(const VfAttr *attr)
{
    return (attr->type == VF_ATTR_GRAPH || attr->type == VF_ATTR_GRAPHS) && attr->ref.size == 0;
}

/* The first attribute of the twin by name, that is one graph, or several. */
typedef struct Bodies {
    VfIntern *name; /* NULL: there are none */
    const VfAttr *(*attr)[2];
} Bodies;

static VfStatus index_bodies(VfAligner *al, const VfNode *node, Bodies *bodies)
{
    size_t capacity = 0;
    void *items = NULL;
    *bodies = (Bodies){0};
    for (const VfAttr *attr = node->first_attr; attr != NULL; attr = attr->next) {
        int32_t id;
        if (!has_graphs(attr))
            continue;
        bodies->name = bodies->name == NULL ? vf_intern_new(al->arena) : bodies->name;
        VF_TRY_ALLOC(bodies->name, al->err);
        VF_TRY(vf_intern_add(bodies->name, attr->name, &id, al->err));
        VF_TRY(vf_arena_grow(al->arena, &items, &capacity, (size_t)id + 1, sizeof *bodies->attr,
                             al->err));
        bodies->attr = items;
        const VfAttr **place = &bodies->attr[id][attr->type == VF_ATTR_GRAPHS];
        *place = *place == NULL ? attr : *place;
    }
    return VF_OK;
}

static VfStatus add_subgraphs(VfAligner *al, const VfNode *a, const VfNode *b)
{
    Bodies bodies;
    VF_TRY(index_bodies(al, b, &bodies));
    for (const VfAttr *x = a->first_attr; x != NULL && bodies.name != NULL; x = x->next) {
        int32_t id = has_graphs(x) ? vf_intern_find(bodies.name, x->name) : -1;
        const VfAttr *y = id < 0 ? NULL : bodies.attr[id][x->type == VF_ATTR_GRAPHS];
        if (y == NULL)
            continue;
        if (x->type == VF_ATTR_GRAPH)
            VF_TRY(add_pair(al, (VfGraphPair){x->graph, y->graph, x->name, a}));
        for (int32_t i = 0; x->type == VF_ATTR_GRAPHS && i < x->n && i < y->n; i++)
            VF_TRY(add_pair(al, (VfGraphPair){x->graphs[i], y->graphs[i], x->name, a}));
    }
    return VF_OK;
}

static VfStatus align_pair(VfAligner *al, VfGraphPair pair)
{
    bool is_more = true;
    VF_TRY(by_name(al, &pair));
    VF_TRY(by_place(al, &pair));
    VF_TRY(vf_align_by_hash(al, &pair, true));
    VF_TRY(vf_align_spread(al));
    VF_TRY(vf_align_by_hash(al, &pair, false));
    VF_TRY(vf_align_spread(al));
    for (int i = 0; i < ROUNDS && is_more; i++) {
        is_more = false;
        VF_TRY(vf_align_by_order(al, &pair, &is_more));
        VF_TRY(vf_align_reseed(al, &pair));
        VF_TRY(vf_align_spread(al));
    }
    VF_TRY(stand_in(al, &pair));
    for (const VfNode *a = pair.a->first_node; a != NULL; a = a->next)
        if (al->out->node_b[a->id] != NULL)
            VF_TRY(add_subgraphs(al, a, al->out->node_b[a->id]));
    return VF_OK;
}

static VfStatus add_functions(VfAligner *al)
{
    for (const VfFunction *f = al->out->a->first_function; f != NULL; f = f->next) {
        const VfFunction *g = vf_function_find(al->out->b, f->domain, f->name, f->overload);
        if (g != NULL && vf_function_find(al->out->a, f->domain, f->name, f->overload) == f)
            VF_TRY(add_pair(al, (VfGraphPair){f->body, g->body, f->name, NULL}));
    }
    return VF_OK;
}

static VfStatus make_side(VfAligner *al, int side, const VfModel *model)
{
    size_t n_value = (size_t)model->n_value_id, n_node = (size_t)model->n_node_id;
    VfAlignSide *one = &al->side[side];
    one->model = model;
    one->value = VF_NEW_ARRAY(al->arena, uint64_t, n_value);
    one->data = VF_NEW_ARRAY(al->arena, uint64_t, n_value);
    one->node = VF_NEW_ARRAY(al->arena, uint64_t, n_node);
    one->local = VF_NEW_ARRAY(al->arena, uint64_t, n_node);
    VF_TRY_ALLOC(one->value, al->err);
    VF_TRY_ALLOC(one->data, al->err);
    VF_TRY_ALLOC(one->node, al->err);
    VF_TRY_ALLOC(one->local, al->err);
    return VF_OK;
}

static VfStatus make_tables(VfAligner *al, const VfModel *a, const VfModel *b)
{
    VfAlign *out = al->out;
    *out = (VfAlign){.a = a, .b = b};
    out->value_b = VF_NEW_ARRAY(al->arena, const VfValue *, (size_t)a->n_value_id);
    out->value_a = VF_NEW_ARRAY(al->arena, const VfValue *, (size_t)b->n_value_id);
    out->node_b = VF_NEW_ARRAY(al->arena, const VfNode *, (size_t)a->n_node_id);
    out->node_a = VF_NEW_ARRAY(al->arena, const VfNode *, (size_t)b->n_node_id);
    out->by = VF_NEW_ARRAY(al->arena, unsigned char, (size_t)a->n_node_id);
    VF_TRY_ALLOC(out->value_b, al->err);
    VF_TRY_ALLOC(out->value_a, al->err);
    VF_TRY_ALLOC(out->node_b, al->err);
    VF_TRY_ALLOC(out->node_a, al->err);
    VF_TRY_ALLOC(out->by, al->err);
    VF_TRY(make_side(al, 0, a));
    return make_side(al, 1, b);
}

VfStatus vf_align(VfArena *arena, const VfModel *a, const VfModel *b, VfAlign **align, VfErr *err)
{
    VfAligner al = {.arena = arena, .work = WORK_MAX, .err = err};
    al.out = VF_NEW(arena, VfAlign);
    VF_TRY_ALLOC(al.out, err);
    VF_TRY(make_tables(&al, a, b));
    al.is_looked_up = VF_NEW_ARRAY(arena, bool, (size_t)a->n_node_id);
    VF_TRY_ALLOC(al.is_looked_up, err);
    VF_TRY(add_pair(&al, (VfGraphPair){a->graph, b->graph, {"", 0}, NULL}));
    VF_TRY(add_functions(&al));
    for (size_t i = 0; i < al.out->n_pair; i++)
        VF_TRY(align_pair(&al, al.out->pair[i]));
    *align = al.out;
    return VF_OK;
}
