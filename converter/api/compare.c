#include "converter/api/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One tensor of both sides. */
typedef struct Pair {
    VfBytes name;
    const VfArray *got, *want;
    const char *fault; /* why they cannot be compared, or NULL */
    VfDistance distance;
    bool has_noise;
    VfDistance noise;
    bool is_bad; /* beyond the limits */
} Pair;

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

static VfStatus judge_pair(const VfJudge *judge, Pair *pair, VfErr *err)
{
    const VfDistance *distance = &pair->distance;
    bool is_float = vf_dtype_info(pair->want->dtype)->is_float != 0;
    double rtol, atol;
    bool is_close = true;
    VF_TRY(limits_of(judge, pair->name, &rtol, &atol, err));
    switch (judge->strictness) {
    case VF_STRICT_BITS:
        is_close = distance->n_differ == 0;
        break;
    case VF_STRICT_CLOSE:
        if (is_float)
            is_close = distance->n_special_differ == 0 &&
                       distance->max_abs <= VF_CLOSE * fmax(1.0, distance->max_abs_b);
        else
            is_close = distance->n_differ == 0;
        break;
    case VF_STRICT_LIMITS:
        VF_TRY(vf_compare_is_close(pair->want->dtype, pair->want->count, pair->got->data,
                                   pair->want->data, rtol, atol, &is_close, err));
        break;
    case VF_STRICT_NONE:
        break;
    }
    pair->is_bad = !is_close;
    return VF_OK;
}

static VfStatus compare_pair(VfArena *arena, const VitfoldData *got, const VitfoldData *noise,
                             const VfNamedArray *want, const VfJudge *judge, Pair *pair,
                             VfErr *err)
{
    *pair = (Pair){.name = want->name, .want = &want->array,
                   .got = vf_data_find(got, want->name)};
    if (pair->got == NULL) {
        pair->fault = "missing";
    } else if (!is_same_type(pair->got, pair->want)) {
        pair->fault = vf_arena_printf(arena, "%s instead of %s", vf_array_text(arena, pair->got),
                                      vf_array_text(arena, pair->want));
        VF_TRY_ALLOC(pair->fault, err);
    }
    if (pair->fault != NULL) {
        pair->is_bad = judge->strictness != VF_STRICT_NONE;
        return VF_OK;
    }
    VF_TRY(measure(pair->got, pair->want, &pair->distance, err));
    const VfArray *other = noise == NULL ? NULL : vf_data_find(noise, want->name);
    pair->has_noise = other != NULL && is_same_type(other, pair->want);
    if (pair->has_noise)
        VF_TRY(measure(other, pair->want, &pair->noise, err));
    return judge_pair(judge, pair, err);
}

static const char *verdict(const Pair *pair)
{
    if (pair->is_bad)
        return "differs";
    if (pair->fault != NULL)
        return "not comparable";
    if (pair->distance.n_differ == 0)
        return "equal";
    if (pair->has_noise && pair->distance.max_abs <= 4 * pair->noise.max_abs)
        return "noise";
    return "close";
}

static void json_pair(VfJson *json, const Pair *pair)
{
    const VfDistance *d = &pair->distance;
    vf_json_object(json, NULL);
    vf_json_bytes(json, "name", pair->name);
    vf_json_string(json, "type", vf_array_text(json->text.arena, pair->want));
    vf_json_string(json, "verdict", verdict(pair));
    vf_json_string(json, "fault", pair->fault);
    if (pair->fault == NULL) {
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
        if (pair->has_noise)
            vf_json_double(json, "noise_max_abs", pair->noise.max_abs);
        else
            vf_json_null(json, "noise_max_abs");
    }
    vf_json_end(json);
}

static void table_head(VfTable *table)
{
    static const char *const head[] = {"tensor", "max abs", "mean abs", "max rel", "cosine",
                                       "ulp",    "top-1",   "noise",    "verdict"};
    for (size_t i = 0; i < sizeof head / sizeof head[0]; i++)
        vf_table_printf(table, "%s", head[i]);
}

static void table_pair(VfTable *table, const Pair *pair)
{
    const VfDistance *d = &pair->distance;
    vf_table_cell(table, pair->name);
    if (pair->fault != NULL) {
        for (int i = 0; i < 7; i++)
            vf_table_printf(table, "-");
        vf_table_printf(table, "%s: %s", verdict(pair), pair->fault);
        return;
    }
    vf_table_printf(table, "%.3g", d->max_abs);
    vf_table_printf(table, "%.3g", d->mean_abs);
    vf_table_printf(table, "%.3g", d->max_rel);
    vf_table_printf(table, "%.7f", d->cosine);
    vf_table_printf(table, "%.3g", d->max_ulp);
    vf_table_printf(table, "%lld/%lld", (long long)d->n_top1, (long long)d->n_row);
    vf_table_printf(table, pair->has_noise ? "%.3g" : "-", pair->noise.max_abs);
    if (pair->is_bad)
        vf_table_printf(table, "differs at %zu", d->worst);
    else
        vf_table_printf(table, "%s", verdict(pair));
}

VfStatus vf_compare_data(const VitfoldData *got, const VitfoldData *want, const VitfoldData *noise,
                         const VfJudge *judge, const char *key, VitfoldReport *report,
                         size_t *n_differ, VfErr *err)
{
    VfTable table;
    vf_table_init(&table, report->arena, "lrrrrrrrl");
    table_head(&table);
    vf_json_array(&report->json, key);
    for (size_t i = 0; i < want->n_array; i++) {
        Pair pair;
        if (compare_pair(report->arena, got, noise, &want->array[i], judge, &pair, err) != VF_OK)
            return vf_context(err, "output '%s'", vf_show(report->arena, want->array[i].name));
        *n_differ += pair.is_bad;
        json_pair(&report->json, &pair);
        table_pair(&table, &pair);
    }
    vf_json_end(&report->json);
    vf_table_print(&table, 0, &report->out);
    return VF_OK;
}
