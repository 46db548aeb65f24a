#include "converter/cli/cli.h"

static const VfOption table[] = {
    CLI_JSON_ROW,
    CLI_LOAD_ROWS,
    CLI_COMMON_ROWS,
    {0},
};

static int run(Cli *cli, const void *options, const VfOptionList *path, VfErr *err)
{
    VitfoldReport *report = NULL;
    VitfoldLoadOptions loading = cli_load_options(cli);
    (void)options;
    int status = vitfold_check(path->item[0], &loading, &report, err);
    if (report == NULL)
        return status;
    int shown = cli_show(cli, report, err);
    vitfold_report_free(report);
    return shown != VITFOLD_OK ? shown : status;
}

const VfCommand cmd_check = {
    "check", "MODEL", "every fault of a model file in one go", 1, 1, table, sizeof(CommonOptions),
    run,
};
