#include "converter/draw/svg.h"

#include <math.h>
#include <string.h>

#include "converter/draw/svg_private.h"
#include "converter/draw/words.h"

/* Of the legend, in pixels. */
enum { LEGEND_STEP = 20, LEGEND_BOX = 26 };

/* One decimal; no "-0.0", whatever rounding makes of small numbers. */
static double tidy(double value)
{
    double rounded = round(value * 10) / 10;
    return fabs(rounded) < 0.05 ? 0 : rounded;
}

static void put_point(const VfSvg *svg, char letter, VfDrawPoint p)
{
    vf_text_printf(svg->text, "%c%.1f %.1f", letter, tidy(p.x + svg->x), tidy(p.y + svg->y));
}

void vf_draw_svg_words(const VfSvg *svg, const char *class, double x, double y, VfBytes words)
{
    vf_text_printf(svg->text, "<text%s x=\"%.1f\" y=\"%.1f\">", class, tidy(x + svg->x),
                   tidy(y + svg->y));
    vf_draw_escape(svg->text, words);
    vf_text_string(svg->text, "</text>");
}

static void put_rect(const VfSvg *svg, const VfDrawRect *rect, double radius)
{
    vf_text_printf(svg->text,
                   "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"%.1f\"/>",
                   tidy(rect->x + svg->x), tidy(rect->y + svg->y), tidy(rect->width),
                   tidy(rect->height), tidy(radius));
}

static void put_title(const VfSvg *svg, VfBytes words)
{
    if (words.size == 0)
        return;
    vf_text_string(svg->text, "<title>");
    vf_draw_escape(svg->text, words);
    vf_text_string(svg->text, "</title>");
}

static void put_group(const VfSvg *svg, int32_t i)
{
    const VfDrawRect *rect = &svg->layout->group[i];
    if (rect->width <= 0)
        return;
    vf_text_string(svg->text, "<g class=\"group\">");
    put_rect(svg, rect, 4);
    vf_draw_svg_words(svg, "", rect->x + rect->width / 2, rect->y + VF_DRAW_LINE,
              svg->drawing->group[i].label);
    vf_text_string(svg->text, "</g>\n");
}

/* A triangle from the end of the curve to the tip. */
static void put_tip(const VfSvg *svg, const VfDrawCurve *curve)
{
    const VfDrawPoint end = curve->point[curve->n - 1], tip = curve->tip;
    double dx = (tip.x - end.x) * 0.4, dy = (tip.y - end.y) * 0.4;
    vf_text_string(svg->text, "<path class=\"tip\" d=\"");
    put_point(svg, 'M', (VfDrawPoint){end.x - dy, end.y + dx});
    put_point(svg, 'L', tip);
    put_point(svg, 'L', (VfDrawPoint){end.x + dy, end.y - dx});
    vf_text_string(svg->text, "z\"/>");
}

static void put_arrow(const VfSvg *svg, int32_t i)
{
    const VfDrawArrow *arrow = &svg->drawing->arrow[i];
    const VfDrawCurve *curve = &svg->layout->arrow[i];
    vf_text_printf(svg->text, "<g class=\"arrow tone-%s\">", vf_tone_name(arrow->tone));
    if (arrow->value != NULL)
        put_title(svg, arrow->value->name);
    if (curve->n > 0) {
        vf_text_string(svg->text, "<path d=\"");
        for (int32_t k = 0; k < curve->n; k++)
            put_point(svg, k == 0 ? 'M' : k == 1 ? 'C' : ' ', curve->point[k]);
        vf_text_string(svg->text, "\"/>");
    }
    if (curve->n > 0 && curve->has_tip)
        put_tip(svg, curve);
    if (curve->has_label && arrow->label.size > 0)
        vf_draw_svg_words(svg, "", curve->label.x, curve->label.y + 0.35 * VF_DRAW_SMALL_FONT,
                  arrow->label);
    vf_text_string(svg->text, "</g>\n");
}

static void put_box(const VfSvg *svg, int32_t i)
{
    const VfDrawBox *box = &svg->drawing->box[i];
    const VfDrawRect *rect = &svg->layout->box[i];
    vf_text_printf(svg->text, "<g class=\"box tone-%s\" id=\"%s-n%d\"", vf_tone_name(box->tone),
                   svg->prefix, svg->first_box + i);
    if (box->node != NULL)
        vf_text_printf(svg->text, " data-node=\"%d\"", box->node->id);
    vf_text_char(svg->text, '>');
    put_title(svg, box->tip);
    put_rect(svg, rect, box->is_end || box->is_point ? rect->height / 2 : 4);
    double top = rect->y + (rect->height - box->n_line * VF_DRAW_LINE) / 2 + 0.75 * VF_DRAW_LINE;
    for (int32_t k = 0; k < box->n_line; k++)
        vf_draw_svg_words(svg, k == 0 ? " class=\"op\"" : "", rect->x + rect->width / 2,
                  top + k * VF_DRAW_LINE, box->line[k]);
    vf_text_string(svg->text, "</g>\n");
}

