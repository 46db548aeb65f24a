#include <string.h>

#include "converter/onnx/reader.h"
#include "passes/ir/vft_print.h"

/* Where an attribute is read. */
typedef struct Place {
    VfReader *reader;
    VfGraph *graph;
    VfNode *node; /* NULL: a default of a function */
    const char *owner;
} Place;

static VfStatus read_ints(Place *place, const Onnx__AttributeProto *proto, VfAttr *attr)
{
    int64_t *ints = VF_NEW_ARRAY(place->reader->arena, int64_t, proto->n_ints);
    VF_TRY_ALLOC(ints, place->reader->err);
    if (proto->n_ints > 0)
        memcpy(ints, proto->ints, proto->n_ints * sizeof *ints);
    attr->ints = ints;
    return VF_OK;
}

static VfStatus read_floats(Place *place, const Onnx__AttributeProto *proto, VfAttr *attr)
{
    float *floats = VF_NEW_ARRAY(place->reader->arena, float, proto->n_floats);
    VF_TRY_ALLOC(floats, place->reader->err);
    if (proto->n_floats > 0)
        memcpy(floats, proto->floats, proto->n_floats * sizeof *floats);
    attr->floats = floats;
    return VF_OK;
}

static VfStatus read_strings(Place *place, const Onnx__AttributeProto *proto, VfAttr *attr)
{
    VfBytes *strings = VF_NEW_ARRAY(place->reader->arena, VfBytes, proto->n_strings);
    VF_TRY_ALLOC(strings, place->reader->err);
    for (size_t i = 0; i < proto->n_strings; i++)
        VF_TRY(vf_reader_copy(place->reader, proto->strings[i], &strings[i]));
    attr->strings = strings;
    return VF_OK;
}

/* Tensors of an attribute, and what each has beside its data. */
static VfStatus read_tensors(Place *place, size_t n, Onnx__TensorProto **proto,
                             const VfTensor **tensor, VfAttr *attr)
{
    VfReader *reader = place->reader;
    VfRaw *raw = VF_NEW_ARRAY(reader->arena, VfRaw, n);
    VF_TRY_ALLOC(raw, reader->err);
    for (size_t i = 0; i < n; i++) {
        VF_TRY(vf_read_tensor(reader, proto[i], place->owner, &tensor[i]));
        VF_TRY(vf_reader_raw(reader, &proto[i]->base, 8, &raw[i]));
        if (raw[i].size > 0)
            attr->raw_tensor = raw;
    }
    return VF_OK;
}

static VfStatus read_tensor_list(Place *place, const Onnx__AttributeProto *proto, VfAttr *attr)
{
    const VfTensor **tensors =
        VF_NEW_ARRAY(place->reader->arena, const VfTensor *, proto->n_tensors);
    VF_TRY_ALLOC(tensors, place->reader->err);
    attr->tensors = tensors;
    return read_tensors(place, proto->n_tensors, proto->tensors, tensors, attr);
}

static VfStatus read_subgraph(Place *place, const Onnx__GraphProto *proto, VfGraph **out)
{
    VfReader *reader = place->reader;
    VfFunction *function = place->node == NULL ? place->graph->function : NULL;
    *out = vf_graph_new(reader->model, place->node, function);
    VF_TRY_ALLOC(*out, reader->err);
    return vf_read_graph(reader, *out, proto);
}

static VfStatus read_graphs(Place *place, const Onnx__AttributeProto *proto, VfAttr *attr)
{
    VfGraph **graphs = VF_NEW_ARRAY(place->reader->arena, VfGraph *, proto->n_graphs);
    VF_TRY_ALLOC(graphs, place->reader->err);
    for (size_t i = 0; i < proto->n_graphs; i++)
        VF_TRY(read_subgraph(place, proto->graphs[i], &graphs[i]));
    attr->graphs = graphs;
    return VF_OK;
}

/* Which field of the message has a value; the first, and how many have one. Values that are
 * carried as bytes (sparse tensors, types) do not count. */
