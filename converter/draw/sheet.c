#include "converter/draw/sheet.h"

#include <math.h>

#include "converter/draw/svg_private.h"
#include "converter/draw/words.h"

/* In pixels: a heading's height, between rows, between labels and drawings. */
enum { HEADING = 28, ROW_GAP = 8, LABEL_GAP = 14 };

typedef struct Sheet {
    const VfDrawSheet *sheet;
    VfDrawLayout *layout; /* of each row */
    double left;          /* width of the labels with the gap behind them */
    double width, height;
} Sheet;

static double row_height(const Sheet *s, int32_t i)
{
    const VfDrawRow *row = &s->sheet->row[i];
    double words = row->note.size > 0 ? 2 * VF_DRAW_LINE : VF_DRAW_LINE;
    return fmax(s->layout[i].height, words) + ROW_GAP + (row->heading.size > 0 ? HEADING : 0);
}

static VfStatus lay_out(Sheet *s, VfApart *layouter, VfErr *err)
{
    double labels = 0, rows = 0;
    for (int32_t i = 0; i < s->sheet->n_row; i++) {
        const VfDrawRow *row = &s->sheet->row[i];
        VF_TRY(vf_draw_layout(layouter, s->sheet->arena, row->drawing, &s->layout[i], err));
        labels = fmax(labels, fmax(vf_draw_width(row->label, VF_DRAW_FONT),
                                   vf_draw_width(row->note, VF_DRAW_SMALL_FONT)));
        rows = fmax(rows, s->layout[i].width);
        s->height += row_height(s, i);
    }
    s->left = labels + LABEL_GAP;
    s->width = s->left + rows;
    return VF_OK;
}

/* Labels stand at the middle of their row's height. */
static void put_row(const Sheet *s, int32_t i, const VfSvg *at)
{
    const VfDrawRow *row = &s->sheet->row[i];
    VfSvg svg = *at;
    vf_text_string(svg.text, "<g class=\"row\">\n");
    if (row->heading.size > 0) {
        vf_draw_svg_words(&svg, " class=\"heading\"", 0, 0.65 * HEADING, row->heading);
        svg.y += HEADING;
    }
    double body = row_height(s, i) - ROW_GAP - (row->heading.size > 0 ? HEADING : 0);
    double base = body / 2 + (row->note.size > 0 ? -2 : 4);
    vf_draw_svg_words(&svg, " class=\"label\"", 0, base, row->label);
    if (row->note.size > 0)
        vf_draw_svg_words(&svg, " class=\"note\"", 0, base + 13, row->note);
    svg.x += s->left;
    svg.y += (body - s->layout[i].height) / 2;
    vf_draw_svg_parts(&svg);
    vf_text_string(svg.text, "</g>\n");
}

VfStatus vf_sheet_svg(const VfDrawSheet *sheet, const VfSvgOptions *options, VfText *text,
                      VfErr *err)
{
    bool is_seen[VF_TONE_COUNT] = {false};
    Sheet s = {.sheet = sheet,
               .layout = VF_NEW_ARRAY(sheet->arena, VfDrawLayout, (size_t)sheet->n_row)};
    VF_TRY_ALLOC(s.layout, err);
    VfApart own = {0};
    VfStatus status = lay_out(&s, options->layouter == NULL ? &own : options->layouter, err);
    vf_apart_stop(&own);
    VF_TRY(status);
    for (int32_t i = 0; i < sheet->n_row && options->has_legend; i++)
        vf_draw_svg_note_tones(sheet->row[i].drawing, is_seen);
    is_seen[VF_TONE_CONTEXT] = false; /* boxes of it say what they are */
    double legend = vf_draw_svg_legend_height(is_seen);
    VfSvg svg = {.prefix = options->prefix == NULL ? "d" : options->prefix, .x = VF_SVG_MARGIN,
                 .y = VF_SVG_MARGIN, .text = text};
    vf_draw_svg_head(&svg, options->is_document, sheet->title, fmax(s.width, VF_SVG_LEGEND_WIDTH),
                s.height + legend);
    for (int32_t i = 0; i < sheet->n_row; i++) {
        svg.drawing = sheet->row[i].drawing;
        svg.layout = &s.layout[i];
        put_row(&s, i, &svg);
        svg.y += row_height(&s, i);
        svg.first_box += svg.drawing->n_box;
    }
    if (legend > 0)
        vf_draw_svg_legend(&svg, is_seen);
    vf_text_string(text, "</svg>\n");
    return text->failed ? vf_no_memory(err) : VF_OK;
}
