/* The structure behind interned symbols, for the files that compute with dims.
 *
 * A symbol is a name from a file, or an expression: a product of two or more other symbols, a
 * sum of monomials and a number, or a quotient rounded down. An expression is kept in one
 * canonical order and interned under its text, so that equal expressions are one symbol; a
 * name of a file that spells an expression we compute later takes on its structure.
 */
#ifndef VF_IR_SYMBOLS_H
#define VF_IR_SYMBOLS_H

#include "passes/ir/shape.h"
#include "runtime/base/text.h"

enum {
    VF_TERM_MAX = 16,        /* factors or terms of one symbol; beyond that a result is unknown */
    VF_SYMBOL_BYTES_MAX = 512 /* longest text of an expression */
};

typedef enum VfSymbolKind {
    VF_SYMBOL_NAME,
    VF_SYMBOL_PRODUCT, /* term[i].sym are the factors, by number; no factor is a product */
    VF_SYMBOL_SUM,     /* term[i] by number of their symbols, then one plain number if not 0;
                        * the factors of all terms have no common divisor */
    VF_SYMBOL_QUOTIENT /* term[0] / term[1] */
} VfSymbolKind;

typedef struct VfSymbol {
    VfSymbolKind kind;
    int32_t n;
    const VfDim *term;
} VfSymbol;

/* The structure of a symbol; that of a name for VF_SYM_ONE and VF_SYM_UNKNOWN. */
const VfSymbol *vf_symbol_get(const VfSymbols *symbols, int32_t sym);

/* The symbol with this structure, made if new; the terms are copied. VF_SYM_UNKNOWN when its text
 * would be too long or memory ran out. Terms must be in canonical order. */
int32_t vf_symbol_make(VfSymbols *symbols, VfSymbolKind kind, int32_t n, const VfDim *term);

/* Add a symbol's text as an operand: in brackets unless it is a plain name. */
void vf_symbol_add_operand(VfText *text, VfBytes operand);

#endif
