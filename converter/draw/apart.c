#include "converter/draw/apart.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* What comes first of an answer; `size` bytes follow: the result, or the sentence. */
typedef struct Head {
    VfStatus status;
    size_t size;
} Head;

/* --- both sides --- */

static bool send_all(int to, const void *data, size_t size)
{
    const char *at = data;
    while (size > 0) {
        ssize_t n = send(to, at, size, MSG_NOSIGNAL);
        if (n < 0 && errno != EINTR)
            return false;
        at += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

static bool receive_all(int from, void *data, size_t size)
{
    char *at = data;
    while (size > 0) {
        ssize_t n = read(from, at, size);
        if (n == 0 || (n < 0 && errno != EINTR))
            return false;
        at += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

/* --- the child --- */

static void leave(void)
{
    _exit(EXIT_FAILURE);
}

/* A library that calls exit must not write once more what the caller's streams hold: of handlers
 * the last one is called first. */
static bool is_set_apart(unsigned seconds)
{
    struct rlimit no_core = {0, 0}, time = {seconds, seconds + 1};
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nowhere < 0 || atexit(leave) != 0)
        return false;
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (dup2(nowhere, fd) < 0)
            return false;
    setrlimit(RLIMIT_CORE, &no_core);
    setrlimit(RLIMIT_CPU, &time);
    return signal(SIGXCPU, SIG_DFL) != SIG_ERR;
}

/* False when there is no more to do. */
static bool answer_one(const VfApartJob *job, VfArena *arena, int fd)
{
    VfErr err = {.status = VF_OK};
    VfText text;
    size_t size;
    if (!receive_all(fd, &size, sizeof size))
        return false;
    char *request = VF_NEW_ARRAY(arena, char, size);
    if (request == NULL || !receive_all(fd, request, size))
        return false;
    vf_text_init(&text, arena);
    Head head = {.status = job->work((VfBytes){request, size}, &text, &err)};
    if (head.status == VF_OK && text.failed)
        head.status = vf_no_memory(&err);
    const char *data = head.status == VF_OK ? text.data : err.text;
    head.size = head.status == VF_OK ? text.size : strlen(err.text);
    bool is_sent = send_all(fd, &head, sizeof head) && send_all(fd, data, head.size);
    vf_arena_reset(arena);
    return is_sent;
}

static _Noreturn void serve(const VfApartJob *job, int fd)
{
    VfArena *arena = is_set_apart(job->seconds) ? vf_arena_new() : NULL;
    if (arena == NULL)
        leave();
    while (answer_one(job, arena, fd))
        continue;
    _exit(EXIT_SUCCESS);
}

/* --- the caller --- */

static VfStatus start(VfApart *apart, const VfApartJob *job, VfErr *err)
{
    int end[2];
    if (apart->child > 0)
        return VF_OK;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, end) != 0)
        return vf_fail(err, VF_IO, "cannot %s: no way to a process: %s", job->what,
                       strerror(errno));
    pid_t child = fork();
    if (child == 0) {
        close(end[0]);
        serve(job, end[1]);
    }
    VfStatus status = child > 0 ? VF_OK
                                : vf_fail(err, VF_IO, "cannot %s: no process: %s", job->what,
                                          strerror(errno));
    close(end[1]);
    if (child > 0)
        *apart = (VfApart){child, end[0], false};
    else
        close(end[0]);
    return status;
}

/* `*is_whole`: all that was to come has come. */
static VfStatus receive(VfArena *arena, int from, VfBytes *answer, bool *is_whole, VfErr *err)
{
    Head head;
    if (!receive_all(from, &head, sizeof head))
        return VF_OK;
    char *data = VF_NEW_ARRAY(arena, char, head.size + 1);
    VF_TRY_ALLOC(data, err);
    *is_whole = receive_all(from, data, head.size);
    data[head.size] = '\0';
    *answer = (VfBytes){data, head.size};
    return !*is_whole || head.status == VF_OK ? VF_OK : vf_fail(err, head.status, "%s", data);
}

/* How the child ended, as waitpid says it; 0 if another part of the program has taken it. */
static int stop(VfApart *apart)
{
    int ended = 0;
    pid_t got;
    shutdown(apart->fd, SHUT_RDWR); /* closing is not enough: other children may hold a copy */
    close(apart->fd);
    do
        got = waitpid(apart->child, &ended, 0);
    while (got < 0 && errno == EINTR);
    ended = got == apart->child ? ended : 0;
    *apart = (VfApart){0};
    return ended;
}

void vf_apart_stop(VfApart *apart)
{
    if (apart->child > 0)
        (void)stop(apart);
}

static VfStatus tell_late(const VfApartJob *job, VfErr *err)
{
    return vf_fail(err, VF_UNSUPPORTED, "cannot %s: %s takes more than %u seconds", job->what,
                   job->who, job->seconds);
}

static VfStatus tell_end(const VfApartJob *job, int ended, VfErr *err)
{
    bool has_signal = WIFSIGNALED(ended);
    return vf_fail(err, VF_IO, "cannot %s: %s ended with %s %d, %s", job->what, job->who,
                   has_signal ? "signal" : "status",
                   has_signal ? WTERMSIG(ended) : WEXITSTATUS(ended), job->why);
}

VfStatus vf_apart_ask(VfApart *apart, const VfApartJob *job, VfArena *arena, VfBytes request,
                      VfBytes *answer, VfErr *err)
{
    bool is_whole = false;
    VfStatus status = VF_OK;
    if (apart->is_late)
        return tell_late(job, err);
    VF_TRY(start(apart, job, err));
    if (send_all(apart->fd, &request.size, sizeof request.size) &&
        send_all(apart->fd, request.data, request.size))
        status = receive(arena, apart->fd, answer, &is_whole, err);
    if (is_whole)
        return status;
    int ended = stop(apart);
    apart->is_late = WIFSIGNALED(ended) && WTERMSIG(ended) == SIGXCPU;
    if (status != VF_OK)
        return status;
    return apart->is_late ? tell_late(job, err) : tell_end(job, ended, err);
}
