#include "converter/onnx/reader.h"

#include "runtime/base/intern.h"

enum { MIN_IR = 3, MAX_IR = 13 };

/* Version 0 stands in files beside domains of which no operator is used. */
static bool is_faulty_opset(const Onnx__OperatorSetIdProto *proto, VfBytes domain)
{
    return proto->version < (domain.size == 0 ? 1 : 0);
}

static VfStatus check_opset(VfReader *reader, const Onnx__OperatorSetIdProto *proto,
                            VfBytes domain)
{
    if (!is_faulty_opset(proto, domain))
        return VF_OK;
    return vf_reader_fault(reader, VF_INVALID, "opset version %lld of domain '%s'",
                           (long long)proto->version, vf_reader_show(reader, proto->domain));
}

/* A domain may be imported again: the last version that is one counts, as in ONNX Runtime. */
static VfStatus read_opsets(VfReader *reader, size_t n, Onnx__OperatorSetIdProto **proto,
                            const VfOpset **out, int32_t *n_out)
{
    VfOpset *opset = VF_NEW_ARRAY(reader->arena, VfOpset, n);
    VfIntern *seen = vf_intern_new(reader->scratch);
    if (opset == NULL || seen == NULL)
        return vf_no_memory(reader->err);
    for (size_t i = 0; i < n; i++) {
        VfBytes domain;
        int32_t id;
        VF_TRY(vf_reader_domain(reader, proto[i]->domain, &domain));
        VF_TRY(check_opset(reader, proto[i], domain));
        VF_TRY(vf_intern_add(seen, domain, &id, reader->err));
        opset[id].domain = domain;
        if (proto[i]->version > 0)
            opset[id].version = proto[i]->version;
        else if (opset[id].version == 0 && is_faulty_opset(proto[i], domain))
            opset[id].version = -1; /* there, but not known */
    }
    *out = opset;
    *n_out = vf_intern_count(seen);
    return VF_OK;
}

static VfStatus read_attr_names(VfReader *reader, const Onnx__FunctionProto *proto,
                                VfFunction *function)
{
    VfBytes *name = VF_NEW_ARRAY(reader->arena, VfBytes, proto->n_attribute);
    VF_TRY_ALLOC(name, reader->err);
    for (size_t i = 0; i < proto->n_attribute; i++)
        VF_TRY(vf_reader_copy(reader, proto->attribute[i], &name[i]));
    function->n_attr_name = (int32_t)proto->n_attribute;
    function->attr_name = name;
    return VF_OK;
}

static VfStatus new_function(VfReader *reader, const Onnx__FunctionProto *proto)
{
    VfModel *model = reader->model;
    VfBytes domain, name = vf_proto_bytes(proto->name), overload = vf_proto_bytes(proto->overload);
    VF_TRY(vf_reader_domain(reader, proto->domain, &domain));
    if (name.size == 0)
        VF_TRY(vf_reader_fault(reader, VF_INVALID, "a function without a name"));
    if (vf_function_find(model, domain, name, overload) != NULL)
        VF_TRY(vf_reader_fault(reader, VF_INVALID, "function '%s' is defined twice",
                               vf_reader_show(reader, proto->name)));
    VF_TRY_ALLOC(vf_function_new(model, domain, name, overload), reader->err);
    return VF_OK;
}

/* Of graphs it is no fault. */
static VfStatus remark_outputs(VfReader *reader, const Onnx__FunctionProto *proto,
                               const char *owner)
{
    VfIntern *seen = vf_intern_new(reader->scratch);
    VF_TRY_ALLOC(seen, reader->err);
    for (size_t i = 0; i < proto->n_output; i++) {
        VfBytes name = vf_proto_bytes(proto->output[i]);
        if (vf_intern_find(seen, name) >= 0)
            VF_TRY(vf_reader_remark(reader, "%s: output '%s' is listed twice", owner,
                                    vf_reader_show(reader, proto->output[i])));
        VF_TRY(vf_intern_add(seen, name, NULL, reader->err));
    }
    return VF_OK;
}

