#include <stdio.h>
#include <string.h>
#include <zip.h>

#include "converter/data/labelled.h"
#include "converter/data/npy.h"
#include "converter/data/npz.h"
#include "tests/support/check_main.h"
#include "tests/support/temp_folder.h"

static VfArena *arena;
static VfErr err;
static char folder[256], path[300];

static void set_up(void)
{
    arena = vf_arena_new();
    vf_temp_folder_make(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/a.npz", folder);
}

static void tear_down(void)
{
    vf_temp_folder_remove(folder);
    vf_arena_free(arena);
}

static VfNamedArray named(const char *name, size_t n_name, VfDtype dtype, int64_t n)
{
    VfNamedArray array = {{name, n_name}, {0}};
    ck_assert_int_eq(vf_array_random(&array.array, arena, dtype, 1, &n, 3, &err), VF_OK);
    return array;
}

static void assert_read(const VfNamedArray *want, size_t n_want)
{
    VfNamedArray *got;
    size_t n;
    ck_assert_msg(vf_npz_read(arena, path, &got, &n, &err) == VF_OK, "%s", err.text);
    ck_assert_uint_eq(n, n_want);
    for (size_t i = 0; i < n; i++) {
        ck_assert_uint_eq(got[i].name.size, want[i].name.size);
        ck_assert_int_eq(memcmp(got[i].name.data, want[i].name.data, want[i].name.size), 0);
        ck_assert_str_eq(vf_array_text(arena, &got[i].array),
                         vf_array_text(arena, &want[i].array));
        ck_assert_int_eq(memcmp(got[i].array.data, want[i].array.data, want[i].array.bytes), 0);
    }
}

START_TEST(written_archives_read_back)
{
    VfNamedArray array[] = {named("x", 1, VF_F32, 5), named("a/b.c", 5, VF_I64, 0),
                            named("", 0, VF_BOOL, 3), named("\xc3\xa9", 2, VF_F64, 70000),
                            named("\xff", 1, VF_U8, 1)};
    ck_assert_int_eq(vf_npz_write(path, array, 5, &err), VF_OK);
    assert_read(array, 5);
    VfMapping first, second;
    ck_assert_int_eq(vf_file_map(path, &first, &err), VF_OK);
    ck_assert_int_eq(vf_npz_write(path, array, 5, &err), VF_OK);
    ck_assert_int_eq(vf_file_map(path, &second, &err), VF_OK);
    ck_assert_uint_eq(first.size, second.size);
    ck_assert_int_eq(memcmp(first.data, second.data, first.size), 0);
    vf_file_unmap(&first);
    vf_file_unmap(&second);
    ck_assert_int_eq(vf_npz_write(path, NULL, 0, &err), VF_OK);
    assert_read(NULL, 0);
}
END_TEST

START_TEST(unsupported_arrays_leave_no_file)
{
    static const int64_t dims[] = {2};
    VfNamedArray array[] = {named("x", 1, VF_F32, 5), {{"y", 1}, {0}}};
    ck_assert_int_eq(vf_array_init(&array[1].array, arena, VF_BF16, 1, dims, "\0\0\0\0", &err),
                     VF_OK);
    ck_assert_int_eq(vf_npz_write(path, array, 2, &err), VF_UNSUPPORTED);
    ck_assert_uint_eq(vf_temp_folder_count(folder), 0);
}
END_TEST

/* Add `array` to an archive being made by libzip. */
static void add(zip_t *zip, const char *name, const VfArray *array, zip_int32_t method)
{
    VfText text;
    vf_text_init(&text, arena);
    ck_assert_int_eq(vf_npy_header(&text, array, &err), VF_OK);
    vf_text_add(&text, array->data, array->bytes);
    zip_source_t *source = zip_source_buffer(zip, text.data, text.size, 0);
    zip_int64_t i = zip_file_add(zip, name, source, ZIP_FL_ENC_UTF_8);
    ck_assert_int_ge(i, 0);
    ck_assert_int_eq(zip_set_file_compression(zip, (zip_uint64_t)i, method, 0), 0);
}

static zip_t *begin(void)
{
    int code;
    zip_t *zip = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, &code);
    ck_assert_ptr_nonnull(zip);
    return zip;
}

START_TEST(deflated_members_and_strangers)
{
    VfNamedArray array[] = {named("x", 1, VF_F32, 5000), named("y", 1, VF_I64, 7)};
    zip_t *zip = begin();
    add(zip, "x.npy", &array[0].array, ZIP_CM_DEFLATE);
    add(zip, "readme", &array[0].array, ZIP_CM_STORE);
    add(zip, "y.npy", &array[1].array, ZIP_CM_STORE);
    ck_assert_int_eq(zip_close(zip), 0);
    assert_read(array, 2);
}
END_TEST

