/* Models that are refused, and all that `check` finds in one. */
#include "converter/onnx/import.h"

#include "tests/support/check_main.h"
#include "tests/support/temp_folder.h"
#include "tests/unit/onnx/onnx_case.h"

static const struct {
    GraphCase graph;
    VfStatus status;
    const char *text;
} bad[] = {
    {{"x", "y", "Relu x>y", NULL, NULL, 0, 0}, VF_OK, ""},
    {{"x", "y", "Relu x>y", NULL, NULL, -1, 0}, VF_INVALID, "no IR version"},
    {{"x", "y", "Relu x>y", NULL, NULL, 2, 0}, VF_UNSUPPORTED, "IR version 2"},
    {{"x", "y", "Relu x>y", NULL, NULL, 14, 0}, VF_UNSUPPORTED, "IR version 14"},
    {{"x", "y", "Relu x>y", NULL, NULL, 0, -1}, VF_INVALID, "imports no opset"},
    {{"x", "y", "Relu x>y", NULL, "other", 0, 0}, VF_INVALID, "no opset of domain 'other'"},
    {{"x", "y", "Relu x>y", NULL, "ai.onnx", 0, 0}, VF_OK, ""},
    {{"x", "y", "Relu z>y", NULL, NULL, 0, 0}, VF_INVALID, "(Relu): operand 'z' is not defined"},
    {{"x", "z", "Relu z>y Relu x>z", NULL, NULL, 0, 0}, VF_INVALID, "nodes are not sorted"},
    {{"x", "y", "Relu y>y", NULL, NULL, 0, 0}, VF_INVALID, "nodes are not sorted"},
    {{"x", "y", "Relu x>y Relu x>y", NULL, NULL, 0, 0}, VF_INVALID, "'y' is defined twice"},
    {{"x x", "y", "Relu x>y", NULL, NULL, 0, 0}, VF_INVALID, "graph input: the name 'x'"},
    {{"x", "x", "Relu x>x", NULL, NULL, 0, 0}, VF_INVALID, "'x' is defined twice"},
    {{"x", "y", "Add x w>y", "w w", NULL, 0, 0}, VF_INVALID, "initializer: the name 'w'"},
    {{"x w", "y", "Add x w>y", "w w", NULL, 0, 0}, VF_INVALID, "initializer: the name 'w'"},
    {{"x", "z", "Relu x>y", NULL, NULL, 0, 0}, VF_INVALID, "output 'z' is not defined"},
    {{"x", "y y", "Relu x>y", NULL, NULL, 0, 0}, VF_OK, ""},
    {{"", "y", "Relu w>y", "w", NULL, 3, 0}, VF_OK, ""},
};

START_TEST(test_faults)
{
    VfArena *arena = vf_arena_new();
    VfModel *model = NULL;
    VfErr err = {VF_OK, ""};
    VfBytes bytes = make_model(arena, &bad[_i].graph, (VfBytes){NULL, 0});
    VfStatus status =
        vf_onnx_import_memory(bytes.data, bytes.size, "m.onnx", NULL, NULL, &model, &err);
    ck_assert_msg(status == bad[_i].status, "case %d: status %d, %s", _i, (int)status, err.text);
    ck_assert_msg(has_text(err.text, bad[_i].text), "case %d: %s", _i, err.text);
    ck_assert_msg(status == VF_OK || has_text(err.text, "cannot read 'm.onnx'"), "%s", err.text);
    if (status == VF_OK)
        vf_model_free(model);
    vf_arena_free(arena);
}
END_TEST

