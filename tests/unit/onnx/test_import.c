#include "converter/onnx/import.h"

#include "passes/ir/attr.h"
#include "tests/support/check_main.h"
#include "tests/support/temp_folder.h"
#include "tests/unit/onnx/onnx_case.h"

static VfModel *import_file(const char *path)
{
    VfModel *model = NULL;
    VfErr err = {VF_OK, ""};
    VfStatus status = vf_onnx_import(source_path(path), NULL, &model, &err);
    ck_assert_msg(status == VF_OK, "%s", err.text);
    return model;
}

static const VfValue *value_of(const VfModel *model, const char *name)
{
    const VfValue *value = vf_graph_find_value(model->graph, vf_bytes(name), false);
    ck_assert_msg(value != NULL, "no value '%s'", name);
    return value;
}

/* --- what is read from full.onnx --- */

START_TEST(test_model)
{
    VfModel *model = import_file("testdata/onnx/full.onnx");
    ck_assert_int_eq(model->ir_version, 13);
    ck_assert_int_eq(model->model_version, 42);
    ck_assert_str_eq(model->doc.data, "model doc");
    ck_assert_int_eq(model->n_opset, 3);
    ck_assert_int_eq(vf_graph_opset(model->graph, vf_bytes("com.example")), 3);
    ck_assert_str_eq(model->meta->value.data, "value");
    ck_assert_uint_gt(model->raw.size, 0);
    ck_assert_uint_gt(model->graph->raw.size, 0);
    ck_assert_int_eq(model->graph->n_input, 6);
    ck_assert_int_eq(model->graph->ret->n_in, 2);
    const VfFunction *twice = model->first_function;
    ck_assert_str_eq(twice->overload.data, "second");
    ck_assert_int_eq(twice->opset[0].version, 18);
    ck_assert_int_eq(twice->body->n_node, 3);
    ck_assert_str_eq(twice->attr_name[0].data, "by");
    ck_assert_str_eq(twice->first_attr_default->name.data, "scale");
    vf_model_free(model);
}
END_TEST

START_TEST(test_values)
{
    static const struct {
        const char *name;
        VfValueKind kind;
        VfTypeKind type;
        int32_t rank;
        bool is_constant_node, has_raw_info;
    } row[] = {
        {"x", VF_VALUE_INPUT, VF_TYPE_TENSOR, 2, false, true}, /* has denotations */
        {"flag", VF_VALUE_INPUT, VF_TYPE_TENSOR, 0, false, false},
        {"map", VF_VALUE_INPUT, VF_TYPE_OTHER, VF_RANK_UNKNOWN, false, true},
        {"seq", VF_VALUE_INPUT, VF_TYPE_SEQUENCE, 1, false, false},
        {"maybe", VF_VALUE_INPUT, VF_TYPE_OPTIONAL, VF_RANK_UNKNOWN, false, false},
        {"untyped", VF_VALUE_INPUT, VF_TYPE_TENSOR, VF_RANK_UNKNOWN, false, false},
        {"w", VF_VALUE_CONST, VF_TYPE_TENSOR, 2, false, false},
        {"words", VF_VALUE_CONST, VF_TYPE_TENSOR, 1, false, false},
        {"c1", VF_VALUE_CONST, VF_TYPE_TENSOR, 0, true, false},
        {"c3", VF_VALUE_CONST, VF_TYPE_TENSOR, 1, true, false},
        {"c5", VF_VALUE_RESULT, VF_TYPE_TENSOR, VF_RANK_UNKNOWN, false, false},
        {"y", VF_VALUE_RESULT, VF_TYPE_TENSOR, 2, false, false},
        {"z", VF_VALUE_RESULT, VF_TYPE_TENSOR, 2, false, false},
        {"sparse", VF_VALUE_RESULT, VF_TYPE_TENSOR, VF_RANK_UNKNOWN, false, false},
    };
    VfModel *model = import_file("testdata/onnx/full.onnx");
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        const VfValue *value = value_of(model, row[i].name);
        ck_assert_msg(value->kind == row[i].kind && value->type.kind == row[i].type &&
                          value->type.rank == row[i].rank &&
                          (value->constant != NULL) == row[i].is_constant_node &&
                          (value->raw_info.size > 0) == row[i].has_raw_info,
                      "value '%s'", row[i].name);
    }
    ck_assert_int_eq(vf_tensor_get_i64(value_of(model, "c3")->tensor, 1), 2);
    ck_assert_int_eq(vf_tensor_get_i64(value_of(model, "c2")->tensor, 0), 5);
    ck_assert(vf_tensor_get_double(value_of(model, "c4")->tensor, 0) == 0.25);
    ck_assert_str_eq(value_of(model, "x")->doc.data, "input doc");
    ck_assert(value_of(model, "sparse")->def->is_sparse_initializer);
    vf_model_free(model);
}
END_TEST

