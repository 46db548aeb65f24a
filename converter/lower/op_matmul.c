/* Matrix products.
 *
 * Transposes and head splits reach the kernel as leading dimensions and batch strides. A bias
 * that the only reader of a product adds becomes part of the step: the kernel adds it to the
 * finished sums, so the result is the same as that of two steps.
 */
#include "converter/lower/ops.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "passes/ir/attr.h"
#include "runtime/kernels/matmul.h"

enum { MAX_AXES = 64 };

/* What a core does in a nanosecond, for the grain. */
static const double FLOPS_PER_NS = 40.0;

/* --- layout --- */

/* How a matrix of rows x cols lies in memory; false if neither axis has unit stride. */
static bool matrix_layout(const VfLowValue *x, int64_t *trans, int64_t *ld)
{
    int64_t rows = x->dims[x->rank - 2], cols = x->dims[x->rank - 1];
    int64_t row_step = x->stride[x->rank - 2], col_step = x->stride[x->rank - 1];
    if ((col_step == 1 || cols == 1) && (row_step >= cols || rows == 1)) {
        *trans = 0;
        *ld = rows == 1 ? cols : row_step;
        return true;
    }
    if ((row_step == 1 || rows == 1) && (col_step >= rows || cols == 1)) {
        *trans = 1;
        *ld = cols == 1 ? rows : col_step;
        return true;
    }
    return false;
}

static VfStatus to_matrix(VfLower *cx, VfLowValue **x, int64_t *trans, int64_t *ld, VfErr *err)
{
    if (!matrix_layout(*x, trans, ld)) {
        VF_TRY(vf_low_dense(cx, *x, x, err));
        if (!matrix_layout(*x, trans, ld))
            return vf_low_refuse(err, "a matrix that cannot be laid out");
    }
    if (*ld < 1)
        *ld = 1;
    return vf_low_place(cx, *x, err);
}

typedef struct Product {
    VfLowValue *a, *b, *c, *bias; /* bias expanded to the dims of c, or NULL */
    VfkMatmulParams p;
} Product;

/* A batch axis next to the rows, over one matrix b, is more rows. */
static int32_t merge_rows(Product *x, int32_t n_batch)
{
    VfkMatmulParams *p = &x->p;
    while (n_batch > 0) {
        int32_t i = n_batch - 1;
        int64_t dim = x->c->dims[i];
        bool joins =
            dim == 1 || (p->trans_a == 0 && x->b->stride[i] == 0 && p->m > 1 &&
                         x->a->stride[i] == p->m * p->lda && x->c->stride[i] == p->m * p->ldc);
        if (joins && dim != 1 && x->bias != NULL)
            joins = x->bias->stride[i] == p->m * p->bias_row;
        if (!joins)
            break;
        p->m *= dim;
        n_batch--;
    }
    return n_batch;
}

static VfStatus set_batches(Product *x, int32_t n_batch, VfErr *err)
{
    VfLowAxes axes;
    const int64_t *strides[] = {x->a->stride, x->b->stride, x->c->stride,
                                x->bias != NULL ? x->bias->stride : x->c->stride};
    VF_TRY(vf_low_merge(4, n_batch, x->c->dims, strides, &axes, err));
    VfkMatmulParams *p = &x->p;
    p->batch_rank = axes.rank;
    for (int32_t i = 0; i < axes.rank; i++) {
        p->batch_dim[i] = axes.dim[i];
        p->a_batch[i] = axes.stride[0][i];
        p->b_batch[i] = axes.stride[1][i];
        p->c_batch[i] = axes.stride[2][i];
        p->bias_batch[i] = x->bias != NULL ? axes.stride[3][i] : 0;
    }
    return VF_OK;
}

