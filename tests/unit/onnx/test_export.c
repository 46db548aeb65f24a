#include "converter/onnx/export.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "passes/ir/attr.h"
#include "passes/ir/vft.h"
#include "tests/support/check_main.h"
#include "tests/support/temp_folder.h"
#include "tests/unit/onnx/onnx_case.h"

static char folder[512];
static VfArena *arena;

static void set_up(void)
{
    vf_temp_folder_make(folder, sizeof folder);
    arena = vf_arena_new();
}

static void tear_down(void)
{
    vf_arena_free(arena);
    vf_temp_folder_remove(folder);
}

static const char *at(const char *name)
{
    return vf_arena_printf(arena, "%s/%s", folder, name);
}

static VfModel *import_file(const char *path)
{
    VfModel *model = NULL;
    VfErr err = {VF_OK, ""};
    VfStatus status = vf_onnx_import(path, NULL, &model, &err);
    ck_assert_msg(status == VF_OK, "%s", err.text);
    return model;
}

static VfModel *import_text(const GraphCase *graph, VfBytes more)
{
    VfModel *model = NULL;
    VfErr err = {VF_OK, ""};
    VfBytes bytes = make_model(arena, graph, more);
    VfStatus status =
        vf_onnx_import_memory(bytes.data, bytes.size, "m", NULL, NULL, &model, &err);
    ck_assert_msg(status == VF_OK, "%s", err.text);
    return model;
}

static void export_file(const VfModel *model, const char *path, VfExternalData external)
{
    VfErr err = {VF_OK, ""};
    VfExportOptions options = {external};
    VfStatus status = vf_onnx_export(model, path, &options, &err);
    ck_assert_msg(status == VF_OK, "%s", err.text);
}

/* Export and import again; frees `model`. */
static VfModel *trip(VfModel *model)
{
    export_file(model, at("trip.onnx"), VF_EXTERNAL_AUTO);
    vf_model_free(model);
    return import_file(at("trip.onnx"));
}

static void assert_same_file(const char *a, const char *b)
{
    VfMapping first, second;
    ck_assert_int_eq(vf_file_map(a, &first, NULL), VF_OK);
    ck_assert_int_eq(vf_file_map(b, &second, NULL), VF_OK);
    ck_assert_msg(first.size == second.size && memcmp(first.data, second.data, first.size) == 0,
                  "%s and %s differ", a, b);
    vf_file_unmap(&first);
    vf_file_unmap(&second);
}

/* --- nothing is lost --- */

START_TEST(test_bytes)
{
    static const struct {
        const char *from, *wanted;
    } row[] = {
        {"testdata/onnx/full.onnx", "testdata/onnx/full.onnx"},
        {"testdata/onnx/shuffled.onnx", "testdata/onnx/full.onnx"},
        {"testdata/onnx/ir3.onnx", "testdata/onnx/ir3.onnx"},
        {"testdata/onnx/default.onnx", "testdata/onnx/default.onnx"},
        {"testdata/onnx/loop.onnx", "testdata/onnx/loop.onnx"},
        {"testdata/onnx/plain.onnx", "testdata/onnx/plain.onnx"},
    };
    VfModel *model = import_file(source_path(row[_i].from));
    export_file(model, at("out.onnx"), VF_EXTERNAL_AUTO);
    vf_model_free(model);
    assert_same_file(at("out.onnx"), source_path(row[_i].wanted));
    ck_assert_uint_eq(vf_temp_folder_count(folder), 1);
}
END_TEST

START_TEST(test_in_place)
{
    VfModel *model = import_file(source_path("testdata/onnx/full.onnx"));
    export_file(model, at("m.onnx"), VF_EXTERNAL_AUTO);
    vf_model_free(model);
    model = import_file(at("m.onnx"));
    export_file(model, at("m.onnx"), VF_EXTERNAL_AUTO);
    ck_assert(vf_tensor_get_double(vf_graph_find_value(model->graph, vf_bytes("w"), false)->tensor,
                                   3) == 4.0);
    vf_model_free(model);
    assert_same_file(at("m.onnx"), source_path("testdata/onnx/full.onnx"));
}
END_TEST

/* --- external data --- */

enum { BIG = 3000 };

