/* The depthwise convolution of V over the token grid: d_v kernels that all heads share. */
#include "passes/linear/linear.h"
#include "passes/match/facts.h"

enum { PAD_OPERAND = 11 };

/* [d_v, 1, kernel, kernel]: given, zero, or with a centre of one. */
static VfValue *kernels(const VfLinearSite *work)
{
    if (work->dwc.kernel != NULL)
        return vf_rewrite_const(work->rw, work->dwc.kernel, "dwc_weight");
    int64_t n = work->options->kernel, dims[] = {work->d_v.k, 1, n, n};
    VfDtype dtype = work->site->out->type.dtype;
    VfTensor *tensor = NULL;
    void *data = NULL;
    if (vf_tensor_new(work->cx->model->arena, dtype, 4, dims, &tensor, &data, NULL) == VF_OK &&
        work->options->dwc == VF_DWC_IDENTITY) {
        for (int64_t c = 0; c < dims[0]; c++)
            vf_tensor_put_double(data, dtype, (size_t)(c * n * n + n * n / 2), 1.0);
    }
    return vf_rewrite_const(work->rw, tensor, "dwc_weight");
}

static VfValue *biases(const VfLinearSite *work)
{
    if (work->dwc.bias != NULL)
        return vf_rewrite_const(work->rw, work->dwc.bias, "dwc_bias");
    VfTensor *tensor = NULL;
    void *data = NULL;
    (void)vf_tensor_new(work->cx->model->arena, work->site->out->type.dtype, 1, &work->d_v.k,
                        &tensor, &data, NULL);
    return vf_rewrite_const(work->rw, tensor, "dwc_bias");
}

/* V (batch, d_v, n) stretched along the sequence as SLAB's PVT does, ends of rows mixed with
 * starts: for its checkpoints alone. */
static VfValue *stretch(const VfLinearSite *work, VfValue *rows)
{
    const VfTokenGrid *grid = &work->grid;
    int64_t n = grid->h * grid->w, s = grid->stride, line[] = {-1, work->d_v.k, n / (s * s)};
    int64_t image[] = {-1, work->d_v.k, grid->h, grid->w}, dims[] = {3};
    VfTensor *factor = NULL;
    void *data = NULL;
    if (vf_tensor_new(work->cx->model->arena, VF_F32, 1, dims, &factor, &data, NULL) == VF_OK) {
        for (size_t i = 0; i < 3; i++)
            vf_tensor_put_double(data, VF_F32, i, i == 2 ? (double)(s * s) : 1.0);
    }
    VfValue *in[] = {vf_rewrite_reshape(work->rw, rows, 3, line), VF_NO_OPERAND,
                     vf_rewrite_const(work->rw, factor, "stretch")};
    VfValue *out = vf_rewrite_node(work->rw, VF_OP_RESIZE, 3, in);
    vf_rewrite_string(work->rw, "mode", "linear");
    vf_rewrite_string(work->rw, "coordinate_transformation_mode", "half_pixel");
    return vf_rewrite_reshape(work->rw, out, 4, image);
}

/* The maps [n, d_v, h, w] of keys with each repeated for its queries (nearest neighbour). */
static VfValue *upsample(const VfLinearSite *work, VfValue *map)
{
    const VfTokenGrid *grid = &work->grid;
    int64_t s = grid->stride, h = grid->h / s, w = grid->w / s;
    int64_t apart[] = {-1, work->d_v.k, h, 1, w, 1}, repeat[] = {1, 1, 1, s, 1, s};
    int64_t joined[] = {-1, work->d_v.k, grid->h, grid->w};
    if (s == 1)
        return map;
    map = vf_rewrite_reshape(work->rw, map, 6, apart);
    map = vf_rewrite_binary(work->rw, VF_OP_EXPAND, map,
                            vf_rewrite_const_i64(work->rw, 6, repeat, "stride"));
    return vf_rewrite_reshape(work->rw, map, 4, joined);
}

