/* Work that may end its process, done in a child process.
 *
 * For libraries that end the program when they get no memory, lose some, or keep state: what
 * happens in the child stays there, but for the bytes it answers. The child is a copy of the caller
 * (no other program is started), made when it is first asked; it sees the caller's memory as it was
 * then, so all it needs later must be in the request. Only the thread that asked goes on in it.
 * Nothing it prints is seen, and none of the caller's exit handlers runs in it.
 *
 * A program that waits for every child by itself, or ignores SIGCHLD, loses nothing by that:
 * whether the work was done is told by what came back.
 */
#ifndef VF_DRAW_APART_H
#define VF_DRAW_APART_H

#include <sys/types.h>

#include "runtime/base/text.h"

/* The child, if there is one: zero where nothing was asked. One thread at a time may use it; it
 * must be stopped in the end. */
typedef struct VfApart {
    pid_t child;
    int fd;
    bool is_late; /* it took too long: nothing more is done */
} VfApart;

typedef struct VfApartJob {
    const char *what; /* cannot be done when it fails: "lay out a drawing" */
    const char *who;  /* does the work: "Graphviz" */
    const char *why;  /* it may have ended: "as it does without memory" */
    unsigned seconds; /* of processor time that all requests together may take */
    /* Append the answer to `out`, whose arena is the child's and is reset after each request. */
    VfStatus (*work)(VfBytes request, VfText *out, VfErr *err);
} VfApartJob;

/* The answer, in `arena`, or how the work failed. VF_IO: the child cannot be started, or was ended
 * by a signal or by itself; asked again, there is a new one. VF_UNSUPPORTED: it takes too long. */
VfStatus vf_apart_ask(VfApart *apart, const VfApartJob *job, VfArena *arena, VfBytes request,
                      VfBytes *answer, VfErr *err);

/* End the child, if there is one, and wait for that. */
void vf_apart_stop(VfApart *apart);

#endif
