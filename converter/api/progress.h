/* How far long work has come, and whether it should stop. */
#ifndef VF_API_PROGRESS_H
#define VF_API_PROGRESS_H

#include "converter/api/handle.h"

typedef struct VfProgress {
    VitfoldProgressFn *fn; /* NULL: nobody listens */
    void *user;
    const char *what; /* of the current step */
    size_t done, total;
} VfProgress;

/* Tell the current step. VF_CANCELLED when the listener wants to stop. NULL is allowed. */
VfStatus vf_progress_tell(const VfProgress *progress, VfErr *err);

/* Go on to the next step, called `what`, and tell it. */
VfStatus vf_progress_step(VfProgress *progress, const char *what, VfErr *err);

#endif
