/* A unit is some rows of one head. Blocks of keys come one after the other; for each, groups of
 * up to GEMM_MR rows get their scores, the function of them, and the product with the values,
 * all while the scores are in the first-level cache. */
#include "runtime/kernels/attention_size.h"
#include "runtime/kernels/pack.h"
#include "runtime/kernels/vecmath.h"

/* One head: its operands, and scratch. */
typedef struct Head {
    const VfkAttentionParams *p;
    AttendLayout layout;
    int64_t width; /* of rows of sums */
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

/* s = scale * s + shift. */
static void scale_row(const VfkAttentionParams *p, float *s, int64_t n)
{
    const float scale = (float)p->scale, shift = (float)p->shift;
    if (scale != 1.0f) {
        for (int64_t j = 0; j < n; j++) {
            s[j] *= scale;
        }
    }
    if (shift != 0.0f) {
        for (int64_t j = 0; j < n; j++) {
            s[j] += shift;
        }
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

/* Scores of the query `row` to `n` keys, from their products; the last panel is filled up. */
static void finish_scores(const Head *h, int64_t row, const Keys *keys, float *s)
{
    const VfkAttentionParams *p = h->p;
    scale_row(p, s, keys->n);
    if (h->bias[0]) {
        add_bias(h->bias[0] + row * p->bias_row + keys->first * p->bias_col, p->bias_col, s,
                 keys->n);
    }
    if (h->bias[1]) {
        add_bias(h->bias[1] + row * p->bias2_row + keys->first * p->bias2_col, p->bias2_col, s,
                 keys->n);
    }
    for (int64_t j = keys->n; j < attend_round_up(keys->n); j++) {
        s[j] = -INFINITY;
    }
}

/* --- functions of scores --- */

/* Lanes of a row's greatest score and of its sum; and halves of them. */
typedef float Lanes __attribute__((vector_size(16 * sizeof(float))));
typedef float Lanes8 __attribute__((vector_size(8 * sizeof(float))));
typedef float Lanes4 __attribute__((vector_size(4 * sizeof(float))));
typedef int32_t Mask __attribute__((vector_size(16 * sizeof(int32_t))));
typedef int32_t Mask8 __attribute__((vector_size(8 * sizeof(int32_t))));
typedef int32_t Mask4 __attribute__((vector_size(4 * sizeof(int32_t))));

/* The greater of each lane; b where one is NaN. */
#define GREATER(V, M, a, b) ((V)((((a) > (b)) & (M)(a)) | (~((a) > (b)) & (M)(b))))

/* The greatest of whole panels, in lanes. NaN may be passed over: exponentials bring it back. */
static void row_most(const float *s, int64_t n, Lanes *most)
{
    Lanes lane;
    memcpy(&lane, s, sizeof lane);
    for (int64_t j = ATTEND_PANEL; j < n; j += ATTEND_PANEL) {
        Lanes x;
        memcpy(&x, s + j, sizeof x);
        lane = GREATER(Lanes, Mask, lane, x);
    }
    *most = lane;
}

static float most_of(const Lanes *most)
{
    Lanes8 part8[2];
    memcpy(part8, most, sizeof part8);
    part8[0] = GREATER(Lanes8, Mask8, part8[0], part8[1]);
    Lanes4 part4[2];
    memcpy(part4, part8, sizeof part4);
    part4[0] = GREATER(Lanes4, Mask4, part4[0], part4[1]);
    const float a = part4[0][0] > part4[0][2] ? part4[0][0] : part4[0][2];
    const float b = part4[0][1] > part4[0][3] ? part4[0][1] : part4[0][3];
    return a > b ? a : b;
}

/* s = exp(s - most) in whole panels; the sum of it, in lanes. Numbers below the normal ones, as of
 * masks of -100, become 0: products with them are slow. */
static void row_exp(float *s, int64_t n, float most, Lanes *sum)
{
    const float least = -87.0f;
    Lanes lane = {0};
    for (int64_t j = 0; j < n; j += ATTEND_PANEL) {
        float t[ATTEND_PANEL];
        for (int l = 0; l < ATTEND_PANEL; l++) {
            const float d = s[j + l] - most;
            t[l] = d < least ? 0.0f : vfk_exp(d);
        }
        Lanes x;
        memcpy(&x, t, sizeof x);
        memcpy(s + j, t, sizeof t);
        lane += x;
    }
    *sum = lane;
}

static float sum_of(const Lanes *sum)
{
    Lanes8 part8[2];
    memcpy(part8, sum, sizeof part8);
    part8[0] += part8[1];
    Lanes4 part4[2];
    memcpy(part4, part8, sizeof part4);
    part4[0] += part4[1];
    return (part4[0][0] + part4[0][2]) + (part4[0][1] + part4[0][3]);
}

/* Exponentials of a group of rows and `n` keys; into `factor` what the sums so far must be
 * multiplied by. Rows wait for nothing of each other. */
static void soft_rows(float *s, int64_t height, int64_t n, int is_first, float *most,
                      double *total, float *factor)
{
    Lanes lane[GEMM_MR];
    float now[GEMM_MR];
    for (int64_t i = 0; i < height; i++) {
        row_most(s + i * GEMM_STRIDE, n, &lane[i]);
    }
    for (int64_t i = 0; i < height; i++) {
        const float block = most_of(&lane[i]);
        now[i] = is_first || block > most[i] || block != block ? block : most[i];
    }
    for (int64_t i = 0; i < height; i++) {
        /* -inf: these and all keys before are masked, their exponentials 0 */
        row_exp(s + i * GEMM_STRIDE, n, now[i] == -INFINITY ? 0.0f : now[i], &lane[i]);
    }
    for (int64_t i = 0; i < height; i++) {
        factor[i] = is_first || now[i] == most[i] ? 1.0f : vfk_exp(most[i] - now[i]);
        total[i] = is_first ? 0.0 : total[i] * (double)factor[i];
        total[i] += (double)sum_of(&lane[i]);
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

/* Rows [row, row + height) of the head, at `at` among the unit's, and a block of keys. */
static void attend_group(const Head *h, int64_t row, int64_t at, int64_t height, const Keys *keys)
{
    const VfkAttentionParams *p = h->p;
    const int is_first = keys->first == 0;
    float factor[GEMM_MR], *sum = h->sum + at * h->width;
    pack_a_f32(h->q + row * p->q_row, p->q_row, p->q_col, height, p->d, h->query);
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
}

/* The sums of `rows` rows to their places. */
static void put_rows(const Head *h, int64_t row, int64_t rows)
{
    const VfkAttentionParams *p = h->p;
    for (int64_t i = 0; i < rows; i++) {
        const float *sum = h->sum + i * h->width;
        float *out = h->out + (row + i) * p->out_row;
        const int is_soft = p->function == VFK_ATTEND_SOFTMAX;
        const float factor = (float)(is_soft ? p->factor / h->total[i] : p->factor);
        for (int64_t j = 0; j < p->dv; j++) {
            out[j] = factor * sum[j];
        }
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
    put_rows(h, row, rows);
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
    Head h = {.p = p, .layout = x, .width = attend_round_up(p->dv), .key = scratch,
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
