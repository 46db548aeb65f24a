#include <stdlib.h>

#include "passes/ir/symbols.h"

/* An expression taken apart: a sum of monomials, or the factors of one. */
typedef struct Terms {
    int32_t n;
    VfDim term[2 * VF_TERM_MAX + 2];
} Terms;

static bool is_unknown(VfDim d)
{
    return d.sym == VF_SYM_UNKNOWN && d.k != 0;
}

static VfDim monomial(int64_t k, int32_t sym)
{
    if (k == 0)
        return vf_dim(0);
    return sym == VF_SYM_UNKNOWN ? vf_dim_unknown() : (VfDim){k, sym};
}

static int64_t gcd(int64_t a, int64_t b)
{
    uint64_t x = a < 0 ? 0 - (uint64_t)a : (uint64_t)a;
    uint64_t y = b < 0 ? 0 - (uint64_t)b : (uint64_t)b;
    while (y != 0) {
        uint64_t rest = x % y;
        x = y;
        y = rest;
    }
    return x > INT64_MAX ? 1 : (int64_t)x;
}

/* Rounded down; b > 0. */
static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* --- products --- */

static int by_symbol(const void *a, const void *b)
{
    const VfDim *x = a, *y = b;
    return (x->sym > y->sym) - (x->sym < y->sym);
}

static void add_factors(const VfSymbols *symbols, int32_t sym, Terms *factors)
{
    const VfSymbol *symbol = vf_symbol_get(symbols, sym);
    if (sym == VF_SYM_ONE)
        return;
    if (symbol->kind != VF_SYMBOL_PRODUCT) {
        factors->term[factors->n++] = (VfDim){1, sym};
        return;
    }
    for (int32_t i = 0; i < symbol->n; i++)
        factors->term[factors->n++] = symbol->term[i];
}

static int32_t product_of(VfSymbols *symbols, Terms *factors)
{
    if (factors->n == 0)
        return VF_SYM_ONE;
    if (factors->n == 1)
        return factors->term[0].sym;
    if (factors->n > VF_TERM_MAX)
        return VF_SYM_UNKNOWN;
    qsort(factors->term, (size_t)factors->n, sizeof factors->term[0], by_symbol);
    return vf_symbol_make(symbols, VF_SYMBOL_PRODUCT, factors->n, factors->term);
}

VfDim vf_dim_mul(VfSymbols *symbols, VfDim a, VfDim b)
{
    int64_t k;
    if (vf_dim_is(a, 0) || vf_dim_is(b, 0))
        return vf_dim(0);
    if (is_unknown(a) || is_unknown(b) || __builtin_mul_overflow(a.k, b.k, &k))
        return vf_dim_unknown();
    Terms factors = {0, {{0, 0}}};
    add_factors(symbols, a.sym, &factors);
    add_factors(symbols, b.sym, &factors);
    return monomial(k, product_of(symbols, &factors));
}

/* --- sums --- */

/* Add `scale` times `d` to the sum, merging equal symbols. False on overflow. */
static bool add_term(Terms *sum, VfDim d, int64_t scale)
{
    int64_t k;
    if (d.k == 0)
        return true;
    if (__builtin_mul_overflow(d.k, scale, &k))
        return false;
    for (int32_t i = 0; i < sum->n; i++) {
        if (sum->term[i].sym == d.sym)
            return !__builtin_add_overflow(sum->term[i].k, k, &sum->term[i].k);
    }
    sum->term[sum->n++] = (VfDim){k, d.sym};
    return true;
}

static bool add_terms(const VfSymbols *symbols, Terms *sum, VfDim d, int64_t scale)
{
    const VfSymbol *symbol = vf_symbol_get(symbols, d.sym);
    int64_t factor;
    if (d.k == 0)
        return true;
    if (symbol->kind != VF_SYMBOL_SUM)
        return add_term(sum, d, scale);
    if (__builtin_mul_overflow(d.k, scale, &factor))
        return false;
    for (int32_t i = 0; i < symbol->n; i++) {
        if (!add_term(sum, symbol->term[i], factor))
            return false;
    }
    return true;
}

/* By symbol, the plain number (symbol one) last. */
static int number_last(const void *a, const void *b)
{
    const VfDim *x = a, *y = b;
    bool x_is_number = x->sym == VF_SYM_ONE, y_is_number = y->sym == VF_SYM_ONE;
    return x_is_number != y_is_number ? x_is_number - y_is_number : by_symbol(a, b);
}

/* The terms as one monomial: their common divisor times a symbol for the rest. */
static VfDim sum_of(VfSymbols *symbols, Terms *sum)
{
    int32_t n = 0;
    int64_t divisor = 0;
    for (int32_t i = 0; i < sum->n; i++) {
        if (sum->term[i].k == 0)
            continue;
        divisor = gcd(sum->term[i].k, divisor);
        sum->term[n++] = sum->term[i];
    }
    if (n == 0)
        return vf_dim(0);
    if (n == 1)
        return sum->term[0];
    if (n > VF_TERM_MAX)
        return vf_dim_unknown();
    qsort(sum->term, (size_t)n, sizeof sum->term[0], number_last);
    for (int32_t i = 0; i < n; i++)
        sum->term[i].k /= divisor;
    return monomial(divisor, vf_symbol_make(symbols, VF_SYMBOL_SUM, n, sum->term));
}

