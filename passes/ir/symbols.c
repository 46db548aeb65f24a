#include "passes/ir/symbols.h"

#include "runtime/base/intern.h"

/* Symbol s > 0 is the interned string s - 1. */
struct VfSymbols {
    VfArena *arena;
    VfIntern *name;
    VfSymbol *symbol; /* by symbol */
    size_t capacity;
};

static const VfSymbol plain_name = {VF_SYMBOL_NAME, 0, NULL};

VfSymbols *vf_symbols_new(VfArena *arena)
{
    VfSymbols *symbols = VF_NEW(arena, VfSymbols);
    if (symbols == NULL)
        return NULL;
    symbols->arena = arena;
    symbols->name = vf_intern_new(arena);
    return symbols->name == NULL ? NULL : symbols;
}

int32_t vf_symbol_intern(VfSymbols *symbols, VfBytes name)
{
    int32_t id;
    if (name.size == 0 || vf_intern_add(symbols->name, name, &id, NULL) != VF_OK)
        return VF_SYM_UNKNOWN;
    size_t need = (size_t)id + 2;
    if (vf_arena_grow(symbols->arena, (void **)&symbols->symbol, &symbols->capacity, need,
                      sizeof *symbols->symbol, NULL) != VF_OK)
        return VF_SYM_UNKNOWN;
    return id + 1;
}

VfBytes vf_symbol_text(const VfSymbols *symbols, int32_t sym)
{
    if (sym == VF_SYM_ONE)
        return vf_bytes("1");
    if (sym < 0 || sym > vf_intern_count(symbols->name))
        return vf_bytes("?");
    return vf_intern_get(symbols->name, sym - 1);
}

const VfSymbol *vf_symbol_get(const VfSymbols *symbols, int32_t sym)
{
    if (sym <= 0 || (size_t)sym >= symbols->capacity)
        return &plain_name;
    return &symbols->symbol[sym];
}

static void add_monomial(VfText *text, const VfSymbols *symbols, VfDim d)
{
    const char *name = vf_dim_text(text->arena, symbols, d);
    if (name == NULL)
        text->failed = true;
    else
        vf_text_string(text, name);
}

static void write_product(VfText *text, const VfSymbols *symbols, const VfSymbol *symbol)
{
    for (int32_t i = 0; i < symbol->n; i++) {
        if (i > 0)
            vf_text_char(text, '*');
        vf_symbol_add_operand(text, vf_symbol_text(symbols, symbol->term[i].sym));
    }
}

static void write_sum(VfText *text, const VfSymbols *symbols, const VfSymbol *symbol)
{
    for (int32_t i = 0; i < symbol->n; i++) {
        if (i > 0 && symbol->term[i].k >= 0)
            vf_text_char(text, '+');
        add_monomial(text, symbols, symbol->term[i]);
    }
}

static void write_quotient(VfText *text, const VfSymbols *symbols, const VfSymbol *symbol)
{
    for (int32_t i = 0; i < symbol->n; i++) {
        const char *part = vf_dim_text(text->arena, symbols, symbol->term[i]);
        vf_text_string(text, i > 0 ? "/" : "");
        vf_symbol_add_operand(text, vf_bytes(part != NULL ? part : ""));
        text->failed = text->failed || part == NULL;
    }
}

int32_t vf_symbol_make(VfSymbols *symbols, VfSymbolKind kind, int32_t n, const VfDim *term)
{
    static void (*const write[])(VfText *, const VfSymbols *, const VfSymbol *) = {
        [VF_SYMBOL_PRODUCT] = write_product,
        [VF_SYMBOL_SUM] = write_sum,
        [VF_SYMBOL_QUOTIENT] = write_quotient,
    };
    VfDim *copy = (VfDim *)(void *)vf_arena_copy(symbols->arena, term, (size_t)n * sizeof *term);
    VfSymbol made = {kind, n, copy};
    VfText text;
    VfBytes name;
    vf_text_init(&text, symbols->arena);
    if (copy == NULL)
        return VF_SYM_UNKNOWN;
    write[kind](&text, symbols, &made);
    if (vf_text_get(&text, &name, NULL) != VF_OK || name.size > VF_SYMBOL_BYTES_MAX)
        return VF_SYM_UNKNOWN;
    int32_t sym = vf_symbol_intern(symbols, name);
    if (sym > 0 && symbols->symbol[sym].kind == VF_SYMBOL_NAME)
        symbols->symbol[sym] = made;
    return sym;
}
