#include "converter/draw/layout.h"

#include <string.h>

#include "converter/draw/graphviz.h"
#include "converter/draw/words.h"

static VfStatus check_size(const VfDrawing *drawing, VfErr *err)
{
    const struct {
        int32_t n, most;
        const char *what;
    } limit[] = {
        {drawing->n_box, VF_DRAW_BOX_MAX, "boxes"},
        {drawing->n_arrow, VF_DRAW_ARROW_MAX, "arrows"},
        {drawing->n_group, VF_DRAW_GROUP_MAX, "groups"},
    };
    for (size_t i = 0; i < sizeof limit / sizeof limit[0]; i++)
        if (limit[i].n > limit[i].most)
            return vf_fail(err, VF_UNSUPPORTED, "cannot draw %d %s in one drawing: at most %d",
                           limit[i].n, limit[i].what, limit[i].most);
    return VF_OK;
}

static size_t points_bytes(const VfDrawCurve *curve)
{
    return (size_t)curve->n * sizeof *curve->point;
}

/* --- the request: the sketch, then its arrays --- */

/* Words as wide as these, with some room around them; nothing for nothing. */
static int32_t columns_of(VfBytes words)
{
    enum { COLUMNS_MAX = 255 };
    size_t n = words.size == 0 ? 0 : vf_visible_width(words) + 2;
    return n < COLUMNS_MAX ? (int32_t)n : COLUMNS_MAX;
}

/* Of a joint with a sign in it, and of one without. */
enum { JOINT_SIZE = 18, DOT_SIZE = 7 };

static double width_of(const VfDrawBox *box)
{
    double width = 0;
    if (box->is_point)
        return box->n_line > 0 ? JOINT_SIZE : DOT_SIZE;
    for (int32_t k = 0; k < box->n_line; k++) {
        double line = vf_draw_width(box->line[k], VF_DRAW_FONT);
        width = line > width ? line : width;
    }
    return width + 2 * VF_DRAW_PAD_X;
}

static double height_of(const VfDrawBox *box)
{
    return box->is_point ? width_of(box) : box->n_line * VF_DRAW_LINE + 2 * VF_DRAW_PAD_Y;
}

static VfStatus put_request(const VfDrawing *drawing, VfText *out, VfErr *err)
{
    VfSketch sketch = {drawing->n_box, drawing->n_arrow, drawing->n_group, drawing->is_sideways,
                       NULL, NULL, NULL};
    vf_text_add(out, &sketch, sizeof sketch);
    for (int32_t i = 0; i < drawing->n_box; i++) {
        const VfDrawBox *from = &drawing->box[i];
        VfSketchBox box = {width_of(from), height_of(from), from->group};
        vf_text_add(out, &box, sizeof box);
    }
    for (int32_t i = 0; i < drawing->n_arrow; i++) {
        const VfDrawArrow *from = &drawing->arrow[i];
        VfSketchArrow arrow = {from->from, from->to, columns_of(from->label)};
        vf_text_add(out, &arrow, sizeof arrow);
    }
    for (int32_t i = 0; i < drawing->n_group; i++) {
        const VfDrawGroup *from = &drawing->group[i];
        VfSketchGroup group = {from->parent, columns_of(from->label)};
        vf_text_add(out, &group, sizeof group);
    }
    return out->failed ? vf_no_memory(err) : VF_OK;
}

/* A copy of the next `n` items of `from`; NULL without memory. */
static void *take(VfArena *arena, VfBytes *from, int32_t n, size_t item_bytes)
{
    size_t size = (size_t)n * item_bytes;
    void *copy = vf_arena_copy(arena, from->data, size);
    from->data += size;
    from->size -= size;
    return copy;
}

static VfStatus read_request(VfArena *arena, VfBytes from, VfSketch *sketch, VfErr *err)
{
    memcpy(sketch, from.data, sizeof *sketch);
    from.data += sizeof *sketch;
    from.size -= sizeof *sketch;
    sketch->box = take(arena, &from, sketch->n_box, sizeof *sketch->box);
    sketch->arrow = take(arena, &from, sketch->n_arrow, sizeof *sketch->arrow);
    sketch->group = take(arena, &from, sketch->n_group, sizeof *sketch->group);
    if (sketch->box == NULL || sketch->arrow == NULL || sketch->group == NULL)
        return vf_no_memory(err);
    return VF_OK;
}

