/* State of one run of inference over a graph; private to passes/ir/infer_graph.c and
 * infer_control.c.
 *
 * Facts are kept apart from the values until the run has succeeded: bodies of loops and functions
 * are visited more than once.
 */
#ifndef VF_IR_INFER_GRAPH_H
#define VF_IR_INFER_GRAPH_H

#include "passes/ir/infer.h"

typedef struct VfInferRun {
    VfModel *model;
    VfArena *scratch; /* facts */
    const VfEvaluator *evaluator;
    VfFact *fact; /* by value id; valid where is_set */
    bool *is_set;
    bool *is_visited;   /* by value id: the value's graph was inferred, so its fact may be kept */
    const VfNode *call; /* call of the function whose body is visited, its attributes resolved; NULL
                           outside */
    int32_t depth;      /* of nested bodies */
    int64_t budget;     /* visits of nodes left; bodies are skipped when it is used up */
    VfFaults *faults;   /* contradictions are collected here, in `fault_arena`; NULL: the first
                         * ends the run */
    VfArena *fault_arena;
    size_t fault_capacity;
    VfErr *err;
} VfInferRun;

/* Visit all nodes of a graph in order. Facts of its inputs must be set, or are taken from their
 * values. */
VfStatus vf_infer_run_graph(VfInferRun *run, const VfGraph *graph);

/* The fact of a value so far. */
const VfFact *vf_infer_run_fact(VfInferRun *run, const VfValue *value);

/* Set the fact of a value, met with what the file declares. `value` may be NULL (omitted). */
VfStatus vf_infer_run_set(VfInferRun *run, const VfValue *value, const VfFact *fact);

/* Visit the graphs among a node's attributes with the types that they declare: those of an operator
 * that is not known. */
VfStatus vf_infer_run_bodies(VfInferRun *run, const VfNode *node);

/* If, Loop, Scan: visit the bodies and set `out`. Of other nodes the bodies alone are visited. */
VfStatus vf_infer_run_control(VfInferRun *run, const VfNode *node, VfFact *out);

#endif
