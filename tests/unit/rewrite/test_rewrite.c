#include <stdio.h>

#include "passes/ir/attr.h"
#include "tests/support/check_main.h"
#include "tests/unit/rewrite/rewrite_case.h"

static const char CHAIN[] = HEAD "graph g (x: f32[2, 3]) -> (y: f32[2, 3]) {\n"
                                 "    k = const f32[3] {1, 2, 3}\n"
                                 "    a = Relu(x) @a\n"
                                 "    b = Mul(a, k) @b\n"
                                 "    y = Abs(b) @c\n"
                                 "}\n";

/* The commit fails with `status`, says `words` and changes nothing. */
static void commit_fails(Fixture *f, VfStatus status, const char *words)
{
    VfErr err = {0};
    const char *before = text_of(f->model);
    ck_assert_int_eq(vf_rewrite_commit(f->rw, &err), status);
    ck_assert_msg(strstr(err.text, words) != NULL, "'%s' lacks '%s'", err.text, words);
    ck_assert_str_eq(text_of(f->model), before);
    ck_assert_int_eq(f->journal->n_edit, 0);
    ck_assert_msg(vf_verify_all(f->model, &err) == VF_OK, "%s", err.text);
}

START_TEST(replaces_and_removes_upwards)
{
    Fixture f = begin(CHAIN, "c");
    VfValue *sigmoid = vf_rewrite_unary(f.rw, VF_OP_SIGMOID, value_of(f.model, "x"));
    vf_rewrite_replace(f.rw, value_of(f.model, "y"), sigmoid);
    vf_rewrite_note(f.rw, "%d numbers", 6);
    commit(&f);
    ck_assert_str_eq(text_of(f.model),
                     HEAD "graph g (x: f32[2, 3]) -> (y = c/Sigmoid_output_0: f32[2, 3]) {\n"
                          "    c/Sigmoid_output_0 = Sigmoid(x) @c/Sigmoid\n"
                          "}\n");
    ck_assert_int_eq(f.journal->n_edit, 1);
    const VfEdit *edit = &f.journal->edit[0];
    ck_assert_str_eq(edit->pass, "test-pass");
    ck_assert_str_eq(edit->rule, "test-rule");
    ck_assert_str_eq(edit->note, "6 numbers");
    ck_assert_int_eq(edit->n_before, 3);
    ck_assert_int_eq(edit->n_after, 1);
    ck_assert_int_eq(edit->n_swap, 1);
    /* Removed nodes stay readable for a diff. */
    ck_assert_str_eq(vf_value_label(edit->before[1]->in[1].value), "k");
    ck_assert(edit->before[1]->is_removed);
    ck_assert_str_eq(edit->after[0]->origin->pass, "test-pass");
    ck_assert_int_eq(edit->after[0]->origin->n_source, 3);
    vf_model_free(f.model);
}
END_TEST

START_TEST(keeps_the_output_name)
{
    Fixture f = begin(CHAIN, "c");
    vf_rewrite_replace(f.rw, value_of(f.model, "y"), value_of(f.model, "b"));
    commit(&f);
    ck_assert(vf_bytes_is_equal(f.model->graph->output_name[0], vf_bytes("y")));
    ck_assert_ptr_eq(vf_node_in(f.model->graph->ret, 0), value_of(f.model, "b"));
    vf_model_free(f.model);
}
END_TEST

START_TEST(puts_a_node_behind_a_value)
{
    Fixture f = begin(CHAIN, "a");
    VfValue *a = value_of(f.model, "a");
    vf_rewrite_replace(f.rw, a, vf_rewrite_unary(f.rw, VF_OP_NEG, a));
    commit(&f);
    ck_assert_str_eq(text_of(f.model), HEAD "graph g (x: f32[2, 3]) -> (y: f32[2, 3]) {\n"
                                            "    k = const f32[3] {1, 2, 3}\n"
                                            "    a = Relu(x) @a\n"
                                            "    a/Neg_output_0 = Neg(a) @a/Neg\n"
                                            "    b = Mul(a/Neg_output_0, k) @b\n"
                                            "    y = Abs(b) @c\n"
                                            "}\n");
    vf_model_free(f.model);
}
END_TEST

