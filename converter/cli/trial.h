/* What the commands that try many changes share: where their data comes from, a progress line, and
 * Ctrl-C.
 */
#ifndef VF_CLI_TRIAL_H
#define VF_CLI_TRIAL_H

#include <signal.h>

#include "converter/cli/cli.h"

/* For structs that hold a LabelledWords as `labelled`, a DataOptions as `data`, the path of samples
 * as `calibration` and the threads as `n_thread`. */
#define CLI_TRIAL_ROWS(Type)                                                                    \
    CLI_LABELLED_ROWS(Type),                                                                    \
    CLI_DATA_ROWS(Type),                                                                        \
    {"calibration", "samples for passes that measure: arrays named as the model's inputs, or "  \
     "'x' for the only one", VF_OPTION_STRING, offsetof(Type, calibration),                     \
     .value = "FILE.npz"},                                                                      \
    CLI_THREADS_ROW(Type)

/* What those rows hold. */
typedef struct TrialWords {
    const LabelledWords *labelled;
    const DataOptions *data;
    const char *calibration;
    int64_t n_thread;
} TrialWords;

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
int cli_trial_open(Cli *cli, const char *path, const TrialWords *words, CliTrial *trial,
                   VfErr *err);
void cli_trial_close(CliTrial *trial);

#endif
