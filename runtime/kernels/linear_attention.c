/* A unit is some columns of the values of one head. The sums over keys get one column more, that
 * of a value of 1, which is the divisor's; the next units of a call find the divisors made. */
#include "runtime/kernels/linear_attention_size.h"
#include "runtime/kernels/pack.h"

/* One head: its operands, and scratch. */
typedef struct KeyHead {
    const VfkLinearAttentionParams *p;
    const float *q, *k, *v;
    float *out;
    float *key;   /* d rows of keys */
    float *value; /* panels of values */
    float *sum;   /* d rows of LINEAR_WIDTH */
    float *part;  /* d or GEMM_MR rows of LINEAR_WIDTH */
    float *query; /* GEMM_MR rows */
    float *divisor; /* m */
    int has_divisor; /* and keys, if they are one block: an earlier unit was of this head */
} KeyHead;

static void relu_rows(float *x, int64_t rows, int64_t n)
{
    for (int64_t i = 0; i < rows; i++, x += GEMM_STRIDE) {
        for (int64_t j = 0; j < n; j++) {
            x[j] = x[j] < 0.0f ? 0.0f : x[j];
        }
    }
}

/* Keys [first, first + n), as d rows. */
static void pack_keys(const KeyHead *h, int64_t first, int64_t n)
{
    const VfkLinearAttentionParams *p = h->p;
    pack_a_f32(h->k + first * p->k_row, p->k_col, p->k_row, p->d, n, h->key);
    if (p->relu_k) {
        relu_rows(h->key, p->d, n);
    }
}

/* Columns [column, column + width) of values [first, first + n), and the one more. */
static void pack_values(const KeyHead *h, int64_t first, int64_t n, int64_t column, int64_t width)
{
    const VfkLinearAttentionParams *p = h->p;
    const float *v = h->v + first * p->v_row + column * p->v_col;
    float *one = h->value + n * VFK_LINEAR_COLUMNS;
    pack_b_f32(v, p->v_row, p->v_col, n, width, h->value);
    if (h->has_divisor) {
        return;
    }
    memset(one, 0, (size_t)(n * PANEL_f32) * sizeof *one);
    for (int64_t j = 0; j < n; j++) {
        one[j * PANEL_f32] = 1.0f;
    }
}

/* c = a b, `rows` rows of LINEAR_WIDTH columns: `width` of values, and the panel of the divisor
 * unless that is there. */
static void multiply(const KeyHead *h, const float *a, const float *b, int64_t b_step,
                     int64_t b_panel, int64_t k, int64_t rows, int64_t width, float *c)
{
    for (int64_t i = 0; i < vfk_tile_blocks(rows); i++) {
        const int64_t height = vfk_tile_height(rows, i);
        Tile_f32 tile = {.a = a, .b = b, .b_step = b_step, .b_panel = b_panel, .k = k, .c = c,
                         .c_row = LINEAR_WIDTH};
        block_f32(height, width, &tile);
        tile.b = b + b_panel * (VFK_LINEAR_COLUMNS / PANEL_f32);
        tile.c = c + VFK_LINEAR_COLUMNS;
        if (!h->has_divisor) {
            block_f32(height, 1, &tile);
        }
        a += height * GEMM_STRIDE;
        c += height * LINEAR_WIDTH;
    }
}

/* Sums over all keys. */
static void sum_keys(const KeyHead *h, int64_t column, int64_t width)
{
    const VfkLinearAttentionParams *p = h->p;
    for (int64_t first = 0; first < p->n; first += GEMM_KC) {
        const int64_t n = vfk_min_i64(GEMM_KC, p->n - first);
        if (!h->has_divisor || p->n > GEMM_KC) {
            pack_keys(h, first, n);
        }
        pack_values(h, first, n, column, width);
        multiply(h, h->key, h->value, PANEL_f32, n * PANEL_f32, n, p->d, width,
                 first == 0 ? h->sum : h->part);
        for (int64_t i = 0; i < p->d * LINEAR_WIDTH && first > 0; i++) {
            h->sum[i] += h->part[i];
        }
    }
}

static void divide_rows(const KeyHead *h, int64_t row, int64_t rows, int64_t column, int64_t width)
{
    const VfkLinearAttentionParams *p = h->p;
    const float factor = (float)p->factor;
    for (int64_t i = 0; i < rows; i++) {
        const float *part = h->part + i * LINEAR_WIDTH;
        if (!h->has_divisor) {
            h->divisor[row + i] = part[VFK_LINEAR_COLUMNS] + (float)p->shift;
        }
        const float divisor = h->divisor[row + i];
        float *out = h->out + (row + i) * p->out_row + column;
        for (int64_t j = 0; j < width; j++) {
            out[j] = factor * part[j] / divisor;
        }
    }
}

static void attend_columns(const KeyHead *h, int64_t column)
{
    const VfkLinearAttentionParams *p = h->p;
    const int64_t width = vfk_min_i64(VFK_LINEAR_COLUMNS, p->dv - column);
    sum_keys(h, column, width);
    for (int64_t i = 0, row = 0; i < vfk_tile_blocks(p->m); i++) {
        const int64_t height = vfk_tile_height(p->m, i);
        pack_a_f32(h->q + row * p->q_row, p->q_row, p->q_col, height, p->d, h->query);
        if (p->relu_q) {
            relu_rows(h->query, height, p->d);
        }
        multiply(h, h->query, h->sum, LINEAR_WIDTH, PANEL_f32, p->d, height, width, h->part);
        divide_rows(h, row, height, column, width);
        row += height;
    }
}

static void linear_set_head(const VfkArgs *args, int64_t index, KeyHead *h)
{
    const VfkLinearAttentionParams *p = args->params;
    const int64_t rank = p->batch_rank, *dim = p->batch_dim;
    h->q = (const float *)args->in[0] + vfk_batch_at(index, rank, dim, p->q_batch);
    h->k = (const float *)args->in[1] + vfk_batch_at(index, rank, dim, p->k_batch);
    h->v = (const float *)args->in[2] + vfk_batch_at(index, rank, dim, p->v_batch);
    h->out = (float *)args->out[0] + vfk_batch_at(index, rank, dim, p->out_batch);
}

void VFK_FN(linear_attention, f32)(const VfkArgs *args)
{
    const VfkLinearAttentionParams *p = args->params;
    const LinearLayout x = linear_layout(p);
    const int64_t groups = linear_groups(p);
    float *scratch = args->scratch;
    KeyHead h = {.p = p, .key = scratch, .value = scratch + x.at_value, .sum = scratch + x.at_sum,
              .part = scratch + x.at_part, .query = scratch + x.at_query,
              .divisor = scratch + x.at_divisor};
    int64_t head = -1;
    for (int64_t u = args->begin; u < args->end; u++) {
        h.has_divisor = u / groups == head;
        head = u / groups;
        linear_set_head(args, head, &h);
        attend_columns(&h, u % groups * VFK_LINEAR_COLUMNS);
    }
}