static VfStatus emit_product(VfLower *cx, Product *x, VfErr *err)
{
    VfkMatmulParams *p = &x->p;
    VF_TRY(set_batches(x, merge_rows(x, x->c->rank - 2), err));
    p->block_rows = vfk_matmul_block_rows(p->m, p->batch_rank, p->batch_dim);
    double rows = (double)(p->block_rows < p->m ? p->block_rows : p->m);
    VfLowValue *in[3] = {x->a, x->b, x->bias};
    VfLowEmit emit = {.op = "matmul", .dtype = x->a->dtype, .params = p, .n_in = 3, .n_out = 1,
                      .in = in, .out = &x->c,
                      .units = vfk_matmul_units(p->m, p->n, p->block_rows, p->batch_rank,
                                                p->batch_dim),
                      .unit_cost = 2 * rows * (double)p->n * (double)p->k / FLOPS_PER_NS,
                      .flops = 2 * (double)x->c->count * (double)p->k,
                      .scratch_bytes = vfk_matmul_scratch_bytes(p, vf_low_width(x->a->dtype))};
    return vf_low_emit(cx, &emit, err);
}

/* The result, laid out in the order `perm` if rows stay whole. */
static VfStatus new_result(VfLower *cx, VfDtype dtype, int32_t rank, const int64_t *dims,
                           const int64_t *perm, VfLowValue **out, VfErr *err)
{
    if (perm == NULL || perm[rank - 1] != rank - 1)
        return vf_low_new(cx, dtype, rank, dims, out, err);
    int64_t there[MAX_AXES], back[MAX_AXES];
    for (int32_t i = 0; i < rank; i++) {
        there[i] = dims[perm[i]];
        back[perm[i]] = i;
    }
    VF_TRY(vf_low_new(cx, dtype, rank, there, out, err));
    return vf_low_permute(cx, *out, back, out, err);
}

VfStatus vf_low_matmul(VfLower *cx, const VfLowMatmul *m, VfLowValue **out, VfErr *err)
{
    Product x = {.a = m->a, .b = m->b, .p = {.alpha = m->alpha, .beta = m->beta}};
    int32_t rank = m->a->rank;
    int64_t dims[MAX_AXES], wide[MAX_AXES];
    if (rank > MAX_AXES || rank < 2 || m->b->rank != rank || m->a->dtype != m->b->dtype ||
        m->a->dims[rank - 1] != m->b->dims[rank - 2])
        return vf_fail(err, VF_INVALID, "the operands of a matrix product do not fit");
    VF_TRY(to_matrix(cx, &x.a, &x.p.trans_a, &x.p.lda, err));
    VF_TRY(to_matrix(cx, &x.b, &x.p.trans_b, &x.p.ldb, err));
    for (int32_t i = 0; i < rank; i++) {
        dims[i] = wide[i] = x.a->dims[i] != 1 ? x.a->dims[i] : x.b->dims[i];
    }
    dims[rank - 2] = wide[rank - 2] = x.p.m = x.a->dims[rank - 2];
    dims[rank - 1] = x.p.n = x.b->dims[rank - 1];
    wide[rank - 1] = x.p.k = x.a->dims[rank - 1];
    VF_TRY(new_result(cx, x.a->dtype, rank, dims, m->perm, &x.c, err));
    *out = x.c;
    x.p.ldc = x.p.m == 1 ? x.p.n : x.c->stride[rank - 2];
    VF_TRY(vf_low_expand(cx, x.a, rank, wide, &x.a, err));
    memcpy(wide, dims, sizeof wide);
    wide[rank - 2] = x.p.k;
    VF_TRY(vf_low_expand(cx, x.b, rank, wide, &x.b, err));
    if (m->bias != NULL) {
        VF_TRY(vf_low_expand(cx, m->bias, rank, dims, &x.bias, err));
        x.p.bias_row = x.bias->stride[rank - 2];
        x.p.bias_col = x.bias->stride[rank - 1];
    }
    return emit_product(cx, &x, err);
}

/* --- a bias added by the only reader --- */

