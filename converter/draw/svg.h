/* Drawings as SVG, inside a page or as a file of their own.
 *
 * No scripts, links or fonts: rules of style alone, which follow the light or dark theme of the
 * reader, or that of the page where an element around has data-theme="light" or "dark". Tones
 * differ in outline too, not in colour alone. Structure:
 *
 *     svg.vfd [role=img, titled]
 *       g.group > title? rect text
 *       g.arrow.tone-T > title path path.tip text
 *       g.box.tone-T [id, data-node] > title rect text...
 *
 * `data-node` is the id of the box's VfNode. Numbers have one decimal; equal input gives equal
 * bytes.
 */
#ifndef VF_DRAW_SVG_H
#define VF_DRAW_SVG_H

#include "converter/draw/apart.h"
#include "converter/draw/drawing.h"
#include "runtime/base/text.h"

typedef struct VfSvgOptions {
    const char *prefix;  /* of every id, so that many drawings fit in one page: letters, digits and
                          * '-'; NULL: "d" */
    bool is_document;    /* a file of its own: with namespace, style and background */
    bool has_legend;     /* the tones that occur, below the drawing */
    VfApart *layouter;   /* see vf_draw_layout; NULL: one for this call alone */
} VfSvgOptions;

/* Append the drawing. Errors as vf_draw_layout; then nothing was added. Boxes have the ids
 * PREFIX-nI, by number of the box. Scratch memory is the drawing's arena. */
VfStatus vf_drawing_svg(const VfDrawing *drawing, const VfSvgOptions *options, VfText *text,
                        VfErr *err);

/* Append the rules of style of all drawings, for the <style> of a page that holds some. */
void vf_drawing_style(VfText *text);

#endif
