/* What each kind of node does to the tokens: signal.h has the rules. */
#include "converter/api/signal_tokens.h"

#include <math.h>

#include "passes/ir/attr.h"
#include "passes/match/facts.h"
#include "passes/spa/schedule.h"

static const VfTokens *state_of(const VfWalk *walk, const VfValue *value)
{
    return value == NULL ? NULL : walk->state[value->id];
}

void vf_walk_keep(VfWalk *walk, const VfValue *value, const VfTokens *t)
{
    if (value == NULL || t == NULL)
        return;
    walk->state[value->id] = t;
    if (t->site >= 0 && t->n_product <= 1)
        walk->signal->row[t->site].output = (VfValue *)value;
}

static VfStatus pass_on(VfWalk *walk, const VfNode *node, VfErr *err)
{
    (void)err;
    for (int32_t i = 0; i < node->n_in; i++) {
        const VfTokens *t = state_of(walk, vf_node_in(node, i));
        if (t == NULL)
            continue;
        for (int32_t k = 0; k < node->n_out; k++)
            vf_walk_keep(walk, vf_node_out(node, k), t);
        return VF_OK;
    }
    return VF_OK;
}

/* Weights make a source of their own. */
static VfStatus visit_product(VfWalk *walk, const VfNode *node, VfErr *err)
{
    const VfTokens *from = NULL;
    for (int32_t i = 0; i < node->n_in; i++) {
        VfValue *in = vf_node_in(node, i);
        if (in == NULL || vf_is_fixed(in))
            continue;
        if (from != NULL)
            return VF_OK; /* a product of two run-time values is no projection */
        from = state_of(walk, in);
        if (from == NULL)
            return VF_OK;
    }
    if (from == NULL)
        return VF_OK;
    VfTokens *made;
    VfMatrix kernel;
    if (from->n_map == 0 && from->factor == 1) {
        VF_TRY(vf_tokens_source(walk, from->n, from->kernel, &made, err));
    } else {
        VF_TRY(vf_tokens_kernel(walk, from, &kernel, err));
        VF_TRY(vf_tokens_source(walk, kernel.n_row, &kernel, &made, err));
    }
    made->site = from->n_product == 0 ? from->site : -1;
    made->n_product = from->n_product + 1;
    vf_walk_keep(walk, vf_node_out(node, 0), made);
    return VF_OK;
}

VfStatus vf_walk_norm(VfWalk *walk, const VfLayerNorm *norm, VfErr *err)
{
    const VfTokens *from = state_of(walk, norm->x);
    if (from == NULL) {
        walk->state[norm->y->id] = NULL;
        return VF_OK;
    }
    VfTokens *made;
    VfMatrix kernel, copy;
    VF_TRY(vf_tokens_kernel(walk, from, &copy, err));
    VF_TRY(vf_walk_matrix(walk, copy.n_row, copy.n_row, &kernel, err));
    for (int32_t i = 0; i < copy.n_row; i++)
        for (int32_t j = 0; j < copy.n_row; j++) {
            double own = vf_matrix_row(&copy, i)[i] * vf_matrix_row(&copy, j)[j];
            vf_matrix_row(&kernel, i)[j] = own > 0 ? vf_matrix_row(&copy, i)[j] / sqrt(own) : 0;
        }
    VF_TRY(vf_tokens_source(walk, kernel.n_row, &kernel, &made, err));
    vf_walk_keep(walk, norm->y, made);
    return VF_OK;
}

/* φ of slope s keeps (1 + s²) / 2 of the mean square and maps correlations by C. */
static VfStatus apply_relu(VfWalk *walk, const VfNode *node, const VfTokens *from, double slope,
                           VfErr *err)
{
    VfMatrix kernel, copy;
    VfTokens *made;
    VF_TRY(vf_tokens_kernel(walk, from, &copy, err));
    VF_TRY(vf_walk_matrix(walk, copy.n_row, copy.n_row, &kernel, err));
    for (int32_t i = 0; i < copy.n_row; i++)
        for (int32_t j = 0; j < copy.n_row; j++) {
            double own = sqrt(vf_matrix_row(&copy, i)[i] * vf_matrix_row(&copy, j)[j]);
            double c = own > 0 ? vf_matrix_row(&copy, i)[j] / own : 0;
            vf_matrix_row(&kernel, i)[j] =
                own * vf_tat_map(slope, fmax(-1, fmin(1, c))) * (1 + slope * slope) / 2;
        }
    VF_TRY(vf_tokens_source(walk, kernel.n_row, &kernel, &made, err));
    vf_walk_keep(walk, vf_node_out(node, 0), made);
    return VF_OK;
}

