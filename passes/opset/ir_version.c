#include "passes/opset/opset.h"
#include "passes/ir/shape.h"

/* What an older IR version cannot hold: checked for every value, node and function. */
typedef struct Needs {
    int64_t version; /* the newest that something needs */
    const char *what;
} Needs;

static void need(Needs *needs, int64_t version, const char *what)
{
    if (version > needs->version)
        *needs = (Needs){version, what};
}

/* Dtypes by the IR version that brought them. */
static void need_dtype(Needs *needs, VfDtype dtype)
{
    if (dtype >= VF_U2)
        need(needs, 13, "a dtype of 2 bits");
    else if (dtype >= VF_F4E2M1)
        need(needs, 11, "a dtype of 4 bits or a power of two");
    else if (dtype >= VF_U4)
        need(needs, 10, "a dtype of 4 bits");
    else if (dtype >= VF_F8E4M3FN)
        need(needs, 9, "a dtype of 8 bits");
    else if (dtype == VF_BF16)
        need(needs, 4, "bfloat16");
}

static void look_at_graph(Needs *needs, const VfGraph *graph);

static void look_at_node(Needs *needs, const VfNode *node)
{
    if (node->overload.size > 0)
        need(needs, 10, "an overloaded function");
    if (node->meta != NULL)
        need(needs, 10, "metadata of a node");
    if (node->is_sparse_initializer)
        need(needs, 5, "a sparse initializer");
    for (const VfAttr *attr = node->first_attr; attr != NULL; attr = attr->next) {
        if (attr->type == VF_ATTR_GRAPH && attr->graph != NULL)
            look_at_graph(needs, attr->graph);
        for (int32_t i = 0; attr->type == VF_ATTR_GRAPHS && i < attr->n; i++)
            look_at_graph(needs, attr->graphs[i]);
    }
}

static void look_at_graph(Needs *needs, const VfGraph *graph)
{
    if (graph->meta != NULL)
        need(needs, 10, "metadata of a graph");
    for (const VfValue *value = graph->first_value; value != NULL; value = value->next) {
        need_dtype(needs, value->type.dtype);
        if (value->meta != NULL)
            need(needs, 10, "metadata of a value");
        if (value->kind == VF_VALUE_CONST && graph->owner != NULL && value->constant == NULL)
            need(needs, 4, "an initializer of a subgraph");
    }
    for (const VfNode *node = graph->first_node; node != NULL; node = node->next)
        look_at_node(needs, node);
}

VfStatus vf_ir_version_change(VfModel *model, int64_t version, VfErr *err)
{
    Needs needs = {0, NULL};
    if (version < VF_IR_MIN || version > VF_IR_MAX)
        return vf_fail(err, VF_USAGE, "IR version %lld is not within %d to %d", (long long)version,
                       VF_IR_MIN, VF_IR_MAX);
    look_at_graph(&needs, model->graph);
    for (const VfFunction *at = model->first_function; at != NULL; at = at->next) {
        need(&needs, 8, "a function");
        if (at->overload.size > 0)
            need(&needs, 10, "an overloaded function");
        look_at_graph(&needs, at->body);
    }
    if (model->raw.size > 0 && version < model->ir_version)
        need(&needs, model->ir_version, "fields of the model that are carried through");
    if (needs.version > version)
        return vf_fail(err, VF_UNSUPPORTED, "IR version %lld cannot hold %s: that needs %lld",
                       (long long)version, needs.what, (long long)needs.version);
    model->ir_version = version;
    return VF_OK;
}
