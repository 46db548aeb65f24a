/* Sequences and optionals in files: written and read again, and what is wrong with broken ones. */
#include "converter/onnx/value_file.h"

#include "runtime/base/file.h"
#include "tests/support/check_main.h"
#include "tests/support/temp_folder.h"
#include "tests/unit/onnx/onnx_case.h"

static const int64_t two[] = {2};
static const float number[] = {1.5f, -2};
static const VfBytes word[] = {{"a", 1}, {"", 0}};
static const VfTensor tensor[] = {
    {VF_F32, 1, two, 2, 8, number, VF_STORAGE_LENT},
    {VF_STRING, 1, two, 2, 0, word, VF_STORAGE_LENT},
};
static const VfFileValue item[] = {{.kind = VF_FILE_TENSOR, .tensor = &tensor[0]},
                                   {.kind = VF_FILE_TENSOR, .tensor = &tensor[1]}};
static const VfFileValue inner[] = {{.kind = VF_FILE_SEQUENCE, .n_item = 2, .item = item},
                                    {.kind = VF_FILE_SEQUENCE}};

static const VfFileValue value_table[] = {
    {.kind = VF_FILE_SEQUENCE},
    {.kind = VF_FILE_SEQUENCE, .n_item = 2, .item = item},
    {.kind = VF_FILE_SEQUENCE, .n_item = 2, .item = inner},
    {.kind = VF_FILE_NONE, .is_optional = true},
    {.kind = VF_FILE_TENSOR, .is_optional = true, .tensor = &tensor[0]},
    {.kind = VF_FILE_SEQUENCE, .is_optional = true, .n_item = 2, .item = item},
};

static void check_same(const VfFileValue *a, const VfFileValue *b)
{
    ck_assert_int_eq(a->kind, b->kind);
    ck_assert_int_eq(a->is_optional, b->is_optional);
    if (a->kind == VF_FILE_TENSOR)
        ck_assert(vf_tensor_is_equal(a->tensor, b->tensor));
    ck_assert_uint_eq(a->n_item, b->n_item);
    for (size_t i = 0; i < a->n_item; i++)
        check_same(&a->item[i], &b->item[i]);
}

START_TEST(values_return_from_files)
{
    char folder[512], path[600];
    VfArena *arena = vf_arena_new();
    const VfFileValue *value = &value_table[_i];
    VfMapping file;
    VfFileValue back;
    VfErr err = {VF_OK, ""};
    vf_temp_folder_make(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/value.pb", folder);
    ck_assert_int_eq(vf_onnx_write_value(path, vf_bytes("v"), value, &err), VF_OK);
    ck_assert_int_eq(vf_file_map(path, &file, &err), VF_OK);
    VfStatus status = vf_onnx_read_value(arena, file.data, file.size, path, value->is_optional,
                                         &back, &err);
    ck_assert_msg(status == VF_OK, "%s", err.text);
    check_same(value, &back);
    vf_file_unmap(&file);
    vf_temp_folder_remove(folder);
    vf_arena_free(arena);
}
END_TEST

#define BYTES(s) s, sizeof(s) - 1

static const struct {
    const char *bytes;
    size_t size;
    bool is_optional;
    VfStatus status;
    const char *text;
} bad[] = {
    {BYTES("\x1A\x05\x10"), false, VF_INVALID, "byte 0 is cut off"},
    {BYTES("\x1B"), false, VF_INVALID, "byte 0"},
    {BYTES("\x1A\x02\x10\x01"), false, VF_INVALID, "does not have 1 numbers"},
    {BYTES("\x22\x00"), false, VF_UNSUPPORTED, "sparse tensor or a map"},
    {BYTES("\x2A\x00\x2A\x00"), true, VF_INVALID, "an optional of 2 values"},
    {BYTES("\x2A\x22\x2A\x20\x2A\x1E\x2A\x1C\x2A\x1A\x2A\x18\x2A\x16\x2A\x14\x2A\x12\x2A\x10"
           "\x2A\x0E\x2A\x0C\x2A\x0A\x2A\x08\x2A\x06\x2A\x04\x2A\x02\x2A\x00"),
     false, VF_UNSUPPORTED, "inside each other 17 deep"},
};

START_TEST(broken_files_are_refused)
{
    VfArena *arena = vf_arena_new();
    VfFileValue value;
    VfErr err = {VF_OK, ""};
    VfStatus status = vf_onnx_read_value(arena, bad[_i].bytes, bad[_i].size, "x.pb",
                                         bad[_i].is_optional, &value, &err);
    ck_assert_msg(status == bad[_i].status, "case %d: status %d, %s", _i, (int)status, err.text);
    ck_assert_msg(has_text(err.text, bad[_i].text), "case %d: %s", _i, err.text);
    ck_assert_msg(has_text(err.text, "'x.pb'"), "case %d: %s", _i, err.text);
    vf_arena_free(arena);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("onnx/value_file");
    TCase *tcase = tcase_create("values");
    tcase_add_loop_test(tcase, values_return_from_files, 0,
                        (int)(sizeof value_table / sizeof value_table[0]));
    tcase_add_loop_test(tcase, broken_files_are_refused, 0, (int)(sizeof bad / sizeof bad[0]));
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
