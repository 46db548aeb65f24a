#include "converter/cli/trial.h"

#include <stdio.h>
#include <unistd.h>

/* That it is no longer there says that the signal came. */
static void leave(int signal)
{
    (void)signal;
}

/* The system puts the default back when the handler is called: no state of the program is needed to
 * know that it was, and the next signal ends the program. */
void cli_progress_begin(const Cli *cli, CliProgress *progress)
{
    struct sigaction action = {.sa_handler = leave, .sa_flags = (int)SA_RESETHAND | SA_RESTART};
    sigemptyset(&action.sa_mask);
    progress->is_shown = !cli->common->is_quiet && isatty(STDERR_FILENO);
    progress->is_watching = sigaction(SIGINT, NULL, &progress->before) == 0 &&
                            progress->before.sa_handler != SIG_IGN &&
                            sigaction(SIGINT, &action, NULL) == 0;
}

int cli_progress(void *user, const char *what, size_t done, size_t total)
{
    const CliProgress *progress = user;
    struct sigaction now;
    if (progress->is_shown)
        fprintf(stderr, "\r%zu/%zu %.60s\033[K", done, total, what);
    return progress->is_watching && sigaction(SIGINT, NULL, &now) == 0 && now.sa_handler != leave;
}

void cli_progress_end(CliProgress *progress)
{
    if (progress->is_shown)
        fputs("\r\033[K", stderr);
    if (progress->is_watching)
        sigaction(SIGINT, &progress->before, NULL);
    *progress = (CliProgress){0};
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
