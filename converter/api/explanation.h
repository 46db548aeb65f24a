/* What the matcher and the passes say of the sites of a model: gathered once (explain.c), printed
 * as text (explain_text.c), as JSON (explain_json.c) and as a page (explain_page.c).
 *
 * Everything is copied into the arena: the models it was found on are gone when it is printed.
 */
#ifndef VF_API_EXPLANATION_H
#define VF_API_EXPLANATION_H

#include "converter/api/sites.h"
#include "converter/api/vitfold.h"
#include "converter/report/json.h"
#include "passes/rewrite/journal.h"

/* A candidate site and what was said of it. */
typedef struct VfSaid {
    const char *site;   /* its label */
    const char *node;   /* label of the node the reason is about, or NULL */
    const char *rule;   /* a pass: what would be applied, NULL: refused. The matcher: the recogniser
                         * that came nearest */
    const char *reason; /* the first fact that failed; NULL: taken */
    const char *kind;   /* of an attention site; NULL otherwise */
    int32_t index;      /* of an attention site */
} VfSaid;

typedef struct VfSaidList {
    VfSaid *item;
    size_t n, capacity;
} VfSaidList;

typedef struct VfSaidPass {
    const char *name;
    const char *untried; /* why it cannot be tried as it is, or NULL */
    VfSaidList site;
} VfSaidPass;

/* An operand or a result of a node. */
typedef struct VfNodeEnd {
    const char *name, *type;
    const char *from; /* operand: label of the node that makes it, NULL: constant or input; result:
                       * label of the first node that reads it, NULL: none in this graph */
    const char *op;   /* operator of that node; "constant", "input" or "output" without one */
    int32_t n_use;    /* of a result */
} VfNodeEnd;

/* One node looked at closely. */
typedef struct VfNodeDetail {
    const char *name, *op, *line; /* line: its text form */
    VfSaidList role;              /* the sites it belongs to: `rule` says as what */
    VfNodeEnd *in, *out;
    size_t n_in, n_out;
} VfNodeDetail;

typedef struct VfExplanation {
    VfArena *arena;
    const char *file;
    VfSaidList attention, miss;
    VfSaidPass *pass;
    size_t n_pass;
    VfNodeDetail *detail; /* of the nodes asked for by name */
    size_t n_detail, detail_capacity;
    bool is_of_file;      /* those are as the file has them: clean-up takes them away */
} VfExplanation;

/* Append a copy of `said`, its texts copied too. */
VfStatus vf_said_add(VfArena *arena, VfSaidList *list, const VfSaid *said, VfErr *err);

/* Look at the nodes of `model` whose labels match `glob` (as fnmatch), subgraphs too. */
VfStatus vf_explain_nodes(VfExplanation *to, const VfModel *model, const char *glob,
                          const VfAttentions *attention, const VfNorms *norms, VfErr *err);

/* Sites that a pass treats alike share a line; `is_full`: each by name. */
void vf_explanation_text(const VfExplanation *explanation, bool is_full, VfText *text);
void vf_explanation_json(const VfExplanation *explanation, VfJson *json);
/* One HTML document. `model` is what was explained: its file is read once more. */
VfStatus vf_explanation_page(const VfExplanation *explanation, const VitfoldModel *model,
                             VfBytes *html, VfErr *err);

#endif
