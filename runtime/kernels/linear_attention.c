/* A unit is some columns of the values of one head. The next units of a call find the keys and the
 * divisors of their head made. */
#include "runtime/kernels/linear_attention_size.h"
#include "runtime/kernels/pack.h"
#include "runtime/kernels/panel.h"

/* One head: its operands, and scratch. */
typedef struct KeyHead {
    const VfkLinearAttentionParams *p;
    const float *q, *k, *v;
    float *out;
    float *key;   /* d rows of keys */
    float *value; /* panels of values */
    float *sum;   /* d rows of VFK_LINEAR_COLUMNS */
    float *part;  /* d or GEMM_MR rows of VFK_LINEAR_COLUMNS */
    float *query; /* GEMM_MR rows */
    float *key_sum; /* d, filled up with zeros as rows of queries are */
    float *divisor; /* m */
    int has_divisor; /* and keys, if they are one block: an earlier unit was of this head */
} KeyHead;

/* Rows of `n` packed elements, relu of them if so asked, filled up with zeros to whole panels. */
static void finish_packed(float *x, int64_t rows, int64_t n, int64_t relu)
{
    for (int64_t i = 0; i < rows; i++, x += GEMM_STRIDE) {
        memset(x + n, 0, PANEL_f32 * sizeof *x);
        for (int64_t j = 0; relu && j < n; j++) {
            x[j] = x[j] < 0.0f ? 0.0f : x[j];
        }
    }
}

/* Keys [first, first + n), as d rows, and the sums of these. */
static void pack_keys(const KeyHead *h, int64_t first, int64_t n)
{
    const VfkLinearAttentionParams *p = h->p;
    pack_a_f32(h->k + first * p->k_row, p->k_col, p->k_row, p->d, n, h->key);
    finish_packed(h->key, p->d, n, p->relu_k);
    for (int64_t c = 0; c < p->d && !h->has_divisor; c++) {
        h->key_sum[c] += panel_row_sum(h->key + c * GEMM_STRIDE, n);
    }
}

/* c = a b, `rows` rows of `width` columns. */
static void multiply(const float *a, const float *b, int64_t b_step, int64_t b_panel, int64_t k,
                     int64_t rows, int64_t width, float *c)
{
    for (int64_t i = 0; i < vfk_tile_blocks(rows); i++) {
        const int64_t height = vfk_tile_height(rows, i);
        const Tile_f32 tile = {.a = a, .b = b, .b_step = b_step, .b_panel = b_panel, .k = k,
                               .c = c, .c_row = VFK_LINEAR_COLUMNS};
        block_f32(height, width, &tile);
        a += height * GEMM_STRIDE;
        c += height * VFK_LINEAR_COLUMNS;
    }
}

/* Sums over all keys. */
static void sum_keys(const KeyHead *h, int64_t column, int64_t width)
{
    const VfkLinearAttentionParams *p = h->p;
    if (!h->has_divisor) {
        memset(h->key_sum, 0, (size_t)linear_round_up(p->d) * sizeof *h->key_sum);
    }
    for (int64_t first = 0; first < p->n; first += GEMM_KC) {
        const int64_t n = vfk_min_i64(GEMM_KC, p->n - first);
        if (!h->has_divisor || p->n > GEMM_KC) {
            pack_keys(h, first, n);
        }
        pack_b_f32(h->v + first * p->v_row + column * p->v_col, p->v_row, p->v_col, n, width,
                   h->value);
        multiply(h->key, h->value, PANEL_f32, n * PANEL_f32, n, p->d, width,
                 first == 0 ? h->sum : h->part);
        for (int64_t i = 0; i < p->d * VFK_LINEAR_COLUMNS && first > 0; i++) {
            h->sum[i] += h->part[i];
        }
    }
}

static void divide_rows(const KeyHead *h, int64_t row, int64_t rows, int64_t column, int64_t width)
{
    const VfkLinearAttentionParams *p = h->p;
    const float factor = (float)p->factor;
    for (int64_t i = 0; i < rows && !h->has_divisor; i++) {
        h->divisor[row + i] =
            panel_row_product(h->query + i * GEMM_STRIDE, h->key_sum, p->d) + (float)p->shift;
    }
    for (int64_t i = 0; i < rows; i++) {
        const float *restrict part = h->part + i * VFK_LINEAR_COLUMNS;
        const float divisor = h->divisor[row + i];
        float *restrict out = h->out + (row + i) * p->out_row + column;
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
        finish_packed(h->query, height, p->d, p->relu_q);
        multiply(h->query, h->sum, VFK_LINEAR_COLUMNS, PANEL_f32, p->d, height, width, h->part);
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
              .key_sum = scratch + x.at_key_sum, .divisor = scratch + x.at_divisor};
    int64_t head = -1;
    for (int64_t u = args->begin; u < args->end; u++) {
        h.has_divisor = u / groups == head;
        head = u / groups;
        linear_set_head(args, head, &h);
        attend_columns(&h, u % groups * VFK_LINEAR_COLUMNS);
    }
}
