/* Which passes may not follow which on the same sites, and why.
 *
 * Passes refuse by facts: each looks at its sites as it finds them. This is for pipelines of which
 * that is known before: the later pass would find nothing it could change, or would undo the
 * earlier one, on every site both select. Such a pipeline is a mistake, so it is refused whole
 * before anything runs. Selections that cannot meet (0-3 and 4-7, windows-only and global-only)
 * are fine, and so is what cannot be told without a graph, such as two different name globs.
 *
 * docs/composition.md has every pair.
 */
#ifndef VF_PASSES_ORDER_H
#define VF_PASSES_ORDER_H

#include "passes/manager.h"

/* VF_USAGE with the two passes and the reason. */
VfStatus vf_pipeline_check_order(const VfPipeline *pipeline, VfErr *err);

typedef struct VfOrderRow {
    const char *first, *then; /* names of passes, which need not be registered */
    const char *unless; /* option of `first` that, given another value than its default, makes it
                         * another step, to which the row does not apply; NULL: none */
    const char *why;          /* completes "'then' cannot follow 'first' on the same sites: " */
} VfOrderRow;

extern const VfOrderRow vf_order_table[];
extern const int32_t vf_order_count;

#endif
