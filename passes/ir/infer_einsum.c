/* Einsum: the equation's letters and the ellipsis.
 *
 * A letter stands for one length; "..." for leading axes that broadcast. Without "->" the result
 * has the ellipsis, then the letters that occur once, in alphabetical order.
 */
#include "passes/ir/infer_op.h"

#include <ctype.h>
#include <string.h>

enum { LETTERS = 52, TERM_MAX = 64 };

typedef struct Einsum {
    VfDim dim[LETTERS];
    bool is_seen[LETTERS];
    int32_t count[LETTERS];
    VfType ellipsis; /* broadcast of what the ellipses stand for */
    bool has_ellipsis, is_ellipsis_known;
} Einsum;

/* One comma-separated term without blanks: letter indices, -1 for the ellipsis. */
typedef struct Term {
    int32_t n, ellipsis; /* position of the ellipsis, -1 if none */
    int8_t letter[TERM_MAX];
} Term;

static int32_t letter_index(char c)
{
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    return c >= 'A' && c <= 'Z' ? c - 'A' : -1;
}

/* Reads a term up to ',' or '-' or the end; moves *at behind it. */
static VfStatus read_term(const VfInferCx *cx, VfBytes text, size_t *at, Term *term)
{
    *term = (Term){.ellipsis = -1};
    for (; *at < text.size && text.data[*at] != ',' && text.data[*at] != '-'; (*at)++) {
        char c = text.data[*at];
        if (isspace((unsigned char)c))
            continue;
        if (term->n == TERM_MAX)
            return vf_infer_fail(cx, "a term of the equation is too long");
        if (c == '.') {
            if (text.size - *at < 3 || memcmp(text.data + *at, "...", 3) != 0 ||
                term->ellipsis >= 0)
                return vf_infer_fail(cx, "the equation has a stray '.'");
            term->ellipsis = term->n;
            term->letter[term->n++] = -1;
            *at += 2;
            continue;
        }
        int32_t letter = letter_index(c);
        if (letter < 0)
            return vf_infer_fail(cx, "the equation holds '%c'",
                                 isprint((unsigned char)c) ? c : '?');
        term->letter[term->n++] = (int8_t)letter;
    }
    return VF_OK;
}

static VfStatus meet_letter(const VfInferCx *cx, Einsum *e, int32_t letter, VfDim dim)
{
    VfDim *known = &e->dim[letter];
    e->count[letter]++;
    if (!e->is_seen[letter] || vf_dim_is(*known, 1)) {
        *known = dim; /* length 1 broadcasts, as in numpy */
        e->is_seen[letter] = true;
        return VF_OK;
    }
    if (vf_dim_is(dim, 1))
        return VF_OK;
    return vf_infer_unify(cx, *known, dim, "a letter of the equation stands for two lengths",
                          known);
}

static VfStatus bind_term(const VfInferCx *cx, Einsum *e, const Term *term, int32_t slot)
{
    const VfType *type = vf_infer_shape_of(cx, slot);
    int32_t letters = term->n - (term->ellipsis >= 0), spread = type ? type->rank - letters : 0,
            axis = 0;
    if (type && (spread < 0 || (term->ellipsis < 0 && spread != 0)))
        return vf_infer_fail(cx, "operand %d does not have the rank of its term", (int)slot);
    e->has_ellipsis = e->has_ellipsis || term->ellipsis >= 0;
    for (int32_t i = 0; i < term->n; i++) {
        if (i != term->ellipsis) {
            VF_TRY(meet_letter(cx, e, term->letter[i], type ? type->dims[axis] : vf_dim_unknown()));
            axis++;
            continue;
        }
        e->is_ellipsis_known = e->is_ellipsis_known && type;
        if (!type)
            continue;
        VfType part = {VF_TYPE_TENSOR, VF_UNDEFINED, spread, type->dims + axis};
        VF_TRY(vf_infer_broadcast(cx, &e->ellipsis, &part, &e->ellipsis));
        axis += spread;
    }
    return VF_OK;
}

static void implicit_result(const Einsum *e, Term *term)
{
    *term = (Term){.ellipsis = -1};
    if (e->has_ellipsis) {
        term->ellipsis = 0;
        term->letter[term->n++] = -1;
    }
    for (int32_t i = 0; i < LETTERS && term->n < TERM_MAX; i++)
        if (e->count[i] == 1)
            term->letter[term->n++] = (int8_t)i;
}

static VfStatus set_result(const VfInferCx *cx, const Einsum *e, const Term *term)
{
    VfDtype dtype = vf_infer_dtype_of(cx, 0);
    vf_infer_set_dtype(cx, 0, dtype);
    if (term->ellipsis >= 0 && !e->is_ellipsis_known)
        return VF_OK;
    int32_t spread = e->ellipsis.rank, rank = 0;
    VfDim *dims = vf_infer_new_dims(cx, term->n + spread);
    VF_TRY_ALLOC(dims, cx->err);
    for (int32_t i = 0; i < term->n; i++) {
        if (i != term->ellipsis && !e->is_seen[term->letter[i]])
            return vf_infer_fail(cx, "the result has a letter that no operand has");
        if (i != term->ellipsis)
            dims[rank++] = e->dim[term->letter[i]];
        for (int32_t j = 0; i == term->ellipsis && j < spread; j++)
            dims[rank++] = e->ellipsis.dims[j];
    }
    vf_infer_set(cx, 0, dtype, rank, dims);
    return VF_OK;
}

VfStatus vf_infer_einsum(const VfInferCx *cx)
{
    VfBytes text = vf_node_string(cx->node, "equation");
    Einsum e = {.is_ellipsis_known = true, .ellipsis = {VF_TYPE_TENSOR, VF_UNDEFINED, 0, NULL}};
    Term term;
    size_t at = 0;
    int32_t slot = 0;
    for (;; at++) {
        VF_TRY(read_term(cx, text, &at, &term));
        if (slot >= cx->n_in)
            return vf_infer_fail(cx, "the equation has more terms than there are operands");
        VF_TRY(bind_term(cx, &e, &term, slot++));
        if (at >= text.size || text.data[at] != ',')
            break;
    }
    if (slot != cx->n_in)
        return vf_infer_fail(cx, "the equation has %d terms for %d operands", (int)slot,
                             (int)cx->n_in);
    if (at >= text.size) {
        implicit_result(&e, &term);
        return set_result(cx, &e, &term);
    }
    if (text.size - at < 2 || text.data[at + 1] != '>')
        return vf_infer_fail(cx, "the equation has a stray '-'");
    at += 2;
    VF_TRY(read_term(cx, text, &at, &term));
    if (at < text.size)
        return vf_infer_fail(cx, "the equation has more than one result");
    return set_result(cx, &e, &term);
}
