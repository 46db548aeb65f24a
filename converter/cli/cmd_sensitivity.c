#include <errno.h>
#include <stdlib.h>

#include "converter/cli/trial.h"

typedef struct Options {
    CommonOptions common;
    DataOptions data;
    LabelledWords labelled;
    const char *pass, *metric, *budget, *save_recipe, *svg, *calibration;
    int64_t n_thread;
} Options;

static const VfOption table[] = {
    {"pass", "the pass, with options and sites if need be", VF_OPTION_STRING,
     offsetof(Options, pass), .letter = 'p', .value = "PASS[:OPTIONS]"},
    {"metric", "what sites are sorted by: max-abs, rel (of the norms), cosine, top1 (share of rows "
     "that agree), ulp, accuracy (with --data); else accuracy with --data and rel without",
     VF_OPTION_STRING, offsetof(Options, metric), .letter = 'm', .value = "METRIC"},
    {"budget", "find sites that together lose at most X: of cosine and top1 what is missing to 1, "
     "of accuracy what the original has more", VF_OPTION_STRING, offsetof(Options, budget),
     .value = "X"},
    {"save-recipe", "write the pass with the sites within the budget, for convert --recipe",
     VF_OPTION_STRING, offsetof(Options, save_recipe), .value = "FILE.xml"},
    {"svg", "plot of the losses as bars", VF_OPTION_STRING, offsetof(Options, svg),
     .value = "FILE.svg"},
    CLI_TRIAL_ROWS(Options),
    CLI_JSON_ROW,
    CLI_LOAD_ROWS,
    CLI_COMMON_ROWS,
    {0},
};

static int read_words(const Options *options, VitfoldSensitivityOptions *how, VfErr *err)
{
    char *end = NULL;
    *how = (VitfoldSensitivityOptions){.metric = options->metric,
                                       .has_budget = options->budget != NULL};
    if (options->pass == NULL)
        return (int)vf_fail(err, VF_USAGE, "sensitivity needs --pass");
    if (options->save_recipe != NULL && options->budget == NULL)
        return (int)vf_fail(err, VF_USAGE, "option 'save-recipe' needs --budget");
    if (options->budget == NULL)
        return VITFOLD_OK;
    errno = 0;
    how->budget = strtod(options->budget, &end);
    if (end == options->budget || *end != '\0' || !(how->budget >= 0) || errno != 0)
        return (int)vf_fail(err, VF_USAGE, "option 'budget': '%s' is not a number from 0 on",
                            options->budget);
    return VITFOLD_OK;
}

/* The recipe of a search that was interrupted or found no site is not there, nor the plot of one
 * that was interrupted before there was anything to plot. */
static int show(Cli *cli, const Options *options, const VitfoldReport *report, int status,
                VfErr *err)
{
    CliFile file[2] = {{.path = options->save_recipe}, {0}};
    VfErr why = {0};
    file[0].text = vitfold_report_recipe(report, &file[0].size);
    int plotted = cli_svg_file(report, options->svg, &file[1], &why);
    int shown = cli_show_files(cli, report, file, 2, err);
    if (shown != VITFOLD_OK || status == VITFOLD_CANCELLED || plotted == VITFOLD_OK)
        return shown;
    *err = why;
    return plotted;
}

static int measure(Cli *cli, const Options *options, CliTrial *trial, VfErr *err)
{
    VitfoldReport *report = NULL;
    VitfoldSensitivityOptions how;
    VitfoldPassOptions pass = {.passes = options->pass, .calibration = trial->calibration};
    int status = read_words(options, &how, err);
    if (status == VITFOLD_OK)
        status = vitfold_sensitivity(trial->model, &pass, &trial->options, &how, &report, err);
    cli_progress_end(&trial->progress);
    if (report == NULL)
        return status;
    int shown = show(cli, options, report, status, err);
    vitfold_report_free(report);
    return shown != VITFOLD_OK ? shown : status;
}

static int run(Cli *cli, const void *given, const VfOptionList *path, VfErr *err)
{
    const Options *options = given;
    CliTrial trial;
    TrialWords words = {&options->labelled, &options->data, options->calibration,
                        options->n_thread};
    const char *file[] = {options->save_recipe, options->svg};
    int status = cli_check_files(cli, path, file, 2, err);
    if (status != VITFOLD_OK)
        return status;
    status = cli_trial_open(cli, path->item[0], &words, &trial, err);
    if (status == VITFOLD_OK)
        status = measure(cli, options, &trial, err);
    cli_trial_close(&trial);
    return status;
}

const VfCommand cmd_sensitivity = {
    "sensitivity", "MODEL", "what each site of a pass does alone, and which fit in a budget", 1, 1,
    table, sizeof(Options), run,
};
