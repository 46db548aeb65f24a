#include "converter/api/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "passes/ir/walk.h"

static bool is_same_type(const VfArray *a, const VfArray *b)
{
    return a->dtype == b->dtype && a->rank == b->rank &&
           (a->rank == 0 || memcmp(a->dims, b->dims, (size_t)a->rank * sizeof *a->dims) == 0);
}

static VfStatus measure(const VfArray *got, const VfArray *want, VfDistance *distance, VfErr *err)
{
    size_t row = want->rank > 0 ? (size_t)want->dims[want->rank - 1] : 0;
    return vf_compare(want->dtype, want->count, row, got->data, want->data, distance, err);
}

/* The limits of one output: its own row, or those of all. */
static VfStatus limits_of(const VfJudge *judge, VfBytes name, double *rtol, double *atol,
                          VfErr *err)
{
    *rtol = judge->rtol;
    *atol = judge->atol;
    for (size_t i = 0; i < judge->n_limit; i++) {
        const char *equals = strrchr(judge->limit[i], '=');
        VfBytes output = {judge->limit[i], equals == NULL ? 0 : (size_t)(equals - judge->limit[i])};
        char *end = NULL;
        if (equals == NULL)
            return vf_fail(err, VF_USAGE, "limit '%s' is not OUTPUT=RTOL,ATOL", judge->limit[i]);
        if (!vf_bytes_is_equal(output, name))
            continue;
        *rtol = strtod(equals + 1, &end);
        bool is_good = *end == ',' && end != equals + 1;
        const char *second = end + 1;
        if (is_good)
            *atol = strtod(second, &end);
        if (!is_good || end == second || *end != '\0' || !(*rtol >= 0 && *atol >= 0))
            return vf_fail(err, VF_USAGE, "limit '%s' is not OUTPUT=RTOL,ATOL", judge->limit[i]);
    }
    return VF_OK;
}

/* Half the distance of neighbours, over the number. */
static double rounding_of(VfDtype dtype)
{
    return dtype == VF_BF16 ? 0x1p-8 : dtype == VF_F16 ? 0x1p-11 : 0x1p-24;
}

double vf_close_limit(VfDtype dtype, VfDtype computed)
{
    return fmax(1e-4, 8 * fmax(rounding_of(dtype), rounding_of(computed)));
}

static VfStatus take_coarser(void *self, const VfNode *node, VfErr *err)
{
    VfDtype *dtype = self;
    (void)err;
    for (int32_t i = 0; i < node->n_out; i++) {
        const VfValue *out = node->out[i];
        if (out != NULL && rounding_of(out->type.dtype) > rounding_of(*dtype))
            *dtype = out->type.dtype;
    }
    return VF_OK;
}

VfStatus vf_computed_dtype(const VfModel *model, VfDtype *dtype, VfErr *err)
{
    *dtype = VF_F32;
    return vf_graph_each_node(model->graph, take_coarser, dtype, err);
}

static bool is_within_close(const VfMoved *moved)
{
    return moved->distance.max_abs <= moved->close * fmax(1.0, moved->distance.max_abs_b);
}

static VfStatus judge_moved(const VfJudge *judge, VfMoved *moved, VfErr *err)
{
    const VfDistance *distance = &moved->distance;
    bool is_float = vf_dtype_info(moved->want->dtype)->is_float != 0;
    double rtol, atol;
    bool is_close = true;
    moved->close = vf_close_limit(moved->want->dtype, judge->computed);
    VF_TRY(limits_of(judge, moved->name, &rtol, &atol, err));
    switch (judge->strictness) {
    case VF_STRICT_BITS:
        is_close = distance->n_differ == 0;
        break;
    case VF_STRICT_CLOSE:
        if (is_float)
            is_close = distance->n_special_differ == 0 && is_within_close(moved);
        else
            is_close = distance->n_differ == 0;
        break;
    case VF_STRICT_LIMITS:
        VF_TRY(vf_compare_is_close(moved->want->dtype, moved->want->count, moved->got->data,
                                   moved->want->data, rtol, atol, &is_close, err));
        break;
    case VF_STRICT_NONE:
        break;
    }
    moved->is_bad = !is_close;
    return VF_OK;
}

VfStatus vf_moved_measure(VfArena *arena, const VfArray *got, const VfArray *noise,
                          const VfNamedArray *want, VfMoved *moved, VfErr *err)
{
    *moved = (VfMoved){.name = want->name, .want = &want->array, .got = got};
    if (got == NULL) {
        moved->fault = "missing";
    } else if (!is_same_type(got, moved->want)) {
        moved->fault = vf_arena_printf(arena, "%s instead of %s", vf_array_text(arena, got),
                                       vf_array_text(arena, moved->want));
        VF_TRY_ALLOC(moved->fault, err);
    }
    if (moved->fault != NULL)
        return VF_OK;
    moved->close = vf_close_limit(moved->want->dtype, VF_UNDEFINED);
    VF_TRY(measure(got, moved->want, &moved->distance, err));
    moved->has_noise = noise != NULL && is_same_type(noise, moved->want);
    return moved->has_noise ? measure(noise, moved->want, &moved->noise, err) : VF_OK;
}

