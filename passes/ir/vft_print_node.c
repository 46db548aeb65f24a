#include <inttypes.h>
#include <string.h>

#include "passes/ir/vft_lex.h"
#include "passes/ir/vft_print.h"

static const char *const type_name[] = {
    [VF_ATTR_UNDEFINED] = "undefined",
    [VF_ATTR_FLOAT] = "float",
    [VF_ATTR_INT] = "int",
    [VF_ATTR_STRING] = "string",
    [VF_ATTR_TENSOR] = "tensor",
    [VF_ATTR_GRAPH] = "graph",
    [VF_ATTR_FLOATS] = "floats",
    [VF_ATTR_INTS] = "ints",
    [VF_ATTR_STRINGS] = "strings",
    [VF_ATTR_TENSORS] = "tensors",
    [VF_ATTR_GRAPHS] = "graphs",
    [VF_ATTR_SPARSE_TENSOR] = "sparse_tensor",
    [VF_ATTR_SPARSE_TENSORS] = "sparse_tensors",
    [VF_ATTR_TYPE_PROTO] = "type_proto",
    [VF_ATTR_TYPE_PROTOS] = "type_protos",
};

enum { N_TYPE = sizeof type_name / sizeof type_name[0] };

const char *vf_vft_attr_type_name(VfAttrType type)
{
    unsigned index = (unsigned)type;
    return type_name[index < N_TYPE ? index : VF_ATTR_UNDEFINED];
}

int vf_vft_attr_type_from(VfBytes name)
{
    int type = 0;
    while (type < N_TYPE && !vf_bytes_is_equal(name, vf_bytes(type_name[type])))
        type++;
    return type;
}

static void print_subgraph(VfVftPrint *p, const VfGraph *graph, bool with_name)
{
    if (p->one_line) {
        vf_text_printf(p->text, "{%d nodes}", (int)graph->n_node);
        return;
    }
    vf_vft_print_graph(p, graph, with_name);
}

/* What a tensor in a list has besides its data. */
static void print_raw_tensor(VfVftPrint *p, const VfAttr *attr, int32_t i)
{
    VfVftNotes notes = {p, false};
    if (attr->raw_tensor != NULL && !p->one_line)
        vf_vft_note_raw(&notes, "tensor", attr->raw_tensor[i]);
    vf_vft_notes_end(&notes);
}

static void print_item(VfVftPrint *p, const VfAttr *attr, int32_t i)
{
    vf_text_string(p->text, i > 0 ? ", " : "");
    switch (attr->type) {
    case VF_ATTR_FLOATS:
        vf_vft_print_float(p->text, attr->floats[i]);
        break;
    case VF_ATTR_INTS:
        vf_text_printf(p->text, "%" PRId64, attr->ints[i]);
        break;
    case VF_ATTR_STRINGS:
        vf_vft_print_string(p->text, attr->strings[i]);
        break;
    case VF_ATTR_TENSORS:
        vf_vft_print_tensor(p, attr->tensors[i]);
        print_raw_tensor(p, attr, i);
        break;
    case VF_ATTR_GRAPHS:
        print_subgraph(p, attr->graphs[i], true);
        break;
    default:
        break;
    }
}

/* The type is written where the items do not tell it. */
static void print_list(VfVftPrint *p, const VfAttr *attr)
{
    if (attr->n == 0 || attr->type == VF_ATTR_TENSORS || attr->type == VF_ATTR_GRAPHS)
        vf_text_printf(p->text, "%s ", vf_vft_attr_type_name(attr->type));
    vf_text_char(p->text, '[');
    for (int32_t i = 0; i < attr->n; i++)
        print_item(p, attr, i);
    vf_text_char(p->text, ']');
}

static void print_payload(VfVftPrint *p, const VfAttr *attr)
{
    switch (attr->type) {
    case VF_ATTR_FLOAT:
        vf_vft_print_float(p->text, attr->f);
        break;
    case VF_ATTR_INT:
        vf_text_printf(p->text, "%" PRId64, attr->i);
        break;
    case VF_ATTR_STRING:
        vf_vft_print_string(p->text, attr->s);
        break;
    case VF_ATTR_TENSOR:
        vf_text_string(p->text, "tensor ");
        vf_vft_print_tensor(p, attr->tensor);
        break;
    case VF_ATTR_GRAPH:
        vf_text_string(p->text, "graph");
        vf_text_string(p->text, p->one_line ? " " : "");
        print_subgraph(p, attr->graph, false);
        break;
    case VF_ATTR_FLOATS:
    case VF_ATTR_INTS:
    case VF_ATTR_STRINGS:
    case VF_ATTR_TENSORS:
    case VF_ATTR_GRAPHS:
        print_list(p, attr);
        break;
    default:
        vf_text_string(p->text, vf_vft_attr_type_name(attr->type));
    }
}

