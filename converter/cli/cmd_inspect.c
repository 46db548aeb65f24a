#include "converter/cli/cli.h"

typedef struct Options {
    CommonOptions common;
    VfOptionList dim;
    bool is_signal;
    const char *svg, *inputs;
    int graph;
    const char *output;
} Options;

/* As the choices of --graph are numbered. */
enum { NO_GRAPH };

static const VfOption table[] = {
    {"dim", "count costs for this size of a symbolic dimension (else 1)", VF_OPTION_LIST,
     offsetof(Options, dim), .value = "NAME=N"},
    {"signal", "instead: how alike tokens become behind each attention, with logits at zero. Skips "
     "add a² and b² of their two sides, norms make correlations, weights count as random, smooth "
     "activations are left out",
     VF_OPTION_BOOL, offsetof(Options, is_signal)},
    {"signal-svg", "plot of it, one curve for each model; means --signal", VF_OPTION_STRING,
     offsetof(Options, svg), .value = "FILE.svg"},
    {"inputs", "--signal: measured too, on the samples of an npz file, with the ranks of the "
     "attention matrices", VF_OPTION_STRING, offsetof(Options, inputs), .value = "FILE.npz"},
    {"graph", "instead: the model drawn. svg: a map, block by block, with attention, norms and "
     "layers in colours; dot, graphml: every node", VF_OPTION_CHOICE, offsetof(Options, graph),
     "none", .choices = "none|svg|dot|graphml"},
    {"output", "--graph: where to, else to standard output", VF_OPTION_STRING,
     offsetof(Options, output), .letter = 'o', .value = "FILE"},
    CLI_JSON_ROW,
    CLI_LOAD_ROWS,
    CLI_COMMON_ROWS,
    {0},
};

static int signal_report(VitfoldModel **model, size_t n_model, const Options *options,
                         const VitfoldDim *dim, VitfoldReport **report, VfErr *err)
{
    VitfoldData *data = NULL;
    int status = cli_samples(options->inputs, &data, err);
    if (status == VITFOLD_OK) {
        VitfoldSignalOptions signal = {dim, options->dim.n_item, data};
        status = vitfold_signal(model, n_model, &signal, report, err);
    }
    vitfold_data_free(data);
    return status;
}

static int draw(Cli *cli, VitfoldModel **model, size_t n_model, const Options *options,
                const VitfoldDim *dim, VfErr *err)
{
    VitfoldReport *report;
    size_t size;
    if (n_model > 1 || options->is_signal || options->svg != NULL || cli->common->json.is_given)
        return (int)vf_fail(err, VF_USAGE,
                            "option 'graph' takes one model, and neither --signal nor --json");
    int status = vitfold_graph(model[0], options->graph - 1, dim, options->dim.n_item, &report,
                               err);
    if (status != VITFOLD_OK)
        return status;
    const char *text = vitfold_report_text(report, &size);
    status = options->output != NULL ? (int)vf_file_write(options->output, text, size, err)
                                     : cli_print(text, size, err);
    vitfold_report_free(report);
    return status;
}

static int inspect(Cli *cli, VitfoldModel **model, const Options *options,
                   const VfOptionList *path, VfErr *err)
{
    VitfoldDim *dim;
    VitfoldReport *report;
    CliFile plot;
    bool is_signal = options->is_signal || options->svg != NULL;
    if (options->inputs != NULL && !is_signal)
        return (int)vf_fail(err, VF_USAGE, "option 'inputs' needs --signal");
    if (options->output != NULL && options->graph == NO_GRAPH)
        return (int)vf_fail(err, VF_USAGE, "option 'output' needs --graph");
    int status = VITFOLD_OK;
    for (size_t i = 0; i < path->n_item && status == VITFOLD_OK; i++)
        status = cli_load(cli, path->item[i], &model[i], err);
    if (status == VITFOLD_OK)
        status = cli_dims_of(cli, &options->dim, (const VitfoldModel *const *)model, path->n_item,
                             &dim, err);
    if (status == VITFOLD_OK && options->graph != NO_GRAPH)
        return draw(cli, model, path->n_item, options, dim, err);
    if (status == VITFOLD_OK && is_signal)
        status = signal_report(model, path->n_item, options, dim, &report, err);
    else if (status == VITFOLD_OK)
        status = vitfold_inspect(model, path->n_item, dim, options->dim.n_item, &report, err);
    if (status != VITFOLD_OK)
        return status;
    status = cli_svg_file(report, options->svg, &plot, err);
    if (status == VITFOLD_OK)
        status = cli_show_files(cli, report, &plot, 1, err);
    vitfold_report_free(report);
    return status;
}

static int run(Cli *cli, const void *options, const VfOptionList *path, VfErr *err)
{
    VitfoldModel **model = VF_NEW_ARRAY(cli->arena, VitfoldModel *, path->n_item);
    if (model == NULL)
        return (int)vf_no_memory(err);
    const Options *words = options;
    const char *file[] = {words->svg, words->output};
    int status = cli_check_files(cli, path, file, 2, err);
    if (status == VITFOLD_OK)
        status = inspect(cli, model, options, path, err);
    for (size_t i = 0; i < path->n_item; i++)
        vitfold_model_free(model[i]);
    return status;
}

const VfCommand cmd_inspect = {
    "inspect", "MODEL...", "what a model holds: inputs, operators, costs, attention and norms",
    1, 64, table, sizeof(Options), run,
};
