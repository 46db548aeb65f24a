/* Pages of reports: what converter/report/html needs to know of a conversion or a diff.
 */
#ifndef VF_API_PAGE_H
#define VF_API_PAGE_H

#include "converter/api/inspect.h"
#include "converter/report/diff.h"
#include "converter/report/html/page.h"

/* An empty page in `arena`. */
VfStatus vf_page_new(VfArena *arena, const char *title, VfPage **page, VfErr *err);

/* The edits of the last transform and all nodes. Before anything else changes the graph. */
VfStatus vf_page_of_transform(VfArena *arena, const VitfoldModel *model, VfPage **page,
                              VfErr *err);

/* A map of `model`, in which `sites` were found; where it cannot be drawn, the page says so. */
VfStatus vf_page_add_map(VfPage *page, const char *caption, VfModel *model,
                         const VfSiteList *sites, VfErr *err);

/* A map of the model's file; none of a model that was transformed, or whose sites cannot be found.
 */
VfStatus vf_page_add_file_map(VfPage *page, const char *caption, const VitfoldModel *model,
                              VfErr *err);

/* Then: what the model was and has become. */
VfStatus vf_page_add_sides(VfPage *page, const VitfoldModel *model, const VfInspection *side,
                           VfErr *err);

/* --- summarize.c --- */

/* What each pass did, clean-up passes that ran several times once. `merged` has room for all of
 * them; returns how many there are. */
int32_t vf_merge_stats(const VitfoldModel *model, VfPassStats *merged);

#endif
