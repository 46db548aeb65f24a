/* A unit is some rows of one head. Blocks of keys come one after the other; for each, groups of
 * up to GEMM_MR rows get their scores, the function of them, and the product with the values,
 * all while the scores are in the first-level cache. */
#include "runtime/kernels/attention_size.h"
#include "runtime/kernels/attention_soft.h"
#include "runtime/kernels/pack.h"
#include "runtime/kernels/vecmath.h"

/* One head: its operands, and scratch. */
typedef struct Head {
    const VfkAttentionParams *p;
    AttendLayout layout;
    int64_t width; /* of rows of sums */
    float q_scale, scale; /* of queries and of scores; one is 1 */
    const float *q, *k, *v, *bias[2];
    float *out;
    float *key, *value;                 /* packed */
    float *query, *score, *part;        /* of a group of rows */
    float *sum, *most;                  /* of all rows: weighted values, greatest score */
    double *total;                      /* of all rows: sums of exponentials */
} Head;

/* Keys [first, first + n) of a head. */
typedef struct Keys {
    int64_t first, n;
    const float *key, *value;
} Keys;

/* --- scores --- */

/* Queries [row, row + height). */
static void take_queries(const Head *h, int64_t row, int64_t height)
{
    const VfkAttentionParams *p = h->p;
    pack_a_f32(h->q + row * p->q_row, p->q_row, p->q_col, height, p->d, h->query);
    for (int64_t i = 0; i < height && h->q_scale != 1.0f; i++) {
        float *query = h->query + i * GEMM_STRIDE;
        for (int64_t j = 0; j < p->d; j++) {
            query[j] *= h->q_scale;
        }
    }
}

/* s = scale * s + shift. */
static void scale_row(float scale, float shift, float *s, int64_t n)
{
    for (int64_t j = 0; j < n && scale != 1.0f; j++) {
        s[j] *= scale;
    }
    for (int64_t j = 0; j < n && shift != 0.0f; j++) {
        s[j] += shift;
    }
}

static void add_bias(const float *bias, int64_t step, float *s, int64_t n)
{
    if (step == 1) {
        for (int64_t j = 0; j < n; j++) {
            s[j] += bias[j];
        }
        return;
    }
    for (int64_t j = 0; j < n; j++) {
        s[j] += bias[j * step];
    }
}

/* Scores of the query `row` to `n` keys, from their products. */
static void finish_scores(const Head *h, int64_t row, const Keys *keys, float *s)
{
    const VfkAttentionParams *p = h->p;
    scale_row(h->scale, (float)p->shift, s, keys->n);
    if (h->bias[0]) {
        add_bias(h->bias[0] + row * p->bias_row + keys->first * p->bias_col, p->bias_col, s,
                 keys->n);
    }
    if (h->bias[1]) {
        add_bias(h->bias[1] + row * p->bias2_row + keys->first * p->bias2_col, p->bias2_col, s,
                 keys->n);
    }
    soft_fill(s, keys->n);
}

/* --- functions of scores --- */

/* Exponentials of a group of rows and `n` keys; into `factor` what the sums so far must be
 * multiplied by. Rows wait for nothing of each other. */
static void soft_rows(float *s, int64_t height, int64_t n, int is_first, float *most,
                      double *total, float *factor)
{
    Panel lane[GEMM_MR];
    float now[GEMM_MR];
    for (int64_t i = 0; i < height; i++) {
        lane[i] = soft_greatest(s + i * GEMM_STRIDE, n);
    }
    for (int64_t i = 0; i < height; i++) {
        const float block = soft_greatest_lane(&lane[i]);
        now[i] = is_first || block > most[i] || block != block ? block : most[i];
    }
    for (int64_t i = 0; i < height; i++) {
        /* -inf: these and all keys before are masked, their exponentials 0 */
        lane[i] = soft_exp(s + i * GEMM_STRIDE, n, now[i] == -INFINITY ? 0.0f : now[i]);
    }
    for (int64_t i = 0; i < height; i++) {
        factor[i] = is_first || now[i] == most[i] ? 1.0f : vfk_exp(most[i] - now[i]);
        total[i] = is_first ? 0.0 : total[i] * (double)factor[i];
        total[i] += (double)panel_sum(&lane[i]);
        most[i] = now[i];
    }
}

static void point_rows(int64_t function, float *s, int64_t height, int64_t n)
{
    for (int64_t i = 0; i < height; i++, s += GEMM_STRIDE) {
        for (int64_t j = 0; j < n && function == VFK_ATTEND_RELU; j++) {
            s[j] = s[j] < 0.0f ? 0.0f : s[j];
        }
        for (int64_t j = 0; j < n && function == VFK_ATTEND_SIGMOID; j++) {
            s[j] = vfk_sigmoid(s[j]);
        }
    }
}

/* --- rows --- */

/* sum = factor * sum + part. */
static void add_part(float *sum, const float *part, int64_t n, float factor)
{
    for (int64_t j = 0; j < n; j++) {
        sum[j] = factor * sum[j] + part[j];
    }
}

/* The sums of a group of rows, at `at` among the unit's, to their places. */
static void put_rows(const Head *h, int64_t row, int64_t at, int64_t height)
{
    const VfkAttentionParams *p = h->p;
    for (int64_t i = 0; i < height; i++) {
        const float *restrict sum = h->sum + (at + i) * h->width;
        float *restrict out = h->out + (row + i) * p->out_row;
        const int is_soft = p->function == VFK_ATTEND_SOFTMAX;
        const float factor = (float)(is_soft ? p->factor / h->total[at + i] : p->factor);
        for (int64_t j = 0; j < p->dv; j++) {
            out[j] = factor * sum[j];
        }
    }
}

