/* Words in drawings: how wide they are, how they are cut, and how XML holds them. */
#ifndef VF_DRAW_WORDS_H
#define VF_DRAW_WORDS_H

#include "runtime/base/text.h"

/* As characters of an XML document, in attributes too: markup as references, and bytes XML cannot
 * hold (not UTF-8, control characters, U+FFFE, U+FFFF) as \xNN. */
void vf_draw_escape(VfText *text, VfBytes words);

/* `name` in at most `columns` columns (at least 4): what is cut goes at the front, where names of
 * nodes are all alike, and "…" stands for it. In `arena`; VF_NO_MEMORY. */
VfStatus vf_draw_short(VfArena *arena, VfBytes name, size_t columns, VfBytes *out, VfErr *err);

/* Width of words printed by vf_draw_escape in a fixed-width font of `size` pixels, in pixels.
 * Fonts are not asked: the same drawing comes out everywhere. */
double vf_draw_width(VfBytes words, double size);

#endif
