/* Import, export, import: the same model, over every model there is. The large ones are in the
 * folder that VITFOLD_CORPUS names, "models" below it; without it only those of testdata.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/onnx/export.h"
#include "converter/onnx/import.h"
#include "passes/ir/equal.h"
#include "runtime/base/file.h"
#include "tests/support/check_main.h"
#include "tests/support/temp_folder.h"

static char folder[512];

static void set_up(void)
{
    vf_temp_folder_make(folder, sizeof folder);
}

static void tear_down(void)
{
    vf_temp_folder_remove(folder);
}

static VfModel *import_file(const char *path)
{
    VfModel *model = NULL;
    VfErr err = {VF_OK, ""};
    VfStatus status = vf_onnx_import(path, NULL, &model, &err);
    ck_assert_msg(status == VF_OK, "%s", err.text);
    return model;
}

/* The second time, the file must come out as it went in. */
static void check_model(const char *path)
{
    char once[600], twice[600];
    VfExportOptions options = {VF_EXTERNAL_NEVER};
    VfErr err = {VF_OK, ""};
    VfMapping first, second;
    snprintf(once, sizeof once, "%s/once.onnx", folder);
    snprintf(twice, sizeof twice, "%s/twice.onnx", folder);
    VfModel *model = import_file(path);
    ck_assert_int_eq(vf_onnx_export(model, once, &options, NULL), VF_OK);
    VfModel *back = import_file(once);
    ck_assert_msg(vf_model_is_equal(model, back, &err), "%s: %s", path, err.text);
    ck_assert_int_eq(vf_onnx_export(back, twice, &options, NULL), VF_OK);
    vf_model_free(model);
    vf_model_free(back);
    ck_assert_int_eq(vf_file_map(once, &first, NULL), VF_OK);
    ck_assert_int_eq(vf_file_map(twice, &second, NULL), VF_OK);
    ck_assert_msg(first.size == second.size && memcmp(first.data, second.data, first.size) == 0,
                  "%s: the second export differs", path);
    vf_file_unmap(&first);
    vf_file_unmap(&second);
}

/* An ONNX file that is not there to be refused. */
static bool is_sound_model(const char *name)
{
    size_t length = strlen(name);
    return length >= 5 && strcmp(name + length - 5, ".onnx") == 0 &&
           strncmp(name, "outside_", 8) != 0 && strncmp(name, "faults", 6) != 0;
}

/* How many models a folder has; each is checked. */
static int check_folder(const char *top, const char *below)
{
    char path[4096];
    int n = 0;
    VfArena *arena = vf_arena_new();
    const char **name;
    size_t n_name;
    snprintf(path, sizeof path, "%s/%s", top, below);
    if (!vf_file_exists(path)) {
        vf_arena_free(arena);
        return 0;
    }
    ck_assert_int_eq(vf_folder_list(arena, path, &name, &n_name, NULL), VF_OK);
    for (size_t i = 0; i < n_name; i++) {
        if (!is_sound_model(name[i]))
            continue;
        snprintf(path, sizeof path, "%s/%s/%s", top, below, name[i]);
        check_model(path);
        n++;
    }
    vf_arena_free(arena);
    return n;
}

START_TEST(test_testdata)
{
    const char *root = getenv("VITFOLD_SOURCE");
    root = root == NULL ? "." : root;
    ck_assert_int_ge(check_folder(root, "testdata/onnx"), 7);
    ck_assert_int_ge(check_folder(root, "testdata/mnist"), 1);
}
END_TEST

START_TEST(test_corpus)
{
    const char *corpus = getenv("VITFOLD_CORPUS");
    printf("%d models of the corpus\n", check_folder(corpus == NULL ? "../shared" : corpus,
                                                     "models"));
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("onnx/roundtrip");
    TCase *tcase = tcase_create("roundtrip");
    tcase_set_timeout(tcase, 600);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, test_testdata);
    tcase_add_test(tcase, test_corpus);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
