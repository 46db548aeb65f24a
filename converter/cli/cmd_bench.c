#include "converter/cli/cli.h"

typedef struct Options {
    CommonOptions common;
    DataOptions data;
    int64_t n_thread, n_warmup, n_repeat;
    bool per_node;
    int no_fuse;
} Options;

static const VfOption table[] = {
    {"repeats", "runs that are timed", VF_OPTION_INT, offsetof(Options, n_repeat), "20", 1, 1e6,
     .letter = 'n'},
    {"warmup", "runs before", VF_OPTION_INT, offsetof(Options, n_warmup), "3", 1, 1e6},
    {"per-node", "also the time of each node", VF_OPTION_BOOL, offsetof(Options, per_node)},
    CLI_FUSE_ROW(Options),
    CLI_THREADS_ROW(Options),
    CLI_DATA_ROWS(Options),
    CLI_JSON_ROW,
    CLI_LOAD_ROWS,
    CLI_COMMON_ROWS,
    {0},
};

static int bench(Cli *cli, const Options *options, const VitfoldModel *model, VfErr *err)
{
    VitfoldData *in;
    VitfoldReport *report;
    int status = cli_data(cli, &options->data, model, true, &in, NULL, err);
    if (status != VITFOLD_OK)
        return status;
    VitfoldBenchOptions benching = {
        {.n_thread = (int)options->n_thread, .no_fuse = options->no_fuse}, options->n_warmup,
        options->n_repeat, options->per_node};
    status = vitfold_bench(model, in, &benching, &report, err);
    vitfold_data_free(in);
    if (status != VITFOLD_OK)
        return status;
    status = cli_show(cli, report, err);
    vitfold_report_free(report);
    return status;
}

static int run(Cli *cli, const void *options, const VfOptionList *path, VfErr *err)
{
    VitfoldModel *model;
    int status = cli_load(cli, path->item[0], &model, err);
    if (status != VITFOLD_OK)
        return status;
    status = bench(cli, options, model, err);
    vitfold_model_free(model);
    return status;
}

const VfCommand cmd_bench = {
    "bench", "MODEL", "latency, beside what this machine can do", 1, 1, table, sizeof(Options),
    run,
};
