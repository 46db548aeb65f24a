/* Parts: the edits of one pass, drawn once for each kind, and the sites it left alone. */
#include <stdio.h>
#include <string.h>

#include "converter/report/html/render_parts.h"

/* Sites of one reason, weights of a group, kinds of edits of a rule; more open on a click. */
enum { SITES_SHOWN = 12, ROWS_OPEN = 8, KINDS_OPEN = 6, FOLDED_KINDS_OPEN = 2 };

/* --- places --- */

/* The lines of a text diff, coloured by their first letter. */
static void render_lines(VfHtml *html, VfBytes lines)
{
    static const struct {
        char sign;
        const char *name;
    } kind[] = {{'-', "del"}, {'+', "ins"}};
    vf_html_open(html, "pre", "class", "lines", "tabindex", "0", NULL);
    while (lines.size > 0) {
        const char *end = memchr(lines.data, '\n', lines.size);
        size_t n = end == NULL ? lines.size : (size_t)(end + 1 - lines.data);
        const char *element = "span";
        for (size_t i = 0; i < sizeof kind / sizeof kind[0]; i++)
            if (lines.data[0] == kind[i].sign)
                element = kind[i].name;
        vf_html_element(html, element, (VfBytes){lines.data, n});
        lines.data += n;
        lines.size -= n;
    }
    vf_html_close(html);
}

static void render_place_words(VfHtml *html, const VfPagePlace *place)
{
    vf_html_open(html, "span", "class", "number", NULL);
    vf_html_printf(html, "%d", place->number);
    vf_html_close(html);
    vf_html_string(html, " ");
    vf_html_element(html, "code", place->label);
    if (place->note.size == 0)
        return;
    vf_html_string(html, " ");
    vf_html_open(html, "span", "class", "note", NULL);
    vf_html_bytes(html, place->note);
    vf_html_close(html);
}

/* False: its lines are left out. */
static bool render_place(VfHtml *html, const VfPagePlace *place)
{
    char id[24];
    snprintf(id, sizeof id, "e%d", place->number);
    bool has_lines = place->lines.size > 0 && vf_render_has_room(html, place->lines.size);
    vf_html_open(html, "li", "id", id, "class", "place", "data-find", "", NULL);
    if (has_lines) {
        vf_html_open(html, "details", NULL);
        vf_html_open(html, "summary", NULL);
    }
    render_place_words(html, place);
    if (has_lines) {
        vf_html_close(html);
        render_lines(html, place->lines);
        vf_html_close(html);
    }
    vf_html_close_line(html);
    return has_lines || place->lines.size == 0;
}

static void render_places(VfHtml *html, const VfPageGroup *group)
{
    size_t i = 0, n_bare = 0;
    vf_html_open(html, "ol", "class", "places", NULL);
    for (; i < group->n_place && vf_render_has_row(html); i++)
        n_bare += !render_place(html, &group->place[i]);
    vf_html_close_line(html);
    vf_render_left_out(html, n_bare, "lines of edits");
    vf_render_left_out(html, group->n_place - i, "places");
}

/* --- groups --- */

static void render_drawings(VfHtml *html, const VfPageGroup *group)
{
    size_t bytes = group->before.size + group->after.size;
    const char *left_out = group->left_out;
    if (left_out == NULL && !vf_render_has_room(html, bytes))
        left_out = "Not drawn, to keep the page small.";
    if (left_out != NULL) {
        vf_html_open(html, "p", "class", "left-out", NULL);
        vf_html_string(html, left_out);
        vf_html_close_line(html);
        return;
    }
    if (bytes == 0)
        return;
    vf_html_open(html, "div", "class", "pair", NULL);
    if (group->before.size > 0 && group->alone != NULL)
        vf_page_render_figure(html, "alone", vf_bytes(group->alone), group->before);
    else if (group->before.size > 0)
        vf_page_render_figure(html, "before", vf_bytes("Before"), group->before);
    if (group->after.size > 0)
        vf_page_render_figure(html, "after", vf_bytes("After"), group->after);
    vf_html_close_line(html);
    if (group->n_place < 2)
        return;
    vf_html_open(html, "p", "class", "left-out", NULL);
    vf_html_printf(html, "Drawn at the first of %zu places; the others differ in names and single "
                         "numbers.", group->n_place);
    vf_html_close_line(html);
}

static void render_weights(VfHtml *html, const VfPageTable *weights)
{
    size_t n = vf_page_table_rows(weights);
    if (n == 0)
        return;
    vf_html_open(html, "details", "class", "weights", "open", n > ROWS_OPEN ? NULL : "", NULL);
    vf_html_open(html, "summary", NULL);
    vf_render_count(html, n, "weight replaced", "weights replaced");
    vf_html_close(html);
    vf_page_render_table(html, weights);
    vf_html_close_line(html);
}

