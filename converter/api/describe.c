#include <math.h>

#include "converter/api/handle.h"

/* Range of the values that are numbers; NaN when there are none. */
typedef struct Range {
    double least, most, mean;
    size_t n_finite;
} Range;

static Range range_of(const VfArray *array)
{
    Range range = {.least = (double)NAN, .most = (double)NAN, .mean = (double)NAN};
    for (size_t i = 0; i < array->count; i++) {
        double value = vf_array_get_double(array, i);
        if (!isfinite(value))
            continue;
        if (range.n_finite == 0 || value < range.least)
            range.least = value;
        if (range.n_finite == 0 || value > range.most)
            range.most = value;
        range.mean = range.n_finite++ == 0 ? 0 : range.mean;
        range.mean += (value - range.mean) / (double)range.n_finite;
    }
    return range;
}

/* "seq(3)": what is no tensor of numbers has no range. */
static const char *value_text(VfArena *arena, const VfFileValue *value)
{
    const char *text = value->kind == VF_FILE_NONE ? "none"
                       : value->kind == VF_FILE_TENSOR
                           ? vf_arena_printf(arena, "%s(%zu)",
                                             vf_dtype_info(value->tensor->dtype)->name,
                                             value->tensor->count)
                           : vf_arena_printf(arena, "seq(%zu)", value->n_item);
    return value->is_optional && text != NULL ? vf_arena_printf(arena, "optional(%s)", text) : text;
}

static const char *type_text(const VitfoldData *data, size_t i, VfArena *arena)
{
    const VfFileValue *value = vf_data_value(data, i);
    return value != NULL ? value_text(arena, value) : vf_array_text(arena, &data->array[i].array);
}

static void put_cell(VfTable *table, double value)
{
    if (isnan(value))
        vf_table_printf(table, "-");
    else
        vf_table_printf(table, "%.6g", value);
}

static void describe(const VitfoldData *data, VitfoldReport *report)
{
    VfTable table;
    VfJson *json = &report->json;
    static const char *const head[] = {"tensor", "type", "min", "max", "mean"};
    vf_table_init(&table, report->arena, "llrrr");
    for (size_t i = 0; i < sizeof head / sizeof head[0]; i++)
        vf_table_printf(&table, "%s", head[i]);
    vf_json_array(json, "tensors");
    for (size_t i = 0; i < data->n_array; i++) {
        const VfArray *array = &data->array[i].array;
        Range range = range_of(array);
        vf_table_cell(&table, data->array[i].name);
        vf_table_printf(&table, "%s", type_text(data, i, report->arena));
        put_cell(&table, range.least);
        put_cell(&table, range.most);
        put_cell(&table, range.mean);
        vf_json_object_row(json, NULL);
        vf_json_bytes(json, "name", data->array[i].name);
        vf_json_string(json, "type", type_text(data, i, report->arena));
        vf_json_double(json, "min", range.least);
        vf_json_double(json, "max", range.most);
        vf_json_double(json, "mean", range.mean);
        vf_json_int(json, "not_finite", (int64_t)(array->count - range.n_finite));
        vf_json_end(json);
    }
    vf_json_end(json);
    vf_table_print(&table, 0, &report->out);
}

int vitfold_describe(const VitfoldData *data, VitfoldReport **result, VitfoldError *err)
{
    VitfoldReport *report;
    VfStatus status = vf_report_begin("vitfold.run.1", &report, err);
    if (status != VF_OK)
        return (int)status;
    describe(data, report);
    return (int)vf_report_finish(report, VF_OK, result, err);
}
