/* What this machine can do at best, measured with the executor itself. */
#ifndef VF_API_PEAKS_H
#define VF_API_PEAKS_H

#include "runtime/exec/run.h"

typedef struct VfPeaks {
    double sgemm_flops;  /* a second, of the fastest of several products with constant weights */
    double memory_bytes; /* a second, read and written, by adding arrays that no cache holds */
    double cache_bytes;  /* the same with arrays of 1 MiB a thread */
} VfPeaks;

/* The best of several runs of each on the threads of `pool`. Takes some tenths of a second, and the
 * memory of three arrays of twice the last cache. */
VfStatus vf_measure_peaks(VfPool *pool, VfPeaks *peaks, VfErr *err);

#endif