static VfStatus compare_one(VfArena *arena, const VitfoldData *got, const VitfoldData *noise,
                            const VfNamedArray *want, const VfJudge *judge, VfMoved *moved,
                            VfErr *err)
{
    const VfArray *again = noise == NULL ? NULL : vf_data_find(noise, want->name);
    VF_TRY(vf_moved_measure(arena, vf_data_find(got, want->name),
                            judge->has_got_noise ? NULL : again, want, moved, err));
    if (judge->has_got_noise && moved->fault == NULL && again != NULL &&
        is_same_type(again, moved->got)) {
        moved->has_noise = true;
        VF_TRY(measure(again, moved->got, &moved->noise, err));
    }
    if (moved->fault == NULL)
        return judge_moved(judge, moved, err);
    moved->is_bad = judge->strictness != VF_STRICT_NONE;
    return VF_OK;
}

const char *vf_moved_verdict(const VfMoved *moved)
{
    const VfDistance *distance = &moved->distance;
    if (moved->is_bad)
        return "differs";
    if (moved->fault != NULL)
        return "not comparable";
    if (distance->n_differ == 0)
        return "equal";
    if (distance->n_special_differ > 0)
        return "not finite";
    if (moved->has_noise && distance->max_abs <= 4 * moved->noise.max_abs)
        return "noise";
    return is_within_close(moved) ? "close" : "moved";
}

void vf_moved_json(VfJson *json, const VfMoved *moved)
{
    const VfDistance *d = &moved->distance;
    vf_json_bytes(json, "name", moved->name);
    vf_json_string(json, "type", vf_array_text(json->text.arena, moved->want));
    vf_json_string(json, "verdict", vf_moved_verdict(moved));
    vf_json_string(json, "fault", moved->fault);
    if (moved->fault != NULL)
        return;
    vf_json_int(json, "elements", (int64_t)d->count);
    vf_json_int(json, "differ", (int64_t)d->n_differ);
    vf_json_double(json, "max_abs", d->max_abs);
    vf_json_double(json, "mean_abs", d->mean_abs);
    vf_json_double(json, "max_rel", d->max_rel);
    vf_json_double(json, "norm_rel", d->norm_rel);
    vf_json_double(json, "cosine", d->cosine);
    vf_json_double(json, "max_ulp", d->max_ulp);
    vf_json_int(json, "rows", d->n_row);
    vf_json_int(json, "top1_agree", d->n_top1);
    vf_json_int(json, "worst", (int64_t)d->worst);
    if (!moved->has_noise) {
        vf_json_null(json, "noise_max_abs");
        vf_json_null(json, "noise_norm_rel");
        return;
    }
    vf_json_double(json, "noise_max_abs", moved->noise.max_abs);
    vf_json_double(json, "noise_norm_rel", moved->noise.norm_rel);
}

void vf_moved_head(VfTable *table)
{
    static const char *const head[] = {"tensor", "max abs", "mean abs", "max rel", "cosine",
                                       "ulp",    "top-1",   "noise",    "verdict"};
    for (size_t i = 0; i < sizeof head / sizeof head[0]; i++)
        vf_table_printf(table, "%s", head[i]);
}

void vf_moved_cells(VfTable *table, const VfMoved *moved)
{
    const VfDistance *d = &moved->distance;
    vf_table_cell(table, moved->name);
    if (moved->fault != NULL) {
        for (int i = 0; i < 7; i++)
            vf_table_printf(table, "-");
        vf_table_printf(table, "%s: %s", vf_moved_verdict(moved), moved->fault);
        return;
    }
    vf_table_printf(table, "%.3g", d->max_abs);
    vf_table_printf(table, "%.3g", d->mean_abs);
    vf_table_printf(table, "%.3g", d->max_rel);
    vf_table_printf(table, "%.7f", d->cosine);
    vf_table_printf(table, "%.3g", d->max_ulp);
    vf_table_printf(table, "%lld/%lld", (long long)d->n_top1, (long long)d->n_row);
    vf_table_printf(table, moved->has_noise ? "%.3g" : "-", moved->noise.max_abs);
    if (moved->is_bad)
        vf_table_printf(table, "differs at %zu", d->worst);
    else
        vf_table_printf(table, "%s", vf_moved_verdict(moved));
}

VfStatus vf_compare_data(const VitfoldData *got, const VitfoldData *want, const VitfoldData *noise,
                         const VfJudge *judge, const char *key, VitfoldReport *report,
                         size_t *n_differ, VfErr *err)
{
    VfTable table;
    vf_table_init(&table, report->arena, VF_MOVED_ALIGN);
    vf_moved_head(&table);
    vf_json_array(&report->json, key);
    for (size_t i = 0; i < want->n_array; i++) {
        VfMoved moved;
        if (compare_one(report->arena, got, noise, &want->array[i], judge, &moved, err) != VF_OK)
            return vf_context(err, "output '%s'", vf_show(report->arena, want->array[i].name));
        *n_differ += moved.is_bad;
        vf_json_object(&report->json, NULL);
        vf_moved_json(&report->json, &moved);
        vf_json_end(&report->json);
        vf_moved_cells(&table, &moved);
    }
    vf_json_end(&report->json);
    vf_table_print(&table, 0, &report->out);
    return VF_OK;
}
