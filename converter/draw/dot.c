#include "converter/draw/text.h"

#include <string.h>

#include "converter/draw/nest.h"
#include "passes/ir/vft.h"

VfStatus vf_draw_attributes(const VfDrawing *drawing, const VfNode *node, VfBytes *out, VfErr *err)
{
    VfText text;
    vf_text_init(&text, drawing->arena);
    for (const VfAttr *attr = node->first_attr; attr != NULL; attr = attr->next) {
        vf_text_add(&text, attr->name.data, attr->name.size);
        vf_text_char(&text, '=');
        vf_vft_print_attr(node, attr, &text);
        vf_text_string(&text, attr->next == NULL ? "" : ", ");
    }
    return vf_text_get(&text, out, err);
}

/* Within double quotes. Backslashes begin escapes of DOT, and '&' entities of HTML. */
static void put_words(const VfDrawing *drawing, VfText *text, VfBytes words)
{
    VfText shown;
    VfBytes done = {"?", 1};
    vf_text_init(&shown, drawing->arena);
    vf_text_visible(&shown, words);
    text->failed |= vf_text_get(&shown, &done, NULL) != VF_OK;
    for (size_t i = 0; i < done.size; i++) {
        char c = done.data[i];
        if (c == '&')
            vf_text_string(text, "&amp;");
        else if (c == '"' || c == '\\')
            vf_text_printf(text, "\\%c", c);
        else
            vf_text_char(text, c);
    }
}

static void put_attr(const VfDrawing *drawing, VfText *text, const char *name, VfBytes words)
{
    vf_text_printf(text, " %s=\"", name);
    put_words(drawing, text, words);
    vf_text_char(text, '"');
}

static VfStatus put_box(const VfDrawing *drawing, int32_t i, VfText *text, VfErr *err)
{
    const VfDrawBox *box = &drawing->box[i];
    vf_text_printf(text, "  n%d [label=\"", i);
    for (int32_t k = 0; k < box->n_line; k++) {
        vf_text_string(text, k == 0 ? "" : "\\n");
        put_words(drawing, text, box->line[k]);
    }
    vf_text_printf(text, "\" class=\"tone-%s\"", vf_tone_name(box->tone));
    if (box->is_end)
        vf_text_string(text, " shape=ellipse");
    put_attr(drawing, text, "tooltip", box->tip);
    if (box->node != NULL) {
        VfBytes attributes;
        VF_TRY(vf_draw_attributes(drawing, box->node, &attributes, err));
        put_attr(drawing, text, "op", box->node->op_type);
        if (box->node->domain.size > 0)
            put_attr(drawing, text, "domain", box->node->domain);
        put_attr(drawing, text, "name", box->node->name);
        if (attributes.size > 0)
            put_attr(drawing, text, "attributes", attributes);
    }
    vf_text_string(text, "];\n");
    return VF_OK;
}

static void put_arrow(const VfDrawing *drawing, const VfDrawArrow *arrow, VfText *text)
{
    vf_text_printf(text, "  n%d -> n%d [class=\"tone-%s\"", arrow->from, arrow->to,
                   vf_tone_name(arrow->tone));
    if (arrow->label.size > 0)
        put_attr(drawing, text, "label", arrow->label);
    if (arrow->value != NULL)
        put_attr(drawing, text, "value", arrow->value->name);
    vf_text_string(text, "];\n");
}

static VfStatus put_group(const VfDrawing *drawing, const VfDrawNest *nest, int32_t group,
                          VfText *text, VfErr *err)
{
    for (int32_t i = nest->first_box[group + 1]; i >= 0; i = nest->next_box[i])
        VF_TRY(put_box(drawing, i, text, err));
    for (int32_t i = nest->first_group[group + 1]; i >= 0; i = nest->next_group[i]) {
        vf_text_printf(text, "  subgraph cluster_%d {\n  label=\"", i);
        put_words(drawing, text, drawing->group[i].label);
        vf_text_string(text, "\";\n");
        VF_TRY(put_group(drawing, nest, i, text, err));
        vf_text_string(text, "  }\n");
    }
    return VF_OK;
}

VfStatus vf_drawing_dot(const VfDrawing *drawing, VfText *text, VfErr *err)
{
    VfDrawNest nest;
    VF_TRY(vf_draw_nest(drawing, &nest, err));
    vf_text_string(text, "digraph \"");
    put_words(drawing, text, drawing->title);
    vf_text_string(text, "\" {\n  node [shape=box fontname=\"monospace\" fontsize=10];\n"
                         "  edge [fontname=\"monospace\" fontsize=8];\n");
    VF_TRY(put_group(drawing, &nest, -1, text, err));
    for (int32_t i = 0; i < drawing->n_arrow; i++)
        put_arrow(drawing, &drawing->arrow[i], text);
    vf_text_string(text, "}\n");
    return text->failed ? vf_no_memory(err) : VF_OK;
}
