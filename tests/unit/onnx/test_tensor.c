/* How tensors are read: every encoding, and what is wrong with broken ones. */
#include "passes/ir/tensor.h"

#include "converter/onnx/tensor_file.h"
#include "tests/support/check_main.h"
#include "tests/support/temp_folder.h"
#include "tests/unit/onnx/onnx_case.h"

/* NAME_packed, NAME_unpacked and NAME_mixed of encodings.onnx equal NAME_raw. */
START_TEST(test_encodings)
{
    static const char *const way[] = {"packed", "unpacked", "mixed"};
    VfModel *model;
    VfErr err;
    int n = 0;
    VfStatus status = vf_onnx_import(source_path("testdata/onnx/encodings.onnx"), NULL, &model,
                                     &err);
    ck_assert_msg(status == VF_OK, "%s", err.text);
    for (const VfValue *raw = model->graph->first_value; raw != NULL; raw = raw->next) {
        size_t stem = raw->name.size - 3;
        if (raw->kind != VF_VALUE_CONST || memcmp(raw->name.data + stem, "raw", 3) != 0)
            continue;
        for (size_t i = 0; i < 3; i++) {
            char name[100];
            snprintf(name, sizeof name, "%.*s%s", (int)stem, raw->name.data, way[i]);
            const VfValue *same = vf_graph_find_value(model->graph, vf_bytes(name), false);
            ck_assert_ptr_nonnull(same);
            ck_assert_msg(vf_tensor_is_equal(same->tensor, raw->tensor), "%s", name);
            n++;
        }
    }
    ck_assert_int_eq(n, 3 * 27);
    vf_model_free(model);
}
END_TEST

/* Floats that lie in the file as in memory are not copied. */
START_TEST(test_references)
{
    static const struct {
        const char *name;
        VfStorage storage;
    } row[] = {{"f32_raw", VF_STORAGE_FILE}, {"f32_packed", VF_STORAGE_FILE},
               {"c128_packed", VF_STORAGE_FILE}, {"i64_raw", VF_STORAGE_FILE},
               {"f32_unpacked", VF_STORAGE_ARENA}, {"i64_packed", VF_STORAGE_ARENA}};
    VfModel *model;
    ck_assert_int_eq(vf_onnx_import(source_path("testdata/onnx/encodings.onnx"), NULL, &model,
                                    NULL), VF_OK);
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        const VfValue *value = vf_graph_find_value(model->graph, vf_bytes(row[i].name), false);
        ck_assert_int_eq(value->tensor->storage, row[i].storage);
    }
    vf_model_free(model);
}
END_TEST

#define BYTES(s) s, sizeof(s) - 1

/* TensorProto bytes: dims 1, data_type 2, float_data 4, int32_data 5, string_data 6,
 * int64_data 7, raw_data 9, external_data 13, data_location 14. */
