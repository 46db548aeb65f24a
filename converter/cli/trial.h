/* What the commands that try many changes share: where their data comes from, a progress line, and
 * Ctrl-C.
 */
#ifndef VF_CLI_TRIAL_H
#define VF_CLI_TRIAL_H

#include <signal.h>

#include "converter/cli/cli.h"

typedef struct TrialWords {
    const char *labelled, *calibration;
    int64_t batch, n_sample;
} TrialWords;

/* For structs that hold a DataOptions as `data`, a TrialWords as `trial` and the threads as
 * `n_thread`. */
#define CLI_TRIAL_ROWS(Type)                                                                    \
    {"data", "labelled data, as eval takes it, in place of the inputs below", VF_OPTION_STRING, \
     offsetof(Type, trial.labelled), .letter = 'd', .value = "FILE.npz"},                       \
    {"batch", "samples of --data a run; 0: what the model says, or 64", VF_OPTION_INT,          \
     offsetof(Type, trial.batch), "0", 0, 1e6},                                                 \
    {"samples", "only the first N of --data; 0: all", VF_OPTION_INT,                            \
     offsetof(Type, trial.n_sample), "0", 0, 1e15},                                             \
    CLI_DATA_ROWS(Type),                                                                        \
    {"calibration", "samples for passes that measure: arrays named as the model's inputs, or "  \
     "'x' for the only one", VF_OPTION_STRING, offsetof(Type, trial.calibration),               \
     .value = "FILE.npz"},                                                                      \
    CLI_THREADS_ROW(Type)

/* A line on standard error if that is a terminal. From begin to end the first Ctrl-C does not end
 * the program but makes the next call of the function ask to stop; a second one ends it at once.
 * Where Ctrl-C was ignored from the start it stays so. */
typedef struct CliProgress {
    bool is_shown, is_watching;
    struct sigaction before;
} CliProgress;

void cli_progress_begin(const Cli *cli, CliProgress *progress);
int cli_progress(void *progress, const char *what, size_t done, size_t total);
void cli_progress_end(CliProgress *progress);

/* What a command of trials holds; fields that are not needed stay NULL. */
typedef struct CliTrial {
    VitfoldModel *model;
    VitfoldData *in, *calibration;
    VitfoldTrialOptions options;
    CliProgress progress;
} CliTrial;

/* Load the model and its data, random where none is given, and begin the progress. To be closed
 * also after a failure. */
int cli_trial_open(Cli *cli, const char *path, const DataOptions *data, const TrialWords *words,
                   int64_t n_thread, CliTrial *trial, VfErr *err);
void cli_trial_close(CliTrial *trial);

#endif