/* All of them are found in one run, and nothing that follows from them. */
START_TEST(test_check)
{
    static const GraphCase graph = {"x x", "y lost", "Relu a>y Relu b>y Relu x>z", "w w", NULL,
                                    0, 0};
    static const char *const text[] = {"input: the name 'x'", "initializer: the name 'w'",
                                       "operand 'a'", "operand 'b'", "the name 'y'",
                                       "output 'lost'"};
    char folder[512], path[600];
    VfArena *arena = vf_arena_new();
    VfFaults faults;
    VfBytes bytes = make_model(arena, &graph, (VfBytes){NULL, 0});
    vf_temp_folder_make(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/m.onnx", folder);
    ck_assert_int_eq(vf_file_write(path, bytes.data, bytes.size, NULL), VF_OK);
    ck_assert_int_eq(vf_onnx_check(arena, path, NULL, &faults, NULL), VF_OK);
    ck_assert_int_eq(faults.n, 6);
    for (int i = 0; i < 6; i++)
        ck_assert_msg(has_text(faults.text[i], text[i]), "fault %d: %s", i, faults.text[i]);
    ck_assert_int_eq(vf_file_write(path, "no model", 8, NULL), VF_OK);
    ck_assert_int_eq(vf_onnx_check(arena, path, NULL, &faults, NULL), VF_OK);
    ck_assert_int_eq(faults.n, 1);
    ck_assert_int_eq(vf_onnx_check(arena, source_path("testdata/onnx/full.onnx"), NULL, &faults,
                                   NULL), VF_OK);
    ck_assert_int_eq(faults.n, 1);
    ck_assert_str_eq(faults.text[0], "graph input 'untyped' has no type");
    /* An Add reads the broken tensor. */
    ck_assert_int_eq(vf_onnx_check(arena, source_path("testdata/onnx/outside_shape.onnx"), NULL,
                                   &faults, NULL), VF_OK);
    ck_assert_msg(faults.n == 1, "%s", faults.text[1]);
    vf_temp_folder_remove(folder);
    ck_assert_int_eq(vf_onnx_check(arena, path, NULL, &faults, NULL), VF_IO);
    vf_arena_free(arena);
}
END_TEST

/* One of each kind, in the order in which they are found. */
START_TEST(test_check_kinds)
{
    static const char *const text[] = {
        "tensor 'short': raw data of 12 bytes for a shape of 16",
        "node 'unsorted' (Relu): operand 'late' is used before the node that gives it",
        "node 'second' (Abs): the name 'twice' is defined twice",
        "node 'dangling' (Neg): operand 'nowhere' is not defined",
        "node 'stranger' (Thing): the model imports no opset of domain 'my.domain'",
        "nodes in a cycle, each needs the one before: 'body' (Abs), 'tail' (Neg), 'head' (Neg)",
        "output 'lost' is not defined",
        "node 'arity' (#7): Add has 1 operands, takes 2",
        "node 'typed' (#8): attribute 'axis' of Softmax is of type float, not int",
        "node 'new' (#13): Gelu needs opset 20, the model imports 17",
        "node 'shapes': Add of (f32[2, 3], f32[5]): shapes do not broadcast",
    };
    enum { N = sizeof text / sizeof text[0] };
    VfArena *arena = vf_arena_new();
    VfFaults faults;
    ck_assert_int_eq(vf_onnx_check(arena, source_path("testdata/onnx/faults.onnx"), NULL, &faults,
                                   NULL), VF_OK);
    for (int i = 0; i < faults.n; i++)
        ck_assert_msg(i < N && has_text(faults.text[i], text[i]), "fault %d: %s", i,
                      faults.text[i]);
    ck_assert_int_eq(faults.n, N);
    vf_arena_free(arena);
}
END_TEST

/* Attributes and nested things that text cannot say. */
static void two_types(VfEmit *emit)
{
    VfEmitMark attr = vf_emit_begin(emit, 5);
    vf_emit_bytes(emit, 1, vf_bytes("a"));
    vf_emit_int(emit, 3, 5);
    vf_emit_int(emit, 20, VF_ATTR_FLOAT);
    vf_emit_end(emit, attr);
}

static void same_name(VfEmit *emit)
{
    for (int i = 0; i < 2; i++) {
        VfEmitMark attr = vf_emit_begin(emit, 5);
        vf_emit_bytes(emit, 1, vf_bytes("a"));
        vf_emit_int(emit, 3, 5);
        vf_emit_int(emit, 20, VF_ATTR_INT);
        vf_emit_end(emit, attr);
    }
}

static void unknown_type(VfEmit *emit)
{
    VfEmitMark attr = vf_emit_begin(emit, 5);
    vf_emit_bytes(emit, 1, vf_bytes("a"));
    vf_emit_int(emit, 20, 15);
    vf_emit_end(emit, attr);
}

static void no_graph(VfEmit *emit)
{
    VfEmitMark attr = vf_emit_begin(emit, 5);
    vf_emit_bytes(emit, 1, vf_bytes("a"));
    vf_emit_int(emit, 20, VF_ATTR_GRAPH);
    vf_emit_end(emit, attr);
}

static void no_name(VfEmit *emit)
{
    VfEmitMark attr = vf_emit_begin(emit, 5);
    vf_emit_int(emit, 20, VF_ATTR_INT);
    vf_emit_end(emit, attr);
}

START_TEST(test_attr_faults)
{
    static const struct {
        void (*emit)(VfEmit *emit);
        const char *text;
    } row[] = {
        {two_types, "attribute 'a' has a value that is not of its type"},
        {same_name, "attribute 'a' occurs twice"},
        {unknown_type, "attribute 'a' has no known type"},
        {no_graph, "attribute 'a' has no value"},
        {no_name, "an attribute without a name"},
    };
    static const GraphCase graph = {"x", "x", "", NULL, NULL, 0, 0};
    VfArena *arena = vf_arena_new();
    VfEmit emit;
    VfBytes more;
    VfModel *model;
    VfErr err = {VF_OK, ""};
    vf_emit_init(&emit, arena);
    VfEmitMark node = vf_emit_begin(&emit, 1);
    vf_emit_bytes(&emit, 3, vf_bytes("n"));
    vf_emit_bytes(&emit, 4, vf_bytes("Op"));
    row[_i].emit(&emit);
    vf_emit_end(&emit, node);
    vf_emit_flatten(&emit, arena, &more, NULL);
    VfBytes bytes = make_model(arena, &graph, more);
    ck_assert_int_eq(vf_onnx_import_memory(bytes.data, bytes.size, "m", NULL, NULL, &model, &err),
                     VF_INVALID);
    ck_assert_msg(has_text(err.text, row[_i].text), "%s", err.text);
    ck_assert_msg(has_text(err.text, "node 'n' (Op)"), "%s", err.text);
    vf_arena_free(arena);
}
END_TEST

/* --- one fact is one fault --- */

static void no_operator(VfEmit *emit)
{
    vf_emit_bytes(emit, 1, vf_bytes("x"));
}

static void axis_twice(VfEmit *emit)
{
    vf_emit_bytes(emit, 1, vf_bytes("x"));
    vf_emit_bytes(emit, 2, vf_bytes("z"));
    vf_emit_bytes(emit, 4, vf_bytes("Softmax"));
    for (int i = 0; i < 2; i++) {
        VfEmitMark attr = vf_emit_begin(emit, 5);
        vf_emit_bytes(emit, 1, vf_bytes("axis"));
        vf_emit_int(emit, 3, 0);
        vf_emit_int(emit, 20, VF_ATTR_INT);
        vf_emit_end(emit, attr);
    }
}

/* A graph that says `output` is what its one node makes from `operand`. */
static void branch(VfEmit *emit, const char *name, const char *operand, const char *output)
{
    VfEmitMark attr = vf_emit_begin(emit, 5);
    vf_emit_bytes(emit, 1, vf_bytes(name));
    VfEmitMark graph = vf_emit_begin(emit, 6);
    VfEmitMark node = vf_emit_begin(emit, 1);
    vf_emit_bytes(emit, 1, vf_bytes(operand));
    vf_emit_bytes(emit, 2, vf_bytes("made"));
    vf_emit_bytes(emit, 4, vf_bytes("Neg"));
    vf_emit_end(emit, node);
    VfEmitMark out = vf_emit_begin(emit, 12);
    vf_emit_bytes(emit, 1, vf_bytes(output));
    vf_emit_end(emit, out);
    vf_emit_end(emit, graph);
    vf_emit_int(emit, 20, VF_ATTR_GRAPH);
    vf_emit_end(emit, attr);
}

static void choose(VfEmit *emit, const char *operand, const char *output)
{
    vf_emit_bytes(emit, 1, vf_bytes("is_x"));
    vf_emit_bytes(emit, 2, vf_bytes("z"));
    vf_emit_bytes(emit, 4, vf_bytes("If"));
    branch(emit, "then_branch", "x", "made");
    branch(emit, "else_branch", operand, output);
}

static void operand_lost(VfEmit *emit)
{
    choose(emit, "lost", "made");
}

static void output_lost(VfEmit *emit)
{
    choose(emit, "x", "lost");
}

/* The model, a node more or NULL, the version of its opset, and what is said. */
static const struct {
    GraphCase graph;
    void (*node)(VfEmit *emit);
    int64_t opset;
    const char *text;
} once[] = {
    {{"x", "y", "Relu x>y", NULL, NULL, 0, -1}, NULL, 0, "the model imports no opset"},
    {{"x", "y", "Cast x>y", NULL, NULL, 0, -1}, NULL, -1, "opset version -1 of domain ''"},
    {{"x", "y", "Cast x>y", NULL, NULL, 0, 0}, NULL, 0, "Cast lacks attribute 'to'"},
    {{"x", "y", "DepthToSpace x>y", NULL, NULL, 0, 0}, NULL, 0, "lacks attribute 'blocksize'"},
    {{"x", "x", "", NULL, NULL, 0, 0}, no_operator, 0, "node '#1' (): no operator"},
    {{"x", "x", "", NULL, NULL, 0, 0}, axis_twice, 0, "attribute 'axis' occurs twice"},
    {{"x is_x", "x", "", NULL, NULL, 0, 0}, operand_lost, 0, "operand 'lost' is not defined"},
    {{"x is_x", "x", "", NULL, NULL, 0, 0}, output_lost, 0, "output 'lost' is not defined"},
};

static VfBytes make_once(VfArena *arena, int row)
{
    VfBytes more = {NULL, 0}, bytes;
    VfEmit node, model;
    vf_emit_init(&node, arena);
    if (once[row].node != NULL) {
        VfEmitMark mark = vf_emit_begin(&node, 1);
        once[row].node(&node);
        vf_emit_end(&node, mark);
    }
    vf_emit_flatten(&node, arena, &more, NULL);
    bytes = make_model(arena, &once[row].graph, more);
    vf_emit_init(&model, arena);
    vf_emit_fields(&model, bytes.data, bytes.size);
    if (once[row].opset != 0)
        emit_opset(&model, "", once[row].opset);
    vf_emit_flatten(&model, arena, &bytes, NULL);
    return bytes;
}

START_TEST(test_once)
{
    char folder[512], path[600];
    VfArena *arena = vf_arena_new();
    VfFaults faults;
    VfBytes bytes = make_once(arena, _i);
    vf_temp_folder_make(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/m.onnx", folder);
    ck_assert_int_eq(vf_file_write(path, bytes.data, bytes.size, NULL), VF_OK);
    ck_assert_int_eq(vf_onnx_check(arena, path, NULL, &faults, NULL), VF_OK);
    ck_assert_msg(faults.n > 0 && has_text(faults.text[0], once[_i].text), "%s", faults.text[0]);
    ck_assert_msg(faults.n == 1, "%s", faults.text[1]);
    vf_temp_folder_remove(folder);
    vf_arena_free(arena);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("onnx/import_faults");
    TCase *tcase = tcase_create("faults");
    tcase_add_loop_test(tcase, test_faults, 0, (int)(sizeof bad / sizeof bad[0]));
    tcase_add_test(tcase, test_check);
    tcase_add_test(tcase, test_check_kinds);
    tcase_add_loop_test(tcase, test_attr_faults, 0, 5);
    tcase_add_loop_test(tcase, test_once, 0, (int)(sizeof once / sizeof once[0]));
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
