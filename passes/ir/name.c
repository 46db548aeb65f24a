#include "passes/ir/graph.h"
#include "runtime/base/text.h"

/* The last suffix tried for the name numbered `id`: a cell that stays until the table grows. */
static VfStatus find_suffix(VfModel *model, int32_t id, int32_t **suffix, VfErr *err)
{
    VF_TRY(vf_arena_grow(model->arena, (void **)&model->name_suffix, &model->suffix_capacity,
                         (size_t)id + 1, sizeof *model->name_suffix, err));
    *suffix = &model->name_suffix[id];
    return VF_OK;
}

static VfStatus with_suffix(VfModel *model, VfBytes base, int32_t suffix, VfBytes *out, VfErr *err)
{
    VfText text;
    vf_text_init(&text, model->arena);
    vf_text_add(&text, base.data, base.size);
    vf_text_printf(&text, "_%d", (int)suffix);
    return vf_text_get(&text, out, err);
}

/* Store the name in the table; `is_new` tells whether it was free. */
static VfStatus claim(VfModel *model, VfBytes *name, bool *is_new, int32_t *id, VfErr *err)
{
    int32_t count = vf_intern_count(model->name);
    VF_TRY(vf_intern_add(model->name, *name, id, err));
    *is_new = *id == count;
    *name = vf_intern_get(model->name, *id);
    return VF_OK;
}

VfStatus vf_model_fresh_name(VfModel *model, VfBytes base, VfBytes *out, VfErr *err)
{
    VfBytes name = base.size != 0 ? base : vf_bytes("value");
    int32_t id, ignored, *suffix;
    bool is_new;
    VF_TRY(claim(model, &name, &is_new, &id, err));
    VfBytes stem = name;
    while (!is_new) {
        VF_TRY(find_suffix(model, id, &suffix, err));
        *suffix = *suffix == 0 ? 2 : *suffix + 1;
        VF_TRY(with_suffix(model, stem, *suffix, &name, err));
        VF_TRY(claim(model, &name, &is_new, &ignored, err));
    }
    *out = name;
    return VF_OK;
}
