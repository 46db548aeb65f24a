#include "converter/api/handle.h"

static VfStatus check(const char *path, const VitfoldLoadOptions *options, VitfoldReport *report,
                      int32_t *n_fault, VfErr *err)
{
    VfFaults faults = {0};
    VfImportOptions import = {0};
    if (options != NULL)
        import = (VfImportOptions){.linked_data_root = options->linked_data_root,
                                   .max_depth = options->max_nesting,
                                   .max_fields = options->max_fields};
    VF_TRY(vf_onnx_check(report->arena, path, &import, &faults, err));
    vf_json_string(&report->json, "file", path);
    vf_json_array(&report->json, "faults");
    for (int32_t i = 0; i < faults.n; i++) {
        vf_json_string(&report->json, NULL, faults.text[i]);
        vf_text_printf(&report->out, "%s: ", path);
        vf_text_visible(&report->out, vf_bytes(faults.text[i]));
        vf_text_char(&report->out, '\n');
    }
    vf_json_end(&report->json);
    if (faults.n == 0)
        vf_text_printf(&report->out, "%s: no faults\n", path);
    *n_fault = faults.n;
    return VF_OK;
}

int vitfold_check(const char *path, const VitfoldLoadOptions *options, VitfoldReport **result,
                  VitfoldError *err)
{
    VitfoldReport *report;
    int32_t n_fault = 0;
    VfStatus status = vf_report_begin("vitfold.check.1", &report, err);
    if (status != VF_OK)
        return (int)status;
    status = check(path, options, report, &n_fault, err);
    status = vf_report_finish(report, status, result, err);
    if (status == VF_OK && n_fault > 0)
        status = vf_fail(err, VF_INVALID, "'%s' has %d fault%s", path, n_fault,
                         n_fault == 1 ? "" : "s");
    return (int)status;
}
