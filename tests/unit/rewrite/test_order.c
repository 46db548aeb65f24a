#include "passes/rewrite/order.h"

#include <stdlib.h>

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

/* Remember the keys in the order of the list; how many differ from those remembered for the same
 * node. Nodes are told apart by their ids. */
static int64_t count_moved(const VfGraph *graph, int64_t *key, int32_t n_key)
{
    int64_t n = 0;
    for (const VfNode *node = graph->first_node; node != NULL; node = node->next) {
        ck_assert_int_lt(node->id, n_key);
        n += key[node->id] != 0 && key[node->id] != node->order;
        key[node->id] = node->order;
    }
    return n;
}

/* Keys that 1000 edits in the middle of a chain of `n` nodes move, each before the last: they run
 * out of room. */
static int64_t count_moves(int32_t n)
{
    enum { EDITS = 1000 };
    VfModel *model = graph_of(CHAIN);
    VfJournal *journal = vf_journal_new(model);
    VfNode *anchor = node_of(model, "b");
    int32_t n_key = n + EDITS + 16;
    int64_t *key = calloc((size_t)n_key, sizeof *key), moved = 0;
    ck_assert_ptr_nonnull(key);
    for (int32_t i = 0; i < n; i++)
        insert_at(model, journal, anchor);
    count_moved(model->graph, key, n_key);
    for (int32_t i = 0; i < EDITS; i++) {
        anchor = insert_at(model, journal, anchor);
        moved += count_moved(model->graph, key, n_key);
    }
    free(key);
    vf_model_free(model);
    return moved;
}

START_TEST(an_edit_costs_the_same_in_a_large_graph)
{
    int64_t small = count_moves(1000), large = count_moves(20000);
    ck_assert_msg(small > 0 && large <= 4 * small,
                  "1000 edits move %lld keys in a small graph, %lld in a large one",
                  (long long)small, (long long)large);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("order");
    TCase *tcase = tcase_create("order");
    tcase_set_timeout(tcase, 300);
    tcase_add_test(tcase, numbers_on_the_first_question);
    tcase_add_loop_test(tcase, keys_stay_in_order, 0, (int)(sizeof pattern / sizeof pattern[0]));
    tcase_add_test(tcase, an_edit_costs_the_same_in_a_large_graph);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
