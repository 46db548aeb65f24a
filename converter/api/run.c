#include "converter/api/session.h"

static VfStatus take_saved(const VfSession *session, VitfoldData *out, VfErr *err)
{
    const VfPlan *plan = session->plan;
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

static VfStatus run_once(VfSession *session, VitfoldData *out, VfErr *err)
{
    VF_TRY(vf_session_run(session, NULL, err));
    for (int32_t i = 0; i < session->plan->n_output; i++) {
        VfArray array;
        VF_TRY(vf_session_output(session, i, &array, err));
        VF_TRY(vf_data_copy(out, session->plan->output[i].name, &array, err));
    }
    return take_saved(session, out, err);
}

int vitfold_run(const VitfoldModel *model, const VitfoldData *in, VitfoldData *out,
                const VitfoldRunOptions *options, VitfoldError *err)
{
    VfSession session;
    VfStatus status = vf_session_open(model, in, options, &session, err);
    if (status != VF_OK)
        return (int)status;
    status = run_once(&session, out, err);
    vf_session_close(&session);
    return (int)status;
}