/* The anchor stands behind a reader of what is replaced. */
START_TEST(moves_up_when_a_reader_stands_before_the_anchor)
{
    Fixture f = begin(CHAIN, "c");
    VfValue *tanh_value = vf_rewrite_unary(f.rw, VF_OP_TANH, value_of(f.model, "x"));
    vf_rewrite_replace(f.rw, value_of(f.model, "a"), tanh_value);
    commit(&f);
    ck_assert_str_eq(vf_node_label(f.model->graph->first_node), "c/Tanh");
    vf_model_free(f.model);
}
END_TEST

START_TEST(refuses_a_cycle)
{
    Fixture f = begin(CHAIN, "a");
    vf_rewrite_replace(f.rw, value_of(f.model, "a"), value_of(f.model, "b"));
    commit_fails(&f, VF_INTERNAL, "is not defined at its user 'b'");
    vf_model_free(f.model);
}
END_TEST

START_TEST(refuses_another_shape)
{
    Fixture f = begin(CHAIN, "c");
    int64_t axis = 1;
    VfValue *sum =
        vf_rewrite_reduce(f.rw, VF_OP_REDUCE_SUM, value_of(f.model, "b"), 1, &axis, false);
    vf_rewrite_replace(f.rw, value_of(f.model, "y"), sum);
    commit_fails(&f, VF_INTERNAL, "f32[2, 3]");
    vf_model_free(f.model);
}
END_TEST

START_TEST(refuses_another_dtype)
{
    Fixture f = begin(CHAIN, "c");
    VfValue *y = value_of(f.model, "y");
    vf_rewrite_replace(f.rw, y, vf_rewrite_cast(f.rw, value_of(f.model, "b"), VF_F64));
    commit_fails(&f, VF_INTERNAL, "f64");
    vf_model_free(f.model);
}
END_TEST

START_TEST(passes_a_failed_builder_on)
{
    Fixture f = begin(CHAIN, "c");
    VfValue *broken = vf_rewrite_unary(f.rw, VF_OP_NEG, NULL);
    ck_assert_ptr_null(broken);
    VfValue *more = vf_rewrite_binary(f.rw, VF_OP_ADD, broken, value_of(f.model, "b"));
    vf_rewrite_int(f.rw, "axis", 1);
    vf_rewrite_replace(f.rw, value_of(f.model, "y"), more);
    ck_assert_int_eq(vf_rewrite_status(f.rw), VF_INTERNAL);
    commit_fails(&f, VF_INTERNAL, "no value for an operand");
    vf_model_free(f.model);
}
END_TEST

/* A dtype that is not known has no numbers. */
START_TEST(refuses_a_constant_of_unknown_dtype)
{
    Fixture f = begin(CHAIN, "c");
    VfValue *number = vf_rewrite_scalar(f.rw, VF_UNDEFINED, 1.0, "one");
    ck_assert_ptr_null(number);
    vf_rewrite_replace(f.rw, value_of(f.model, "y"), number);
    commit_fails(&f, VF_INTERNAL, "unknown dtype");
    vf_model_free(f.model);
}
END_TEST

START_TEST(sets_operands_and_drops_constants)
{
    Fixture f = begin(CHAIN, "b");
    VfNode *b = node_of(f.model, "b");
    VfValue *k = value_of(f.model, "k");
    VfValue *two = vf_rewrite_scalar(f.rw, VF_F32, 2.0, "two");
    vf_rewrite_set_in(f.rw, b, 1, two);
    vf_rewrite_weight(f.rw, k, two);
    commit(&f);
    ck_assert_ptr_null(vf_graph_find_value(f.model->graph, vf_bytes("k"), false));
    ck_assert_ptr_eq(vf_node_in(b, 1), value_of(f.model, "b/two"));
    ck_assert_int_eq(f.journal->edit[0].n_weight, 1);
    ck_assert_ptr_eq(f.journal->edit[0].weight[0].from, k);
    vf_model_free(f.model);
}
END_TEST

