/* Rewrites that reach into the bodies of If. */
#include "passes/ir/attr.h"
#include "tests/support/check_main.h"
#include "tests/unit/rewrite/rewrite_case.h"

static const char BRANCH[] = HEAD "graph g (x: f32[3], c: bool[]) -> (y: f32[3]) {\n"
                                  "    a = Abs(x) @a\n"
                                  "    y = If(c) {then_branch=graph t () -> (p: f32[3]) {\n"
                                  "        p = Neg(a) @neg\n"
                                  "    }, else_branch=graph e () -> (q: f32[3]) {\n"
                                  "        q = Identity(a) @id\n"
                                  "    }} @if\n"
                                  "}\n";

START_TEST(replaces_inside_subgraphs)
{
    Fixture f = begin(BRANCH, "a");
    vf_rewrite_replace(f.rw, value_of(f.model, "a"), value_of(f.model, "x"));
    commit(&f);
    ck_assert_int_eq(value_of(f.model, "x")->n_use, 2);
    ck_assert_int_eq(f.model->graph->n_node, 1);
    vf_model_free(f.model);
}
END_TEST

/* The branches of the If, and of that inside, call something else `a`. */
static const char HIDDEN[] = HEAD "graph g (x: f32[3], c: bool[]) -> (y: f32[3], a: f32[3]) {\n"
                                  "    a = Abs(x) @a\n"
                                  "    b = Neg(x) @b\n"
                                  "    y = If(c) {then_branch=graph t () -> (a = p: f32[3]) {\n"
                                  "        p = If(c) {then_branch=graph tt () -> (q: f32[3]) {\n"
                                  "            a = Exp(x) @exp\n"
                                  "            q = Add(a, b) @add\n"
                                  "        }, else_branch=graph te () -> (r: f32[3]) {\n"
                                  "            r = Identity(b) @r\n"
                                  "        }} @inner\n"
                                  "    }, else_branch=graph e () -> (s: f32[3]) {\n"
                                  "        a = Sqrt(x) @sqrt\n"
                                  "        s = Relu(a) @s\n"
                                  "    }} @if\n"
                                  "}\n";

static void check_has(const Fixture *f, const char *words)
{
    const char *text = text_of(f->model);
    ck_assert_msg(strstr(text, words) != NULL, "'%s' is not in:\n%s", words, text);
}

START_TEST(renames_what_hides_a_replacement)
{
    Fixture f = begin(HIDDEN, "b");
    vf_rewrite_replace(f.rw, value_of(f.model, "b"), value_of(f.model, "a"));
    commit(&f);
    check_has(&f, "graph t () -> (a_3 = p: f32[3])");
    check_has(&f, "a_2 = Exp(x) @exp");
    check_has(&f, "q = Add(a_2, a) @add");
    check_has(&f, "r = Identity(a) @r");
    check_has(&f, "a = Sqrt(x) @sqrt");
    vf_model_free(f.model);
}
END_TEST

static VfGraph *branch_of(const VfGraph *graph, const char *node, const char *which)
{
    VfNode *owner = vf_graph_find_node(graph, vf_bytes(node));
    ck_assert_ptr_nonnull(owner);
    return vf_node_attr(owner, which)->graph;
}

START_TEST(renames_what_hides_an_operand)
{
    Fixture f = {.model = graph_of(HIDDEN)};
    VfGraph *graph = f.model->graph;
    VfGraph *inner = branch_of(branch_of(graph, "if", "then_branch"), "inner", "then_branch");
    VfNode *add = vf_graph_find_node(inner, vf_bytes("add"));
    f.journal = vf_journal_new(f.model);
    f.rw = vf_rewrite_begin(f.journal, add, INFO);
    vf_rewrite_set_in(f.rw, add, 1, vf_rewrite_unary(f.rw, VF_OP_SIN, value_of(f.model, "a")));
    vf_rewrite_set_in(f.rw, branch_of(graph, "if", "else_branch")->last_node, 0,
                      value_of(f.model, "a"));
    commit(&f);
    check_has(&f, "graph t () -> (a_4 = p: f32[3])");
    check_has(&f, "a_3 = Exp(x) @exp");
    check_has(&f, "add/Sin_output_0 = Sin(a) @add/Sin");
    check_has(&f, "s = Relu(a) @s");
    vf_model_free(f.model);
}
END_TEST

START_TEST(a_dead_if_frees_what_its_branches_read)
{
    Fixture f = begin(BRANCH, "if");
    vf_rewrite_replace(f.rw, value_of(f.model, "y"), value_of(f.model, "x"));
    commit(&f);
    ck_assert_int_eq(f.model->graph->n_node, 0);
    ck_assert_int_eq(value_of(f.model, "x")->n_use, 1);
    ck_assert_int_eq(f.journal->edit[0].n_before, 2);
    vf_model_free(f.model);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("rewrite/bodies");
    TCase *tcase = tcase_create("bodies");
    tcase_add_test(tcase, replaces_inside_subgraphs);
    tcase_add_test(tcase, renames_what_hides_a_replacement);
    tcase_add_test(tcase, renames_what_hides_an_operand);
    tcase_add_test(tcase, a_dead_if_frees_what_its_branches_read);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
