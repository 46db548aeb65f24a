#include "passes/rewrite/order.h"

#include <stdio.h>
#include <time.h>

#include "passes/rewrite/rewrite.h"
#include "tests/support/check_main.h"
#include "tests/unit/rewrite/graph_text.h"

static const char CHAIN[] = "model ir=8 opset=17\n\n"
                            "graph g (x: f32[3]) -> (y: f32[3]) {\n"
                            "    a = Abs(x) @a\n"
                            "    b = Abs(a) @b\n"
                            "    y = Abs(b) @c\n"
                            "}\n";

static void check_ascending(const VfGraph *graph)
{
    int64_t last = 0;
    for (const VfNode *node = graph->first_node; node != NULL; node = node->next) {
        ck_assert_int_gt(node->order, last);
        last = node->order;
    }
}

START_TEST(numbers_on_the_first_question)
{
    VfModel *model = graph_of(CHAIN);
    int64_t first = vf_order_of(node_of(model, "a"));
    ck_assert_int_gt(vf_order_of(node_of(model, "c")), first);
    check_ascending(model->graph);
    vf_model_free(model);
}
END_TEST

/* Put a node in front of `anchor`. */
static VfNode *insert_at(VfModel *model, VfJournal *journal, VfNode *anchor)
{
    VfErr err = {0};
    VfRewriteInfo info = {"test-pass", "insert", "site", NULL};
    VfRewrite *rw = vf_rewrite_begin(journal, anchor, info);
    ck_assert_ptr_nonnull(rw);
    VfValue *in = vf_node_in(anchor, 0);
    VfValue *neg = vf_rewrite_unary(rw, VF_OP_NEG, in);
    vf_rewrite_set_in(rw, anchor, 0, neg);
    ck_assert_msg(vf_rewrite_commit(rw, &err) == VF_OK, "%s", err.text);
    (void)model;
    return neg->def;
}

/* Where the next node goes: always before the same one, always before the last made, in turns. */
static const char *const pattern[] = {"same", "last", "turns"};

START_TEST(keys_stay_in_order)
{
    VfModel *model = graph_of(CHAIN);
    VfJournal *journal = vf_journal_new(model);
    VfNode *anchor = node_of(model, "b");
    vf_order_graph(model->graph);
    for (int i = 0; i < 5000; i++) {
        VfNode *made = insert_at(model, journal, anchor);
        bool is_last = pattern[_i][0] == 'l' || (pattern[_i][0] == 't' && i % 3 == 0);
        anchor = is_last ? made : anchor;
    }
    check_ascending(model->graph);
    ck_assert_int_eq(model->graph->n_node, 5003);
    VfErr err = {0};
    ck_assert_msg(vf_verify_all(model, &err) == VF_OK, "%s", err.text);
    vf_model_free(model);
}
END_TEST

static double seconds(void)
{
    return (double)clock() / (double)CLOCKS_PER_SEC;
}

/* A chain of `n` nodes, and 1000 edits in the middle: the time must not follow n. */
static double time_edits(int n)
{
    VfModel *model = graph_of(CHAIN);
    VfJournal *journal = vf_journal_new(model);
    VfNode *anchor = node_of(model, "b");
    for (int i = 0; i < n; i++)
        insert_at(model, journal, anchor);
    double start = seconds();
    for (int i = 0; i < 1000; i++)
        insert_at(model, journal, anchor);
    double taken = seconds() - start;
    vf_model_free(model);
    return taken;
}

START_TEST(an_edit_costs_the_same_in_a_large_graph)
{
    double small = time_edits(1000), large = time_edits(50000);
    ck_assert_msg(large < 20.0 * small + 0.05,
                  "1000 edits: %g s in a small graph, %g s in a large one", small, large);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("order");
    TCase *tcase = tcase_create("order");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, numbers_on_the_first_question);
    tcase_add_loop_test(tcase, keys_stay_in_order, 0, (int)(sizeof pattern / sizeof pattern[0]));
    tcase_add_test(tcase, an_edit_costs_the_same_in_a_large_graph);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