static VfValue *convolve(const VfLinearSite *work, VfValue *map)
{
    int64_t n = work->options->kernel, p = n / 2;
    int64_t size[] = {n, n}, pads[] = {p, p, p, p}, ones[] = {1, 1};
    VfValue *in[] = {map, kernels(work), biases(work)};
    VfValue *out = vf_rewrite_node(work->rw, VF_OP_CONV, 3, in);
    vf_rewrite_int(work->rw, "group", work->d_v.k);
    vf_rewrite_ints(work->rw, "kernel_shape", 2, size);
    vf_rewrite_ints(work->rw, "pads", 4, pads);
    vf_rewrite_ints(work->rw, "strides", 2, ones);
    vf_rewrite_ints(work->rw, "dilations", 2, ones);
    return out;
}

/* The maps with the batch axes of `like` again: (batch, d_v, h w). One axis may be unknown, more
 * are read from the shape at run time. */
static VfValue *unfold_batch(const VfLinearSite *work, VfValue *map, VfValue *like)
{
    VfRewrite *rw = work->rw;
    int32_t n = like->type.rank - 2, n_unknown = 0;
    int64_t dims[VF_AXIS_MAX + 2], n_token = work->grid.h * work->grid.w;
    for (int32_t i = 0; i < n; i++) {
        bool is_known = vf_dim_is_known(like->type.dims[i]) && like->type.dims[i].k > 0;
        dims[i] = is_known ? like->type.dims[i].k : -1;
        n_unknown += !is_known;
    }
    dims[n] = work->d_v.k;
    dims[n + 1] = n_token;
    if (n_unknown <= 1)
        return vf_rewrite_reshape(rw, map, n + 2, dims);
    VfValue *batch = vf_rewrite_slice(rw, vf_rewrite_unary(rw, VF_OP_SHAPE, like), 0, 0, n);
    VfValue *shape =
        vf_rewrite_binary(rw, VF_OP_CONCAT, batch, vf_rewrite_const_i64(rw, 2, &dims[n], "map"));
    vf_rewrite_int(rw, "axis", 0);
    return vf_rewrite_binary(rw, VF_OP_RESHAPE, map, shape);
}

/* Zero rows for the tokens before and behind the grid. */
static VfValue *pad_tokens(const VfLinearSite *work, VfValue *rows)
{
    const VfTokenGrid *grid = &work->grid;
    int64_t pads[2 * (VF_AXIS_MAX + 2)] = {0};
    int32_t rank = rows != NULL ? rows->type.rank : 0;
    if (rank < 2 || (grid->prefix == 0 && grid->suffix == 0))
        return rows;
    pads[rank - 2] = grid->prefix;
    pads[2 * rank - 2] = grid->suffix;
    if (vf_graph_opset(work->site->graph, vf_bytes("")) >= PAD_OPERAND)
        return vf_rewrite_binary(work->rw, VF_OP_PAD, rows,
                                 vf_rewrite_const_i64(work->rw, 2 * rank, pads, "outside"));
    rows = vf_rewrite_unary(work->rw, VF_OP_PAD, rows);
    vf_rewrite_ints(work->rw, "pads", 2 * rank, pads);
    return rows;
}

VfValue *vf_linear_convolve(const VfLinearSite *work)
{
    const VfTokenGrid *grid = &work->grid;
    int64_t h = grid->h / grid->stride, w = grid->w / grid->stride;
    int64_t image[] = {-1, work->d_v.k, h, w};
    VfValue *v = vf_linear_arrange(work, &work->v, work->value_width, work->key);
    if (v == NULL)
        return NULL;
    if (grid->key_prefix + grid->key_suffix > 0)
        v = vf_rewrite_slice(work->rw, v, v->type.rank - 1, grid->key_prefix,
                             grid->key_prefix + h * w);
    if (v == NULL)
        return NULL;
    bool is_stretched = grid->stride > 1 && work->options->upsample == VF_UPSAMPLE_LINEAR_1D;
    VfValue *map = is_stretched ? stretch(work, v)
                                : upsample(work, vf_rewrite_reshape(work->rw, v, 4, image));
    VfValue *rows = unfold_batch(work, convolve(work, map), v);
    return pad_tokens(work, vf_linear_swap(work, rows));
}
