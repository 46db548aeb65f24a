#include "converter/draw/words.h"

#include <string.h>

static const char cut_mark[] = "\xe2\x80\xa6";

/* U+FFFE and U+FFFF are UTF-8, but no characters of XML. */
static bool is_character(const char *data, size_t length)
{
    return length != 3 || (memcmp(data, "\xef\xbf\xbe", 3) != 0 &&
                           memcmp(data, "\xef\xbf\xbf", 3) != 0);
}

static void put_byte(VfText *text, char c)
{
    if (strchr("&<>\"'", c) != NULL)
        vf_text_printf(text, "&#%d;", c);
    else
        vf_text_char(text, c);
}

void vf_draw_escape(VfText *text, VfBytes words)
{
    for (size_t i = 0; i < words.size;) {
        const char *at = words.data + i;
        size_t length = vf_utf8_length(at, words.size - i);
        bool is_good = length > 0 && is_character(at, length) &&
                       (length > 1 || ((unsigned char)*at >= 0x20 && *at != 0x7f));
        if (is_good && length == 1)
            put_byte(text, *at);
        else if (is_good)
            vf_text_add(text, at, length);
        for (size_t k = 0; !is_good && k < (length == 0 ? 1 : length); k++)
            vf_text_printf(text, "\\x%02x", (unsigned)(unsigned char)at[k]);
        i += length == 0 ? 1 : length;
    }
}

VfStatus vf_draw_short(VfArena *arena, VfBytes name, size_t columns, VfBytes *out, VfErr *err)
{
    *out = name;
    if (vf_visible_width(name) <= columns)
        return VF_OK;
    VfBytes tail = name;
    /* Width shrinks with every character taken, so this ends; names of a megabyte are cut first. */
    size_t most = 4 * columns;
    if (tail.size > most)
        tail = (VfBytes){name.data + (name.size - most), most};
    while (tail.size > most - 4 && ((unsigned char)*tail.data & 0xc0) == 0x80)
        tail = (VfBytes){tail.data + 1, tail.size - 1}; /* not from within a character */
    while (tail.size > 0 && vf_visible_width(tail) + 1 > columns) {
        size_t length = vf_utf8_length(tail.data, tail.size);
        length = length == 0 ? 1 : length;
        tail = (VfBytes){tail.data + length, tail.size - length};
    }
    VfText text;
    vf_text_init(&text, arena);
    vf_text_string(&text, cut_mark);
    vf_text_add(&text, tail.data, tail.size);
    return vf_text_get(&text, out, err);
}

double vf_draw_width(VfBytes words, double size)
{
    enum { COLUMNS_MAX = 1 << 16 }; /* no layout takes more */
    size_t columns = vf_visible_width(words);
    return size * 0.6 * (double)(columns > COLUMNS_MAX ? COLUMNS_MAX : columns);
}
