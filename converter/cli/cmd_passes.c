#include <string.h>

#include "converter/cli/cli.h"

typedef struct Options {
    CommonOptions common;
    bool recipe_schema, operators;
    int64_t total, n_step;
    int kind;
} Options;

static const VfOption table[] = {
    {"recipe-schema", "print the RelaxNG schema of recipes", VF_OPTION_BOOL,
     offsetof(Options, recipe_schema)},
    {"operators", "the operators that are known, with the opsets and dtypes that run executes",
     VF_OPTION_BOOL, offsetof(Options, operators)},
    {"schedule", "progressive-norm: the lambda of each step of a training of T steps instead",
     VF_OPTION_INT, offsetof(Options, total), "0", 0, 1e15, .value = "T"},
    {"kind", "--schedule: how lambda falls from 1 to 0", VF_OPTION_CHOICE, offsetof(Options, kind),
     "linear", .choices = "linear|cosine|step"},
    {"steps", "--schedule --kind step: number of stairs", VF_OPTION_INT,
     offsetof(Options, n_step), "4", 1, 1e9, .value = "N"},
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

static int print_schedule(Cli *cli, const Options *options, const VfOptionList *name, VfErr *err)
{
    VitfoldScheduleOptions schedule = {options->total, options->kind, options->n_step};
    VitfoldReport *report;
    if (name->n_item == 0 || strcmp(name->item[0], "progressive-norm") != 0)
        return (int)vf_fail(err, VF_USAGE, "only 'progressive-norm' has a schedule");
    int status = vitfold_norm_schedule(&schedule, &report, err);
    if (status != VITFOLD_OK)
        return status;
    status = cli_show(cli, report, err);
    vitfold_report_free(report);
    return status;
}

static int run(Cli *cli, const void *words, const VfOptionList *name, VfErr *err)
{
    const Options *options = words;
    VitfoldReport *report;
    if (options->recipe_schema)
        return print_schema(err);
    if (options->total > 0)
        return print_schedule(cli, options, name, err);
    if (options->operators && name->n_item > 0)
        return (int)vf_fail(err, VF_USAGE, "--operators lists all operators, not a pass");
    int status = options->operators
                     ? vitfold_list_operators(&report, err)
                     : vitfold_list_passes(name->n_item == 0 ? NULL : name->item[0], &report, err);
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
