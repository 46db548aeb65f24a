#include "converter/report/html/html.h"

#include <stdarg.h>
#include <string.h>

#include <libxml/xmlwriter.h>

/* --- beginning and end --- */

/* The text remembers that memory ran out. */
static int take(void *context, const char *data, int size)
{
    VfText *text = context;
    vf_text_add(text, data, (size_t)size);
    return size;
}

VfStatus vf_html_begin(VfHtml *html, VfArena *arena, VfErr *err)
{
    *html = (VfHtml){.arena = arena};
    vf_text_init(&html->text, arena);
    vf_xml_watch(&html->watch);
    xmlOutputBuffer *out = xmlOutputBufferCreateIO(take, NULL, &html->text, NULL);
    VF_TRY_ALLOC(out, err);
    html->writer = xmlNewTextWriter(out);
    if (html->writer == NULL) {
        xmlOutputBufferClose(out);
        return vf_no_memory(err);
    }
    if (xmlTextWriterWriteDTD(html->writer, BAD_CAST "html", NULL, NULL, NULL) < 0)
        html->has_failed = true;
    vf_html_markup(html, (VfBytes){"\n", 1});
    return VF_OK;
}

void vf_html_release(VfHtml *html)
{
    if (html->writer != NULL)
        xmlFreeTextWriter(html->writer);
    html->writer = NULL;
    vf_xml_unwatch(&html->watch);
}

size_t vf_html_size(const VfHtml *html)
{
    return html->text.size;
}

VfStatus vf_html_finish(VfHtml *html, VfBytes *page, VfErr *err)
{
    if (html->depth != 0)
        return vf_fail(err, VF_INTERNAL, "a page ends within an element");
    if (xmlTextWriterFlush(html->writer) < 0 || html->has_failed || html->watch.is_out_of_memory)
        return vf_no_memory(err);
    vf_text_char(&html->text, '\n');
    return vf_text_get(&html->text, page, err);
}

/* --- text --- */

static void note(VfHtml *html, int result)
{
    html->has_failed |= result < 0;
}

/* U+FFFE and U+FFFF are characters of UTF-8 but none of XML. */
static void add_fit(VfText *text, VfBytes value)
{
    size_t i = 0, done = 0;
    for (; i + 2 < value.size; i++) {
        if (memcmp(value.data + i, "\xef\xbf\xbe", 3) != 0 &&
            memcmp(value.data + i, "\xef\xbf\xbf", 3) != 0)
            continue;
        vf_text_visible(text, (VfBytes){value.data + done, i - done});
        vf_text_printf(text, "\\xef\\xbf\\x%02x", (unsigned char)value.data[i + 2]);
        i += 2;
        done = i + 1;
    }
    vf_text_visible(text, (VfBytes){value.data + done, value.size - done});
}

/* Whole characters, at most VF_HTML_LINE_MAX bytes. */
static size_t cut(const char *data, size_t size)
{
    size_t n = 0, length;
    if (size <= VF_HTML_LINE_MAX)
        return size;
    while (n < VF_HTML_LINE_MAX) {
        length = vf_utf8_length(data + n, size - n);
        n += length == 0 ? 1 : length;
    }
    return n;
}

/* Lines are kept: they show in preformatted text and are spaces elsewhere. */
static const xmlChar *fit(VfHtml *html, VfBytes value)
{
    VfText text;
    VfBytes done = {"", 0};
    vf_text_init(&text, html->arena);
    while (value.size > 0) {
        const char *end = memchr(value.data, '\n', value.size);
        size_t n = end == NULL ? value.size : (size_t)(end - value.data);
        size_t shown = cut(value.data, n);
        add_fit(&text, (VfBytes){value.data, shown});
        if (shown < n)
            vf_text_string(&text, "\xe2\x80\xa6");
        if (end != NULL)
            vf_text_char(&text, '\n');
        value.data += n + (end != NULL);
        value.size -= n + (end != NULL);
    }
    if (vf_text_get(&text, &done, NULL) != VF_OK)
        html->has_failed = true;
    return (const xmlChar *)(done.data == NULL ? "" : done.data);
}

void vf_html_bytes(VfHtml *html, VfBytes text)
{
    if (!html->has_failed && text.size > 0)
        note(html, xmlTextWriterWriteString(html->writer, fit(html, text)));
}

void vf_html_string(VfHtml *html, const char *text)
{
    vf_html_bytes(html, vf_bytes(text));
}

static VfBytes format(VfHtml *html, const char *fmt, va_list args)
{
    char small[256];
    int n = vsnprintf(small, sizeof small, fmt, args);
    if (n < 0 || (size_t)n >= sizeof small) {
        html->has_failed = true;
        return (VfBytes){"", 0};
    }
    char *copy = vf_arena_copy(html->arena, small, (size_t)n);
    html->has_failed |= copy == NULL;
    return copy == NULL ? (VfBytes){"", 0} : (VfBytes){copy, (size_t)n};
}

void vf_html_printf(VfHtml *html, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vf_html_bytes(html, format(html, fmt, args));
    va_end(args);
}

/* --- elements --- */

void vf_html_attr(VfHtml *html, const char *name, VfBytes value)
{
    if (!html->has_failed)
        note(html, xmlTextWriterWriteAttribute(html->writer, BAD_CAST name, fit(html, value)));
}

void vf_html_open(VfHtml *html, const char *name, ...)
{
    va_list args;
    html->depth++;
    if (!html->has_failed)
        note(html, xmlTextWriterStartElement(html->writer, BAD_CAST name));
    va_start(args, name);
    for (const char *key = va_arg(args, const char *); key != NULL;
         key = va_arg(args, const char *)) {
        const char *value = va_arg(args, const char *);
        if (value != NULL)
            vf_html_attr(html, key, vf_bytes(value));
    }
    va_end(args);
}

void vf_html_close(VfHtml *html)
{
    html->depth--;
    if (!html->has_failed)
        note(html, xmlTextWriterFullEndElement(html->writer));
}

void vf_html_close_line(VfHtml *html)
{
    vf_html_close(html);
    vf_html_markup(html, (VfBytes){"\n", 1});
}

void vf_html_close_void(VfHtml *html)
{
    html->depth--;
    if (!html->has_failed)
        note(html, xmlTextWriterEndElement(html->writer));
}

void vf_html_element(VfHtml *html, const char *name, VfBytes text)
{
    vf_html_open(html, name, NULL);
    vf_html_bytes(html, text);
    vf_html_close(html);
}

void vf_html_markup(VfHtml *html, VfBytes markup)
{
    enum { PIECE = 1 << 20 };
    for (size_t i = 0; i < markup.size && !html->has_failed; i += PIECE) {
        size_t n = markup.size - i < PIECE ? markup.size - i : PIECE;
        note(html, xmlTextWriterWriteRawLen(html->writer, BAD_CAST(markup.data + i), (int)n));
    }
}

/* Within comments of CSS and JavaScript, the marks that keep an XML parser from looking. */
void vf_html_code(VfHtml *html, const char *element, VfBytes code)
{
    vf_html_open(html, element, NULL);
    vf_html_markup(html, vf_bytes("/*<![CDATA[*/\n"));
    vf_html_markup(html, code);
    vf_html_markup(html, vf_bytes("/*]]>*/"));
    vf_html_close_line(html);
}