/* Initializers "a" and "b" of BIG float32, and a Constant node "c" of as many. */
static VfModel *big_model(void)
{
    static const GraphCase graph = {"x", "y", "Add x s>t Relu t>y", "s", NULL, 0, 0};
    static float data[3][BIG];
    VfModel *model = import_text(&graph, (VfBytes){NULL, 0});
    for (int i = 0; i < 3; i++) {
        int64_t dims[] = {BIG};
        VfTensor *tensor = VF_NEW(model->arena, VfTensor);
        for (int k = 0; k < BIG; k++)
            data[i][k] = (float)(i * BIG + k);
        *tensor = (VfTensor){VF_F32, 1, NULL, BIG, sizeof data[i], data[i], VF_STORAGE_LENT};
        tensor->dims = memcpy(vf_arena_alloc(model->arena, sizeof dims), dims, sizeof dims);
        char name[] = {(char)('a' + i), '\0'};
        VfValue *value = vf_graph_add_const(model->graph, vf_bytes(name), tensor);
        if (i < 2)
            continue;
        VfNode *node = vf_node_new(model->graph, vf_bytes(""), vf_bytes("Constant"), 0, NULL, 0,
                                   NULL);
        ck_assert_int_eq(vf_node_set_tensor(node, "value", tensor, NULL), VF_OK);
        value->constant = node;
    }
    return model;
}

static void assert_big(const VfModel *model)
{
    for (int i = 0; i < 3; i++) {
        char name[] = {(char)('a' + i), '\0'};
        const VfValue *value = vf_graph_find_value(model->graph, vf_bytes(name), false);
        ck_assert_ptr_nonnull(value);
        ck_assert_int_eq(value->tensor->storage, VF_STORAGE_FILE);
        ck_assert((int)vf_tensor_get_double(value->tensor, BIG - 1) == i * BIG + BIG - 1);
        ck_assert((value->constant != NULL) == (i == 2));
    }
}

START_TEST(test_external)
{
    VfModel *model = big_model();
    VfFileFacts facts, data;
    export_file(model, at("m.onnx"), VF_EXTERNAL_ALWAYS);
    vf_model_free(model);
    ck_assert_uint_eq(vf_temp_folder_count(folder), 2);
    ck_assert_int_eq(vf_file_facts(at("m.onnx"), &facts, NULL), VF_OK);
    ck_assert_int_eq(vf_file_facts(at("m.onnx.data"), &data, NULL), VF_OK);
    ck_assert_uint_lt(facts.size, 1000);
    ck_assert_uint_eq(data.size, 2 * 12288 + 4 * BIG); /* each at a multiple of 4096 */
    model = import_file(at("m.onnx"));
    assert_big(model);
    export_file(model, at("m.onnx"), VF_EXTERNAL_ALWAYS); /* onto itself */
    vf_model_free(model);
    model = import_file(at("m.onnx"));
    assert_big(model);
    export_file(model, at("inside.onnx"), VF_EXTERNAL_AUTO);
    vf_model_free(model);
    model = import_file(at("inside.onnx"));
    assert_big(model);
    vf_model_free(model);
    ck_assert_uint_eq(vf_temp_folder_count(folder), 3);
}
END_TEST

/* A model of more than 2 GB, of which no byte is touched. */
START_TEST(test_too_large)
{
    static const GraphCase graph = {"x", "x", "", NULL, NULL, 0, 0};
    size_t size = (size_t)9 << 28;
    int64_t dims[] = {(int64_t)size};
    VfModel *model = import_text(&graph, (VfBytes){NULL, 0});
    void *data = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ck_assert_ptr_ne(data, MAP_FAILED);
    VfTensor tensor = {VF_U8, 1, dims, size, size, data, VF_STORAGE_LENT};
    VfExportOptions options = {VF_EXTERNAL_NEVER};
    ck_assert_ptr_nonnull(vf_graph_add_const(model->graph, vf_bytes("w"), &tensor));
    ck_assert_int_eq(vf_onnx_export(model, at("m.onnx"), &options, NULL), VF_UNSUPPORTED);
    options.external_data = VF_EXTERNAL_AUTO; /* would go to two files, but for the folder */
    ck_assert_int_eq(vf_onnx_export(model, at("none/m.onnx"), &options, NULL), VF_IO);
    ck_assert_uint_eq(vf_temp_folder_count(folder), 0);
    vf_model_free(model);
    munmap(data, size);
}
END_TEST

/* --- failures leave nothing --- */

