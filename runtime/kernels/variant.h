/* What every kernel source starts with: the names and prototypes of its variant.
 *
 * The sources are compiled once per instruction set with VFK_VARIANT defined as ref, v3, v4,
 * fma3 or fma4; VFK_FN(add, f32) is then vfk_add_f32_ref and so on. Internal to
 * runtime/kernels.
 */
#ifndef VFK_VARIANT_H
#define VFK_VARIANT_H

#include <assert.h>
#include <math.h>
#include <string.h>

#include "runtime/kernels/attention.h"
#include "runtime/kernels/binary.h"
#include "runtime/kernels/cast.h"
#include "runtime/kernels/conv.h"
#include "runtime/kernels/copy.h"
#include "runtime/kernels/deform.h"
#include "runtime/kernels/det.h"
#include "runtime/kernels/fill.h"
#include "runtime/kernels/gather.h"
#include "runtime/kernels/kernel.h"
#include "runtime/kernels/linear.h"
#include "runtime/kernels/linear_attention.h"
#include "runtime/kernels/map.h"
#include "runtime/kernels/matmul.h"
#include "runtime/kernels/norm.h"
#include "runtime/kernels/pool.h"
#include "runtime/kernels/quantize.h"
#include "runtime/kernels/random.h"
#include "runtime/kernels/reduce.h"
#include "runtime/kernels/resize.h"
#include "runtime/kernels/roi_align.h"
#include "runtime/kernels/scan.h"
#include "runtime/kernels/scatter.h"
#include "runtime/kernels/softmax.h"
#include "runtime/kernels/where.h"

#ifndef VFK_VARIANT
#define VFK_VARIANT ref
#endif

#define VFK_PASTE(op, dtype, variant) vfk_##op##_##dtype##_##variant
#define VFK_PASTE_EXPANDED(op, dtype, variant) VFK_PASTE(op, dtype, variant)
#define VFK_FN(op, dtype) VFK_PASTE_EXPANDED(op, dtype, VFK_VARIANT)

#define VFK_ROW(op, dtype, source, params, flags) VfkFn VFK_FN(op, dtype);
#define VFK_ROW_ONCE(op, dtype, source, params, flags) VfkFn VFK_FN(op, dtype);
#define VFK_ROW_FMA(op, dtype, source, params, flags)
#define VFK_ROW_BLAS(op, dtype, source, params, flags) VfkFn VFK_PASTE(op, dtype, blas);
#include "runtime/kernels/kernels.def"

/* Elements that elementwise kernels hold in a local buffer: a few cache lines of any dtype. */
enum { VFK_BLOCK = 256 };

static inline int64_t vfk_min_i64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t vfk_max_i64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Where batch `index` begins: axes outermost first, `step` apart. */
static inline int64_t vfk_batch_at(int64_t index, int64_t rank, const int64_t *dim,
                                   const int64_t *step)
{
    int64_t at = 0;
    for (int64_t axis = rank - 1; axis >= 0; axis--) {
        at += index % dim[axis] * step[axis];
        index /= dim[axis];
    }
    return at;
}

#endif
