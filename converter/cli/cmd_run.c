#include <string.h>

#include "converter/cli/cli.h"

enum { FORMAT_AUTO }; /* the others are those of vitfold.h, plus one */

typedef struct Options {
    CommonOptions common;
    DataOptions data;
    const char *folder, *outputs;
    int format, no_fuse;
    bool save_all, reference;
    int64_t n_thread;
} Options;

static const VfOption table[] = {
    CLI_DATA_ROWS(Options),
    {"output-dir", "a folder for the outputs, made if it is not there", VF_OPTION_STRING,
     offsetof(Options, folder), .letter = 'o', .value = "DIR"},
    {"output-format", "what is written there; auto: pb if all inputs are pb, else npy",
     VF_OPTION_CHOICE, offsetof(Options, format), "auto", .choices = "auto|npy|npz|pb"},
    {"outputs", "one npz file for all outputs", VF_OPTION_STRING, offsetof(Options, outputs),
     .value = "FILE.npz"},
    {"save-all", "also every intermediate result", VF_OPTION_BOOL, offsetof(Options, save_all)},
    {"reference", "plain kernels, without BLAS", VF_OPTION_BOOL, offsetof(Options, reference)},
    CLI_FUSE_ROW(Options),
    CLI_THREADS_ROW(Options),
    CLI_JSON_ROW,
    CLI_LOAD_ROWS,
    CLI_COMMON_ROWS,
    {0},
};

/* TensorProto files where nothing of another kind came in, as in ONNX's test data. */
static int format_of(const Options *options)
{
    bool is_pb = options->data.inputs == NULL && options->data.seed == NULL;
    if (options->format != FORMAT_AUTO)
        return options->format - 1;
    for (size_t i = 0; i < options->data.input.n_item; i++)
        is_pb = is_pb && cli_ends_in(options->data.input.item[i], ".pb");
    return is_pb ? VITFOLD_FORMAT_PB : VITFOLD_FORMAT_NPY;
}

static int deliver(const Cli *cli, const Options *options, const VitfoldData *out, VfErr *err)
{
    bool is_silent = options->folder != NULL || options->outputs != NULL;
    int status = VITFOLD_OK;
    if (options->outputs != NULL)
        status = vitfold_data_save_npz(out, options->outputs, err);
    if (status == VITFOLD_OK && options->folder != NULL)
        status = vitfold_data_save_folder(out, options->folder, format_of(options), err);
    if (status != VITFOLD_OK || (is_silent && !cli->common->json.is_given))
        return status;
    VitfoldReport *report;
    status = vitfold_describe(out, &report, err);
    if (status != VITFOLD_OK)
        return status;
    status = cli_show(cli, report, err);
    vitfold_report_free(report);
    return status;
}

static int execute(const Cli *cli, const Options *options, const VitfoldModel *model,
                   VitfoldData *out, VfErr *err)
{
    VitfoldRunOptions running = {(int)options->n_thread, options->save_all, options->reference,
                                 .lists = 1, .no_fuse = options->no_fuse};
    VitfoldData *in;
    int status = cli_data(cli, &options->data, model, false, &in, NULL, err);
    if (status != VITFOLD_OK)
        return status;
    status = vitfold_run(model, in, out, &running, err);
    vitfold_data_free(in);
    return status == VITFOLD_OK ? deliver(cli, options, out, err) : status;
}

static int run(Cli *cli, const void *words, const VfOptionList *path, VfErr *err)
{
    VitfoldModel *model;
    const Options *options = words;
    if (options->outputs != NULL && strcmp(options->outputs, path->item[0]) == 0)
        return (int)vf_fail(err, VF_USAGE, "outputs '%s' would replace the model",
                            options->outputs);
    int status = cli_load(cli, path->item[0], &model, err);
    if (status != VITFOLD_OK)
        return status;
    VitfoldData *out = vitfold_data_new();
    status = out == NULL ? (int)vf_no_memory(err) : execute(cli, words, model, out, err);
    vitfold_data_free(out);
    vitfold_model_free(model);
    return status;
}

const VfCommand cmd_run = {
    "run", "MODEL", "execute a model", 1, 1, table, sizeof(Options), run,
};
