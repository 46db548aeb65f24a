/* The operators we know: one row each in ops.def.
 *
 * A row gives the ONNX name and domain, arity, flags and the first opset; the attributes
 * and their defaults by opset are in attr_defaults.def. Operators without a row are VF_OP_OTHER and
 * pass through.
 */
#ifndef VF_IR_OP_H
#define VF_IR_OP_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/bytes.h"

typedef enum VfOp {
    VF_OP_OTHER = 0,
    VF_OP_RETURN, /* sentinel of a graph */
#define VF_OP(id, name, domain, min_in, max_in, min_out, max_out, flags, since) VF_OP_##id,
#include "passes/ir/ops.def"
#undef VF_OP
    VF_OP_COUNT
} VfOp;

/* Flags of an operator. */
enum {
    VF_OPF_ELEMENTWISE = 1, /* result element i depends on (broadcast) operand elements i alone */
    VF_OPF_COMMUTATIVE = 2, /* operands 0 and 1 may be swapped */
    VF_OPF_IMPURE =
        4, /* random or otherwise not a function of its operands: never folded or merged */
    VF_OPF_CONTROL = 8, /* has subgraphs */
    VF_OPF_VIEW =
        16, /* result holds the same elements in the same order (Reshape, Squeeze, Identity, ...) */
    VF_OPF_ANY_KIND = 32, /* operands may be sequences and optionals */
    VF_OPF_EARLY = 64 /* onnxruntime writes it with the same meaning into models of opsets before
                       * the first that has it */
};

enum { VF_OPSET_NEWEST = 28 }; /* of the default domain, that ops.def speaks of */

typedef struct VfOpInfo {
    VfOp op;
    const char *name;   /* ONNX spelling */
    const char *domain; /* "" default */
    int32_t min_in, max_in;   /* max -1: any number */
    int32_t min_out, max_out;
    uint32_t flags;
    int32_t since;      /* first opset version of the domain that has it */
} VfOpInfo;

/* The row of `op`; of VF_OP_OTHER for ids out of range. Never NULL. */
const VfOpInfo *vf_op_info(VfOp op);

typedef struct VfArity {
    int32_t min_in, max_in; /* max -1: any number */
    int32_t min_out, max_out;
} VfArity;

/* What holds in `opset` of the operator's domain; opset 0, not known: the widest. */
VfArity vf_op_arity(VfOp op, int64_t opset);

/* Is the operator invalid without this operand, even if later ones are given? */
bool vf_op_needs(VfOp op, int64_t opset, int32_t slot);

/* The op of an ONNX name in a domain, VF_OP_OTHER when there is no row. */
VfOp vf_op_find(VfBytes domain, VfBytes name);

static inline bool vf_op_has(VfOp op, uint32_t flag) { return (vf_op_info(op)->flags & flag) != 0; }

#endif
