#include "converter/report/html/render.h"

#include "converter/draw/drawing.h"
#include "converter/draw/svg.h"
#include "converter/report/html/render_parts.h"
#include "vitfold_page_css.h"
#include "vitfold_page_js.h"

static const unsigned char style[] = {VITFOLD_PAGE_CSS};
static const unsigned char script[] = {VITFOLD_PAGE_JS};

/* --- head --- */

static void render_title(VfHtml *html, const VfPage *page)
{
    vf_html_open(html, "title", NULL);
    vf_html_bytes(html, page->from);
    if (page->to.size > 0) {
        vf_html_string(html, " → ");
        vf_html_bytes(html, page->to);
    }
    vf_html_printf(html, ": %s", page->title);
    vf_html_close_line(html);
}

static VfStatus render_style(VfHtml *html, VfErr *err)
{
    VfText text;
    VfBytes rules;
    vf_text_init(&text, html->arena);
    vf_drawing_style(&text);
    vf_text_add(&text, style, sizeof style);
    VF_TRY(vf_text_get(&text, &rules, err));
    vf_html_code(html, "style", rules);
    return VF_OK;
}

static void render_meta(VfHtml *html, const char *name, const char *content)
{
    vf_html_open(html, "meta", "name", name, "content", content, NULL);
    vf_html_close_void(html);
    vf_html_markup(html, vf_bytes("\n"));
}

static VfStatus render_head(VfHtml *html, const VfPage *page, VfErr *err)
{
    vf_html_open(html, "head", NULL);
    vf_html_open(html, "meta", "charset", "utf-8", NULL);
    vf_html_close_void(html);
    render_meta(html, "viewport", "width=device-width, initial-scale=1");
    render_meta(html, "color-scheme", "light dark");
    render_meta(html, "generator", page->maker);
    render_title(html, page);
    VF_TRY(render_style(html, err));
    vf_html_close_line(html);
    return VF_OK;
}

/* --- bar --- */

static void render_button(VfHtml *html, const char *id, const char *label, const char *words)
{
    vf_html_open(html, "button", "type", "button", "id", id, "aria-label", label, "title", label,
                 NULL);
    vf_html_string(html, words);
    vf_html_close(html);
}

static void render_search(VfHtml *html)
{
    vf_html_open(html, "form", "id", "search", "role", "search", NULL);
    vf_html_open(html, "label", "for", "find", "class", "hidden", NULL);
    vf_html_string(html, "Find a node by name or operator");
    vf_html_close(html);
    vf_html_open(html, "input", "id", "find", "type", "search", "placeholder",
                 "Find a node or operator", "autocomplete", "off", "spellcheck", "false",
                 "aria-keyshortcuts", "/", NULL);
    vf_html_close_void(html);
    render_button(html, "previous", "Previous match (p)", "↑");
    render_button(html, "next", "Next match (n)", "↓");
    vf_html_open(html, "output", "id", "found", "for", "find", "aria-live", "polite", NULL);
    vf_html_close(html);
    vf_html_close_line(html);
}

static void render_bar(VfHtml *html)
{
    vf_html_open(html, "div", "class", "bar", NULL);
    render_search(html);
    vf_html_open(html, "div", "class", "tools", "role", "group", "aria-label", "View", NULL);
    render_button(html, "expand", "Expand all", "Expand all");
    render_button(html, "collapse", "Collapse all", "Collapse all");
    render_button(html, "theme", "Switch between light and dark", "◐");
    vf_html_close(html);
    vf_html_close_line(html);
}

static void render_header(VfHtml *html, const VfPage *page)
{
    vf_html_open(html, "header", NULL);
    vf_html_open(html, "h1", NULL);
    vf_html_string(html, page->title);
    vf_html_close_line(html);
    vf_html_open(html, "p", "class", "files", NULL);
    vf_html_element(html, "code", page->from);
    if (page->to.size > 0) {
        vf_html_string(html, " → ");
        vf_html_element(html, "code", page->to);
    }
    vf_html_close(html);
    vf_html_close_line(html);
}

/* --- contents --- */

