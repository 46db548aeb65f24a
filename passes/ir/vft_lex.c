#include "passes/ir/vft_lex.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "runtime/base/text.h"

VfStatus vf_vft_fail(VfVftLex *lex, const char *fmt, ...)
{
    char text[VF_ERR_TEXT_BYTES];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return vf_fail(lex->err, VF_INVALID, "%s:%d:%zu: %s", lex->file, (int)lex->line,
                   lex->start - lex->line_start + 1, text);
}

static int byte_at(const VfVftLex *lex, size_t at)
{
    return at < lex->source.size ? (unsigned char)lex->source.data[at] : -1;
}

static bool is_word_byte(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '/' || c == '+' || c == '-';
}

static void skip_space(VfVftLex *lex)
{
    for (;;) {
        int c = byte_at(lex, lex->at);
        if (c == '#') {
            while (byte_at(lex, lex->at) >= 0 && byte_at(lex, lex->at) != '\n')
                lex->at++;
        } else if (c == '\n') {
            lex->line++;
            lex->line_start = ++lex->at;
        } else if (c == ' ' || c == '\t' || c == '\r' || c == ';') {
            lex->at++;
        } else {
            return;
        }
    }
}

/* A word goes on over "::" when a word byte follows, and ends before "->". */
static size_t word_end(const VfVftLex *lex, size_t at)
{
    for (;;) {
        int c = byte_at(lex, at), next = byte_at(lex, at + 1);
        if (c == ':' && next == ':' && is_word_byte(byte_at(lex, at + 2)))
            at += 2;
        else if (is_word_byte(c) && !(c == '-' && next == '>'))
            at++;
        else
            return at;
    }
}

