#include "converter/cli/cli.h"

typedef struct Options {
    CommonOptions common;
    bool recipe_schema;
} Options;

static const VfOption table[] = {
    {"recipe-schema", "print the RelaxNG schema of recipes", VF_OPTION_BOOL,
     offsetof(Options, recipe_schema)},
    CLI_JSON_ROW,
    CLI_COMMON_ROWS,
    {0},
};

static int print_schema(VfErr *err)
{
    size_t size;
    const char *schema = vitfold_recipe_schema(&size);
    return cli_print(schema, size, err);
}

static int run(Cli *cli, const void *words, const VfOptionList *name, VfErr *err)
{
    const Options *options = words;
    VitfoldReport *report;
    if (options->recipe_schema)
        return print_schema(err);
    int status = vitfold_list_passes(name->n_item == 0 ? NULL : name->item[0], &report, err);
    if (status != VITFOLD_OK)
        return status;
    status = cli_show(cli, report, err);
    vitfold_report_free(report);
    return status;
}

const VfCommand cmd_passes = {
    "passes", "[NAME]", "the passes, their options, exactness and source", 0, 1, table,
    sizeof(Options), run,
};
