#include <string.h>

#include "passes/ir/attr.h"
#include "passes/ir/vft_parse.h"

/* The attributes a Constant node may state its data with. */
typedef struct Form {
    const char *name;
    VfAttrType type;
    VfDtype dtype; /* of the data; UNDEFINED: any */
    int32_t rank;
} Form;

static const Form form[] = {
    {"value", VF_ATTR_TENSOR, VF_UNDEFINED, 0}, {"value_int", VF_ATTR_INT, VF_I64, 0},
    {"value_ints", VF_ATTR_INTS, VF_I64, 1},    {"value_float", VF_ATTR_FLOAT, VF_F32, 0},
    {"value_floats", VF_ATTR_FLOATS, VF_F32, 1},
};

/* "(value_int [...])" behind const. */
static VfStatus parse_form(VfVftParse *p, const Form **found, VfVftFields *fields)
{
    VfVftLex at = p->lex;
    VfBytes name;
    VF_TRY(vf_vft_parse_name(p, "an attribute of Constant", &name));
    *found = NULL;
    for (size_t i = 0; i < sizeof form / sizeof form[0]; i++) {
        if (vf_bytes_is_equal(name, vf_bytes(form[i].name)))
            *found = &form[i];
    }
    if (*found == NULL)
        return vf_vft_fail(&at, "'%s' is no attribute a constant is read from", name.data);
    VF_TRY(vf_vft_parse_fields(p, fields));
    return vf_vft_expect_char(&p->lex, ')');
}

static VfStatus fill_attr(VfVftParse *p, const Form *f, const VfVftFields *fields,
                          const VfTensor *tensor, VfAttr *attr)
{
    *attr = (VfAttr){
        .name = vf_bytes(f->name), .type = f->type, .doc = fields->doc, .raw = fields->raw};
    switch (f->type) {
    case VF_ATTR_INT:
        attr->i = vf_tensor_get_i64(tensor, 0);
        return VF_OK;
    case VF_ATTR_FLOAT:
        memcpy(&attr->f, tensor->data, sizeof attr->f);
        return VF_OK;
    case VF_ATTR_INTS:
        attr->ints = tensor->data;
        attr->n = (int32_t)tensor->count;
        return VF_OK;
    case VF_ATTR_FLOATS:
        attr->floats = tensor->data;
        attr->n = (int32_t)tensor->count;
        return VF_OK;
    default:
        attr->tensor = tensor;
        return vf_vft_store_raw_tensor(p, &fields->tensor, 1, attr);
    }
}

static VfStatus make_node(VfVftParse *p, VfGraph *graph, const VfAttr *attr, VfNode **out)
{
    VfVftFields fields;
    bool has_name;
    VfNode *node = vf_node_new(graph, (VfBytes){"", 0}, vf_bytes("Constant"), 0, NULL, 0, NULL);
    VF_TRY_ALLOC(node, p->err);
    VF_TRY(vf_node_add_attr(node, attr, p->err));
    VF_TRY(vf_vft_accept_char(&p->lex, '@', &has_name));
    if (has_name)
        VF_TRY(vf_vft_parse_name(p, "the name of a node", &node->name));
    VF_TRY(vf_vft_parse_fields(p, &fields));
    node->doc = fields.doc;
    node->meta = fields.meta;
    node->raw = fields.raw;
    *out = node;
    return VF_OK;
}

VfStatus vf_vft_parse_const(VfVftParse *p, VfGraph *graph, const VfVftDef *def)
{
    const VfTensor *tensor;
    const Form *f = NULL;
    VfVftFields fields;
    VfNode *node = NULL;
    VfAttr attr;
    bool is_node;
    VF_TRY(vf_vft_accept_char(&p->lex, '(', &is_node));
    if (is_node)
        VF_TRY(parse_form(p, &f, &fields));
    VfVftLex at = p->lex;
    VF_TRY(vf_vft_parse_tensor(p, &tensor));
    if (is_node) {
        bool is_any = f->dtype == VF_UNDEFINED;
        if (!is_any && (tensor->dtype != f->dtype || tensor->rank != f->rank))
            return vf_vft_fail(&at, "the data does not fit attribute %s", f->name);
        VF_TRY(fill_attr(p, f, &fields, tensor, &attr));
        VF_TRY(make_node(p, graph, &attr, &node));
    }
    VfBytes name = def->is_label ? (VfBytes){"", 0} : def->name;
    VfValue *value = vf_graph_add_const(graph, name, tensor);
    VF_TRY_ALLOC(value, p->err);
    value->constant = node;
    return vf_vft_apply_def(p, def, value);
}
