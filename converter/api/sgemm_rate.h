/* How fast this machine multiplies float matrices. */
#ifndef VF_API_SGEMM_RATE_H
#define VF_API_SGEMM_RATE_H

#include "runtime/exec/run.h"

/* The best of several runs of one product of 1024 x 1024 matrices by the executor's own kernel on
 * the threads of `pool`, in floating-point operations a second. */
VfStatus vf_sgemm_rate(VfPool *pool, double *rate, VfErr *err);

#endif
