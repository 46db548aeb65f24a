#include <stdio.h>
#include <string.h>

#include "converter/data/npy.h"
#include "tests/support/check_main.h"
#include "tests/support/temp_folder.h"

static VfArena *arena;
static VfErr err;

static void set_up(void)
{
    arena = vf_arena_new();
}

static void tear_down(void)
{
    vf_arena_free(arena);
}

enum { MAX_FILE = 1024 };

/* A file of version `major` with this dictionary and data; returns its size. */
static size_t make_file(unsigned char *file, int major, const char *dict, const void *data,
                        size_t n_data)
{
    size_t n = strlen(dict), n_length = major == 1 ? 2 : 4;
    memcpy(file, "\x93NUMPY", 6);
    file[6] = (unsigned char)major;
    file[7] = 0;
    for (size_t i = 0; i < n_length; i++)
        file[8 + i] = (unsigned char)(n >> (8 * i));
    memcpy(file + 8 + n_length, dict, n);
    if (n_data > 0)
        memcpy(file + 8 + n_length + n, data, n_data);
    return 8 + n_length + n + n_data;
}

/* Dictionary, bytes of data, then what is read: type text and the elements. */
static const struct {
    int major;
    const char *dict;
    const char *data;
    size_t n_data;
    const char *type;
    double value[6];
} good[] = {
    {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n",
     "\0\0\x80\x3f\0\0\0\xc0", 8, "f32[2]", {1, -2}},
    {2, "{'descr': '>f4', 'fortran_order': False, 'shape': (2,)}",
     "\x3f\x80\0\0\xc0\0\0\0", 8, "f32[2]", {1, -2}},
    {3, "{\"shape\": (), \"descr\": \"<i8\", \"fortran_order\": False}",
     "\xff\xff\xff\xff\xff\xff\xff\xff", 8, "i64[]", {-1}},
    {1, "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }",
     "\1\2\3\4\5\6", 6, "u8[2, 3]", {1, 3, 5, 2, 4, 6}},
    {1, "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 2), }",
     "\0\1\0\2\0\3\xff\xfc", 8, "i16[2, 2]", {1, 3, 2, -4}},
    {1, "{'descr': '|b1', 'fortran_order': False, 'shape': (2L,), }", "\0\1", 2, "bool[2]",
     {0, 1}},
    {1, "{'descr': '<f2', 'fortran_order': False, 'shape': (3,), }", "\0\x3c\0\xc0\1\0", 6,
     "f16[3]", {1, -2, 5.9604644775390625e-08}},
    {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 5), }", "", 0, "f32[0, 5]", {0}},
    {1, "{'descr': '<u8', 'fortran_order': False, 'shape': (1,), }",
     "\xff\xff\xff\xff\xff\xff\xff\xff", 8, "u64[1]", {18446744073709551615.0}},
};

START_TEST(good_files)
{
    unsigned char file[MAX_FILE];
    VfArray array;
    size_t n = make_file(file, good[_i].major, good[_i].dict, good[_i].data, good[_i].n_data);
    ck_assert_int_eq(vf_npy_read(arena, file, n, "f", &array, &err), VF_OK);
    ck_assert_str_eq(vf_array_text(arena, &array), good[_i].type);
    for (size_t i = 0; i < array.count; i++)
        ck_assert_double_eq(vf_array_get_double(&array, i), good[_i].value[i]);
    /* No prefix of a file is a file. */
    for (size_t cut = 0; cut < n; cut++)
        ck_assert_int_ne(vf_npy_read(arena, file, cut, "f", &array, &err), VF_OK);
}
END_TEST

/* Dictionary, the status and a part of the sentence. */
static const struct {
    const char *dict;
    VfStatus status;
    const char *sentence;
} bad[] = {
    {"", VF_INVALID, "not a dictionary"},
    {"{}", VF_INVALID, "a key is missing"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)", VF_INVALID, "does not end"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x", VF_INVALID, "text after"},
    {"{'descr': '<f4', 'descr': '<f4'}", VF_INVALID, "occurs twice"},
    {"{'colour': 1}", VF_INVALID, "unknown key"},
    {"{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}", VF_INVALID, "neither True nor"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': 1}", VF_INVALID, "not a tuple"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", VF_INVALID, "not a number"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (1 2)}", VF_INVALID, "does not end"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}", VF_INVALID,
     "too large"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", VF_INVALID,
     "overflows"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904,)}", VF_INVALID,
     "overflows"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", VF_INVALID, "shape needs 8"},
    {"{'descr': '<U3', 'fortran_order': False, 'shape': (1,)}", VF_UNSUPPORTED, "dtype '<U3'"},
    {"{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", VF_UNSUPPORTED, "dtype '|O'"},
    {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", VF_UNSUPPORTED,
     "records"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
     "1,1,1,1,1,1,1,1,1,1,1,1,1)}", VF_INVALID, "more than 32"},
};

START_TEST(bad_files)
{
    unsigned char file[MAX_FILE];
    VfArray array;
    size_t n = make_file(file, 1, bad[_i].dict, "\0\0\0\0", 4);
    ck_assert_int_eq(vf_npy_read(arena, file, n, "f", &array, &err), bad[_i].status);
    ck_assert_msg(strstr(err.text, bad[_i].sentence) != NULL, "%s", err.text);
    ck_assert_int_eq(strncmp(err.text, "cannot read 'f'", 15), 0);
}
END_TEST