static void render_group(VfHtml *html, const VfPageGroup *group)
{
    vf_html_open(html, "details", "class", "group", "open", group->is_open ? "" : NULL, NULL);
    vf_html_open(html, "summary", NULL);
    vf_html_open(html, "span", "class", "rule", NULL);
    vf_html_bytes(html, group->title);
    vf_html_close(html);
    vf_html_string(html, " ");
    vf_html_open(html, "span", "class", "count", NULL);
    vf_render_count(html, group->n_place, "place", "places alike");
    vf_html_close(html);
    vf_html_string(html, " ");
    vf_html_open(html, "span", "class", "change", NULL);
    vf_html_bytes(html, group->change);
    vf_html_close(html);
    vf_html_close_line(html);
    render_drawings(html, group);
    render_weights(html, &group->weights);
    render_places(html, group);
    vf_html_close_line(html);
}

/* How many groups from `i` on have its title. */
static size_t count_alike(const VfPagePart *part, size_t i)
{
    size_t n = 1;
    while (i + n < part->n_group &&
           vf_bytes_is_equal(part->group[i + n].title, part->group[i].title))
        n++;
    return n;
}

/* Many kinds of edits of one rule open on a click. */
static void render_kinds(VfHtml *html, const VfPageGroup *group, size_t n)
{
    size_t n_place = 0;
    for (size_t i = 0; i < n; i++)
        n_place += group[i].n_place;
    vf_html_open(html, "details", "class", "kinds", "open", group->is_open ? "" : NULL, NULL);
    vf_html_open(html, "summary", NULL);
    vf_html_open(html, "span", "class", "rule", NULL);
    vf_html_bytes(html, group->title);
    vf_html_close(html);
    vf_html_string(html, " ");
    vf_html_open(html, "span", "class", "count", NULL);
    vf_html_printf(html, "%zu kinds at %zu places", n, n_place);
    vf_html_close(html);
    vf_html_close_line(html);
    for (size_t i = 0; i < n; i++)
        render_group(html, &group[i]);
    vf_html_close_line(html);
}

static void render_groups(VfHtml *html, const VfPagePart *part)
{
    for (size_t i = 0, n; i < part->n_group; i += n) {
        n = count_alike(part, i);
        bool is_many = n > (part->is_folded ? FOLDED_KINDS_OPEN : KINDS_OPEN);
        if (is_many)
            render_kinds(html, &part->group[i], n);
        for (size_t k = 0; !is_many && k < n; k++)
            render_group(html, &part->group[i + k]);
    }
}

/* --- sites left alone --- */

static void render_sites(VfHtml *html, const VfPageReason *reason, size_t first, size_t end)
{
    for (size_t i = first; i < end && vf_render_has_row(html); i++) {
        vf_html_open(html, "li", "data-find", "", NULL);
        vf_html_element(html, "code", reason->site[i]);
        vf_html_close_line(html);
    }
}

static void render_reason(VfHtml *html, const VfPageReason *reason)
{
    size_t n = reason->n_site < SITES_SHOWN ? reason->n_site : SITES_SHOWN;
    vf_html_open(html, "div", "class", "reason", NULL);
    vf_html_open(html, "p", NULL);
    vf_html_bytes(html, reason->reason);
    vf_html_close(html);
    vf_html_open(html, "ul", "class", "sites", NULL);
    render_sites(html, reason, 0, n);
    vf_html_close_line(html);
    if (n < reason->n_site) {
        vf_html_open(html, "details", NULL);
        vf_html_open(html, "summary", NULL);
        vf_html_printf(html, "%zu more", reason->n_site - n);
        vf_html_close(html);
        vf_html_open(html, "ul", "class", "sites", NULL);
        render_sites(html, reason, n, reason->n_site);
        vf_html_close(html);
        vf_html_close(html);
    }
    vf_html_close_line(html);
}

static void render_reasons(VfHtml *html, const VfPagePart *part)
{
    if (part->n_reason == 0)
        return;
    vf_html_open(html, "details", "class", "reasons", "open", "", NULL);
    vf_html_open(html, "summary", NULL);
    vf_render_count(html, part->n_refusal, "site left alone", "sites left alone");
    vf_html_close_line(html);
    for (size_t i = 0; i < part->n_reason; i++)
        render_reason(html, &part->reason[i]);
    vf_html_close_line(html);
}

void vf_render_part(VfHtml *html, const VfPagePart *part)
{
    static const char *const edits[] = {"edit", "edits"};
    const char *const *noun = part->noun == NULL ? edits : part->noun;
    vf_html_open(html, "section", "class", "part", "id", part->id, NULL);
    vf_html_open(html, "h3", NULL);
    vf_html_string(html, part->title);
    if (part->badge != NULL) {
        vf_html_string(html, " ");
        vf_html_open(html, "span", "class", "badge", "data-kind", part->badge, NULL);
        vf_html_string(html, part->badge);
        vf_html_close(html);
    }
    vf_html_close_line(html);
    vf_html_open(html, "p", "class", "lead", NULL);
    if (part->summary != NULL) {
        vf_html_string(html, part->summary);
        vf_html_string(html, ": ");
    }
    vf_render_count(html, part->n_edit, noun[0], noun[1]);
    vf_html_string(html, ".");
    vf_html_close_line(html);
    render_groups(html, part);
    render_reasons(html, part);
    vf_html_close_line(html);
}
