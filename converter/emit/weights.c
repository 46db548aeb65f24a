#include "converter/emit/weights.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/size.h"
#include "runtime/kernels/half.h"

enum { ALIGN = 64, CHUNK = 1024 };

static uint64_t add_digest(uint64_t hash, const unsigned char *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ data[i]) * 0x100000001b3u;
    return hash;
}

static const uint64_t empty_digest = 0xcbf29ce484222325u;

/* --- equal tensors --- */

typedef struct Candidate {
    size_t bytes;
    uint64_t hash;
    int32_t index;
} Candidate;

static int by_content(const void *a, const void *b)
{
    const Candidate *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? -1 : 1;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static bool is_same(const VfPlanTensor *a, const VfPlanTensor *b)
{
    bool is_float = a->dtype == VF_F32;
    return a->bytes == b->bytes && is_float == (b->dtype == VF_F32) &&
           (a->bytes == 0 || memcmp(a->data, b->data, a->bytes) == 0);
}

static VfStatus find_same(VfEmitWeights *weights, VfArena *arena, VfErr *err)
{
    size_t n = (size_t)weights->n;
    Candidate *candidate = VF_NEW_ARRAY(arena, Candidate, n);
    VF_TRY_ALLOC(candidate, err);
    for (size_t i = 0; i < n; i++) {
        const VfPlanTensor *tensor = weights->weight[i].tensor;
        candidate[i] = (Candidate){tensor->bytes,
                                   add_digest(empty_digest, tensor->data, tensor->bytes),
                                   (int32_t)i};
    }
    qsort(candidate, n, sizeof *candidate, by_content);
    for (size_t i = 1; i < n; i++) {
        VfEmitWeight *w = &weights->weight[candidate[i].index];
        int32_t before = weights->weight[candidate[i - 1].index].same;
        if (is_same(weights->weight[before].tensor, w->tensor))
            w->same = before;
    }
    return VF_OK;
}

/* --- narrow weights --- */

static uint16_t narrow(VfEmitDtype dtype, float x)
{
    return dtype == VF_EMIT_F16 ? vfk_f32_to_f16(x) : vfk_f32_to_bf16(x);
}

static float widen(VfEmitDtype dtype, uint16_t x)
{
    return dtype == VF_EMIT_F16 ? vfk_f16_to_f32(x) : vfk_bf16_to_f32(x);
}

/* Decide whether `w` may be narrow and note its error. */
static void measure(VfEmitWeights *weights, VfEmitWeight *w)
{
    const float *x = w->tensor->data;
    size_t n = w->tensor->bytes / sizeof *x;
    double error = 0, most = 0;
    for (size_t i = 0; i < n; i++) {
        double was = (double)x[i], is = (double)widen(weights->dtype, narrow(weights->dtype, x[i]));
        if (isfinite(was) && !isfinite(is)) {
            weights->n_too_large++;
            return;
        }
        if (isfinite(was)) {
            error = fmax(error, fabs(was - is));
            most = fmax(most, fabs(was));
        }
    }
    w->is_narrow = true;
    weights->n_narrow++;
    weights->error = fmax(weights->error, error);
    if (most > 0 && error / most > weights->relative_error) {
        weights->relative_error = error / most;
        weights->worst = w->tensor->name;
    }
}

/* --- layout --- */

static VfStatus put_digest(void *user, const void *data, size_t size, VfErr *err)
{
    uint64_t *hash = user;
    (void)err;
    *hash = add_digest(*hash, data, size);
    return VF_OK;
}

static VfStatus place(VfEmitWeights *weights, VfErr *err)
{
    for (int32_t i = 0; i < weights->n; i++) {
        VfEmitWeight *w = &weights->weight[i], *first = &weights->weight[w->same];
        if (w->same != i) {
            w->offset = first->offset;
            continue;
        }
        size_t bytes = w->tensor->bytes, stored = w->is_narrow ? bytes / 2 : bytes;
        w->offset = weights->bytes;
        w->file_offset = weights->file_bytes;
        weights->n_stored++;
        if (!vf_size_add(weights->bytes, bytes, &weights->bytes) ||
            !vf_size_align(weights->bytes, ALIGN, &weights->bytes) ||
            !vf_size_align(weights->file_bytes + stored, ALIGN, &weights->file_bytes))
            return vf_fail(err, VF_UNSUPPORTED, "the weights are larger than the address space");
    }
    /* Empty tensors have an address, too. */
    if (weights->n > 0 && weights->bytes == 0)
        weights->bytes = weights->file_bytes = ALIGN;
    return VF_OK;
}

VfStatus vf_emit_weights_init(VfEmitWeights *weights, const VfPlanTensor *tensor, int32_t n,
                              VfEmitDtype dtype, VfArena *arena, VfErr *err)
{
    *weights = (VfEmitWeights){.n = n, .dtype = dtype, .digest = empty_digest};
    weights->weight = VF_NEW_ARRAY(arena, VfEmitWeight, (size_t)n);
    VF_TRY_ALLOC(weights->weight, err);
    for (int32_t i = 0; i < n; i++)
        weights->weight[i] = (VfEmitWeight){.tensor = &tensor[i], .same = i};
    VF_TRY(find_same(weights, arena, err));
    for (int32_t i = 0; i < n && dtype != VF_EMIT_F32; i++)
        if (weights->weight[i].same == i && tensor[i].dtype == VF_F32)
            measure(weights, &weights->weight[i]);
    VF_TRY(place(weights, err));
    return vf_emit_weights_memory(weights, put_digest, &weights->digest, err);
}

/* --- bytes --- */

static VfStatus put_zeros(VfEmitPutFn *put, void *user, size_t n, VfErr *err)
{
    static const char zeros[ALIGN];
    return n == 0 ? VF_OK : put(user, zeros, n, err);
}

/* A narrow weight: as it is stored, or as it is after loading. */
static VfStatus put_narrow(const VfEmitWeights *weights, const VfEmitWeight *w, bool is_stored,
                           VfEmitPutFn *put, void *user, VfErr *err)
{
    const float *x = w->tensor->data;
    size_t n = w->tensor->bytes / sizeof *x;
    uint16_t small[CHUNK];
    float large[CHUNK];
    for (size_t i = 0; i < n; i += CHUNK) {
        size_t m = n - i < CHUNK ? n - i : CHUNK;
        for (size_t k = 0; k < m; k++) {
            small[k] = narrow(weights->dtype, x[i + k]);
            large[k] = widen(weights->dtype, small[k]);
        }
        if (is_stored)
            VF_TRY(put(user, small, m * sizeof *small, err));
        else
            VF_TRY(put(user, large, m * sizeof *large, err));
    }
    return VF_OK;
}

static VfStatus put_all(const VfEmitWeights *weights, bool is_stored, VfEmitPutFn *put, void *user,
                        VfErr *err)
{
    size_t at = 0, end = is_stored ? weights->file_bytes : weights->bytes;
    for (int32_t i = 0; i < weights->n; i++) {
        const VfEmitWeight *w = &weights->weight[i];
        size_t bytes = w->tensor->bytes;
        if (w->same != i)
            continue;
        VF_TRY(put_zeros(put, user, (is_stored ? w->file_offset : w->offset) - at, err));
        at = is_stored ? w->file_offset : w->offset;
        at += is_stored && w->is_narrow ? bytes / 2 : bytes;
        if (w->is_narrow)
            VF_TRY(put_narrow(weights, w, is_stored, put, user, err));
        else if (bytes > 0)
            VF_TRY(put(user, w->tensor->data, bytes, err));
    }
    return put_zeros(put, user, end - at, err);
}

VfStatus vf_emit_weights_memory(const VfEmitWeights *weights, VfEmitPutFn *put, void *user,
                                VfErr *err)
{
    return put_all(weights, false, put, user, err);
}

VfStatus vf_emit_weights_file(const VfEmitWeights *weights, VfEmitPutFn *put, void *user,
                              VfErr *err)
{
    return put_all(weights, true, put, user, err);
}
