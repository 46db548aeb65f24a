#include "converter/report/diff.h"

#include <inttypes.h>
#include <string.h>

#include "converter/report/diff_private.h"
#include "passes/ir/equal.h"
#include "passes/ir/equal_private.h"
#include "passes/ir/vft_print.h"

VfStatus vf_diff_add_part(VfArena *arena, VfDiffParts *parts, VfDiffPart part, VfErr *err)
{
    VF_TRY(vf_arena_grow(arena, (void **)&parts->part, &parts->capacity, parts->n + 1,
                         sizeof *parts->part, err));
    parts->part[parts->n++] = part;
    return VF_OK;
}

VfStatus vf_diff_text_part(VfDiff *diff, VfDiffParts *parts, const char *what, VfBytes key,
                           VfBytes a, VfBytes b, VfErr *err)
{
    if (vf_bytes_is_equal(a, b))
        return VF_OK;
    VfBytes none = {NULL, 0};
    VfDiffPart part = {what, key, a.size == 0 ? none : a, b.size == 0 ? none : b};
    return vf_diff_add_part(diff->arena, parts, part, err);
}

VfStatus vf_diff_number(VfArena *arena, int64_t number, VfBytes *out, VfErr *err)
{
    const char *text = vf_arena_printf(arena, "%" PRId64, number);
    VF_TRY_ALLOC(text, err);
    *out = vf_bytes(text);
    return VF_OK;
}

VfStatus vf_diff_type(VfArena *arena, const VfModel *model, const VfType *type, VfBytes *out,
                      VfErr *err)
{
    const char *text = vf_type_text(arena, model->symbols, type);
    VF_TRY_ALLOC(text, err);
    *out = vf_bytes(text);
    return VF_OK;
}

VfStatus vf_diff_constant(VfArena *arena, const VfTensor *tensor, VfBytes *out, VfErr *err)
{
    VfText text;
    vf_text_init(&text, arena);
    VfVftPrint print = {.text = &text, .one_line = true};
    vf_vft_print_tensor(&print, tensor);
    return vf_text_get(&text, out, err);
}

/* --- metadata --- */

/* Entries of one list that are missing or otherwise in the other; equal keys go by their order. */
static VfStatus meta_side(VfDiff *diff, VfDiffParts *parts, const char *what, VfBytes key,
                          const VfMeta *from, const VfMeta *to, bool is_back, VfErr *err)
{
    VfIntern *seen = vf_intern_new(diff->arena);
    VfBytes *value = NULL;
    size_t capacity = 0;
    VF_TRY_ALLOC(seen, err);
    for (; to != NULL; to = to->next) {
        int32_t id, n = vf_intern_count(seen);
        VF_TRY(vf_intern_add(seen, to->key, &id, err));
        VF_TRY(vf_arena_grow(diff->arena, (void **)&value, &capacity, (size_t)id + 1,
                             sizeof *value, err));
        if (id == n)
            value[id] = to->value;
    }
    for (; from != NULL; from = from->next) {
        int32_t id = vf_intern_find(seen, from->key);
        VfDiffPart part = {.what = what, .key = key.size > 0 ? key : from->key};
        *(is_back ? &part.b : &part.a) = from->value;
        if (id >= 0)
            part.b = value[id];
        if (id < 0 || (!is_back && !vf_bytes_is_equal(from->value, value[id])))
            VF_TRY(vf_diff_add_part(diff->arena, parts, part, err));
    }
    return VF_OK;
}

VfStatus vf_diff_meta(VfDiff *diff, VfDiffParts *parts, const char *what, VfBytes key,
                      const VfMeta *a, const VfMeta *b, VfErr *err)
{
    if (vf_equal_meta(a, b))
        return VF_OK;
    VF_TRY(meta_side(diff, parts, what, key, a, b, false, err));
    return meta_side(diff, parts, what, key, b, a, true, err);
}

/* --- the whole --- */

static VfStatus find_all(VfDiff *diff, VfErr *err)
{
    VfErr why = {0};
    VF_TRY(vf_diff_facts(diff, err));
    VF_TRY(vf_diff_operators(diff, err));
    VF_TRY(vf_diff_nodes(diff, err));
    VF_TRY(vf_diff_weights(diff, err));
    VF_TRY(vf_diff_hunks(diff, err));
    if (!vf_diff_is_empty(diff) || vf_model_is_equal(diff->align->a, diff->align->b, &why))
        return VF_OK;
    if (why.status == VF_NO_MEMORY)
        return vf_no_memory(err);
    const char *text = vf_arena_string(diff->arena, why.text);
    VF_TRY_ALLOC(text, err);
    return vf_diff_add_part(diff->arena, &diff->facts,
                            (VfDiffPart){"other", vf_bytes(text), {NULL, 0}, {NULL, 0}}, err);
}

VfStatus vf_diff_models(VfArena *arena, const VfModel *a, const VfModel *b, VfDiff **result,
                        VfErr *err)
{
    VfAlign *align;
    VfDiff *diff = VF_NEW(arena, VfDiff);
    VF_TRY_ALLOC(diff, err);
    VF_TRY(vf_align(arena, a, b, &align, err));
    diff->arena = arena;
    diff->align = align;
    VF_TRY(find_all(diff, err));
    *result = diff;
    return VF_OK;
}

bool vf_diff_is_empty(const VfDiff *diff)
{
    return diff->facts.n == 0 && diff->notes.n == 0 && diff->n_node == 0 && diff->n_weight == 0;
}

const char *vf_diff_kind_name(VfDiffKind kind)
{
    static const char *const name[] = {"removed", "added", "changed"};
    return name[kind];
}
