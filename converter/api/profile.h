/* Distances along the depth of a model: one row for each tensor in the order of the graph, with
 * its depth and whether it ends a block, and the axis and curves of their plots.
 */
#ifndef VF_API_PROFILE_H
#define VF_API_PROFILE_H

#include "converter/api/blocks.h"
#include "converter/api/compare.h"
#include "converter/report/line_plot.h"

typedef struct VfProfileRow {
    VfMoved moved;
    int32_t depth; /* -1: not known, clean-up leaves no such value */
    bool is_end;
} VfProfileRow;

typedef struct VfProfile {
    const VfBlocks *blocks;
    VfIntern *name; /* of blocks->value */
    VfProfileRow *row;
    size_t n_row;
} VfProfile;

/* Room for `n_max` rows. Memory in `arena`; `blocks` is read until all rows are in. */
VfStatus vf_profile_init(VfProfile *profile, VfArena *arena, const VfBlocks *blocks, size_t n_max,
                         VfErr *err);
void vf_profile_add(VfProfile *profile, const VfMoved *moved);

void vf_profile_json(const VfProfile *profile, const char *key, VfJson *json);
void vf_profile_text(const VfProfile *profile, VfArena *arena, VfText *text);

/* The curve and the noise floor; empty without rows. In `arena`. */
VfStatus vf_profile_svg(const VfProfile *profile, VfArena *arena, VfBytes *svg, VfErr *err);

/* --- curves of relative distances on an axis of decades --- */

/* The curve of `moved[0]`, `moved[1]`, ...: |new - old| / |old|, or that of the noise. A gap where
 * they cannot be compared. NULL when out of memory. */
const double *vf_curve(VfArena *arena, const VfMoved *moved, size_t n, bool is_noise);

/* Make the axis count decades, whole ones around all that is above 0. */
void vf_curves_fit(VfPlotPanel *panel);

#endif