/* The constant a value is, behind Identity nodes; or NULL. */
static const VfValue *constant_source(const VfValue *value)
{
    while (value != NULL && value->kind == VF_VALUE_RESULT && value->def->op == VF_OP_IDENTITY)
        value = vf_node_in(value->def, 0);
    return vf_value_const(value) != NULL ? value : NULL;
}

static bool fits_result(const VfTensor *bias, const VfType *type)
{
    if (bias->dtype != type->dtype || bias->rank > type->rank)
        return false;
    for (int32_t i = 0; i < bias->rank; i++) {
        int64_t dim = type->dims[i + type->rank - bias->rank].k;
        if (bias->dims[i] != 1 && bias->dims[i] != dim)
            return false;
    }
    return true;
}

/* The Add that alone reads the product and adds a constant to it, or NULL. */
static const VfNode *find_bias(VfLower *cx, const VfLowCall *call, const VfValue **bias)
{
    const VfNode *node = call->node;
    VfDtype dtype = call->fact[0].type.dtype;
    if (vf_low_is_kept(cx, node->out[0]) || cx->is_inner || cx->options.no_fuse ||
        (dtype != VF_F32 && dtype != VF_F64))
        return NULL;
    const VfNode *user = vf_value_single_user(node->out[0]);
    if (user == NULL || user->op != VF_OP_ADD || user->graph != node->graph || user->n_in != 2 ||
        vf_node_out(user, 0) == NULL || vf_graph_opset(user->graph, user->domain) < 7)
        return NULL;
    int32_t other = vf_node_in(user, 0) == node->out[0] ? 1 : 0;
    *bias = constant_source(vf_node_in(user, other));
    return *bias != NULL && fits_result((*bias)->tensor, &call->fact[0].type) ? user : NULL;
}

/* The order in which the only reader, a Transpose, wants the result; NULL if there is none. */
static const int64_t *wanted_order(const VfLower *cx, const VfNode *node, int32_t rank)
{
    const VfNode *user =
        cx->is_inner || node->out[0] == NULL ? NULL : vf_value_single_user(node->out[0]);
    if (user == NULL || user->op != VF_OP_TRANSPOSE || user->graph != node->graph ||
        rank > MAX_AXES)
        return NULL;
    int32_t n;
    const VfAttr *attr = vf_node_attr(user, "perm");
    const int64_t *perm = vf_node_ints(user, "perm", &n);
    if (attr == NULL || attr->ref.size > 0 || perm == NULL || n != rank)
        return NULL;
    uint64_t seen = 0;
    for (int32_t i = 0; i < n; i++)
        seen |= perm[i] >= 0 && perm[i] < n ? UINT64_C(1) << perm[i] : 0;
    return seen == (n == 64 ? ~UINT64_C(0) : (UINT64_C(1) << n) - 1) ? perm : NULL;
}

/* --- operators --- */

static VfStatus with_rank(VfLower *cx, VfLowValue *x, int32_t rank, bool is_column,
                          VfLowValue **out, VfErr *err)
{
    int64_t dims[MAX_AXES];
    if (rank > MAX_AXES)
        return vf_low_refuse(err, "%d axes", rank);
    int32_t own = x->rank == 1 && is_column ? 2 : x->rank;
    for (int32_t i = 0; i < rank; i++) {
        int32_t at = i - (rank - own);
        dims[i] = at < 0 || at >= x->rank ? 1 : x->dims[at];
    }
    return vf_low_reshape(cx, x, rank, dims, out, err);
}

VfStatus vf_low_align_product(VfLower *cx, VfLowMatmul *m, VfErr *err)
{
    int32_t rank = m->a->rank > m->b->rank ? m->a->rank : m->b->rank;
    rank = rank < 2 ? 2 : rank;
    VF_TRY(with_rank(cx, m->a, rank, false, &m->a, err));
    return with_rank(cx, m->b, rank, true, &m->b, err);
}

