#include "converter/cli/cli.h"

typedef struct Options {
    CommonOptions common;
    const char *pass, *node;
} Options;

static const VfOption table[] = {
    {"pass", "only what this pass says, with options if need be (insert-spa:tau=1)",
     VF_OPTION_STRING, offsetof(Options, pass)},
    {"node", "only sites and nodes of this name; * and ? are wild", VF_OPTION_STRING,
     offsetof(Options, node), .value = "NAME"},
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
    int status = cli_load(cli, path->item[0], &model, err);
    if (status != VITFOLD_OK)
        return status;
    status = vitfold_explain(model, options->pass, options->node, &report, err);
    if (status == VITFOLD_OK) {
        status = cli_show(cli, report, err);
        vitfold_report_free(report);
    }
    vitfold_model_free(model);
    return status;
}

const VfCommand cmd_explain = {
    "explain", "MODEL", "why each candidate site was matched or not", 1, 1, table, sizeof(Options),
    run,
};
