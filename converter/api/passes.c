#include <string.h>

#include "converter/api/handle.h"

static const char *type_name(VfOptionType type)
{
    static const char *const name[VF_OPTION_TYPE_COUNT] = {
        [VF_OPTION_BOOL] = "bool",      [VF_OPTION_INT] = "int",
        [VF_OPTION_SIZE] = "size",      [VF_OPTION_DOUBLE] = "double",
        [VF_OPTION_STRING] = "string",  [VF_OPTION_CHOICE] = "choice",
        [VF_OPTION_LIST] = "list",      [VF_OPTION_MAYBE] = "file",
        [VF_OPTION_COUNT_UP] = "count",
    };
    return name[type];
}

/* What every pass takes besides its own options. */
static const VfOption common[] = {
    {"sites", "all, numbers and ranges (0-5,9), a name glob, windows-only or global-only",
     VF_OPTION_STRING, 0, "all", .value = "SITES"},
};

static void json_option(VfJson *json, const VfOption *row)
{
    vf_json_object_row(json, NULL);
    vf_json_string(json, "name", row->name);
    vf_json_string(json, "type", type_name(row->type));
    vf_json_string(json, "default", row->def);
    if (row->choices != NULL)
        vf_json_string(json, "choices", row->choices);
    if (row->min < 0 || row->min > 0 || row->max < 0 || row->max > 0) {
        vf_json_double(json, "min", row->min);
        vf_json_double(json, "max", row->max);
    }
    vf_json_string(json, "help", row->help);
    vf_json_end(json);
}

static void json_pass(VfJson *json, const VfPass *pass)
{
    vf_json_object(json, NULL);
    vf_json_string(json, "name", pass->name);
    vf_json_string(json, "summary", pass->summary);
    vf_json_string(json, "source", pass->source);
    vf_json_string(json, "exactness", vf_exactness_name(pass->exactness));
    vf_json_bool(json, "is_default", pass->is_default);
    vf_json_array(json, "options");
    for (int32_t i = 0; i < pass->n_option; i++)
        json_option(json, &pass->option[i]);
    json_option(json, &common[0]);
    vf_json_end(json);
    vf_json_end(json);
}

static VfStatus describe(const VfPass *pass, VitfoldReport *report, VfErr *err)
{
    VfText *text = &report->out;
    size_t n = (size_t)pass->n_option;
    VfOption *table = VF_NEW_ARRAY(report->arena, VfOption, n + 2);
    VF_TRY_ALLOC(table, err);
    if (n > 0)
        memcpy(table, pass->option, n * sizeof *table);
    table[n] = common[0];
    vf_text_printf(text, "%s (%s): %s\n", pass->name, vf_exactness_name(pass->exactness),
                   pass->summary);
    if (pass->source != NULL)
        vf_text_printf(text, "source: %s\n", pass->source);
    vf_text_string(text, pass->is_default ? "runs unless other passes are named\n"
                                          : "runs only when named\n");
    vf_text_string(text, "\noptions\n");
    vf_option_help(table, false, text);
    return VF_OK;
}

static void list(VitfoldReport *report)
{
    VfTable table;
    vf_table_init(&table, report->arena, "lll");
    for (int32_t i = 0; i < vf_pass_count; i++) {
        const VfPass *pass = vf_pass_table[i];
        vf_table_printf(&table, "%s", pass->name);
        vf_table_printf(&table, "%s%s", vf_exactness_name(pass->exactness),
                        pass->is_default ? ", default" : "");
        vf_table_printf(&table, "%s", pass->summary);
    }
    vf_table_print(&table, 0, &report->out);
}

static VfStatus fill(const char *name, VitfoldReport *report, VfErr *err)
{
    const VfPass *one = name == NULL ? NULL : vf_pass_find(name);
    if (name != NULL && one == NULL)
        return vf_pass_unknown(name, err);
    vf_json_array(&report->json, "passes");
    for (int32_t i = 0; i < vf_pass_count; i++)
        if (one == NULL || one == vf_pass_table[i])
            json_pass(&report->json, vf_pass_table[i]);
    vf_json_end(&report->json);
    if (one != NULL)
        return describe(one, report, err);
    list(report);
    return VF_OK;
}

int vitfold_list_passes(const char *name, VitfoldReport **result, VitfoldError *err)
{
    VitfoldReport *report;
    VfStatus status = vf_report_begin("vitfold.passes.1", &report, err);
    if (status != VF_OK)
        return (int)status;
    status = fill(name, report, err);
    return (int)vf_report_finish(report, status, result, err);
}
