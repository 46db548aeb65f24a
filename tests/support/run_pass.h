/* Running passes in a test. */
#ifndef VF_TESTS_RUN_PASS_H
#define VF_TESTS_RUN_PASS_H

#include "passes/ir/graph.h"
#include "passes/rewrite/journal.h"

/* Run the passes of `words`, as the option --passes spells them, on `model`. The test fails where
 * they do. The journal lies in the model's arena. */
VfJournal *vf_test_passes(VfModel *model, const char *words);

#endif
