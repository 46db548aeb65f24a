#include "runtime/kernels/act.h"
#include "runtime/kernels/norm_rows.h"
#include "runtime/kernels/pack.h"

/* Some rows of the product: where each lies in a, c and add. */
typedef struct LinearRows {
    int64_t n;
    int64_t a[GEMM_MC], c[GEMM_MC], add[GEMM_MC]; /* elements */
    int is_even;           /* whether rows of c, and of add, lie equally far apart: */
    int64_t c_row, add_row;
    int is_tiled; /* whether rows of a lie where tiles read them */
} LinearRows;

/* Steps [p, p + k) of the sums; c holds those before. */
typedef struct LinearSpan {
    int64_t p, k;
    int is_first, is_last;
} LinearSpan;

/* What is needed next: two runs of as many cache lines; none where it is not known. */
typedef struct LinearNext {
    const float *run[2];
    int64_t lines;
} LinearNext;

/* Columns [column, column + width) and what is done to their sums. */
typedef struct LinearGroup {
    int64_t column, width;
    int is_plain; /* all that follows the sums is bias and add, which a tile does by itself */
    float bias[VFK_GROUP] __attribute__((aligned(64)));
} LinearGroup;

static void linear_measure_rows(LinearRows *rows)
{
    rows->is_even = 1;
    rows->c_row = rows->n > 1 ? rows->c[1] - rows->c[0] : 0;
    rows->add_row = rows->n > 1 ? rows->add[1] - rows->add[0] : 0;
    for (int64_t i = 1; i < rows->n; i++) {
        rows->is_even &= rows->c[i] - rows->c[i - 1] == rows->c_row &&
                         rows->add[i] - rows->add[i - 1] == rows->add_row;
        rows->is_tiled &= rows->a[i] - rows->a[i - 1] == GEMM_STRIDE;
    }
}

/* Whether tiles may read rows of a as they are, if they lie so. */
static int linear_may_lie(const VfkLinearParams *params)
{
    return params->a_col == 1 && params->k <= GEMM_KC && !params->norms;
}

static LinearRows linear_rows_of(const VfkLinearParams *params, int64_t first, int64_t n)
{
    LinearRows rows = {.n = n, .is_tiled = linear_may_lie(params)};
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
    linear_measure_rows(&rows);
    return rows;
}

/* Layer norms of `height` rows from row `first`, packed. */
static void linear_norm_rows(const VfkArgs *args, const LinearRows *rows, int64_t first,
                             int64_t height)
{
    const VfkLinearParams *params = args->params;
    const float *x[NORM_ROWS];
    float *y[NORM_ROWS];
    double moment[NORM_ROWS][2];
    const int64_t most = norm_rows_together(params->k, sizeof *x[0]);
    for (int64_t i = first, n; i < first + height; i += n) {
        n = vfk_min_i64(most, first + height - i);
        for (int64_t r = 0; r < n; r++) {
            x[r] = (const float *)args->in[0] + rows->a[i + r];
            y[r] = (float *)args->scratch + (i + r) * GEMM_STRIDE;
        }
        norm_rows_f32(n, params->k, params->norm_eps, args->in[6], args->in[7], x, y, moment);
    }
}

/* `height` rows from row `first`. */
static void linear_pack_rows(const VfkArgs *args, const LinearRows *rows, int64_t first,
                             int64_t height, const LinearSpan *span)
{
    const VfkLinearParams *params = args->params;
    const float *a = (const float *)args->in[0] + span->p * params->a_col;
    float *packed = args->scratch;
    if (params->norms) {
        linear_norm_rows(args, rows, first, height);
        return;
    }
    for (int64_t i = first; i < first + height; i++) {
        pack_a_row_f32(a + rows->a[i], params->a_col, span->k, packed + i * GEMM_STRIDE);
    }
}

/* c = sum [* scale] [+ add] */
static inline void linear_store_columns(const float *restrict sum, const float *scale,
                                        const float *add, float *restrict c, int64_t width)
{
    for (int64_t j = 0; j < width; j++) {
        const float x = scale ? sum[j] * scale[j] : sum[j];
        c[j] = add ? x + add[j] : x;
    }
}

static void linear_store_row(const float *sum, const float *scale, const float *add, float *c,
                             int64_t width)
{
    if (width == VFK_GROUP) {
        linear_store_columns(sum, scale, add, c, VFK_GROUP);
    } else {
        linear_store_columns(sum, scale, add, c, width);
    }
}