START_TEST(appends_and_omits_operands)
{
    Fixture f = begin(HEAD "graph g (x: f32[2, 3], m: f32[]) -> (y: f32[2, 3]) {\n"
                           "    y = Clip(x) @c\n"
                           "}\n",
                      "c");
    VfNode *c = node_of(f.model, "c");
    vf_rewrite_set_in(f.rw, c, 1, VF_NO_OPERAND);
    commit(&f);
    f.rw = vf_rewrite_begin(f.journal, c, INFO);
    vf_rewrite_set_in(f.rw, c, 2, value_of(f.model, "m"));
    commit(&f);
    ck_assert_int_eq(c->n_in, 3);
    ck_assert_ptr_null(vf_node_in(c, 1));
    ck_assert_ptr_eq(vf_node_in(c, 2), value_of(f.model, "m"));
    vf_model_free(f.model);
}
END_TEST

START_TEST(leaves_shared_constants_and_results)
{
    Fixture f = begin(HEAD "graph g (x: f32[3]) -> (y: f32[3], z: f32[3]) {\n"
                           "    k = const f32[3] {1, 2, 3}\n"
                           "    a = Add(x, k) @a\n"
                           "    y = Mul(a, k) @m\n"
                           "    z = Abs(a) @z\n"
                           "}\n",
                      "m");
    vf_rewrite_replace(f.rw, value_of(f.model, "y"), value_of(f.model, "x"));
    commit(&f);
    ck_assert_int_eq(f.journal->edit[0].n_before, 1);
    ck_assert_int_eq(value_of(f.model, "k")->n_use, 1);
    ck_assert(node_of(f.model, "a")->is_linked);
    vf_model_free(f.model);
}
END_TEST

/* Readers of what went, the ret of the graph too, and operands that were set. */
START_TEST(notes_every_operand_that_moved)
{
    Fixture f = begin(HEAD "graph g (x: f32[3]) -> (y: f32[3], a: f32[3]) {\n"
                           "    k = const f32[3] {1, 2, 3}\n"
                           "    a = Abs(x) @a\n"
                           "    y = Mul(a, k) @m\n"
                           "}\n",
                      "a");
    VfNode *m = node_of(f.model, "m");
    VfValue *x = value_of(f.model, "x"), *a = value_of(f.model, "a"), *k = value_of(f.model, "k");
    VfValue *two = vf_rewrite_scalar(f.rw, VF_F32, 2.0, "two");
    VfValue *neg = vf_rewrite_unary(f.rw, VF_OP_NEG, x);
    vf_rewrite_replace(f.rw, a, neg);
    vf_rewrite_set_in(f.rw, m, 1, two);
    commit(&f);
    const VfMove *move = f.journal->edit[0].move;
    ck_assert_int_eq(f.journal->edit[0].n_move, 3);
    for (int32_t i = 0; i < 2; i++) {
        bool is_m = move[i].node == m;
        ck_assert(is_m || move[i].node == f.model->graph->ret);
        ck_assert_int_eq(move[i].slot, is_m ? 0 : 1);
        ck_assert_ptr_eq(move[i].from, a);
        ck_assert_ptr_eq(move[i].to, neg);
    }
    ck_assert_ptr_eq(move[2].node, m);
    ck_assert_int_eq(move[2].slot, 1);
    ck_assert_ptr_eq(move[2].from, k);
    ck_assert_ptr_eq(move[2].to, two);
    vf_model_free(f.model);
}
END_TEST

START_TEST(names_are_new)
{
    Fixture f = begin(HEAD "graph g (x: f32[3]) -> (y: f32[3], c/Neg_output_0: f32[3]) {\n"
                           "    c/Neg_output_0 = Sqrt(x) @c/Neg\n"
                           "    y = Abs(x) @c\n"
                           "}\n",
                      "c");
    VfValue *neg = vf_rewrite_unary(f.rw, VF_OP_NEG, value_of(f.model, "x"));
    vf_rewrite_replace(f.rw, value_of(f.model, "y"), neg);
    commit(&f);
    ck_assert_str_eq(vf_node_label(neg->def), "c/Neg_2");
    ck_assert_str_eq(vf_value_label(neg), "c/Neg_2_output_0");
    vf_model_free(f.model);
}
END_TEST

