#include "converter/lower/fuse_pack.h"

#include <string.h>

#include "runtime/base/file.h"

enum { ALIGNED_BYTES = 256 }; /* from here on memory of an arena is 64-byte aligned */

static bool is_same(const VfFusePack *a, const VfFusePack *b)
{
    return vf_fuse_is_same(a->b, b->b) && memcmp(&a->p, &b->p, sizeof a->p) == 0;
}

/* The panels of the matrix in memory of the plan. */
static VfStatus make_panels(VfFuse *fuse, const VfFusePack *pack, size_t bytes, void **out,
                            VfErr *err)
{
    const VfkKernel *kernel = vfk_kernel_find("pack_f32", VFK_BEST);
    const void *data = vf_fuse_data(fuse, pack->b), *in[1];
    const VfkPackParams *p = &pack->p;
    /* From the first to the last element. */
    size_t span = (size_t)((p->k - 1) * p->row + (p->n - 1) * p->col + 1) * sizeof(float);
    VF_TRY(vf_low_aligned(fuse->cx, data, span, sizeof(float), &in[0], err));
    *out = vf_arena_alloc(fuse->cx->arena, bytes < ALIGNED_BYTES ? ALIGNED_BYTES : bytes);
    VF_TRY_ALLOC(*out, err);
    VfkArgs args = {.in = in, .out = out, .params = p, .end = vfk_pack_units(p)};
    kernel->fn(&args);
    if (fuse->cx->buffer[pack->b.buffer].is_mapped)
        vf_file_release(data, span);
    return VF_OK;
}

VfStatus vf_fuse_pack(VfFuse *fuse, const VfFusePack *pack, VfLowRef *ref, VfErr *err)
{
    VfLower *cx = fuse->cx;
    for (size_t i = 0; i < fuse->n_pack; i++)
        if (is_same(&fuse->pack[i], pack)) {
            *ref = (VfLowRef){fuse->pack[i].buffer, 0};
            return VF_OK;
        }
    VF_TRY(vf_arena_grow(cx->arena, (void **)&fuse->pack, &fuse->cap_pack, fuse->n_pack + 1,
                         sizeof *fuse->pack, err));
    const VfPlanTensor *from = &cx->weight[cx->buffer[pack->b.buffer].index];
    int64_t panels = vfk_pack_units(&pack->p);
    int64_t *dims = VF_NEW_ARRAY(cx->arena, int64_t, 3);
    VF_TRY_ALLOC(dims, err);
    memcpy(dims, (int64_t[]){panels, pack->p.k, VFK_PANEL}, 3 * sizeof *dims);
    VfPlanTensor made = {.name = from->name, .dtype = VF_F32, .rank = 3, .dims = dims,
                         .bytes = (size_t)vfk_packed_elements(pack->p.k, pack->p.n) * 4,
                         .is_made = true};
    void *data;
    VF_TRY(make_panels(fuse, pack, made.bytes, &data, err));
    made.data = data;
    VfFusePack *own = &fuse->pack[fuse->n_pack];
    *own = *pack;
    VF_TRY(vf_low_add_weight(cx, &made, &own->buffer, err));
    fuse->n_pack++;
    *ref = (VfLowRef){own->buffer, 0};
    return VF_OK;
}
