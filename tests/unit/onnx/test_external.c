#include "converter/onnx/external.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/check_main.h"
#include "tests/support/temp_folder.h"
#include "tests/unit/onnx/onnx_case.h"

/* The layout of a case, below a temporary folder:
 *   model/           the folder of the model
 *   model/w.bin      12 bytes          model/in/w.bin   the same
 *   model/link.bin   -> w.bin          model/out.bin    -> ../outside.bin
 *   model/outdir     -> ../hub         model/hard.bin   a second name of hub/blob
 *   model/pipe       a pipe
 *   outside.bin      12 bytes          hub/blob         12 bytes
 */
static char top[512];

static const char *at(const char *name)
{
    static char text[2][1024];
    static int turn;
    turn = !turn;
    snprintf(text[turn], sizeof text[turn], "%s/%s", top, name);
    return text[turn];
}

static void set_up(void)
{
    vf_temp_folder_make(top, sizeof top);
    ck_assert_int_eq(mkdir(at("model"), 0777), 0);
    ck_assert_int_eq(mkdir(at("model/in"), 0777), 0);
    ck_assert_int_eq(mkdir(at("hub"), 0777), 0);
    static const char *const file[] = {"model/w.bin", "model/in/w.bin", "outside.bin", "hub/blob"};
    for (size_t i = 0; i < sizeof file / sizeof file[0]; i++)
        ck_assert_int_eq(vf_file_write(at(file[i]), "123456789012", 12, NULL), VF_OK);
    ck_assert_int_eq(symlink("w.bin", at("model/link.bin")), 0);
    ck_assert_int_eq(symlink("../outside.bin", at("model/out.bin")), 0);
    ck_assert_int_eq(symlink("../hub", at("model/outdir")), 0);
    ck_assert_int_eq(link(at("hub/blob"), at("model/hard.bin")), 0);
    ck_assert_int_eq(mkfifo(at("model/pipe"), 0666), 0);
}

static void tear_down(void)
{
    vf_temp_folder_remove(top);
}

#define TEXT(s) {s, sizeof(s) - 1}

static const struct {
    VfBytes location;
    const char *root; /* below the folder, or NULL */
    VfStatus status;
    const char *text;
} row[] = {
    {TEXT("w.bin"), NULL, VF_OK, ""},
    {TEXT("./w.bin"), NULL, VF_OK, ""},
    {TEXT("in/w.bin"), NULL, VF_OK, ""},
    {TEXT("in//w.bin"), NULL, VF_OK, ""},
    {TEXT("absent.bin"), NULL, VF_IO, "absent.bin"},
    {TEXT(""), NULL, VF_INVALID, "empty"},
    {TEXT("w.bin\0x"), NULL, VF_INVALID, "0 byte"},
    {TEXT("/etc/passwd"), NULL, VF_INVALID, "absolute"},
    {TEXT("../outside.bin"), NULL, VF_INVALID, "'..'"},
    {TEXT("in/../w.bin"), NULL, VF_INVALID, "'..'"},
    {TEXT("in/.."), NULL, VF_INVALID, "'..'"},
    {TEXT("in"), NULL, VF_INVALID, "regular"},
    {TEXT("."), NULL, VF_INVALID, "regular"},
    {TEXT("link.bin"), NULL, VF_INVALID, "symbolic link"},
    {TEXT("out.bin"), NULL, VF_INVALID, "symbolic link"},
    {TEXT("outdir/blob"), NULL, VF_INVALID, "symbolic link"},
    {TEXT("hard.bin"), NULL, VF_INVALID, "hard links"},
    {TEXT("pipe"), NULL, VF_INVALID, "regular"},
    {TEXT("link.bin"), "model", VF_OK, ""},
    {TEXT("out.bin"), "model", VF_INVALID, "out of the folder"},
    {TEXT("out.bin"), "hub", VF_INVALID, "out of the folder"},
    {TEXT("outdir/blob"), "hub", VF_OK, ""},
    {TEXT("outdir/blob"), "hu", VF_IO, ""},
    {TEXT("hard.bin"), "model", VF_OK, ""},
    {TEXT("hard.bin"), "hub", VF_INVALID, "out of the folder"},
    {TEXT("../outside.bin"), ".", VF_INVALID, "'..'"},
    {TEXT("/etc/passwd"), ".", VF_INVALID, "absolute"},
    {TEXT("pipe"), "model", VF_INVALID, "regular"},
    {TEXT("w.bin"), "hub", VF_OK, ""}, /* needs no link */
};

START_TEST(test_location)
{
    VfArena *arena = vf_arena_new();
    VfMappedFiles *files = vf_mapped_files_new();
    const VfMapping *mapping = NULL;
    VfErr err = {VF_OK, ""};
    char root[1024];
    if (row[_i].root != NULL)
        snprintf(root, sizeof root, "%s/%s", top, row[_i].root);
    VfStatus status = vf_external_map(files, arena, at("model"), row[_i].location,
                                      row[_i].root == NULL ? NULL : root, &mapping, &err);
    ck_assert_msg(status == row[_i].status, "'%s': status %d, %s", row[_i].location.data,
                  (int)status, err.text);
    ck_assert_msg(has_text(err.text, row[_i].text), "'%s': %s", row[_i].location.data, err.text);
    if (status == VF_OK) {
        ck_assert_uint_eq(mapping->size, 12);
        ck_assert_mem_eq(mapping->data, "123456789012", 12);
    }
    vf_mapped_files_free(files);
    vf_arena_free(arena);
}
END_TEST

/* Two spellings of a file, and the model file itself, are mapped once each. */
START_TEST(test_once)
{
    VfArena *arena = vf_arena_new();
    VfMappedFiles *files = vf_mapped_files_new();
    const VfMapping *a, *b, *c;
    VfBytes plain = TEXT("w.bin"), dotted = TEXT("./w.bin");
    ck_assert_int_eq(vf_mapped_files_add(files, at("model/w.bin"), &a, NULL), VF_OK);
    ck_assert_int_eq(vf_external_map(files, arena, at("model"), plain, NULL, &b, NULL), VF_OK);
    ck_assert_int_eq(vf_external_map(files, arena, at("model"), dotted, NULL, &c, NULL), VF_OK);
    ck_assert_ptr_eq(a, b);
    ck_assert_ptr_eq(a, c);
    ck_assert_ptr_null(files->first->next);
    vf_mapped_files_free(files);
    vf_arena_free(arena);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("onnx/external");
    TCase *tcase = tcase_create("external");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, test_location, 0, (int)(sizeof row / sizeof row[0]));
    tcase_add_test(tcase, test_once);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
