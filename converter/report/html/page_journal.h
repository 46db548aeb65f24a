/* Parts of a page from a journal: one a pass, edits that look alike but for names together.
 */
#ifndef VF_REPORT_PAGE_JOURNAL_H
#define VF_REPORT_PAGE_JOURNAL_H

#include "converter/report/html/page.h"
#include "converter/report/past.h"

/* What is known of a pass besides its edits. */
typedef struct VfPagePass {
    const char *name, *summary, *exactness;
    bool is_cleanup; /* its edits are folded when the page opens */
} VfPagePass;

/* Fill the parts of `page` in its arena: passes in the order of `pass`, then others that edited,
 * then clean-up; passes that neither edited nor refused have none. And the list of all nodes. The
 * model must be as the last edit left it. */
VfStatus vf_page_add_journal(VfPage *page, const VfJournal *journal, const VfPagePass *pass,
                             size_t n_pass, VfErr *err);

#endif
