#include <unistd.h>

#include "converter/cli/cli.h"

typedef struct Options {
    CommonOptions common;
    DataOptions data;
    const char *html;
    int64_t context;
    bool is_stat, is_full;
    int64_t n_thread;
} Options;

static const VfOption table[] = {
    {"context", "unchanged nodes to print before and after an edit", VF_OPTION_INT,
     offsetof(Options, context), "1", 0, 1000},
    {"stat", "only counts", VF_OPTION_BOOL, offsetof(Options, is_stat)},
    {"html", "also write a page with drawings of the edits", VF_OPTION_STRING,
     offsetof(Options, html), .value = "FILE.html"},
    {"full", "every place, constant and name", VF_OPTION_BOOL, offsetof(Options, is_full)},
    CLI_DATA_ROWS(Options),
    CLI_THREADS_ROW(Options),
    CLI_JSON_ROW,
    CLI_LOAD_ROWS,
    CLI_COMMON_ROWS,
    {0},
};

static int diff(Cli *cli, const Options *options, const VitfoldModel *a, const VitfoldModel *b,
                const VitfoldData *in, VfErr *err)
{
    VitfoldReport *report = NULL;
    VitfoldDiffOptions how = {
        .context = options->context,
        .stat = options->is_stat,
        .full = options->is_full,
        .html = options->html != NULL,
        .color = cli_wants_color(options->common.color, STDOUT_FILENO),
        .in = in,
        .run = {.n_thread = (int)options->n_thread},
    };
    int status = vitfold_diff(a, b, &how, &report, err);
    if (report == NULL)
        return status;
    int shown = cli_show_page(cli, options->html, report, err);
    vitfold_report_free(report);
    return shown != VITFOLD_OK ? shown : status;
}

static int run(Cli *cli, const void *given, const VfOptionList *path, VfErr *err)
{
    const Options *options = given;
    VitfoldModel *a = NULL, *b = NULL;
    VitfoldData *in = NULL;
    VitfoldDim *dim;
    int status = cli_check_page(cli, path, options->html, err);
    if (status == VITFOLD_OK)
        status = cli_load(cli, path->item[0], &a, err);
    if (status == VITFOLD_OK)
        status = cli_load(cli, path->item[1], &b, err);
    if (status == VITFOLD_OK)
        status = cli_dims_of(cli, &options->data.dim, (const VitfoldModel *[]){a}, 1, &dim, err);
    if (status == VITFOLD_OK && cli_has_data(&options->data))
        status = cli_data(cli, &options->data, a, true, &in, NULL, err);
    if (status == VITFOLD_OK)
        status = diff(cli, options, a, b, in, err);
    vitfold_data_free(in);
    vitfold_model_free(a);
    vitfold_model_free(b);
    return status;
}

const VfCommand cmd_diff = {
    "diff", "A.onnx B.onnx", "what changed from one model to another", 2, 2, table,
    sizeof(Options), run,
};