static void render_link(VfHtml *html, const char *id, const char *title, size_t n)
{
    vf_html_open(html, "li", NULL);
    vf_html_open(html, "a", NULL);
    const char *href = vf_arena_printf(html->arena, "#%s", id);
    vf_html_attr(html, "href", vf_bytes(href == NULL ? "#" : href));
    vf_html_string(html, title);
    vf_html_close(html);
    if (n > 0) {
        vf_html_open(html, "span", "class", "count", NULL);
        vf_html_printf(html, " %zu", n);
        vf_html_close(html);
    }
    vf_html_close_line(html);
}

static void link_sections(VfHtml *html, const VfPage *page, bool is_behind)
{
    for (size_t i = 0; i < page->n_section; i++)
        if (page->section[i].is_behind == is_behind)
            render_link(html, page->section[i].id, page->section[i].title, 0);
}

static void render_keys(VfHtml *html)
{
    static const struct {
        const char *key, *does;
    } row[] = {{"/", "search"}, {"n", "next match"}, {"p", "previous match"}, {"Esc", "clear"}};
    vf_html_open(html, "dl", "class", "keys", "aria-label", "Keys", NULL);
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        vf_html_open(html, "dt", NULL);
        vf_html_element(html, "kbd", vf_bytes(row[i].key));
        vf_html_close(html);
        vf_html_element(html, "dd", vf_bytes(row[i].does));
    }
    vf_html_close_line(html);
}

static void render_contents(VfHtml *html, const VfPage *page)
{
    vf_html_open(html, "nav", "aria-label", "Contents", NULL);
    vf_html_open(html, "ul", NULL);
    render_link(html, "summary", "Summary", 0);
    if (page->n_map > 0)
        render_link(html, "map", "Map", 0);
    link_sections(html, page, false);
    for (size_t i = 0; i < page->n_part; i++)
        render_link(html, page->part[i].id, page->part[i].title, page->part[i].n_edit);
    link_sections(html, page, true);
    if (vf_page_table_rows(&page->index) > 0)
        render_link(html, "nodes", "All nodes", vf_page_table_rows(&page->index));
    vf_html_close(html);
    render_keys(html);
    vf_html_close_line(html);
}

/* --- sections --- */

static void begin_section(VfHtml *html, const char *id, const char *title)
{
    vf_html_open(html, "section", "id", id, NULL);
    vf_html_element(html, "h2", vf_bytes(title));
    vf_html_markup(html, vf_bytes("\n"));
}

static void render_facts(VfHtml *html, const VfPage *page)
{
    vf_html_open(html, "dl", "class", "facts", NULL);
    for (size_t i = 0; i < page->n_fact; i++) {
        vf_html_open(html, "div", NULL);
        vf_html_element(html, "dt", vf_bytes(page->fact[i].label));
        vf_html_element(html, "dd", page->fact[i].value);
        if (page->fact[i].remark.size > 0) {
            vf_html_open(html, "dd", "class", "remark", NULL);
            vf_html_bytes(html, page->fact[i].remark);
            vf_html_close(html);
        }
        vf_html_close_line(html);
    }
    vf_html_close_line(html);
}

static void render_summary(VfHtml *html, const VfPage *page)
{
    begin_section(html, "summary", "Summary");
    render_facts(html, page);
    if (page->note.size > 0) {
        vf_html_open(html, "p", "class", "left-out", NULL);
        vf_html_bytes(html, page->note);
        vf_html_close_line(html);
    }
    vf_html_open(html, "div", "class", "tables", NULL);
    for (size_t i = 0; i < page->n_table; i++)
        if (vf_page_table_rows(&page->table[i]) > 0)
            vf_page_render_table(html, &page->table[i]);
    vf_html_close(html);
    vf_html_close_line(html);
}

static void render_map(VfHtml *html, const VfPage *page)
{
    if (page->n_map == 0)
        return;
    begin_section(html, "map", "Map");
    vf_html_open(html, "div", "class", "maps", NULL);
    for (size_t i = 0; i < page->n_map; i++)
        vf_page_render_figure(html, "map", page->map[i].caption, page->map[i].svg);
    vf_html_close(html);
    vf_html_close_line(html);
}

