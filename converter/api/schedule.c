/* How training fades a norm out: the laws of progressive-norm's lambda. */
#include <math.h>

#include "converter/api/handle.h"
#include "passes/repbn/repbn.h"

/* A table of up to so many steps of training has all of them. */
enum { N_ROW = 20, N_STEP_DEFAULT = 4 };

static const char *const kind_name[] = {"linear", "cosine", "step"};

double vitfold_norm_lambda(int kind, int64_t n_step, int64_t t, int64_t total)
{
    bool is_right = kind >= 0 && kind < VF_REPBN_SCHEDULE_COUNT && total > 0 &&
                    (n_step > 0 || kind != VF_REPBN_STEP);
    return is_right ? vf_repbn_lambda((VfRepBnSchedule)kind, n_step, t, total) : (double)NAN;
}

static VfStatus check(const VitfoldScheduleOptions *options, VfErr *err)
{
    if (options->total <= 0)
        return vf_fail(err, VF_USAGE, "a schedule of %lld steps has no end",
                       (long long)options->total);
    if (options->kind < 0 || options->kind >= VF_REPBN_SCHEDULE_COUNT)
        return vf_fail(err, VF_USAGE, "there is no schedule %d", options->kind);
    return options->n_step < 0 ? vf_fail(err, VF_USAGE, "a schedule needs at least one stair, not "
                                         "%lld", (long long)options->n_step)
                               : VF_OK;
}

/* floor(i total / n) for i <= n */
static int64_t at_share(int64_t i, int64_t n, int64_t total)
{
    return total / n * i + total % n * i / n;
}

static VfStatus fill(const VitfoldScheduleOptions *options, VitfoldReport *report, VfErr *err)
{
    VfTable table;
    VF_TRY(check(options, err));
    int64_t n_step = options->n_step > 0 ? options->n_step : N_STEP_DEFAULT;
    int64_t total = options->total, n = total < N_ROW ? total : N_ROW;
    vf_json_string(&report->json, "kind", kind_name[options->kind]);
    vf_json_int(&report->json, "total", total);
    if (options->kind == VF_REPBN_STEP)
        vf_json_int(&report->json, "steps", n_step);
    vf_json_array(&report->json, "rows");
    vf_table_init(&table, report->arena, "rr");
    vf_table_printf(&table, "t");
    vf_table_printf(&table, "lambda");
    for (int64_t i = 0; i <= n; i++) {
        int64_t t = at_share(i, n, total);
        double lambda = vitfold_norm_lambda(options->kind, n_step, t, total);
        vf_table_printf(&table, "%lld", (long long)t);
        vf_table_printf(&table, "%.6f", lambda);
        vf_json_object_row(&report->json, NULL);
        vf_json_int(&report->json, "t", t);
        vf_json_double(&report->json, "lambda", lambda);
        vf_json_end(&report->json);
    }
    vf_json_end(&report->json);
    vf_table_print(&table, 0, &report->out);
    return VF_OK;
}

int vitfold_norm_schedule(const VitfoldScheduleOptions *options, VitfoldReport **result,
                          VitfoldError *err)
{
    VitfoldReport *report;
    VfStatus status = vf_report_begin("vitfold.schedule.1", &report, err);
    if (status != VF_OK)
        return (int)status;
    status = fill(options, report, err);
    return (int)vf_report_finish(report, status, result, err);
}
