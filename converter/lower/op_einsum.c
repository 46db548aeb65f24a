/* Einsum: pairs of operands from the left, each pair as one matrix product or, where nothing is
 * summed, one broadcast product.
 *
 * Labels are small numbers: 0 to 51 letters, from 52 on the axes of an ellipsis, counted from
 * its last.
 */
#include "converter/lower/ops.h"

#include <string.h>

#include "passes/ir/attr.h"

enum { N_LETTER = 52, MAX_LABEL = 64, MAX_TERM_AXES = 32 };

typedef struct Term {
    int32_t n;
    int32_t label[MAX_TERM_AXES];
} Term;

/* An operand with the labels of its axes. */
typedef struct Operand {
    VfLowValue *value;
    Term term;
} Operand;

static int32_t letter_label(char c)
{
    if (c >= 'a' && c <= 'z')
        return c - 'a';
    return c >= 'A' && c <= 'Z' ? 26 + c - 'A' : -1;
}

/* One term of the equation; an ellipsis stands for `n_dots` axes (of the output: the most). */
static VfStatus parse_term(const char *text, size_t size, int32_t n_dots, Term *term, VfErr *err)
{
    term->n = 0;
    for (size_t i = 0; i < size; i++) {
        bool is_dots = size - i >= 3 && memcmp(text + i, "...", 3) == 0;
        int32_t n_new = is_dots ? n_dots : 1;
        if (n_new < 0 || term->n + n_new > MAX_TERM_AXES || n_dots > MAX_LABEL - N_LETTER)
            return vf_low_refuse(err, "an equation of too many axes");
        if (!is_dots && letter_label(text[i]) < 0)
            return vf_low_refuse(err, "equation with '%c'", text[i]);
        for (int32_t k = 0; k < n_new; k++)
            term->label[term->n++] = is_dots ? N_LETTER + n_dots - 1 - k : letter_label(text[i]);
        i += is_dots ? 2 : 0;
    }
    return VF_OK;
}

static int32_t letters_of(const char *text, size_t size, bool *has_dots)
{
    int32_t n = 0;
    *has_dots = false;
    for (size_t i = 0; i < size; i++) {
        *has_dots = *has_dots || text[i] == '.';
        n += text[i] != '.';
    }
    return n;
}

static VfStatus equation_text(VfLower *cx, const VfLowCall *call, char **out, VfErr *err)
{
    VfBytes equation = vf_node_string(call->node, "equation");
    *out = vf_arena_alloc(cx->arena, equation.size + 1);
    VF_TRY_ALLOC(*out, err);
    size_t n = 0;
    for (size_t i = 0; i < equation.size; i++)
        if (equation.data[i] != ' ')
            (*out)[n++] = equation.data[i];
    (*out)[n] = '\0';
    return VF_OK;
}

/* Without "->": the axes of the ellipsis, then the labels that occur once in alphabetical order,
 * capitals first. */
