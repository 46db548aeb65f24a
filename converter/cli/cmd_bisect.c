#include <math.h>
#include <stdlib.h>

#include "converter/cli/trial.h"

typedef struct Options {
    CommonOptions common;
    DataOptions data;
    LabelledWords labelled;
    const char *passes, *recipe, *skip, *calibration;
    VfOptionList metric, threshold;
    int64_t n_thread;
} Options;

static const VfOption table[] = {
    {"passes", "passes in order, as convert takes them", VF_OPTION_STRING,
     offsetof(Options, passes), .letter = 'p', .value = "LIST"},
    {"recipe", "the passes of a recipe", VF_OPTION_STRING, offsetof(Options, recipe),
     .value = "FILE.xml"},
    {"skip", "passes to leave out", VF_OPTION_STRING, offsetof(Options, skip), .value = "LIST"},
    {"metric", "what is limited: max-abs, rel (of the norms), cosine, top1 (share of rows that "
     "agree), ulp, accuracy (with --data); may be given several times, each with its threshold",
     VF_OPTION_LIST, offsetof(Options, metric), .letter = 'm', .value = "METRIC"},
    {"threshold", "the limit: the largest value allowed; the least of cosine, top1 and accuracy",
     VF_OPTION_LIST, offsetof(Options, threshold), .value = "X"},
    CLI_TRIAL_ROWS(Options),
    CLI_JSON_ROW,
    CLI_LOAD_ROWS,
    CLI_COMMON_ROWS,
    {0},
};

static int read_thresholds(const Cli *cli, const Options *options, VitfoldThreshold **result,
                           VfErr *err)
{
    size_t n = options->metric.n_item;
    if (n == 0 || n != options->threshold.n_item)
        return (int)vf_fail(err, VF_USAGE, "bisect needs --metric and --threshold, one for each "
                                           "other");
    *result = VF_NEW_ARRAY(cli->arena, VitfoldThreshold, n);
    if (*result == NULL)
        return (int)vf_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        char *end = NULL;
        const char *word = options->threshold.item[i];
        double value = strtod(word, &end);
        if (end == word || *end != '\0' || !isfinite(value))
            return (int)vf_fail(err, VF_USAGE, "option 'threshold': '%s' is not a number", word);
        (*result)[i] = (VitfoldThreshold){options->metric.item[i], value};
    }
    return VITFOLD_OK;
}

static int bisect(Cli *cli, const Options *options, CliTrial *trial, VfErr *err)
{
    VitfoldReport *report = NULL;
    VitfoldThreshold *threshold = NULL;
    VitfoldPassOptions passes = {.passes = options->passes, .recipe = options->recipe,
                                 .skip = options->skip, .calibration = trial->calibration};
    int status = read_thresholds(cli, options, &threshold, err);
    if (status == VITFOLD_OK)
        status = vitfold_bisect(trial->model, &passes, &trial->options, threshold,
                                options->metric.n_item, &report, err);
    cli_progress_end(&trial->progress);
    if (report == NULL)
        return status;
    int shown = cli_show(cli, report, err);
    vitfold_report_free(report);
    return shown != VITFOLD_OK ? shown : status;
}

static int run(Cli *cli, const void *given, const VfOptionList *path, VfErr *err)
{
    const Options *options = given;
    CliTrial trial;
    TrialWords words = {&options->labelled, &options->data, options->calibration,
                        options->n_thread};
    int status = cli_trial_open(cli, path->item[0], &words, &trial, err);
    if (status == VITFOLD_OK)
        status = bisect(cli, options, &trial, err);
    cli_trial_close(&trial);
    return status;
}

const VfCommand cmd_bisect = {
    "bisect", "A.onnx", "the first pass and site that breaks a threshold", 1, 1, table,
    sizeof(Options), run,
};
