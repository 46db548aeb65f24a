#include <stdio.h>

#include "passes/ir/vft.h"
#include "tests/support/check_main.h"
#include "tests/unit/ir/infer_case.h"

/* A model, and a builder of nodes with one result. */
static VfModel *model;

static void set_up(void)
{
    model = vf_model_new();
    ck_assert_ptr_nonnull(model);
}

static void tear_down(void)
{
    vf_model_free(model);
}

static VfValue *input(VfGraph *graph, const char *name, const char *type)
{
    return vf_graph_add_input(graph, vf_bytes(name), infer_fact(model, vf_bytes(type))->type);
}

static VfValue *vector(VfGraph *graph, const char *name, int64_t n, const int64_t *values)
{
    return vf_graph_add_const(graph, vf_bytes(name), vf_tensor_i64(model->arena, n, values));
}

static VfValue *scalar(VfGraph *graph, const char *name, int64_t value)
{
    return vf_graph_add_const(graph, vf_bytes(name),
                              vf_tensor_scalar(model->arena, VF_I64, 0, (double)value));
}

static VfNode *link_node(VfGraph *graph, const char *op, const char *attrs, int32_t n,
                         VfValue *const *in)
{
    VfBytes name = vf_bytes("");
    vf_model_fresh_name(model, vf_bytes("r"), &name, NULL);
    VfNode *node = vf_node_new(graph, vf_bytes(""), vf_bytes(op), n, in, 1, &name);
    ck_assert_ptr_nonnull(node);
    infer_set_attrs(node, attrs);
    return node;
}

static VfValue *node1(VfGraph *graph, const char *op, const char *attrs, VfValue *a)
{
    VfNode *node = link_node(graph, op, attrs, 1, (VfValue *[]){a});
    vf_node_link(node, NULL);
    return node->out[0];
}

static VfValue *node2(VfGraph *graph, const char *op, const char *attrs, VfValue *a, VfValue *b)
{
    VfNode *node = link_node(graph, op, attrs, 2, (VfValue *[]){a, b});
    vf_node_link(node, NULL);
    return node->out[0];
}

static void set_output(VfGraph *graph, int32_t n, VfValue *const *value)
{
    VfBytes names[4];
    VfType types[4];
    for (int32_t i = 0; i < n; i++) {
        names[i] = value[i]->name;
        types[i] = (VfType){VF_TYPE_TENSOR, VF_UNDEFINED, VF_RANK_UNKNOWN, NULL};
    }
    ck_assert_int_eq(vf_graph_set_outputs(graph, n, value, names, types, NULL), VF_OK);
}

static void add_body(VfNode *node, const char *name, VfGraph *body)
{
    VfAttr *attr = VF_NEW(model->arena, VfAttr);
    attr->name = vf_bytes(name);
    attr->type = VF_ATTR_GRAPH;
    attr->graph = body;
    ck_assert_int_eq(vf_node_add_attr(node, attr, NULL), VF_OK);
}

static void check_type(const VfValue *value, const char *wanted)
{
    VfFact fact = vf_value_fact(value);
    VfText text;
    vf_text_init(&text, model->arena);
    infer_print(model, &text, &fact);
    ck_assert_str_eq(text.data, wanted);
}

static void infer(const VfEvaluator *evaluator)
{
    VfErr err = {0};
    VfStatus status = vf_infer_graph(model->graph, evaluator, &err);
    ck_assert_msg(status == VF_OK, "%s", err.text);
}

