/* What the clean-up passes must leave alone and cannot be run: operators without a meaning here,
 * functions of another opset. */
#include <string.h>

#include "converter/lower/lower.h"
#include "passes/ir/vft.h"
#include "passes/manager.h"
#include "tests/support/check_main.h"

typedef struct Case {
    const char *name, *passes, *text;
    int32_t n_edit;
    const char *op; /* operator type of which `n_left` nodes are left in the main graph */
    int32_t n_left, n_function;
} Case;

static const Case cases[] = {
    {"an unknown operator may have an effect", "remove-dead",
     "model ir=8 opset=17 opset other=1\n\n"
     "graph g (x: f32[2]) -> (y: f32[2]) {\n"
     "    seen = other::Print(x) @seen\n"
     "    dead = Neg(x) @dead\n"
     "    y = Relu(x) @y\n"
     "}\n",
     1, "Print", 1, 0},
    {"and so does a function that holds one", "remove-dead",
     "model ir=8 opset=17 opset my=1 opset other=1\n\n"
     "function my::odd opset=17 opset other=1 (a) -> (b) {\n"
     "    b = other::Print(a) @print\n"
     "}\n\n"
     "graph g (x: f32[2]) -> (y: f32[2]) {\n"
     "    called = my::odd(x) @called\n"
     "    y = Relu(x) @y\n"
     "}\n",
     0, "odd", 1, 1},
    {"an unread call of a function of known operators goes", "remove-dead",
     "model ir=8 opset=17 opset my=1\n\n"
     "function my::even opset=17 (a) -> (b) {\n"
     "    b = Neg(a) @neg\n"
     "}\n\n"
     "graph g (x: f32[2]) -> (y: f32[2]) {\n"
     "    called = my::even(x) @called\n"
     "    y = Relu(x) @y\n"
     "}\n",
     2, "even", 0, 0},
    {"operators of another opset may mean something else", "normalize",
     "model ir=8 opset=17 opset my=1\n\n"
     "function my::old opset=12 (a) -> (b) {\n"
     "    b = Softmax(a) {axis=1} @b\n"
     "}\n\n"
     "graph g (x: f32[2, 3]) -> (y: f32[2, 3]) {\n"
     "    y = my::old(x) @y\n"
     "}\n",
     0, "old", 1, 1},
    {"an omitted operand that is handed through has no value", "normalize",
     "model ir=8 opset=17 opset my=1\n\n"
     "function my::pass opset=17 (a, b) -> (c, d) {\n"
     "    c = Neg(a) @c\n"
     "    d = Identity(b) @d\n"
     "}\n\n"
     "graph g (x: f32[2, 3]) -> (y: f32[2, 3]) {\n"
     "    y, unused = my::pass(x) @y\n"
     "}\n",
     1, "pass", 1, 1},
    {"a sequence read at a run-time position stays", "normalize",
     "model ir=8 opset=17\n\n"
     "graph g (x: f32[2, 3], i: i64[]) -> (y: f32[1, 3], n: i64[]) {\n"
     "    s = SplitToSequence(x) {axis=0} @s\n"
     "    y = SequenceAt(s, i) @y\n"
     "    n = SequenceLength(s) @n\n"
     "}\n",
     0, "SplitToSequence", 1, 0},
};

static int32_t count_nodes(const VfGraph *graph, const char *op)
{
    int32_t n = 0;
    for (const VfNode *node = graph->first_node; node != NULL; node = node->next)
        n += vf_bytes_is_equal(node->op_type, vf_bytes(op));
    return n;
}

static int32_t count_functions(const VfModel *model)
{
    int32_t n = 0;
    for (const VfFunction *f = model->first_function; f != NULL; f = f->next)
        n++;
    return n;
}

START_TEST(leaves_what_it_must)
{
    const Case *row = &cases[_i];
    VfErr err = {0};
    VfModel *model = NULL;
    VfPipeline pipeline;
    VfPipelineOptions options = {.stop_after = -1};
    VfStatus status = vf_vft_parse(vf_bytes(row->text), row->name, &model, &err);
    ck_assert_msg(status == VF_OK, "%s", err.text);
    VfJournal *journal = vf_journal_new(model);
    ck_assert_int_eq(vf_pipeline_parse(model->arena, row->passes, NULL, &pipeline, &err), VF_OK);
    status = vf_pipeline_run(model, &pipeline, &options, journal, NULL, NULL, &err);
    ck_assert_msg(status == VF_OK, "%s: %s", row->name, err.text);
    ck_assert_msg(journal->n_edit == row->n_edit, "%s: %d edits", row->name, (int)journal->n_edit);
    ck_assert_msg(count_nodes(model->graph, row->op) == row->n_left, "%s: %s", row->name, row->op);
    ck_assert_msg(count_functions(model) == row->n_function, "%s: functions", row->name);
    vf_model_free(model);
}
END_TEST

static VfClean clean(VfModel *model, const VfEvaluator *evaluator)
{
    VfErr err = {0};
    VfJournal *journal = vf_journal_new(model);
    VfStatus status = vf_normalize_model(model, evaluator, journal, &err);
    ck_assert_msg(status == VF_OK, "%s", err.text);
    return model->clean;
}

START_TEST(is_not_run_again_before_a_change)
{
    VfErr err = {0};
    VfModel *model;
    VfBytes text = vf_bytes("model ir=8 opset=17\n\ngraph g (x: f32[2]) -> (y: f32[2]) {\n"
                            "    same = Identity(x) @same\n    y = Neg(same) @y\n}\n");
    ck_assert_int_eq(vf_vft_parse(text, "text", &model, &err), VF_OK);
    ck_assert_int_eq(model->clean, VF_CLEAN_NOT);
    ck_assert_int_eq(clean(model, NULL), VF_CLEAN_UNFOLDED);
    ck_assert_int_eq(clean(model, vf_evaluator()), VF_CLEAN_WHOLE);
    ck_assert_int_eq(clean(model, NULL), VF_CLEAN_WHOLE);
    ck_assert_int_eq(model->graph->n_node, 1);
    vf_node_set_in(model->graph->first_node, 0, model->graph->input[0]);
    ck_assert_int_eq(model->clean, VF_CLEAN_NOT);
    vf_model_free(model);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("clean up");
    TCase *tcase = tcase_create("cases");
    tcase_add_loop_test(tcase, leaves_what_it_must, 0, sizeof cases / sizeof cases[0]);
    tcase_add_test(tcase, is_not_run_again_before_a_change);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
