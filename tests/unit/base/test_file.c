#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/file.h"
#include "tests/support/check_main.h"
#include "tests/support/resident.h"
#include "tests/support/temp_folder.h"

static char folder[256];
static char path[300];
static VfErr err;

static void set_up(void)
{
    vf_temp_folder_make(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/file", folder);
}

static void tear_down(void)
{
    vf_temp_folder_remove(folder);
}

static void assert_holds(const char *text)
{
    VfMapping mapping;
    ck_assert_int_eq(vf_file_map(path, &mapping, &err), VF_OK);
    ck_assert_uint_eq(mapping.size, strlen(text));
    ck_assert_int_eq(memcmp(mapping.data, text, mapping.size), 0);
    vf_file_unmap(&mapping);
}

START_TEST(written_files_read_back)
{
    ck_assert_int_eq(vf_file_write(path, "hello", 5, &err), VF_OK);
    assert_holds("hello");
    ck_assert_int_eq(vf_file_write(path, "", 0, &err), VF_OK);
    assert_holds("");
    ck_assert_uint_eq(vf_temp_folder_count(folder), 1);
}
END_TEST

START_TEST(nothing_shows_before_commit)
{
    VfOutFile *out;
    ck_assert_int_eq(vf_file_write(path, "old", 3, &err), VF_OK);
    ck_assert_int_eq(vf_out_open(path, &out, &err), VF_OK);
    ck_assert_int_eq(vf_out_write(out, "new", 3, &err), VF_OK);
    ck_assert_int_eq(vf_out_finish(out, &err), VF_OK);
    assert_holds("old");
    vf_out_abandon(out);
    assert_holds("old");
    ck_assert_uint_eq(vf_temp_folder_count(folder), 1);
    ck_assert_int_eq(vf_out_open(path, &out, &err), VF_OK);
    ck_assert_int_eq(vf_out_write(out, "new", 3, &err), VF_OK);
    ck_assert_int_eq(vf_out_commit(out, &err), VF_OK);
    assert_holds("new");
    ck_assert_uint_eq(vf_temp_folder_count(folder), 1);
    vf_out_abandon(NULL);
}
END_TEST

START_TEST(pieces_of_any_size_keep_their_order)
{
    static const size_t size[] = {1, 10000, 60000, 1 << 14, 3, 200000, 0, 65536, 5, 65535, 1};
    static unsigned char data[200000];
    VfOutFile *out;
    uint64_t total = 0;
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)(i * 31 + i / 256);
    ck_assert_int_eq(vf_out_open(path, &out, &err), VF_OK);
    for (size_t i = 0; i < sizeof size / sizeof size[0]; i++) {
        ck_assert_int_eq(vf_out_write(out, data, size[i], &err), VF_OK);
        total += size[i];
        ck_assert_uint_eq(vf_out_position(out), total);
    }
    ck_assert_int_eq(vf_out_pad(out, 4096, &err), VF_OK);
    ck_assert_uint_eq(vf_out_position(out) % 4096, 0);
    ck_assert_int_eq(vf_out_commit(out, &err), VF_OK);
    VfMapping mapping;
    ck_assert_int_eq(vf_file_map(path, &mapping, &err), VF_OK);
    const unsigned char *at = mapping.data;
    for (size_t i = 0; i < sizeof size / sizeof size[0]; i++) {
        ck_assert_int_eq(memcmp(at, data, size[i]), 0);
        at += size[i];
    }
    for (; at < mapping.data + mapping.size; at++)
        ck_assert_int_eq(*at, 0);
    vf_file_unmap(&mapping);
}
END_TEST

START_TEST(links_and_modes_are_kept)
{
    char link_path[300];
    struct stat facts;
    snprintf(link_path, sizeof link_path, "%s/link", folder);
    ck_assert_int_eq(vf_file_write(path, "old", 3, &err), VF_OK);
    ck_assert_int_eq(chmod(path, 0640), 0);
    ck_assert_int_eq(symlink("file", link_path), 0);
    ck_assert_int_eq(vf_file_write(link_path, "new", 3, &err), VF_OK);
    assert_holds("new");
    ck_assert_int_eq(lstat(link_path, &facts), 0);
    ck_assert(S_ISLNK(facts.st_mode));
    ck_assert_int_eq(stat(path, &facts), 0);
    ck_assert_int_eq(facts.st_mode & 0777, 0640);
    VfFileFacts known;
    ck_assert_int_eq(vf_file_facts(link_path, &known, &err), VF_OK);
    ck_assert(known.is_link && known.is_regular && !known.is_folder);
    ck_assert_uint_eq(known.size, 3);
}
END_TEST

START_TEST(failures_name_the_file)
{
    VfMapping mapping;
    VfOutFile *out;
    char below[310], want[400];
    snprintf(below, sizeof below, "%s/x", path);
    ck_assert_int_eq(vf_file_map(path, &mapping, &err), VF_IO);
    snprintf(want, sizeof want, "cannot open '%s': No such file or directory", path);
    ck_assert_str_eq(err.text, want);
    ck_assert_int_eq(vf_file_map(folder, &mapping, &err), VF_IO);
    snprintf(want, sizeof want, "cannot map '%s': not a regular file", folder);
    ck_assert_str_eq(err.text, want);
    ck_assert_int_eq(vf_out_open(below, &out, &err), VF_IO);
    ck_assert_int_eq(vf_out_open(folder, &out, &err), VF_IO);
    snprintf(want, sizeof want, "cannot write '%s': Is a directory", folder);
    ck_assert_str_eq(err.text, want);
    ck_assert_int_eq(vf_out_open("", &out, &err), VF_IO);
    ck_assert_uint_eq(vf_temp_folder_count(folder), 0);
}
END_TEST

