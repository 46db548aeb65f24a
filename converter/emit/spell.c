#include "converter/emit/spell.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { MAX_COMMENT = 160, MAX_IDENTIFIER = 40 };

static bool is_printable(char c)
{
    return c >= ' ' && c <= '~';
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Whether `b` behind `a` would mean something to a compiler inside a comment. */
static bool is_special(char a, char b)
{
    return (a == '*' && b == '/') || (a == '/' && b == '*') || (a == '/' && b == '/') ||
           (a == '?' && b == '?');
}

void vf_spell_comment(VfText *text, VfBytes name)
{
    char last = '\0';
    for (size_t i = 0; i < name.size; i++) {
        char c = name.data[i];
        if (i >= MAX_COMMENT) {
            vf_text_string(text, "...");
            break;
        }
        if (is_special(last, c))
            vf_text_char(text, ' ');
        /* A backslash could join lines. */
        if (is_printable(c) && c != '\\')
            vf_text_char(text, c);
        else
            vf_text_printf(text, "\\x%02x", (unsigned char)c);
        last = c;
    }
    /* What the name ends with must not meet what follows it. */
    if (last == '*' || last == '/' || last == '?')
        vf_text_char(text, ' ');
}

void vf_spell_shell_word(VfText *text, VfBytes name)
{
    bool is_plain = name.size > 0;
    for (size_t i = 0; i < name.size; i++)
        is_plain = is_plain && (is_word(name.data[i]) || strchr("./:-", name.data[i]) != NULL) &&
                   name.data[i] != '\0';
    if (is_plain) {
        vf_text_add(text, name.data, name.size);
        return;
    }
    /* $'...' of bash and of POSIX shells since 2024. */
    vf_text_string(text, "$'");
    for (size_t i = 0; i < name.size; i++) {
        if (is_printable(name.data[i]) && strchr("'\\`", name.data[i]) == NULL)
            vf_text_char(text, name.data[i]);
        else
            vf_text_printf(text, "\\%03o", (unsigned char)name.data[i]);
    }
    vf_text_char(text, '\'');
}

void vf_spell_string(VfText *text, VfBytes name)
{
    vf_text_char(text, '"');
    for (size_t i = 0; i < name.size; i++) {
        char c = name.data[i];
        if (is_printable(c) && c != '"' && c != '\\' && c != '?')
            vf_text_char(text, c);
        else
            vf_text_printf(text, "\\%03o", (unsigned char)c);
    }
    vf_text_char(text, '"');
}

static bool is_taken(const char *word, size_t n, const char *const *identifier)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(identifier[i], word) == 0)
            return true;
    return false;
}

VfStatus vf_spell_identifiers(VfArena *arena, size_t n, const VfBytes *name,
                              const char **identifier, VfErr *err)
{
    for (size_t i = 0; i < n; i++) {
        size_t size = name[i].size < MAX_IDENTIFIER ? name[i].size : MAX_IDENTIFIER;
        char *word = vf_arena_copy(arena, name[i].data, size);
        VF_TRY_ALLOC(word, err);
        for (size_t k = 0; k < size; k++)
            word[k] = is_word(word[k]) ? word[k] : '_';
        const char *unique = word;
        for (size_t k = 2; is_taken(unique, i, identifier); k++) {
            unique = vf_arena_printf(arena, "%s_%zu", word, k);
            VF_TRY_ALLOC(unique, err);
        }
        identifier[i] = unique;
    }
    return VF_OK;
}

void vf_spell_double(VfText *text, double value, const char *suffix)
{
    if (isnan(value))
        vf_text_string(text, "NAN");
    else if (isinf(value))
        vf_text_string(text, value < 0 ? "-INFINITY" : "INFINITY");
    else
        vf_text_printf(text, "%a%s", value, suffix);
}

void vf_spell_int(VfText *text, int64_t value)
{
    if (value == INT64_MIN)
        vf_text_printf(text, "(-INT64_C(%" PRId64 ") - 1)", INT64_MAX);
    else if (value > INT32_MAX || value < -INT32_MAX)
        vf_text_printf(text, "INT64_C(%" PRId64 ")", value);
    else
        vf_text_printf(text, "%" PRId64, value);
}
