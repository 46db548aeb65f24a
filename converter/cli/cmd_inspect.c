#include "converter/cli/cli.h"

typedef struct Options {
    CommonOptions common;
    VfOptionList dim;
} Options;

static const VfOption table[] = {
    {"dim", "count costs for this size of a symbolic dimension (else 1)", VF_OPTION_LIST,
     offsetof(Options, dim), .value = "NAME=N"},
    CLI_JSON_ROW,
    CLI_LINKED_ROW,
    CLI_COMMON_ROWS,
    {0},
};

static int inspect(Cli *cli, VitfoldModel **model, const Options *options,
                   const VfOptionList *path, VfErr *err)
{
    VitfoldDim *dim;
    VitfoldReport *report;
    int status = cli_dims(cli, &options->dim, &dim, err);
    for (size_t i = 0; i < path->n_item && status == VITFOLD_OK; i++)
        status = cli_load(cli, path->item[i], &model[i], err);
    if (status == VITFOLD_OK)
        status = vitfold_inspect(model, path->n_item, dim, options->dim.n_item, &report, err);
    if (status != VITFOLD_OK)
        return status;
    status = cli_show(cli, report, err);
    vitfold_report_free(report);
    return status;
}

static int run(Cli *cli, const void *options, const VfOptionList *path, VfErr *err)
{
    VitfoldModel **model = VF_NEW_ARRAY(cli->arena, VitfoldModel *, path->n_item);
    if (model == NULL)
        return (int)vf_no_memory(err);
    int status = inspect(cli, model, options, path, err);
    for (size_t i = 0; i < path->n_item; i++)
        vitfold_model_free(model[i]);
    return status;
}

const VfCommand cmd_inspect = {
    "inspect", "MODEL...", "what a model holds: inputs, operators, costs, attention and norms",
    1, 64, table, sizeof(Options), run,
};
