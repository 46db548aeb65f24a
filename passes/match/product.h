/* Operators that multiply and sum, in one form: MatMul, Gemm, Einsum and the fused MatMuls of
 * com.microsoft as an equation over lettered axes.
 *
 * Every axis of every operand and of the result carries a letter (a small number). Axes with
 * equal letters run together; letters absent from the result are summed over. Gemm's operand C
 * and constant factors (alpha) are no part of the equation.
 */
#ifndef VF_MATCH_PRODUCT_H
#define VF_MATCH_PRODUCT_H

#include "passes/ir/graph.h"

enum { VF_PRODUCT_IN_MAX = 4, VF_AXIS_MAX = 8 };

typedef struct VfProduct {
    VfNode *node;
    VfValue *out;
    int32_t n_in;
    VfValue *in[VF_PRODUCT_IN_MAX];
    int32_t rank[VF_PRODUCT_IN_MAX];
    int8_t letter[VF_PRODUCT_IN_MAX][VF_AXIS_MAX];
    int32_t out_rank;
    int8_t out_letter[VF_AXIS_MAX];
} VfProduct;

/* Describe `node`. False: no such operator, an unknown rank, or an equation out of bounds. */
bool vf_product_of(VfNode *node, VfProduct *product);

/* Axis of operand `i` (or of the result) with `letter`, or -1. */
int32_t vf_product_axis(const VfProduct *product, int32_t i, int8_t letter);
int32_t vf_product_out_axis(const VfProduct *product, int8_t letter);

/* Is `letter` summed over, and in at least two operands? */
bool vf_product_is_contracted(const VfProduct *product, int8_t letter);

/* Number of operands that are not constant. */
int32_t vf_product_n_runtime(const VfProduct *product);

/* The operand that has `letter`; with several the one whose axis is not 1 long; -1 if none. */
int32_t vf_product_owner(const VfProduct *product, int8_t letter);

#endif