/* --- spelled by opset --- */

typedef struct Spelling {
    int opset, n_in; /* operands of each node expected */
} Spelling;

static const Spelling reduce_row[] = {{9, 1}, {13, 1}, {17, 1}, {18, 2}};
static const Spelling squeeze_row[] = {{11, 1}, {12, 1}, {13, 2}};
static const Spelling slice_row[] = {{9, 1}, {10, 4}, {17, 4}};
static const Spelling clip_row[] = {{9, 1}, {11, 3}, {17, 3}};

static Fixture begin_opset(int opset)
{
    char text[256];
    snprintf(
        text, sizeof text,
        "model ir=8 opset=%d\n\ngraph g (x: f32[1, 4]) -> (y: f32[1, 4]) {\n    y = Abs(x) @c\n}\n",
        opset);
    return begin(text, "c");
}

static void check_built(Fixture *f, const VfValue *value, const Spelling *row, int64_t width)
{
    ck_assert_ptr_nonnull(value);
    ck_assert_int_eq(value->def->n_in, row->n_in);
    const VfType *type = &value->type;
    ck_assert(type->rank > 0 && vf_dim_is(type->dims[type->rank - 1], width));
    vf_model_free(f->model);
}

START_TEST(reduce_by_opset)
{
    Fixture f = begin_opset(reduce_row[_i].opset);
    int64_t axis = 1;
    VfValue *x = value_of(f.model, "x");
    VfValue *y = vf_rewrite_reduce(f.rw, VF_OP_REDUCE_MEAN, x, 1, &axis, true);
    check_built(&f, y, &reduce_row[_i], 1);
}
END_TEST

START_TEST(squeeze_by_opset)
{
    Fixture f = begin_opset(squeeze_row[_i].opset);
    int64_t axis = 0;
    VfValue *y = vf_rewrite_squeeze(f.rw, value_of(f.model, "x"), 1, &axis);
    check_built(&f, y, &squeeze_row[_i], 4);
}
END_TEST

START_TEST(slice_by_opset)
{
    Fixture f = begin_opset(slice_row[_i].opset);
    VfValue *y = vf_rewrite_slice(f.rw, value_of(f.model, "x"), 1, 1, 3);
    check_built(&f, y, &slice_row[_i], 2);
}
END_TEST

START_TEST(clip_by_opset)
{
    Fixture f = begin_opset(clip_row[_i].opset);
    VfValue *y = vf_rewrite_clip(f.rw, value_of(f.model, "x"), 0.0, 6.0);
    check_built(&f, y, &clip_row[_i], 4);
}
END_TEST

#define LOOP(tcase, test, rows)                                                                    \
    tcase_add_loop_test(tcase, test, 0, (int)(sizeof rows / sizeof rows[0]))

static Suite *make_suite(void)
{
    Suite *suite = suite_create("rewrite");
    TCase *tcase = tcase_create("commit");
    tcase_add_test(tcase, replaces_and_removes_upwards);
    tcase_add_test(tcase, keeps_the_output_name);
    tcase_add_test(tcase, puts_a_node_behind_a_value);
    tcase_add_test(tcase, moves_up_when_a_reader_stands_before_the_anchor);
    tcase_add_test(tcase, refuses_a_cycle);
    tcase_add_test(tcase, refuses_another_shape);
    tcase_add_test(tcase, refuses_another_dtype);
    tcase_add_test(tcase, passes_a_failed_builder_on);
    tcase_add_test(tcase, refuses_a_constant_of_unknown_dtype);
    tcase_add_test(tcase, sets_operands_and_drops_constants);
    tcase_add_test(tcase, appends_and_omits_operands);
    tcase_add_test(tcase, leaves_shared_constants_and_results);
    tcase_add_test(tcase, notes_every_operand_that_moved);
    tcase_add_test(tcase, names_are_new);
    LOOP(tcase, reduce_by_opset, reduce_row);
    LOOP(tcase, squeeze_by_opset, squeeze_row);
    LOOP(tcase, slice_by_opset, slice_row);
    LOOP(tcase, clip_by_opset, clip_row);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