START_TEST(damaged_archives_are_refused)
{
    VfNamedArray array[] = {named("x", 1, VF_F32, 50), named("y", 1, VF_I64, 7)};
    unsigned char bytes[2048];
    zip_t *zip = begin();
    add(zip, "x.npy", &array[0].array, ZIP_CM_DEFLATE);
    add(zip, "y.npy", &array[1].array, ZIP_CM_STORE);
    ck_assert_int_eq(zip_close(zip), 0);
    VfMapping file;
    ck_assert_int_eq(vf_file_map(path, &file, &err), VF_OK);
    size_t n = file.size;
    ck_assert_uint_le(n, sizeof bytes);
    memcpy(bytes, file.data, n);
    vf_file_unmap(&file);
    VfNamedArray *got;
    size_t n_got;
    for (size_t cut = 0; cut < n; cut++) {
        ck_assert_int_eq(vf_file_write(path, bytes, cut, &err), VF_OK);
        VfStatus status = vf_npz_read(arena, path, &got, &n_got, &err);
        ck_assert(status == VF_INVALID || status == VF_UNSUPPORTED);
    }
    /* Flipped bytes may go unseen in dates and comments, but end in no other status. */
    for (size_t i = 0; i < n; i++) {
        bytes[i] ^= 0xFF;
        ck_assert_int_eq(vf_file_write(path, bytes, n, &err), VF_OK);
        VfStatus status = vf_npz_read(arena, path, &got, &n_got, &err);
        ck_assert(status == VF_OK || status == VF_INVALID || status == VF_UNSUPPORTED);
        bytes[i] ^= 0xFF;
    }
}
END_TEST

START_TEST(claimed_sizes_are_bounded)
{
    VfNamedArray array[] = {named("x", 1, VF_F32, 50)};
    VfMapping file;
    VfNamedArray *got;
    size_t n_got;
    ck_assert_int_eq(vf_npz_write(path, array, 1, &err), VF_OK);
    ck_assert_int_eq(vf_file_map(path, &file, &err), VF_OK);
    unsigned char bytes[1024];
    size_t n = file.size;
    ck_assert_uint_le(n, sizeof bytes);
    memcpy(bytes, file.data, n);
    vf_file_unmap(&file);
    /* The directory entry lies before the 22 bytes of the end record; its size field at 24. */
    unsigned char *entry = bytes + n - 22 - 46 - 5;
    ck_assert_int_eq(memcmp(entry, "PK\1\2", 4), 0);
    memset(entry + 24, 0x7F, 4);
    ck_assert_int_eq(vf_file_write(path, bytes, n, &err), VF_OK);
    ck_assert_int_eq(vf_npz_read(arena, path, &got, &n_got, &err), VF_INVALID);
    ck_assert_uint_lt(vf_arena_used(arena), 1 << 20);
}
END_TEST

START_TEST(files_that_cannot_be_read)
{
    VfNamedArray *got;
    size_t n;
    ck_assert_int_eq(vf_npz_read(arena, path, &got, &n, &err), VF_IO);
    ck_assert_int_eq(vf_npz_read(arena, folder, &got, &n, &err), VF_IO);
    ck_assert_int_eq(vf_file_write(path, "not a zip", 9, &err), VF_OK);
    ck_assert_int_eq(vf_npz_read(arena, path, &got, &n, &err), VF_INVALID);
}
END_TEST

START_TEST(labelled_data)
{
    static const int64_t x_dims[] = {3, 2}, y_dims[] = {3}, short_dims[] = {2};
    static const float x[] = {1, 2, 3, 4, 5, 6}, half[] = {0, 0.5f, 1};
    static const int64_t y[] = {7, 0, 9}, negative[] = {0, -1, 1};
    VfNamedArray array[2] = {{{"y", 1}, {0}}, {{"x", 1}, {0}}};
    VfLabelled data;
    vf_array_init(&array[0].array, arena, VF_I64, 1, y_dims, y, &err);
    vf_array_init(&array[1].array, arena, VF_F32, 2, x_dims, x, &err);
    ck_assert_int_eq(vf_npz_write(path, array, 2, &err), VF_OK);
    ck_assert_int_eq(vf_labelled_read(arena, path, &data, &err), VF_OK);
    ck_assert_uint_eq(data.n_sample, 3);
    ck_assert_uint_eq(data.sample_bytes, 8);
    ck_assert_int_eq(data.y[2], 9);
    const struct {
        VfDtype dtype;
        const int64_t *dims;
        const void *data;
    } bad[] = {{VF_I64, short_dims, y}, {VF_I64, y_dims, negative}, {VF_F32, y_dims, half}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        vf_array_init(&array[0].array, arena, bad[i].dtype, 1, bad[i].dims, bad[i].data, &err);
        ck_assert_int_eq(vf_npz_write(path, array, 2, &err), VF_OK);
        ck_assert_int_eq(vf_labelled_read(arena, path, &data, &err), VF_INVALID);
    }
    ck_assert_int_eq(vf_npz_write(path, array + 1, 1, &err), VF_OK);
    ck_assert_int_eq(vf_labelled_read(arena, path, &data, &err), VF_INVALID);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("npz");
    TCase *tests = tcase_create("npz");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, written_archives_read_back);
    tcase_add_test(tests, unsupported_arrays_leave_no_file);
    tcase_add_test(tests, deflated_members_and_strangers);
    tcase_add_test(tests, damaged_archives_are_refused);
    tcase_add_test(tests, claimed_sizes_are_bounded);
    tcase_add_test(tests, files_that_cannot_be_read);
    tcase_add_test(tests, labelled_data);
    suite_add_tcase(suite, tests);
    return suite;
}

VF_CHECK_MAIN(make_suite)
