#include "converter/onnx/import.h"

#include "passes/ir/attr.h"
#include "tests/support/check_main.h"
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

/* Of a domain that is imported again the last version counts; 0 may stand beside a domain. */
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
    emit_opset(&emit, "my.domain", 3);
    emit_opset(&emit, "ai.onnx", 18);
    emit_opset(&emit, "", 11);
    emit_opset(&emit, "my.domain", 0);
    vf_emit_flatten(&emit, arena, &more, NULL);
    VfStatus status = vf_onnx_import_memory(more.data, more.size, "m", NULL, NULL, &model, &err);
    ck_assert_msg(status == VF_OK, "%s", err.text);
    ck_assert_int_eq(model->n_opset, 2);
    ck_assert_int_eq(vf_graph_opset(model->graph, vf_bytes("")), 11);
    ck_assert_int_eq(vf_graph_opset(model->graph, vf_bytes("my.domain")), 3);
    vf_model_free(model);
    vf_arena_free(arena);
}
END_TEST

/* Elements 5 and 7 of a sparse tensor: its values, filled up at 1 and 2, in bits of the dtype. */
static const float f32_pair[2] = {5, 7}, f32_filled[4] = {0, 5, 7, 0};
static const uint8_t i4_pair[1] = {0x75}, i4_filled[2] = {0x50, 0x07};
static const struct SparseCase {
    VfDtype dtype;
    VfBytes pair;
    const void *filled;
    size_t bytes;
} sparse_case[] = {
    {VF_F32, {(const char *)f32_pair, sizeof f32_pair}, f32_filled, sizeof f32_filled},
    {VF_I4, {(const char *)i4_pair, sizeof i4_pair}, i4_filled, sizeof i4_filled},
};

/* A Constant of shape 2 x 2 with two numbers at `at[0]` and `at[1]`; of strings "5" and "7" if
 * `from` is NULL. */
static VfBytes sparse_model(VfArena *arena, const struct SparseCase *from, const int64_t at[2])
{
    static const GraphCase graph = {"x", "x", "", NULL, NULL, 0, 0};
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
        vf_emit_int(&emit, 2, i == 2 ? VF_I64 : from == NULL ? VF_STRING : from->dtype);
        if (i == 1 && from == NULL) {
            vf_emit_bytes(&emit, 6, vf_bytes("5"));
            vf_emit_bytes(&emit, 6, vf_bytes("7"));
        } else {
            vf_emit_bytes(&emit, 9,
                          i == 1 ? from->pair : (VfBytes){(const char *)at, 2 * sizeof *at});
        }
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
    const struct SparseCase *c = &sparse_case[_i];
    VfArena *arena = vf_arena_new();
    VfModel *model;
    VfErr err = {VF_OK, ""};
    VfBytes good = sparse_model(arena, c, (const int64_t[2]){1, 2});
    VfBytes bad_place = sparse_model(arena, c, (const int64_t[2]){1, 4});
    ck_assert_int_eq(vf_onnx_import_memory(good.data, good.size, "m", NULL, NULL, &model, &err),
                     VF_OK);
    const VfTensor *tensor = model->graph->first_node->first_attr->tensor;
    ck_assert_ptr_nonnull(tensor);
    ck_assert_int_eq(tensor->rank, 2);
    ck_assert_mem_eq(tensor->data, c->filled, c->bytes);
    vf_model_free(model);
    ck_assert_int_eq(vf_onnx_import_memory(bad_place.data, bad_place.size, "m", NULL, NULL, &model,
                                           &err), VF_INVALID);
    ck_assert_msg(has_text(err.text, "element 1 of a sparse tensor lies outside"), "%s", err.text);
    vf_arena_free(arena);
}
END_TEST

START_TEST(test_sparse_strings)
{
    static const char *const want[4] = {"", "5", "7", ""};
    VfArena *arena = vf_arena_new();
    VfModel *model;
    VfErr err = {VF_OK, ""};
    VfBytes file = sparse_model(arena, NULL, (const int64_t[2]){1, 2});
    ck_assert_int_eq(vf_onnx_import_memory(file.data, file.size, "m", NULL, NULL, &model, &err),
                     VF_OK);
    const VfTensor *tensor = model->graph->first_node->first_attr->tensor;
    ck_assert_ptr_nonnull(tensor);
    for (size_t i = 0; i < 4; i++)
        ck_assert(vf_bytes_is_equal(((const VfBytes *)tensor->data)[i], vf_bytes(want[i])));
    vf_model_free(model);
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
    tcase_add_test(tcase, test_opset_imported_twice);
    tcase_add_loop_test(tcase, test_sparse, 0, 2);
    tcase_add_test(tcase, test_sparse_strings);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
