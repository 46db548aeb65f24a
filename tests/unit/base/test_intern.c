#include <stdio.h>
#include <string.h>

#include "runtime/base/intern.h"
#include "tests/support/check_main.h"

#define BYTES(literal) {literal, sizeof(literal) - 1}

/* Prefixes of each other, 0 bytes, single-bit differences. */
static const VfBytes key[] = {
    BYTES(""), BYTES("a"), BYTES("ab"), BYTES("a\0"), BYTES("a\0\0"), BYTES("\0"), BYTES("b"),
    BYTES("\xff"), BYTES("\x7f"), BYTES("aa"), BYTES("ac"), BYTES("abc"), BYTES("\x80"),
};

enum { N_KEY = sizeof key / sizeof key[0] };

START_TEST(ids_follow_the_order_of_adding)
{
    VfArena *arena = vf_arena_new();
    VfIntern *table = vf_intern_new(arena);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < N_KEY; i++) {
            int32_t id = -7;
            if (round == 0)
                ck_assert_int_eq(vf_intern_find(table, key[i]), -1);
            ck_assert_int_eq(vf_intern_add(table, key[i], &id, NULL), VF_OK);
            ck_assert_int_eq(id, i);
        }
    }
    ck_assert_int_eq(vf_intern_count(table), N_KEY);
    for (int i = 0; i < N_KEY; i++) {
        VfBytes got = vf_intern_get(table, i);
        ck_assert_int_eq(vf_intern_find(table, key[i]), i);
        ck_assert_int_eq(vf_bytes_compare(got, key[i]), 0);
        ck_assert_int_eq(got.data[got.size], 0);
        ck_assert_ptr_ne(got.data, key[i].data);
    }
    vf_arena_free(arena);
}
END_TEST

/* A number as bytes, the same in each round. */
static VfBytes numbered(uint32_t i, char *room)
{
    uint32_t mixed = i * 2654435761u;
    int n = snprintf(room, 64, "blocks.%u/attn/qkv/%08x", i % 97, mixed);
    return (VfBytes){room, (size_t)n};
}

START_TEST(many_keys)
{
    enum { N = 50000 };
    VfArena *arena = vf_arena_new();
    VfIntern *table = vf_intern_new(arena);
    char room[64];
    for (uint32_t i = 0; i < N; i++)
        ck_assert_int_eq(vf_intern_add(table, numbered(i, room), NULL, NULL), VF_OK);
    ck_assert_int_eq(vf_intern_count(table), N);
    for (uint32_t i = 0; i < N; i++)
        ck_assert_int_eq(vf_intern_find(table, numbered(i, room)), (int32_t)i);
    vf_arena_free(arena);
}
END_TEST

START_TEST(order_is_by_bytes)
{
    static const struct {
        VfBytes a, b;
        int sign;
    } row[] = {
        {BYTES(""), BYTES(""), 0},       {BYTES("a"), BYTES("b"), -1},
        {BYTES("a"), BYTES("ab"), -1},   {BYTES("\xff"), BYTES("a"), 1},
        {BYTES("a\0"), BYTES("a"), 1},
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        int order = vf_bytes_compare(row[i].a, row[i].b);
        ck_assert_int_eq((order > 0) - (order < 0), row[i].sign);
    }
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("intern");
    TCase *tests = tcase_create("intern");
    tcase_add_test(tests, ids_follow_the_order_of_adding);
    tcase_add_test(tests, many_keys);
    tcase_add_test(tests, order_is_by_bytes);
    suite_add_tcase(suite, tests);
    return suite;
}

VF_CHECK_MAIN(make_suite)