static VfAttrType present(const Onnx__AttributeProto *proto, int *n)
{
    const struct {
        bool is_there;
        VfAttrType type;
    } row[] = {
        {proto->has_f, VF_ATTR_FLOAT},         {proto->has_i, VF_ATTR_INT},
        {proto->has_s, VF_ATTR_STRING},        {proto->t != NULL, VF_ATTR_TENSOR},
        {proto->g != NULL, VF_ATTR_GRAPH},     {proto->n_floats > 0, VF_ATTR_FLOATS},
        {proto->n_ints > 0, VF_ATTR_INTS},     {proto->n_strings > 0, VF_ATTR_STRINGS},
        {proto->n_tensors > 0, VF_ATTR_TENSORS}, {proto->n_graphs > 0, VF_ATTR_GRAPHS},
    };
    VfAttrType first = VF_ATTR_UNDEFINED;
    *n = 0;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        if (!row[i].is_there)
            continue;
        if (*n == 0)
            first = row[i].type;
        ++*n;
    }
    return first;
}

/* proto2 writers leave zeros out, others write them: a zero beside the value says nothing. */
static bool is_stray(const Onnx__AttributeProto *proto, VfAttrType type, VfAttrType found, int n)
{
    if (n == 0 || (n == 1 && found == type))
        return false;
    bool has_f = proto->has_f && (proto->f < 0 || proto->f > 0) && type != VF_ATTR_FLOAT;
    bool has_i = proto->has_i && proto->i != 0 && type != VF_ATTR_INT;
    bool has_s = proto->has_s && proto->s.len > 0 && type != VF_ATTR_STRING;
    return has_f || has_i || has_s || (proto->t != NULL && type != VF_ATTR_TENSOR) ||
           (proto->g != NULL && type != VF_ATTR_GRAPH) ||
           (proto->n_floats > 0 && type != VF_ATTR_FLOATS) ||
           (proto->n_ints > 0 && type != VF_ATTR_INTS) ||
           (proto->n_strings > 0 && type != VF_ATTR_STRINGS) ||
           (proto->n_tensors > 0 && type != VF_ATTR_TENSORS) ||
           (proto->n_graphs > 0 && type != VF_ATTR_GRAPHS);
}

/* The type, given or told by the one field that is there. */
static VfStatus find_type(Place *place, const Onnx__AttributeProto *proto, VfAttr *attr)
{
    VfReader *reader = place->reader;
    int n;
    VfAttrType found = present(proto, &n);
    const char *name = vf_reader_show(reader, proto->name);
    attr->type = (VfAttrType)proto->type;
    if (proto->type == VF_ATTR_UNDEFINED)
        attr->type = found;
    if (proto->type == VF_ATTR_UNDEFINED && n == 1)
        VF_TRY(vf_reader_remark(reader, "%s: attribute '%s' does not say that it is of type %s",
                                place->owner, name, vf_vft_attr_type_name(found)));
    if (proto->type < 0 || proto->type > VF_ATTR_TYPE_PROTOS || (n > 1 && proto->type == 0))
        return vf_reader_fault(reader, VF_INVALID, "%s: attribute '%s' has no known type",
                               place->owner, name);
    if (is_stray(proto, attr->type, found, n))
        return vf_reader_fault(reader, VF_INVALID,
                               "%s: attribute '%s' has a value that is not of its type",
                               place->owner, name);
    bool is_missing = (attr->type == VF_ATTR_TENSOR && proto->t == NULL) ||
                      (attr->type == VF_ATTR_GRAPH && proto->g == NULL);
    if (is_missing && attr->ref.size == 0)
        return vf_reader_fault(reader, VF_INVALID, "%s: attribute '%s' has no value",
                               place->owner, name);
    return VF_OK;
}

