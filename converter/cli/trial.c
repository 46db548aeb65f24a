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

static int take_data(Cli *cli, const TrialWords *words, CliTrial *trial, VfErr *err)
{
    const char *labelled = words->labelled->data;
    if (labelled != NULL && cli_has_data(words->data))
        return (int)vf_fail(err, VF_USAGE, "labelled data and other inputs are given: one of both");
    int status = cli_samples(words->calibration, &trial->calibration, err);
    if (status == VITFOLD_OK && labelled == NULL)
        status = cli_data(cli, words->data, trial->model, true, &trial->in, NULL, err);
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
