#include "passes/ir/clone.h"

#include "passes/ir/graph_private.h"
#include "runtime/base/text.h"

/* While copying, `image` of a value of the body is the value that stands for it; NULL for values of
 * graphs around the body, which stand for themselves. */
typedef struct Clone {
    VfModel *model;
    const VfCloneInto *into;
    const VfFunction *function; /* whose body is copied, or NULL */
    VfBytes prefix;
    VfValue omitted; /* its address is the image of an omitted input */
    VfErr *err;
} Clone;

static VfValue *image_of(const Clone *c, VfValue *value)
{
    if (value == NULL || value->image == NULL)
        return value;
    return value->image == &c->omitted ? NULL : value->image;
}

static void clear_attr(const VfAttr *attr);

/* Forget the images again; with the ones of subgraphs. */
static void clear_images(const VfGraph *graph)
{
    for (VfValue *value = graph->first_value; value != NULL; value = value->next)
        value->image = NULL;
    for (const VfNode *node = graph->first_node; node != NULL; node = node->next) {
        for (const VfAttr *attr = node->first_attr; attr != NULL; attr = attr->next)
            clear_attr(attr);
    }
}

static void clear_attr(const VfAttr *attr)
{
    if (attr->type == VF_ATTR_GRAPH && attr->graph != NULL)
        clear_images(attr->graph);
    for (int32_t i = 0; attr->type == VF_ATTR_GRAPHS && i < attr->n; i++)
        clear_images(attr->graphs[i]);
}

/* "prefix/name"; just the name without a prefix, and nothing for nothing. */
static VfStatus prefixed(const Clone *c, VfBytes name, VfBytes *out)
{
    VfText text;
    *out = name;
    if (name.size == 0 || c->prefix.size == 0)
        return VF_OK;
    vf_text_init(&text, c->model->arena);
    vf_text_add(&text, c->prefix.data, c->prefix.size);
    vf_text_char(&text, '/');
    vf_text_add(&text, name.data, name.size);
    return vf_text_get(&text, out, c->err);
}

static VfStatus fresh_name(const Clone *c, VfBytes name, VfBytes *out)
{
    VF_TRY(prefixed(c, name, out));
    return name.size == 0 ? VF_OK : vf_model_fresh_name(c->model, *out, out, c->err);
}

/* What a value has besides its definition. */
static void copy_value(const Clone *c, const VfValue *from, VfValue *to)
{
    if (c->function == NULL) {
        to->type = from->type;
        to->is_declared = from->is_declared;
        to->raw_info = from->raw_info;
    }
    to->doc = from->doc;
    to->meta = from->meta;
    to->raw_tensor = from->raw_tensor;
}

/* --- attributes --- */

static const VfAttr *find_attr(const VfAttr *attr, VfBytes name)
{
    while (attr != NULL && !vf_bytes_is_equal(attr->name, name))
        attr = attr->next;
    return attr;
}

/* The attribute that a reference stands for; NULL: neither the call nor the function has one. */
static const VfAttr *resolve(const Clone *c, const VfAttr *attr)
{
    if (attr->ref.size == 0 || c->into->call == NULL)
        return attr;
    const VfAttr *given = find_attr(c->into->call->first_attr, attr->ref);
    if (given == NULL && c->function != NULL)
        given = find_attr(c->function->first_attr_default, attr->ref);
    return given;
}

static VfStatus copy_subgraph(Clone *c, const VfGraph *from, VfNode *owner, VfGraph **to);

static VfStatus copy_graphs(Clone *c, const VfAttr *from, VfNode *owner, VfAttr *to)
{
    VfGraph **graphs = VF_NEW_ARRAY(c->model->arena, VfGraph *, (size_t)from->n);
    VF_TRY_ALLOC(graphs, c->err);
    for (int32_t i = 0; i < from->n; i++)
        VF_TRY(copy_subgraph(c, from->graphs[i], owner, &graphs[i]));
    to->graphs = graphs;
    return VF_OK;
}

