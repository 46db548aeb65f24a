#include "runtime/kernels/index.h"
#include "runtime/kernels/variant.h"
#include "runtime/kernels/walk.h"

/* `inner` elements of `bytes` from element `at` of data, or zeros if `at` is negative: an index was
 * out of range. */
static void take(void *out, const void *data, int64_t at, int64_t inner, int64_t bytes)
{
    if (inner == 0) {
        return;
    }
    if (at < 0) {
        memset(out, 0, (size_t)(inner * bytes));
    } else {
        memcpy(out, (const char *)data + at * bytes, (size_t)(inner * bytes));
    }
}

static void gather(const VfkArgs *args, int64_t bytes)
{
    const VfkGatherParams *params = args->params;
    const int64_t inner = params->inner;
    for (int64_t u = args->begin; u < args->end; u++) {
        int64_t at = vfk_index_find(args, params->index_bytes, u % params->n_index,
                                    params->axis_dim);
        at = at < 0 ? -1 : (u / params->n_index * params->axis_dim + at) * inner;
        take((char *)args->out[0] + u * inner * bytes, args->in[0], at, inner, bytes);
    }
}

/* The element offset in data that tuple `tuple` names, or -1. */
static int64_t tuple_offset(const VfkArgs *args, int64_t tuple)
{
    const VfkGatherNdParams *params = args->params;
    int64_t offset = tuple / params->n_tuple * params->batch_stride;
    for (int64_t j = 0; j < params->depth; j++) {
        int64_t at = vfk_index_find(args, params->index_bytes, tuple * params->depth + j,
                                    params->dim[j]);
        if (at < 0) {
            return -1;
        }
        offset += at * params->stride[j];
    }
    return offset;
}

static void gather_nd(const VfkArgs *args, int64_t bytes)
{
    const VfkGatherNdParams *params = args->params;
    for (int64_t u = args->begin; u < args->end; u++) {
        take((char *)args->out[0] + u * params->inner * bytes, args->in[0],
             tuple_offset(args, u), params->inner, bytes);
    }
}

static void gather_elements(const VfkArgs *args, int64_t bytes)
{
    const VfkGatherElementsParams *params = args->params;
    VfkWalk walk = {.rank = params->rank,
                    .dim = params->dim,
                    .stride = {params->data_stride, NULL, NULL}};
    vfk_walk_seek(&walk, args->begin);
    const int64_t axis = params->axis, stride = params->data_stride[axis];
    for (int64_t u = args->begin; u < args->end; u++) {
        int64_t at = vfk_index_find(args, params->index_bytes, u, params->axis_dim);
        at = at < 0 ? -1 : walk.offset[0] + (at - walk.index[axis]) * stride;
        take((char *)args->out[0] + u * bytes, args->in[0], at, 1, bytes);
        vfk_walk_next(&walk, params->rank - 1);
    }
}

/* The bytes are a constant in each kernel, so that the copies of one element are inlined. */
#define GATHER(dtype, bytes) \
    void VFK_FN(gather, dtype)(const VfkArgs *args) \
    { \
        gather(args, bytes); \
    } \
    void VFK_FN(gather_nd, dtype)(const VfkArgs *args) \
    { \
        gather_nd(args, bytes); \
    } \
    void VFK_FN(gather_elements, dtype)(const VfkArgs *args) \
    { \
        gather_elements(args, bytes); \
    }

GATHER(b1, 1)
GATHER(b2, 2)
GATHER(b4, 4)
GATHER(b8, 8)
GATHER(b16, 16)