static VfStatus visit_relu(VfWalk *walk, const VfNode *node, VfErr *err)
{
    double slope = 0;
    const VfTokens *from = state_of(walk, vf_node_in(node, 0));
    if (node->op == VF_OP_LEAKY_RELU)
        slope = vf_node_float(node, "alpha");
    if (node->op == VF_OP_PRELU && !vf_scalar_of(vf_node_in(node, 1), &slope))
        return pass_on(walk, node, err);
    if (from == NULL || !(slope >= 0 && slope <= 1))
        return pass_on(walk, node, err);
    return apply_relu(walk, node, from, slope, err);
}

/* --- sums --- */

/* out = fa Ma + fb Mb for head k. */
static VfStatus add_maps(VfWalk *walk, const VfTokens *a, const VfTokens *b, double sign, int32_t k,
                         VfMatrix *out, VfErr *err)
{
    const VfTokens *part[] = {a, b};
    VF_TRY(vf_walk_matrix(walk, vf_tokens_count(a), a->n, out, err));
    for (int p = 0; p < 2; p++) {
        double factor = part[p]->factor * (p == 0 ? 1 : sign);
        const VfMatrix *map =
            part[p]->n_map == 0 ? NULL : &part[p]->map[part[p]->n_map == 1 ? 0 : k];
        for (int32_t i = 0; i < out->n_row; i++)
            for (int32_t j = 0; j < out->n_col; j++)
                vf_matrix_row(out, i)[j] +=
                    factor * (map != NULL ? vf_matrix_row(map, i)[j] : i == j ? 1 : 0);
    }
    return VF_OK;
}

static VfStatus sum_same(VfWalk *walk, const VfNode *node, const VfTokens *a, const VfTokens *b,
                         double sign, VfErr *err)
{
    int32_t n_map = a->n_map > b->n_map ? a->n_map : b->n_map;
    VfTokens *made = vf_tokens_new(walk, a->site >= 0 ? *a : *b);
    VF_TRY_ALLOC(made, err);
    made->factor = 1;
    made->n_map = n_map == 0 ? 1 : n_map;
    VfMatrix *map = VF_NEW_ARRAY(walk->arena, VfMatrix, (size_t)made->n_map);
    VF_TRY_ALLOC(map, err);
    made->map = map;
    for (int32_t k = 0; k < made->n_map; k++)
        VF_TRY(add_maps(walk, a, b, sign, k, &map[k], err));
    vf_walk_keep(walk, vf_node_out(node, 0), made);
    return VF_OK;
}

/* A branch joins the stream. */
static VfStatus sum_other(VfWalk *walk, const VfNode *node, const VfTokens *a, const VfTokens *b,
                          VfErr *err)
{
    VfMatrix kernel, more;
    VfTokens *made;
    VF_TRY(vf_tokens_kernel(walk, a, &kernel, err));
    VF_TRY(vf_tokens_kernel(walk, b, &more, err));
    for (int64_t i = 0; i < (int64_t)kernel.n_row * kernel.n_row; i++)
        kernel.at[i] += more.at[i];
    VF_TRY(vf_tokens_source(walk, kernel.n_row, &kernel, &made, err));
    vf_walk_keep(walk, vf_node_out(node, 0), made);
    for (int k = 0; k < 2; k++) {
        int32_t site = k == 0 ? a->site : b->site;
        if (site >= 0)
            walk->signal->row[site].output = vf_node_out(node, 0);
    }
    return VF_OK;
}

