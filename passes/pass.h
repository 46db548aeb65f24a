/* What a pass is: one const VfPass at the end of one file, one row in passes.def. */
#ifndef VF_PASS_H
#define VF_PASS_H

#include "passes/ir/graph.h"
#include "passes/ir/infer.h"
#include "passes/outside.h"
#include "passes/rewrite/journal.h"
#include "runtime/base/log.h"
#include "runtime/base/option.h"

/* How much a pass may change the function; tests take their strictness from it. */
typedef enum VfExactness {
    VF_EXACT,    /* same bits */
    VF_ROUNDING, /* same function over the reals */
    VF_RETRAINED /* another function: needs other weights */
} VfExactness;

/* Which sites a pass may touch, by number in graph order and by name. */
typedef struct VfSites {
    const char
        *spec; /* "all", "0-5,9", a name glob, "windows-only", "global-only"; NULL is "all" */
    struct VfSitesSeen *seen; /* filled with the sites a pass asks for; NULL: nobody wants them */
} VfSites;

/* Facts of one site that selection needs. */
typedef struct VfSiteFacts {
    int32_t index;     /* position among the pass's sites, from 0 */
    const char *label; /* name matched by a glob */
    bool is_window;
} VfSiteFacts;

/* The sites of a pass: those it asked to be selected, by number, each once with the name it had
 * first. What has no number is left out. */
typedef struct VfSeenSite {
    int32_t index;
    const char *label; /* in the arena of the list */
    bool is_selected;
} VfSeenSite;

typedef struct VfSitesSeen {
    VfArena *arena;
    VfSeenSite *site; /* in the order in which they were asked for */
    int32_t n_site;
    size_t capacity;
} VfSitesSeen;

typedef struct VfPassCx {
    VfModel *model;
    VfJournal *journal;
    VfArena *arena;      /* reset after the pass */
    void *own;           /* what the pass keeps for itself, in `arena`; NULL at its start */
    const void *options; /* the pass's option struct, filled from its table */
    VfSites sites;
    const VfEvaluator *evaluator; /* computes nodes with constant operands; NULL: cannot */
    const VfCalibration *calibration; /* NULL: no data was given */
    const VfArrayReader *arrays;      /* NULL: files cannot be read */
    const VfLog *log;
    const char *pass;   /* CLI name */
    int32_t n_edit_max; /* edits in the journal at which to stop (--stop-after); -1 no limit */
} VfPassCx;

typedef struct VfPass {
    const char *name;    /* CLI spelling, "fold-bn" */
    const char *summary; /* one line */
    const char *source;  /* paper and section, or ONNX operator */
    VfExactness exactness;
    bool is_default;        /* in the default pipeline of `convert` */
    bool is_cleanup;        /* run before and after every pipeline too */
    const VfOption *option; /* rows; NULL if none */
    int32_t n_option;
    size_t options_bytes;
    /* Visit the main graph, subgraphs and function bodies as the pass sees fit; every change goes
     * through a VfRewrite. Must reach a fixed point: a second run makes no edit. */
    VfStatus (*run)(VfPassCx *cx, VfErr *err);
} VfPass;

/* Is the site selected? VF_USAGE for a malformed selection. Notes the site in sites->seen. */
VfStatus vf_sites_select(const VfSites *sites, const VfSiteFacts *site, bool *selected, VfErr *err);

/* May the pass still edit (--stop-after)? */
bool vf_pass_may_edit(const VfPassCx *cx);

/* Record that a site was left alone: site label, node, printf sentence. */
VfStatus vf_pass_refuse(VfPassCx *cx, const char *site, const VfNode *node, VfErr *err,
                        const char *fmt, ...) VF_PRINTF(5, 6);

/* The same where there is nothing to refuse, because the model's opset lacks the operator that the
 * pass would put in place: it is told, but does not count where every site has to be changed. */
VfStatus vf_pass_no_site(VfPassCx *cx, const char *site, const VfNode *node, VfErr *err,
                         const char *fmt, ...) VF_PRINTF(5, 6);

/* --- walking; visit.c --- */

/* Visit the main graph, its subgraphs (in graph order, outer first) and all function bodies. */
typedef VfStatus VfGraphVisit(VfPassCx *cx, VfGraph *graph, void *self, VfErr *err);
VfStatus vf_pass_each_graph(VfPassCx *cx, VfGraphVisit *visit, void *self, VfErr *err);

/* For passes that change norms of graphs alone: record as refused every selected node of an `op`
 * (the list ends with VF_OP_OTHER) in the body of a function, which clean-up could not put in place
 * of its calls. */
VfStatus vf_pass_refuse_in_functions(VfPassCx *cx, const VfOp *op, VfErr *err);

/* Lists for it: BatchNormalization; LayerNormalization and RMSNormalization. */
extern const VfOp vf_batch_norm_op[], vf_layer_norm_op[];

/* One sweep over the nodes of all these graphs in graph order. The visit may edit: nodes removed
 * meanwhile are left out, nodes added meanwhile are not visited in this sweep. Stops early when
 * vf_pass_may_edit says no more. */
typedef VfStatus VfNodeVisit(VfPassCx *cx, VfNode *node, void *self, VfErr *err);
VfStatus vf_pass_each_node(VfPassCx *cx, VfNodeVisit *visit, void *self, VfErr *err);

/* Sweep until a sweep makes no edit. VF_INTERNAL when that does not happen within a bound (a rule
 * undoes another). */
VfStatus vf_pass_until_fixed(VfPassCx *cx, VfNodeVisit *visit, void *self, VfErr *err);

/* Run `sweep` with is_last false until it edits nothing, `n_sweep_max` times at most, then once
 * with is_last true, when it edits no more and records its refusals. */
VfStatus vf_pass_sweep(VfPassCx *cx, VfStatus (*sweep)(VfPassCx *cx, bool is_last, VfErr *err),
                       int32_t n_sweep_max, VfErr *err);

/* --- registry.c --- */
extern const VfPass *const vf_pass_table[];
extern const int32_t vf_pass_count;
/* NULL when unknown. */
const VfPass *vf_pass_find(const char *name);

/* VF_USAGE: there is no pass `name`; names the nearest that there is. */
VfStatus vf_pass_unknown(const char *name, VfErr *err);

#endif