START_TEST(devices_are_written_through)
{
    ck_assert_int_eq(vf_file_write("/dev/null", "x", 1, &err), VF_OK);
    ck_assert_int_eq(vf_file_write("/dev/full", "x", 1, &err), VF_IO);
}
END_TEST

/* As /dev/stdout is one when a command stands in a pipeline. */
START_TEST(links_to_pipes_are_written_through)
{
    int end[2];
    char link[64], got[6] = "";
    ck_assert_int_eq(pipe(end), 0);
    snprintf(link, sizeof link, "/proc/self/fd/%d", end[1]);
    ck_assert_int_eq(symlink(link, path), 0);
    ck_assert_msg(vf_file_write(path, "hello", 5, &err) == VF_OK, "%s", err.text);
    ck_assert_int_eq(read(end[0], got, 5), 5);
    ck_assert_str_eq(got, "hello");
    close(end[0]);
    close(end[1]);
}
END_TEST

START_TEST(a_dash_is_no_file)
{
    ck_assert_int_eq(vf_file_write("-", "x", 1, &err), VF_USAGE);
    ck_assert_int_eq(vf_folder_make("-", &err), VF_USAGE);
    ck_assert_ptr_nonnull(strstr(err.text, "'-' is no file to write"));
}
END_TEST

START_TEST(paths_are_split_and_joined)
{
    static const struct {
        const char *path, *folder, *name, *joined;
    } row[] = {
        {"a/b/c", "a/b", "c", "a/b/c"}, {"c", ".", "c", "./c"}, {"/c", "/", "c", "/c"},
        {"a/", "a", "", "a/"},
    };
    VfArena *arena = vf_arena_new();
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        char *part, *joined;
        const char *name;
        ck_assert_int_eq(vf_path_split(arena, row[i].path, &part, &name, NULL), VF_OK);
        ck_assert_str_eq(part, row[i].folder);
        ck_assert_str_eq(name, row[i].name);
        ck_assert_int_eq(vf_path_join(arena, part, name, &joined, NULL), VF_OK);
        ck_assert_str_eq(joined, row[i].joined);
    }
    vf_arena_free(arena);
}
END_TEST

START_TEST(folders_are_listed_in_order)
{
    VfArena *arena = vf_arena_new();
    const char **name;
    size_t n;
    char below[310];
    static const char *const made[] = {"b", "a10", "a2"};
    for (size_t i = 0; i < 3; i++) {
        snprintf(below, sizeof below, "%s/%s", folder, made[i]);
        ck_assert_int_eq(vf_folder_make(below, &err), VF_OK);
    }
    ck_assert_int_eq(vf_folder_make(below, &err), VF_OK);
    ck_assert_int_eq(vf_folder_list(arena, folder, &name, &n, &err), VF_OK);
    ck_assert_uint_eq(n, 3);
    ck_assert_str_eq(name[0], "a10");
    ck_assert_str_eq(name[1], "a2");
    ck_assert_str_eq(name[2], "b");
    ck_assert_int_eq(vf_folder_list(arena, path, &name, &n, &err), VF_IO);
    vf_arena_free(arena);
}
END_TEST

/* Whole pages lose their memory, whatever the edges, and are there again when they are read. */
START_TEST(released_pages_are_read_again)
{
    enum { N_PAGE = 64 };
    static unsigned char data[N_PAGE * 65536];
    size_t page = (size_t)sysconf(_SC_PAGESIZE), size = N_PAGE * page;
    VfMapping mapping;
    for (size_t i = 0; i < size; i++)
        data[i] = (unsigned char)(i * 31 + i / 256);
    ck_assert_int_eq(vf_file_write(path, data, size, &err), VF_OK);
    ck_assert_int_eq(vf_file_map(path, &mapping, &err), VF_OK);
    ck_assert_mem_eq(mapping.data, data, size);
    ck_assert_uint_eq(vf_test_resident(mapping.data), size);
    vf_file_release(mapping.data + 1, 2 * page - 2); /* no page is whole */
    vf_file_release(mapping.data, 0);
    ck_assert_uint_eq(vf_test_resident(mapping.data), size);
    vf_file_release(mapping.data + 1, 2 * page - 1);
    ck_assert_uint_eq(vf_test_resident(mapping.data), size - page);
    vf_file_release(mapping.data + page, size - page - 1);
    ck_assert_uint_eq(vf_test_resident(mapping.data), 2 * page);
    ck_assert_mem_eq(mapping.data, data, size);
    vf_file_unmap(&mapping);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("file");
    TCase *tests = tcase_create("file");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, written_files_read_back);
    tcase_add_test(tests, nothing_shows_before_commit);
    tcase_add_test(tests, pieces_of_any_size_keep_their_order);
    tcase_add_test(tests, links_and_modes_are_kept);
    tcase_add_test(tests, failures_name_the_file);
    tcase_add_test(tests, devices_are_written_through);
    tcase_add_test(tests, links_to_pipes_are_written_through);
    tcase_add_test(tests, a_dash_is_no_file);
    tcase_add_test(tests, paths_are_split_and_joined);
    tcase_add_test(tests, folders_are_listed_in_order);
    tcase_add_test(tests, released_pages_are_read_again);
    suite_add_tcase(suite, tests);
    return suite;
}

VF_CHECK_MAIN(make_suite)