START_TEST(test_attributes)
{
    VfModel *model = import_file("testdata/onnx/full.onnx");
    const VfNode *node = vf_graph_find_node(model->graph, vf_bytes("mystery"));
    ck_assert_ptr_nonnull(node);
    ck_assert_int_eq(node->op, VF_OP_OTHER);
    ck_assert_int_eq(node->n_in, 4);
    ck_assert_ptr_null(node->in[1].value);
    ck_assert_ptr_null(node->out[1]);
    ck_assert_ptr_eq(node->in[2].value->def->out[0], node->in[2].value);
    ck_assert_uint_eq(node->in[2].value->name.size, 12); /* a 0 byte among them */
    ck_assert_str_eq(node->overload.data, "v2");
    ck_assert_int_eq(vf_node_attr(node, "i")->i, -3);
    ck_assert_uint_eq(vf_node_attr(node, "s")->s.size, 2);
    ck_assert_int_eq(vf_node_attr(node, "is")->n, 2);
    ck_assert_int_eq(vf_node_attr(node, "ss")->n, 2);
    ck_assert_int_eq(vf_node_attr(node, "ts")->n, 2);
    ck_assert_ptr_null(vf_node_attr(node, "ts")->raw_tensor);
    ck_assert_uint_gt(vf_node_attr(node, "t")->raw_tensor[0].size, 0);
    ck_assert_int_eq(vf_node_attr(node, "sp")->type, VF_ATTR_SPARSE_TENSOR);
    ck_assert_uint_gt(vf_node_attr(node, "sp")->raw.size, 0);
    const VfNode *branch = vf_graph_find_node(model->graph, vf_bytes("if"));
    const VfGraph *body = vf_node_attr(branch, "then_branch")->graph;
    ck_assert_ptr_eq(body->owner, branch);
    ck_assert_ptr_eq(body->first_node->in[0].value->graph, model->graph);
    vf_model_free(model);
}
END_TEST

START_TEST(test_initializers_as_inputs)
{
    static const struct {
        const char *path;
        VfValueKind kind;
        int32_t n_input;
    } row[] = {{"testdata/onnx/ir3.onnx", VF_VALUE_CONST, 1},
               {"testdata/onnx/default.onnx", VF_VALUE_INPUT, 2}};
    VfModel *model = import_file(row[_i].path);
    const VfValue *w = value_of(model, "w");
    ck_assert_int_eq(w->kind, row[_i].kind);
    ck_assert_ptr_nonnull(w->tensor);
    ck_assert_int_eq(model->graph->n_input, row[_i].n_input);
    vf_model_free(model);
}
END_TEST

/* --- faults --- */

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
    {{"x", "y y", "Relu x>y", NULL, NULL, 0, 0}, VF_INVALID, "output 'y' is listed twice"},
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