START_TEST(test_failures)
{
    static const struct {
        const char *path;
        VfExternalData external;
    } row[] = {{"none/m.onnx", VF_EXTERNAL_AUTO},
               {"taken", VF_EXTERNAL_AUTO},
               {"m.onnx", VF_EXTERNAL_ALWAYS}}; /* m.onnx.data is a folder */
    VfErr err = {VF_OK, ""};
    VfModel *model = big_model();
    VfExportOptions options = {row[_i].external};
    ck_assert_int_eq(mkdir(at("taken"), 0777), 0);
    ck_assert_int_eq(mkdir(at("m.onnx.data"), 0777), 0);
    ck_assert_int_eq(vf_onnx_export(model, at(row[_i].path), &options, &err), VF_IO);
    ck_assert_msg(has_text(err.text, "cannot write"), "%s", err.text);
    ck_assert_uint_eq(vf_temp_folder_count(folder), 2);
    vf_model_free(model);
}
END_TEST

/* The disk is full, or so it seems, in the data file or in the model. */
START_TEST(test_full_disk)
{
    VfModel *model = big_model();
    VfExportOptions options = {_i == 0 ? VF_EXTERNAL_ALWAYS : VF_EXTERNAL_NEVER};
    struct rlimit old, small;
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = old;
    small.rlim_cur = 16384;
    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
    VfStatus status = vf_onnx_export(model, at("m.onnx"), &options, NULL);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &old), 0);
    ck_assert_int_eq(status, VF_IO);
    ck_assert_uint_eq(vf_temp_folder_count(folder), 0);
    vf_model_free(model);
}
END_TEST

/* --- what passes make --- */

/* x -> Relu -> y becomes x -> Neg -> y, made by a pass from the Relu. */
static VfModel *rewritten(int64_t ir)
{
    const GraphCase graph = {"x", "y", "Relu x>y", NULL, NULL, ir, 0};
    VfModel *model = import_text(&graph, (VfBytes){NULL, 0});
    VfNode *old = model->graph->first_node;
    VfValue *in = old->in[0].value;
    VfBytes none = {"", 0};
    VfNode *node = vf_node_new(model->graph, vf_bytes(""), vf_bytes("Neg"), 1, &in, 1, &none);
    VfOrigin *origin = VF_NEW(model->arena, VfOrigin);
    const VfNode **source = VF_NEW_ARRAY(model->arena, const VfNode *, 1);
    source[0] = old;
    *origin = (VfOrigin){"negate", 1, source};
    node->origin = origin;
    vf_node_link(node, NULL);
    vf_value_replace_uses(old->out[0], node->out[0]);
    vf_node_unlink(old);
    return model;
}

static const VfMeta *find_meta(const VfMeta *meta, const char *key)
{
    while (meta != NULL && !vf_bytes_is_equal(meta->key, vf_bytes(key)))
        meta = meta->next;
    return meta;
}

START_TEST(test_origin)
{
    static const struct {
        int64_t ir;
        const char *pass, *source;
    } row[] = {{10, "vitfold.pass", "vitfold.source"},
               {9, "vitfold.pass:vitfold.negate.Neg.0", "vitfold.source:vitfold.negate.Neg.0"}};
    VfModel *model = trip(trip(rewritten(row[_i].ir)));
    const VfNode *node = model->graph->first_node;
    const VfMeta *meta = row[_i].ir >= 10 ? node->meta : model->meta;
    ck_assert_str_eq(node->name.data, "vitfold.negate.Neg.0");
    ck_assert_str_eq(node->out[0]->name.data, "y");
    ck_assert_int_eq(model->graph->n_node, 1);
    ck_assert_ptr_nonnull(find_meta(meta, row[_i].pass));
    ck_assert_str_eq(find_meta(meta, row[_i].pass)->value.data, "negate");
    ck_assert_ptr_nonnull(find_meta(meta, row[_i].source));
    ck_assert_ptr_null(find_meta(row[_i].ir >= 10 ? model->meta : node->meta, row[_i].pass));
    vf_model_free(model);
}
END_TEST

