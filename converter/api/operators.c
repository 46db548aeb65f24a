/* The table of operators: what the executor runs, from ops.def and lower.def. */
#include "converter/api/handle.h"
#include "converter/lower/lower.h"

/* Words for sets of dtypes, wide ones first. */
typedef struct DtypeSet {
    const char *word;
    uint32_t dtypes;
} DtypeSet;

#define BIT(dtype) (UINT32_C(1) << VF_##dtype)
#define FLOATS (BIT(F32) | BIT(F64) | BIT(F16) | BIT(BF16))
#define SIGNED (BIT(I8) | BIT(I16) | BIT(I32) | BIT(I64))
#define UNSIGNED (BIT(U8) | BIT(U16) | BIT(U32) | BIT(U64))
#define F8 (BIT(F8E4M3FN) | BIT(F8E4M3FNUZ) | BIT(F8E5M2) | BIT(F8E5M2FNUZ))
#define SMALL (BIT(U4) | BIT(I4) | BIT(F4E2M1) | BIT(U2) | BIT(I2))
#define BYTES \
    (FLOATS | SIGNED | UNSIGNED | F8 | BIT(F8E8M0) | BIT(BOOL) | BIT(C64) | BIT(C128))

static const DtypeSet set_table[] = {
    {"any", BYTES | SMALL}, {"bytes", BYTES},        {"numbers", FLOATS | SIGNED | UNSIGNED},
    {"floats", FLOATS},     {"ints", SIGNED | UNSIGNED}, {"f8", F8},
    {"small", SMALL},
};

enum { N_SET = sizeof set_table / sizeof set_table[0] };

/* "floats i32 i64" */
static const char *dtypes_text(VfArena *arena, uint32_t dtypes)
{
    VfText text;
    VfBytes bytes;
    vf_text_init(&text, arena);
    for (size_t i = 0; i < N_SET; i++) {
        if ((dtypes & set_table[i].dtypes) != set_table[i].dtypes)
            continue;
        vf_text_printf(&text, " %s", set_table[i].word);
        dtypes &= ~set_table[i].dtypes;
    }
    for (int i = 1; i < VF_DTYPE_COUNT; i++)
        if ((dtypes >> i & 1) != 0)
            vf_text_printf(&text, " %s", vf_dtype_info((VfDtype)i)->name);
    return vf_text_get(&text, &bytes, NULL) == VF_OK && bytes.size > 0 ? bytes.data + 1 : "";
}

static const char *opsets_text(VfArena *arena, const VfOpInfo *info)
{
    return info->domain[0] == '\0'
               ? vf_arena_printf(arena, "%d to %d", info->since, VF_OPSET_NEWEST)
               : vf_arena_printf(arena, "from %d", info->since);
}

static void json_row(VfJson *json, const VfOpInfo *info, bool is_run, uint32_t dtypes)
{
    vf_json_object_row(json, NULL);
    vf_json_string(json, "name", info->name);
    vf_json_string(json, "domain", info->domain);
    vf_json_int(json, "since", info->since);
    vf_json_bool(json, "is_run", is_run);
    vf_json_array_row(json, "dtypes");
    for (int i = 1; i < VF_DTYPE_COUNT; i++)
        if ((dtypes >> i & 1) != 0)
            vf_json_string(json, NULL, vf_dtype_info((VfDtype)i)->name);
    vf_json_end(json);
    vf_json_end(json);
}

static void legend(VfText *out)
{
    vf_text_string(out, "Dtypes are those of the first operand (Where: the second), or of the "
                        "result of an\noperator without operands; -: not executed.\n");
    for (size_t i = 0; i < N_SET; i++) {
        vf_text_printf(out, "%-8s", set_table[i].word);
        for (int k = 1; k < VF_DTYPE_COUNT; k++)
            if ((set_table[i].dtypes >> k & 1) != 0)
                vf_text_printf(out, " %s", vf_dtype_info((VfDtype)k)->name);
        vf_text_string(out, "\n");
    }
    vf_text_string(out, "\n");
}

static void list(VitfoldReport *report)
{
    VfTable table;
    static const char *const head[] = {"operator", "opsets", "dtypes"};
    vf_table_init(&table, report->arena, "lll");
    legend(&report->out);
    for (size_t i = 0; i < sizeof head / sizeof head[0]; i++)
        vf_table_printf(&table, "%s", head[i]);
    vf_json_int(&report->json, "newest_opset", VF_OPSET_NEWEST);
    vf_json_array(&report->json, "operators");
    for (int op = VF_OP_RETURN + 1; op < VF_OP_COUNT; op++) {
        const VfOpInfo *info = vf_op_info((VfOp)op);
        uint32_t dtypes;
        bool is_run = vf_lower_supports((VfOp)op, &dtypes);
        vf_table_printf(&table, "%s%s%s", info->domain, info->domain[0] == '\0' ? "" : ".",
                        info->name);
        vf_table_printf(&table, "%s", opsets_text(report->arena, info));
        vf_table_printf(&table, "%s", is_run ? dtypes_text(report->arena, dtypes) : "-");
        json_row(&report->json, info, is_run, dtypes);
    }
    vf_json_end(&report->json);
    vf_table_print(&table, 0, &report->out);
}

int vitfold_list_operators(VitfoldReport **result, VitfoldError *err)
{
    VitfoldReport *report;
    VfStatus status = vf_report_begin("vitfold.operators.1", &report, err);
    if (status != VF_OK)
        return (int)status;
    list(report);
    return (int)vf_report_finish(report, VF_OK, result, err);
}
