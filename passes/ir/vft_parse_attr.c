#include <string.h>

#include "passes/ir/vft_parse.h"
#include "passes/ir/vft_print.h"

/* Kinds of lists by what their items are. */
static VfStatus parse_items(VfVftParse *p)
{
    bool more;
    p->n_item = 0;
    VF_TRY(vf_vft_expect_char(&p->lex, '['));
    VF_TRY(vf_vft_accept_char(&p->lex, ']', &more));
    for (more = !more; more;) {
        VfVftItem item = {.is_string = p->lex.kind == VF_VFT_STRING};
        if (item.is_string)
            VF_TRY(vf_vft_expect(&p->lex, VF_VFT_STRING, "a string", &item.s));
        else
            VF_TRY(vf_vft_parse_number(p, &item));
        VF_TRY(VF_VFT_ROOM(p, item));
        p->item[p->n_item++] = item;
        VF_TRY(vf_vft_accept_char(&p->lex, ',', &more));
        if (!more)
            VF_TRY(vf_vft_expect_char(&p->lex, ']'));
    }
    return VF_OK;
}

static VfAttrType type_of_item(const VfVftItem *item)
{
    return item->is_string ? VF_ATTR_STRINGS : item->is_int ? VF_ATTR_INTS : VF_ATTR_FLOATS;
}

/* The list kind that holds all items: a float among ints makes floats. UNDEFINED: none does. */
static VfAttrType type_of_items(const VfVftParse *p)
{
    VfAttrType type = VF_ATTR_UNDEFINED;
    for (size_t i = 0; i < p->n_item; i++) {
        VfAttrType here = type_of_item(&p->item[i]);
        bool is_mixed = type != VF_ATTR_UNDEFINED && type != here;
        if (is_mixed && (type == VF_ATTR_STRINGS || here == VF_ATTR_STRINGS))
            return VF_ATTR_UNDEFINED;
        type = is_mixed ? VF_ATTR_FLOATS : here;
    }
    return type;
}

static VfStatus store_items(VfVftParse *p, VfAttr *attr)
{
    size_t n = p->n_item;
    float *floats = VF_NEW_ARRAY(p->model->arena, float, attr->type == VF_ATTR_FLOATS ? n : 0);
    int64_t *ints = VF_NEW_ARRAY(p->model->arena, int64_t, attr->type == VF_ATTR_INTS ? n : 0);
    VfBytes *strings =
        VF_NEW_ARRAY(p->model->arena, VfBytes, attr->type == VF_ATTR_STRINGS ? n : 0);
    VF_TRY_ALLOC(floats, p->err);
    VF_TRY_ALLOC(ints, p->err);
    VF_TRY_ALLOC(strings, p->err);
    for (size_t i = 0; i < n; i++) {
        if (attr->type == VF_ATTR_FLOATS)
            floats[i] = p->item[i].f;
        else if (attr->type == VF_ATTR_INTS)
            ints[i] = p->item[i].i;
        else
            strings[i] = p->item[i].s;
    }
    attr->n = (int32_t)n;
    attr->floats = attr->type == VF_ATTR_FLOATS ? floats : NULL;
    attr->ints = attr->type == VF_ATTR_INTS ? ints : NULL;
    attr->strings = attr->type == VF_ATTR_STRINGS ? strings : NULL;
    return VF_OK;
}

/* A list of numbers or strings; `type` is UNDEFINED when the text does not say it. */
static VfStatus parse_list(VfVftParse *p, VfAttrType type, VfAttr *attr)
{
    VfVftLex at = p->lex;
    VF_TRY(parse_items(p));
    VfAttrType found = type_of_items(p);
    bool is_empty = p->n_item == 0;
    if (is_empty && type == VF_ATTR_UNDEFINED)
        return vf_vft_fail(&at, "an empty list needs its type, as in ints []");
    bool agrees = is_empty || type == VF_ATTR_UNDEFINED || type == found ||
                  (type == VF_ATTR_FLOATS && found == VF_ATTR_INTS);
    if (!agrees || (!is_empty && found == VF_ATTR_UNDEFINED))
        return vf_vft_fail(&at, "items of a list are of different types");
    attr->type = type == VF_ATTR_UNDEFINED ? found : type;
    return store_items(p, attr);
}

