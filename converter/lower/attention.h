/* Attention as one operator: shared by the files op_attention*.c.
 *
 * Letters: B batch, H heads of the queries, G heads of keys and values, S queries, L keys.
 */
#ifndef VF_LOWER_ATTENTION_H
#define VF_LOWER_ATTENTION_H

#include "converter/lower/ops.h"

typedef struct VfLowAttention {
    VfLowValue *q, *k, *v; /* B H S D, B G L D, B G L E */
    VfLowValue *mask;      /* bool or additive, or NULL */
    VfLowValue *extra;     /* added as well, of finite numbers, or NULL */
    VfLowValue *n_valid;   /* B: keys that are no padding, or NULL */
    VfLowValue *first;     /* B: place of the first query among the keys; NULL: n_past */
    VfLowValue *sink;      /* H: a score without a key that takes part in the softmax; or NULL */
    double scale, softcap;
    bool is_causal;
    int64_t n_past;    /* keys before the first query */
    int64_t window[2]; /* keys seen to the left and right of a query; -1: all */
    VfDtype softmax_dtype;
    VfLowValue *stage[4]; /* what qk_matmul_output can show */
    VfLowValue *out;      /* B H S E, S before H in memory */
} VfLowAttention;

/* Scores, biases, softmax, product: sets x->stage and x->out. */
VfStatus vf_low_attend(VfLower *cx, VfLowAttention *x, VfErr *err);

/* B S (heads D) as B heads S D; 4-D operands as they are. */
VfStatus vf_low_split_heads(VfLower *cx, VfLowValue *x, int64_t heads, VfLowValue **out,
                            VfErr *err);

/* B heads S D with S before heads in memory, as B S (heads D). */
VfStatus vf_low_join_heads(VfLower *cx, VfLowValue *x, VfLowValue **out, VfErr *err);

/* `*sum` plus `bias`; `*sum` may be NULL. */
VfStatus vf_low_add_bias(VfLower *cx, VfLowValue **sum, VfLowValue *bias, VfErr *err);

/* Earlier keys or values `past` (B G P D, or NULL) before those of `*now`. */
VfStatus vf_low_append_past(VfLower *cx, VfLowValue *past, VfLowValue **now, VfErr *err);

/* 0, 1, ..., n - 1 as i64. */
VfStatus vf_low_count_up(VfLower *cx, int64_t n, VfLowValue **out, VfErr *err);

/* --- rotary positions, op_rotary.c --- */

typedef struct VfLowRotary {
    VfLowValue *cos, *sin; /* a row for each place; without places B S half or S half */
    VfLowValue *place;     /* S, or B S, or NULL */
    int64_t size;          /* columns that are turned; 0: all */
    bool is_interleaved;   /* partners stand side by side, not half the columns apart */
} VfLowRotary;

/* `x`, B H S D, turned by its places, into `y` of the same dims. */
VfStatus vf_low_rotate(VfLower *cx, const VfLowRotary *r, VfLowValue *x, VfLowValue *y, VfErr *err);

/* n places in a row from `first` on, which holds one number or one in each row; NULL: 0. */
VfStatus vf_low_places_from(VfLower *cx, VfLowValue *first, int64_t n, VfLowValue **out,
                            VfErr *err);

#endif
