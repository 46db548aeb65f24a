#include "runtime/kernels/act.h"
#include "runtime/kernels/pack.h"

/* Some rows of the product: where each lies in c and add. */
typedef struct LinearRows {
    int64_t n;
    int64_t a[GEMM_MC], c[GEMM_MC], add[GEMM_MC]; /* elements */
} LinearRows;

/* Steps [p, p + k) of the sums; c holds those before. */
typedef struct LinearSpan {
    int64_t p, k;
    int is_first, is_last;
} LinearSpan;

static LinearRows linear_rows_of(const VfkLinearParams *params, int64_t first, int64_t n)
{
    LinearRows rows = {.n = n};
    for (int64_t i = 0; i < n; i++) {
        int64_t rest = first + i, a = 0, c = 0, add = 0;
        for (int64_t axis = params->rank - 1; axis >= 0; axis--) {
            const int64_t index = rest % params->dim[axis];
            rest /= params->dim[axis];
            a += index * params->a_step[axis];
            c += index * params->c_step[axis];
            add += index * params->add_step[axis];
        }
        rows.a[i] = a;
        rows.c[i] = c;
        rows.add[i] = add;
    }
    return rows;
}

static void linear_pack_rows(const VfkLinearParams *params, const float *a,
                             const LinearRows *rows, const LinearSpan *span, float *packed)
{
    for (int64_t i = 0; i < rows->n; i++) {
        pack_a_row_f32(a + rows->a[i] + span->p * params->a_col, params->a_col, span->k,
                       packed + i * GEMM_STRIDE);
    }
}

/* sum op= x, for each of `height` rows of VFK_GROUP; x has one row. */
#define ON_ROWS(name, op) \
    static void name(float *sum, int64_t height, const float *x, int64_t width) \
    { \
        for (int64_t i = 0; i < height; i++, sum += VFK_GROUP) { \
            if (width == VFK_GROUP) { \
                for (int64_t j = 0; j < VFK_GROUP; j++) { \
                    sum[j] op x[j]; \
                } \
            } else { \
                for (int64_t j = 0; j < width; j++) { \
                    sum[j] op x[j]; \
                } \
            } \
        } \
    }
ON_ROWS(linear_add_row, +=)
ON_ROWS(linear_scale_row, *=)

/* c = sum, or sum + add. */
static inline void linear_store_row(const float *sum, const float *add, float *c, int64_t width)
{
    if (add) {
        for (int64_t j = 0; j < width; j++) {
            c[j] = sum[j] + add[j];
        }
    } else {
        memcpy(c, sum, (size_t)width * sizeof *c);
    }
}

static void linear_store_rows(const float *sum, const float *add, const int64_t *add_at, float *c,
                       const int64_t *c_at, int64_t height, int64_t width)
{
    for (int64_t i = 0; i < height; i++, sum += VFK_GROUP) {
        const float *more = add ? add + add_at[i] : NULL;
        if (width == VFK_GROUP) {
            linear_store_row(sum, more, c + c_at[i], VFK_GROUP);
        } else {
            linear_store_row(sum, more, c + c_at[i], width);
        }
    }
}

/* The finished sums of some rows, columns from `column`, through the rest of the formula. */
static void linear_finish(const VfkArgs *args, float *sum, int64_t height, int64_t column,
                          int64_t width)
{
    const VfkLinearParams *params = args->params;
    const float *bias = args->in[2], *scale = args->in[3];
    const float alpha = (float)params->alpha;
    VfkActFn *act = vfk_act_table[params->act];
    for (int64_t i = 0; alpha != 1.0f && i < height * VFK_GROUP; i++) {
        sum[i] *= alpha;
    }
    if (bias) {
        linear_add_row(sum, height, bias + column, width);
    }
    if (act) {
        act(sum, height * VFK_GROUP, (float)params->act_alpha);
    }
    if (scale) {
        linear_scale_row(sum, height, scale + column, width);
    }
}

/* Ask for a share of the next group of b while this one is worked on: weights of a whole model do
 * not stay in the caches near the processor. */
static inline void linear_fetch(const float *next, int64_t n, int64_t share, int64_t shares)
{
    for (int64_t i = n * share / shares; i < n * (share + 1) / shares; i++) {
        __builtin_prefetch(next + i * VFK_PANEL, 0, 2);
    }
}

/* One group of columns over all rows of a block, for a span of k. */
static void linear_group(const VfkArgs *args, const LinearRows *rows, const LinearSpan *span,
                         int64_t column, const float *packed_a)
{
    const VfkLinearParams *params = args->params;
    const int64_t width = vfk_min_i64(VFK_GROUP, params->n - column);
    const float *add = span->is_last ? args->in[4] : NULL;
    float *c = (float *)args->out[0] + column;
    float sum[GEMM_MR * VFK_GROUP] __attribute__((aligned(64))) = {0};
    Tile_f32 tile = {.a = packed_a,
                     .b = (const float *)args->in[1] + column * params->k + span->p * VFK_PANEL,
                     .b_step = VFK_PANEL,
                     .b_panel = params->k * VFK_PANEL,
                     .k = span->k,
                     .c = sum,
                     .c_row = VFK_GROUP};
    const int64_t last = params->n - column - width;
    const float *next = tile.b + VFK_GROUP * params->k;
    for (int64_t block = 0, row = 0; row < rows->n; block++) {
        const int64_t height = vfk_tile_height(rows->n, block);
        if (last > 0) {
            linear_fetch(next, span->k, block, vfk_tile_blocks(rows->n));
            linear_fetch(next + VFK_PANEL * params->k * (last > VFK_PANEL), span->k, block,
                         vfk_tile_blocks(rows->n));
        }
        block_f32(height, width, &tile);
        for (int64_t i = 0; !span->is_first && i < height; i++) {
            linear_add_row(sum + i * VFK_GROUP, 1, c + rows->c[row + i], width);
        }
        if (span->is_last) {
            linear_finish(args, sum, height, column, width);
        }
        linear_store_rows(sum, add ? add + column : NULL, rows->add + row, c, rows->c + row,
                          height, width);
        tile.a += height * GEMM_STRIDE;
        row += height;
    }
}

/* Groups [begin, end) of the rows of one block. */
static void linear_block(const VfkArgs *args, const LinearRows *rows, int64_t begin, int64_t end)
{
    const VfkLinearParams *params = args->params;
    int64_t p = 0;
    do {
        const int64_t k = vfk_min_i64(GEMM_KC, params->k - p);
        const LinearSpan span = {p, k, p == 0, p + k >= params->k};
        linear_pack_rows(params, args->in[0], rows, &span, args->scratch);
        for (int64_t g = begin; g < end; g++) {
            linear_group(args, rows, &span, g * VFK_GROUP, args->scratch);
        }
        p += k;
    } while (p < params->k);
}

void VFK_FN(linear, f32)(const VfkArgs *args)
{
    const VfkLinearParams *params = args->params;
    const int64_t all = vfk_linear_rows(params), rows_each = vfk_linear_block_rows(all);
    const int64_t groups = vfk_linear_groups(params);
    for (int64_t u = args->begin, end; u < args->end; u = end) {
        const int64_t block = u / groups, first = block * rows_each;
        end = vfk_min_i64(args->end, (block + 1) * groups);
        const LinearRows rows = linear_rows_of(params, first, vfk_min_i64(rows_each, all - first));
        linear_block(args, &rows, u - block * groups, end - block * groups);
    }
}
