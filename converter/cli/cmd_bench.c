#include "converter/cli/cli.h"

enum { MAX_MODELS = 2 };

enum { BESIDE_NOTHING, BESIDE_REFERENCE, BESIDE_UNFUSED }; /* choices of --beside */

typedef struct Options {
    CommonOptions common;
    DataOptions data;
    int64_t n_thread, n_warmup, n_repeat;
    const char *trace;
    bool per_node;
    int no_fuse, beside;
} Options;

static const VfOption table[] = {
    {"repeats", "runs that are timed, of each model", VF_OPTION_INT, offsetof(Options, n_repeat),
     "20", 1, 1e6, .letter = 'n'},
    {"warmup", "runs before", VF_OPTION_INT, offsetof(Options, n_warmup), "3", 1, 1e6},
    {"per-node", "also what each operator and each node takes and reaches", VF_OPTION_BOOL,
     offsetof(Options, per_node)},
    {"trace", "the fastest run step by step and thread by thread, for chrome://tracing or Perfetto",
     VF_OPTION_STRING, offsetof(Options, trace), .value = "FILE.json"},
    {"beside", "what one model is measured beside: itself with plain kernels, without BLAS, or "
     "with none of its steps fused", VF_OPTION_CHOICE, offsetof(Options, beside), "nothing",
     .choices = "nothing|reference|unfused"},
    CLI_FUSE_ROW(Options),
    CLI_THREADS_ROW(Options),
    CLI_DATA_ROWS(Options),
    CLI_JSON_ROW,
    CLI_LOAD_ROWS,
    CLI_COMMON_ROWS,
    {0},
};

/* What is measured: models, and data for each. */
typedef struct Sides {
    VitfoldModel *model[MAX_MODELS];
    VitfoldData *in[MAX_MODELS];
    VitfoldBenchModel bench[MAX_MODELS];
    size_t n;
} Sides;

static int load_sides(Cli *cli, const Options *options, const VfOptionList *path, Sides *sides,
                      VfErr *err)
{
    int status = VITFOLD_OK;
    VitfoldRunOptions run = {.n_thread = (int)options->n_thread, .no_fuse = options->no_fuse};
    for (size_t i = 0; i < path->n_item && status == VITFOLD_OK; i++) {
        status = cli_load(cli, path->item[i], &sides->model[i], err);
        if (status == VITFOLD_OK)
            status = cli_data(cli, &options->data, sides->model[i], true, &sides->in[i], NULL, err);
        sides->bench[i] = (VitfoldBenchModel){sides->model[i], sides->in[i], run};
    }
    sides->n = path->n_item;
    if (options->beside != BESIDE_NOTHING) {
        VitfoldBenchModel *other = &sides->bench[sides->n++];
        *other = sides->bench[0];
        other->run.reference |= options->beside == BESIDE_REFERENCE;
        other->run.no_fuse |= options->beside == BESIDE_UNFUSED;
    }
    return status;
}

static int bench(Cli *cli, const Options *options, const Sides *sides, VfErr *err)
{
    VitfoldReport *report;
    VitfoldBenchOptions benching = {options->n_warmup, options->n_repeat, options->per_node,
                                    options->trace != NULL};
    int status = vitfold_bench(sides->bench, sides->n, &benching, &report, err);
    if (status != VITFOLD_OK)
        return status;
    CliFile trace = {.path = options->trace};
    trace.text = vitfold_report_trace(report, &trace.size);
    status = cli_show_files(cli, report, &trace, 1, err);
    vitfold_report_free(report);
    return status;
}

static int check_words(const Cli *cli, const Options *options, const VfOptionList *path, VfErr *err)
{
    if (options->beside != BESIDE_NOTHING && path->n_item > 1)
        return (int)vf_fail(err, VF_USAGE, "bench takes two models, or one and --beside");
    return cli_check_files(cli, path, &options->trace, 1, err);
}

static int run(Cli *cli, const void *words, const VfOptionList *path, VfErr *err)
{
    const Options *options = words;
    Sides sides = {0};
    int status = check_words(cli, options, path, err);
    if (status == VITFOLD_OK)
        status = load_sides(cli, options, path, &sides, err);
    if (status == VITFOLD_OK)
        status = bench(cli, options, &sides, err);
    for (size_t i = 0; i < MAX_MODELS; i++) {
        vitfold_data_free(sides.in[i]);
        vitfold_model_free(sides.model[i]);
    }
    return status;
}

const VfCommand cmd_bench = {
    "bench", "MODEL [OTHER]", "latency, beside what this machine can do; of two models in turns", 1,
    MAX_MODELS, table, sizeof(Options), run,
};