static const struct {
    const char *bytes;
    size_t size;
    VfStatus status;
    const char *text;
} bad[] = {
    {BYTES(""), VF_INVALID, "element type 0"},
    {BYTES("\x10\x1B"), VF_INVALID, "element type 27"},
    {BYTES("\x10\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"), VF_INVALID, "element type -1"},
    {BYTES("\x10\x01"), VF_INVALID, "does not have 1 numbers"},
    {BYTES("\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01\x10\x01"), VF_INVALID, "negative"},
    {BYTES("\x08\x80\x80\x80\x80\x80\x80\x80\x80\x40\x08\x04\x10\x01"), VF_INVALID, "too large"},
    {BYTES("\x08\x80\x80\x80\x80\x80\x80\x80\x40\x10\x06"), VF_INVALID, "does not have"},
    {BYTES("\x10\x01\x4A\x03" "abc"), VF_INVALID, "raw data of 3 bytes for a shape of 4"},
    {BYTES("\x10\x08\x4A\x03" "abc"), VF_INVALID, "strings as raw data"},
    {BYTES("\x08\x02\x10\x01\x25\x00\x00\x80\x3F"), VF_INVALID, "does not have 2 numbers"},
    {BYTES("\x10\x01\x25\x00\x00\x80\x3F\x25\x00\x00\x80\x3F"), VF_INVALID, "does not have 1"},
    {BYTES("\x10\x01\x28\x01"), VF_INVALID, "field for another type"},
    {BYTES("\x10\x02\x28\x80\x02"), VF_INVALID, "out of range for u8"},
    {BYTES("\x10\x03\x28\xFF\xFE\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"), VF_INVALID, "range for i8"},
    {BYTES("\x10\x0C\x58\x80\x80\x80\x80\x10"), VF_INVALID, "out of range for u32"},
    {BYTES("\x08\x02\x10\x08\x32\x01x"), VF_INVALID, "does not have 2 numbers"},
    {BYTES("\x10\x01\x25\x00\x00\x80\x3F\x4A\x04" "abcd"), VF_INVALID, "several fields"},
    {BYTES("\x10\x01\x4A\x04" "abcd\x70\x01"), VF_INVALID, "several fields"},
    {BYTES("\x10\x01\x70\x01"), VF_INVALID, "without location"},
    {BYTES("\x10\x01\x6A\x0D\x0A\x08location\x12\x01w\x70\x01"), VF_INVALID, "no folder"},
    {BYTES("\x10\x01\x6A\x0B\x0A\x06offset\x12\x01-\x70\x01"), VF_INVALID, "is no number: '-'"},
    {BYTES("\x10\x01\x6A\x0B\x0A\x06length\x12\x01" "5\x70\x01"), VF_INVALID, "of 5 bytes"},
    {BYTES("\x10\x01\x6A\x0B\x0A\x06offset\x12\x01" "1\x6A\x0B\x0A\x06offset\x12\x01" "1\x70\x01"),
     VF_INVALID, "'offset' twice"},
    {BYTES("\x10\x01\x1A\x02\x08\x01"), VF_UNSUPPORTED, "sequence"},
    {BYTES("\x10\x01\x4A\x05" "abcd"), VF_INVALID, "byte 2: field 'raw_data'"},
};

START_TEST(test_bad)
{
    VfArena *arena = vf_arena_new();
    VfTensor tensor;
    VfErr err = {VF_OK, ""};
    VfStatus status =
        vf_onnx_read_tensor(arena, bad[_i].bytes, bad[_i].size, "x.pb", &tensor, &err);
    ck_assert_msg(status == bad[_i].status, "case %d: status %d, %s", _i, (int)status, err.text);
    ck_assert_msg(has_text(err.text, bad[_i].text), "case %d: %s", _i, err.text);
    ck_assert_msg(has_text(err.text, "cannot read 'x.pb'"), "case %d: %s", _i, err.text);
    vf_arena_free(arena);
}
END_TEST

/* Each tensor of encodings.onnx and strings, written and read again. */
static void check_trip(VfArena *arena, const char *path, const VfTensor *tensor)
{
    VfMapping mapping;
    VfTensor back;
    VfErr err = {VF_OK, ""};
    ck_assert_int_eq(vf_onnx_write_tensor(path, vf_bytes("t"), tensor, NULL), VF_OK);
    ck_assert_int_eq(vf_file_map(path, &mapping, NULL), VF_OK);
    VfStatus status = vf_onnx_read_tensor(arena, mapping.data, mapping.size, path, &back, &err);
    ck_assert_msg(status == VF_OK, "%s", err.text);
    ck_assert(vf_tensor_is_equal(tensor, &back));
    vf_file_unmap(&mapping);
}

START_TEST(test_file)
{
    static const VfBytes word[] = {{"one", 3}, {"", 0}, {"a\0b", 3}};
    static const int64_t dims[] = {3};
    VfTensor strings = {.dtype = VF_STRING, .rank = 1, .dims = dims, .count = 3, .data = word};
    char folder[512], path[600];
    VfArena *arena = vf_arena_new();
    VfModel *model;
    vf_temp_folder_make(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/t.pb", folder);
    check_trip(arena, path, &strings);
    ck_assert_int_eq(vf_onnx_import(source_path("testdata/onnx/encodings.onnx"), NULL, &model,
                                    NULL), VF_OK);
    for (const VfValue *value = model->graph->first_value; value != NULL; value = value->next) {
        if (value->tensor != NULL)
            check_trip(arena, path, value->tensor);
    }
    vf_model_free(model);
    vf_temp_folder_remove(folder);
    vf_arena_free(arena);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("onnx/tensor");
    TCase *tcase = tcase_create("tensor");
    tcase_add_test(tcase, test_encodings);
    tcase_add_test(tcase, test_references);
    tcase_add_loop_test(tcase, test_bad, 0, (int)(sizeof bad / sizeof bad[0]));
    tcase_add_test(tcase, test_file);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