/* The stream before the first attention: tokens like no other, times what they are scaled by. */
static VfStatus begin_stream(VfWalk *walk, const VfValue *value, int32_t n, const VfTokens **out,
                             VfErr *err)
{
    VfTokens *made;
    int32_t slot;
    double factor;
    VF_TRY(vf_tokens_source(walk, n, NULL, &made, err));
    while (value->kind == VF_VALUE_RESULT && vf_is_scale(value->def, &slot, &factor, NULL) &&
           isfinite(factor)) {
        made->factor *= factor;
        value = vf_node_in(value->def, slot);
    }
    *out = made;
    return VF_OK;
}

/* A branch that was begun anew joins a stream that counts the tokens of an earlier grid: that
 * begins anew with it. */
static VfStatus fit_counts(VfWalk *walk, const VfTokens **t, VfErr *err)
{
    VfTokens *made;
    if (vf_tokens_count(t[0]) == vf_tokens_count(t[1]) || (t[0]->site < 0) == (t[1]->site < 0))
        return VF_OK;
    int stream = t[0]->site < 0 ? 0 : 1;
    VF_TRY(vf_tokens_source(walk, vf_tokens_count(t[1 - stream]), NULL, &made, err));
    t[stream] = made;
    return VF_OK;
}

static VfStatus visit_sum(VfWalk *walk, const VfNode *node, VfErr *err)
{
    VfValue *in[] = {vf_node_in(node, 0), vf_node_in(node, 1)};
    const VfTokens *t[] = {state_of(walk, in[0]), state_of(walk, in[1])};
    bool has_both = in[0] != NULL && in[1] != NULL && !vf_is_fixed(in[0]) && !vf_is_fixed(in[1]);
    /* What is summed has one shape, but for the mean of the tokens. */
    bool is_own = t[0] != NULL && t[1] != NULL && t[0]->source == t[1]->source;
    if (!has_both || (t[0] == NULL && t[1] == NULL) ||
        !(is_own || vf_type_has_same_dims(&in[0]->type, &in[1]->type)))
        return pass_on(walk, node, err);
    for (int k = 0; k < 2; k++)
        if (t[k] == NULL)
            VF_TRY(begin_stream(walk, in[k], vf_tokens_count(t[1 - k]), &t[k], err));
    VF_TRY(fit_counts(walk, t, err));
    if (vf_tokens_count(t[0]) != vf_tokens_count(t[1]))
        return pass_on(walk, node, err);
    if (t[0]->source != t[1]->source)
        return sum_other(walk, node, t[0], t[1], err);
    bool fits = t[0]->n_map <= 1 || t[1]->n_map <= 1 || t[0]->n_map == t[1]->n_map;
    if (!fits)
        return pass_on(walk, node, err);
    return sum_same(walk, node, t[0], t[1], node->op == VF_OP_SUB ? -1 : 1, err);
}

/* --- factors --- */

/* A constant with one number for each of `n` tokens: all its elements lie along one axis, which
 * is not the last one of the result. */
static const VfTensor *row_factors(const VfValue *value, const VfValue *out, int32_t n)
{
    const VfTensor *t = vf_value_const(value);
    if (t == NULL || t->dtype == VF_STRING || t->count != (size_t)n || t->rank < 2 || n < 2)
        return NULL;
    for (int32_t i = 0; i < t->rank; i++) {
        int32_t axis = out->type.rank - t->rank + i;
        if (t->dims[i] == n)
            return axis >= 0 && axis < out->type.rank - 1 && vf_dim_is(out->type.dims[axis], n)
                       ? t : NULL;
    }
    return NULL;
}

static VfStatus scale_rows(VfWalk *walk, const VfNode *node, const VfTokens *from,
                           const VfTensor *by, VfErr *err)
{
    VfTokens *made = vf_tokens_new(walk, *from);
    VF_TRY_ALLOC(made, err);
    made->n_map = from->n_map == 0 ? 1 : from->n_map;
    VfMatrix *map = VF_NEW_ARRAY(walk->arena, VfMatrix, (size_t)made->n_map);
    VF_TRY_ALLOC(map, err);
    made->map = map;
    for (int32_t k = 0; k < made->n_map; k++) {
        VF_TRY(vf_walk_matrix(walk, vf_tokens_count(from), from->n, &map[k], err));
        for (int32_t i = 0; i < map[k].n_row; i++) {
            double factor = vf_tensor_get_double(by, (size_t)i);
            factor = node->op == VF_OP_DIV ? 1 / factor : factor;
            for (int32_t j = 0; j < map[k].n_col; j++)
                vf_matrix_row(&map[k], i)[j] =
                    factor * (from->n_map > 0 ? vf_matrix_row(&from->map[k], i)[j]
                              : i == j        ? 1 : 0);
        }
    }
    vf_walk_keep(walk, vf_node_out(node, 0), made);
    return VF_OK;
}

