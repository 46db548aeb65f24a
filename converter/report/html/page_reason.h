/* Groups of a page that say why sites were left alone, each with a drawing: the site, the node that
 * the reason is about, what the reason names, and how they hang together, marked; around them their
 * neighbours.
 */
#ifndef VF_REPORT_PAGE_REASON_H
#define VF_REPORT_PAGE_REASON_H

#include "converter/report/html/page.h"

/* Nodes of one reason that are drawn. */
enum { VF_PAGE_NAMED_MAX = 4 };

/* A node at which something is to be said. */
typedef struct VfPageReasoned {
    int32_t number;       /* of the place, as VfPagePlace */
    const char *label;    /* of the place */
    const char *title;    /* stands before the reason, NULL: nothing does */
    const char *reason;   /* may name nodes and values in 'quotes' */
    const VfNode *node;   /* what it is about; NULL: there is nothing to draw */
    const VfNode *site;   /* where the site begins, perhaps `node`; NULL: not known */
    const VfNode *named[VF_PAGE_NAMED_MAX]; /* that the reason names */
    int32_t n_named;
    int32_t n_context;    /* steps to neighbours that are drawn */
    VfBytes lines;        /* of the place; empty: none */
} VfPageReasoned;

/* Add a place to `part` of `page`: to the group of equal words but for those in quotes and equal
 * look but for names, else to a new one, which is drawn. Words are copied; `scratch` is reset. The
 * page's layouter is to be stopped after the last one. */
VfStatus vf_page_add_reason(VfPage *page, VfPagePart *part, const VfPageReasoned *said,
                            VfArena *scratch, VfErr *err);

#endif