static void render_legend(VfHtml *html, bool has_marks)
{
    static const VfTone edits[] = {VF_TONE_REMOVED, VF_TONE_ADDED, VF_TONE_CHANGED,
                                   VF_TONE_CONTEXT};
    static const VfTone marks[] = {VF_TONE_MARKED, VF_TONE_SITE, VF_TONE_PLAIN, VF_TONE_CONTEXT};
    const VfTone *tone = has_marks ? marks : edits;
    vf_html_open(html, "ul", "class", "legend", "aria-label", "Colours", NULL);
    for (size_t i = 0; i < sizeof edits / sizeof edits[0]; i++) {
        vf_html_open(html, "li", "data-tone", vf_tone_name(tone[i]), NULL);
        vf_html_string(html, tone[i] == VF_TONE_PLAIN ? "between" : vf_tone_label(tone[i]));
        vf_html_close(html);
    }
    vf_html_close_line(html);
}

static void render_parts(VfHtml *html, const VfPage *page)
{
    if (page->n_part == 0)
        return;
    begin_section(html, "parts", page->parts_title);
    render_legend(html, page->has_marks);
    for (size_t i = 0; i < page->n_part; i++)
        vf_render_part(html, &page->part[i]);
    vf_html_close_line(html);
}

static VfStatus render_sections(VfHtml *html, const VfPage *page, bool is_behind, VfErr *err)
{
    for (size_t i = 0; i < page->n_section; i++) {
        if (page->section[i].is_behind != is_behind)
            continue;
        begin_section(html, page->section[i].id, page->section[i].title);
        VF_TRY(page->section[i].render(page->section[i].self, html, err));
        vf_html_close_line(html);
    }
    return VF_OK;
}

static void render_index(VfHtml *html, const VfPage *page)
{
    if (vf_page_table_rows(&page->index) == 0)
        return;
    begin_section(html, "nodes", "All nodes");
    vf_html_open(html, "details", NULL);
    vf_html_open(html, "summary", NULL);
    vf_render_count(html, vf_page_table_rows(&page->index), "node", "nodes");
    vf_html_close(html);
    vf_page_render_table(html, &page->index);
    vf_html_close(html);
    vf_html_close_line(html);
}

/* --- the page --- */

static VfStatus render_body(VfHtml *html, const VfPage *page, VfErr *err)
{
    vf_html_open(html, "body", NULL);
    vf_html_open(html, "a", "class", "skip", "href", "#main", NULL);
    vf_html_string(html, "Skip to the content");
    vf_html_close_line(html);
    render_header(html, page);
    render_bar(html);
    vf_html_open(html, "div", "class", "columns", NULL);
    render_contents(html, page);
    vf_html_open(html, "main", "id", "main", NULL);
    render_summary(html, page);
    render_map(html, page);
    VF_TRY(render_sections(html, page, false, err));
    render_parts(html, page);
    VF_TRY(render_sections(html, page, true, err));
    render_index(html, page);
    vf_html_close(html);
    vf_html_close_line(html);
    vf_html_open(html, "footer", NULL);
    vf_html_printf(html, "Made by %s.", page->maker);
    vf_html_close_line(html);
    vf_html_code(html, "script", (VfBytes){(const char *)script, sizeof script});
    vf_html_close_line(html);
    return VF_OK;
}

static VfStatus render_page(VfHtml *html, const VfPage *page, VfBytes *out, VfErr *err)
{
    vf_html_open(html, "html", "lang", "en", NULL);
    VF_TRY(render_head(html, page, err));
    VF_TRY(render_body(html, page, err));
    vf_html_close(html);
    return vf_html_finish(html, out, err);
}

VfStatus vf_page_render(const VfPage *page, VfBytes *out, VfErr *err)
{
    VfHtml html;
    VfStatus status = vf_html_begin(&html, page->arena, err);
    if (status == VF_OK)
        status = render_page(&html, page, out, err);
    vf_html_release(&html);
    return status;
}
