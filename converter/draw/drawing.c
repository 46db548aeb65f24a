#include "converter/draw/drawing.h"

#include <assert.h>

VfDrawing *vf_drawing_new(VfArena *arena, VfBytes title)
{
    VfDrawing *drawing = VF_NEW(arena, VfDrawing);
    if (drawing == NULL)
        return NULL;
    drawing->arena = arena;
    drawing->title = (VfBytes){vf_arena_copy(arena, title.data, title.size), title.size};
    return drawing->title.data == NULL ? NULL : drawing;
}

static VfStatus copy(VfDrawing *drawing, VfBytes *bytes, VfErr *err)
{
    const char *data = vf_arena_copy(drawing->arena, bytes->data, bytes->size);
    VF_TRY_ALLOC(data, err);
    bytes->data = data;
    return VF_OK;
}

VfStatus vf_drawing_add_box(VfDrawing *drawing, const VfDrawBox *box, int32_t *index, VfErr *err)
{
    assert(box->group >= -1 && box->group < drawing->n_group);
    void *items = drawing->box;
    VF_TRY(vf_arena_grow(drawing->arena, &items, &drawing->box_capacity,
                         (size_t)drawing->n_box + 1, sizeof *box, err));
    drawing->box = items;
    VfDrawBox *added = &drawing->box[drawing->n_box];
    *added = *box;
    VF_TRY(copy(drawing, &added->tip, err));
    VfBytes *line = VF_NEW_ARRAY(drawing->arena, VfBytes, (size_t)box->n_line);
    VF_TRY_ALLOC(line, err);
    for (int32_t i = 0; i < box->n_line; i++) {
        line[i] = box->line[i];
        VF_TRY(copy(drawing, &line[i], err));
    }
    added->line = line;
    if (index != NULL)
        *index = drawing->n_box;
    drawing->n_box++;
    return VF_OK;
}

VfStatus vf_drawing_add_arrow(VfDrawing *drawing, const VfDrawArrow *arrow, VfErr *err)
{
    assert(arrow->from >= 0 && arrow->from < drawing->n_box);
    assert(arrow->to >= 0 && arrow->to < drawing->n_box);
    void *items = drawing->arrow;
    VF_TRY(vf_arena_grow(drawing->arena, &items, &drawing->arrow_capacity,
                         (size_t)drawing->n_arrow + 1, sizeof *arrow, err));
    drawing->arrow = items;
    drawing->arrow[drawing->n_arrow] = *arrow;
    VF_TRY(copy(drawing, &drawing->arrow[drawing->n_arrow].label, err));
    drawing->n_arrow++;
    return VF_OK;
}

VfStatus vf_drawing_add_group(VfDrawing *drawing, VfBytes label, int32_t parent, int32_t *index,
                              VfErr *err)
{
    assert(parent >= -1 && parent < drawing->n_group);
    void *items = drawing->group;
    VF_TRY(vf_arena_grow(drawing->arena, &items, &drawing->group_capacity,
                         (size_t)drawing->n_group + 1, sizeof *drawing->group, err));
    drawing->group = items;
    VF_TRY(copy(drawing, &label, err));
    drawing->group[drawing->n_group] = (VfDrawGroup){label, parent};
    if (index != NULL)
        *index = drawing->n_group;
    drawing->n_group++;
    return VF_OK;
}
