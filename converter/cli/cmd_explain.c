#include "converter/cli/cli.h"

typedef struct Options {
    CommonOptions common;
    const char *pass, *node, *html;
} Options;

static const VfOption table[] = {
    {"pass", "only what this pass says, with options if need be (insert-spa:tau=1)",
     VF_OPTION_STRING, offsetof(Options, pass)},
    {"node", "only sites and nodes of this name; * and ? are wild", VF_OPTION_STRING,
     offsetof(Options, node), .value = "NAME"},
    {"html", "also write a page that draws what was left alone, or the nodes of --node",
     VF_OPTION_STRING, offsetof(Options, html), .value = "FILE.html"},
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
    VitfoldExplainOptions how = {options->pass, options->node, options->html != NULL};
    int status = cli_check_page(cli, path, options->html, err);
    if (status == VITFOLD_OK)
        status = cli_load(cli, path->item[0], &model, err);
    if (status != VITFOLD_OK)
        return status;
    status = vitfold_explain(model, &how, &report, err);
    if (status == VITFOLD_OK) {
        status = cli_show_page(cli, options->html, report, err);
        vitfold_report_free(report);
    }
    vitfold_model_free(model);
    return status;
}

const VfCommand cmd_explain = {
    "explain", "MODEL", "why each candidate site was matched or not", 1, 1, table, sizeof(Options),
    run,
};
