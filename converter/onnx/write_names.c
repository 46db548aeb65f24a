/* Names for what passes made.
 *
 * Names that the file had stay. A value without a name, a new node without one, and a value
 * that takes over an output get theirs here; numbers count in graph order, so the same model
 * gives the same names.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "converter/onnx/writer.h"
#include "runtime/base/intern.h"

typedef struct Naming {
    VfWriter *writer;
    VfIntern *taken; /* names of all values and nodes of the model */
    int32_t n_value, n_node;
    VfErr *err;
} Naming;

VfBytes vf_value_written_name(const VfWriter *writer, const VfValue *value)
{
    VfBytes name = writer->name.value[value->id];
    return name.data != NULL ? name : value->name;
}

VfBytes vf_node_written_name(const VfWriter *writer, const VfNode *node)
{
    VfBytes name = writer->name.node[node->id];
    return name.data != NULL ? name : node->name;
}

bool vf_output_is_copied(const VfWriter *writer, const VfGraph *graph, int32_t index)
{
    const VfValue *value = graph->ret->in[index].value;
    return value != NULL &&
           !vf_bytes_is_equal(vf_value_written_name(writer, value), graph->output_name[index]);
}

/* A name "vitfold.WORD.N" that nothing has yet; `*counter` is the N to begin with. */
static VfStatus fresh(Naming *naming, const char *word, int32_t *counter, VfBytes *out)
{
    for (;; ++*counter) {
        const char *text =
            vf_arena_printf(naming->writer->arena, "vitfold.%s.%d", word, (int)*counter);
        VF_TRY_ALLOC(text, naming->err);
        *out = (VfBytes){text, strlen(text)};
        if (vf_intern_find(naming->taken, *out) < 0)
            break;
    }
    ++*counter;
    return vf_intern_add(naming->taken, *out, NULL, naming->err);
}

typedef VfStatus GraphVisit(Naming *naming, const VfGraph *graph);

static VfStatus visit_attrs(Naming *naming, const VfAttr *attr, GraphVisit *visit)
{
    for (; attr != NULL; attr = attr->next) {
        if (attr->graph != NULL)
            VF_TRY(visit(naming, attr->graph));
        for (int32_t i = 0; attr->graphs != NULL && i < attr->n; i++)
            VF_TRY(visit(naming, attr->graphs[i]));
    }
    return VF_OK;
}

static VfStatus visit_all(Naming *naming, GraphVisit *visit)
{
    const VfModel *model = naming->writer->model;
    VF_TRY(visit(naming, model->graph));
    for (const VfFunction *at = model->first_function; at != NULL; at = at->next) {
        VF_TRY(visit(naming, at->body));
        VF_TRY(visit_attrs(naming, at->first_attr_default, visit));
    }
    return VF_OK;
}

static VfStatus take_names(Naming *naming, const VfGraph *graph)
{
    for (const VfValue *value = graph->first_value; value != NULL; value = value->next) {
        if (value->name.size > 0)
            VF_TRY(vf_intern_add(naming->taken, value->name, NULL, naming->err));
    }
    for (int32_t i = 0; i < graph->ret->n_in; i++)
        VF_TRY(vf_intern_add(naming->taken, graph->output_name[i], NULL, naming->err));
    for (const VfNode *node = graph->first_node; node != NULL; node = node->next) {
        VF_TRY(vf_intern_add(naming->taken, node->name, NULL, naming->err));
        VF_TRY(visit_attrs(naming, node->first_attr, take_names));
    }
    return VF_OK;
}

/* The names of one graph as it was read. */
typedef struct Named {
    VfIntern *names;
    VfValue **holder; /* by number of the name: the value that has it, or NULL */
    bool *is_output;  /* by number */
} Named;

static size_t count_names(const VfGraph *graph)
{
    size_t n = (size_t)graph->ret->n_in;
    for (const VfValue *value = graph->first_value; value != NULL; value = value->next)
        n++;
    return n;
}

