/* What a page says, apart from how it is marked up (render.h).
 *
 * A page is a summary in tables, parts (one a pass, or the edits of a diff), and sections that
 * others add. A part holds groups of places: edits that look alike but for names are drawn once,
 * and their places listed. Everything points into one arena or into the models, and words may hold
 * any byte.
 */
#ifndef VF_REPORT_PAGE_H
#define VF_REPORT_PAGE_H

#include "converter/draw/apart.h"
#include "converter/report/html/html.h"
#include "converter/report/table.h"
#include "converter/report/weight_change.h"
#include "passes/ir/graph.h"

/* --- tables --- */

typedef struct VfPageCell {
    VfBytes text;
    const char *href;  /* id of a place on the page that the cell leads to, or NULL */
    bool is_code;      /* names and lines of the text form */
} VfPageCell;

/* Rows of cells; cells of columns aligned 'r' are numbers. */
typedef struct VfPageTable {
    VfArena *arena;
    const char *caption;      /* also for those who hear it; NULL: none */
    const char *align;        /* one letter a column, 'l' or 'r' */
    const char *const *head;  /* as many words */
    VfPageCell *cell;
    size_t n_cell, capacity;
    size_t n_left_out;        /* rows that are not shown */
    const char *left_out;     /* what those are: "nodes" */
    bool is_searchable;       /* the search looks at its rows */
    bool is_wide;             /* the first column holds long names */
} VfPageTable;

void vf_page_table_init(VfPageTable *table, VfArena *arena, const char *align,
                        const char *const *head);
VfStatus vf_page_cell(VfPageTable *table, VfPageCell cell, VfErr *err);
VfStatus vf_page_code(VfPageTable *table, VfBytes text, VfErr *err);
VfStatus vf_page_cellf(VfPageTable *table, VfErr *err, const char *fmt, ...) VF_PRINTF(3, 4);
/* A number with its sign; nothing for 0. */
VfStatus vf_page_change(VfPageTable *table, int64_t change, VfErr *err);
size_t vf_page_table_rows(const VfPageTable *table);

/* A page's table of one of text, whose first row is the heading. */
VfStatus vf_page_table_from(VfPageTable *table, const VfTable *text, VfErr *err);

/* A table of constants that others took the place of, and a row of it: how far `to` is from `from`,
 * of which one may be NULL. */
void vf_page_weights_init(VfPageTable *table, VfArena *arena);
VfStatus vf_page_weight(VfPageTable *table, const VfValue *from, const VfValue *to, VfErr *err);

/* --- parts --- */

/* One edit, or one hunk of a diff. */
typedef struct VfPagePlace {
    int32_t number;  /* id "e" and this; from 1 in the order of the journal */
    VfBytes label;
    VfBytes note;    /* empty: none */
    VfBytes lines;   /* of the text diff: - + ~; empty: left out */
} VfPagePlace;

typedef struct VfPageGroup {
    VfBytes title;           /* rule */
    VfBytes change;          /* "3 nodes become 1" */
    VfBytes before, after;   /* SVG; empty: nothing to draw or left out */
    const char *alone;       /* caption of `before` where it stands alone; NULL: "Before" */
    const char *left_out;    /* why the drawings are, a sentence; NULL: they are not */
    bool is_open;            /* when the page opens */
    VfPagePlace *place;
    size_t n_place, place_capacity;
    VfPageTable weights;     /* see vf_page_weights_init; no rows: none */
    VfBytes look;            /* what its places have in common, for who makes the page */
} VfPageGroup;

typedef struct VfPageReason {
    VfBytes reason;
    VfBytes *site;
    size_t n_site, site_capacity;
} VfPageReason;

typedef struct VfPagePart {
    const char *id;       /* letters, digits and '-' */
    const char *title;
    const char *summary;  /* NULL: none */
    const char *badge;    /* "exact", "rounding", "retrained"; NULL: none */
    bool is_folded;       /* nothing of it is open when the page opens */
    size_t n_edit;
    const char *const *noun; /* of these, one and several; NULL: "edit", "edits" */
    VfPageGroup *group;   /* those of equal title side by side */
    size_t n_group, group_capacity;
    VfPageReason *reason; /* why sites were left alone */
    size_t n_reason, reason_capacity, n_refusal;
} VfPagePart;

/* --- the page --- */

/* A section of its own: `render` writes what stands under the heading. */
typedef struct VfPageSection {
    const char *id, *title;
    bool is_behind; /* behind the parts, else between the summary and them */
    VfStatus (*render)(const void *self, VfHtml *html, VfErr *err);
    const void *self;
} VfPageSection;

enum { VF_PAGE_SECTIONS_MAX = 8 };

/* A drawing that stands alone: the map of a model. */
typedef struct VfPageFigure {
    VfBytes caption;
    VfBytes svg;
} VfPageFigure;

/* What matters at a glance. */
typedef struct VfPageFact {
    const char *label; /* "operators" */
    VfBytes value;     /* "246", or "246 to 125" */
    VfBytes remark;    /* "-49 %"; empty: none */
} VfPageFact;

typedef struct VfPage {
    VfArena *arena;
    const char *title;   /* "What conversion changed" */
    const char *maker;   /* "vitfold 0.1.0" */
    VfBytes from, to;    /* files; `to` may be empty */
    const VfPageFact *fact;
    size_t n_fact;
    VfPageTable *table;  /* of the summary */
    size_t n_table;
    VfPageFigure map[2]; /* of the whole graph, before and after */
    size_t n_map;
    const char *parts_title; /* "Passes" */
    bool has_marks;          /* drawings mark what is spoken of, and show no edits */
    VfPagePart *part;
    size_t n_part;
    size_t n_drawn;      /* pairs of drawings in them */
    VfApart layouter;    /* of drawings; who adds some stops it */
    VfPageSection section[VF_PAGE_SECTIONS_MAX];
    size_t n_section;
    VfPageTable index;   /* every node; no rows: none */
    VfBytes note;        /* what was left out of the page as a whole; empty: nothing */
} VfPage;

/* Fill the list of all nodes: name, operator, type, and a link to the place with the number that
 * `edit` has by id of the node; 0: none. */
VfStatus vf_page_add_nodes(VfPage *page, const VfModel *model, const int32_t *edit, VfErr *err);

/* VF_INTERNAL when there are too many. */
VfStatus vf_page_add_section(VfPage *page, VfPageSection section, VfErr *err);

#endif
