#include "converter/cli/trial.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

static bool is_ignored(void)
{
    struct sigaction action;
    return sigaction(SIGINT, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

/* Blocked signals wait until they are asked for, so no handler and no state of the program is
 * needed. */
void cli_progress_begin(const Cli *cli, CliProgress *progress)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    progress->is_shown = !cli->common->is_quiet && isatty(STDERR_FILENO);
    progress->is_watching = !is_ignored() && sigprocmask(SIG_BLOCK, &set, &progress->mask) == 0;
}

int cli_progress(void *user, const char *what, size_t done, size_t total)
{
    const CliProgress *progress = user;
    sigset_t pending;
    if (progress->is_shown)
        fprintf(stderr, "\r%zu/%zu %.60s\033[K", done, total, what);
    return progress->is_watching && sigpending(&pending) == 0 && sigismember(&pending, SIGINT) == 1;
}

void cli_progress_end(CliProgress *progress)
{
    static const struct timespec at_once;
    sigset_t set;
    if (progress->is_shown)
        fputs("\r\033[K", stderr);
    progress->is_shown = false;
    if (!progress->is_watching)
        return;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    while (sigtimedwait(&set, NULL, &at_once) == SIGINT)
        continue;
    sigprocmask(SIG_SETMASK, &progress->mask, NULL);
    progress->is_watching = false;
}

static int take_data(Cli *cli, const DataOptions *data, const TrialWords *words, CliTrial *trial,
                     VfErr *err)
{
    if (words->labelled != NULL && cli_has_data(data))
        return (int)vf_fail(err, VF_USAGE, "labelled data and other inputs are given: one of both");
    int status = cli_samples(words->calibration, &trial->calibration, err);
    if (status == VITFOLD_OK && words->labelled == NULL)
        status = cli_data(cli, data, trial->model, true, &trial->in, NULL, err);
    return status;
}

int cli_trial_open(Cli *cli, const char *path, const DataOptions *data, const TrialWords *words,
                   int64_t n_thread, CliTrial *trial, VfErr *err)
{
    *trial = (CliTrial){0};
    int status = cli_load(cli, path, &trial->model, err);
    if (status == VITFOLD_OK)
        status = take_data(cli, data, words, trial, err);
    trial->options = (VitfoldTrialOptions){
        .in = trial->in,
        .labelled = words->labelled,
        .eval = {.run = {.n_thread = (int)n_thread}, .batch = words->batch,
                 .n_sample = words->n_sample},
        .progress = cli_progress,
        .progress_user = &trial->progress,
    };
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
