#include "converter/report/html/drawn.h"

#include <stdio.h>

#include "converter/draw/svg.h"

static VfStatus put(VfPage *page, const VfDrawing *drawing, const char *prefix, VfPageGroup *group,
                    VfBytes *svg, VfErr *err)
{
    VfText text;
    if (drawing == NULL)
        return VF_OK;
    vf_text_init(&text, page->arena);
    VfSvgOptions options = {.prefix = prefix, .layouter = &page->layouter};
    VfStatus status = vf_drawing_svg(drawing, &options, &text, err);
    if (status == VF_UNSUPPORTED) {
        group->left_out = "Not drawn: it is too large, or takes too long to lay out.";
        return VF_OK;
    }
    VF_TRY(status);
    return vf_text_get(&text, svg, err);
}

VfStatus vf_page_draw(VfPage *page, const VfDrawn *drawn, VfPageGroup *group, VfErr *err)
{
    char prefix[32];
    if (drawn->n_node > VF_PAGE_NODES_MAX) {
        group->left_out = vf_arena_printf(page->arena, "Not drawn: %zu nodes are too many to look "
                                                       "at.", drawn->n_node);
        VF_TRY_ALLOC(group->left_out, err);
        return VF_OK;
    }
    if (page->n_drawn == VF_PAGE_DRAWINGS_MAX) {
        group->left_out = "Not drawn: the page has as many drawings as it may have.";
        return VF_OK;
    }
    page->n_drawn++;
    snprintf(prefix, sizeof prefix, "d%zub", page->n_drawn);
    VF_TRY(put(page, drawn->before, prefix, group, &group->before, err));
    snprintf(prefix, sizeof prefix, "d%zua", page->n_drawn);
    return put(page, drawn->after, prefix, group, &group->after, err);
}
