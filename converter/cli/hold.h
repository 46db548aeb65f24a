/* Signals that would end the program between two moments at which it leaves nothing behind.
 *
 * The handler does nothing, and the system puts the default back when it is called: no state of the
 * program is needed to know that the signal came, and the next one ends the program.
 */
#ifndef VF_CLI_HOLD_H
#define VF_CLI_HOLD_H

#include <signal.h>
#include <stdbool.h>

/* Watch for the signal, from where `before` was. False where it is ignored. */
bool cli_watch(int signal, struct sigaction *before);

/* Came it since? For a signal that is watched. */
bool cli_has_come(int signal);

/* Interrupt, hang-up and termination together. */
enum { CLI_N_HELD = 3 };

typedef struct CliHold {
    bool is_held[CLI_N_HELD];
    struct sigaction before[CLI_N_HELD];
} CliHold;

void cli_hold(CliHold *hold);
bool cli_hold_is_over(const CliHold *hold); /* one of them came */

/* End the hold; a signal that came does now what it would have done. Also for one of zeros. */
void cli_release(CliHold *hold);

#endif
