/* Loop and Scan are unrolled when the plan is made: what their trips carry and gather. */
#ifndef VF_LOWER_UNROLL_H
#define VF_LOWER_UNROLL_H

#include "converter/lower/emit.h"

enum { VF_UNROLL_MAX = 1 << 20 }; /* trips */

/* The trips of a body so far. Its results from `first` on are the states, then what is gathered. */
typedef struct VfUnrolled {
    const VfGraph *body;
    int32_t first, n_state, n_scan;
    VfLowValue **state;
    VfLowValue ***scan; /* of each gathered result, the value of each trip */
    int64_t n_trip;
    size_t capacity;
} VfUnrolled;

/* `u` has body, first, n_state and n_scan; the states start as `state`. */
VfStatus vf_unroll_start(VfLower *cx, VfUnrolled *u, VfLowValue *const *state, VfErr *err);
/* Walk the body, whose inputs are set, and take what it gives. */
VfStatus vf_unroll_trip(VfLower *cx, VfUnrolled *u, VfErr *err);
/* Zeros in place of what trips up to `n_trip` would have gathered, when there was one. */
VfStatus vf_unroll_pad(VfLower *cx, VfUnrolled *u, int64_t n_trip, VfErr *err);
/* Gathered result `k` of all trips along a new axis, which may be negative. Without a trip it has
 * length 0 there, and otherwise the dims that are known of the body's result. VF_UNSUPPORTED when
 * they are not known, or trips give unlike dims or no tensors. */
VfStatus vf_unroll_stack(VfLower *cx, const VfLowCall *call, const VfUnrolled *u, int32_t k,
                         int64_t axis, VfLowValue **out, VfErr *err);
/* `n` values, at least 1, along a new axis, from 0 to their rank. */
VfStatus vf_unroll_stack_list(VfLower *cx, int64_t n, VfLowValue **list, int32_t axis,
                              VfLowValue **out, VfErr *err);

#endif
