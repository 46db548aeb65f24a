#include <string.h>

#include "converter/draw/map_names.h"

static bool is_mark(char c)
{
    return c == '/' || c == '.';
}

/* Up to the last mark, which stays. */
static VfBytes cut(VfBytes name)
{
    while (name.size > 0 && !is_mark(name.data[name.size - 1]))
        name.size--;
    return name;
}

VfBytes vf_scope_of(VfBytes name)
{
    return cut(name);
}

VfBytes vf_scope_both(VfBytes a, VfBytes b)
{
    size_t n = 0;
    while (n < a.size && n < b.size && a.data[n] == b.data[n])
        n++;
    return cut((VfBytes){a.data, n});
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

int32_t vf_scope_depth(VfBytes scope)
{
    int32_t n = 0;
    for (size_t i = 0; i < scope.size; i++) {
        bool starts = is_digit(scope.data[i]) &&
                      (i == 0 || is_mark(scope.data[i - 1]) || scope.data[i - 1] == '_');
        size_t end = i;
        while (end < scope.size && is_digit(scope.data[end]))
            end++;
        n += starts && end < scope.size && is_mark(scope.data[end]);
        i = starts ? end : i;
    }
    return n;
}

bool vf_scope_has_digit(VfBytes part)
{
    for (size_t i = 0; i < part.size; i++)
        if (is_digit(part.data[i]))
            return true;
    return false;
}

VfStatus vf_scope_label(VfArena *arena, VfBytes scope, bool only_numbered, VfBytes *out, VfErr *err)
{
    VfText text;
    vf_text_init(&text, arena);
    for (size_t i = 0; i < scope.size;) {
        size_t end = i;
        while (end < scope.size && scope.data[end] != '/')
            end++;
        VfBytes part = {scope.data + i, end - i};
        while (part.size > 0 && part.data[part.size - 1] == '.')
            part.size--;
        /* "layers" says nothing before "layers.0" */
        bool is_again = end + part.size < scope.size &&
                        memcmp(scope.data + end + 1, part.data, part.size) == 0;
        if (part.size > 0 && !is_again && (!only_numbered || vf_scope_has_digit(part))) {
            vf_text_string(&text, text.size == 0 ? "" : "/");
            vf_text_add(&text, part.data, part.size);
        }
        i = end + 1;
    }
    return vf_text_get(&text, out, err);
}