static VfStatus parse_scalar(VfVftParse *p, VfAttrType type, VfAttr *attr)
{
    VfVftItem item = {.is_string = p->lex.kind == VF_VFT_STRING};
    if (item.is_string)
        VF_TRY(vf_vft_expect(&p->lex, VF_VFT_STRING, "a string", &attr->s));
    else
        VF_TRY(vf_vft_parse_number(p, &item));
    VfAttrType found = item.is_string ? VF_ATTR_STRING : item.is_int ? VF_ATTR_INT : VF_ATTR_FLOAT;
    attr->type = type == VF_ATTR_UNDEFINED ? found : type;
    if (attr->type != found && !(attr->type == VF_ATTR_FLOAT && found == VF_ATTR_INT))
        return vf_vft_fail(&p->lex, "the value before this is not of type %s",
                           vf_vft_attr_type_name(type));
    attr->i = attr->type == VF_ATTR_INT ? item.i : 0;
    attr->f = attr->type == VF_ATTR_FLOAT ? item.f : 0;
    return VF_OK;
}

static VfStatus parse_subgraph(VfVftParse *p, VfNode *owner, VfGraph **graph)
{
    if (owner == NULL)
        return vf_vft_fail(&p->lex, "a default cannot be a graph");
    *graph = vf_graph_new(p->model, owner, NULL);
    VF_TRY_ALLOC(*graph, p->err);
    return vf_vft_parse_graph(p, *graph);
}

VfStatus vf_vft_store_raw_tensor(VfVftParse *p, const VfRaw *raw, int32_t n, VfAttr *attr)
{
    bool has_any = false;
    for (int32_t i = 0; i < n; i++)
        has_any = has_any || raw[i].size != 0;
    if (!has_any)
        return VF_OK;
    VfRaw *copy = VF_NEW_ARRAY(p->model->arena, VfRaw, (size_t)n);
    VF_TRY_ALLOC(copy, p->err);
    memcpy(copy, raw, (size_t)n * sizeof *copy);
    attr->raw_tensor = copy;
    return VF_OK;
}

/* Chained through `next` until their number is known. */
typedef struct Cell {
    const VfTensor *tensor;
    VfRaw raw; /* of the tensor */
    VfGraph *graph;
    struct Cell *next;
} Cell;

static VfStatus store_cells(VfVftParse *p, const Cell *cell, VfAttr *attr)
{
    const VfTensor **tensors = VF_NEW_ARRAY(p->model->arena, const VfTensor *, (size_t)attr->n);
    VfGraph **graphs = VF_NEW_ARRAY(p->model->arena, VfGraph *, (size_t)attr->n);
    VfRaw *raws = VF_NEW_ARRAY(p->scratch, VfRaw, (size_t)attr->n);
    VF_TRY_ALLOC(tensors, p->err);
    VF_TRY_ALLOC(graphs, p->err);
    VF_TRY_ALLOC(raws, p->err);
    for (int32_t i = 0; i < attr->n; i++, cell = cell->next) {
        tensors[i] = cell->tensor;
        graphs[i] = cell->graph;
        raws[i] = cell->raw;
    }
    attr->tensors = attr->type == VF_ATTR_TENSORS ? tensors : NULL;
    attr->graphs = attr->type == VF_ATTR_GRAPHS ? graphs : NULL;
    return vf_vft_store_raw_tensor(p, raws, attr->n, attr);
}

