#include "passes/fold/layer.h"
#include "passes/ir/attr.h"

static bool is_same_pad(const VfNode *node)
{
    VfBytes mode = vf_node_string(node, "auto_pad");
    return vf_bytes_is_equal(mode, vf_bytes("SAME_UPPER")) ||
           vf_bytes_is_equal(mode, vf_bytes("SAME_LOWER"));
}

static bool is_all(const VfNode *node, const char *name, int64_t number)
{
    int32_t n;
    const int64_t *values = vf_node_ints(node, name, &n);
    for (int32_t i = 0; i < n; i++) {
        if (values[i] != number)
            return false;
    }
    return true;
}

bool vf_conv_has_border(const VfNode *node)
{
    int32_t n;
    bool pads = is_same_pad(node) || !is_all(node, "pads", 0);
    if (node->op == VF_OP_CONV)
        return pads;
    const VfTensor *w = vf_value_const(vf_node_in(node, 1));
    for (int32_t i = 2; w != NULL && i < w->rank; i++)
        pads = pads || w->dims[i] != 1;
    return pads || !is_all(node, "strides", 1) || !is_all(node, "output_padding", 0) ||
           vf_node_ints(node, "output_shape", &n) != NULL;
}

/* Entry `i` of an int list of `n` entries; `missing` when the list is absent. */
static bool read_entry(const VfNode *node, const char *name, int32_t n, int32_t i, int64_t missing,
                       int64_t *out)
{
    int32_t have;
    const int64_t *values = vf_node_ints(node, name, &have);
    *out = values != NULL && have > i ? values[i] : missing;
    return values == NULL || have == n;
}

static int64_t at_least_zero(int64_t x)
{
    return x > 0 ? x : 0;
}

/* Padding that is not given but follows from the extents. */
static int64_t derived_begin(const VfNode *node, const VfConvFrame *f, int32_t i,
                             int64_t output_padding)
{
    int64_t span = (f->kernel[i] - 1) * f->dilation[i] + 1;
    bool is_upper = vf_bytes_is_equal(vf_node_string(node, "auto_pad"), vf_bytes("SAME_UPPER"));
    int64_t total =
        f->is_transpose
            ? at_least_zero((f->in[i] - 1) * f->stride[i] + output_padding + span - f->out[i])
            : at_least_zero((f->out[i] - 1) * f->stride[i] + span - f->in[i]);
    return is_upper ? total / 2 : total - total / 2;
}

static bool read_axis(const VfNode *node, VfConvFrame *f, int32_t i, bool is_derived)
{
    const VfType *x = &vf_node_in(node, 0)->type, *y = &node->out[0]->type;
    const VfDim *in = &x->dims[i + 2], *out = &y->dims[i + 2];
    const int64_t limit = INT32_MAX;
    int64_t output_padding = 0;
    if (!vf_dim_is_known(*in) || !vf_dim_is_known(*out) || in->k > limit || out->k > limit)
        return false;
    f->in[i] = in->k;
    f->out[i] = out->k;
    f->kernel[i] = vf_value_const(vf_node_in(node, 1))->dims[i + 2];
    bool is_read = read_entry(node, "strides", f->n, i, 1, &f->stride[i]) &&
                   read_entry(node, "dilations", f->n, i, 1, &f->dilation[i]) &&
                   read_entry(node, "pads", 2 * f->n, i, 0, &f->begin[i]) &&
                   read_entry(node, "output_padding", f->n, i, 0, &output_padding);
    bool is_small = f->kernel[i] <= limit && f->stride[i] > 0 && f->stride[i] <= limit &&
                    f->dilation[i] > 0 && f->dilation[i] <= limit && f->begin[i] >= -limit &&
                    f->begin[i] <= limit;
    if (!is_read || !is_small)
        return false;
    if (is_derived)
        f->begin[i] = derived_begin(node, f, i, output_padding);
    return true;
}

bool vf_conv_frame(const VfNode *node, VfConvFrame *frame)
{
    const VfTensor *w = vf_value_const(vf_node_in(node, 1));
    const VfType *x = &vf_node_in(node, 0)->type, *y = &node->out[0]->type;
    int32_t n;
    if (w == NULL || x->rank != w->rank || y->rank != w->rank || w->rank > VF_FIELD_RANK_MAX)
        return false;
    *frame = (VfConvFrame){.n = w->rank - 2, .is_transpose = node->op == VF_OP_CONV_TRANSPOSE};
    bool is_derived = is_same_pad(node) ||
                      (frame->is_transpose && vf_node_ints(node, "output_shape", &n) != NULL);
    for (int32_t i = 0; i < frame->n; i++) {
        if (!read_axis(node, frame, i, is_derived))
            return false;
    }
    return true;
}
