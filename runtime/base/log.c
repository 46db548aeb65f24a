#include "runtime/base/log.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

static bool is_on(const VfLog *log, VfLogLevel level)
{
    return log != NULL && log->sink != NULL && level <= log->level;
}

void vf_log(const VfLog *log, VfLogLevel level, const char *fmt, ...)
{
    if (!is_on(log, level))
        return;
    char line[4096];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    if (n >= 0)
        log->sink(log->user, level, line);
}

void vf_log_to_stderr(void *user, VfLogLevel level, const char *line)
{
    static const struct {
        const char *word, *colour;
    } row[VF_LOG_COUNT] = {
        [VF_LOG_ERROR] = {"error: ", "\033[1;31m"},
        [VF_LOG_WARNING] = {"warning: ", "\033[1;33m"},
        [VF_LOG_NOTE] = {"", ""},
        [VF_LOG_DETAIL] = {"", ""},
        [VF_LOG_DEBUG] = {"debug: ", "\033[2m"},
    };
    const char *colour = user == NULL ? "" : row[level].colour;
    const char *end = colour[0] == '\0' ? "" : "\033[0m";
    fprintf(stderr, "vitfold: %s%s%s%s\n", colour, row[level].word, end, line);
}