static int hex_digit(int c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The byte an escape stands for; lex->at is after the backslash and is moved past the escape. */
static VfStatus read_escape(VfVftLex *lex, char *out)
{
    static const char letter[] = "ntr0\"\\", byte[] = "\n\t\r\0\"\\";
    int c = byte_at(lex, lex->at++);
    int high = hex_digit(byte_at(lex, lex->at)), low = hex_digit(byte_at(lex, lex->at + 1));
    if (c == 'x' && high >= 0 && low >= 0) {
        lex->at += 2;
        *out = (char)(high << 4 | low);
        return VF_OK;
    }
    const char *found = c > 0 ? strchr(letter, c) : NULL;
    if (found == NULL)
        return vf_vft_fail(
            lex, "a string holds an escape that is none of \\n \\t \\r \\0 \\\" \\\\ \\xNN");
    *out = byte[found - letter];
    return VF_OK;
}

static VfStatus read_string(VfVftLex *lex)
{
    VfText text;
    vf_text_init(&text, lex->arena);
    vf_text_add(&text, "", 0);
    lex->at++;
    for (;;) {
        int c = byte_at(lex, lex->at);
        char byte = (char)c;
        if (c < 0 || c == '\n')
            return vf_vft_fail(lex, "a string is not closed on its line");
        lex->at++;
        if (c == '"')
            break;
        if (c == '\\')
            VF_TRY(read_escape(lex, &byte));
        vf_text_char(&text, byte);
    }
    lex->kind = VF_VFT_STRING;
    VF_TRY(vf_text_get(&text, &lex->text, lex->err));
    if (lex->text.data == NULL)
        lex->text.data = "";
    return VF_OK;
}

static void take(VfVftLex *lex, VfVftKind kind, size_t end)
{
    lex->kind = kind;
    lex->text = (VfBytes){lex->source.data + lex->start, end - lex->start};
    lex->at = end;
}

static VfStatus read_label(VfVftLex *lex)
{
    size_t end = lex->at + 1;
    while (byte_at(lex, end) >= '0' && byte_at(lex, end) <= '9')
        end++;
    if (end == lex->at + 1)
        return vf_vft_fail(lex, "no number follows %%");
    take(lex, VF_VFT_LABEL, end);
    lex->text = (VfBytes){lex->text.data + 1, lex->text.size - 1};
    return VF_OK;
}

VfStatus vf_vft_next(VfVftLex *lex)
{
    skip_space(lex);
    lex->start = lex->at;
    int c = byte_at(lex, lex->at), next = byte_at(lex, lex->at + 1);
    if (c < 0)
        take(lex, VF_VFT_END, lex->at);
    else if (c == '"')
        return read_string(lex);
    else if (c == '%')
        return read_label(lex);
    else if (c == '-' && next == '>')
        take(lex, VF_VFT_ARROW, lex->at + 2);
    else if (c == ':' && next == ':')
        take(lex, VF_VFT_SCOPE, lex->at + 2);
    else if (c == '.' && next == '.' && byte_at(lex, lex->at + 2) == '.')
        take(lex, VF_VFT_DOTS, lex->at + 3);
    else if (is_word_byte(c))
        take(lex, VF_VFT_WORD, word_end(lex, lex->at));
    else if (c > ' ' && c < 127)
        take(lex, VF_VFT_CHAR, lex->at + 1);
    else
        return vf_vft_fail(lex, "byte 0x%02x has no meaning outside a string", (unsigned)c);
    return VF_OK;
}

VfStatus vf_vft_lex_init(VfVftLex *lex, VfBytes source, const char *file, VfArena *arena,
                         VfErr *err)
{
    *lex = (VfVftLex){.file = file, .source = source, .line = 1, .arena = arena, .err = err};
    return vf_vft_next(lex);
}

bool vf_vft_is_char(const VfVftLex *lex, char c)
{
    return lex->kind == VF_VFT_CHAR && lex->text.data[0] == c;
}

bool vf_vft_is_word(const VfVftLex *lex, const char *word)
{
    return lex->kind == VF_VFT_WORD && lex->text.size == strlen(word) &&
           memcmp(lex->text.data, word, lex->text.size) == 0;
}

VfStatus vf_vft_accept_char(VfVftLex *lex, char c, bool *found)
{
    *found = vf_vft_is_char(lex, c);
    return *found ? vf_vft_next(lex) : VF_OK;
}

VfStatus vf_vft_accept_word(VfVftLex *lex, const char *word, bool *found)
{
    *found = vf_vft_is_word(lex, word);
    return *found ? vf_vft_next(lex) : VF_OK;
}

/* What stands here, for messages: short and printable. */
static VfStatus fail_expected(VfVftLex *lex, const char *what)
{
    VfText text;
    VfBytes found = lex->text, out;
    if (lex->kind == VF_VFT_END)
        return vf_vft_fail(lex, "expected %s, found the end", what);
    found.size = found.size > 40 ? 40 : found.size;
    vf_text_init(&text, lex->arena);
    vf_text_visible(&text, found);
    VF_TRY(vf_text_get(&text, &out, lex->err));
    return vf_vft_fail(lex, "expected %s, found '%s'", what, out.data != NULL ? out.data : "");
}

VfStatus vf_vft_expect_char(VfVftLex *lex, char c)
{
    char what[] = {'\'', c, '\'', '\0'};
    return vf_vft_is_char(lex, c) ? vf_vft_next(lex) : fail_expected(lex, what);
}

VfStatus vf_vft_expect(VfVftLex *lex, VfVftKind kind, const char *what, VfBytes *text)
{
    if (lex->kind != kind)
        return fail_expected(lex, what);
    if (text != NULL)
        *text = lex->text;
    return vf_vft_next(lex);
}

bool vf_vft_is_bare(VfBytes text)
{
    VfVftLex lex = {.source = text};
    if (text.size == 0 || !is_word_byte((unsigned char)text.data[0]) ||
        word_end(&lex, 0) != text.size)
        return false;
    bool is_dots = text.size >= 3 && memcmp(text.data, "...", 3) == 0;
    return !is_dots && !(text.size == 1 && text.data[0] == '_');
}