/* Of a domain that is imported again the highest version counts; 0 may stand beside a domain. */
START_TEST(test_opset_imported_twice)
{
    static const GraphCase graph = {"x", "y", "Relu x>y", NULL, NULL, 0, 13};
    VfArena *arena = vf_arena_new();
    VfModel *model;
    VfErr err = {VF_OK, ""};
    VfEmit emit;
    VfBytes more = {NULL, 0}, bytes = make_model(arena, &graph, (VfBytes){NULL, 0});
    vf_emit_init(&emit, arena);
    vf_emit_fields(&emit, bytes.data, bytes.size);
    emit_opset(&emit, "my.domain", 0);
    emit_opset(&emit, "ai.onnx", 18);
    emit_opset(&emit, "", 11);
    vf_emit_flatten(&emit, arena, &more, NULL);
    VfStatus status = vf_onnx_import_memory(more.data, more.size, "m", NULL, NULL, &model, &err);
    ck_assert_msg(status == VF_OK, "%s", err.text);
    ck_assert_int_eq(model->n_opset, 2);
    ck_assert_int_eq(vf_graph_opset(model->graph, vf_bytes("")), 18);
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
    ck_assert_msg(faults.n == 0, "%s", faults.text[0]);
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
        "node 'head' (Neg): operand 'last' is used before",
        "nodes in a cycle, each needs the one before: 'body' (Abs), 'tail' (Neg), 'head' (Neg)",
        "output 'lost' is not defined",
        "node 'arity' (#7): Add has 1 operands, takes 2",
        "node 'typed' (#8): attribute 'axis' of Softmax is of type 1, not 2",
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

/* A Constant of shape 2 x 2 with 5 at `at[0]` and 7 at `at[1]`. */
static VfBytes sparse_model(VfArena *arena, const int64_t at[2])
{
    static const GraphCase graph = {"x", "x", "", NULL, NULL, 0, 0};
    static const float value[2] = {5, 7};
    VfEmit emit;
    VfBytes more;
    vf_emit_init(&emit, arena);
    VfEmitMark node = vf_emit_begin(&emit, 1);
    vf_emit_bytes(&emit, 2, vf_bytes("s"));
    vf_emit_bytes(&emit, 3, vf_bytes("n"));
    vf_emit_bytes(&emit, 4, vf_bytes("Constant"));
    VfEmitMark attr = vf_emit_begin(&emit, 5);
    vf_emit_bytes(&emit, 1, vf_bytes("sparse_value"));
    vf_emit_int(&emit, 20, VF_ATTR_SPARSE_TENSOR);
    VfEmitMark sparse = vf_emit_begin(&emit, 22);
    for (uint32_t i = 1; i <= 2; i++) {
        VfEmitMark tensor = vf_emit_begin(&emit, i);
        vf_emit_int(&emit, 1, 2);
        vf_emit_int(&emit, 2, i == 1 ? VF_F32 : VF_I64);
        vf_emit_bytes(&emit, 9, i == 1 ? (VfBytes){(const char *)value, sizeof value}
                                       : (VfBytes){(const char *)at, 2 * sizeof *at});
        vf_emit_end(&emit, tensor);
    }
    vf_emit_int(&emit, 3, 2);
    vf_emit_int(&emit, 3, 2);
    vf_emit_end(&emit, sparse);
    vf_emit_end(&emit, attr);
    vf_emit_end(&emit, node);
    vf_emit_flatten(&emit, arena, &more, NULL);
    return make_model(arena, &graph, more);
}

START_TEST(test_sparse)
{
    static const float want[4] = {0, 5, 7, 0};
    VfArena *arena = vf_arena_new();
    VfModel *model;
    VfErr err = {VF_OK, ""};
    VfBytes good = sparse_model(arena, (const int64_t[2]){1, 2});
    VfBytes bad_place = sparse_model(arena, (const int64_t[2]){1, 4});
    ck_assert_int_eq(vf_onnx_import_memory(good.data, good.size, "m", NULL, NULL, &model, &err),
                     VF_OK);
    const VfTensor *tensor = model->graph->first_node->first_attr->tensor;
    ck_assert_ptr_nonnull(tensor);
    ck_assert_int_eq(tensor->rank, 2);
    ck_assert_mem_eq(tensor->data, want, sizeof want);
    vf_model_free(model);
    ck_assert_int_eq(vf_onnx_import_memory(bad_place.data, bad_place.size, "m", NULL, NULL, &model,
                                           &err), VF_INVALID);
    ck_assert_msg(has_text(err.text, "element 1 of a sparse tensor lies outside"), "%s", err.text);
    vf_arena_free(arena);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("onnx/import");
    TCase *tcase = tcase_create("import");
    tcase_add_test(tcase, test_model);
    tcase_add_test(tcase, test_values);
    tcase_add_test(tcase, test_attributes);
    tcase_add_loop_test(tcase, test_initializers_as_inputs, 0, 2);
    tcase_add_loop_test(tcase, test_faults, 0, (int)(sizeof bad / sizeof bad[0]));
    tcase_add_test(tcase, test_opset_imported_twice);
    tcase_add_test(tcase, test_check);
    tcase_add_test(tcase, test_check_kinds);
    tcase_add_test(tcase, test_sparse);
    tcase_add_loop_test(tcase, test_attr_faults, 0, 5);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
