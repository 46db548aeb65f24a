#include "converter/draw/nest.h"

static int32_t *new_list(VfArena *arena, int32_t n)
{
    int32_t *list = VF_NEW_ARRAY(arena, int32_t, (size_t)n);
    for (int32_t i = 0; list != NULL && i < n; i++)
        list[i] = -1;
    return list;
}

VfStatus vf_draw_nest(const VfDrawing *drawing, VfDrawNest *nest, VfErr *err)
{
    int32_t n_head = drawing->n_group + 1;
    nest->first_box = new_list(drawing->arena, n_head);
    nest->next_box = new_list(drawing->arena, drawing->n_box);
    nest->first_group = new_list(drawing->arena, n_head);
    nest->next_group = new_list(drawing->arena, drawing->n_group);
    if (nest->first_box == NULL || nest->next_box == NULL || nest->first_group == NULL ||
        nest->next_group == NULL)
        return vf_no_memory(err);
    for (int32_t i = drawing->n_box - 1; i >= 0; i--) {
        int32_t *first = &nest->first_box[drawing->box[i].group + 1];
        nest->next_box[i] = *first;
        *first = i;
    }
    for (int32_t i = drawing->n_group - 1; i >= 0; i--) {
        int32_t *first = &nest->first_group[drawing->group[i].parent + 1];
        nest->next_group[i] = *first;
        *first = i;
    }
    return VF_OK;
}