static VfStatus copy_attrs(Clone *c, const VfNode *from, VfNode *to)
{
    VfAttr **end = &to->first_attr;
    for (const VfAttr *attr = from->first_attr; attr != NULL; attr = attr->next) {
        const VfAttr *source = resolve(c, attr);
        if (source == NULL)
            continue;
        VfAttr *copy = VF_NEW(c->model->arena, VfAttr);
        VF_TRY_ALLOC(copy, c->err);
        *copy = *source;
        copy->name = attr->name;
        copy->next = NULL;
        *end = copy;
        end = &copy->next;
        bool is_reference = copy->ref.size != 0;
        if (!is_reference && copy->type == VF_ATTR_GRAPH)
            VF_TRY(copy_subgraph(c, source->graph, to, &copy->graph));
        if (!is_reference && copy->type == VF_ATTR_GRAPHS)
            VF_TRY(copy_graphs(c, source, to, copy));
        if (source != attr) /* no part of the body, whose images are cleared at the end */
            clear_attr(source);
    }
    return VF_OK;
}

/* --- nodes --- */

static VfStatus make_node(Clone *c, const VfNode *from, VfGraph *graph, VfNode **to)
{
    VfArena *arena = c->model->arena;
    VfValue **in = VF_NEW_ARRAY(arena, VfValue *, (size_t)from->n_in);
    VfBytes *name = VF_NEW_ARRAY(arena, VfBytes, (size_t)from->n_out);
    VF_TRY_ALLOC(in, c->err);
    VF_TRY_ALLOC(name, c->err);
    for (int32_t i = 0; i < from->n_in; i++)
        in[i] = image_of(c, from->in[i].value);
    for (int32_t i = 0; i < from->n_out; i++) {
        if (from->out[i] != NULL)
            VF_TRY(fresh_name(c, from->out[i]->name, &name[i]));
    }
    *to = vf_node_new(graph, from->domain, from->op_type, from->n_in, in, from->n_out, name);
    VF_TRY_ALLOC(*to, c->err);
    return VF_OK;
}

static VfStatus copy_node(Clone *c, const VfNode *from, VfGraph *graph, VfNode *before)
{
    VfNode *to = NULL;
    VF_TRY(make_node(c, from, graph, &to));
    if (from->overload.size != 0)
        VF_TRY(vf_node_set_overload(to, from->overload, c->err));
    VF_TRY(prefixed(c, from->name, &to->name));
    to->doc = from->doc;
    to->meta = from->meta;
    to->raw = from->raw;
    VF_TRY(copy_attrs(c, from, to));
    vf_node_link(to, before);
    for (int32_t i = 0; i < from->n_out; i++) {
        if (from->out[i] == NULL)
            continue;
        copy_value(c, from->out[i], to->out[i]);
        from->out[i]->image = to->out[i];
    }
    return VF_OK;
}

static VfStatus copy_constant(const Clone *c, VfGraph *graph, VfValue *from, VfValue **to)
{
    VfBytes name;
    VF_TRY(fresh_name(c, from->name, &name));
    *to = vf_graph_add_const(graph, name, from->tensor);
    VF_TRY_ALLOC(*to, c->err);
    copy_value(c, from, *to);
    return VF_OK;
}

static VfStatus copy_contents(Clone *c, const VfGraph *from, VfGraph *graph, VfNode *before)
{
    for (VfValue *value = from->first_value; value != NULL; value = value->next) {
        if (value->kind == VF_VALUE_CONST)
            VF_TRY(copy_constant(c, graph, value, &value->image));
    }
    for (const VfNode *node = from->first_node; node != NULL; node = node->next)
        VF_TRY(copy_node(c, node, graph, before));
    return VF_OK;
}

/* --- subgraphs --- */

static VfStatus copy_inputs(const Clone *c, const VfGraph *from, VfGraph *to)
{
    VfType unknown = {.rank = VF_RANK_UNKNOWN};
    for (int32_t i = 0; i < from->n_input; i++) {
        VfValue *input = from->input[i];
        VfBytes name;
        VF_TRY(fresh_name(c, input->name, &name));
        input->image = vf_graph_add_input(to, name, unknown);
        VF_TRY_ALLOC(input->image, c->err);
        copy_value(c, input, input->image);
        input->image->tensor = input->tensor;
    }
    return VF_OK;
}

