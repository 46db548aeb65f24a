/* What inspect finds out about one model, and its two renderings. */
#ifndef VF_API_INSPECT_H
#define VF_API_INSPECT_H

#include "converter/api/handle.h"
#include "converter/api/sites.h"

typedef struct VfInspection {
    const VitfoldModel *model; /* as the file has it */
    const char *title;         /* column heading: the path */
    VfModel *clean;            /* cleaned up; owned */
    VfSiteList sites;          /* of clean */
    VfOpCount *op;             /* of the file */
    size_t n_op;
    int64_t n_node;
    bool has_cost;
    VfCost cost;
    VfOpCost *op_cost; /* has_cost: by operator, after clean-up; else none */
    size_t n_op_cost;
    VitfoldDim *assumed; /* symbolic sizes that the cost is for */
    size_t n_assumed;
} VfInspection;

/* Look at the model's file. Lists are in `arena`; close also after a failure. */
VfStatus vf_inspection_open(VfArena *arena, const VitfoldModel *model, const VitfoldDim *dim,
                            size_t n_dim, VfInspection *inspection, VfErr *err);
void vf_inspection_close(VfInspection *inspection);

/* --- inspect_json.c, inspect_text.c --- */
void vf_inspection_json(const VfInspection *inspection, VfJson *json);
void vf_inspection_text(const VfInspection *inspection, VfArena *arena, VfText *text);

/* Why the costs are missing, and what to do about it. */
void vf_inspection_misfit(const VfInspection *inspection, VfText *text);

/* --- inspect_side.c --- */

/* Several models as columns. */
void vf_inspections_text(const VfInspection *inspection, size_t n, VfArena *arena, VfText *text);

/* A model before and after, as columns: the facts of vf_inspection_fact. */
void vf_sides_text(const VfInspection side[2], VfArena *arena, VfText *text);

/* Append fact `i` to `text` and return what it is about; NULL past the last. `*number` is what can
 * be compared, NaN for none. */
const char *vf_inspection_fact(const VfInspection *inspection, size_t i, VfText *text,
                               double *number);

#endif
