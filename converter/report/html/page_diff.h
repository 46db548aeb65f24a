/* A page from a diff: edits that differ by names alone are drawn once. */
#ifndef VF_REPORT_PAGE_DIFF_H
#define VF_REPORT_PAGE_DIFF_H

#include "converter/report/diff.h"
#include "converter/report/html/page.h"

/* Rows of constants, facts and notes that are shown of each. */
enum { VF_PAGE_ROWS_MAX = 2000 };

/* Fill facts, tables, the part with the edits, and sections. The diff must outlive the page. */
VfStatus vf_page_add_diff(VfPage *page, const VfDiff *diff, VfErr *err);

#endif
