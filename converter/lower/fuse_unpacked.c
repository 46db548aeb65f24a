/* Rows that lie where the tiles of a product read them, so that it does not copy them.
 *
 * Before    a value of rows of nearly GEMM_KC elements, one after the other; linear_f32 of it,
 *           which copies the rows to the stride of its tiles
 * After     the value has rows GEMM_STRIDE apart: who writes them leaves gaps, linear_f32 reads
 *           them where they are (linear.h)
 * Why valid the elements and the order of all sums are the same; nobody reads a gap
 * Requires  only products with a constant matrix read the value, all of it as rows of one width;
 *           who writes it takes strides
 * Exactness bits equal
 * Limits    rows of 7/8 GEMM_STRIDE and more: shorter ones would take more memory than they save
 *           time; longer ones are read in spans
 */
#include <string.h>

#include "converter/lower/fuse.h"
#include "converter/lower/fuse_axes.h"
#include "runtime/base/size.h"
#include "runtime/kernels/attention.h"
#include "runtime/kernels/linear.h"

enum { LEAST_WIDTH = GEMM_STRIDE / 8 * 7 };

/* A copy of the params of a step. */
typedef union Params {
    VfkLinearParams linear;
    VfkAttentionParams attention;
} Params;

/* Strides of an operand or result moved as the map says; false if there are none for it. */
typedef bool MoveFn(Params *params, const VfFuseMap *map);

typedef struct MoveRow {
    const char *op;
    size_t bytes; /* of its params */
    MoveFn *fn;
} MoveRow;

/* --- what strides are --- */

/* The stride of an axis of one element counts for nothing, but is moved as that of a longer one
 * would be: plans of several batches then differ as little as they can. */
static int64_t move_single(const VfFuseMap *map, int64_t step)
{
    return step % map->dim[1] == 0 ? step / map->dim[1] * GEMM_STRIDE : step;
}

static bool move_steps(const VfFuseMap *map, int64_t rank, const int64_t *dim, int64_t *step)
{
    for (int64_t i = 0; i < rank; i++)
        if (dim[i] == 1)
            step[i] = move_single(map, step[i]);
        else if (!vf_fuse_carry(map, step[i], dim[i], &step[i]))
            return false;
    return true;
}

/* `n` contiguous elements stay so. */
static bool stays_contiguous(const VfFuseMap *map, int64_t n)
{
    int64_t step;
    return vf_fuse_carry(map, 1, n, &step) && (n == 1 || step == 1);
}

static bool move_rows(Params *params, const VfFuseMap *map)
{
    VfkLinearParams *p = &params->linear;
    return !p->norms && p->a_col == 1 && p->k == map->dim[1] &&
           move_steps(map, p->rank, p->dim, p->a_step);
}

static bool move_linear(Params *params, const VfFuseMap *map)
{
    VfkLinearParams *p = &params->linear;
    return stays_contiguous(map, p->n) && move_steps(map, p->rank, p->dim, p->c_step);
}

static bool move_attention(Params *params, const VfFuseMap *map)
{
    VfkAttentionParams *p = &params->attention;
    return stays_contiguous(map, p->dv) && move_steps(map, 1, &p->m, &p->out_row) &&
           move_steps(map, p->batch_rank, p->batch_dim, p->out_batch);
}

static const MoveRow reader_row = {"linear", sizeof(VfkLinearParams), move_rows};

static const MoveRow writer_table[] = {
    {"linear", sizeof(VfkLinearParams), move_linear},
    {"attention", sizeof(VfkAttentionParams), move_attention},
};

static const MoveRow *writer_row(const VfLowStep *step)
{
    for (size_t i = 0; i < sizeof writer_table / sizeof *writer_table; i++)
        if (vf_fuse_is(step, writer_table[i].op) && vf_fuse_dtype(step) == VF_F32)
            return &writer_table[i];
    return NULL;
}

/* --- who reads and writes --- */

/* A value is tried once, for all who read it. */
static bool is_first_reader(const VfFuse *fuse, int32_t buffer, int32_t at)
{
    for (const VfFuseUse *use = fuse->reader[buffer]; use != NULL; use = use->next)
        if (use->step < at)
            return false;
    return true;
}