/* The sums of a tile through the rest of the formula, to the rows of c. */
static void linear_finish(const VfkArgs *args, const LinearGroup *group, const LinearRows *rows,
                          int64_t row, int64_t height, float *sum)
{
    int64_t done_at[GEMM_MR];
    const VfkLinearParams *params = args->params;
    const float *scale = args->in[3], *add = args->in[4];
    const float alpha = (float)params->alpha, act_alpha = (float)params->act_alpha;
    float *c = (float *)args->out[0] + group->column;
    VfkActFn *act = vfk_act_table[params->act];
    float done[GEMM_MR * VFK_GROUP] __attribute__((aligned(64)));
    for (int64_t i = 0; i < height; i++) {
        done_at[i] = i * VFK_GROUP;
        for (int64_t j = 0; alpha != 1.0f && j < group->width; j++) {
            sum[i * VFK_GROUP + j] = sum[i * VFK_GROUP + j] * alpha + group->bias[j];
        }
    }
    if (act && !scale && !add) {
        act(sum, height, group->width, act_alpha, c, rows->c + row);
        return;
    }
    if (act) {
        act(sum, height, group->width, act_alpha, done, done_at);
    }
    for (int64_t i = 0; i < height; i++) {
        linear_store_row((act ? done : sum) + i * VFK_GROUP, scale ? scale + group->column : NULL,
                         add ? add + group->column + rows->add[row + i] : NULL,
                         c + rows->c[row + i], group->width);
    }
}

static LinearGroup linear_group_of(const VfkArgs *args, int64_t column)
{
    const VfkLinearParams *params = args->params;
    const float *bias = args->in[2];
    LinearGroup group = {.column = column, .width = vfk_min_i64(VFK_GROUP, params->n - column)};
    group.is_plain = params->act == VFK_ACT_NONE && params->alpha == 1.0 && !args->in[3];
    for (int64_t j = 0; j < VFK_GROUP; j++) {
        /* x + -0 is x, whatever x is */
        group.bias[j] = bias && j < group.width ? bias[column + j] : -0.0f;
    }
    return group;
}

/* Rows [row, row + height) of a group for a span of k; `tile` names their operands. Whole vectors
 * of rows that lie evenly need no copy of their sums. */
static void linear_tile(const VfkArgs *args, const LinearRows *rows, const LinearSpan *span,
                        const LinearGroup *group, int64_t row, int64_t height, Tile_f32 *tile)
{
    const VfkLinearParams *params = args->params;
    const float *add = args->in[4];
    float sum[GEMM_MR * VFK_GROUP] __attribute__((aligned(64)));
    float *c = (float *)args->out[0] + group->column;
    const int is_direct = rows->is_even && group->width % LANES_f32 == 0 &&
                          (group->is_plain || !span->is_last);
    const size_t bytes = (size_t)group->width * sizeof *c;
    tile->c = is_direct ? c + rows->c[row] : sum;
    tile->c_row = is_direct ? rows->c_row : VFK_GROUP;
    tile->is_more = !span->is_first;
    tile->bias = span->is_last && params->alpha == 1.0 ? group->bias : NULL;
    tile->add = is_direct && span->is_last && add ? add + group->column + rows->add[row] : NULL;
    tile->add_row = rows->add_row;
    for (int64_t i = 0; !is_direct && !span->is_first && i < height; i++) {
        memcpy(sum + i * VFK_GROUP, c + rows->c[row + i], bytes);
    }
    block_f32(height, group->width, tile);
    if (!is_direct && span->is_last) {
        linear_finish(args, group, rows, row, height, sum);
    }
    for (int64_t i = 0; !is_direct && !span->is_last && i < height; i++) {
        memcpy(c + rows->c[row + i], sum + i * VFK_GROUP, bytes);
    }
}

/* The first panel of a group from row `p` on. */
static inline const float *linear_b(const VfkArgs *args, int64_t group, int64_t p)
{
    const VfkLinearParams *params = args->params;
    return (const float *)args->in[1] + group * VFK_GROUP * params->k + p * VFK_PANEL;
}

static inline LinearNext linear_next_b(const VfkArgs *args, int64_t group, int64_t p)
{
    const int64_t k = ((const VfkLinearParams *)args->params)->k;
    const float *b = linear_b(args, group, p);
    return (LinearNext){{b, b + k * VFK_PANEL}, vfk_min_i64(GEMM_KC, k - p)};
}

