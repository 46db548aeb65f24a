#include "converter/cli/hold.h"

#include <string.h>

static const int held[CLI_N_HELD] = {SIGINT, SIGTERM, SIGHUP};

static void leave(int signal)
{
    (void)signal;
}

bool cli_watch(int signal, struct sigaction *before)
{
    struct sigaction action = {.sa_handler = leave, .sa_flags = (int)SA_RESETHAND | SA_RESTART};
    sigemptyset(&action.sa_mask);
    return sigaction(signal, NULL, before) == 0 && before->sa_handler != SIG_IGN &&
           sigaction(signal, &action, NULL) == 0;
}

bool cli_has_come(int signal)
{
    struct sigaction now;
    return sigaction(signal, NULL, &now) == 0 && now.sa_handler != leave;
}

void cli_hold(CliHold *hold)
{
    for (int i = 0; i < CLI_N_HELD; i++)
        hold->is_held[i] = cli_watch(held[i], &hold->before[i]);
}

bool cli_hold_is_over(const CliHold *hold)
{
    for (int i = 0; i < CLI_N_HELD; i++)
        if (hold->is_held[i] && cli_has_come(held[i]))
            return true;
    return false;
}

void cli_release(CliHold *hold)
{
    for (int i = 0; i < CLI_N_HELD; i++) {
        bool has_come = hold->is_held[i] && cli_has_come(held[i]);
        if (hold->is_held[i])
            sigaction(held[i], &hold->before[i], NULL);
        hold->is_held[i] = false;
        if (has_come)
            raise(held[i]);
    }
}
