/* Shape, dtype and content inference: one function per operator, used twice.
 *
 * vf_infer_graph runs it over a graph with symbolic dims and fills type and content of every
 * value; passes and the matcher read these. Lowering runs vf_infer_node itself, node by node,
 * with concrete shapes, to learn the shape of every result.
 *
 * Source: the ONNX operator documents, opsets 7 to 28.
 */
#ifndef VF_IR_INFER_H
#define VF_IR_INFER_H

#include "passes/ir/graph.h"
#include "passes/ir/verify.h"

/* What is known of one value. */
typedef struct VfFact {
    VfType type;
    const VfTensor *tensor; /* contents when wholly known, else NULL */
    const VfDim *content;   /* contents of an integer (or bool) tensor of rank 0 or 1, at most
                             * VF_CONTENT_MAX elements, as symbolic numbers; NULL when unknown.
                             * Elements may be unknown one by one. */
    int32_t n_content;
} VfFact;

enum { VF_CONTENT_MAX = 64 };

/* Computes a node whose operands are all constant: in[i] NULL when omitted; out[i] are new tensors
 * in `arena`. VF_UNSUPPORTED when it cannot. Supplied by the layer that has the kernels. */
typedef struct VfEvaluator {
    VfStatus (*evaluate)(const struct VfEvaluator *self, VfArena *arena, const VfNode *node,
                         const VfTensor *const *in, const VfTensor **out, VfErr *err);
} VfEvaluator;

/* Infer the results of `node` from facts of its operands (in[i] NULL when omitted). `out` has n_out
 * entries, zeroed facts on entry; what cannot be known stays unknown and is no error. `arena` keeps
 * dims and contents. VF_INVALID: the operands contradict the operator (sentence names node and
 * shapes). VF_UNSUPPORTED never. Nodes without a row or inference function, and control flow, leave
 * all unknown. */
VfStatus vf_infer_node(VfArena *arena, VfSymbols *symbols, const VfNode *node,
                       const VfFact *const *in, VfFact *out, VfErr *err);

/* Fill value->type and value->content of every value of `graph` and its subgraphs, in the model's
 * arena. What a file declares is refined; a declared number gives way to a symbol that follows from
 * the inputs, because files are made dynamic by changing their inputs alone. A provable
 * contradiction is VF_INVALID, but for results nobody reads. With `evaluator`, nodes whose operands
 * are all constant and small (<= VF_CONTENT_MAX elements) get their contents by computing. May be
 * run again. */
VfStatus vf_infer_graph(VfGraph *graph, const VfEvaluator *evaluator, VfErr *err);

/* All contradictions that inference finds in the graph, one sentence for each node, added to
 * `faults` in `arena`. Those behind go on with what is declared of the results of such a node, or,
 * where the declaration is the fault, with what it must be. Nothing is kept in the graph, which
 * need not be well formed but sorted. */
VfStatus vf_infer_check(VfGraph *graph, VfArena *arena, VfFaults *faults, VfErr *err);

/* Elements of an axis of `dim` that Slice takes from `start` to `end` in steps that are not 0;
 * `*first` is the first of them. Numbers as the operator has them, negative ones from the end. */
int64_t vf_slice_count(int64_t dim, int64_t start, int64_t end, int64_t step, int64_t *first);

/* Whether operators of `opset` take operands of the dtypes that those of `node` have together; what
 * is not known is taken. `arena` is for what is needed meanwhile. */
VfStatus vf_infer_takes_dtypes(VfArena *arena, const VfNode *node, int64_t opset, bool *takes,
                               VfErr *err);

/* The contents of a fact as a tensor in `arena`, or NULL where an element is not a plain number. */
VfStatus vf_infer_number_tensor(VfArena *arena, const VfFact *fact, const VfTensor **out,
                                VfErr *err);

/* The fact a value's type, tensor and content state. */
VfFact vf_value_fact(const VfValue *value);

#endif
