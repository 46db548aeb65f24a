#include "converter/cli/cli.h"

typedef struct Options {
    CommonOptions common;
    DataOptions data;
    const char *folder, *with;
    int weights, weights_dtype;
    bool is_single_file;
} Options;

static const VfOption table[] = {
    {"output", "the folder to write; what an earlier emission left there is replaced",
     VF_OPTION_STRING, offsetof(Options, folder), .letter = 'o', .value = "DIR"},
    {"with", "a second model for the same program, which then compares the two",
     VF_OPTION_STRING, offsetof(Options, with), .value = "MODEL2"},
    {"weights", "where they go: a file that the program reads, or an array in C", VF_OPTION_CHOICE,
     offsetof(Options, weights), "file", .choices = "file|c"},
    {"weights-dtype", "how float32 weights are stored; they are widened on loading",
     VF_OPTION_CHOICE, offsetof(Options, weights_dtype), "f32", .choices = "f32|f16|bf16"},
    {"single-file", "the kernels inside model.c", VF_OPTION_BOOL,
     offsetof(Options, is_single_file)},
    CLI_DATA_ROWS(Options),
    CLI_JSON_ROW,
    CLI_LINKED_ROW,
    CLI_COMMON_ROWS,
    {0},
};

static int emit(Cli *cli, const Options *options, const VitfoldModel *model,
                const VitfoldModel *with, VfErr *err)
{
    VitfoldData *in;
    VitfoldReport *report;
    /* Data that was asked for goes into the folder as a sample; else only its shapes matter. */
    VitfoldEmitOptions emitting = {with, options->weights_dtype, options->weights,
                                   options->is_single_file, cli_has_data(&options->data)};
    int status = cli_data(cli, &options->data, model, true, &in, NULL, err);
    if (status != VITFOLD_OK)
        return status;
    status = vitfold_emit_c(model, in, &emitting, options->folder, &report, err);
    vitfold_data_free(in);
    if (status != VITFOLD_OK)
        return status;
    status = cli_tell(cli, report, err);
    vitfold_report_free(report);
    return status;
}

static int run(Cli *cli, const void *words, const VfOptionList *path, VfErr *err)
{
    const Options *options = words;
    VitfoldModel *model = NULL, *with = NULL;
    if (options->folder == NULL)
        return (int)vf_fail(err, VF_USAGE, "emit-c needs the folder to write: --output DIR");
    int status = cli_load(cli, path->item[0], &model, err);
    if (status == VITFOLD_OK && options->with != NULL)
        status = cli_load(cli, options->with, &with, err);
    if (status == VITFOLD_OK)
        status = emit(cli, options, model, with, err);
    vitfold_model_free(model);
    vitfold_model_free(with);
    return status;
}

const VfCommand cmd_emit_c = {
    "emit-c", "MODEL", "write a model as a C program", 1, 1, table, sizeof(Options), run,
};
