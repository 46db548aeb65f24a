/* How far weights moved, as a table. */
#include <math.h>

#include "converter/report/html/page.h"
#include "passes/ir/vft_print.h"

static const char *const head[] = {"weight", "type", "elements that differ", "norm of the change",
                                   "relative to before", "largest change"};

void vf_page_weights_init(VfPageTable *table, VfArena *arena)
{
    vf_page_table_init(table, arena, "llrrrr", head);
    table->caption = "Weights";
    table->is_searchable = table->is_wide = true;
    table->left_out = "weights";
}

/* "768×768 f32", as drawings say it. */
static VfStatus type_text(VfArena *arena, const VfValue *value, VfBytes *out, VfErr *err)
{
    VfText text;
    const VfTensor *tensor = value->tensor;
    vf_text_init(&text, arena);
    for (int32_t i = 0; i < tensor->rank; i++)
        vf_text_printf(&text, "%s%lld", i > 0 ? "\xc3\x97" : "", (long long)tensor->dims[i]);
    vf_text_printf(&text, "%s %s", tensor->rank == 0 ? "scalar" : "",
                   vf_dtype_info(tensor->dtype)->name);
    return vf_text_get(&text, out, err);
}

/* "a → b", or only one of them where they read alike or one is not there. */
static VfStatus pair(VfPageTable *table, VfBytes a, VfBytes b, bool is_code, VfErr *err)
{
    VfText text;
    VfPageCell cell = {.is_code = is_code};
    vf_text_init(&text, table->arena);
    vf_text_add(&text, a.data, a.size);
    if (b.size > 0 && !vf_bytes_is_equal(a, b)) {
        vf_text_string(&text, a.size > 0 ? " → " : "");
        vf_text_add(&text, b.data, b.size);
    }
    VF_TRY(vf_text_get(&text, &cell.text, err));
    return vf_page_cell(table, cell, err);
}

static VfStatus number(VfPageTable *table, double value, VfErr *err)
{
    return isinf(value) ? vf_page_cellf(table, err, "from 0")
                        : vf_page_cellf(table, err, "%.3g", value);
}

static VfStatus measures(VfPageTable *table, const VfValue *from, const VfValue *to, VfErr *err)
{
    VfWeightChange change = {0};
    if (from != NULL && to != NULL)
        change = vf_weight_change(from->tensor, to->tensor);
    if (!change.is_measured) {
        VF_TRY(vf_page_cellf(table, err, "%s", from == NULL ? "new" : to == NULL
                                                                     ? "gone" : "another type"));
        for (int i = 0; i < 3; i++)
            VF_TRY(vf_page_cell(table, (VfPageCell){.text = {"", 0}}, err));
        return VF_OK;
    }
    VF_TRY(vf_page_cellf(table, err, "%zu of %zu", change.n_differ, from->tensor->count));
    VF_TRY(number(table, change.norm, err));
    VF_TRY(number(table, change.norm_rel, err));
    return number(table, change.max_abs, err);
}

VfStatus vf_page_weight(VfPageTable *table, const VfValue *from, const VfValue *to, VfErr *err)
{
    VfBytes none = {"", 0}, type_a = none, type_b = none;
    VfBytes a = from == NULL ? none : vf_bytes(vf_value_label(from));
    VfBytes b = to == NULL ? none : vf_bytes(vf_value_label(to));
    if (from != NULL)
        VF_TRY(type_text(table->arena, from, &type_a, err));
    if (to != NULL)
        VF_TRY(type_text(table->arena, to, &type_b, err));
    VF_TRY(pair(table, a, b, true, err));
    VF_TRY(pair(table, type_a, type_b, false, err));
    return measures(table, from, to, err);
}
