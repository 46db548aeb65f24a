#include "converter/report/svg.h"

#include "converter/draw/words.h"
#include "runtime/base/intern.h"

void vf_svg_words(VfText *text, double x, double y, const char *anchor, const char *words)
{
    vf_text_printf(text, "<text x=\"%.2f\" y=\"%.2f\" text-anchor=\"%s\">", x, y, anchor);
    vf_draw_escape(text, vf_bytes(words));
    vf_text_string(text, "</text>\n");
}
