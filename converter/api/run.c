#include "converter/api/session.h"

static VfStatus take_saved(const VfSession *session, VitfoldData *out, VfErr *err)
{
    const VfPlan *plan = session->plan;
    for (size_t i = 0; i < session->n_saved; i++)
        if (vf_data_find(out, session->saved[i].name) == NULL)
            VF_TRY(vf_data_copy(out, session->saved[i].name, &session->saved[i].array, err));
    for (int32_t i = 0; i < plan->n_saved; i++) {
        const VfPlanTensor *tensor = &plan->saved[i];
        VfArray array;
        if (vf_data_find(out, tensor->name) != NULL)
            continue;
        VF_TRY(vf_array_init(&array, session->arena, tensor->dtype, tensor->rank, tensor->dims,
                             vf_run_saved(session->run, i), err));
        VF_TRY(vf_data_copy(out, tensor->name, &array, err));
    }
    return VF_OK;
}

/* An output that is no tensor of numbers, or that the model declares as an optional. */
static VfStatus take_list(const VfSession *session, const VfPlanResult *result, bool is_optional,
                          VitfoldData *out, VfErr *err)
{
    VfFileValue *item = VF_NEW_ARRAY(session->arena, VfFileValue, (size_t)result->n);
    VfTensor *tensor = VF_NEW_ARRAY(session->arena, VfTensor, (size_t)result->n);
    VF_TRY_ALLOC(item, err);
    VF_TRY_ALLOC(tensor, err);
    for (int32_t i = 0; i < result->n; i++) {
        VfArray a;
        VF_TRY(vf_session_output(session, result->first + i, &a, err));
        tensor[i] = (VfTensor){a.dtype, a.rank, a.dims, a.count, a.bytes, a.data, VF_STORAGE_LENT};
        item[i] = (VfFileValue){.kind = VF_FILE_TENSOR, .tensor = &tensor[i]};
    }
    VfFileValue value = {.kind = VF_FILE_SEQUENCE, .n_item = (size_t)result->n, .item = item};
    if (result->kind == VF_PLAN_TENSOR)
        value = item[0];
    else if (result->kind == VF_PLAN_ABSENT)
        value.kind = VF_FILE_NONE;
    value.is_optional = is_optional;
    return vf_data_put_value(out, result->name, &value, err);
}

static bool is_optional_output(const VfGraph *graph, int32_t index)
{
    const VfValue *value = vf_node_in(graph->ret, index);
    VfRaw raw = value->raw_info;
    if (graph->output_info != NULL && graph->output_info[index].raw_info.size > 0)
        raw = graph->output_info[index].raw_info;
    return vf_onnx_is_optional(&value->type, raw.data, raw.size);
}

static VfStatus take_result(const VfSession *session, const VfGraph *graph, int32_t index,
                            VitfoldData *out, VfErr *err)
{
    const VfPlanResult *result = &session->plan->result[index];
    VfArray array;
    bool is_optional = is_optional_output(graph, index);
    if (is_optional || result->kind != VF_PLAN_TENSOR)
        return take_list(session, result, is_optional, out, err);
    VF_TRY(vf_session_output(session, result->first, &array, err));
    if (array.dtype == VF_STRING)
        return take_list(session, result, false, out, err);
    return vf_data_copy(out, result->name, &array, err);
}

static VfStatus run_once(VfSession *session, const VfGraph *graph, VitfoldData *out, VfErr *err)
{
    VF_TRY(vf_session_run(session, NULL, err));
    for (int32_t i = 0; i < session->plan->n_result; i++)
        VF_TRY(take_result(session, graph, i, out, err));
    return take_saved(session, out, err);
}

int vitfold_run(const VitfoldModel *model, const VitfoldData *in, VitfoldData *out,
                const VitfoldRunOptions *options, VitfoldError *err)
{
    VfSession session;
    VfStatus status = vf_session_open(model, in, options, &session, err);
    if (status != VF_OK)
        return (int)status;
    status = run_once(&session, model->ir->graph, out, err);
    vf_session_close(&session);
    return (int)status;
}
