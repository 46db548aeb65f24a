/* The lowering functions of lower.def. */
#ifndef VF_LOWER_OPS_H
#define VF_LOWER_OPS_H

#include "converter/lower/emit.h"

#define VF_LOWER(op, fn, arg, flags) VfLowFn fn;
#include "converter/lower/lower.def"
#undef VF_LOWER

/* Shared between files of operators. */

/* `x` in another dtype, through a third where there is no kernel for the pair. */
VfStatus vf_low_convert(VfLower *cx, VfLowValue *x, VfDtype to, int64_t saturate, VfLowValue **out,
                        VfErr *err);
/* out[i] = x[table...], see copy.h; `table` holds the entries of all axes of `out`. `fill` may be
 * NULL. */
VfStatus vf_low_index_copy(VfLower *cx, VfLowValue *x, const int64_t *table, VfLowValue *fill,
                           VfLowValue *out, VfErr *err);
/* ONNX Gather. */
VfStatus vf_low_gather_axis(VfLower *cx, VfLowValue *x, VfLowValue *index, int32_t axis,
                            VfLowValue **out, VfErr *err);
/* layer_norm or rms_norm of x, scale, bias over the axes from `axis` on. */
VfStatus vf_low_row_norm(VfLower *cx, const char *op, VfLowValue *const operand[3], int32_t axis,
                         double eps, VfLowValue **out, VfErr *err);

#endif
