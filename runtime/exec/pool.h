/* A pool of threads that share the units of one step.
 *
 * The caller takes part. Which worker does which units follows from the units, the grain and
 * the number of workers alone. A pool may be shared by several runs: while one of them uses it,
 * the others do their steps by themselves, which changes no result.
 *
 * A worker without work looks for more for some 50 microseconds, then sleeps: an idle pool takes
 * no time of a processor. So does the caller that waits for a worker. Where there are more threads
 * than processors for them, all sleep at once.
 */
#ifndef VF_EXEC_POOL_H
#define VF_EXEC_POOL_H

#include <stdint.h>

#include "runtime/exec/run.h"

/* Does the units [begin, end) as worker `worker`, counted from 0. */
typedef void VfPoolFn(void *user, int32_t worker, int64_t begin, int64_t end);

/* Processors that this process may use, at least 1. */
int32_t vf_processor_count(void);

/* Workers, the caller among them; 1 for NULL. */
int32_t vf_pool_size(const VfPool *pool);

/* Do `units` units and return when all are done. As many workers take part as there are pieces of
 * `grain` units, the last one smaller; their shares are equal. */
void vf_pool_share(VfPool *pool, VfPoolFn *fn, void *user, int64_t units, int64_t grain);

#endif