static VfStatus read_value(Place *place, const Onnx__AttributeProto *proto, VfAttr *attr)
{
    attr->f = proto->f;
    attr->i = proto->i;
    VF_TRY(vf_reader_copy(place->reader, proto->s, &attr->s));
    switch (attr->type) {
    case VF_ATTR_TENSOR:
        return proto->t == NULL ? VF_OK
                                : read_tensors(place, 1, (Onnx__TensorProto *[]){proto->t},
                                               &attr->tensor, attr);
    case VF_ATTR_GRAPH:
        return proto->g == NULL ? VF_OK : read_subgraph(place, proto->g, &attr->graph);
    case VF_ATTR_FLOATS:
        attr->n = (int32_t)proto->n_floats;
        return read_floats(place, proto, attr);
    case VF_ATTR_INTS:
        attr->n = (int32_t)proto->n_ints;
        return read_ints(place, proto, attr);
    case VF_ATTR_STRINGS:
        attr->n = (int32_t)proto->n_strings;
        return read_strings(place, proto, attr);
    case VF_ATTR_TENSORS:
        attr->n = (int32_t)proto->n_tensors;
        return read_tensor_list(place, proto, attr);
    case VF_ATTR_GRAPHS:
        attr->n = (int32_t)proto->n_graphs;
        return read_graphs(place, proto, attr);
    case VF_ATTR_SPARSE_TENSOR:
        return vf_read_sparse(place->reader, attr->raw, place->owner, &attr->tensor);
    default:
        return VF_OK;
    }
}

static VfStatus read_attr(Place *place, const Onnx__AttributeProto *proto, VfAttr **out)
{
    VfReader *reader = place->reader;
    VfAttr *attr = VF_NEW(reader->arena, VfAttr);
    VF_TRY_ALLOC(attr, reader->err);
    VF_TRY(vf_reader_copy(reader, proto->name, &attr->name));
    VF_TRY(vf_reader_copy(reader, proto->ref_attr_name, &attr->ref));
    VF_TRY(vf_reader_copy(reader, proto->doc_string, &attr->doc));
    VF_TRY(vf_reader_raw(reader, &proto->base, 0, &attr->raw));
    if (attr->ref.size > 0 && reader->function == NULL)
        VF_TRY(vf_reader_fault(reader, VF_INVALID,
                               "%s: attribute '%s' takes the value of attribute '%s' of a "
                               "function, but stands in none", place->owner,
                               vf_reader_show(reader, proto->name),
                               vf_reader_show(reader, proto->ref_attr_name)));
    VF_TRY(find_type(place, proto, attr));
    VF_TRY(read_value(place, proto, attr));
    *out = attr;
    return VF_OK;
}

/* Lists of attributes are short, but a file may say otherwise: compare with the table of names. */
static VfStatus check_name(Place *place, const Onnx__AttributeProto *proto, VfIntern *seen)
{
    VfReader *reader = place->reader;
    if (proto->name.len == 0)
        return vf_reader_fault(reader, VF_INVALID, "%s: an attribute without a name",
                               place->owner);
    if (vf_intern_find(seen, vf_proto_bytes(proto->name)) >= 0)
        return vf_reader_fault(reader, VF_INVALID, "%s: attribute '%s' occurs twice",
                               place->owner, vf_reader_show(reader, proto->name));
    return vf_intern_add(seen, vf_proto_bytes(proto->name), NULL, reader->err);
}

VfStatus vf_read_attrs(VfReader *reader, VfGraph *graph, VfNode *node, const char *owner,
                       size_t n, Onnx__AttributeProto **proto, VfAttr **first)
{
    Place place = {reader, graph, node, owner};
    VfIntern *seen = n == 0 ? NULL : vf_intern_new(reader->scratch);
    VfAttr **link = first;
    if (n == 0)
        return VF_OK;
    VF_TRY_ALLOC(seen, reader->err);
    for (size_t i = 0; i < n; i++) {
        VF_TRY(check_name(&place, proto[i], seen));
        VF_TRY(read_attr(&place, proto[i], link));
        link = &(*link)->next;
    }
    return VF_OK;
}
