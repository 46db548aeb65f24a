#include "runtime/base/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/size.h"

void vf_text_init(VfText *text, VfArena *arena)
{
    *text = (VfText){.arena = arena};
}

/* Make room for `more` bytes and the terminator. */
static bool reserve(VfText *text, size_t more)
{
    size_t need;
    if (text->failed)
        return false;
    if (!vf_size_add(text->size, more, &need) || !vf_size_add(need, 1, &need)) {
        text->failed = true;
        return false;
    }
    void *data = text->data;
    text->failed = vf_arena_grow(text->arena, &data, &text->capacity, need, 1, NULL) != VF_OK;
    text->data = data;
    return !text->failed;
}

void vf_text_add(VfText *text, const void *data, size_t size)
{
    if (!reserve(text, size))
        return;
    if (size > 0)
        memcpy(text->data + text->size, data, size);
    text->size += size;
    text->data[text->size] = '\0';
}

void vf_text_string(VfText *text, const char *string)
{
    vf_text_add(text, string, strlen(string));
}

void vf_text_char(VfText *text, char c)
{
    vf_text_add(text, &c, 1);
}

void vf_text_printf(VfText *text, const char *fmt, ...)
{
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, fmt, args);
    if (n < 0)
        text->failed = true;
    else if (reserve(text, (size_t)n)) {
        vsnprintf(text->data + text->size, (size_t)n + 1, fmt, again);
        text->size += (size_t)n;
    }
    va_end(again);
    va_end(args);
}

void vf_text_repeat(VfText *text, char c, size_t count)
{
    if (!reserve(text, count))
        return;
    memset(text->data + text->size, c, count);
    text->size += count;
    text->data[text->size] = '\0';
}

size_t vf_utf8_length(const char *data, size_t size)
{
    const unsigned char *s = (const unsigned char *)data;
    if (size == 0)
        return 0;
    if (s[0] < 0x80)
        return 1;
    size_t n = s[0] >= 0xF0 ? 4 : s[0] >= 0xE0 ? 3 : 2;
    if (s[0] < 0xC2 || s[0] > 0xF4 || size < n)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xC0) != 0x80)
            return 0;
    bool overlong = (s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xF0 && s[1] < 0x90);
    bool surrogate = s[0] == 0xED && s[1] > 0x9F;
    bool too_large = s[0] == 0xF4 && s[1] > 0x8F;
    return overlong || surrogate || too_large ? 0 : n;
}

static bool is_control(const char *data)
{
    unsigned char c = (unsigned char)data[0];
    bool is_c1 = c == 0xC2 && (unsigned char)data[1] < 0xA0;
    return c < 0x20 || c == 0x7F || is_c1;
}

static void json_escape(VfText *text, char c)
{
    static const char plain[] = "\"\\\b\f\n\r\t", letter[] = "\"\\bfnrt";
    const char *at = c == '\0' ? NULL : strchr(plain, c);
    if (at != NULL)
        vf_text_printf(text, "\\%c", letter[at - plain]);
    else
        vf_text_printf(text, "\\u%04x", (unsigned)(unsigned char)c);
}

void vf_text_json(VfText *text, VfBytes value)
{
    vf_text_char(text, '"');
    for (size_t i = 0; i < value.size;) {
        const char *at = value.data + i;
        size_t n = vf_utf8_length(at, value.size - i);
        if (n == 0) {
            vf_text_printf(text, "\\\\x%02x", (unsigned)(unsigned char)*at);
        } else if (n == 1 && (is_control(at) || *at == '"' || *at == '\\')) {
            json_escape(text, *at);
        } else {
            vf_text_add(text, at, n);
        }
        i += n == 0 ? 1 : n;
    }
    vf_text_char(text, '"');
}

void vf_text_visible(VfText *text, VfBytes value)
{
    for (size_t i = 0; i < value.size;) {
        const char *at = value.data + i;
        size_t n = vf_utf8_length(at, value.size - i);
        if (n != 0 && !is_control(at)) {
            vf_text_add(text, at, n);
            i += n;
        } else {
            vf_text_printf(text, "\\x%02x", (unsigned)(unsigned char)*at);
            i++;
        }
    }
}

size_t vf_visible_width(VfBytes value)
{
    size_t width = 0;
    for (size_t i = 0; i < value.size;) {
        size_t n = vf_utf8_length(value.data + i, value.size - i);
        bool is_shown = n != 0 && !is_control(value.data + i);
        width += is_shown ? 1 : 4;
        i += is_shown ? n : 1;
    }
    return width;
}

/* Python and JSON readers agree on the spelling of infinities only by name. */
static bool add_special(VfText *text, double value)
{
    if (isnan(value))
        vf_text_string(text, "nan");
    else if (isinf(value))
        vf_text_string(text, value < 0 ? "-inf" : "inf");
    else
        return false;
    return true;
}

void vf_text_double(VfText *text, double value)
{
    if (add_special(text, value))
        return;
    char digits[40];
    for (int precision = 1; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, value);
        double back = strtod(digits, NULL);
        if (memcmp(&back, &value, sizeof back) == 0)
            break;
    }
    vf_text_string(text, digits);
}

void vf_text_float(VfText *text, float value)
{
    if (add_special(text, (double)value))
        return;
    char digits[40];
    for (int precision = 1; precision <= 9; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, (double)value);
        float back = strtof(digits, NULL);
        if (memcmp(&back, &value, sizeof back) == 0)
            break;
    }
    vf_text_string(text, digits);
}

VfStatus vf_text_get(const VfText *text, VfBytes *out, VfErr *err)
{
    if (text->failed)
        return vf_no_memory(err);
    *out = (VfBytes){text->data == NULL ? "" : text->data, text->size};
    return VF_OK;
}
