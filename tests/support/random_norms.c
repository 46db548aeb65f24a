#include "tests/support/random_net.h"

#include <math.h>

/* --- norms --- */

/* Mean over the last axis: axes are an operand from opset 18 on. */
int vf_net_mean(Net *net, int x, int axis)
{
    if (net->opset < 18)
        return node(net, "ReduceMean(v%d) {axes=[%d], keepdims=1}", x, axis);
    return node(net, "ReduceMean(v%d, c%d) {keepdims=1}", x, constant(net, "i64[1] {%d}", axis));
}

static int square(Net *net, int x)
{
    return pick(net, 2) == 0 ? node(net, "Mul(v%d, v%d)", x, x)
                             : node(net, "Pow(v%d, c%d)", x, number(net, 2));
}

/* The mean of x² over the last axis, at times by a sum. */
static int mean_square(Net *net, int x)
{
    double n = (double)net->c;
    int64_t form = pick(net, 4);
    if (form > 1)
        return vf_net_mean(net, square(net, x), -1);
    int s = square(net, x);
    s = node(net, "ReduceSum(v%d, c%d) {keepdims=1}", s, constant(net, "i64[1] {-1}"));
    return form == 0 ? node(net, "Div(v%d, c%d)", s, number(net, n))
                     : node(net, "Mul(c%d, v%d)", number(net, 1 / n), s);
}

/* x over the root of `power`, epsilon inside of it or behind. */
static int over_root(Net *net, int x, int power)
{
    int64_t form = pick(net, 6);
    double epsilon = 1e-5;
    if (form == 0) {
        int d = node(net, "Add(v%d, c%d)", node(net, "Sqrt(v%d)", power), number(net, epsilon));
        return node(net, "Div(v%d, v%d)", x, d);
    }
    int e = node(net, "Add(v%d, c%d)", power, number(net, epsilon));
    if (form == 1)
        return node(net, "Mul(v%d, v%d)", x, node(net, "Pow(v%d, c%d)", e, number(net, -0.5)));
    int r = node(net, "Sqrt(v%d)", e);
    if (form == 2)
        return node(net, "Mul(v%d, v%d)", node(net, "Reciprocal(v%d)", r), x);
    if (form == 3)
        return node(net, "Mul(v%d, v%d)", x, node(net, "Div(c%d, v%d)", number(net, 1), r));
    return node(net, "Div(v%d, v%d)", x, r);
}

/* A scale, at times that of the norm before. */
static int scale(Net *net)
{
    if (net->last_scale == 0 || pick(net, 4) != 0)
        net->last_scale = vector(net, net->c, 0.5, 1.5);
    return net->last_scale;
}

static int rms_written_out(Net *net, int x)
{
    int y = over_root(net, x, mean_square(net, x));
    return node(net, "Mul(v%d, c%d)", y, scale(net));
}

/* By |x| and the root of the width. */
static int rms_by_norm(Net *net, int x)
{
    int axis = net->opset < 18 ? -1 : constant(net, "i64[1] {-1}");
    int l = net->opset < 18 ? node(net, "ReduceL2(v%d) {axes=[%d], keepdims=1}", x, axis)
                            : node(net, "ReduceL2(v%d, c%d) {keepdims=1}", x, axis);
    l = node(net, "Mul(v%d, c%d)", l, number(net, 1 / sqrt((double)net->c)));
    int y = node(net, "Div(v%d, v%d)", x, node(net, "Add(v%d, c%d)", l, number(net, 1e-5)));
    return node(net, "Mul(v%d, c%d)", y, scale(net));
}

static int layer_norm_written_out(Net *net, int x)
{
    int y = node(net, "Sub(v%d, v%d)", x, vf_net_mean(net, x, -1)), m = mean_square(net, y);
    if (net->c > 2 && pick(net, 5) == 0)
        m = node(net, "Div(v%d, c%d)",
                 node(net, "Mul(v%d, c%d)", m, number(net, (double)net->c)),
                 number(net, (double)(net->c - 1)));
    if (pick(net, 5) == 0)
        y = over_root(net, node(net, "Mul(c%d, v%d)", scale(net), y), m);
    else
        y = node(net, "Mul(v%d, c%d)", over_root(net, y, m), scale(net));
    return node(net, "Add(v%d, c%d)", y, vector(net, net->c, -0.5, 0.5));
}

static int layer_norm(Net *net, int x)
{
    int g = scale(net), shift = vector(net, net->c, -0.5, 0.5);
    if (net->opset >= 23 && pick(net, 2) == 0)
        return node(net, "RMSNormalization(v%d, c%d) {axis=-1, epsilon=1e-5}", x, g);
    if (net->opset < 17)
        return layer_norm_written_out(net, x);
    if (pick(net, 3) == 0)
        return node(net, "LayerNormalization(v%d, c%d) {axis=-1, epsilon=1e-5}", x, g);
    return node(net, "LayerNormalization(v%d, c%d, c%d) {axis=-1, epsilon=1e-5}", x, g, shift);
}

/* BN over tokens, with η x in front of or behind the way back. */
static int batch_norm(Net *net, int x)
{
    int k = vector(net, net->c, 0.5, 1.5), t = node(net, "Transpose(v%d) {perm=[0, 2, 1]}", x);
    vector(net, net->c, -0.5, 0.5);
    vector(net, net->c, -0.5, 0.5);
    vector(net, net->c, 0.3, 1.3);
    int y = node(net, "BatchNormalization(v%d, c%d, c%d, c%d, c%d)", t, k, k + 1, k + 2, k + 3);
    int64_t form = pick(net, 3);
    if (form == 1)
        y = node(net, "Add(v%d, v%d)", y, node(net, "Mul(v%d, c%d)", t, number(net, 0.7)));
    y = node(net, "Transpose(v%d) {perm=[0, 2, 1]}", y);
    if (form == 2)
        y = node(net, "Add(v%d, v%d)", node(net, "Mul(c%d, v%d)", number(net, 0.4), x), y);
    return y;
}

int vf_net_norm_image(Net *net, int x)
{
    int k = vector(net, net->c, 0.5, 1.5);
    vector(net, net->c, -0.5, 0.5);
    vector(net, net->c, -0.5, 0.5);
    vector(net, net->c, 0.3, 1.3);
    return node(net, "BatchNormalization(v%d, c%d, c%d, c%d, c%d)", x, k, k + 1, k + 2, k + 3);
}

int vf_net_norm(Net *net, int x)
{
    static int (*const form[])(Net *, int) = {rms_written_out, rms_by_norm, layer_norm_written_out,
                                              layer_norm,      layer_norm,  batch_norm};
    return form[pick(net, 6)](net, x);
}

