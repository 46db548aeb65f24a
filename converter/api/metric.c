#include <math.h>
#include <string.h>

#include "converter/api/trial.h"

/* name; limits are the least value allowed, not the largest */
static const struct {
    const char *name;
    bool is_floor;
} metric_row[] = {
    [VF_METRIC_MAX_ABS] = {"max-abs", false}, [VF_METRIC_REL] = {"rel", false},
    [VF_METRIC_COSINE] = {"cosine", true},    [VF_METRIC_TOP1] = {"top1", true},
    [VF_METRIC_ULP] = {"ulp", false},         [VF_METRIC_ACCURACY] = {"accuracy", true},
};

const char *vf_metric_name(VfMetric metric)
{
    return metric_row[metric].name;
}

VfStatus vf_metric_find(const char *name, bool has_labels, VfMetric *metric, VfErr *err)
{
    int i = 0;
    while (i < VF_METRIC_COUNT && strcmp(metric_row[i].name, name) != 0)
        i++;
    if (i == VF_METRIC_COUNT)
        return vf_fail(err, VF_USAGE,
                       "unknown metric '%s': max-abs, rel, cosine, top1, ulp, accuracy", name);
    if (i == VF_METRIC_ACCURACY && !has_labels)
        return vf_fail(err, VF_USAGE, "metric 'accuracy' needs labelled data");
    *metric = (VfMetric)i;
    return VF_OK;
}

static double share(int64_t part, int64_t all)
{
    return all > 0 ? (double)part / (double)all : 1;
}

double vf_metric_value(const VfNumbers *numbers, VfMetric metric)
{
    const double value[] = {
        [VF_METRIC_MAX_ABS] = numbers->max_abs,
        [VF_METRIC_REL] = numbers->rel,
        [VF_METRIC_COSINE] = numbers->cosine,
        [VF_METRIC_TOP1] = share(numbers->n_top1, numbers->n_row),
        [VF_METRIC_ULP] = numbers->ulp,
        [VF_METRIC_ACCURACY] = share(numbers->n_hit, numbers->n_sample),
    };
    return value[metric];
}

bool vf_numbers_are_broken(const VfNumbers *numbers)
{
    return numbers->fault != NULL || numbers->n_special > 0;
}

bool vf_metric_breaks(const VfNumbers *numbers, VfMetric metric, double limit)
{
    double value = vf_metric_value(numbers, metric);
    bool is_kept = metric_row[metric].is_floor ? value >= limit : value <= limit;
    return vf_numbers_are_broken(numbers) || !is_kept;
}

double vf_metric_loss(const VfNumbers *numbers, const VfNumbers *original, VfMetric metric)
{
    double value = vf_metric_value(numbers, metric);
    if (vf_numbers_are_broken(numbers))
        return (double)INFINITY;
    if (metric == VF_METRIC_ACCURACY)
        return vf_metric_value(original, metric) - value;
    return metric_row[metric].is_floor ? 1 - value : value;
}

void vf_numbers_object(VfJson *json, const char *key, const VfNumbers *numbers, bool known)
{
    if (!known) {
        vf_json_null(json, key);
        return;
    }
    vf_json_object(json, key);
    vf_numbers_json(json, numbers);
    vf_json_end(json);
}

void vf_numbers_json(VfJson *json, const VfNumbers *numbers)
{
    vf_json_double(json, "max_abs", numbers->max_abs);
    vf_json_double(json, "rel", numbers->rel);
    vf_json_double(json, "cosine", numbers->cosine);
    vf_json_double(json, "ulp", numbers->ulp);
    vf_json_int(json, "rows", numbers->n_row);
    vf_json_int(json, "top1_agree", numbers->n_top1);
    vf_json_int(json, "not_finite", (int64_t)numbers->n_special);
    vf_json_string(json, "fault", numbers->fault);
    if (numbers->n_sample == 0) {
        vf_json_null(json, "hits");
        vf_json_null(json, "accuracy");
        return;
    }
    vf_json_int(json, "hits", numbers->n_hit);
    vf_json_double(json, "accuracy", vf_metric_value(numbers, VF_METRIC_ACCURACY));
}

void vf_numbers_head(VfTable *table, bool has_labels)
{
    static const char *const head[] = {"max abs", "rel", "cosine", "ulp", "top-1"};
    for (size_t i = 0; i < sizeof head / sizeof *head; i++)
        vf_table_printf(table, "%s", head[i]);
    if (has_labels)
        vf_table_printf(table, "accuracy");
}

void vf_numbers_cells(VfTable *table, const VfNumbers *numbers, bool has_labels)
{
    if (numbers->fault != NULL) {
        vf_table_printf(table, "%s", numbers->fault);
        for (int i = 0; i < 4; i++)
            vf_table_printf(table, "-");
    } else {
        bool is_finite = numbers->n_special == 0;
        vf_table_printf(table, is_finite ? "%.3g" : "not finite", numbers->max_abs);
        vf_table_printf(table, "%.3g", numbers->rel);
        vf_table_printf(table, "%.7f", numbers->cosine);
        vf_table_printf(table, "%.3g", numbers->ulp);
        vf_table_printf(table, "%lld/%lld", (long long)numbers->n_top1,
                        (long long)numbers->n_row);
    }
    if (has_labels)
        vf_table_printf(table, "%.4f", vf_metric_value(numbers, VF_METRIC_ACCURACY));
}
