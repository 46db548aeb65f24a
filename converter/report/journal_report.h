/* A journal as text and as JSON: what each pass changed and what it left alone.
 *
 * Text is a diff: lines beginning with - are nodes that went, + nodes that came, ~ values and
 * weights that others took the place of.
 */
#ifndef VF_REPORT_JOURNAL_REPORT_H
#define VF_REPORT_JOURNAL_REPORT_H

#include "converter/report/json.h"
#include "converter/report/past.h"
#include "passes/rewrite/journal.h"

/* The lines of edit `i` (from 0): nodes as they were right before and right after it. */
VfStatus vf_edit_lines(const VfJournal *journal, const VfPast *past, int32_t i, VfText *text,
                       VfErr *err);

/* Every edit, then every refusal. */
VfStatus vf_journal_text(const VfJournal *journal, VfText *text, VfErr *err);

/* Keys "edits" and "refusals" of the open object. */
VfStatus vf_journal_json(const VfJournal *journal, VfJson *json, VfErr *err);

/* The key "numbers" of the open object. */
void vf_edit_numbers_json(const VfEdit *edit, VfJson *json);

/* The key "refusals" alone, and refusals as lines of text: sites that follow one another and have
 * the same reason share a line. */
void vf_refusals_json(const VfJournal *journal, VfJson *json);
void vf_refusals_text(const VfJournal *journal, VfText *text);

#endif
