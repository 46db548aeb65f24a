#include <stdlib.h>

#include "converter/api/handle.h"

VfStatus vf_report_begin(const char *schema, VitfoldReport **result, VfErr *err)
{
    VfArena *arena = vf_arena_new();
    VF_TRY_ALLOC(arena, err);
    VitfoldReport *report = VF_NEW(arena, VitfoldReport);
    if (report == NULL) {
        vf_arena_free(arena);
        return vf_no_memory(err);
    }
    report->arena = arena;
    vf_text_init(&report->out, arena);
    vf_json_begin(&report->json, arena, schema);
    *result = report;
    return VF_OK;
}

VfStatus vf_report_finish(VitfoldReport *report, VfStatus status, VitfoldReport **out, VfErr *err)
{
    VfStatus closed = VF_OK;
    if (status == VF_OK || status == VF_DIFFERS || status == VF_CANCELLED) {
        closed = vf_json_finish(&report->json, &report->document, err);
        if (closed == VF_OK)
            closed = vf_text_get(&report->out, &report->text, err);
        if (closed == VF_OK) {
            *out = report;
            return status;
        }
    }
    vitfold_report_free(report);
    return closed != VF_OK ? closed : status;
}

void vitfold_report_free(VitfoldReport *report)
{
    if (report != NULL)
        vf_arena_free(report->arena);
}

const char *vitfold_report_text(const VitfoldReport *report, size_t *size)
{
    *size = report->text.size;
    return report->text.data;
}

const char *vitfold_report_json(const VitfoldReport *report, size_t *size)
{
    *size = report->document.size;
    return report->document.data;
}

const char *vitfold_report_recipe(const VitfoldReport *report, size_t *size)
{
    *size = report->recipe.size;
    return report->recipe.data;
}

const char *vitfold_report_svg(const VitfoldReport *report, size_t *size)
{
    *size = report->svg.size;
    return report->svg.data;
}

const char *vitfold_report_trace(const VitfoldReport *report, size_t *size)
{
    *size = report->trace.size;
    return report->trace.data;
}

const char *vitfold_report_html(const VitfoldReport *report, size_t *size)
{
    *size = report->html.size;
    return report->html.data;
}