static VfStatus lower_product(VfLower *cx, VfLowCall *call, VfLowMatmul *m, VfErr *err)
{
    VfLowValue *c;
    const VfValue *bias = NULL;
    const VfNode *user = find_bias(cx, call, &bias);
    int32_t rank = call->fact[0].type.rank;
    bool is_plain = rank == m->a->rank;
    if (user != NULL) {
        VF_TRY(vf_low_lookup(cx, bias, &m->bias, err));
        m->beta = 1;
        if (!is_plain) /* a vector operand: the axes of bias and product differ */
            user = NULL, m->bias = NULL;
    }
    m->perm = is_plain ? wanted_order(cx, user != NULL ? user : call->node, rank) : NULL;
    VF_TRY(vf_low_matmul(cx, m, &c, err));
    if (is_plain)
        call->out[0] = c;
    else
        VF_TRY(vf_low_reshape_to(cx, call, 0, c, err));
    if (user != NULL) {
        cx->env[user->out[0]->id] = c;
        cx->is_done[user->id] = true;
    }
    return VF_OK;
}

VfStatus vf_lower_matmul(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowMatmul m = {.a = call->in[0], .b = call->in[1], .alpha = 1};
    if (m.a->rank < 1 || m.b->rank < 1)
        return vf_low_refuse(err, "a scalar operand");
    VF_TRY(vf_low_align_product(cx, &m, err));
    return lower_product(cx, call, &m, err);
}

static VfStatus swap_last(VfLower *cx, VfLowValue *x, bool does, VfLowValue **out, VfErr *err)
{
    int64_t perm[MAX_AXES];
    *out = x;
    if (!does)
        return VF_OK;
    if (x->rank < 2 || x->rank > MAX_AXES)
        return vf_low_refuse(err, "%d axes", x->rank);
    for (int32_t i = 0; i < x->rank; i++)
        perm[i] = i;
    perm[x->rank - 1] = x->rank - 2;
    perm[x->rank - 2] = x->rank - 1;
    return vf_low_permute(cx, x, perm, out, err);
}

/* The first axis of `x` behind its batch axes. */
static VfStatus first_to_rows(VfLower *cx, VfLowValue *x, bool does, VfLowValue **out, VfErr *err)
{
    int64_t perm[MAX_AXES];
    *out = x;
    if (!does)
        return VF_OK;
    if (x->rank < 3 || x->rank > MAX_AXES)
        return vf_low_refuse(err, "transposed batches of an operand of %d axes", x->rank);
    for (int32_t i = 0; i < x->rank - 2; i++)
        perm[i] = i + 1;
    perm[x->rank - 2] = 0;
    perm[x->rank - 1] = x->rank - 1;
    return vf_low_permute(cx, x, perm, out, err);
}

static bool is_whole(double factor, VfDtype dtype)
{
    return factor == floor(factor) && (factor >= 0 || vf_dtype_info(dtype)->is_signed);
}

static VfStatus times(VfLower *cx, VfLowValue **x, double factor, VfErr *err)
{
    VfLowValue *scalar;
    if (factor == 1)
        return VF_OK;
    VF_TRY(vf_low_scalar(cx, (*x)->dtype, factor, &scalar, err));
    return vf_low_binary(cx, "mul", *x, scalar, x, err);
}

/* The kernel of integers has neither factors nor bias. */
static VfStatus gemm_of_integers(VfLower *cx, const VfLowMatmul *given, VfLowValue *bias,
                                 VfLowValue **out, VfErr *err)
{
    VfLowMatmul m = *given;
    m.alpha = 1;
    m.beta = 0;
    m.bias = NULL;
    VF_TRY(vf_low_matmul(cx, &m, out, err));
    VF_TRY(times(cx, out, given->alpha, err));
    if (bias == NULL)
        return VF_OK;
    VF_TRY(times(cx, &bias, given->beta, err));
    return vf_low_binary(cx, "add", *out, bias, out, err);
}

