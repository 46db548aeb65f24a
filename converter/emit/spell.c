#include "converter/emit/spell.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "runtime/base/intern.h"

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

/* Add `word`, else the first of word_2, word_3 ... that is not taken. `number` has the last one
 * tried for each word taken: those before stay taken. */
static VfStatus add_unique(VfArena *arena, VfIntern *taken, size_t *number, VfBytes word,
                           const char **identifier, VfErr *err)
{
    int32_t id, of_word = vf_intern_find(taken, word);
    VfBytes unique = word;
    size_t k = of_word < 0 ? 0 : number[of_word];
    while (vf_intern_find(taken, unique) >= 0) {
        k++;
        const char *next = vf_arena_printf(arena, "%s_%zu", word.data, k);
        VF_TRY_ALLOC(next, err);
        unique = vf_bytes(next);
        number[of_word] = k;
    }
    VF_TRY(vf_intern_add(taken, unique, &id, err));
    number[id] = 1;
    *identifier = vf_intern_get(taken, id).data;
    return VF_OK;
}

VfStatus vf_spell_identifiers(VfArena *arena, size_t n, const VfBytes *name,
                              const char **identifier, VfErr *err)
{
    VfIntern *taken = vf_intern_new(arena);
    size_t *number = VF_NEW_ARRAY(arena, size_t, n);
    VF_TRY_ALLOC(taken, err);
    VF_TRY_ALLOC(number, err);
    for (size_t i = 0; i < n; i++) {
        size_t size = name[i].size < MAX_IDENTIFIER ? name[i].size : MAX_IDENTIFIER;
        char *word = vf_arena_copy(arena, name[i].data, size);
        VF_TRY_ALLOC(word, err);
        for (size_t k = 0; k < size; k++)
            word[k] = is_word(word[k]) ? word[k] : '_';
        VF_TRY(add_unique(arena, taken, number, vf_bytes(word), &identifier[i], err));
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
