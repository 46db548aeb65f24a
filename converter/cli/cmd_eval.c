#include "converter/cli/cli.h"

typedef struct Options {
    CommonOptions common;
    const char *data, *output;
    int64_t batch, n_sample, n_thread;
} Options;

static const VfOption table[] = {
    {"data", "labelled data: arrays x and y", VF_OPTION_STRING, offsetof(Options, data),
     .letter = 'd', .value = "FILE.npz"},
    {"output", "the output with the scores (else the first)", VF_OPTION_STRING,
     offsetof(Options, output), .value = "NAME"},
    {"batch", "samples a run; 0: what the model says, or 64", VF_OPTION_INT,
     offsetof(Options, batch), "0", 0, 1e6},
    {"samples", "only the first N; 0: all", VF_OPTION_INT, offsetof(Options, n_sample), "0", 0,
     1e15},
    CLI_THREADS_ROW(Options),
    CLI_JSON_ROW,
    CLI_LINKED_ROW,
    CLI_COMMON_ROWS,
    {0},
};

static int run(Cli *cli, const void *words, const VfOptionList *path, VfErr *err)
{
    const Options *options = words;
    VitfoldModel *model;
    VitfoldReport *report;
    if (options->data == NULL)
        return (int)vf_fail(err, VF_USAGE, "eval needs --data");
    int status = cli_load(cli, path->item[0], &model, err);
    if (status != VITFOLD_OK)
        return status;
    VitfoldEvalOptions evaluating = {{.n_thread = (int)options->n_thread}, options->batch,
                                     options->n_sample, options->output};
    status = vitfold_eval(model, options->data, &evaluating, &report, err);
    if (status == VITFOLD_OK) {
        status = cli_show(cli, report, err);
        vitfold_report_free(report);
    }
    vitfold_model_free(model);
    return status;
}

const VfCommand cmd_eval = {
    "eval", "MODEL", "top-1 and top-5 on labelled data", 1, 1, table, sizeof(Options), run,
};
