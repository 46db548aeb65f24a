/* All but the installing runs in a signal handler: only calls that may be made there. */
#include "converter/cli/cut_file.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

/* A line of the list of mappings and the next bytes of the list. */
typedef struct Lines {
    int fd;
    size_t n_read, at;
    char read[1024];
    char line[PATH_MAX + 128];
} Lines;

static volatile sig_atomic_t status_of_cut;

static int next_byte(Lines *lines)
{
    if (lines->at == lines->n_read) {
        ssize_t n = read(lines->fd, lines->read, sizeof lines->read);
        lines->n_read = n > 0 ? (size_t)n : 0;
        lines->at = 0;
    }
    return lines->n_read == 0 ? -1 : (unsigned char)lines->read[lines->at++];
}

static bool next_line(Lines *lines)
{
    size_t n = 0;
    int c;
    while ((c = next_byte(lines)) >= 0 && c != '\n')
        if (n + 1 < sizeof lines->line)
            lines->line[n++] = (char)c;
    lines->line[n] = '\0';
    return c >= 0;
}

/* Hexadecimal digits at `*text`, which is moved behind them. */
static uintptr_t take_hex(const char **text)
{
    static const char digit[] = "0123456789abcdef";
    uintptr_t value = 0;
    for (const char *found; **text != '\0' && (found = strchr(digit, **text)) != NULL; ++*text)
        value = value * 16 + (uintptr_t)(found - digit);
    return value;
}

/* The file of the line's mapping if it contains `address`, else NULL. */
static const char *file_at(const char *line, uintptr_t address)
{
    uintptr_t first = take_hex(&line);
    if (*line != '-')
        return NULL;
    line++;
    uintptr_t end = take_hex(&line);
    return first <= address && address < end ? strchr(line, '/') : NULL;
}

static const char *find_file(Lines *lines, uintptr_t address)
{
    const char *file = NULL;
    lines->fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    while (lines->fd >= 0 && file == NULL && next_line(lines))
        file = file_at(lines->line, address);
    return file;
}

static void say(const char *text)
{
    ssize_t n = write(STDERR_FILENO, text, strlen(text));
    (void)n; /* nothing is left to be done about it */
}

static void end_program(int signal, siginfo_t *info, void *context)
{
    (void)context;
    Lines lines = {0};
    const char *file = info->si_code == BUS_ADRERR ? find_file(&lines, (uintptr_t)info->si_addr)
                                                   : NULL;
    if (file == NULL) {
        raise(signal); /* blocked until the return, and then the system's own */
        return;
    }
    say("vitfold: error: cannot read '");
    say(file);
    say("': the file was cut short while it was read\n");
    _exit(status_of_cut);
}

void cli_watch_cut_files(int exit_status)
{
    struct sigaction action = {.sa_sigaction = end_program,
                               .sa_flags = (int)SA_RESETHAND | SA_SIGINFO};
    sigemptyset(&action.sa_mask);
    status_of_cut = exit_status;
    sigaction(SIGBUS, &action, NULL);
}