/* --- the answer: the layout, its arrays, then the points of each curve --- */

static VfStatus answer(VfBytes request, VfText *out, VfErr *err)
{
    VfSketch sketch;
    VF_TRY(read_request(out->arena, request, &sketch, err));
    VfDrawLayout layout = {
        .box = VF_NEW_ARRAY(out->arena, VfDrawRect, (size_t)sketch.n_box),
        .arrow = VF_NEW_ARRAY(out->arena, VfDrawCurve, (size_t)sketch.n_arrow),
        .group = VF_NEW_ARRAY(out->arena, VfDrawRect, (size_t)sketch.n_group),
    };
    if (layout.box == NULL || layout.arrow == NULL || layout.group == NULL)
        return vf_no_memory(err);
    VF_TRY(vf_graphviz_layout(out->arena, &sketch, &layout, err));
    vf_text_add(out, &layout, sizeof layout);
    vf_text_add(out, layout.box, (size_t)sketch.n_box * sizeof *layout.box);
    vf_text_add(out, layout.arrow, (size_t)sketch.n_arrow * sizeof *layout.arrow);
    vf_text_add(out, layout.group, (size_t)sketch.n_group * sizeof *layout.group);
    for (int32_t i = 0; i < sketch.n_arrow; i++)
        if (layout.arrow[i].n > 0)
            vf_text_add(out, layout.arrow[i].point, points_bytes(&layout.arrow[i]));
    return VF_OK;
}

static VfStatus read_answer(VfArena *arena, VfBytes from, const VfDrawing *drawing,
                            VfDrawLayout *layout, VfErr *err)
{
    memcpy(layout, from.data, sizeof *layout);
    from.data += sizeof *layout;
    from.size -= sizeof *layout;
    layout->box = take(arena, &from, drawing->n_box, sizeof *layout->box);
    layout->arrow = take(arena, &from, drawing->n_arrow, sizeof *layout->arrow);
    layout->group = take(arena, &from, drawing->n_group, sizeof *layout->group);
    if (layout->box == NULL || layout->arrow == NULL || layout->group == NULL)
        return vf_no_memory(err);
    for (int32_t i = 0; i < drawing->n_arrow; i++) {
        VfDrawCurve *curve = &layout->arrow[i];
        curve->point = take(arena, &from, curve->n, sizeof *curve->point);
        VF_TRY_ALLOC(curve->point, err);
    }
    return VF_OK;
}

static VfStatus lay_out_nothing(VfArena *arena, const VfDrawing *drawing, VfDrawLayout *layout,
                                VfErr *err)
{
    *layout = (VfDrawLayout){.group = VF_NEW_ARRAY(arena, VfDrawRect, (size_t)drawing->n_group)};
    VF_TRY_ALLOC(layout->group, err);
    return VF_OK;
}

VfStatus vf_draw_layout(VfApart *layouter, VfArena *arena, const VfDrawing *drawing,
                        VfDrawLayout *layout, VfErr *err)
{
    /* A hundred times what all drawings of a page take. */
    static const VfApartJob graphviz = {"lay out drawings", "Graphviz",
                                        "as it does without memory", 20, answer};
    VfApart own = {0};
    VfText request;
    VfBytes result;
    VF_TRY(check_size(drawing, err));
    if (drawing->n_box == 0)
        return lay_out_nothing(arena, drawing, layout, err);
    vf_text_init(&request, arena);
    VF_TRY(put_request(drawing, &request, err));
    VfStatus status = vf_apart_ask(layouter == NULL ? &own : layouter, &graphviz, arena,
                                   (VfBytes){request.data, request.size}, &result, err);
    vf_apart_stop(&own);
    VF_TRY(status);
    return read_answer(arena, result, drawing, layout, err);
}
