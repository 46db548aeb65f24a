/* Writes one HTML page, which is well-formed XML too: elements are opened and closed in turn, and
 * all text is escaped.
 *
 * Text may hold any byte: control characters and bytes that are not UTF-8 become visible (\xNN), as
 * do the two characters that XML cannot hold; what is longer than VF_HTML_LINE_MAX bytes in one
 * line is cut, and an ellipsis stands for the rest. Failures are remembered: later calls do
 * nothing, and vf_html_finish says so. Element and attribute names are written as they are.
 */
#ifndef VF_REPORT_HTML_H
#define VF_REPORT_HTML_H

#include "converter/draw/xml_watch.h"
#include "runtime/base/intern.h"
#include "runtime/base/text.h"

enum { VF_HTML_LINE_MAX = 4096 };

/* Must stay where it is, and in its thread, until it is released. */
typedef struct VfHtml {
    VfArena *arena;
    VfText text;   /* the page so far, but for what the writer holds back */
    void *writer;  /* of libxml2 */
    VfXmlWatch watch;
    int depth;     /* open elements */
    bool has_failed;
} VfHtml;

/* Begin a document with its doctype. Release it also after a failure. */
VfStatus vf_html_begin(VfHtml *html, VfArena *arena, VfErr *err);
void vf_html_release(VfHtml *html);

/* Open an element; attributes are pairs of name and terminated value, then NULL. A NULL value
 * leaves its attribute out. */
void vf_html_open(VfHtml *html, const char *name, ...) __attribute__((sentinel));
/* One more attribute of the element just opened. */
void vf_html_attr(VfHtml *html, const char *name, VfBytes value);

void vf_html_bytes(VfHtml *html, VfBytes text);
void vf_html_string(VfHtml *html, const char *text);
/* At most 255 bytes: numbers and words of ours. */
void vf_html_printf(VfHtml *html, const char *fmt, ...) VF_PRINTF(2, 3);

/* Close the innermost element; a void one (`input`, `meta`) with vf_html_close_void. */
void vf_html_close(VfHtml *html);
void vf_html_close_void(VfHtml *html);
/* Close and end the line: where a space between elements does not show. */
void vf_html_close_line(VfHtml *html);

/* <name>text</name>, for what has no attributes. */
void vf_html_element(VfHtml *html, const char *name, VfBytes text);

/* Well-formed markup made elsewhere: a drawing. */
void vf_html_markup(VfHtml *html, VfBytes markup);
/* A style sheet or script, kept from being read as markup. */
void vf_html_code(VfHtml *html, const char *element, VfBytes code);

/* Bytes written so far, within a few thousand. */
size_t vf_html_size(const VfHtml *html);

/* The page, in the arena. VF_INTERNAL if elements are still open. */
VfStatus vf_html_finish(VfHtml *html, VfBytes *page, VfErr *err);

#endif