/* An output is named as its value, so that no name appears twice among the copies. */
static VfStatus copy_outputs(const Clone *c, const VfGraph *from, VfGraph *to)
{
    size_t n = (size_t)from->ret->n_in;
    VfValue **value = VF_NEW_ARRAY(c->model->arena, VfValue *, n);
    VfBytes *name = VF_NEW_ARRAY(c->model->arena, VfBytes, n);
    VfType *type = VF_NEW_ARRAY(c->model->arena, VfType, n);
    VF_TRY_ALLOC(value, c->err);
    VF_TRY_ALLOC(name, c->err);
    VF_TRY_ALLOC(type, c->err);
    for (size_t i = 0; i < n; i++) {
        const VfValue *original = from->ret->in[i].value;
        value[i] = image_of(c, from->ret->in[i].value);
        bool is_same_name =
            original != NULL && vf_bytes_is_equal(original->name, from->output_name[i]);
        if (is_same_name && value[i] != NULL && value[i]->graph == to)
            name[i] = value[i]->name;
        else
            VF_TRY(fresh_name(c, from->output_name[i], &name[i]));
        type[i] = c->function == NULL ? from->output_type[i] : (VfType){.rank = VF_RANK_UNKNOWN};
    }
    return vf_graph_set_outputs(to, (int32_t)n, value, name, type, c->err);
}

static VfStatus copy_subgraph(Clone *c, const VfGraph *from, VfNode *owner, VfGraph **to)
{
    VfGraph *graph = vf_graph_new(c->model, owner, NULL);
    VF_TRY_ALLOC(graph, c->err);
    graph->name = from->name;
    graph->doc = from->doc;
    graph->meta = from->meta;
    graph->raw = from->raw;
    VF_TRY(copy_inputs(c, from, graph));
    VF_TRY(copy_contents(c, from, graph, NULL));
    *to = graph;
    return copy_outputs(c, from, graph);
}

/* --- the body --- */

static bool has_sparse(const VfGraph *graph)
{
    bool found = false;
    for (const VfNode *node = graph->first_node; node != NULL && !found; node = node->next) {
        found = node->is_sparse_initializer;
        for (const VfAttr *attr = node->first_attr; attr != NULL && !found; attr = attr->next) {
            found = attr->type == VF_ATTR_GRAPH && attr->graph != NULL && has_sparse(attr->graph);
            for (int32_t i = 0; attr->type == VF_ATTR_GRAPHS && i < attr->n && !found; i++)
                found = has_sparse(attr->graphs[i]);
        }
    }
    return found;
}

static VfStatus bind_inputs(Clone *c, const VfGraph *body, int32_t n_in, VfValue *const *in)
{
    for (int32_t i = 0; i < body->n_input; i++) {
        VfValue *input = body->input[i];
        VfValue *given = i < n_in ? in[i] : NULL;
        input->image = given != NULL ? given : &c->omitted;
        if (given == NULL && input->tensor != NULL)
            VF_TRY(copy_constant(c, c->into->graph, input, &input->image));
    }
    return VF_OK;
}

VfStatus vf_graph_clone(const VfCloneInto *into, const VfGraph *body, int32_t n_in,
                        VfValue *const *in, VfValue **out, VfErr *err)
{
    Clone c = {.model = into->graph->model, .into = into, .function = body->function,
               .prefix = into->prefix, .err = err};
    if (c.prefix.size == 0 && into->call != NULL)
        c.prefix = into->call->name;
    if (has_sparse(body)) /* its bytes state its name, so a copy would need other bytes */
        return vf_fail(err, VF_UNSUPPORTED, "a graph with a sparse initializer cannot be copied");
    VfStatus status = bind_inputs(&c, body, n_in, in);
    if (status == VF_OK)
        status = copy_contents(&c, body, into->graph, into->before);
    for (int32_t i = 0; status == VF_OK && i < body->ret->n_in; i++)
        out[i] = image_of(&c, body->ret->in[i].value);
    clear_images(body);
    return status;
}

size_t vf_graph_size(const VfGraph *graph)
{
    size_t n = (size_t)graph->n_node;
    for (const VfNode *node = graph->first_node; node != NULL; node = node->next) {
        for (const VfAttr *attr = node->first_attr; attr != NULL; attr = attr->next) {
            if (attr->type == VF_ATTR_GRAPH && attr->graph != NULL)
                n += vf_graph_size(attr->graph);
            for (int32_t i = 0; attr->type == VF_ATTR_GRAPHS && i < attr->n; i++)
                n += vf_graph_size(attr->graphs[i]);
        }
    }
    return n;
}