static LinearNext linear_next_step(const VfkArgs *args)
{
    const int64_t bytes = ((const VfkLinearParams *)args->params)->fetch;
    const float *first = bytes > 0 ? args->in[5] : NULL;
    const int64_t lines = bytes / (2 * GEMM_PANEL_BYTES);
    return (LinearNext){{first, first + lines * VFK_PANEL}, lines};
}

/* What tile `block` of `blocks` asks for while it is worked on: its share of the lines. Weights of
 * a whole model do not stay in the caches near the processor; asked for a line at a time, they
 * come without keeping the rows of a waiting. */
static void linear_fetch(const LinearNext *next, int64_t block, int64_t blocks, Tile_f32 *tile)
{
    const int64_t line = 2 * next->lines * block / blocks, run = line >= next->lines;
    const int64_t terms = blocks * tile->k * (VFK_GROUP / (2 * LANES_f32)); /* of all tiles */
    const float *first = next->run[run] + (line - run * next->lines) * VFK_PANEL;
    tile->fetch = (const char *)first;
    tile->fetch_step = (2 * next->lines * GEMM_PANEL_BYTES + terms - 1) / terms;
}

/* Group `index` of columns over all rows of a block, for a span of k. */
static void linear_group(const VfkArgs *args, const LinearRows *rows, const LinearSpan *span,
                         int64_t index, int is_packed, const LinearNext *next)
{
    const VfkLinearParams *params = args->params;
    const LinearGroup group = linear_group_of(args, index * VFK_GROUP);
    const float *lying = (const float *)args->in[0] + rows->a[0];
    Tile_f32 tile = {.a = rows->is_tiled ? lying : args->scratch,
                     .b = linear_b(args, index, span->p),
                     .b_step = VFK_PANEL,
                     .b_panel = params->k * VFK_PANEL,
                     .k = span->k};
    const int64_t blocks = vfk_tile_blocks(rows->n);
    for (int64_t block = 0, row = 0; row < rows->n; block++) {
        const int64_t height = vfk_tile_height(rows->n, block);
        if (next->lines > 0) {
            linear_fetch(next, block, blocks, &tile);
        }
        if (!is_packed) {
            linear_pack_rows(args, rows, row, height, span);
        }
        linear_tile(args, rows, span, &group, row, height, &tile);
        tile.a += height * GEMM_STRIDE;
        row += height;
    }
}

/* Groups [begin, end) of the rows of one block; the first packs the rows, tile by tile. `next` is
 * what comes after them. */
static void linear_block(const VfkArgs *args, const LinearRows *rows, int64_t begin, int64_t end,
                         const LinearNext *next)
{
    const int64_t all = ((const VfkLinearParams *)args->params)->k;
    int64_t p = 0;
    do {
        const int64_t k = vfk_min_i64(GEMM_KC, all - p);
        const LinearSpan span = {p, k, p == 0, p + k >= all};
        const LinearNext after = span.is_last ? *next : linear_next_b(args, begin, p + k);
        for (int64_t g = begin; g < end; g++) {
            const LinearNext then = g + 1 < end ? linear_next_b(args, g + 1, p) : after;
            linear_group(args, rows, &span, g, g > begin || rows->is_tiled, &then);
        }
        p += k;
    } while (p < all);
}

/* Whole blocks are worked on together while their rows fit: b is then read once for all. */
void VFK_FN(linear, f32)(const VfkArgs *args)
{
    const VfkLinearParams *params = args->params;
    const int64_t all = vfk_linear_rows(params), each = vfk_linear_block_rows(params);
    const int64_t groups = vfk_linear_groups(params);
    for (int64_t u = args->begin, end; u < args->end; u = end) {
        const int64_t block = u / groups, group = u % groups, first = block * each;
        const int64_t whole = group == 0 ? (args->end - u) / groups : 0;
        const int64_t blocks = vfk_max_i64(1, vfk_min_i64(whole, GEMM_MC / each));
        end = vfk_min_i64(args->end, (block + blocks) * groups);
        const LinearRows rows =
            linear_rows_of(params, first, vfk_min_i64(blocks * each, all - first));
        const LinearNext next = end < args->end ? linear_next_b(args, end % groups, 0)
                                                : linear_next_step(args);
        linear_block(args, &rows, group, whole > 0 ? groups : group + end - u, &next);
    }
}
