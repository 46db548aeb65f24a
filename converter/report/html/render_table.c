/* Tables and figures. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/report/html/render_parts.h"

void vf_render_count(VfHtml *html, size_t n, const char *one, const char *many)
{
    vf_html_printf(html, "%zu %s", n, n == 1 ? one : many);
}

bool vf_render_has_room(const VfHtml *html, size_t bytes)
{
    return vf_html_size(html) + bytes < VF_PAGE_DRAWN_BYTES;
}

bool vf_render_has_row(const VfHtml *html)
{
    return vf_html_size(html) < VF_PAGE_BYTES;
}

void vf_render_left_out(VfHtml *html, size_t n, const char *what)
{
    if (n == 0)
        return;
    vf_html_open(html, "p", "class", "left-out", NULL);
    vf_html_printf(html, "Left out to keep the page small: %s (%zu).", what, n);
    vf_html_close_line(html);
}

static const char *class_of(char align)
{
    return align == 'r' ? "n" : NULL;
}

static void render_head(VfHtml *html, const VfPageTable *table)
{
    vf_html_open(html, "thead", NULL);
    vf_html_open(html, "tr", NULL);
    for (size_t i = 0; table->align[i] != '\0'; i++) {
        vf_html_open(html, "th", "scope", "col", "class", class_of(table->align[i]), NULL);
        vf_html_string(html, table->head[i]);
        vf_html_close(html);
    }
    vf_html_close(html);
    vf_html_close_line(html);
}

static void render_cell(VfHtml *html, const VfPageCell *cell, char align, bool is_first)
{
    vf_html_open(html, is_first ? "th" : "td", "scope", is_first ? "row" : NULL, "class",
                 class_of(align), NULL);
    if (cell->href != NULL) {
        vf_html_open(html, "a", NULL);
        vf_html_attr(html, "href", vf_bytes(cell->href));
    }
    if (cell->is_code && cell->text.size > 0)
        vf_html_element(html, "code", cell->text);
    else
        vf_html_bytes(html, cell->text);
    if (cell->href != NULL)
        vf_html_close(html);
    vf_html_close(html);
}

/* How many rows there was no room for. */
static size_t render_rows(VfHtml *html, const VfPageTable *table)
{
    size_t n_column = strlen(table->align), n = vf_page_table_rows(table), i = 0;
    vf_html_open(html, "tbody", NULL);
    for (; i < n && vf_render_has_row(html); i++) {
        vf_html_open(html, "tr", "data-find", table->is_searchable ? "" : NULL, NULL);
        for (size_t k = 0; k < n_column; k++)
            render_cell(html, &table->cell[i * n_column + k], table->align[k], k == 0);
        vf_html_close_line(html);
    }
    vf_html_close(html);
    return n - i;
}

void vf_page_render_table(VfHtml *html, const VfPageTable *table)
{
    vf_html_open(html, "div", "class", table->is_wide ? "scroll wide" : "scroll", "tabindex", "0",
                 "role", "group", "aria-label",
                 table->caption != NULL ? table->caption : "table", NULL);
    vf_html_open(html, "table", NULL);
    if (table->caption != NULL)
        vf_html_element(html, "caption", vf_bytes(table->caption));
    render_head(html, table);
    size_t n = table->n_left_out + render_rows(html, table);
    vf_html_close(html);
    vf_html_close_line(html);
    vf_render_left_out(html, n, table->left_out == NULL ? "rows" : table->left_out);
}

/* The width that a drawing asks for, in pixels; 0: none. */
static int width_of(VfBytes svg)
{
    static const char key[] = " width=\"";
    const char *end = memchr(svg.data, '>', svg.size);
    const char *at = end == NULL ? NULL
                                 : memmem(svg.data, (size_t)(end - svg.data), key, sizeof key - 1);
    return at == NULL ? 0 : atoi(at + sizeof key - 1);
}

/* The style sheet lets a drawing shrink a little before it scrolls, and needs its width for that.
 */
void vf_page_render_figure(VfHtml *html, const char *kind, VfBytes label, VfBytes svg)
{
    char style[32];
    snprintf(style, sizeof style, "--w:%dpx", width_of(svg));
    vf_html_open(html, "figure", "class", kind, NULL);
    vf_html_element(html, "figcaption", label);
    vf_html_open(html, "div", "class", "scroll", "tabindex", "0", "role", "group", "style",
                 width_of(svg) > 0 ? style : NULL, NULL);
    vf_html_attr(html, "aria-label", label);
    vf_html_markup(html, svg);
    vf_html_close(html);
    vf_html_close_line(html);
}
