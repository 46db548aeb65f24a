/* Operators that do two things at once, taken apart, so that a pass finds what it changes.
 *
 *     SkipLayerNormalization, SkipSimplifiedLayerNormalization    sums, then a norm
 *     BiasGelu, FastGelu with a bias                              a sum, then GELU
 *
 * The function stays the same but for the order of the sums: a bias goes to the term that a layer
 * made. Every operator taken apart is an edit of its own ("take-apart"), one that cannot be is
 * refused with the reason.
 */
#ifndef VF_APART_H
#define VF_APART_H

#include "passes/pass.h"

typedef enum VfApartKind { VF_APART_NORM, VF_APART_ACTIVATION } VfApartKind;

/* Take apart all operators of `kind` in the main graph and its subgraphs. A pass calls it before it
 * looks for sites. */
VfStatus vf_take_apart(VfPassCx *cx, VfApartKind kind, VfErr *err);

#endif