/* Rows [row, row + height) of the head, at `at` among the unit's, and a block of keys. */
static void attend_group(const Head *h, int64_t row, int64_t at, int64_t height, const Keys *keys)
{
    const VfkAttentionParams *p = h->p;
    const int is_first = keys->first == 0;
    float factor[GEMM_MR], *sum = h->sum + at * h->width;
    take_queries(h, row, height);
    const Tile_f32 product = {.a = h->query, .b = keys->key, .b_step = ATTEND_PANEL,
                              .b_panel = p->d * ATTEND_PANEL, .k = p->d, .c = h->score,
                              .c_row = GEMM_STRIDE};
    block_f32(height, keys->n, &product);
    for (int64_t i = 0; i < height; i++) {
        finish_scores(h, row + i, keys, h->score + i * GEMM_STRIDE);
        factor[i] = 1.0f;
    }
    if (p->function == VFK_ATTEND_SOFTMAX) {
        soft_rows(h->score, height, keys->n, is_first, h->most + at, h->total + at, factor);
    } else {
        point_rows(p->function, h->score, height, keys->n);
    }
    const Tile_f32 weighted = {.a = h->score, .b = keys->value, .b_step = ATTEND_PANEL,
                               .b_panel = keys->n * ATTEND_PANEL, .k = keys->n,
                               .c = is_first ? sum : h->part, .c_row = h->width};
    block_f32(height, p->dv, &weighted);
    for (int64_t i = 0; i < height && !is_first; i++) {
        add_part(sum + i * h->width, h->part + i * h->width, h->width, factor[i]);
    }
    if (keys->first + keys->n == p->n) {
        put_rows(h, row, at, height);
    }
}

/* --- heads --- */

/* Block `index` of keys; packed now unless it is already. */
static Keys keys_of(const Head *h, int64_t index, int is_packed)
{
    const VfkAttentionParams *p = h->p;
    const int64_t each = attend_block_keys(p->n), slot = h->layout.is_kept ? index : 0;
    float *key = h->key + slot * h->layout.keys, *value = h->value + slot * h->layout.values;
    Keys keys = {index * each, vfk_min_i64(each, p->n - index * each), key, value};
    if (!is_packed) {
        pack_b_f32(h->k + keys.first * p->k_row, p->k_col, p->k_row, p->d, keys.n, key);
        pack_b_f32(h->v + keys.first * p->v_row, p->v_row, p->v_col, keys.n, p->dv, value);
    }
    return keys;
}

static void attend_rows(const Head *h, int64_t row, int64_t rows, int is_packed)
{
    for (int64_t b = 0; b < attend_key_blocks(h->p->n); b++) {
        const Keys keys = keys_of(h, b, is_packed);
        for (int64_t i = 0, at = 0; i < vfk_tile_blocks(rows); i++) {
            const int64_t height = vfk_tile_height(rows, i);
            attend_group(h, row + at, at, height, &keys);
            at += height;
        }
    }
}

/* Operands of batch `index`. */
static void set_head(const VfkArgs *args, int64_t index, Head *h)
{
    const VfkAttentionParams *p = args->params;
    const int64_t rank = p->batch_rank, *dim = p->batch_dim;
    const int64_t *bias_batch[2] = {p->bias_batch, p->bias2_batch};
    h->q = (const float *)args->in[0] + vfk_batch_at(index, rank, dim, p->q_batch);
    h->k = (const float *)args->in[1] + vfk_batch_at(index, rank, dim, p->k_batch);
    h->v = (const float *)args->in[2] + vfk_batch_at(index, rank, dim, p->v_batch);
    h->out = (float *)args->out[0] + vfk_batch_at(index, rank, dim, p->out_batch);
    for (int i = 0; i < 2; i++) {
        const float *bias = args->in[3 + i];
        h->bias[i] = bias ? bias + vfk_batch_at(index, rank, dim, bias_batch[i]) : NULL;
    }
}

static Head head_in(const VfkArgs *args)
{
    const VfkAttentionParams *p = args->params;
    const AttendLayout x = attend_layout(p);
    float *scratch = args->scratch;
    const float scale = (float)p->scale;
    const int is_exact = vfk_is_power_of_two((double)scale);
    Head h = {.p = p, .layout = x, .width = attend_round_up(p->dv),
              .q_scale = is_exact ? scale : 1.0f, .scale = is_exact ? 1.0f : scale, .key = scratch,
              .value = scratch + x.at_value, .query = scratch + x.at_query,
              .score = scratch + x.at_score, .part = scratch + x.at_part,
              .sum = scratch + x.at_sum, .most = scratch + x.at_most,
              .total = (void *)(scratch + x.at_total)};
    return h;
}

void VFK_FN(attention, f32)(const VfkArgs *args)
{
    const VfkAttentionParams *p = args->params;
    const int64_t blocks = (p->m + p->block_rows - 1) / p->block_rows;
    Head h = head_in(args);
    int64_t head = -1;
    for (int64_t u = args->begin; u < args->end; u++) {
        const int64_t row = u % blocks * p->block_rows;
        const int is_new = u / blocks != head;
        if (is_new) {
            head = u / blocks;
            set_head(args, head, &h);
        }
        attend_rows(&h, row, vfk_min_i64(p->block_rows, p->m - row),
                    h.layout.is_kept && !is_new);
    }
}
