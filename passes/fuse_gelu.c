/* Before     y = x/2 (1 + erf(x/√2)), or x/2 (1 + tanh(√(2/π) (x + 0.044715 x³))), in any order and
 *            spelling
 * After      y = Gelu(x), approximate = none or tanh
 * Why valid  both sides are compared as polynomials in x and in the erf or tanh, so what counts is
 *            the function, not how it is written
 * Requires   an opset with Gelu; numbers right to five digits
 * Exactness  rounding
 * Source     ONNX Gelu (opset 20)
 * Limits     x sigmoid(1.702 x) is no Gelu of ONNX and stays
 */
#include <math.h>

#include "passes/fuse_site.h"
#include "passes/match/facts.h"
#include "passes/pass.h"
#include "passes/rewrite/rewrite.h"

/* Powers of x up to N_POWER - 1; nodes of one expression; candidates for x; nodes down to y. */
enum { N_POWER = 4, DEPTH_MAX = 10, N_CANDIDATE_MAX = 24, DOWN_MAX = 5, GELU_OPSET = 20 };

static const double TOLERANCE = 1e-5;
static const double CUBIC = 0.044715;

/* --- expressions as polynomials: sum of c[t][i] xⁱ, times the erf or tanh where t = 1 --- */

typedef struct Poly {
    double c[2][N_POWER];
} Poly;

typedef struct Reading {
    const VfValue *x, *t; /* t NULL: none may occur */
} Reading;

static bool read_poly(const Reading *reading, const VfValue *value, int32_t depth, Poly *out);

static bool add_product(Poly *out, const Poly *a, int32_t ta, int32_t i, const Poly *b)
{
    for (int32_t k = 0; k < 2 * N_POWER; k++) {
        int32_t tb = k / N_POWER, j = k % N_POWER;
        double c = a->c[ta][i] * b->c[tb][j];
        if (fpclassify(c) == FP_ZERO)
            continue;
        if (ta + tb > 1 || i + j >= N_POWER)
            return false;
        out->c[ta + tb][i + j] += c;
    }
    return true;
}

static bool multiply(const Poly *a, const Poly *b, Poly *out)
{
    *out = (Poly){0};
    for (int32_t k = 0; k < 2 * N_POWER; k++) {
        if (!add_product(out, a, k / N_POWER, k % N_POWER, b))
            return false;
    }
    return true;
}

static void combine(const Poly *a, double factor, const Poly *b, Poly *out)
{
    for (int32_t k = 0; k < 2 * N_POWER; k++)
        out->c[k / N_POWER][k % N_POWER] =
            a->c[k / N_POWER][k % N_POWER] + factor * b->c[k / N_POWER][k % N_POWER];
}

static bool read_power(const Reading *reading, const VfNode *node, int32_t depth, Poly *out)
{
    Poly base, next;
    double number;
    if (!vf_scalar_of(vf_node_in(node, 1), &number) || (fabs(number - 2.0) > 0.0 &&
                                                        fabs(number - 3.0) > 0.0))
        return false;
    if (!read_poly(reading, vf_node_in(node, 0), depth + 1, &base))
        return false;
    *out = base;
    for (int32_t i = 1; i < (int32_t)number; i++) {
        if (!multiply(out, &base, &next))
            return false;
        *out = next;
    }
    return true;
}

static bool read_binary(const Reading *reading, const VfNode *node, int32_t depth, Poly *out)
{
    static const Poly zero;
    Poly a, b;
    double number;
    if (!read_poly(reading, vf_node_in(node, 0), depth + 1, &a))
        return false;
    if (node->op == VF_OP_NEG) {
        combine(&zero, -1.0, &a, out);
        return true;
    }
    if (node->op == VF_OP_DIV) {
        bool is_number = vf_scalar_of(vf_node_in(node, 1), &number);
        if (is_number)
            combine(&zero, 1.0 / number, &a, out);
        return is_number;
    }
    if (!read_poly(reading, vf_node_in(node, 1), depth + 1, &b))
        return false;
    if (node->op == VF_OP_MUL)
        return multiply(&a, &b, out);
    combine(&a, node->op == VF_OP_SUB ? -1.0 : 1.0, &b, out);
    return true;
}