/* Outputs keep their names whatever stands behind them. */
START_TEST(test_outputs)
{
    static const struct {
        const char *replace, *by; /* values */
        int32_t n_node;
        const char *last_op;
    } row[] = {
        {"y", "x", 3, "Identity"},  /* an input */
        {"y", "w", 3, "Identity"},  /* a constant */
        {"y", "h", 2, "Relu"},      /* a result takes over the name */
        {"y", "z", 3, "Identity"},  /* a result that is an output already */
    };
    static const GraphCase graph = {"x", "y z", "Neg x>h Relu h>z Abs h>y", "w", NULL, 0, 0};
    VfModel *model = import_text(&graph, (VfBytes){NULL, 0});
    VfValue *old = vf_graph_find_value(model->graph, vf_bytes(row[_i].replace), false);
    VfValue *new = vf_graph_find_value(model->graph, vf_bytes(row[_i].by), false);
    vf_value_replace_uses(old, new);
    vf_node_unlink(old->def);
    model = trip(model);
    ck_assert_str_eq(model->graph->output_name[0].data, "y");
    ck_assert_str_eq(model->graph->output_name[1].data, "z");
    ck_assert_str_eq(model->graph->ret->in[0].value->name.data, "y");
    ck_assert_int_eq(model->graph->n_node, row[_i].n_node);
    ck_assert_str_eq(model->graph->last_node->op_type.data, row[_i].last_op);
    vf_model_free(model);
}
END_TEST

/* Two outputs change places: each name still goes with its own value. */
START_TEST(test_swapped)
{
    static const GraphCase graph = {"x", "y z", "Neg x>y Relu x>z", NULL, NULL, 0, 0};
    static const char *const op[] = {"Relu", "Neg"};
    VfModel *model = import_text(&graph, (VfBytes){NULL, 0});
    VfNode *ret = model->graph->ret;
    VfValue *y = ret->in[0].value, *z = ret->in[1].value;
    vf_node_set_in(ret, 0, z);
    vf_node_set_in(ret, 1, y);
    model = trip(model);
    for (int32_t i = 0; i < 2; i++) {
        const VfNode *node = model->graph->ret->in[i].value->def;
        if (vf_bytes_is_equal(node->op_type, vf_bytes("Identity")))
            node = node->in[0].value->def;
        ck_assert_str_eq(node->op_type.data, op[i]);
    }
    vf_model_free(model);
}
END_TEST

/* The output takes a name that another living value has. */
START_TEST(test_taken_name)
{
    static const GraphCase graph = {"x", "y", "Neg x>y Relu y>h", NULL, NULL, 0, 0};
    VfModel *model = import_text(&graph, (VfBytes){NULL, 0});
    VfValue *h = vf_graph_find_value(model->graph, vf_bytes("h"), false);
    vf_node_set_in(model->graph->ret, 0, h);
    model = trip(model);
    ck_assert_str_eq(model->graph->last_node->op_type.data, "Relu");
    ck_assert_str_eq(model->graph->last_node->out[0]->name.data, "y");
    ck_assert_str_eq(model->graph->first_node->out[0]->name.data, "vitfold.value.0");
    vf_model_free(model);
}
END_TEST

/* value_float came with opset 12: before, the same Constant has a tensor. */
START_TEST(test_old_constant)
{
    VfModel *model;
    VfErr err = {VF_OK, ""};
    VfBytes text = vf_bytes("model ir=8 opset=11\ngraph g () -> (k) {\n"
                            "    k = const(value_float) f32[] {1.5} @n\n}\n");
    ck_assert_msg(vf_vft_parse(text, "m", &model, &err) == VF_OK, "%s", err.text);
    export_file(model, at("k.onnx"), VF_EXTERNAL_AUTO);
    vf_model_free(model);
    model = import_file(at("k.onnx"));
    const VfValue *k = vf_graph_find_value(model->graph, vf_bytes("k"), false);
    ck_assert_str_eq(k->constant->name.data, "n");
    ck_assert_str_eq(k->constant->first_attr->name.data, "value");
    ck_assert_double_eq(vf_tensor_get_double(k->tensor, 0), 1.5);
    vf_model_free(model);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("onnx/export");
    TCase *tcase = tcase_create("export");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, test_bytes, 0, 6);
    tcase_add_test(tcase, test_in_place);
    tcase_add_test(tcase, test_external);
    tcase_add_test(tcase, test_too_large);
    tcase_add_loop_test(tcase, test_failures, 0, 3);
    tcase_add_loop_test(tcase, test_full_disk, 0, 2);
    tcase_add_loop_test(tcase, test_origin, 0, 2);
    tcase_add_loop_test(tcase, test_outputs, 0, 4);
    tcase_add_test(tcase, test_swapped);
    tcase_add_test(tcase, test_taken_name);
    tcase_add_test(tcase, test_old_constant);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