static VfStatus read_function(VfReader *reader, VfFunction *function,
                              const Onnx__FunctionProto *proto)
{
    const char *owner = vf_arena_printf(reader->scratch, "function '%s'",
                                        vf_reader_show(reader, proto->name));
    VF_TRY_ALLOC(owner, reader->err);
    reader->function = owner;
    if (proto->n_opset_import == 0 && proto->n_node > 0)
        VF_TRY(vf_reader_remark(reader, "%s imports no opset", owner));
    VF_TRY(remark_outputs(reader, proto, owner));
    VF_TRY(vf_reader_copy(reader, proto->doc_string, &function->doc));
    VF_TRY(vf_reader_metas(reader, proto->n_metadata_props, proto->metadata_props,
                           &function->meta));
    VF_TRY(read_opsets(reader, proto->n_opset_import, proto->opset_import, &function->opset,
                       &function->n_opset));
    VF_TRY(read_attr_names(reader, proto, function));
    VF_TRY(vf_read_attrs(reader, function->body, NULL, owner, proto->n_attribute_proto,
                         proto->attribute_proto, &function->first_attr_default));
    VF_TRY(vf_read_function_body(reader, function->body, proto));
    return vf_reader_raw(reader, &proto->base, 0, &function->raw);
}

/* All functions exist before the first body is read: they may call each other. */
static VfStatus read_functions(VfReader *reader, const Onnx__ModelProto *proto)
{
    for (size_t i = 0; i < proto->n_functions; i++)
        VF_TRY(new_function(reader, proto->functions[i]));
    VfFunction *function = reader->model->first_function;
    for (size_t i = 0; i < proto->n_functions; i++, function = function->next) {
        VfStatus status = read_function(reader, function, proto->functions[i]);
        if (status != VF_OK) {
            vf_context(reader->err, "function '%s'",
                       vf_reader_show(reader, proto->functions[i]->name));
            return status;
        }
    }
    reader->function = NULL;
    return VF_OK;
}

static VfStatus read_about(VfReader *reader, const Onnx__ModelProto *proto)
{
    VfModel *model = reader->model;
    model->ir_version = proto->ir_version;
    model->model_version = proto->model_version;
    VF_TRY(vf_reader_copy(reader, proto->producer_name, &model->producer_name));
    VF_TRY(vf_reader_copy(reader, proto->producer_version, &model->producer_version));
    VF_TRY(vf_reader_copy(reader, proto->domain, &model->domain));
    VF_TRY(vf_reader_copy(reader, proto->doc_string, &model->doc));
    VF_TRY(vf_reader_metas(reader, proto->n_metadata_props, proto->metadata_props, &model->meta));
    VF_TRY(read_opsets(reader, proto->n_opset_import, proto->opset_import, &model->opset,
                       &model->n_opset));
    return vf_reader_raw(reader, &proto->base, 0, &model->raw);
}

VfStatus vf_read_model(VfReader *reader, const Onnx__ModelProto *proto)
{
    if (!proto->has_ir_version || proto->graph == NULL)
        return vf_reader_fault(reader, VF_INVALID, "not an ONNX model: no %s",
                               proto->has_ir_version ? "graph" : "IR version");
    if (proto->ir_version < MIN_IR || proto->ir_version > MAX_IR)
        return vf_fail(reader->err, VF_UNSUPPORTED, "IR version %lld; %d to %d are supported",
                       (long long)proto->ir_version, MIN_IR, MAX_IR);
    if (proto->n_opset_import == 0)
        VF_TRY(vf_reader_fault(reader, VF_INVALID, "the model imports no opset"));
    VF_TRY(read_about(reader, proto));
    VF_TRY(read_functions(reader, proto));
    VF_TRY(vf_read_graph(reader, reader->model->graph, proto->graph));
    return reader->faults == NULL ? vf_verify_calls(reader->model, reader->err) : VF_OK;
}