VfStatus vf_lower_gemm(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowMatmul m = {.a = call->in[0], .b = call->in[1], .bias = vf_low_in(call, 2),
                     .alpha = vf_node_float(call->node, "alpha"),
                     .beta = vf_node_float(call->node, "beta")};
    bool is_float = vf_dtype_info(m.a->dtype)->is_float;
    if (m.a->rank != 2 || m.b->rank != 2)
        return vf_low_refuse(err, "operands that are no matrices");
    if (!is_float && !(is_whole(m.alpha, m.a->dtype) && is_whole(m.beta, m.a->dtype)))
        return vf_low_refuse(err, "factors of %g and %g on integers", m.alpha, m.beta);
    VF_TRY(swap_last(cx, m.a, vf_node_int(call->node, "transA") != 0, &m.a, err));
    VF_TRY(swap_last(cx, m.b, vf_node_int(call->node, "transB") != 0, &m.b, err));
    VfLowValue *bias = m.bias;
    if (bias == NULL || m.beta == 0)
        m.bias = NULL;
    if (is_float)
        return vf_low_matmul(cx, &m, &call->out[0], err);
    return gemm_of_integers(cx, &m, bias, &call->out[0], err);
}

/* com.microsoft FusedMatMul and TransposeMatMul. */
VfStatus vf_lower_fused_matmul(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowMatmul m = {
        .a = call->in[0], .b = call->in[1], .alpha = vf_node_float(call->node, "alpha")};
    if (m.a->rank < 2 || m.b->rank < 2)
        return vf_low_refuse(err, "vector operands");
    VF_TRY(first_to_rows(cx, m.a, vf_node_int(call->node, "transBatchA") != 0, &m.a, err));
    VF_TRY(first_to_rows(cx, m.b, vf_node_int(call->node, "transBatchB") != 0, &m.b, err));
    VF_TRY(swap_last(cx, m.a, vf_node_int(call->node, "transA") != 0, &m.a, err));
    VF_TRY(swap_last(cx, m.b, vf_node_int(call->node, "transB") != 0, &m.b, err));
    int32_t rank = m.a->rank > m.b->rank ? m.a->rank : m.b->rank;
    VF_TRY(with_rank(cx, m.a, rank, false, &m.a, err));
    VF_TRY(with_rank(cx, m.b, rank, false, &m.b, err));
    return vf_low_matmul(cx, &m, &call->out[0], err);
}

/* --- integers --- */

/* 0: one zero point for all; 1: one for each row or column. */
static VfStatus zero_stride(VfLower *cx, VfLowValue **zero, int64_t n, int64_t *stride, VfErr *err)
{
    *stride = 0;
    if (*zero == NULL)
        return VF_OK;
    if ((*zero)->count != 1 && (int64_t)(*zero)->count != n)
        return vf_low_refuse(err, "%zu zero points", (*zero)->count);
    *stride = (*zero)->count == 1 ? 0 : 1;
    return vf_low_dense(cx, *zero, zero, err);
}

/* Zero points that differ along batches too. */
static bool differs_by_batch(const VfLowValue *zero, int64_t n)
{
    return zero != NULL && zero->rank > 1 && zero->count != 1 && (int64_t)zero->count != n;
}

static VfStatus product_of_differences(VfLower *cx, VfLowValue *const in[4], VfLowValue **out,
                                       VfErr *err)
{
    VfLowValue *x[4];
    for (int32_t i = 0; i < 4; i++)
        if (in[i] != NULL)
            VF_TRY(vf_low_cast(cx, in[i], VF_I32, &x[i], err));
    if (in[2] != NULL && in[2]->rank == 1 && in[2]->count > 1)
        VF_TRY(with_rank(cx, x[2], 2, true, &x[2], err));
    for (int32_t i = 0; i < 2; i++)
        if (in[i + 2] != NULL)
            VF_TRY(vf_low_binary(cx, "sub", x[i], x[i + 2], &x[i], err));
    VfLowMatmul m = {.a = x[0], .b = x[1], .alpha = 1};
    return vf_low_matmul(cx, &m, out, err);
}