static void implicit_output(const Operand *operand, int32_t n, int32_t max_dots, Term *out)
{
    static const char order[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    int32_t count[MAX_LABEL] = {0};
    out->n = 0;
    for (int32_t k = 0; k < n; k++)
        for (int32_t i = 0; i < operand[k].term.n; i++)
            count[operand[k].term.label[i]]++;
    for (int32_t i = max_dots; i-- > 0;)
        out->label[out->n++] = N_LETTER + i;
    for (const char *c = order; *c != '\0' && out->n < MAX_TERM_AXES; c++) {
        int32_t label = letter_label(*c);
        if (label >= 0 && count[label] == 1)
            out->label[out->n++] = label;
    }
}

static VfStatus parse_operands(const char *text, size_t size, VfLowCall *call, Operand *operand,
                               int32_t *max_dots, VfErr *err)
{
    size_t begin = 0;
    *max_dots = 0;
    for (int32_t k = 0; k < call->n_in; k++) {
        size_t end = begin;
        bool has_dots;
        while (end < size && text[end] != ',')
            end++;
        operand[k].value = call->in[k];
        int32_t n_dots = call->in[k]->rank - letters_of(text + begin, end - begin, &has_dots);
        VF_TRY(parse_term(text + begin, end - begin, has_dots ? n_dots : 0, &operand[k].term, err));
        if (operand[k].term.n != call->in[k]->rank || (k + 1 < call->n_in) != (end < size))
            return vf_fail(err, VF_INVALID, "node '%s': the equation does not fit the operands",
                           vf_node_label(call->node));
        *max_dots = has_dots && n_dots > *max_dots ? n_dots : *max_dots;
        begin = end + 1;
    }
    return VF_OK;
}

static uint64_t mask_of(const Term *term)
{
    uint64_t mask = 0;
    for (int32_t i = 0; i < term->n; i++)
        mask |= UINT64_C(1) << term->label[i];
    return mask;
}

static int32_t find_label(const Term *term, int32_t label)
{
    for (int32_t i = 0; i < term->n; i++)
        if (term->label[i] == label)
            return i;
    return -1;
}

/* A label met twice in one term reads the diagonal: one axis with both strides. */
static VfStatus take_diagonals(VfLower *cx, Operand *x, VfErr *err)
{
    int64_t dims[MAX_TERM_AXES], stride[MAX_TERM_AXES];
    Term term = {0};
    VF_TRY(vf_low_place(cx, x->value, err));
    for (int32_t i = 0; i < x->term.n; i++) {
        int32_t at = find_label(&term, x->term.label[i]);
        if (at < 0) {
            at = term.n++;
            term.label[at] = x->term.label[i];
            dims[at] = x->value->dims[i];
            stride[at] = 0;
        } else if (dims[at] != x->value->dims[i]) {
            return vf_low_refuse(err, "a diagonal of unequal axes");
        }
        stride[at] += x->value->stride[i];
    }
    if (term.n == x->term.n)
        return VF_OK;
    x->term = term;
    return vf_low_view(cx, x->value, term.n, dims, stride, 0, &x->value, err);
}

/* Sum the axes whose labels are not in `keep`. */
static VfStatus sum_out(VfLower *cx, Operand *x, uint64_t keep, VfErr *err)
{
    int64_t dims[MAX_TERM_AXES];
    uint64_t axes = 0;
    Term term = {0};
    for (int32_t i = 0; i < x->term.n; i++) {
        if (((keep >> x->term.label[i]) & 1) == 0) {
            axes |= UINT64_C(1) << i;
            continue;
        }
        dims[term.n] = x->value->dims[i];
        term.label[term.n++] = x->term.label[i];
    }
    if (axes == 0)
        return VF_OK;
    VF_TRY(vf_low_reduce(cx, "reduce_sum", x->value, axes, &x->value, err));
    x->term = term;
    return vf_low_reshape(cx, x->value, term.n, dims, &x->value, err);
}

/* Axes in the order of `labels`; those the operand lacks get length 1. */
static VfStatus arrange(VfLower *cx, const Operand *x, const Term *labels, VfLowValue **out,
                        VfErr *err)
{
    int64_t dims[MAX_TERM_AXES], stride[MAX_TERM_AXES];
    VF_TRY(vf_low_place(cx, x->value, err));
    for (int32_t i = 0; i < labels->n; i++) {
        int32_t at = find_label(&x->term, labels->label[i]);
        dims[i] = at < 0 ? 1 : x->value->dims[at];
        stride[i] = at < 0 ? 0 : x->value->stride[at];
    }
    return vf_low_view(cx, x->value, labels->n, dims, stride, 0, out, err);
}

static void append(Term *term, const Term *from, uint64_t mask)
{
    for (int32_t i = 0; i < from->n && term->n < MAX_TERM_AXES; i++)
        if (((mask >> from->label[i]) & 1) != 0)
            term->label[term->n++] = from->label[i];
}

/* The labels of a pair by what becomes of them. */
typedef struct Roles {
    Term batch, row, col, sum;
} Roles;

/* Axes batch, first, second, each of the latter two merged into one. */
static VfStatus as_matrices(VfLower *cx, const Operand *x, const Term *const part[3],
                            VfLowValue **out, VfErr *err)
{
    Term all = *part[0];
    append(&all, part[1], ~UINT64_C(0));
    append(&all, part[2], ~UINT64_C(0));
    VF_TRY(arrange(cx, x, &all, out, err));
    int64_t dims[MAX_TERM_AXES + 2];
    int32_t n = part[0]->n, first = n + part[1]->n;
    for (int32_t i = 0; i < n; i++)
        dims[i] = (*out)->dims[i];
    dims[n] = vf_low_product((*out)->dims, n, first);
    dims[n + 1] = vf_low_product((*out)->dims, first, all.n);
    return vf_low_reshape(cx, *out, n + 2, dims, out, err);
}

static VfStatus swap_last(VfLower *cx, VfLowValue **x, VfErr *err)
{
    int64_t perm[MAX_TERM_AXES + 2];
    for (int32_t i = 0; i < (*x)->rank; i++)
        perm[i] = i;
    perm[(*x)->rank - 2] = (*x)->rank - 1;
    perm[(*x)->rank - 1] = (*x)->rank - 2;
    return vf_low_permute(cx, *x, perm, x, err);
}

static int64_t label_dim(const Operand *a, const Operand *b, int32_t label)
{
    int32_t i = find_label(&a->term, label), k = find_label(&b->term, label);
    int64_t dim = i < 0 ? 1 : a->value->dims[i];
    return k >= 0 && dim == 1 ? b->value->dims[k] : dim;
}

/* The memory order of the product that makes `want` contiguous; false if it would break rows. */
static bool product_order(const Term *have, const Term *want, int64_t *perm)
{
    if (have->n != want->n)
        return false;
    for (int32_t i = 0; i < want->n; i++) {
        perm[i] = find_label(have, want->label[i]);
        if (perm[i] < 0)
            return false;
    }
    return true;
}

static VfStatus multiply(VfLower *cx, const Operand *a, const Operand *b, const Roles *r,
                         const Term *want, Operand *out, VfErr *err)
{
    VfLowMatmul m = {.alpha = 1};
    int64_t perm[MAX_TERM_AXES], dims[MAX_TERM_AXES];
    VF_TRY(as_matrices(cx, a, (const Term *const[3]){&r->batch, &r->row, &r->sum}, &m.a, err));
    VF_TRY(as_matrices(cx, b, (const Term *const[3]){&r->batch, &r->col, &r->sum}, &m.b, err));
    VF_TRY(swap_last(cx, &m.b, err));
    out->term = r->batch;
    append(&out->term, &r->row, ~UINT64_C(0));
    append(&out->term, &r->col, ~UINT64_C(0));
    if (r->row.n == 1 && r->col.n == 1 && product_order(&out->term, want, perm))
        m.perm = perm;
    VF_TRY(vf_low_matmul(cx, &m, &out->value, err));
    for (int32_t i = 0; i < out->term.n; i++)
        dims[i] = label_dim(a, b, out->term.label[i]);
    return vf_low_reshape(cx, out->value, out->term.n, dims, &out->value, err);
}

static bool is_broadcast(const Operand *a, const Operand *b, uint64_t mask)
{
    for (int32_t i = 0; i < a->term.n; i++) {
        int32_t k = find_label(&b->term, a->term.label[i]);
        if (((mask >> a->term.label[i]) & 1) != 0 && k >= 0 &&
            a->value->dims[i] != b->value->dims[k])
            return true;
    }
    return false;
}

/* a and b become one operand; labels not in `keep` are summed. `want` orders the result. */
static VfStatus contract(VfLower *cx, Operand *a, Operand *b, uint64_t keep, const Term *want,
                         Operand *out, VfErr *err)
{
    VF_TRY(sum_out(cx, a, keep | mask_of(&b->term), err));
    VF_TRY(sum_out(cx, b, keep | mask_of(&a->term), err));
    uint64_t in_a = mask_of(&a->term), in_b = mask_of(&b->term), both = in_a & in_b;
    Roles r = {0};
    append(&r.batch, &a->term, both & keep);
    append(&r.row, &a->term, in_a & ~both);
    append(&r.col, &b->term, in_b & ~both);
    append(&r.sum, &a->term, both & ~keep);
    /* An axis of length 1 against a longer one cannot be summed as a product's inner axis. */
    if (r.sum.n > 0 && !is_broadcast(a, b, mask_of(&r.sum)))
        return multiply(cx, a, b, &r, want, out, err);
    out->term = r.batch;
    append(&out->term, &r.row, ~UINT64_C(0));
    append(&out->term, &r.col, ~UINT64_C(0));
    append(&out->term, &r.sum, ~UINT64_C(0));
    VfLowValue *x, *y;
    VF_TRY(arrange(cx, a, &out->term, &x, err));
    VF_TRY(arrange(cx, b, &out->term, &y, err));
    VF_TRY(vf_low_binary(cx, "mul", x, y, &out->value, err));
    return sum_out(cx, out, keep, err);
}

/* Products of small integers are formed in i32; their low bits are the result. */
static VfStatus widen_small(VfLower *cx, Operand *x, VfErr *err)
{
    const VfDtypeInfo *info = vf_dtype_info(x->value->dtype);
    if (info->is_float || info->bits >= 32)
        return VF_OK;
    return vf_low_cast(cx, x->value, VF_I32, &x->value, err);
}

VfStatus vf_lower_einsum(VfLower *cx, VfLowCall *call, VfErr *err)
{
    char *text;
    int32_t max_dots;
    Term want;
    VF_TRY(equation_text(cx, call, &text, err));
    const char *arrow = strstr(text, "->");
    size_t size = arrow != NULL ? (size_t)(arrow - text) : strlen(text);
    Operand *x = VF_NEW_ARRAY(cx->arena, Operand, (size_t)call->n_in + 1);
    VF_TRY_ALLOC(x, err);
    for (int32_t i = 0; i < call->n_in; i++)
        if (call->in[i] == NULL)
            return vf_low_refuse(err, "operand %d is omitted", i);
    VF_TRY(parse_operands(text, size, call, x, &max_dots, err));
    implicit_output(x, call->n_in, max_dots, &want);
    if (arrow != NULL)
        VF_TRY(parse_term(arrow + 2, strlen(arrow + 2), max_dots, &want, err));
    for (int32_t i = 0; i < call->n_in; i++) {
        VF_TRY(widen_small(cx, &x[i], err));
        VF_TRY(take_diagonals(cx, &x[i], err));
    }
    for (int32_t i = 1; i < call->n_in; i++) {
        uint64_t keep = mask_of(&want);
        for (int32_t k = i + 1; k < call->n_in; k++)
            keep |= mask_of(&x[k].term);
        Operand made;
        VF_TRY(contract(cx, &x[0], &x[i], keep, &want, &made, err));
        x[0] = made;
    }
    VF_TRY(sum_out(cx, &x[0], mask_of(&want), err));
    VfLowValue *y;
    VF_TRY(arrange(cx, &x[0], &want, &y, err));
    return vf_low_reshape_to(cx, call, 0, y, err);
}
