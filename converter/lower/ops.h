/* The lowering functions of lower.def. */
#ifndef VF_LOWER_OPS_H
#define VF_LOWER_OPS_H

#include "converter/lower/emit.h"

#define VF_LOWER(op, fn, arg, flags, dtypes) VfLowFn fn;
#include "converter/lower/lower.def"
#undef VF_LOWER

/* Shared between files of operators. */

/* Rough nanoseconds of an element of a map kernel. */
double vf_low_map_cost(const char *op);
/* The dtype of whole bytes that holds what one of several elements a byte does; others as they are.
 */
VfDtype vf_low_byte_dtype(VfDtype dtype);
/* `x` in another dtype, through a third where there is no kernel for the pair. */
VfStatus vf_low_convert(VfLower *cx, VfLowValue *x, VfDtype to, int64_t saturate, VfLowValue **out,
                        VfErr *err);
/* out[i] = x[table...], see copy.h; `table` holds the entries of all axes of `out`, of the last one
 * first. `fill` may be NULL. */
VfStatus vf_low_index_copy(VfLower *cx, VfLowValue *x, const int64_t *table, VfLowValue *fill,
                           VfLowValue *out, VfErr *err);
/* Operands of strings: they are known when the plan is made, and so are the results. */
VfStatus vf_low_equal_strings(VfLower *cx, VfLowCall *call, VfErr *err);
/* The numbers that the strings of operand 0 say, in `dtype`. VF_INVALID: one is no number. */
VfStatus vf_low_parse_strings(VfLower *cx, const VfLowCall *call, VfDtype dtype, VfLowValue **out,
                              VfErr *err);
VfStatus vf_low_print_strings(VfLower *cx, VfLowCall *call, VfErr *err);
/* Is an operand a tensor of strings? */
bool vf_low_has_strings(const VfLowCall *call);
/* Results of a node that moves strings, all of which are known. VF_UNSUPPORTED when other operands
 * are not, or when attributes make it do more than move. */
VfStatus vf_low_move_strings(VfLower *cx, VfLowCall *call, VfErr *err);
/* ScatterND or ScatterElements that joins strings. All operands are known. */
VfStatus vf_low_scatter_strings(VfLower *cx, VfLowCall *call, VfErr *err);

/* --- parts.c --- */

/* The dtype of the two parts of an element: complex numbers, 64-bit integers; else VF_UNDEFINED. */
VfDtype vf_low_part_dtype(VfDtype dtype);
/* Part 0 or 1 of each element of `x`, a view: the real or imaginary part; the first or second half
 * in memory. */
VfStatus vf_low_part(VfLower *cx, VfLowValue *x, int32_t part, VfLowValue **out, VfErr *err);
/* The elements of `dtype` that have these parts. */
VfStatus vf_low_join(VfLower *cx, VfLowValue *const part[2], VfDtype dtype, VfLowValue **out,
                     VfErr *err);
bool vf_low_is_complex(VfDtype dtype);
bool vf_low_has_complex(const VfLowCall *call);
/* Call `fn` with the real parts of the complex operands, then with the imaginary ones, and join
 * the results. */
VfStatus vf_low_call_parts(VfLower *cx, VfLowFn *fn, VfLowCall *call, VfErr *err);
/* ONNX Gather. */
VfStatus vf_low_gather_axis(VfLower *cx, VfLowValue *x, VfLowValue *index, int32_t axis,
                            VfLowValue **out, VfErr *err);
/* ONNX GatherElements; `call` is named in messages. */
VfStatus vf_low_gather_elements(VfLower *cx, const VfLowCall *call, VfLowValue *x,
                                VfLowValue *index, int32_t axis, VfLowValue **out, VfErr *err);
/* ONNX ScatterElements without a reduction: data, indices, updates. */
VfStatus vf_low_scatter_along(VfLower *cx, const VfLowCall *call, VfLowValue *const operand[3],
                              int32_t axis, VfLowValue **out, VfErr *err);
/* Uniform numbers in [0, 1) of the dims of `like`, f32 or f64, from the node's seed. */
VfStatus vf_low_random_like(VfLower *cx, const VfLowCall *call, const VfLowValue *like,
                            VfLowValue **out, VfErr *err);
/* Sums of the products of 8-bit numbers as i32: x, weights, their zero points (may be NULL). The
 * result is fresh and has the dims inferred for result 0. */
VfStatus vf_low_conv_integer(VfLower *cx, VfLowCall *call, VfLowValue *const operand[4],
                             VfLowValue **out, VfErr *err);
/* layer_norm or rms_norm of x, scale, bias over the axes from `axis` on. */
VfStatus vf_low_row_norm(VfLower *cx, const char *op, VfLowValue *const operand[3], int32_t axis,
                         double eps, VfLowValue **out, VfErr *err);

#endif