static VfStatus visit_factor(VfWalk *walk, const VfNode *node, VfErr *err)
{
    for (int32_t slot = 0; slot < 2; slot++) {
        const VfTokens *from = state_of(walk, vf_node_in(node, slot));
        const VfValue *other = vf_node_in(node, 1 - slot), *out = vf_node_out(node, 0);
        double factor;
        bool is_divisor = slot == 1 && node->op == VF_OP_DIV;
        if (from == NULL || out == NULL || !vf_is_fixed(other) || is_divisor)
            continue;
        const VfTensor *rows = row_factors(other, out, vf_tokens_count(from));
        if (vf_scalar_of(other, &factor)) {
            VfTokens *made = vf_tokens_new(walk, *from);
            VF_TRY_ALLOC(made, err);
            made->factor *= node->op == VF_OP_DIV ? 1 / factor : factor;
            vf_walk_keep(walk, out, made);
            return VF_OK;
        }
        if (rows != NULL)
            return scale_rows(walk, node, from, rows, err);
    }
    return pass_on(walk, node, err);
}

/* The mean of all tokens, as shaped attention takes from each; a mean over channels has none. */
static VfStatus visit_mean(VfWalk *walk, const VfNode *node, VfErr *err)
{
    int64_t axis[VF_AXIS_MAX];
    const VfValue *in = vf_node_in(node, 0);
    const VfTokens *from = state_of(walk, in);
    if (from == NULL || vf_reduce_axes(node, axis) != 1 || axis[0] >= in->type.rank - 1 ||
        !vf_dim_is(in->type.dims[axis[0]], vf_tokens_count(from)) ||
        vf_node_int(node, "keepdims") == 0)
        return VF_OK;
    VfTokens *made = vf_tokens_new(walk, *from);
    VfMatrix *map = VF_NEW_ARRAY(walk->arena, VfMatrix, (size_t)from->n_map + 1);
    VF_TRY_ALLOC(made, err);
    VF_TRY_ALLOC(map, err);
    made->map = map;
    made->n_map = from->n_map == 0 ? 1 : from->n_map;
    for (int32_t k = 0; k < made->n_map; k++) {
        VF_TRY(vf_walk_matrix(walk, vf_tokens_count(from), from->n, &map[k], err));
        for (int32_t j = 0; j < from->n; j++) {
            double sum = from->n_map == 0 ? 1 : 0;
            for (int32_t i = 0; from->n_map > 0 && i < vf_tokens_count(from); i++)
                sum += vf_matrix_row(&from->map[k], i)[j];
            for (int32_t i = 0; i < map[k].n_row; i++)
                vf_matrix_row(&map[k], i)[j] = sum / vf_tokens_count(from);
        }
    }
    vf_walk_keep(walk, vf_node_out(node, 0), made);
    return VF_OK;
}

VfStatus vf_walk_node(VfWalk *walk, VfNode *node, VfErr *err)
{
    VfProduct product;
    if (vf_product_of(node, &product) || node->op == VF_OP_CONV)
        return visit_product(walk, node, err);
    switch (node->op) {
    case VF_OP_ADD:
    case VF_OP_SUB:
        return visit_sum(walk, node, err);
    case VF_OP_MUL:
    case VF_OP_DIV:
        return visit_factor(walk, node, err);
    case VF_OP_RELU:
    case VF_OP_LEAKY_RELU:
    case VF_OP_PRELU:
        return visit_relu(walk, node, err);
    case VF_OP_REDUCE_MEAN:
        return visit_mean(walk, node, err);
    default:
        return pass_on(walk, node, err);
    }
}
