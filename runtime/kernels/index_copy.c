#include "runtime/kernels/variant.h"
#include "runtime/kernels/walk.h"

/* The source offset of row `unit`, or VFK_INDEX_FILL: the sum of the table entries of all axes
 * but the last. `*last` is the table of the last axis. */
static int64_t row_offset(const VfkIndexCopyParams *params, const int64_t *table, int64_t unit,
                          const int64_t **last)
{
    int64_t start[VFK_MAX_RANK] = {0}, offset = 0;
    int fill = 0;
    for (int64_t axis = params->rank - 1, at = 0; axis >= 0; axis--) {
        start[axis] = at;
        at += params->dim[axis];
    }
    for (int64_t axis = params->rank - 2; axis >= 0; axis--) {
        int64_t entry = table[start[axis] + unit % params->dim[axis]];
        unit /= params->dim[axis];
        fill |= entry == VFK_INDEX_FILL;
        offset += entry == VFK_INDEX_FILL ? 0 : entry;
    }
    *last = table;
    return fill ? VFK_INDEX_FILL : offset;
}

#define INDEX_COPY(dtype, T) \
    void VFK_FN(index_copy, dtype)(const VfkArgs *args) \
    { \
        const VfkIndexCopyParams *params = args->params; \
        const T *src = args->in[0], *fill = args->in[2]; \
        const T zero = {0}, filler = fill ? *fill : zero; \
        const int64_t n = params->dim[params->rank - 1]; \
        for (int64_t u = args->begin; u < args->end && n > 0; u++) { \
            T *dst = (T *)args->out[0] + u * n; \
            const int64_t *last; \
            int64_t base = row_offset(params, args->in[1], u, &last); \
            for (int64_t i = 0; i < n; i++) { \
                int outside = base == VFK_INDEX_FILL || last[i] == VFK_INDEX_FILL; \
                dst[i] = outside ? filler : src[base + last[i]]; \
            } \
        } \
    }

INDEX_COPY(b1, uint8_t)
INDEX_COPY(b2, uint16_t)
INDEX_COPY(b4, uint32_t)
INDEX_COPY(b8, uint64_t)
INDEX_COPY(b16, VfkWide)
