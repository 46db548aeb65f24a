/* Messages about the work, apart from its product.
 *
 * A log is a level and a sink; who starts the work makes it and passes it down. Nothing is
 * printed where no log was passed: `log` may be NULL everywhere. One call is one line,
 * lower case, without a full stop and without a line end.
 */
#ifndef VF_BASE_LOG_H
#define VF_BASE_LOG_H

#include "runtime/base/status.h"

typedef enum VfLogLevel {
    VF_LOG_ERROR,
    VF_LOG_WARNING,
    VF_LOG_NOTE,   /* shown unless asked for quiet */
    VF_LOG_DETAIL, /* -v */
    VF_LOG_DEBUG,  /* -v -v */
    VF_LOG_COUNT
} VfLogLevel;

/* Takes one finished line, at most 4096 bytes. */
typedef void VfLogSink(void *user, VfLogLevel level, const char *line);

typedef struct VfLog {
    VfLogLevel level; /* the last level that is passed on */
    VfLogSink *sink;
    void *user;
} VfLog;

/* Format a line and hand it to the sink. Longer lines are cut. */
void vf_log(const VfLog *log, VfLogLevel level, const char *fmt, ...) VF_PRINTF(3, 4);

/* A sink that writes "vitfold: warning: ..." to stderr; `user` NULL for plain, else coloured. */
void vf_log_to_stderr(void *user, VfLogLevel level, const char *line);

#endif
