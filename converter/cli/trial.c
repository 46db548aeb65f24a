#include "converter/cli/trial.h"

#include <stdio.h>
#include <unistd.h>

#include "converter/cli/hold.h"

void cli_progress_begin(const Cli *cli, CliProgress *progress)
{
    progress->is_shown = !cli->common->is_quiet && isatty(STDERR_FILENO);
    progress->is_watching = cli_watch(SIGINT, &progress->before);
}

int cli_progress(void *user, const char *what, size_t done, size_t total)
{
    const CliProgress *progress = user;
    if (progress->is_shown)
        fprintf(stderr, "\r%zu/%zu %.60s\033[K", done, total, what);
    return progress->is_watching && cli_has_come(SIGINT);
}

void cli_progress_end(CliProgress *progress)
{
    if (progress->is_shown)
        fputs("\r\033[K", stderr);
    if (progress->is_watching)
        sigaction(SIGINT, &progress->before, NULL);
    *progress = (CliProgress){0};
}

static int take_data(Cli *cli, const TrialWords *words, CliTrial *trial, VfErr *err)
{
    const char *labelled = words->labelled->data;
    if (labelled != NULL && cli_has_data(words->data))
        return (int)vf_fail(err, VF_USAGE, "labelled data and other inputs are given: one of both");
    VitfoldDim *dim;
    const VitfoldModel *model = trial->model;
    int status = cli_samples(words->calibration, &trial->calibration, err);
    if (status == VITFOLD_OK && labelled == NULL)
        status = cli_data(cli, words->data, model, true, &trial->in, NULL, err);
    else if (status == VITFOLD_OK)
        status = cli_dims_of(cli, &words->data->dim, &model, 1, &dim, err);
    trial->options.in = trial->in;
    trial->options.labelled = labelled;
    return status;
}

int cli_trial_open(Cli *cli, const char *path, const TrialWords *words, CliTrial *trial,
                   VfErr *err)
{
    *trial = (CliTrial){0};
    trial->options.progress = cli_progress;
    trial->options.progress_user = &trial->progress;
    int status = cli_eval_options(words->labelled, words->n_thread, &trial->options.eval, err);
    if (status == VITFOLD_OK)
        status = cli_load(cli, path, &trial->model, err);
    if (status == VITFOLD_OK)
        status = take_data(cli, words, trial, err);
    cli_progress_begin(cli, &trial->progress);
    return status;
}

void cli_trial_close(CliTrial *trial)
{
    cli_progress_end(&trial->progress);
    vitfold_data_free(trial->in);
    vitfold_data_free(trial->calibration);
    vitfold_model_free(trial->model);
}