void vf_vft_print_attr_notes(VfVftPrint *p, const VfAttr *attr)
{
    VfVftNotes notes = {p, false};
    vf_vft_note_bytes(&notes, "doc", attr->doc);
    vf_vft_note_raw(&notes, "raw", attr->raw);
    if (attr->type == VF_ATTR_TENSOR && attr->raw_tensor != NULL)
        vf_vft_note_raw(&notes, "tensor", attr->raw_tensor[0]);
    vf_vft_notes_end(&notes);
}

void vf_vft_print_attr_value(VfVftPrint *p, const VfAttr *attr)
{
    if (attr->ref.size != 0) {
        vf_text_printf(p->text, "ref %s ", vf_vft_attr_type_name(attr->type));
        vf_vft_print_name(p->text, attr->ref);
    } else {
        print_payload(p, attr);
    }
    if (!p->one_line)
        vf_vft_print_attr_notes(p, attr);
}

/* --- nodes --- */

static bool is_part_bare(VfBytes part)
{
    return vf_vft_is_bare(part) && memmem(part.data, part.size, "::", 2) == NULL;
}

/* An operator whose name could be taken for something else is quoted. */
void vf_vft_print_operator(VfText *text, VfBytes domain, VfBytes name, VfBytes overload)
{
    bool is_bare = is_part_bare(name) && (domain.size == 0 || is_part_bare(domain)) &&
                   !vf_bytes_is_equal(name, vf_bytes("const"));
    void (*print)(VfText *, VfBytes) = is_bare ? vf_vft_print_name : vf_vft_print_string;
    if (domain.size != 0) {
        print(text, domain);
        vf_text_string(text, "::");
    }
    print(text, name);
    if (overload.size != 0) {
        vf_text_char(text, ':');
        vf_vft_print_name(text, overload);
    }
}

static void print_results(VfVftPrint *p, const VfNode *node)
{
    if (node->n_out == 0)
        vf_text_string(p->text, "()");
    for (int32_t i = 0; i < node->n_out; i++) {
        vf_text_string(p->text, i > 0 ? ", " : "");
        if (node->out[i] == NULL || p->one_line)
            vf_vft_print_value(p, node->out[i]);
        else
            vf_vft_print_definition(p, node->out[i]);
    }
    vf_text_string(p->text, " = ");
}

static void print_attrs(VfVftPrint *p, const VfNode *node)
{
    if (node->first_attr == NULL)
        return;
    vf_text_string(p->text, " {");
    for (const VfAttr *attr = node->first_attr; attr != NULL; attr = attr->next) {
        vf_vft_print_name(p->text, attr->name);
        vf_text_char(p->text, '=');
        vf_vft_print_attr_value(p, attr);
        vf_text_string(p->text, attr->next != NULL ? ", " : "}");
    }
}

void vf_vft_print_node_tail(VfVftPrint *p, const VfNode *node)
{
    VfVftNotes notes = {p, false};
    if (node->name.size != 0) {
        vf_text_string(p->text, " @");
        vf_vft_print_name(p->text, node->name);
    }
    if (p->one_line)
        return;
    vf_vft_note_bytes(&notes, "doc", node->doc);
    vf_vft_note_meta(&notes, node->meta);
    vf_vft_note_raw(&notes, "raw", node->raw);
    if (node->is_sparse_initializer)
        vf_vft_note_word(&notes, "sparse_initializer");
    vf_vft_notes_end(&notes);
}

void vf_vft_print_statement(VfVftPrint *p, const VfNode *node)
{
    print_results(p, node);
    vf_vft_print_operator(p->text, node->domain, node->op_type, node->overload);
    vf_text_char(p->text, '(');
    for (int32_t i = 0; i < node->n_in; i++) {
        vf_text_string(p->text, i > 0 ? ", " : "");
        vf_vft_print_value(p, node->in[i].value);
    }
    vf_text_char(p->text, ')');
    print_attrs(p, node);
    vf_vft_print_node_tail(p, node);
}

VfStatus vf_vft_print_node(const VfNode *node, VfText *text, VfErr *err)
{
    VfBytes ignored;
    VfVftPrint p = {.text = text, .model = node->graph->model, .one_line = true};
    vf_vft_print_statement(&p, node);
    return vf_text_get(text, &ignored, err);
}

void vf_vft_print_attr(const VfNode *node, const VfAttr *attr, VfText *text)
{
    VfVftPrint p = {.text = text, .model = node->graph->model, .one_line = true};
    vf_vft_print_attr_value(&p, attr);
}
