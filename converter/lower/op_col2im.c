/* Col2Im: every column added into its place of the image, which is what a transposed convolution
 * does whose weights copy entry j of a block to its place j.
 */
#include "converter/lower/ops.h"

#include <string.h>

#include "converter/lower/window.h"

enum { BLOCK_MAX = 4096 }; /* weights are the square of the block for each channel */

/* Weights groups * block x 1 x kernel: a one at place j of row j. */
static VfStatus make_weights(VfLower *cx, const VfLowWindow *w, int64_t channels, VfDtype dtype,
                             VfLowValue **out, VfErr *err)
{
    int64_t block = vf_low_product(w->kernel, 0, 3);
    int64_t dims[5] = {channels * block, 1};
    VfTensor *tensor;
    void *data;
    memcpy(dims + 2, w->kernel + 3 - w->n, (size_t)w->n * sizeof(int64_t));
    VF_TRY(vf_tensor_new(cx->arena, dtype, w->n + 2, dims, &tensor, &data, err));
    memset(data, 0, tensor->bytes);
    for (int64_t row = 0; row < dims[0]; row++)
        vf_tensor_put_double(data, dtype, (size_t)(row * block + row % block), 1.0);
    return vf_low_const(cx, tensor, out, err);
}

/* The grid of columns that the window makes of the image: dims 2 on of `dims`; their product. */
static int64_t column_grid(const VfLowWindow *w, int64_t *dims)
{
    int64_t product = 1;
    for (int32_t i = 3 - w->n; i < 3; i++) {
        int64_t reach = w->in_dim[i] + w->pad[i] + w->pad_end[i] -
                        w->dilation[i] * (w->kernel[i] - 1) - 1;
        dims[2 + i - (3 - w->n)] = reach < 0 ? 0 : reach / w->stride[i] + 1;
        if (__builtin_mul_overflow(product, dims[2 + i - (3 - w->n)], &product))
            return -1;
    }
    return product;
}

VfStatus vf_lower_col2im(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowValue *in[3] = {NULL}, *out;
    VfLowWindow w;
    const int64_t *block;
    int32_t n;
    int64_t dims[5], size;
    VF_TRY(vf_low_ints(cx, call, NULL, 2, &block, &n, err));
    VF_TRY(vf_low_dense(cx, call->in[0], &in[0], err));
    VF_TRY(vf_low_result(cx, call, 0, &out, err));
    if (n + 2 != out->rank || in[0]->rank != 3)
        return vf_low_refuse(err, "columns of %d axes and a block of %d", in[0]->rank, n);
    VF_TRY(vf_low_window(call, out, out, block, &w, err));
    if (__builtin_mul_overflow(w.kernel[0] * w.kernel[1], w.kernel[2], &size) || size > BLOCK_MAX)
        return vf_low_refuse(err, "a block of more than %d", BLOCK_MAX);
    dims[0] = in[0]->dims[0];
    dims[1] = in[0]->dims[1];
    if (column_grid(&w, dims) != in[0]->dims[2] || dims[1] != out->dims[1] * size)
        return vf_fail(err, VF_INVALID, "node '%s': %lld columns of %lld do not fill the image",
                       vf_node_label(call->node), (long long)in[0]->dims[2], (long long)dims[1]);
    memcpy(w.in_dim, (int64_t[3]){1, 1, 1}, sizeof w.in_dim);
    memcpy(w.in_dim + 3 - w.n, dims + 2, (size_t)w.n * sizeof(int64_t));
    VF_TRY(make_weights(cx, &w, out->dims[1], in[0]->dtype, &in[1], err));
    VF_TRY(vf_low_reshape(cx, in[0], out->rank, dims, &in[0], err));
    return vf_low_transposed_conv(cx, in, &w, out, err);
}
