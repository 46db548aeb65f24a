#include "converter/api/signal.h"

#include "converter/api/calibration.h"

/* One model: read again with numbers for all sizes. `clean` is the caller's to free. */
static VfStatus look(VfArena *arena, const VitfoldModel *model, const VitfoldSignalOptions *options,
                     VfModel **clean, VfSignal *signal, VfErr *err)
{
    VitfoldDim *dim, *assumed;
    size_t n_dim, n_assumed;
    const VfCalibration *data;
    VfSiteList *sites = VF_NEW(arena, VfSiteList);
    VF_TRY_ALLOC(sites, err);
    signal->title = model->path;
    VF_TRY(vf_signal_dims(arena, model->ir, options, &dim, &n_dim, err));
    VF_TRY(vf_assume_dims(arena, model->ir, dim, n_dim, &assumed, &n_assumed, err));
    VF_TRY(vf_load_clean(model, assumed, n_assumed, clean, err));
    VF_TRY(vf_sites_find(arena, *clean, sites, err));
    VF_TRY(vf_signal_walk(arena, *clean, sites, signal, err));
    if (options->data == NULL)
        return VF_OK;
    VF_TRY(vf_calibration_new(arena, model, options->data, &data, err));
    return vf_signal_measure(arena, *clean, data, signal, err);
}

static VfStatus fill(VitfoldReport *report, VitfoldModel *const *model, size_t n_model,
                     const VitfoldSignalOptions *options, VfModel **clean, VfErr *err)
{
    VfSignal *signal = VF_NEW_ARRAY(report->arena, VfSignal, n_model);
    VF_TRY_ALLOC(signal, err);
    for (size_t i = 0; i < n_model; i++)
        if (look(report->arena, model[i], options, &clean[i], &signal[i], err) != VF_OK)
            return vf_context(err, "model '%s'", model[i]->path);
    vf_signals_json(signal, n_model, &report->json);
    vf_signals_text(signal, n_model, report->arena, &report->out);
    return vf_signals_svg(signal, n_model, report->arena, &report->svg, err);
}

int vitfold_signal(VitfoldModel *const *model, size_t n_model, const VitfoldSignalOptions *options,
                   VitfoldReport **result, VitfoldError *err)
{
    static const VitfoldSignalOptions none;
    VitfoldReport *report;
    VfStatus status = vf_report_begin("vitfold.signal.1", &report, err);
    if (status != VF_OK)
        return (int)status;
    VfModel **clean = VF_NEW_ARRAY(report->arena, VfModel *, n_model + 1);
    if (clean == NULL)
        status = vf_no_memory(err);
    else
        status = fill(report, model, n_model, options == NULL ? &none : options, clean, err);
    for (size_t i = 0; clean != NULL && i < n_model; i++)
        vf_model_free(clean[i]);
    return (int)vf_report_finish(report, status, result, err);
}
