#include "converter/cli/cli.h"

static const VfOption table[] = {
    CLI_JSON_ROW,
    CLI_COMMON_ROWS,
    {0},
};

static int run(Cli *cli, const void *options, const VfOptionList *name, VfErr *err)
{
    VitfoldReport *report;
    (void)options;
    int status = vitfold_list_passes(name->n_item == 0 ? NULL : name->item[0], &report, err);
    if (status != VITFOLD_OK)
        return status;
    status = cli_show(cli, report, err);
    vitfold_report_free(report);
    return status;
}

const VfCommand cmd_passes = {
    "passes", "[NAME]", "the passes, their options, exactness and source", 0, 1, table,
    sizeof(CommonOptions), run,
};
