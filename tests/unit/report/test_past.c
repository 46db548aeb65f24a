/* What nodes read between the edits of a journal. */
#include "converter/report/past.h"

#include "converter/report/node_line.h"
#include "passes/rewrite/rewrite.h"
#include "tests/support/check_main.h"
#include "tests/unit/ir/vft_case.h"

static const char CHAIN[] = "model ir=8 opset=17\n\ngraph g (x: f32[3]) -> (z: f32[3]) {\n"
                            "    k = const f32[3] {1, 2, 3}\n"
                            "    a = Abs(x)\n"
                            "    b = Neg(a)\n"
                            "    y = Add(b, k)\n"
                            "    z = Relu(y)\n"
                            "}\n";

static VfRewrite *begin(VfJournal *journal, VfNode *anchor)
{
    VfRewrite *rw = vf_rewrite_begin(journal, anchor, (VfRewriteInfo){"test", "rule", "s", NULL});
    ck_assert_ptr_nonnull(rw);
    return rw;
}

static void commit(VfRewrite *rw)
{
    VfErr err = {0};
    ck_assert_msg(vf_rewrite_commit(rw, &err) == VF_OK, "%s", err.text);
}

static void check_line(const VfModel *model, const VfPast *past, const VfNode *node, int32_t n_edit,
                       const char *wanted)
{
    VfErr err = {0};
    VfNode then;
    VfBytes line;
    ck_assert_int_eq(vf_past_node(model->arena, past, node, n_edit, &then, &err), VF_OK);
    ck_assert_int_eq(vf_report_node_line(model->arena, &then, &line, &err), VF_OK);
    ck_assert_str_eq(line.data, wanted);
}

/* b goes, then k becomes another constant, then a goes: the sum reads a, then the constant, then x.
 */
START_TEST(an_operand_that_moved_twice)
{
    VfErr err = {0};
    VfPast *past;
    VfModel *model = read_vft(CHAIN);
    VfJournal *journal = vf_journal_new(model);
    VfNode *sum = find_def(model, "y"), *b = find_def(model, "b");
    VfValue *a = find_value(model, "a"), *x = find_value(model, "x");
    VfRewrite *rw = begin(journal, b);
    vf_rewrite_replace(rw, find_value(model, "b"), a);
    commit(rw);
    rw = begin(journal, sum);
    vf_rewrite_set_in(rw, sum, 1, vf_rewrite_scalar(rw, VF_F32, 2.0, "two"));
    commit(rw);
    rw = begin(journal, sum);
    vf_rewrite_replace(rw, a, x);
    commit(rw);
    ck_assert_int_eq(vf_past_new(model->arena, journal, &past, &err), VF_OK);
    check_line(model, past, sum, 0, "y = Add(b, k)");
    check_line(model, past, sum, 1, "y = Add(a, k)");
    check_line(model, past, sum, 2, "y = Add(a, two)");
    check_line(model, past, sum, 3, "y = Add(x, two)");
    check_line(model, past, b, 0, "b = Neg(a)");
    check_line(model, past, find_def(model, "z"), 0, "z = Relu(y)");
    vf_model_free(model);
}
END_TEST

START_TEST(an_operand_that_was_appended)
{
    VfErr err = {0};
    VfPast *past;
    VfModel *model = read_vft("model ir=8 opset=17\n\n"
                              "graph g (x: f32[3], m: f32[]) -> (y: f32[3]) {\n"
                              "    y = Clip(x)\n"
                              "}\n");
    VfJournal *journal = vf_journal_new(model);
    VfNode *clip = find_def(model, "y");
    VfRewrite *rw = begin(journal, clip);
    vf_rewrite_set_in(rw, clip, 1, VF_NO_OPERAND);
    vf_rewrite_set_in(rw, clip, 2, find_value(model, "m"));
    commit(rw);
    ck_assert_int_eq(vf_past_new(model->arena, journal, &past, &err), VF_OK);
    check_line(model, past, clip, 0, "y = Clip(x)");
    check_line(model, past, clip, 1, "y = Clip(x, _, m)");
    vf_model_free(model);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("past");
    TCase *tcase = tcase_create("operands");
    tcase_add_test(tcase, an_operand_that_moved_twice);
    tcase_add_test(tcase, an_operand_that_was_appended);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