static bool is_arithmetic(const VfNode *node)
{
    return node->op == VF_OP_ADD || node->op == VF_OP_SUB || node->op == VF_OP_MUL ||
           node->op == VF_OP_DIV || node->op == VF_OP_NEG || node->op == VF_OP_POW;
}

static bool read_poly(const Reading *reading, const VfValue *value, int32_t depth, Poly *out)
{
    *out = (Poly){0};
    if (value == NULL || depth > DEPTH_MAX)
        return false;
    if (value == reading->x || value == reading->t) {
        bool is_x = value == reading->x;
        out->c[is_x ? 0 : 1][is_x ? 1 : 0] = 1.0;
        return true;
    }
    if (vf_scalar_of(value, &out->c[0][0]))
        return isfinite(out->c[0][0]);
    const VfNode *node = value->kind == VF_VALUE_RESULT ? value->def : NULL;
    if (node == NULL || !is_arithmetic(node))
        return false;
    return node->op == VF_OP_POW ? read_power(reading, node, depth, out)
                                 : read_binary(reading, node, depth, out);
}

/* --- the two functions --- */

static bool is_near(const Poly *p, const Poly *want)
{
    for (int32_t k = 0; k < 2 * N_POWER; k++) {
        double c = p->c[k / N_POWER][k % N_POWER], w = want->c[k / N_POWER][k % N_POWER];
        if (!(fabs(c - w) <= TOLERANCE * fabs(w)))
            return false;
    }
    return true;
}

/* Is the argument that of a Gelu, or its negative? `sign` says which. */
static bool is_argument(const Poly *p, VfOp op, double *sign)
{
    double slope = op == VF_OP_ERF ? sqrt(0.5) : sqrt(2.0 / acos(-1.0));
    *sign = p->c[0][1] < 0.0 ? -1.0 : 1.0;
    Poly want = {.c = {{0.0, *sign * slope, 0.0, op == VF_OP_ERF ? 0.0 : *sign * slope * CUBIC}}};
    return is_near(p, &want);
}

/* --- finding x above, y below --- */

/* Values above the argument, nearest first. Returns how many. */
static int32_t list_candidates(VfValue *argument, VfValue **candidate)
{
    int32_t n = 1;
    candidate[0] = argument;
    for (int32_t i = 0; i < n; i++) {
        const VfNode *node = candidate[i]->kind == VF_VALUE_RESULT ? candidate[i]->def : NULL;
        for (int32_t k = 0; node != NULL && is_arithmetic(node) && k < node->n_in; k++) {
            VfValue *in = vf_node_in(node, k);
            bool is_new = in != NULL && vf_value_const(in) == NULL;
            for (int32_t j = 0; is_new && j < n; j++)
                is_new = candidate[j] != in;
            if (is_new && n < N_CANDIDATE_MAX)
                candidate[n++] = in;
        }
    }
    return n;
}

/* The value below `value` that is x/2 + sign t x/2, or NULL. */
static VfValue *find_result(const Reading *reading, double sign, VfValue *value, int32_t depth)
{
    Poly poly, want = {.c = {{0.0, 0.5}, {0.0, sign * 0.5}}};
    if (!read_poly(reading, value, 0, &poly))
        return NULL;
    if (is_near(&poly, &want))
        return value;
    for (const VfUse *use = value->first_use; depth < DOWN_MAX && use != NULL; use = use->next) {
        VfValue *out = is_arithmetic(use->node) ? vf_node_out(use->node, 0) : NULL;
        VfValue *found = out != NULL ? find_result(reading, sign, out, depth + 1) : NULL;
        if (found != NULL)
            return found;
    }
    return NULL;
}

