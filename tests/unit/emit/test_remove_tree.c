#include "converter/emit/remove_tree.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/check_main.h"
#include "tests/support/temp_folder.h"

enum { N_FILE = 700 }; /* more than the system lists at once */

static char folder[256];

static void set_up(void)
{
    vf_temp_folder_make(folder, sizeof folder);
}

static void tear_down(void)
{
    vf_temp_folder_remove(folder);
}

static const char *at(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void make_file(const char *name)
{
    FILE *file = fopen(at(name), "w");
    ck_assert_ptr_nonnull(file);
    fclose(file);
}

START_TEST(all_goes_and_links_are_not_followed)
{
    char name[64];
    make_file("stays");
    ck_assert_int_eq(mkdir(at("tree"), 0777), 0);
    ck_assert_int_eq(mkdir(at("tree/empty"), 0777), 0);
    ck_assert_int_eq(mkdir(at("tree/a"), 0777), 0);
    ck_assert_int_eq(mkdir(at("tree/a/b"), 0777), 0);
    ck_assert_int_eq(symlink("../..", at("tree/a/up")), 0);
    ck_assert_int_eq(symlink("nowhere", at("tree/broken")), 0);
    for (int i = 0; i < N_FILE; i++) {
        snprintf(name, sizeof name, "tree/a/b/a file with a name %d", i);
        make_file(name);
    }
    vf_remove_tree(at("tree"));
    ck_assert_int_eq(access(at("tree"), F_OK), -1);
    ck_assert_int_eq(access(at("stays"), F_OK), 0);
}
END_TEST

START_TEST(a_file_or_nothing_stays_as_it_is)
{
    make_file("file");
    vf_remove_tree(at("file"));
    vf_remove_tree(at("nothing"));
    ck_assert_int_eq(access(at("file"), F_OK), 0);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("emit/remove_tree");
    TCase *tcase = tcase_create("remove_tree");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, all_goes_and_links_are_not_followed);
    tcase_add_test(tcase, a_file_or_nothing_stays_as_it_is);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
