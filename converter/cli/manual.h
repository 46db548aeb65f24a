/* Pages and completions, written from the tables of the commands. */
#ifndef VF_CLI_MANUAL_H
#define VF_CLI_MANUAL_H

#include "converter/cli/cli.h"

/* All commands, ending in NULL, and what the exit statuses mean. */
typedef struct Manual {
    const VfCommand *const *command;
    const char *const *status; /* status, meaning, status, meaning, ..., NULL */
} Manual;

/* A page in man(7): of the program, or of `one` of its commands. */
void cli_manual_page(const Manual *manual, const VfCommand *one, VfText *text);

/* What a shell reads to complete words; false for a shell that is none of bash, zsh and fish. */
bool cli_completion(const Manual *manual, const char *shell, VfText *text);

#endif
