/* Text that grows in an arena.
 *
 * A failed allocation is remembered: later calls do nothing, and vf_text_get says so. So
 * printing code need not look at every call. `data` is always terminated by a 0 byte that
 * is not counted; it moves when the text grows. Memory is the arena's, also that which a
 * growing text left behind (at most as much as the text itself).
 */
#ifndef VF_BASE_TEXT_H
#define VF_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "runtime/base/arena.h"
#include "runtime/base/bytes.h"
#include "runtime/base/status.h"

typedef struct VfText {
    VfArena *arena;
    char *data; /* NULL while nothing was added */
    size_t size, capacity;
    bool failed; /* an allocation failed: the text is cut */
} VfText;

/* An empty text in `arena`. */
void vf_text_init(VfText *text, VfArena *arena);

void vf_text_add(VfText *text, const void *data, size_t size);
void vf_text_string(VfText *text, const char *string);
void vf_text_char(VfText *text, char c);
void vf_text_printf(VfText *text, const char *fmt, ...) VF_PRINTF(2, 3);

/* `count` times `c`, for indenting and padding. */
void vf_text_repeat(VfText *text, char c, size_t count);

/* A JSON string with its quotes. Bytes that are not UTF-8 appear as the four characters
 * \xNN (the backslash escaped), so the document is valid whatever a name holds. */
void vf_text_json(VfText *text, VfBytes value);

/* For people: control characters and bytes that are not UTF-8 as \xNN, the rest as it is. */
void vf_text_visible(VfText *text, VfBytes value);

/* The shortest decimal that reads back as the same double: "0.1", "1e+300", "-0", "nan", "inf". */
void vf_text_double(VfText *text, double value);

/* The same for a float: "0.1" for 0.1f. */
void vf_text_float(VfText *text, float value);

/* The finished text, terminated, or VF_NO_MEMORY if any call failed. */
VfStatus vf_text_get(const VfText *text, VfBytes *out, VfErr *err);

/* The length of the UTF-8 sequence at the start of `data`, or 0 if there is no valid one.
 * Overlong forms, surrogates and code points past U+10FFFF are not valid. */
size_t vf_utf8_length(const char *data, size_t size);

/* The finished columns a terminal needs for `value` printed by vf_text_visible. */
size_t vf_visible_width(VfBytes value);

#endif
