#include <stdint.h>
#include <string.h>

#include "runtime/base/arena.h"
#include "tests/support/check_main.h"

/* In ordinary blocks and in huge pages. */
START_TEST(allocations_are_zeroed_aligned_and_apart)
{
    static const size_t sizes[] = {0, 1, 15, 16, 17, 255, 256, 257, 5000, 100000, 3000000};
    VfArena *arena = vf_arena_new();
    unsigned char *last = NULL;
    if (_i == 1)
        vf_arena_use_huge_pages(arena);
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            unsigned char *data = vf_arena_alloc(arena, sizes[i]);
            ck_assert_ptr_nonnull(data);
            ck_assert_ptr_ne(data, last);
            ck_assert_uint_eq((uintptr_t)data % (sizes[i] >= 256 ? 64 : 16), 0);
            size_t n_zero = 0;
            while (n_zero < sizes[i] && data[n_zero] == 0)
                n_zero++;
            ck_assert_uint_eq(n_zero, sizes[i]);
            memset(data, 0xAA, sizes[i]);
            last = data;
        }
        /* Reset memory is handed out again, and must be zeroed again. */
        vf_arena_reset(arena);
        ck_assert_uint_eq(vf_arena_used(arena), 0);
    }
    vf_arena_free(arena);
}
END_TEST

START_TEST(large_allocations_may_lie_in_files)
{
    static const char *const folders[] = {".", "/no/such/folder"};
    for (size_t f = 0; f < sizeof folders / sizeof folders[0]; f++) {
        VfArena *arena = vf_arena_new();
        unsigned char *small = vf_arena_alloc(arena, 100);
        vf_arena_page_to(arena, folders[f]);
        for (int round = 0; round < 2; round++) {
            unsigned char *data = vf_arena_alloc(arena, 3 << 20);
            ck_assert_ptr_nonnull(data);
            ck_assert_uint_eq((uintptr_t)data % 64, 0);
            for (size_t i = 0; i < 3 << 20; i += 4096)
                ck_assert_uint_eq(data[i], 0);
            memset(data, 0xAA, 3 << 20);
            ck_assert_uint_eq(small[99], 0);
            vf_arena_reset(arena);
            small = vf_arena_alloc(arena, 100);
        }
        ck_assert_ptr_null(vf_arena_alloc(arena, SIZE_MAX));
        vf_arena_free(arena);
    }
}
END_TEST

START_TEST(streams_come_back_whole)
{
    static const char *const folders[] = {NULL, ".", "/no/such/folder"};
    static const size_t sizes[] = {0, 1, 1000, 1 << 20, (3 << 20) + 5};
    for (size_t f = 0; f < sizeof folders / sizeof folders[0]; f++) {
        VfArena *arena = vf_arena_new();
        vf_arena_page_to(arena, folders[f]);
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            VfArenaStream stream;
            void *piece;
            size_t at = 0;
            ck_assert(vf_arena_stream_begin(&stream, arena, sizes[i]));
            for (size_t n; (n = vf_arena_stream_next(&stream, &piece)) > 0;)
                for (size_t k = 0; k < n; k++, at++)
                    ((unsigned char *)piece)[k] = (unsigned char)(at % 251);
            ck_assert_uint_eq(at, sizes[i]);
            const unsigned char *data = vf_arena_stream_end(&stream);
            ck_assert_ptr_nonnull(data);
            size_t n_same = 0;
            while (n_same < sizes[i] && data[n_same] == n_same % 251)
                n_same++;
            ck_assert_uint_eq(n_same, sizes[i]);
        }
        vf_arena_reset(arena);
        ck_assert_uint_eq(vf_arena_used(arena), 0);
        vf_arena_free(arena);
    }
}
END_TEST

START_TEST(impossible_sizes_give_null)
{
    VfArena *arena = vf_arena_new();
    ck_assert_ptr_null(vf_arena_alloc(arena, SIZE_MAX));
    ck_assert_ptr_null(vf_arena_alloc(arena, SIZE_MAX - 63));
    ck_assert_ptr_null(vf_arena_array(arena, SIZE_MAX / 2, 3));
    ck_assert_ptr_null(vf_arena_copy(arena, "", SIZE_MAX));
    ck_assert_ptr_nonnull(vf_arena_alloc(arena, 8));
    vf_arena_free(arena);
    vf_arena_free(NULL);
}
END_TEST

START_TEST(copies_are_terminated)
{
    VfArena *arena = vf_arena_new();
    ck_assert_str_eq(vf_arena_copy(arena, "abcdef", 3), "abc");
    ck_assert_str_eq(vf_arena_string(arena, "whole"), "whole");
    ck_assert_str_eq(vf_arena_printf(arena, "%d-%s", 7, "x"), "7-x");
    ck_assert_str_eq(vf_arena_copy(arena, NULL, 0), "");
    vf_arena_free(arena);
}
END_TEST

START_TEST(grown_arrays_keep_their_items)
{
    VfArena *arena = vf_arena_new();
    int *item = NULL;
    size_t capacity = 0;
    for (int i = 0; i < 1000; i++) {
        void *items = item;
        ck_assert_int_eq(vf_arena_grow(arena, &items, &capacity, (size_t)i + 1, sizeof *item,
                                       NULL), VF_OK);
        item = items;
        item[i] = i;
    }
    for (int i = 0; i < 1000; i++)
        ck_assert_int_eq(item[i], i);
    /* Doubling: all copies together are less than three times the last one. */
    ck_assert_uint_lt(vf_arena_used(arena), 3 * capacity * sizeof *item);
    void *items = item;
    size_t before = capacity;
    ck_assert_int_eq(vf_arena_grow(arena, &items, &capacity, SIZE_MAX, 8, NULL), VF_NO_MEMORY);
    ck_assert_uint_eq(capacity, before);
    ck_assert_ptr_eq(items, item);
    vf_arena_free(arena);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("arena");
    TCase *tests = tcase_create("arena");
    tcase_add_loop_test(tests, allocations_are_zeroed_aligned_and_apart, 0, 2);
    tcase_add_test(tests, large_allocations_may_lie_in_files);
    tcase_add_test(tests, streams_come_back_whole);
    tcase_add_test(tests, impossible_sizes_give_null);
    tcase_add_test(tests, copies_are_terminated);
    tcase_add_test(tests, grown_arrays_keep_their_items);
    suite_add_tcase(suite, tests);
    return suite;
}

VF_CHECK_MAIN(make_suite)
