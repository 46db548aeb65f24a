/* Random numbers without state: each is a hash of a seed and of its place.
 *
 *   random  f32 f64; VfkRandomParams; no operand, out: n elements. Units: elements
 *
 * Uniform: offset + scale * u with u in [0, 1), in steps of 2^-53, rounded once (for f32 the
 * largest may round up to offset + scale). Normal: offset + scale * z, by the method of Box and
 * Muller in double.
 */
#ifndef VFK_RANDOM_H
#define VFK_RANDOM_H

#include "runtime/kernels/kernel.h"

typedef struct VfkRandomParams {
    int64_t n;
    int64_t seed;
    int64_t is_normal;
    double offset;
    double scale;
} VfkRandomParams;

#endif