VfStatus vf_low_matmul_integer(VfLower *cx, VfLowValue *const operand[4], VfLowValue **out,
                               VfErr *err)
{
    VfLowValue *in[4] = {operand[0], operand[1], operand[2], operand[3]};
    int32_t rank = in[0]->rank > in[1]->rank ? in[0]->rank : in[1]->rank;
    int64_t dims[MAX_AXES], wide[MAX_AXES];
    if (in[0]->rank < 1 || in[1]->rank < 1)
        return vf_low_refuse(err, "a scalar operand");
    rank = rank < 2 ? 2 : rank;
    for (int32_t i = 0; i < 2; i++) {
        VF_TRY(with_rank(cx, in[i], rank, i == 1, &in[i], err));
        VF_TRY(vf_low_dense(cx, in[i], &in[i], err));
    }
    if (differs_by_batch(in[2], in[0]->dims[rank - 2]) ||
        differs_by_batch(in[3], in[1]->dims[rank - 1]))
        return product_of_differences(cx, in, out, err);
    VfkMatmulIntegerParams p = {.m = in[0]->dims[rank - 2], .n = in[1]->dims[rank - 1],
                                .k = in[0]->dims[rank - 1]};
    p.lda = p.k;
    p.ldb = p.ldc = p.n;
    VF_TRY(zero_stride(cx, &in[2], p.m, &p.a_zero_stride, err));
    VF_TRY(zero_stride(cx, &in[3], p.n, &p.b_zero_stride, err));
    for (int32_t i = 0; i < rank - 2; i++)
        dims[i] = wide[i] = in[0]->dims[i] != 1 ? in[0]->dims[i] : in[1]->dims[i];
    dims[rank - 2] = p.m;
    dims[rank - 1] = p.n;
    VF_TRY(vf_low_new(cx, VF_I32, rank, dims, out, err));
    VfLowAxes axes;
    VfLowValue *a, *b;
    wide[rank - 2] = p.m;
    wide[rank - 1] = p.k;
    VF_TRY(vf_low_expand(cx, in[0], rank, wide, &a, err));
    wide[rank - 2] = p.k;
    wide[rank - 1] = p.n;
    VF_TRY(vf_low_expand(cx, in[1], rank, wide, &b, err));
    const int64_t *strides[] = {a->stride, b->stride, (*out)->stride};
    VF_TRY(vf_low_merge(3, rank - 2, dims, strides, &axes, err));
    p.batch_rank = axes.rank;
    memcpy(p.batch_dim, axes.dim, sizeof p.batch_dim);
    memcpy(p.a_batch, axes.stride[0], sizeof p.a_batch);
    memcpy(p.b_batch, axes.stride[1], sizeof p.b_batch);
    memcpy(p.c_batch, axes.stride[2], sizeof p.c_batch);
    p.block_rows = vfk_matmul_block_rows(p.m, p.batch_rank, p.batch_dim);
    char op[40];
    snprintf(op, sizeof op, "matmul_integer_%s_%s", vf_dtype_info(a->dtype)->name,
             vf_dtype_info(b->dtype)->name);
    VfLowEmit emit = {.op = op, .params = &p, .n_in = 4, .n_out = 1, .in = in, .out = out,
                      .units = vfk_matmul_units(p.m, p.n, p.block_rows, p.batch_rank, p.batch_dim),
                      .unit_cost = (double)p.block_rows * (double)p.n * (double)p.k,
                      .flops = 2 * (double)(*out)->count * (double)p.k};
    return vf_low_emit(cx, &emit, err);
}

VfStatus vf_lower_matmul_integer(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowValue *in[4] = {call->in[0], call->in[1], vf_low_in(call, 2), vf_low_in(call, 3)};
    VfLowValue *y;
    VF_TRY(vf_low_matmul_integer(cx, in, &y, err));
    return vf_low_reshape_to(cx, call, 0, y, err);
}
