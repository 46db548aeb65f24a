/* Name scopes: the part of a node's name that says where in the network it is.
 *
 * Exporters spell them "/layers.0/blocks.1/attn/MatMul" or "layers.0.blocks.1.attn". A scope ends
 * with '/' or '.'; an empty one says nothing.
 */
#ifndef VF_DRAW_MAP_NAMES_H
#define VF_DRAW_MAP_NAMES_H

#include "runtime/base/text.h"

/* The scope of a name; the scope two scopes have in common. */
VfBytes vf_scope_of(VfBytes name);
VfBytes vf_scope_both(VfBytes a, VfBytes b);

/* How many numbers it holds that stand for themselves or end a word: "layers.0/blocks.1/" has 2. */
int32_t vf_scope_depth(VfBytes scope);

bool vf_scope_has_digit(VfBytes words);

/* Its parts joined by '/', all or those with a number; in `arena`. */
VfStatus vf_scope_label(VfArena *arena, VfBytes scope, bool only_numbered, VfBytes *out,
                        VfErr *err);

#endif
