/* A measurement of one model, or of two in turns, and its renderings. All memory is the report's.
 */
#ifndef VF_API_BENCH_H
#define VF_API_BENCH_H

#include "converter/api/peaks.h"
#include "converter/api/session.h"

enum { VF_BENCH_MAX_SIDES = 2 };

/* What the steps of one node, or of all nodes of one operator, did in all timed runs. */
typedef struct VfBenchCost {
    double seconds, flops, bytes;
} VfBenchCost;

typedef struct VfBenchSide {
    const VitfoldBenchModel *given;
    VfSession session;
    double *seconds;    /* of each timed run, in their order */
    double *sorted;     /* the same, rising, once they are printed */
    VfBenchCost *node;  /* by number in the plan; NULL without a profile */
    VfRunOptions times; /* of the last run, as far as they are asked for */
    VfRunOptions best;  /* with a trace: of the fastest run */
    double best_seconds;
} VfBenchSide;

typedef struct VfBench {
    VitfoldReport *report;
    const VitfoldBenchOptions *options;
    VfBenchSide side[VF_BENCH_MAX_SIDES];
    size_t n_side, n_warmup, n_repeat;
    VfPeaks peaks;
    double peak_rss; /* bytes of the whole process after the runs, before the peaks are measured */
} VfBench;

/* The smallest of `n` rising values that `share` of all do not exceed. */
double vf_quantile(const double *sorted, size_t n, double share);

/* Sort `n` values upwards. */
void vf_sort_doubles(double *list, size_t n);

/* --- bench_report.c --- */

/* Everything but the trace. */
VfStatus vf_bench_print(VfBench *bench, VfErr *err);

/* --- bench_profile.c --- */

/* Tables of the operators and the nodes of one side, costliest first. */
VfStatus vf_bench_profile(VfBench *bench, const VfBenchSide *side, VfErr *err);

/* --- bench_trace.c --- */

/* The fastest run of each side in the form that Chrome and Perfetto show. */
VfStatus vf_bench_trace(const VfBench *bench, VfBytes *trace, VfErr *err);

#endif
