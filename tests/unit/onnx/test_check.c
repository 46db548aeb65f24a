/* What `check` says of one fault: that alone, where it is, and nothing of files that have none. */
#include "converter/onnx/import.h"

#include "tests/support/check_main.h"
#include "tests/support/temp_folder.h"
#include "tests/unit/ir/vft_case.h"
#include "tests/unit/onnx/onnx_case.h"

static char folder[512], path[600];
static VfArena *arena;

static void set_up(void)
{
    vf_temp_folder_make(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/m.onnx", folder);
    arena = vf_arena_new();
}

static void tear_down(void)
{
    vf_arena_free(arena);
    vf_temp_folder_remove(folder);
}

/* `text` ends with NULL. */
static void expect_faults(const char *const *text)
{
    VfFaults faults;
    int n = 0;
    ck_assert_int_eq(vf_onnx_check(arena, path, NULL, &faults, NULL), VF_OK);
    for (; text[n] != NULL; n++)
        ck_assert_msg(n < faults.n && has_text(faults.text[n], text[n]), "fault %d: %s", n,
                      n < faults.n ? faults.text[n] : "");
    ck_assert_msg(faults.n == n, "more: %s", faults.text[n]);
}

/* --- more fields of the graph or the model --- */

static void typeless(VfEmit *emit)
{
    VfEmitMark input = vf_emit_begin(emit, 11);
    vf_emit_bytes(emit, 1, vf_bytes("u"));
    vf_emit_end(emit, input);
}

/* What the one attribute of a Softmax of `x` says. */
typedef struct AttrCase {
    const char *name, *ref;
    int64_t type; /* 0: left out */
} AttrCase;

static void softmax(VfEmit *emit, AttrCase with)
{
    VfEmitMark node = vf_emit_begin(emit, 1);
    vf_emit_bytes(emit, 1, vf_bytes("x"));
    vf_emit_bytes(emit, 2, vf_bytes("s"));
    vf_emit_bytes(emit, 4, vf_bytes("Softmax"));
    VfEmitMark attr = vf_emit_begin(emit, 5);
    vf_emit_some_bytes(emit, 1, vf_bytes(with.name));
    if (with.ref == NULL)
        vf_emit_int(emit, 3, 1);
    else
        vf_emit_bytes(emit, 21, vf_bytes(with.ref));
    vf_emit_some_int(emit, 20, with.type);
    vf_emit_end(emit, attr);
    vf_emit_end(emit, node);
}

static void attr_without_type(VfEmit *emit)
{
    softmax(emit, (AttrCase){"axis", NULL, 0});
}

static void attr_without_name(VfEmit *emit)
{
    softmax(emit, (AttrCase){"", NULL, VF_ATTR_INT});
}

static void attr_of_a_function(VfEmit *emit)
{
    softmax(emit, (AttrCase){"axis", "a", VF_ATTR_INT});
}

/* A value_info that says f32[`size`] of `y`. */
static void declare(VfEmit *emit, int64_t size)
{
    VfEmitMark info = vf_emit_begin(emit, 13);
    vf_emit_bytes(emit, 1, vf_bytes("y"));
    VfEmitMark type = vf_emit_begin(emit, 2), tensor = vf_emit_begin(emit, 1);
    vf_emit_int(emit, 1, VF_F32);
    VfEmitMark shape = vf_emit_begin(emit, 2), dim = vf_emit_begin(emit, 1);
    vf_emit_int(emit, 1, size);
    vf_emit_end(emit, dim);
    vf_emit_end(emit, shape);
    vf_emit_end(emit, tensor);
    vf_emit_end(emit, type);
    vf_emit_end(emit, info);
}

static void two_infos(VfEmit *emit)
{
    declare(emit, 2);
    declare(emit, 3);
}

static void same_infos(VfEmit *emit)
{
    declare(emit, 2);
    declare(emit, 2);
}

static void emit_function(VfEmit *emit, const char *operand, const char *output)
{
    VfEmitMark function = vf_emit_begin(emit, 25);
    vf_emit_bytes(emit, 1, vf_bytes("F"));
    vf_emit_bytes(emit, 4, vf_bytes("a"));
    vf_emit_bytes(emit, 5, vf_bytes(output));
    VfEmitMark node = vf_emit_begin(emit, 7);
    vf_emit_bytes(emit, 1, vf_bytes(operand));
    vf_emit_bytes(emit, 2, vf_bytes("b"));
    vf_emit_bytes(emit, 4, vf_bytes("Relu"));
    vf_emit_end(emit, node);
    VfEmitMark opset = vf_emit_begin(emit, 9);
    vf_emit_int(emit, 2, 17);
    vf_emit_end(emit, opset);
    vf_emit_bytes(emit, 10, vf_bytes("l"));
    vf_emit_end(emit, function);
}

static void function_operand(VfEmit *emit)
{
    emit_function(emit, "nope", "b");
}

static void function_output(VfEmit *emit)
{
    emit_function(emit, "a", "nope");
}

#define GRAPH(inputs, outputs, nodes) {inputs, outputs, nodes, NULL, NULL, 0, 0}

static const struct {
    GraphCase graph;
    void (*more)(VfEmit *emit);  /* fields of the graph, or NULL */
    void (*model)(VfEmit *emit); /* of the model, or NULL */
    const char *text[3];
} message_case[] = {
    {GRAPH("x", "y y", "Relu x>y"), NULL, NULL, {NULL}},
    {GRAPH("x", "y", "Add zz zz>y"), NULL, NULL,
     {"node 'Add#1' (Add): operand 'zz' is not defined"}},
    {GRAPH("x", "z z", "Relu x>y"), NULL, NULL, {"output 'z' is not defined"}},
    {GRAPH("x", "y", "Relu y>y"), NULL, NULL,
     {"nodes in a cycle, each needs the one before: 'Relu#1' (Relu)"}},
    {GRAPH("x", "y", "Add y y>y"), NULL, NULL, {"the one before: 'Add#1' (Add)"}},
    {GRAPH("x", "y", "Split z>y v Add y v>z"), NULL, NULL, {"before: 'Add#2' (Add), 'Split#1'"}},
    {GRAPH("x", "y", "Add z z>y Relu x>v Neg y>z"), NULL, NULL, {"before: 'Neg#3' (Neg), 'Add#1'"}},
    {GRAPH("x", "y", "Neg y>w Add x z>y Relu y>z"), NULL, NULL,
     {"node 'Neg#1' (Neg): operand 'y' is used before", "before: 'Relu#3' (Relu), 'Add#2' (Add)"}},
    {GRAPH("x", "y", "Add b c>a Neg a>b Relu a>c Abs x>y"), NULL, NULL,
     {"before: 'Neg#2' (Neg), 'Add#1' (Add)", "before: 'Relu#3' (Relu), 'Add#1' (Add)"}},
    {GRAPH("x", "y", "Relu x>y"), typeless, NULL, {"graph input 'u' has no type"}},
    {GRAPH("x", "x", ""), attr_without_type, NULL,
     {"node 'Softmax#1' (Softmax): attribute 'axis' does not say that it is of type int"}},
    {GRAPH("x", "x", ""), attr_without_name, NULL, {"an attribute without a name"}},
    {GRAPH("x", "x", ""), attr_of_a_function, NULL,
     {"attribute 'axis' takes the value of attribute 'a' of a function, but stands in none"}},
    {GRAPH("x", "z", "Relu x>y Neg y>z"), two_infos, NULL,
     {"value 'y' is declared f32[2] and again f32[3]"}},
    {GRAPH("x", "z", "Relu x>y Neg y>z"), same_infos, NULL, {NULL}},
    {GRAPH("x", "x", ""), NULL, function_operand,
     {"function 'F': node 'Relu#2' (Relu): operand 'nope' is not defined"}},
    {GRAPH("x", "x", ""), NULL, function_output, {"function 'F': output 'nope' is not defined"}},
};

START_TEST(messages_are_said_once)
{
    VfBytes more, bytes;
    VfEmit graph, model;
    vf_emit_init(&graph, arena);
    if (message_case[_i].more != NULL)
        message_case[_i].more(&graph);
    vf_emit_flatten(&graph, arena, &more, NULL);
    bytes = make_model(arena, &message_case[_i].graph, more);
    vf_emit_init(&model, arena);
    vf_emit_fields(&model, bytes.data, bytes.size);
    if (message_case[_i].model != NULL)
        message_case[_i].model(&model);
    vf_emit_flatten(&model, arena, &bytes, NULL);
    ck_assert_int_eq(vf_file_write(path, bytes.data, bytes.size, NULL), VF_OK);
    expect_faults(message_case[_i].text);
}
END_TEST

/* --- models that can be written as text --- */

#define IF(result, branch) \
    result " = If(c) {then_branch=graph t () -> (a) { " branch " },\n" \
    "           else_branch=graph e () -> (b) { b = Relu(x) }}\n"
#define IN_GRAPH(body) "model opset=17 opset l=1\n" \
    "graph g (x: f32[2], c: bool[]) -> (y: f32[2]) {\n" body "y = Relu(x)\n}\n"
#define CALLS(f, g) "model opset=17 opset l=1\n" \
    "function l::F opset =17 opset l=1 (x) -> (y) { y = " f "(x) }\n" \
    "function l::G opset =17 opset l=1 (x) -> (y) { y = " g "(x) }\n" \
    "graph g (x: f32[2]) -> (y: f32[2]) { y = l::F(x) }\n"

static const struct {
    const char *model;
    const char *text[2];
    const char *refused; /* what reading it says, or NULL: reading goes on as if nothing were */
} text_case[] = {
    {IN_GRAPH("a = Neg(x)\n" IF("v", "a = Abs(x)")),
     {"node 'Abs#4' (Abs): result 'a' has the name of a value of a graph around it"}, NULL},
    {IN_GRAPH("a = Neg(x)\n" IF("v", "a = const f32[2] {1, 2}")), {NULL}, NULL},
    {IN_GRAPH(IF("v", "a = Abs(x)") "a = Neg(x)\n"), {NULL}, NULL},
    {IN_GRAPH(IF("v", "a = Abs(x)") IF("u", "b = Abs(x) a = Neg(b)")), {NULL}, NULL},
    {"model opset=17 opset l=1\nfunction l::F (x) -> (y) { y = Relu(x) }\n"
     "graph g (x: f32[2]) -> (y: f32[2]) { y = l::F(x) }\n", {"function 'F' imports no opset"},
     NULL},
    {"model opset=17 opset l=1\n"
     "function l::F opset =17 (x) -> (y, z, y) { y = Relu(x) z = Neg(x) }\n"
     "graph g (x: f32[2]) -> (y: f32[2]) { y, a, b = l::F(x) }\n",
     {"function 'F': output 'y' is listed twice"}, NULL},
    {CALLS("l::G", "Relu"), {NULL}, NULL},
    {CALLS("l::F", "Relu"), {"function 'F' calls itself or is called by one that does"},
     "function 'F' calls itself or is called by one that does"},
    {CALLS("l::G", "l::F"), {"function 'F' calls itself or is called by one that does"},
     "function 'F' calls itself or is called by one that does"},
};

START_TEST(texts_are_judged)
{
    VfModel *model = read_vft(text_case[_i].model), *back = NULL;
    VfErr err = {VF_OK, ""};
    ck_assert_int_eq(vf_onnx_export(model, path, NULL, NULL), VF_OK);
    vf_model_free(model);
    expect_faults(text_case[_i].text);
    VfStatus status = vf_onnx_import(path, NULL, &back, &err);
    ck_assert_int_eq(status, text_case[_i].refused == NULL ? VF_OK : VF_INVALID);
    if (status == VF_OK)
        vf_model_free(back);
    else
        ck_assert_msg(has_text(err.text, text_case[_i].refused), "%s", err.text);
}
END_TEST

/* As deep as the option for nesting goes. */
START_TEST(nesting_is_no_fault)
{
    VfText text;
    VfBytes bytes;
    VfImportOptions deep = {.max_depth = 1000};
    VfFaults faults;
    vf_text_init(&text, arena);
    vf_text_string(&text, "graph (c: bool[], x: f32[2]) -> (c) {\n");
    for (int i = 0; i < VF_GRAPH_DEPTH_MAX - 1; i++)
        vf_text_printf(&text, "v%d = If(c) {else_branch=graph e () -> (e%d) { e%d = Neg(x) }, "
                       "then_branch=graph t () -> (w%d) {", i, i, i, i);
    for (int i = VF_GRAPH_DEPTH_MAX - 1; i-- > 0;)
        vf_text_printf(&text, "w%d = Relu(x) }}\n", i);
    vf_text_string(&text, "}");
    ck_assert_int_eq(vf_text_get(&text, &bytes, NULL), VF_OK);
    VfModel *model = read_vft(bytes.data);
    ck_assert_int_eq(vf_onnx_export(model, path, NULL, NULL), VF_OK);
    vf_model_free(model);
    ck_assert_int_eq(vf_onnx_check(arena, path, &deep, &faults, NULL), VF_OK);
    ck_assert_msg(faults.n == 0, "%s", faults.text[0]);
}
END_TEST

/* Nodes that copy what the outputs `y`, `y` and `z` became: each name is given once. */
START_TEST(copies_are_written_once)
{
    VfModel *model = read_vft("graph g (x: f32[2]) -> (y: f32[2], y: f32[2], z: f32[2]) {\n"
                              "y = Relu(x)\nz = Neg(x)\n}"), *back = NULL;
    vf_value_replace_uses(find_value(model, "y"), find_value(model, "x"));
    vf_value_replace_uses(find_value(model, "z"), find_value(model, "x"));
    vf_node_unlink(find_def(model, "y"));
    vf_node_unlink(find_def(model, "z"));
    ck_assert_int_eq(vf_onnx_export(model, path, NULL, NULL), VF_OK);
    vf_model_free(model);
    ck_assert_int_eq(vf_onnx_import(path, NULL, &back, NULL), VF_OK);
    ck_assert_int_eq(back->graph->n_node, 2);
    ck_assert_int_eq(back->graph->ret->n_in, 3);
    ck_assert_ptr_eq(vf_node_in(back->graph->ret, 0), vf_node_in(back->graph->ret, 1));
    vf_model_free(back);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("onnx/check");
    TCase *tcase = tcase_create("check");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, messages_are_said_once, 0,
                        (int)(sizeof message_case / sizeof message_case[0]));
    tcase_add_loop_test(tcase, texts_are_judged, 0,
                        (int)(sizeof text_case / sizeof text_case[0]));
    tcase_add_test(tcase, nesting_is_no_fault);
    tcase_add_test(tcase, copies_are_written_once);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
