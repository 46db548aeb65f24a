#include "converter/report/svg.h"

#include <string.h>

#include "runtime/base/intern.h"

static void put_escaped(VfText *text, const char *words)
{
    VfText shown;
    VfBytes done = {"?", 1};
    vf_text_init(&shown, text->arena);
    vf_text_visible(&shown, vf_bytes(words));
    vf_text_get(&shown, &done, NULL);
    for (size_t i = 0; i < done.size; i++) {
        const char *const special = strchr("&<>\"'", done.data[i]);
        if (special != NULL && *special != '\0')
            vf_text_printf(text, "&#%d;", done.data[i]);
        else
            vf_text_char(text, done.data[i]);
    }
}

void vf_svg_words(VfText *text, double x, double y, const char *anchor, const char *words)
{
    vf_text_printf(text, "<text x=\"%.2f\" y=\"%.2f\" text-anchor=\"%s\">", x, y, anchor);
    put_escaped(text, words);
    vf_text_string(text, "</text>\n");
}
