#include "converter/api/inspect.h"

/* Costs need numbers for all sizes: where the model leaves some open, read it again with them
 * filled in. A model that does not fit those sizes has sites and parameters, but no work. */
static VfStatus find_cost(VfArena *arena, VfInspection *inspection, const VitfoldDim *dim,
                          size_t n_dim, VfErr *err)
{
    VfModel *fixed = NULL;
    VF_TRY(vf_assume_dims(arena, inspection->model->ir, dim, n_dim, &inspection->assumed,
                          &inspection->n_assumed, err));
    if (inspection->n_assumed > 0) {
        VfStatus status = vf_load_clean(inspection->model, inspection->assumed,
                                        inspection->n_assumed, &fixed, err);
        if (status == VF_INVALID || status == VF_UNSUPPORTED)
            return vf_cost_of(arena, inspection->clean, &inspection->cost, err);
        VF_TRY(status);
    }
    const VfModel *model = fixed == NULL ? inspection->clean : fixed;
    inspection->has_cost = true;
    VfStatus status = vf_cost_of(arena, model, &inspection->cost, err);
    if (status == VF_OK)
        status = vf_cost_by_op(arena, model, &inspection->op_cost, &inspection->n_op_cost, err);
    vf_model_free(fixed);
    return status;
}

VfStatus vf_inspection_open(VfArena *arena, const VitfoldModel *model, const VitfoldDim *dim,
                            size_t n_dim, VfInspection *inspection, VfErr *err)
{
    *inspection = (VfInspection){.model = model, .title = model->path};
    VF_TRY(vf_load_again(model, NULL, 0, &inspection->clean, err));
    VF_TRY(vf_sites_find(arena, inspection->clean, &inspection->sites, err));
    VF_TRY(vf_count_ops(arena, model->ir, &inspection->op, &inspection->n_op,
                        &inspection->n_node, err));
    return find_cost(arena, inspection, dim, n_dim, err);
}

void vf_inspection_close(VfInspection *inspection)
{
    vf_model_free(inspection->clean);
    inspection->clean = NULL;
}

static VfStatus fill(VitfoldReport *report, VitfoldModel *const *model, size_t n_model,
                     const VitfoldDim *dim, size_t n_dim, VfInspection *inspection, VfErr *err)
{
    for (size_t i = 0; i < n_model; i++)
        if (vf_inspection_open(report->arena, model[i], dim, n_dim, &inspection[i], err) != VF_OK)
            return vf_context(err, "model '%s'", model[i]->path);
    vf_json_array(&report->json, "models");
    for (size_t i = 0; i < n_model; i++)
        vf_inspection_json(&inspection[i], &report->json);
    vf_json_end(&report->json);
    if (n_model == 1)
        vf_inspection_text(&inspection[0], report->arena, &report->out);
    else
        vf_inspections_text(inspection, n_model, report->arena, &report->out);
    for (size_t i = 0; i < n_model; i++)
        VF_TRY(vf_labels_check(inspection[i].clean->labels, err));
    return VF_OK;
}

int vitfold_inspect(VitfoldModel *const *model, size_t n_model, const VitfoldDim *dim,
                    size_t n_dim, VitfoldReport **result, VitfoldError *err)
{
    VitfoldReport *report;
    VfStatus status = vf_report_begin("vitfold.inspect.1", &report, err);
    if (status != VF_OK)
        return (int)status;
    VfInspection *inspection = VF_NEW_ARRAY(report->arena, VfInspection, n_model);
    if (inspection == NULL)
        status = vf_no_memory(err);
    else
        status = fill(report, model, n_model, dim, n_dim, inspection, err);
    for (size_t i = 0; inspection != NULL && i < n_model; i++)
        vf_inspection_close(&inspection[i]);
    return (int)vf_report_finish(report, status, result, err);
}
