/* A whole model in few boxes: a map of what is where, block by block.
 *
 * The caller says which nodes are what it wants to see (sites: attention, norms, layers with
 * weights). Everything else is folded into them: what computes shapes is left out, what only moves
 * data or works element by element joins the box it comes from, and the rest gets boxes of its
 * own, named by operator. Sums of several boxes are joints, "+".
 *
 * Rows are blocks. A block ends at a residual sum; sums that follow an attention in the same
 * name scope, or the one that follows it where names say nothing, belong to its row. Headings are
 * stages: runs of blocks whose results have one shape. Where the map would be too large, blocks
 * that look alike are drawn once with their count; if that is not enough each row becomes one box,
 * and then several rows. So every graph gets a map of at most about VF_MAP_BOX_MAX boxes.
 */
#ifndef VF_DRAW_MAP_H
#define VF_DRAW_MAP_H

#include "converter/draw/sheet.h"

enum { VF_MAP_BOX_MAX = 150 };

/* Something the caller wants to see as one box. */
typedef struct VfMapSite {
    VfTone tone;
    int32_t n_line;
    const VfBytes *line;
    VfBytes tip;
} VfMapSite;

typedef struct VfMapAsk {
    VfBytes title;
    const VfGraph *graph;
    int32_t n_site;
    const VfMapSite *site;
    const int32_t *site_of;   /* by node id: number of the site, or -1 */
    const char *const *note;  /* by node id: a word for the box the node joins ("gelu"), or NULL */
} VfMapAsk;

/* In `arena`. */
VfStatus vf_map_sheet(VfArena *arena, const VfMapAsk *ask, VfDrawSheet *sheet, VfErr *err);

#endif
