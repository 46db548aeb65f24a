/* GridSample and AffineGrid. */
#include "converter/lower/ops.h"
#include "passes/ir/attr.h"
#include "runtime/kernels/resize.h"

typedef enum Mode { LINEAR, NEAREST, CUBIC } Mode;

/* Image and grid in one dtype with a kernel, integers in f64. */
static VfStatus sample_operands(VfLower *cx, VfLowValue *const operand[2], VfLowValue *in[2],
                                VfErr *err)
{
    bool is_f32 = operand[0]->dtype == VF_F32 && operand[1]->dtype != VF_F64;
    for (int32_t i = 0; i < 2; i++) {
        VF_TRY(vf_low_cast(cx, operand[i], is_f32 ? VF_F32 : VF_F64, &in[i], err));
        VF_TRY(vf_low_dense(cx, in[i], &in[i], err));
    }
    return VF_OK;
}

static VfStatus read_sample(const VfLowCall *call, VfkGridSampleParams *q, VfErr *err)
{
    static const char *const mode[] = {"bilinear", "nearest", "bicubic", NULL};
    static const char *const mode20[] = {"linear", "nearest", "cubic", NULL};
    static const char *const padding[] = {"zeros", "border", "reflection", NULL};
    int32_t m, p;
    VF_TRY(vf_low_choose(vf_node_string(call->node, "mode"), call->opset < 20 ? mode : mode20, &m,
                         err));
    VF_TRY(vf_low_choose(vf_node_string(call->node, "padding_mode"), padding, &p, err));
    const VfLowValue *x = call->in[0], *grid = call->in[1];
    const VfType *y = &call->fact[0].type;
    int32_t n = x->rank - 2;
    if (n < 2 || n > 3 || grid->rank != n + 2 || grid->dims[n + 1] != n)
        return vf_low_refuse(err, "%d axes", x->rank);
    if (n == 3 && m == CUBIC)
        return vf_low_refuse(err, "mode 'cubic' on three axes");
    *q = (VfkGridSampleParams){.batch = x->dims[0], .channels = x->dims[1], .spatial = n,
                               .in_dim = {1}, .out_dim = {1}, .mode = m, .padding = p,
                               .align_corners = vf_node_int(call->node, "align_corners")};
    for (int32_t i = 0; i < n; i++) {
        q->in_dim[3 - n + i] = x->dims[2 + i];
        q->out_dim[3 - n + i] = y->dims[2 + i].k;
    }
    return VF_OK;
}

/* In the dtype of the image; integers are truncated. */
static VfStatus sample(VfLower *cx, const VfLowCall *call, const VfkGridSampleParams *q,
                       VfLowValue *image, VfLowValue **out, VfErr *err)
{
    VfLowValue *const operand[2] = {image, call->in[1]};
    VfLowValue *in[2], *y;
    int64_t dims[5];
    for (int32_t i = 0; i < image->rank; i++)
        dims[i] = call->fact[0].type.dims[i].k;
    VF_TRY(sample_operands(cx, operand, in, err));
    VF_TRY(vf_low_new(cx, in[0]->dtype, image->rank, dims, &y, err));
    VfLowEmit emit = {.op = "grid_sample", .dtype = in[0]->dtype, .params = q, .n_in = 2,
                      .n_out = 1, .in = in, .out = &y,
                      .units = y->count == 0 ? 0 : q->batch * q->out_dim[0] * q->out_dim[1],
                      .unit_cost = 20 * (double)(q->channels * q->out_dim[2]),
                      .flops = 10 * (double)y->count};
    VF_TRY(vf_low_emit(cx, &emit, err));
    return vf_low_cast(cx, y, image->dtype, out, err);
}

VfStatus vf_lower_grid_sample(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfkGridSampleParams q;
    VfLowValue *image = call->in[0], *half[2];
    VF_TRY(read_sample(call, &q, err));
    /* f64 does not hold wide integers, but their halves. */
    if (q.mode != NEAREST || (image->dtype != VF_I64 && image->dtype != VF_U64))
        return sample(cx, call, &q, image, &call->out[0], err);
    for (int32_t i = 0; i < 2; i++) {
        VF_TRY(vf_low_part(cx, image, i, &half[i], err));
        VF_TRY(sample(cx, call, &q, half[i], &half[i], err));
    }
    return vf_low_join(cx, half, image->dtype, &call->out[0], err);
}

/* Coordinate of place i of n, from -1 to 1: of the pixels' middles, or of their outer ones. */
static double grid_coordinate(int64_t i, int64_t n, bool is_aligned)
{
    if (!is_aligned)
        return (2 * (double)i + 1) / (double)n - 1;
    return n > 1 ? 2 * (double)i / (double)(n - 1) - 1 : -1;
}

/* Every place of the image, as rows (x, y, 1) or (x, y, z, 1). */
static VfStatus affine_places(VfLower *cx, VfDtype dtype, int32_t n, const int64_t *size,
                              bool is_aligned, VfLowValue **out, VfErr *err)
{
    VfTensor *tensor;
    void *data;
    const int64_t dims[2] = {vf_low_product(size, 0, n), n + 1};
    VF_TRY(vf_tensor_new(cx->arena, dtype, 2, dims, &tensor, &data, err));
    for (int64_t i = 0; i < dims[0]; i++) {
        int64_t left = i;
        for (int32_t k = 0; k < n; k++) {
            int64_t length = size[n - 1 - k];
            vf_tensor_put_double(data, dtype, (size_t)(i * (n + 1) + k),
                                 grid_coordinate(left % length, length, is_aligned));
            left /= length;
        }
        vf_tensor_put_double(data, dtype, (size_t)(i * (n + 1) + n), 1);
    }
    return vf_low_const(cx, tensor, out, err);
}

/* theta, N x n x (n + 1), applied to each place of an image of the known size. */
VfStatus vf_lower_affine_grid(VfLower *cx, VfLowCall *call, VfErr *err)
{
    static const int64_t perm[3] = {0, 2, 1};
    VfLowValue *theta = call->in[0], *places, *y;
    const int64_t *size;
    int32_t n_size;
    VF_TRY(vf_low_ints(cx, call, NULL, 1, &size, &n_size, err));
    int32_t n = n_size - 2;
    if (size == NULL || n < 2 || n > 3)
        return vf_low_refuse(err, "a size of %d numbers", n_size);
    if (theta->rank != 3 || theta->dims[1] != n || theta->dims[2] != n + 1 ||
        theta->dims[0] != size[0])
        return vf_fail(err, VF_INVALID,
                       "node '%s': operand 0 is not [%lld, %d, %d], as a size of %d numbers asks",
                       vf_node_label(call->node), (long long)size[0], n, n + 1, n_size);
    bool is_aligned = vf_node_int(call->node, "align_corners") != 0;
    VF_TRY(affine_places(cx, theta->dtype, n, size + 2, is_aligned, &places, err));
    const int64_t dims[3] = {1, places->dims[0], n + 1};
    VF_TRY(vf_low_reshape(cx, places, 3, dims, &places, err));
    VfLowMatmul m = {.a = places, .alpha = 1};
    VF_TRY(vf_low_permute(cx, theta, perm, &m.b, err));
    VF_TRY(vf_low_matmul(cx, &m, &y, err));
    return vf_low_reshape_to(cx, call, 0, y, err);
}