/* Reshape to (Shape(x)[0], 197, Shape(x)[2] / 64, 64), as exporters write the head split. */
START_TEST(resolves_a_computed_reshape)
{
    VfGraph *g = model->graph;
    VfValue *x = input(g, "x", "f32[batch, 197, 192]"),
            *axis = vector(g, "axis", 1, (int64_t[]){0});
    VfValue *shape = node1(g, "Shape", "", x);
    VfValue *batch = node2(g, "Gather", "axis=0", shape, scalar(g, "i0", 0));
    VfValue *width = node2(g, "Gather", "axis=0", shape, scalar(g, "i2", 2));
    VfValue *heads = node2(g, "Div", "", width, scalar(g, "d", 64));
    VfValue *parts[4] = {
        node2(g, "Unsqueeze", "", batch, axis), vector(g, "n", 1, (int64_t[]){197}),
        node2(g, "Unsqueeze", "", heads, axis), vector(g, "w", 1, (int64_t[]){-1})};
    VfNode *concat = link_node(g, "Concat", "axis=0", 4, parts);
    vf_node_link(concat, NULL);
    VfValue *y = node2(g, "Reshape", "", x, concat->out[0]);
    set_output(g, 1, &y);
    infer(NULL);
    check_type(concat->out[0], "i64[4]{batch, 197, 3, -1}");
    check_type(y, "f32[batch, 197, 3, 64]");
    infer(NULL);
    check_type(y, "f32[batch, 197, 3, 64]");
}
END_TEST

START_TEST(refines_declared_types_and_rejects_contradictions)
{
    VfGraph *g = model->graph;
    VfValue *x = input(g, "x", "f32[batch, 8]"), *y = node1(g, "Relu", "", x);
    set_output(g, 1, &y);
    y->type = infer_fact(model, vf_bytes("f32[?, ?]"))->type;
    infer(NULL);
    check_type(y, "f32[batch, 8]");
    y->type = infer_fact(model, vf_bytes("f32[4, 8]"))->type;
    infer(NULL);
    check_type(y, "f32[batch, 8]");
    y->type = infer_fact(model, vf_bytes("f32[batch, 9]"))->type;
    VfErr err = {0};
    ck_assert_int_eq(vf_infer_graph(g, NULL, &err), VF_INVALID);
    ck_assert_ptr_nonnull(strstr(err.text, vf_value_label(y)));
}
END_TEST

/* A wrong declaration is one fault, though values after it are computed from it. */
START_TEST(a_wrong_declaration_is_at_fault_alone)
{
    VfGraph *g = model->graph;
    VfValue *x = input(g, "x", "f32[2, 8]"), *h = node1(g, "Relu", "", x);
    VfValue *y = node1(g, "Abs", "", h), *z = node1(g, "Neg", "", y);
    set_output(g, 1, &z);
    h->type = infer_fact(model, vf_bytes("f32[2, 9]"))->type;
    z->type = infer_fact(model, vf_bytes("f32[2, 8]"))->type;
    VfFaults faults = {0};
    VfErr err = {0};
    ck_assert_int_eq(vf_infer_check(g, model->arena, &faults, &err), VF_OK);
    ck_assert_int_eq(faults.n, 1);
    ck_assert_ptr_nonnull(strstr(faults.text[0], vf_value_label(h)));
}
END_TEST

/* Both branches reshape; the shapes agree in one dim. */
START_TEST(joins_the_branches_of_if)
{
    VfGraph *g = model->graph;
    VfValue *x = input(g, "x", "f32[batch, 8]"), *condition = input(g, "c", "bool[]");
    VfNode *node = link_node(g, "If", "", 1, &condition);
    const int64_t targets[2][2] = {{-1, 4}, {-1, 2}};
    for (int32_t i = 0; i < 2; i++) {
        VfGraph *body = vf_graph_new(model, node, NULL);
        VfValue *y =
            node2(body, "Reshape", "", x, vector(body, i == 0 ? "t0" : "t1", 2, targets[i]));
        set_output(body, 1, &y);
        add_body(node, i == 0 ? "then_branch" : "else_branch", body);
    }
    vf_node_link(node, NULL);
    set_output(g, 1, node->out);
    infer(NULL);
    check_type(node->out[0], "f32[?, ?]");
    check_type(vf_node_attr(node, "then_branch")->graph->ret->in[0].value, "f32[2*batch, 4]");
}
END_TEST

