/* Damaged and hostile model files: a documented status, and no more than that.
 *
 * Run under sanitizers this shows that nothing is read or written out of bounds. What still
 * imports goes on through the verifier, inference and the writer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "converter/onnx/import.h"
#include "converter/onnx/writer.h"
#include "passes/ir/infer.h"
#include "runtime/base/file.h"
#include "tests/support/check_main.h"
#include "tests/support/temp_folder.h"

enum { N_FLIP = 10000, TIMEOUT_SECONDS = 900 };

static const char *const file[] = {"full.onnx", "encodings.onnx", "loop.onnx"};

static const char *case_path(const char *name)
{
    static char text[4096];
    const char *root = getenv("VITFOLD_SOURCE");
    snprintf(text, sizeof text, "%s/testdata/onnx/%s", root == NULL ? "." : root, name);
    return text;
}

/* Put the message together as the writer does, without a file. */
static VfStatus write_message(const VfModel *model, VfErr *err)
{
    VfWriter writer = {.model = model, .arena = vf_arena_new()};
    VfStatus status = VF_NO_MEMORY;
    if (writer.arena != NULL) {
        vf_emit_init(&writer.emit, writer.arena);
        status = vf_write_names(&writer, err);
        if (status == VF_OK)
            vf_write_model(&writer);
    }
    vf_arena_free(writer.arena);
    return status;
}

static VfStatus run_all(const void *data, size_t size, VfErr *err)
{
    VfModel *model;
    VF_TRY(vf_onnx_import_memory(data, size, "damaged", NULL, NULL, &model, err));
    VfStatus status = vf_verify_all(model, err);
    if (status == VF_OK)
        status = vf_infer_graph(model->graph, NULL, err);
    if (status == VF_OK)
        status = write_message(model, err);
    vf_model_free(model);
    return status;
}

/* A copy of its own size, so that a read past the end is seen. */
static void try_bytes(const unsigned char *data, size_t size, const char *what, size_t at)
{
    unsigned char *copy = malloc(size == 0 ? 1 : size);
    VfErr err = {VF_OK, ""};
    ck_assert_ptr_nonnull(copy);
    memcpy(copy, data, size);
    VfStatus status = run_all(copy, size, &err);
    ck_assert_msg(status == VF_OK || status == VF_INVALID || status == VF_UNSUPPORTED,
                  "%s %zu: status %d, %s", what, at, (int)status, err.text);
    ck_assert_msg(status == VF_OK || err.text[0] != '\0', "%s %zu: no sentence", what, at);
    free(copy);
}

START_TEST(test_prefixes)
{
    VfMapping mapping;
    ck_assert_int_eq(vf_file_map(case_path(file[_i]), &mapping, NULL), VF_OK);
    for (size_t n = 0; n <= mapping.size; n++)
        try_bytes(mapping.data, n, "prefix", n);
    vf_file_unmap(&mapping);
}
END_TEST

/* The same numbers in every run. */
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

START_TEST(test_flips)
{
    VfMapping mapping;
    uint64_t state = 0x9E3779B97F4A7C15u + (uint64_t)_i;
    ck_assert_int_eq(vf_file_map(case_path(file[_i]), &mapping, NULL), VF_OK);
    unsigned char *data = malloc(mapping.size);
    ck_assert_ptr_nonnull(data);
    for (size_t i = 0; i < N_FLIP; i++) {
        memcpy(data, mapping.data, mapping.size);
        size_t n = 1 + (size_t)(next_random(&state) % 3);
        while (n-- > 0)
            data[next_random(&state) % mapping.size] = (unsigned char)next_random(&state);
        try_bytes(data, mapping.size, "flip", i);
    }
    free(data);
    vf_file_unmap(&mapping);
}
END_TEST

/* --- external data that must not be read --- */

static const struct {
    const char *name;
    VfStatus status;
    const char *text;
} outside[] = {
    {"good", VF_OK, ""},
    {"dotdot", VF_INVALID, "'..'"},
    {"absolute", VF_INVALID, "absolute"},
    {"link", VF_INVALID, "symbolic link"},
    {"hard", VF_INVALID, "hard links"},
    {"offset", VF_INVALID, "needs 16 bytes"},
    {"length", VF_INVALID, "of 64 bytes for a shape of 16"},
    {"shape", VF_INVALID, "too large"},
    {"large", VF_INVALID, "the file has 32"},
};

static void copy_case(const char *from, const char *to)
{
    VfMapping mapping;
    ck_assert_int_eq(vf_file_map(from, &mapping, NULL), VF_OK);
    ck_assert_int_eq(vf_file_write(to, mapping.data, mapping.size, NULL), VF_OK);
    vf_file_unmap(&mapping);
}

START_TEST(test_outside)
{
    char folder[512], path[4][600], name[100];
    static const char *const entry[] = {"model.onnx", "good.bin", "link.bin", "hard.bin"};
    VfModel *model = NULL;
    VfErr err = {VF_OK, ""};
    vf_temp_folder_make(folder, sizeof folder);
    for (size_t i = 0; i < 4; i++)
        snprintf(path[i], sizeof path[i], "%s/%s", folder, entry[i]);
    snprintf(name, sizeof name, "outside_%s.onnx", outside[_i].name);
    copy_case(case_path(name), path[0]);
    ck_assert_int_eq(vf_file_write(path[1], "0123456789abcdef0123456789abcdef", 32, NULL), VF_OK);
    ck_assert_int_eq(symlink("good.bin", path[2]), 0);
    if (strcmp(outside[_i].name, "hard") == 0)
        ck_assert_int_eq(link(path[1], path[3]), 0);
    VfStatus status = vf_onnx_import(path[0], NULL, &model, &err);
    ck_assert_msg(status == outside[_i].status, "status %d, %s", (int)status, err.text);
    ck_assert_msg(strstr(err.text, outside[_i].text) != NULL, "%s", err.text);
    if (status == VF_OK)
        vf_model_free(model);
    vf_temp_folder_remove(folder);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("damage");
    TCase *tcase = tcase_create("damage");
    tcase_set_timeout(tcase, TIMEOUT_SECONDS);
    tcase_add_loop_test(tcase, test_prefixes, 0, (int)(sizeof file / sizeof file[0]));
    tcase_add_loop_test(tcase, test_flips, 0, (int)(sizeof file / sizeof file[0]));
    tcase_add_loop_test(tcase, test_outside, 0, (int)(sizeof outside / sizeof outside[0]));
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