START_TEST(unknown_versions_are_refused)
{
    unsigned char file[MAX_FILE];
    VfArray array;
    size_t n = make_file(file, 4, good[0].dict, good[0].data, good[0].n_data);
    ck_assert_int_eq(vf_npy_read(arena, file, n, "f", &array, &err), VF_UNSUPPORTED);
    file[1] = 'X';
    ck_assert_int_eq(vf_npy_read(arena, file, n, "f", &array, &err), VF_INVALID);
}
END_TEST

START_TEST(aligned_data_is_not_copied)
{
    _Alignas(64) unsigned char file[MAX_FILE];
    VfArray array, again;
    static const int64_t dims[] = {2};
    float value[] = {1, 2};
    VfText text;
    ck_assert_int_eq(vf_array_init(&array, arena, VF_F32, 1, dims, value, &err), VF_OK);
    vf_text_init(&text, arena);
    ck_assert_int_eq(vf_npy_header(&text, &array, &err), VF_OK);
    ck_assert_uint_eq(text.size % 64, 0);
    memcpy(file, text.data, text.size);
    memcpy(file + text.size, value, sizeof value);
    ck_assert_int_eq(vf_npy_read(arena, file, text.size + 8, "f", &again, &err), VF_OK);
    ck_assert_ptr_eq(again.data, file + text.size);
}
END_TEST

START_TEST(written_files_read_back)
{
    static const VfDtype dtype[] = {VF_F32, VF_F64, VF_F16, VF_BOOL, VF_U8,  VF_I8,
                                    VF_U16, VF_I16, VF_U32, VF_I32,  VF_U64, VF_I64};
    static const int64_t dims[] = {2, 3, 1};
    char folder[256], path[300];
    vf_temp_folder_make(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/a.npy", folder);
    for (size_t i = 0; i < sizeof dtype / sizeof dtype[0]; i++) {
        for (int32_t rank = 0; rank <= 3; rank++) {
            VfArray array, again;
            VfMapping file;
            ck_assert_int_eq(vf_array_random(&array, arena, dtype[i], rank, dims, 7, &err), VF_OK);
            ck_assert_int_eq(vf_npy_write(path, &array, &err), VF_OK);
            ck_assert_int_eq(vf_file_map(path, &file, &err), VF_OK);
            ck_assert_int_eq(vf_npy_read(arena, file.data, file.size, path, &again, &err), VF_OK);
            ck_assert_str_eq(vf_array_text(arena, &array), vf_array_text(arena, &again));
            ck_assert_int_eq(memcmp(array.data, again.data, array.bytes), 0);
            vf_file_unmap(&file);
        }
    }
    vf_temp_folder_remove(folder);
}
END_TEST

START_TEST(random_data_is_in_range_and_repeats)
{
    static const int64_t dims[] = {1000};
    static const struct {
        VfDtype dtype;
        double low, high;
    } row[] = {{VF_F32, -1, 1}, {VF_F64, -1, 1}, {VF_F16, -1, 1}, {VF_BF16, -1, 1},
               {VF_BOOL, 0, 1}, {VF_I64, 0, 7},  {VF_U8, 0, 7},   {VF_F8E4M3FN, -1, 1},
               {VF_U4, 0, 7},   {VF_I2, -2, 1},  {VF_F4E2M1, -1, 1}, {VF_F8E8M0, 0, 1}};
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        VfArray a, b;
        ck_assert_int_eq(vf_array_random(&a, arena, row[i].dtype, 1, dims, 1, &err), VF_OK);
        ck_assert_int_eq(vf_array_random(&b, arena, row[i].dtype, 1, dims, 1, &err), VF_OK);
        ck_assert_int_eq(memcmp(a.data, b.data, a.bytes), 0);
        ck_assert_int_eq(vf_array_random(&b, arena, row[i].dtype, 1, dims, 2, &err), VF_OK);
        ck_assert_int_ne(memcmp(a.data, b.data, a.bytes), 0);
        double least = 9, most = -9;
        for (size_t k = 0; k < a.count; k++) {
            double value = vf_array_get_double(&a, k);
            least = value < least ? value : least;
            most = value > most ? value : most;
        }
        ck_assert(least >= row[i].low && most <= row[i].high);
        ck_assert(most - least > 0.9 * (row[i].high - row[i].low));
    }
    VfArray a, reals;
    ck_assert_int_eq(vf_array_random(&a, arena, VF_C64, 1, dims, 1, &err), VF_OK);
    ck_assert_int_eq(vf_array_random(&reals, arena, VF_F32, 1, dims, 1, &err), VF_OK);
    ck_assert_int_eq(memcmp(a.data, reals.data, reals.bytes), 0);
    ck_assert_int_eq(vf_array_random(&a, arena, VF_STRING, 1, dims, 1, &err), VF_UNSUPPORTED);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("npy");
    TCase *tests = tcase_create("npy");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_loop_test(tests, good_files, 0, (int)(sizeof good / sizeof good[0]));
    tcase_add_loop_test(tests, bad_files, 0, (int)(sizeof bad / sizeof bad[0]));
    tcase_add_test(tests, unknown_versions_are_refused);
    tcase_add_test(tests, aligned_data_is_not_copied);
    tcase_add_test(tests, written_files_read_back);
    tcase_add_test(tests, random_data_is_in_range_and_repeats);
    suite_add_tcase(suite, tests);
    return suite;
}

VF_CHECK_MAIN(make_suite)
