#include "converter/api/progress.h"

VfStatus vf_progress_tell(const VfProgress *progress, VfErr *err)
{
    if (progress == NULL || progress->fn == NULL ||
        progress->fn(progress->user, progress->what, progress->done, progress->total) == 0)
        return VF_OK;
    return vf_fail(err, VF_CANCELLED, "interrupted at step %zu of %zu", progress->done,
                   progress->total);
}

VfStatus vf_progress_step(VfProgress *progress, const char *what, VfErr *err)
{
    progress->what = what;
    progress->done++;
    return vf_progress_tell(progress, err);
}
