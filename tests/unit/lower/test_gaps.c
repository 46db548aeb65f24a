/* Taking and giving back pieces of memory: the lowest place, against a search byte by byte. */
#include <stdbool.h>
#include <string.h>

#include "converter/lower/gaps.h"
#include "tests/support/check_main.h"

enum { N_PIECE = 40, N_TURN = 3000, SPACE = 4096, N_CASE = 20 };

typedef struct Piece {
    size_t offset, bytes; /* 0 bytes: free */
} Piece;

static size_t random_below(uint64_t *state, size_t n)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(*state >> 33) % n;
}

static size_t lowest(const bool *is_held, size_t bytes)
{
    size_t run = 0, at = 0;
    for (; run < bytes; at++)
        run = is_held[at] ? 0 : run + 1;
    return at - bytes;
}

START_TEST(pieces_lie_as_low_as_they_can)
{
    static bool is_held[SPACE];
    VfErr err = {0};
    VfGaps gaps;
    VfArena *arena = vf_arena_new();
    Piece piece[N_PIECE] = {{0, 0}};
    uint64_t seed = (uint64_t)_i + 1;
    memset(is_held, 0, sizeof is_held);
    ck_assert_int_eq(vf_gaps_init(&gaps, arena, N_PIECE, &err), VF_OK);
    for (int i = 0; i < N_TURN; i++) {
        Piece *p = &piece[random_below(&seed, N_PIECE)];
        if (p->bytes > 0) {
            vf_gaps_give(&gaps, p->offset, p->bytes);
            memset(is_held + p->offset, 0, p->bytes);
            p->bytes = 0;
            continue;
        }
        p->bytes = 1 + random_below(&seed, 60);
        p->offset = vf_gaps_take(&gaps, p->bytes);
        ck_assert_uint_eq(p->offset, lowest(is_held, p->bytes));
        memset(is_held + p->offset, 1, p->bytes);
    }
    vf_arena_free(arena);
}
END_TEST

/* All that is given back is one gap again. */
START_TEST(neighbours_join)
{
    VfErr err = {0};
    VfGaps gaps;
    VfArena *arena = vf_arena_new();
    ck_assert_int_eq(vf_gaps_init(&gaps, arena, 4, &err), VF_OK);
    for (size_t i = 0; i < 4; i++)
        ck_assert_uint_eq(vf_gaps_take(&gaps, 10), 10 * i);
    static const size_t order[] = {10, 30, 20, 0};
    for (size_t i = 0; i < 3; i++)
        vf_gaps_give(&gaps, order[i], 10);
    ck_assert_uint_eq(vf_gaps_take(&gaps, 31), 10);
    vf_gaps_give(&gaps, 10, 31);
    vf_gaps_give(&gaps, 0, 10);
    ck_assert_uint_eq(vf_gaps_take(&gaps, SIZE_MAX), 0);
    vf_arena_free(arena);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("lower/gaps");
    TCase *tcase = tcase_create("gaps");
    tcase_add_loop_test(tcase, pieces_lie_as_low_as_they_can, 0, N_CASE);
    tcase_add_test(tcase, neighbours_join);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
