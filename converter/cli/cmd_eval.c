#include "converter/cli/cli.h"

typedef struct Options {
    CommonOptions common;
    LabelledWords labelled;
    const char *output;
    int64_t n_thread;
    int no_fuse;
} Options;

static const VfOption table[] = {
    CLI_LABELLED_ROWS(Options),
    {"output", "the output with the scores (else the first)", VF_OPTION_STRING,
     offsetof(Options, output), .value = "NAME"},
    CLI_FUSE_ROW(Options),
    CLI_THREADS_ROW(Options),
    CLI_JSON_ROW,
    CLI_LOAD_ROWS,
    CLI_COMMON_ROWS,
    {0},
};

static int run(Cli *cli, const void *words, const VfOptionList *path, VfErr *err)
{
    const Options *options = words;
    VitfoldModel *model;
    VitfoldReport *report;
    if (options->labelled.data == NULL)
        return (int)vf_fail(err, VF_USAGE, "eval needs --data");
    VitfoldEvalOptions evaluating;
    int status = cli_eval_options(&options->labelled, options->n_thread, &evaluating, err);
    evaluating.output = options->output;
    evaluating.run.no_fuse = options->no_fuse;
    if (status == VITFOLD_OK)
        status = cli_load(cli, path->item[0], &model, err);
    if (status != VITFOLD_OK)
        return status;
    status = vitfold_eval(model, options->labelled.data, &evaluating, &report, err);
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
