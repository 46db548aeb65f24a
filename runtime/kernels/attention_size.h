/* Blocks of attention, and where they lie in scratch. Internal to runtime/kernels. */
#ifndef VFK_ATTENTION_SIZE_H
#define VFK_ATTENTION_SIZE_H

#include "runtime/kernels/gemm_size.h"
#include "runtime/kernels/variant.h"

/* Floats of a panel of keys or values; rows that any variant works on at once. */
enum { ATTEND_PANEL = GEMM_PANEL_BYTES / (int)sizeof(float), ATTEND_ROWS = 14 };

static inline int64_t attend_round_up(int64_t x)
{
    return (x + ATTEND_PANEL - 1) / ATTEND_PANEL * ATTEND_PANEL;
}

/* Blocks of keys, and the keys of all but the last: whole groups of two panels. */
static inline int64_t attend_key_blocks(int64_t n)
{
    return (n + VFK_ATTEND_KEYS - 1) / VFK_ATTEND_KEYS;
}

static inline int64_t attend_block_keys(int64_t n)
{
    const int64_t group = 2 * ATTEND_PANEL, blocks = attend_key_blocks(n);
    return ((n + blocks - 1) / blocks + group - 1) / group * group;
}

/* Offsets in floats, each a multiple of a panel. */
typedef struct AttendLayout {
    int64_t is_kept; /* all keys and values of a head are packed, not one block of them */
    int64_t keys;    /* floats between the packed keys of two blocks */
    int64_t values;  /* and between the packed values */
    int64_t at_value, at_query, at_score, at_part, at_sum, at_most, at_total, end;
} AttendLayout;

static inline AttendLayout attend_layout(const VfkAttentionParams *p)
{
    const int64_t kept_bytes = 1024 * 1024; /* half of them come from the second-level cache */
    const int64_t blocks = attend_key_blocks(p->n), width = attend_round_up(p->dv);
    AttendLayout x = {.keys = attend_block_keys(p->n) * p->d,
                      .values = attend_block_keys(p->n) * width};
    x.is_kept = x.keys + x.values <= kept_bytes / (int64_t)sizeof(float) / blocks;
    const int64_t copies = x.is_kept ? blocks : 1;
    x.at_value = x.keys * copies;
    x.at_query = x.at_value + x.values * copies;
    x.at_score = x.at_query + ATTEND_ROWS * GEMM_STRIDE;
    x.at_part = x.at_score + ATTEND_ROWS * GEMM_STRIDE;
    x.at_sum = x.at_part + ATTEND_ROWS * width;
    x.at_most = x.at_sum + p->block_rows * width;
    x.at_total = x.at_most + attend_round_up(p->block_rows);
    x.end = x.at_total + attend_round_up(2 * p->block_rows);
    return x;
}

#endif