void vf_draw_svg_parts(const VfSvg *svg)
{
    for (int32_t i = 0; i < svg->drawing->n_group; i++)
        put_group(svg, i);
    for (int32_t i = 0; i < svg->drawing->n_arrow; i++)
        put_arrow(svg, i);
    for (int32_t i = 0; i < svg->drawing->n_box; i++)
        put_box(svg, i);
}

/* --- legend --- */

void vf_draw_svg_note_tones(const VfDrawing *drawing, bool *is_seen)
{
    for (int32_t i = 0; i < drawing->n_box; i++)
        is_seen[drawing->box[i].tone] |= !drawing->box[i].is_end && !drawing->box[i].is_point;
}

double vf_draw_svg_legend_height(const bool *is_seen)
{
    int32_t n = 0;
    for (int i = 0; i < VF_TONE_COUNT; i++)
        n += is_seen[i];
    return n == 0 ? 0 : 12 + n * LEGEND_STEP;
}

void vf_draw_svg_legend(const VfSvg *svg, const bool *is_seen)
{
    double y = 12;
    vf_text_string(svg->text, "<g class=\"legend\">\n");
    for (int i = 0; i < VF_TONE_COUNT; i++) {
        const char *label = vf_tone_label((VfTone)i);
        if (!is_seen[i])
            continue;
        vf_text_printf(svg->text, "<g class=\"box tone-%s\">", vf_tone_name((VfTone)i));
        put_rect(svg, &(VfDrawRect){0, y, LEGEND_BOX, LEGEND_STEP - 6}, 3);
        vf_draw_svg_words(svg, "", LEGEND_BOX + 8, y + 0.55 * LEGEND_STEP,
                     (VfBytes){label, strlen(label)});
        vf_text_string(svg->text, "</g>\n");
        y += LEGEND_STEP;
    }
    vf_text_string(svg->text, "</g>\n");
}

/* --- the whole --- */

void vf_draw_svg_head(const VfSvg *svg, bool is_document, VfBytes title, double width,
                      double height)
{
    double w = ceil(width) + 2 * VF_SVG_MARGIN, h = ceil(height) + 2 * VF_SVG_MARGIN;
    if (is_document)
        vf_text_string(svg->text, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    vf_text_printf(svg->text, "<svg%s class=\"vfd\" role=\"img\" aria-labelledby=\"%s-t\" "
                              "width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\">\n",
                   is_document ? " xmlns=\"http://www.w3.org/2000/svg\"" : "", svg->prefix, w, h,
                   w, h);
    vf_text_printf(svg->text, "<title id=\"%s-t\">", svg->prefix);
    vf_draw_escape(svg->text, title);
    vf_text_string(svg->text, "</title>\n");
    if (!is_document)
        return;
    vf_text_string(svg->text, "<style>\n");
    vf_drawing_style(svg->text);
    vf_text_printf(svg->text, "</style>\n<rect class=\"paper\" width=\"%.0f\" height=\"%.0f\"/>\n",
                   w, h);
}

VfStatus vf_drawing_svg(const VfDrawing *drawing, const VfSvgOptions *options, VfText *text,
                        VfErr *err)
{
    VfDrawLayout layout;
    bool is_seen[VF_TONE_COUNT] = {false};
    VF_TRY(vf_draw_layout(options->layouter, drawing->arena, drawing, &layout, err));
    VfSvg svg = {drawing, &layout, options->prefix == NULL ? "d" : options->prefix,
                 VF_SVG_MARGIN, VF_SVG_MARGIN, 0, text};
    if (options->has_legend)
        vf_draw_svg_note_tones(drawing, is_seen);
    double legend = vf_draw_svg_legend_height(is_seen);
    vf_draw_svg_head(&svg, options->is_document, drawing->title,
                legend > 0 ? fmax(layout.width, VF_SVG_LEGEND_WIDTH) : layout.width,
                layout.height + legend);
    vf_draw_svg_parts(&svg);
    svg.y += layout.height;
    if (legend > 0)
        vf_draw_svg_legend(&svg, is_seen);
    vf_text_string(text, "</svg>\n");
    return text->failed ? vf_no_memory(err) : VF_OK;
}
