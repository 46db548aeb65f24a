/* Words of the .vft text form; docs/vft.md describes them.
 *
 * The lexer holds one token. Texts it hands out lie in the arena given (strings with escapes)
 * or in the text being read (words), so they live as long as the shorter of both.
 */
#ifndef VF_IR_VFT_LEX_H
#define VF_IR_VFT_LEX_H

#include <stdbool.h>

#include "runtime/base/arena.h"
#include "runtime/base/bytes.h"
#include "runtime/base/status.h"

typedef enum VfVftKind {
    VF_VFT_END,
    VF_VFT_WORD,   /* letters, digits and _ . / + - with :: inside; also all numbers */
    VF_VFT_STRING, /* "..." without quotes and escapes */
    VF_VFT_LABEL,  /* %12: an unnamed value; text is the digits */
    VF_VFT_ARROW,  /* -> */
    VF_VFT_SCOPE,  /* :: between spaces or strings */
    VF_VFT_DOTS,   /* ... */
    VF_VFT_CHAR    /* any other single character: text is that byte */
} VfVftKind;

typedef struct VfVftLex {
    const char *file; /* for messages */
    VfBytes source;
    size_t at;         /* first byte after the token */
    size_t start;      /* first byte of the token */
    size_t line_start; /* first byte of the token's line */
    int32_t line;      /* of the token, from 1 */
    VfVftKind kind;
    VfBytes text;
    VfArena *arena;
    VfErr *err;
} VfVftLex;

/* Start reading `source`; the first token is ready after success. */
VfStatus vf_vft_lex_init(VfVftLex *lex, VfBytes source, const char *file, VfArena *arena,
                         VfErr *err);

/* Go to the next token. VF_INVALID: bytes that are no token. */
VfStatus vf_vft_next(VfVftLex *lex);

/* Whether the token is this character, or this word. */
bool vf_vft_is_char(const VfVftLex *lex, char c);
bool vf_vft_is_word(const VfVftLex *lex, const char *word);

/* If the token is this character or word, go on and say so in `*found`. */
VfStatus vf_vft_accept_char(VfVftLex *lex, char c, bool *found);
VfStatus vf_vft_accept_word(VfVftLex *lex, const char *word, bool *found);

/* Go past this character or token, or fail. */
VfStatus vf_vft_expect_char(VfVftLex *lex, char c);
VfStatus vf_vft_expect(VfVftLex *lex, VfVftKind kind, const char *what, VfBytes *text);

/* Fail at the token: "FILE:LINE:COL: sentence". */
VfStatus vf_vft_fail(VfVftLex *lex, const char *fmt, ...) VF_PRINTF(2, 3);

/* Whether `text` can be written as a word without quotes. */
bool vf_vft_is_bare(VfBytes text);

#endif
