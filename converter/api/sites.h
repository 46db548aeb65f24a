/* The sites of a model and what it costs, as inspect, explain and the tables of convert show. */
#ifndef VF_API_SITES_H
#define VF_API_SITES_H

#include "passes/fold/plan.h"
#include "passes/match/attention.h"
#include "passes/match/norm.h"

typedef struct VfSiteList {
    VfAttentions attention;
    VfNorms norm;
    VfFoldFacts *fold; /* of each norm.batch */
} VfSiteList;

/* Clean `model` up and find all its sites. Layer norms are listed before constants are folded,
 * so that one that works on a constant (a class token) is counted too. Memory in `arena`. */
VfStatus vf_sites_find(VfArena *arena, VfModel *model, VfSiteList *sites, VfErr *err);

/* How many attention sites are of `kind`. */
int32_t vf_sites_count(const VfSiteList *sites, VfAttentionKind kind);

/* "softmax", "pointwise", "linear", "other". */
const char *vf_attention_kind_name(VfAttentionKind kind);
const char *vf_mask_kind_name(VfMaskKind kind);
const char *vf_fold_direction_name(VfFoldDirection direction);

/* One operator and how often it occurs. */
typedef struct VfOpCount {
    VfBytes name; /* "domain.Op" for other than the default domain */
    int64_t n;
} VfOpCount;

/* The name of a node's operator, in `arena`. */
VfStatus vf_op_name(VfArena *arena, const VfNode *node, VfBytes *name, VfErr *err);

/* The operators of the graph and its subgraphs, sorted by name. */
VfStatus vf_count_ops(VfArena *arena, const VfModel *model, VfOpCount **op, size_t *n_op,
                      int64_t *n_node, VfErr *err);

/* What a model needs, from its inferred types; symbolic sizes must have been fixed before. */
typedef struct VfCost {
    int64_t n_parameter;     /* elements of floating-point constants */
    double parameter_bytes;  /* bytes of all constants */
    double flops;            /* a multiply-add as two; of nodes whose shapes are known */
    double activation_bytes; /* largest sum of results alive at once */
    int32_t n_unknown;       /* nodes whose shapes are not known */
} VfCost;

/* Memory for the count is in `arena`. */
VfStatus vf_cost_of(VfArena *arena, const VfModel *model, VfCost *cost, VfErr *err);

/* The same of one operator. Constants belong to the operator that reads them first. */
typedef struct VfOpCost {
    VfBytes name; /* "domain.Op" for other than the default domain */
    int64_t n;
    double flops;
    int64_t n_parameter;
    double parameter_bytes;
    double result_bytes; /* of all results together; views have none */
    int32_t n_unknown;   /* nodes whose shapes are not known: their flops are missing */
} VfOpCost;

/* One row for each operator of the main graph, most work first. In `arena`. */
VfStatus vf_cost_by_op(VfArena *arena, const VfModel *model, VfOpCost **op, size_t *n_op,
                       VfErr *err);

/* --- cost.c --- */

/* Flops of a node, below 0 if its shapes are not known; bytes of a value, 0 if not known. */
double vf_node_work(const VfNode *node);
double vf_value_bytes(const VfValue *value);

#endif
