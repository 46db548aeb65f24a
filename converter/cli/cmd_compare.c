#include "converter/cli/cli.h"

typedef struct Options {
    CommonOptions common;
    DataOptions data;
    const char *expect, *svg;
    double rtol, atol;
    VfOptionList limit;
    bool exact, per_node;
    int64_t n_thread;
    int no_fuse;
} Options;

static const VfOption table[] = {
    CLI_DATA_ROWS(Options),
    {"expect", "compare one model with the tensors of this file", VF_OPTION_STRING,
     offsetof(Options, expect), .value = "FILE.npz"},
    {"rtol", "relative limit, |a-b| <= atol + rtol|a|, NaN being equal to NaN; without limits "
     "outputs may differ by 1e-4 of their largest value "
     "(float16: 3.9e-3, bfloat16: 3.1e-2)", VF_OPTION_DOUBLE,
     offsetof(Options, rtol), NULL, 0, 1e300},
    {"atol", "absolute limit", VF_OPTION_DOUBLE, offsetof(Options, atol), NULL, 0, 1e300},
    {"limit", "limits of one output", VF_OPTION_LIST, offsetof(Options, limit),
     .value = "OUTPUT=RTOL,ATOL"},
    {"exact", "outputs must be equal", VF_OPTION_BOOL, offsetof(Options, exact)},
    {"per-node", "also every intermediate result that both have by name", VF_OPTION_BOOL,
     offsetof(Options, per_node)},
    {"svg", "plot of their distances along the depth; means --per-node", VF_OPTION_STRING,
     offsetof(Options, svg), .value = "FILE.svg"},
    CLI_FUSE_ROW(Options),
    CLI_THREADS_ROW(Options),
    CLI_JSON_ROW,
    CLI_LOAD_ROWS,
    CLI_COMMON_ROWS,
    {0},
};

/* What a comparison reads; fields that are not needed stay NULL. */
typedef struct Sides {
    VitfoldModel *a, *b;
    VitfoldData *in, *expected;
} Sides;

static int load_sides(Cli *cli, const Options *options, const VfOptionList *path, Sides *sides,
                      VfErr *err)
{
    if (path->n_item == 1 && options->svg != NULL)
        return (int)vf_fail(err, VF_USAGE, "option 'svg' needs two models");
    if (path->n_item == 2 && options->expect != NULL)
        return (int)vf_fail(err, VF_USAGE, "compare takes two models, or one and --expect");
    int status = cli_load(cli, path->item[0], &sides->a, err);
    if (status == VITFOLD_OK && path->n_item == 2)
        status = cli_load(cli, path->item[1], &sides->b, err);
    if (status != VITFOLD_OK)
        return status;
    if (path->n_item == 1) {
        sides->expected = vitfold_data_new();
        if (sides->expected == NULL)
            return (int)vf_no_memory(err);
    }
    status = cli_data(cli, &options->data, sides->a, true, &sides->in, sides->expected, err);
    if (status == VITFOLD_OK && options->expect != NULL)
        status = vitfold_data_add_npz(sides->expected, options->expect, err);
    if (status == VITFOLD_OK && path->n_item == 1 && vitfold_data_count(sides->expected) == 0)
        return (int)vf_fail(err, VF_USAGE, "compare takes two models, or one and --expect");
    return status;
}

static int compare(Cli *cli, const Options *options, const Sides *sides, VfErr *err)
{
    VitfoldReport *report = NULL;
    VitfoldCompareOptions comparing = {
        .run = {.n_thread = (int)options->n_thread, .no_fuse = options->no_fuse},
        .rtol = options->rtol,
        .atol = options->atol,
        .limit = options->limit.item,
        .n_limit = options->limit.n_item,
        .exact = options->exact,
        .per_node = options->per_node || options->svg != NULL,
    };
    int status = vitfold_compare(sides->a, sides->b, sides->in, sides->expected, &comparing,
                                 &report, err);
    if (report == NULL)
        return status;
    CliFile plot;
    int shown = cli_svg_file(report, options->svg, &plot, err);
    if (shown == VITFOLD_OK)
        shown = cli_show_files(cli, report, &plot, 1, err);
    vitfold_report_free(report);
    return shown != VITFOLD_OK ? shown : status;
}

static int run(Cli *cli, const void *options, const VfOptionList *path, VfErr *err)
{
    Sides sides = {0};
    const Options *words = options;
    int status = cli_check_files(cli, path, &words->svg, 1, err);
    if (status == VITFOLD_OK)
        status = load_sides(cli, options, path, &sides, err);
    if (status == VITFOLD_OK)
        status = compare(cli, options, &sides, err);
    vitfold_data_free(sides.in);
    vitfold_data_free(sides.expected);
    vitfold_model_free(sides.a);
    vitfold_model_free(sides.b);
    return status;
}

const VfCommand cmd_compare = {
    "compare", "A.onnx [B.onnx]", "how far the outputs of two models are apart", 1, 2, table,
    sizeof(Options), run,
};
