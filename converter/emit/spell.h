/* Names of a graph, which may hold any byte, spelled inside C. */
#ifndef VF_EMIT_SPELL_H
#define VF_EMIT_SPELL_H

#include "runtime/base/bytes.h"
#include "runtime/base/text.h"

/* Inside a comment: printable ASCII as it is; other bytes as \xNN; a space keeps the two characters
 * apart that would end or begin a comment or make a trigraph. Long names are cut. */
void vf_spell_comment(VfText *text, VfBytes name);

/* A word of a shell command, quoted where it must be. */
void vf_spell_shell_word(VfText *text, VfBytes name);

/* A string literal with its quotes; bytes that need it as octal escapes. */
void vf_spell_string(VfText *text, VfBytes name);

/* For each name an identifier's tail: letters, digits and underscores, at most 40 of them, no two
 * alike. */
VfStatus vf_spell_identifiers(VfArena *arena, size_t n, const VfBytes *name,
                              const char **identifier, VfErr *err);

/* A floating-point constant that reads back as the same bits (NaNs as NAN). `suffix` is "f" for
 * floats. */
void vf_spell_double(VfText *text, double value, const char *suffix);

/* An integer constant of type int64_t or int. */
void vf_spell_int(VfText *text, int64_t value);

#endif