static VfStatus find_names(const Naming *naming, const VfGraph *graph, Named *named)
{
    VfArena *arena = naming->writer->arena;
    size_t n = count_names(graph);
    int32_t id;
    *named = (Named){vf_intern_new(arena), VF_NEW_ARRAY(arena, VfValue *, n),
                     VF_NEW_ARRAY(arena, bool, n)};
    if (named->names == NULL || named->holder == NULL || named->is_output == NULL)
        return vf_no_memory(naming->err);
    for (VfValue *value = graph->first_value; value != NULL; value = value->next) {
        VF_TRY(vf_intern_add(named->names, value->name, &id, naming->err));
        if (named->holder[id] == NULL)
            named->holder[id] = value;
    }
    for (int32_t i = 0; i < graph->ret->n_in; i++) {
        VF_TRY(vf_intern_add(named->names, graph->output_name[i], &id, naming->err));
        named->is_output[id] = true;
    }
    return VF_OK;
}

/* Whether the value may be called as output `index` is: a result of this graph that does not
 * carry the name of an output already. */
static bool may_take_over(const VfWriter *writer, const VfGraph *graph, const Named *named,
                          const VfValue *value)
{
    if (value == NULL || value->graph != graph || value->kind != VF_VALUE_RESULT)
        return false;
    int32_t id = vf_intern_find(named->names, vf_value_written_name(writer, value));
    return id < 0 || !named->is_output[id];
}

/* Give output names to the values that became outputs. */
static VfStatus name_outputs(Naming *naming, const VfGraph *graph)
{
    VfWriter *writer = naming->writer;
    Named named = {NULL, NULL, NULL}; /* looked up only where an output has moved */
    for (int32_t i = 0; i < graph->ret->n_in; i++) {
        VfValue *value = graph->ret->in[i].value;
        if (value == NULL)
            return vf_fail(naming->err, VF_INTERNAL, "output %d of graph '%s' has no value",
                           (int)i, graph->name.size == 0 ? "" : graph->name.data);
        if (!vf_output_is_copied(writer, graph, i))
            continue;
        if (named.names == NULL)
            VF_TRY(find_names(naming, graph, &named));
        VfValue *holder = named.holder[vf_intern_find(named.names, graph->output_name[i])];
        if (holder != NULL && writer->name.value[holder->id].data == NULL) {
            if (holder->kind == VF_VALUE_INPUT)
                return vf_fail(naming->err, VF_INTERNAL, "an input has the name of output '%s'",
                               graph->output_name[i].data);
            VF_TRY(fresh(naming, "value", &naming->n_value, &writer->name.value[holder->id]));
        }
        if (may_take_over(writer, graph, &named, value))
            writer->name.value[value->id] = graph->output_name[i];
    }
    return VF_OK;
}

static VfStatus name_new_node(Naming *naming, const VfNode *node)
{
    if (node->name.size > 0 || node->origin == NULL)
        return VF_OK;
    const char *word = vf_arena_printf(naming->writer->arena, "%s.%s", node->origin->pass,
                                       node->op_type.data);
    VF_TRY_ALLOC(word, naming->err);
    return fresh(naming, word, &naming->n_node, &naming->writer->name.node[node->id]);
}

static VfStatus name_graph(Naming *naming, const VfGraph *graph)
{
    VF_TRY(name_outputs(naming, graph));
    for (const VfValue *value = graph->first_value; value != NULL; value = value->next) {
        if (vf_value_written_name(naming->writer, value).size == 0)
            VF_TRY(fresh(naming, "value", &naming->n_value,
                         &naming->writer->name.value[value->id]));
    }
    for (const VfNode *node = graph->first_node; node != NULL; node = node->next) {
        VF_TRY(name_new_node(naming, node));
        VF_TRY(visit_attrs(naming, node->first_attr, name_graph));
    }
    return VF_OK;
}

VfStatus vf_write_names(VfWriter *writer, VfErr *err)
{
    const VfModel *model = writer->model;
    writer->name.value = VF_NEW_ARRAY(writer->arena, VfBytes, (size_t)model->n_value_id);
    writer->name.node = VF_NEW_ARRAY(writer->arena, VfBytes, (size_t)model->n_node_id);
    Naming naming = {.writer = writer, .taken = vf_intern_new(writer->arena), .err = err};
    if (writer->name.value == NULL || writer->name.node == NULL || naming.taken == NULL)
        return vf_no_memory(err);
    VF_TRY(visit_all(&naming, take_names));
    return visit_all(&naming, name_graph);
}