static VfStatus parse_cell(VfVftParse *p, VfNode *owner, VfAttrType type, Cell *cell)
{
    VfVftFields fields;
    if (type == VF_ATTR_GRAPHS)
        return parse_subgraph(p, owner, &cell->graph);
    VF_TRY(vf_vft_parse_tensor(p, &cell->tensor));
    VF_TRY(vf_vft_parse_fields(p, &fields));
    cell->raw = fields.tensor;
    return VF_OK;
}

static VfStatus parse_cells(VfVftParse *p, VfNode *owner, VfAttr *attr)
{
    Cell *first = NULL, **end = &first;
    bool more;
    VF_TRY(vf_vft_expect_char(&p->lex, '['));
    VF_TRY(vf_vft_accept_char(&p->lex, ']', &more));
    for (more = !more; more; attr->n++) {
        Cell *cell = VF_NEW(p->scratch, Cell);
        VF_TRY_ALLOC(cell, p->err);
        VF_TRY(parse_cell(p, owner, attr->type, cell));
        *end = cell;
        end = &cell->next;
        VF_TRY(vf_vft_accept_char(&p->lex, ',', &more));
        if (!more)
            VF_TRY(vf_vft_expect_char(&p->lex, ']'));
    }
    return store_cells(p, first, attr);
}

static VfStatus parse_typed(VfVftParse *p, VfNode *owner, VfAttrType type, VfAttr *attr)
{
    attr->type = type;
    switch (type) {
    case VF_ATTR_FLOAT:
    case VF_ATTR_INT:
    case VF_ATTR_STRING:
        return parse_scalar(p, type, attr);
    case VF_ATTR_FLOATS:
    case VF_ATTR_INTS:
    case VF_ATTR_STRINGS:
        return parse_list(p, type, attr);
    case VF_ATTR_TENSOR:
        return vf_vft_parse_tensor(p, &attr->tensor);
    case VF_ATTR_GRAPH:
        return parse_subgraph(p, owner, &attr->graph);
    case VF_ATTR_TENSORS:
    case VF_ATTR_GRAPHS:
        return parse_cells(p, owner, attr);
    default:
        return VF_OK; /* its bytes follow as raw */
    }
}

static VfStatus parse_reference(VfVftParse *p, VfAttr *attr)
{
    VfVftLex at = p->lex;
    VfBytes word;
    VF_TRY(vf_vft_expect(&p->lex, VF_VFT_WORD, "the type of an attribute", &word));
    int type = vf_vft_attr_type_from(word);
    if (type > VF_ATTR_TYPE_PROTOS)
        return vf_vft_fail(&at, "expected the type of an attribute, as in ref float alpha");
    attr->type = (VfAttrType)type;
    return vf_vft_parse_name(p, "an attribute", &attr->ref);
}

static VfStatus parse_payload(VfVftParse *p, VfNode *owner, VfAttr *attr)
{
    bool is_reference;
    VF_TRY(vf_vft_accept_word(&p->lex, "ref", &is_reference));
    if (is_reference)
        return parse_reference(p, attr);
    int type =
        p->lex.kind == VF_VFT_WORD ? vf_vft_attr_type_from(p->lex.text) : VF_ATTR_TYPE_PROTOS + 1;
    if (type <= VF_ATTR_TYPE_PROTOS) {
        VF_TRY(vf_vft_next(&p->lex));
        return parse_typed(p, owner, (VfAttrType)type, attr);
    }
    if (vf_vft_is_char(&p->lex, '['))
        return parse_list(p, VF_ATTR_UNDEFINED, attr);
    return parse_scalar(p, VF_ATTR_UNDEFINED, attr);
}

VfStatus vf_vft_parse_attr_value(VfVftParse *p, VfNode *owner, VfAttr *attr)
{
    VfVftFields fields;
    VF_TRY(parse_payload(p, owner, attr));
    VF_TRY(vf_vft_parse_fields(p, &fields));
    attr->doc = fields.doc;
    attr->raw = fields.raw;
    return attr->type == VF_ATTR_TENSOR ? vf_vft_store_raw_tensor(p, &fields.tensor, 1, attr)
                                        : VF_OK;
}