bool vf_gelu_find(VfNode *node, VfValue **x, VfValue **y)
{
    VfValue *candidate[N_CANDIDATE_MAX];
    VfValue *argument = vf_node_in(node, 0), *t = vf_node_out(node, 0);
    int32_t n = argument != NULL && t != NULL ? list_candidates(argument, candidate) : 0;
    for (int32_t i = 0; i < n; i++) {
        Poly poly;
        double sign;
        Reading above = {candidate[i], NULL}, below = {candidate[i], t};
        if (!read_poly(&above, argument, 0, &poly) || !is_argument(&poly, node->op, &sign))
            continue;
        *x = candidate[i];
        *y = find_result(&below, sign, t, 0);
        if (*y != NULL)
            return true;
    }
    return false;
}

/* --- sites --- */

static const char *why_not(VfPassCx *cx, const VfValue *x, const VfValue *y)
{
    VfFuseSite site;
    if (!vf_fuse_collect(x, y, &site))
        return "it has too many nodes";
    const VfValue *shared = vf_fuse_shared(&site);
    if (shared != NULL)
        return vf_arena_printf(cx->arena, "'%s' inside the gelu is also used outside of it",
                               vf_value_label(shared));
    if (!vf_fuse_same_type(x, y) || !vf_dtype_info(x->type.dtype)->is_float)
        return "its result is not known to have the type of its operand";
    return NULL;
}

static VfStatus fuse(VfPassCx *cx, VfOp op, VfValue *x, VfValue *y, VfErr *err)
{
    const char *form = op == VF_OP_ERF ? "none" : "tanh";
    VfRewriteInfo info = {cx->pass, op == VF_OP_ERF ? "gelu-erf" : "gelu-tanh",
                          vf_node_label(y->def), NULL};
    VfRewrite *rw = vf_rewrite_begin(cx->journal, y->def, info);
    VF_TRY_ALLOC(rw, err);
    VfValue *gelu = vf_rewrite_unary(rw, VF_OP_GELU, x);
    vf_rewrite_string(rw, "approximate", form);
    vf_rewrite_replace(rw, y, gelu);
    return vf_rewrite_commit(rw, err);
}

/* Sites are numbered together with the Gelu operators, so that a rewritten one keeps its number. */
static VfStatus visit(VfPassCx *cx, VfNode *node, void *self, VfErr *err)
{
    int32_t *n_site = self;
    VfValue *x, *y;
    bool selected = false;
    *n_site += node->op == VF_OP_GELU ? 1 : 0;
    if ((node->op != VF_OP_ERF && node->op != VF_OP_TANH) || !vf_gelu_find(node, &x, &y))
        return VF_OK;
    const char *label = vf_node_label(y->def);
    VfSiteFacts facts = {.index = (*n_site)++, .label = label};
    VF_TRY(vf_sites_select(&cx->sites, &facts, &selected, err));
    if (!selected)
        return VF_OK;
    const char *why = why_not(cx, x, y);
    if (why != NULL)
        return vf_pass_refuse(cx, label, y->def, err, "%s", why);
    int64_t opset = vf_graph_opset(y->graph, vf_bytes(""));
    if (opset < GELU_OPSET)
        return vf_pass_no_site(cx, label, y->def, err,
                               "opset %d has no Gelu, which came with %d: convert with --opset %d",
                               (int)opset, GELU_OPSET, GELU_OPSET);
    return fuse(cx, node->op, x, y, err);
}

static VfStatus run(VfPassCx *cx, VfErr *err)
{
    int32_t n_site = 0;
    return vf_pass_each_node(cx, visit, &n_site, err);
}

const VfPass vf_pass_fuse_gelu = {
    .name = "fuse-gelu",
    .summary = "a GELU written out, erf or tanh form, to the operator",
    .source = "ONNX Gelu (opset 20)",
    .exactness = VF_ROUNDING,
    .is_default = true,
    .run = run,
};
