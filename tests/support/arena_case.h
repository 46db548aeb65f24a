/* Cases that work in an arena of their own: the fixture. Include once in a program; add it with
 * tcase_add_checked_fixture(tcase, set_up, tear_down).
 */
#ifndef VF_TESTS_ARENA_CASE_H
#define VF_TESTS_ARENA_CASE_H

#include "runtime/base/arena.h"
#include "tests/support/check_main.h"

static VfArena *arena;

static inline void set_up(void)
{
    arena = vf_arena_new();
    ck_assert_ptr_nonnull(arena);
}

static inline void tear_down(void)
{
    vf_arena_free(arena);
}

#endif
