#include "converter/onnx/emit.h"

#include <stdio.h>
#include <string.h>

#include "runtime/base/intern.h"
#include "tests/support/check_main.h"
#include "tests/support/temp_folder.h"

/* Nested messages, a long value that is referenced, and lengths that need two bytes. */
static void build(VfEmit *emit, const char *big, size_t size)
{
    VfEmitMark outer = vf_emit_begin(emit, 1);
    vf_emit_int(emit, 1, -1);
    VfEmitMark inner = vf_emit_begin(emit, 2);
    vf_emit_lent(emit, 3, big, size);
    vf_emit_end(emit, inner);
    VfEmitMark empty = vf_emit_begin(emit, 4);
    vf_emit_end(emit, empty);
    vf_emit_end(emit, outer);
    vf_emit_some_int(emit, 5, 0);
    vf_emit_some_bytes(emit, 6, (VfBytes){"", 0});
    vf_emit_float(emit, 7, 1.0f);
    vf_emit_bytes(emit, 8, (VfBytes){"a\0b", 3});
}

static const char head[] = "\x0A\x93\x08\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01\x12\x83\x08"
                           "\x1A\x80\x08";
static const char tail[] = "\x22\x00\x3D\x00\x00\x80\x3F\x42\x03" "a\0b";

START_TEST(test_bytes)
{
    static char big[1024];
    memset(big, 'x', sizeof big);
    VfArena *arena = vf_arena_new();
    VfEmit emit;
    VfBytes flat;
    vf_emit_init(&emit, arena);
    build(&emit, big, sizeof big);
    ck_assert_int_eq(vf_emit_flatten(&emit, arena, &flat, NULL), VF_OK);
    ck_assert_uint_eq(flat.size, emit.total);
    ck_assert_uint_eq(flat.size, sizeof head - 1 + sizeof big + sizeof tail - 1);
    ck_assert_mem_eq(flat.data, head, sizeof head - 1);
    ck_assert_mem_eq(flat.data + sizeof head - 1 + sizeof big, tail, sizeof tail - 1);
    ck_assert_msg(emit.n_text < sizeof big, "the long value was copied");
    vf_arena_free(arena);
}
END_TEST

START_TEST(test_file)
{
    static char big[100000];
    char folder[512], path[600];
    VfArena *arena = vf_arena_new();
    VfEmit emit;
    VfBytes flat;
    VfOutFile *out;
    VfMapping mapping;
    vf_temp_folder_make(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/file", folder);
    memset(big, 'y', sizeof big);
    vf_emit_init(&emit, arena);
    build(&emit, big, sizeof big);
    ck_assert_int_eq(vf_emit_flatten(&emit, arena, &flat, NULL), VF_OK);
    ck_assert_int_eq(vf_out_open(path, &out, NULL), VF_OK);
    ck_assert_int_eq(vf_emit_write(&emit, out, NULL), VF_OK);
    ck_assert_int_eq(vf_out_commit(out, NULL), VF_OK);
    ck_assert_int_eq(vf_file_map(path, &mapping, NULL), VF_OK);
    ck_assert_uint_eq(mapping.size, flat.size);
    ck_assert_mem_eq(mapping.data, flat.data, flat.size);
    vf_file_unmap(&mapping);
    vf_temp_folder_remove(folder);
    vf_arena_free(arena);
}
END_TEST

START_TEST(test_failed)
{
    VfArena *arena = vf_arena_new();
    VfEmit emit;
    VfBytes flat;
    vf_emit_init(&emit, arena);
    emit.failed = true;
    build(&emit, "", 0);
    ck_assert_uint_eq(emit.total, 0);
    ck_assert_int_eq(vf_emit_flatten(&emit, arena, &flat, NULL), VF_NO_MEMORY);
    vf_arena_free(arena);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("onnx/emit");
    TCase *tcase = tcase_create("emit");
    tcase_add_test(tcase, test_bytes);
    tcase_add_test(tcase, test_file);
    tcase_add_test(tcase, test_failed);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
