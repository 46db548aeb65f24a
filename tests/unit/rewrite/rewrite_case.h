/* A rewrite of a graph that stands in the text form, begun, committed and verified. */
#ifndef VF_TESTS_REWRITE_CASE_H
#define VF_TESTS_REWRITE_CASE_H

#include "passes/rewrite/rewrite.h"
#include "tests/unit/rewrite/graph_text.h"

#define HEAD "model ir=8 opset=17\n\n"

static const VfRewriteInfo INFO = {"test-pass", "test-rule", "site", NULL};

/* A model, its journal and a rewrite begun at a node. */
typedef struct Fixture {
    VfModel *model;
    VfJournal *journal;
    VfRewrite *rw;
} Fixture;

static inline Fixture begin(const char *text, const char *anchor)
{
    Fixture f = {.model = graph_of(text)};
    f.journal = vf_journal_new(f.model);
    ck_assert_ptr_nonnull(f.journal);
    f.rw = vf_rewrite_begin(f.journal, node_of(f.model, anchor), INFO);
    ck_assert_ptr_nonnull(f.rw);
    return f;
}

static inline void commit(Fixture *f)
{
    VfErr err = {0};
    ck_assert_msg(vf_rewrite_commit(f->rw, &err) == VF_OK, "%s", err.text);
    ck_assert_msg(vf_verify_all(f->model, &err) == VF_OK, "%s", err.text);
}

#endif