static VfDim add_scaled(VfSymbols *symbols, VfDim a, VfDim b, int64_t scale)
{
    Terms sum = {0, {{0, 0}}};
    if (is_unknown(a) || is_unknown(b))
        return vf_dim_unknown();
    if (!add_terms(symbols, &sum, a, 1) || !add_terms(symbols, &sum, b, scale))
        return vf_dim_unknown();
    return sum_of(symbols, &sum);
}

VfDim vf_dim_add(VfSymbols *symbols, VfDim a, VfDim b)
{
    return add_scaled(symbols, a, b, 1);
}

VfDim vf_dim_sub(VfSymbols *symbols, VfDim a, VfDim b)
{
    return add_scaled(symbols, a, b, -1);
}

/* --- quotients --- */

/* Take the factors that both have out of both. */
static void cancel(Terms *a, Terms *b)
{
    for (int32_t i = 0; i < a->n; i++) {
        for (int32_t j = 0; j < b->n; j++) {
            if (a->term[i].sym != b->term[j].sym)
                continue;
            a->term[i--] = a->term[--a->n];
            b->term[j] = b->term[--b->n];
            break;
        }
    }
}

/* floor(sum / d) when d divides all terms but the number: the rest of the number cannot carry. */
static bool divide_sum(VfSymbols *symbols, VfDim a, int64_t d, VfDim *out)
{
    Terms sum = {0, {{0, 0}}};
    if (!add_terms(symbols, &sum, a, 1))
        return false;
    for (int32_t i = 0; i < sum.n; i++) {
        VfDim *term = &sum.term[i];
        if (term->sym != VF_SYM_ONE && term->k % d != 0)
            return false;
        term->k = floor_div(term->k, d);
    }
    *out = sum_of(symbols, &sum);
    return true;
}

/* Rounding down twice is rounding down once by the product of the divisors. */
static VfDim quotient_of(VfSymbols *symbols, VfDim a, VfDim b)
{
    const VfSymbol *symbol = vf_symbol_get(symbols, a.sym);
    if (symbol->kind == VF_SYMBOL_QUOTIENT && a.k == 1 && vf_dim_is_known(b) &&
        vf_dim_is_known(symbol->term[1])) {
        VfDim product = vf_dim_mul(symbols, symbol->term[1], b);
        return is_unknown(product) ? product : vf_dim_div(symbols, symbol->term[0], product);
    }
    VfDim term[] = {a, b};
    return monomial(1, vf_symbol_make(symbols, VF_SYMBOL_QUOTIENT, 2, term));
}

VfDim vf_dim_div(VfSymbols *symbols, VfDim a, VfDim b)
{
    Terms above = {0, {{0, 0}}}, below = {0, {{0, 0}}};
    if (is_unknown(a) || is_unknown(b) || b.k <= 0)
        return vf_dim_unknown();
    if (a.k == 0)
        return vf_dim(0);
    add_factors(symbols, a.sym, &above);
    add_factors(symbols, b.sym, &below);
    cancel(&above, &below);
    int64_t common = gcd(a.k, b.k);
    a = monomial(a.k / common, product_of(symbols, &above));
    b = monomial(b.k / common, product_of(symbols, &below));
    if (is_unknown(a) || is_unknown(b))
        return vf_dim_unknown();
    if (vf_dim_is(b, 1))
        return a;
    if (vf_dim_is_known(a) && vf_dim_is_known(b))
        return vf_dim(floor_div(a.k, b.k));
    VfDim exact;
    if (vf_dim_is_known(b) && divide_sum(symbols, a, b.k, &exact))
        return exact;
    return quotient_of(symbols, a, b);
}

/* --- reading --- */

VfDim vf_dim_from_text(VfSymbols *symbols, VfBytes text)
{
    int64_t k = 0;
    size_t i = 0;
    bool fits = true;
    while (i < text.size && text.data[i] >= '0' && text.data[i] <= '9') {
        fits = fits && !__builtin_mul_overflow(k, 10, &k) &&
               !__builtin_add_overflow(k, text.data[i] - '0', &k);
        i++;
    }
    bool is_factor =
        fits && k > 1 && text.data[0] != '0' && i + 1 < text.size && text.data[i] == '*';
    if (!is_factor)
        return monomial(1, vf_symbol_intern(symbols, text));
    VfBytes rest = {text.data + i + 1, text.size - i - 1};
    if (rest.size > 2 && rest.data[0] == '(' && rest.data[rest.size - 1] == ')')
        rest = (VfBytes){rest.data + 1, rest.size - 2};
    return monomial(k, vf_symbol_intern(symbols, rest));
}