/* A loop that concatenates keeps rank and width, loses the length; its scan output gains an axis.
 */
START_TEST(visits_the_body_of_an_unknown_operator)
{
    VfGraph *g = model->graph;
    VfValue *x = input(g, "x", "f32[batch, 8]");
    VfNode *node = link_node(g, "Repeat", "", 1, &x);
    VfGraph *body = vf_graph_new(model, node, NULL);
    VfValue *y = node1(body, "Relu", "", x);
    set_output(body, 1, &y);
    add_body(node, "body", body);
    vf_node_link(node, NULL);
    set_output(g, 1, node->out);
    infer(NULL);
    check_type(y, "f32[batch, 8]");
    y->type = infer_fact(model, vf_bytes("f32[batch, 9]"))->type;
    VfErr err = {0};
    ck_assert_int_eq(vf_infer_graph(g, NULL, &err), VF_INVALID);
}
END_TEST

START_TEST(settles_what_a_loop_carries)
{
    VfGraph *g = model->graph;
    VfValue *x = input(g, "x", "f32[1, 8]"), *turns = scalar(g, "turns", 5);
    VfBytes names[2] = {vf_bytes("final"), vf_bytes("stacked")};
    VfValue *in[3] = {turns, NULL, x};
    VfNode *node = vf_node_new(g, vf_bytes(""), vf_bytes("Loop"), 3, in, 2, names);
    VfGraph *body = vf_graph_new(model, node, NULL);
    input(body, "i", "i64[]");
    VfValue *go = input(body, "go", "bool[]"), *carried = input(body, "carried", "?[...]");
    VfValue *next = node2(body, "Concat", "axis=0", carried, x);
    VfValue *outputs[3] = {go, next, node1(body, "Relu", "", x)};
    set_output(body, 3, outputs);
    add_body(node, "body", body);
    vf_node_link(node, NULL);
    set_output(g, 2, node->out);
    infer(NULL);
    check_type(node->out[0], "f32[?, 8]");
    check_type(node->out[1], "f32[?, 1, 8]");
    check_type(carried, "f32[?, 8]");
    infer(NULL);
    check_type(node->out[0], "f32[?, 8]");
}
END_TEST

/* The body reads its axis from the call; two calls do not disturb each other. */
START_TEST(infers_through_functions)
{
    VfGraph *g = model->graph;
    VfOpset *opset = VF_NEW(model->arena, VfOpset);
    *opset = (VfOpset){vf_bytes(""), 17};
    VfFunction *f = vf_function_new(model, vf_bytes("my"), vf_bytes("flat"), vf_bytes(""));
    f->opset = opset;
    f->n_opset = 1;
    VfValue *a = input(f->body, "a", "?[...]");
    VfNode *flatten = link_node(f->body, "Flatten", "", 1, &a);
    VfAttr *ref = VF_NEW(model->arena, VfAttr);
    ref->name = vf_bytes("axis");
    ref->type = VF_ATTR_INT;
    ref->ref = vf_bytes("where");
    ck_assert_int_eq(vf_node_add_attr(flatten, ref, NULL), VF_OK);
    vf_node_link(flatten, NULL);
    set_output(f->body, 1, flatten->out);
    VfValue *x = input(g, "x", "f32[batch, 3, 4]"), *outputs[2];
    for (int32_t i = 0; i < 2; i++) {
        VfBytes name = vf_bytes(i == 0 ? "y0" : "y1");
        VfNode *call = vf_node_new(g, vf_bytes("my"), vf_bytes("flat"), 1, &x, 1, &name);
        infer_set_attrs(call, i == 0 ? "where=1" : "where=2");
        vf_node_link(call, NULL);
        outputs[i] = call->out[0];
    }
    set_output(g, 2, outputs);
    infer(NULL);
    check_type(outputs[0], "f32[batch, 12]");
    check_type(outputs[1], "f32[3*batch, 4]");
    check_type(flatten->out[0], "?[...]");
}
END_TEST