static bool can_move(const VfLowStep *step, VfLowRef ref, const MoveRow *row, const VfFuseMap *map)
{
    Params params;
    if (row == NULL || ref.offset != 0)
        return false;
    memcpy(&params, step->params, row->bytes);
    return row->fn(&params, map);
}

static bool can_read(const VfLowStep *step, int32_t buffer, const VfFuseMap *map)
{
    return vf_fuse_is(step, reader_row.op) && vf_fuse_count(step->in, step->n_in, buffer) == 1 &&
           step->in[0].buffer == buffer && can_move(step, step->in[0], &reader_row, map);
}

static bool can_write(const VfLowStep *step, int32_t buffer, const VfFuseMap *map)
{
    return vf_fuse_count(step->out, step->n_out, buffer) == 1 && step->out[0].buffer == buffer &&
           can_move(step, step->out[0], writer_row(step), map);
}

static bool can_all(const VfFuse *fuse, int32_t buffer, const VfFuseMap *map)
{
    for (const VfFuseUse *use = fuse->reader[buffer]; use != NULL; use = use->next)
        if (!can_read(&fuse->cx->step[use->step], buffer, map))
            return false;
    for (const VfFuseUse *use = fuse->writer[buffer]; use != NULL; use = use->next)
        if (!can_write(&fuse->cx->step[use->step], buffer, map))
            return false;
    return true;
}

static VfStatus move(VfFuse *fuse, int32_t at, const MoveRow *row, const VfFuseMap *map,
                     VfErr *err)
{
    VfLowStep *step = &fuse->cx->step[at];
    Params *params = VF_NEW(fuse->cx->arena, Params);
    VF_TRY_ALLOC(params, err);
    memcpy(params, step->params, row->bytes);
    if (!row->fn(params, map))
        return vf_fail(err, VF_INTERNAL, "strides that could be moved cannot");
    step->params = params;
    return VF_OK;
}

static VfStatus move_all(VfFuse *fuse, int32_t buffer, const VfFuseMap *map, VfErr *err)
{
    for (const VfFuseUse *use = fuse->reader[buffer]; use != NULL; use = use->next)
        VF_TRY(move(fuse, use->step, &reader_row, map, err));
    for (const VfFuseUse *use = fuse->writer[buffer]; use != NULL; use = use->next)
        VF_TRY(move(fuse, use->step, writer_row(&fuse->cx->step[use->step]), map, err));
    return VF_OK;
}

/* Rows of `width` in all of the buffer, GEMM_STRIDE apart. */
static VfStatus unpack(VfFuse *fuse, int32_t buffer, int64_t width, VfErr *err)
{
    VfLowBuffer *b = &fuse->cx->buffer[buffer];
    size_t row_bytes = (size_t)width * sizeof(float), rows = b->bytes / row_bytes, bytes;
    VfFuseMap map = {2, (int64_t[]){(int64_t)rows, width}, (int64_t[]){width, 1},
                     (int64_t[]){GEMM_STRIDE, 1}};
    if (rows < 1 || b->bytes % row_bytes != 0 ||
        !vf_size_mul(rows, GEMM_STRIDE * sizeof(float), &bytes) || !can_all(fuse, buffer, &map))
        return VF_OK;
    b->bytes = bytes;
    return move_all(fuse, buffer, &map, err);
}

VfStatus vf_fuse_unpacked(VfFuse *fuse, int32_t at, VfErr *err)
{
    const VfLowStep *step = &fuse->cx->step[at];
    if (!vf_fuse_is(step, reader_row.op))
        return VF_OK;
    const VfkLinearParams *p = step->params;
    const VfLowBuffer *b = &fuse->cx->buffer[step->in[0].buffer];
    if (b->space != VF_SPACE_ARENA || b->is_kept || p->k > GEMM_KC || p->k < LEAST_WIDTH ||
        !is_first_reader(fuse, step->in[0].buffer, at))
        return VF_OK;
    return unpack(fuse, step->in[0].buffer, p->k, err);
}
