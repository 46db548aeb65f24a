/* The one signature of all kernels, and the table of them.
 *
 * A kernel is a pure function: it reads `in`, writes all of its share of `out`, may use
 * `scratch`, and takes everything else from `params`, a plain struct that its header
 * documents. It does not allocate, log, fail, or keep state. The executor calls kernels
 * through the table; generated C calls them by name; both link the same source.
 *
 * Work is cut into units (rows, elements, images: the kernel's header says). A call does
 * the units [begin, end). Units are independent: no two write the same byte, and the bits
 * of a unit's result do not depend on which other units share its call. So results do not
 * depend on the number of threads.
 *
 * Kernels are compiled without floating-point contraction and without fast-math, once per
 * instruction set; the bits are the same in all of them. Sums run in an order that the
 * source fixes. Matrix products, attention and convolutions are the exception: their "fma"
 * variants fuse each multiplication with its addition, and "blas" ones are as OpenBLAS is.
 */
#ifndef VFK_KERNEL_H
#define VFK_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/kernels/dtype.h"

enum { VFK_MAX_RANK = 8 }; /* after lowering has merged axes that can be merged */

/* The first index outside its axis that a kernel met. */
typedef struct VfkFault {
    int64_t index;  /* as it was given */
    int64_t dim;    /* of the axis */
    int64_t is_set; /* 0: there was none */
} VfkFault;

typedef struct VfkArgs {
    const void *const *in; /* operands, as the kernel's header orders them; NULL where absent */
    void *const *out;      /* results; overlap `in` only if the kernel's row says VFK_IN_PLACE */
    void *scratch;         /* what the step asked for, 64-byte aligned, of this worker alone */
    const void *params;    /* the kernel's params struct */
    int64_t begin;         /* first unit of work of this call */
    int64_t end;           /* one past the last */
    VfkFault *fault;       /* of this worker alone, set by kernels with VFK_INDEXED; or NULL */
} VfkArgs;

typedef void VfkFn(const VfkArgs *args);

/* How one field of a params struct is printed into C and digested. */
typedef enum VfkFieldType {
    VFK_FIELD_I32,
    VFK_FIELD_I64,
    VFK_FIELD_F32,
    VFK_FIELD_F64
} VfkFieldType;

typedef struct VfkField {
    const char *name;
    size_t offset;
    VfkFieldType type;
    int32_t count; /* 1, or the length of an array member */
} VfkField;

/* Kernel flags. */
enum {
    VFK_IN_PLACE = 1, /* out[0] may be the very buffer in[0] (same size) */
    VFK_INDEXED = 2   /* reads indices, which may lie outside their axis: tells `fault`, goes on */
};

/* One row of kernels.def. */
typedef struct VfkKernel {
    const char *name; /* "softmax_f32": op and dtype; unique with `variant` */
    const char *variant; /* "ref", "blas", "v3", ... ; what the function is named after */
    const char *symbol;  /* "vfk_softmax_f32_ref" */
    const char *source;  /* the .c file under runtime/kernels that holds it */
    const char *params;  /* name of the params struct, "VfkSoftmaxParams" */
    size_t params_bytes;
    const VfkField *field;
    int32_t n_field;
    uint32_t flags;
    VfkFn *fn;
} VfkKernel;

/* The rows, in the order of kernels.def. */
extern const VfkKernel *const vfk_kernel_table;
extern const int32_t vfk_kernel_count;

/* Which variants may be chosen. Sizes that "blas" takes are of type int. */
enum { VFK_BEST, VFK_REFERENCE, VFK_WIDE /* any but "blas" */ };

/* The best of these variants of kernel `name` ("matmul_f32") that this machine can run, or NULL. */
const VfkKernel *vfk_kernel_find(const char *name, int choice);

/* Whether the sizes in `params` of a step of `kernel` fit int: else "blas" cannot take it. */
int vfk_fits_int(const VfkKernel *kernel, const void *params);

#endif