/* An evaluator that knows Sqrt of a float and counts its calls. */
static int32_t n_evaluated;

static VfStatus evaluate_sqrt(const VfEvaluator *self, VfArena *arena, const VfNode *node,
                              const VfTensor *const *in, const VfTensor **out, VfErr *err)
{
    (void)self;
    n_evaluated++;
    if (node->op != VF_OP_SQRT)
        return vf_fail(err, VF_UNSUPPORTED, "not here");
    out[0] =
        vf_tensor_scalar(arena, VF_F32, 0, vf_tensor_get_double(in[0], 0) == 16.0 ? 4.0 : -1.0);
    return VF_OK;
}

START_TEST(computes_small_constants)
{
    const VfEvaluator evaluator = {evaluate_sqrt};
    VfGraph *g = model->graph;
    VfValue *x = input(g, "x", "f32[n]");
    VfValue *number =
        vf_graph_add_const(g, vf_bytes("k"), vf_tensor_scalar(model->arena, VF_F32, 0, 16));
    VfValue *root = node1(g, "Sqrt", "", number), *whole = node1(g, "Cast", "to=7", root);
    VfValue *y = node1(g, "Sqrt", "", x);
    set_output(g, 2, (VfValue *[]){whole, y});
    n_evaluated = 0;
    infer(&evaluator);
    check_type(whole, "i64[]{4}");
    check_type(y, "f32[n]");
    ck_assert_int_eq(n_evaluated, 1);
}
END_TEST

/* Work in proportion to nodes: a chain of 100,000 takes far less than the time limit of a test. */
START_TEST(is_linear)
{
    VfGraph *g = model->graph;
    VfValue *x = input(g, "x", "f32[batch, 197, 192]");
    for (int32_t i = 0; i < 100000; i++)
        x = node1(g, "Relu", "", x);
    set_output(g, 1, &x);
    infer(NULL);
    check_type(x, "f32[batch, 197, 192]");
}
END_TEST

/* Operators that take tensors refuse sequences; those that take any kind do not. */
START_TEST(tells_sequences_from_tensors)
{
    static const struct {
        const char *op;
        VfStatus status;
    } row[] = {{"Relu", VF_INVALID}, {"CastLike", VF_INVALID}, {"Identity", VF_OK}};
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        char text[300];
        VfErr err = {0};
        VfModel *read;
        snprintf(text, sizeof text,
                 "graph g (x: seq(f32[2]), t: f32[2]) -> (y: ?[...]) { y = %s(x%s) @n }\n",
                 row[i].op, i == 1 ? ", t" : "");
        ck_assert_int_eq(vf_vft_parse(vf_bytes(text), "case", &read, &err), VF_OK);
        ck_assert_int_eq(vf_infer_graph(read->graph, NULL, &err), row[i].status);
        if (row[i].status != VF_OK)
            ck_assert_ptr_nonnull(strstr(err.text, "operand 0 is a sequence, no tensor"));
        vf_model_free(read);
    }
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("infer_graph");
    TCase *tcase = tcase_create("graphs");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, resolves_a_computed_reshape);
    tcase_add_test(tcase, refines_declared_types_and_rejects_contradictions);
    tcase_add_test(tcase, a_wrong_declaration_is_at_fault_alone);
    tcase_add_test(tcase, joins_the_branches_of_if);
    tcase_add_test(tcase, visits_the_body_of_an_unknown_operator);
    tcase_add_test(tcase, settles_what_a_loop_carries);
    tcase_add_test(tcase, infers_through_functions);
    tcase_add_test(tcase, computes_small_constants);
    tcase_add_test(tcase, tells_sequences_from_tensors);
    tcase_add_test(tcase, is_linear);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
