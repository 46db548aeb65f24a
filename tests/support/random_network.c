#include "tests/support/random_network.h"

#include "tests/support/random_net.h"

enum { ONE_IN_MANY = 9 };

/* A matrix, at times one that another layer has. */
static int weights(Net *net, int64_t in, int64_t out)
{
    for (int i = 0; i < net->n_kept; i++)
        if (net->kept[i].in == in && net->kept[i].out == out && pick(net, 5) == 0)
            return net->kept[i].number;
    int w = constant(net, "f32[%d, %d] random(%d, -0.7, 0.7)", (int)in, (int)out,
                     (int)pick(net, 100000));
    if (net->n_kept < N_KEPT)
        net->kept[net->n_kept++] = (Kept){w, in, out};
    return w;
}

/* Something that does nothing, now and then; or a second reader. */
static int noise(Net *net, int x)
{
    if (pick(net, ONE_IN_MANY) != 0)
        return x;
    switch (pick(net, 5)) {
    case 0:
        return node(net, "Identity(v%d)", x);
    case 1:
        return node(net, "Cast(v%d) {to=1}", x);
    case 2:
        return node(net, "Dropout(v%d)", x);
    case 3:
        return node(net, "Transpose(v%d) {perm=[1, 0, 2]}",
                    node(net, "Transpose(v%d) {perm=[1, 0, 2]}", x));
    default:
        net->extra = x;
        return x;
    }
}

static int linear(Net *net, int x, int64_t in, int64_t out)
{
    int w = weights(net, in, out), y = node(net, "MatMul(v%d, c%d)", x, w);
    if (pick(net, 4) == 0)
        return y;
    int b = vector(net, out, -0.5, 0.5);
    return pick(net, 2) == 0 ? node(net, "Add(c%d, v%d)", b, y) : node(net, "Add(v%d, c%d)", y, b);
}

static int norm(Net *net, int x)
{
    return noise(net, vf_net_norm(net, x));
}

/* --- attention --- */

typedef struct Heads {
    int q, k, v; /* [batch, heads, n, d] */
} Heads;

static int split_heads(Net *net, int x)
{
    int dims = constant(net, "i64[4] {0, %d, %d, %d}", (int)net->n, (int)net->heads,
                        (int)(net->c / net->heads));
    return node(net, "Transpose(v%d) {perm=[0, 2, 1, 3]}",
                node(net, "Reshape(v%d, c%d)", x, dims));
}

static Heads separate(Net *net, int x)
{
    int q = split_heads(net, linear(net, x, net->c, net->c));
    int k = split_heads(net, linear(net, x, net->c, net->c));
    return (Heads){q, k, split_heads(net, linear(net, x, net->c, net->c))};
}

static Heads packed(Net *net, int x)
{
    int y = linear(net, x, net->c, 3 * net->c), part[3];
    int dims = constant(net, "i64[5] {0, %d, 3, %d, %d}", (int)net->n, (int)net->heads,
                        (int)(net->c / net->heads));
    y = node(net, "Reshape(v%d, c%d)", y, dims);
    y = node(net, "Transpose(v%d) {perm=[2, 0, 3, 1, 4]}", y);
    for (int i = 0; i < 3; i++)
        part[i] = node(net, "Gather(v%d, c%d) {axis=0}", y, constant(net, "i64[] {%d}", i));
    return (Heads){part[0], part[1], part[2]};
}

static Heads split(Net *net, int x)
{
    int y = linear(net, x, net->c, 3 * net->c), first = net->n_value + 1;
    int sizes = constant(net, "i64[3] {%d, %d, %d}", (int)net->c, (int)net->c, (int)net->c);
    vf_text_printf(&net->text, "    v%d, v%d, v%d = Split(v%d, c%d) {axis=2}\n", first, first + 1,
                   first + 2, y, sizes);
    net->n_value += 3;
    int q = split_heads(net, first), k = split_heads(net, first + 1);
    return (Heads){q, k, split_heads(net, first + 2)};
}

static int scores(Net *net, Heads h)
{
    if (pick(net, 4) == 0)
        return node(net, "Einsum(v%d, v%d) {equation=\"bhqd,bhkd->bhqk\"}", h.q, h.k);
    int k = node(net, "Transpose(v%d) {perm=[0, 1, 3, 2]}", h.k);
    return node(net, "MatMul(v%d, v%d)", h.q, k);
}

static int scaled_scores(Net *net, Heads h)
{
    switch (pick(net, 3)) {
    case 0:
        h.q = node(net, "Mul(v%d, c%d)", h.q, number(net, 0.7));
        h.k = node(net, "Mul(c%d, v%d)", number(net, 0.7), h.k);
        return scores(net, h);
    case 1:
        return node(net, "Div(v%d, c%d)", scores(net, h), number(net, 2));
    default:
        return scores(net, h);
    }
}

/* A relative position bias, a causal mask or both. */
static int terms(Net *net, int s)
{
    int n = (int)net->n;
    if (pick(net, 3) == 0)
        s = node(net, "Add(v%d, c%d)", s, constant(net, "f32[1, %d, %d, %d] random(%d)",
                                                   (int)net->heads, n, n, (int)pick(net, 9999)));
    if (net->opset < 14 || pick(net, 4) != 0)
        return s;
    int low = node(net, "Trilu(c%d) {upper=0}",
                   constant(net, "bool[%d, %d] splat true", n, n));
    int far = number(net, pick(net, 2) == 0 ? -1e9 : -100);
    return node(net, "Where(v%d, v%d, c%d)", low, s, far);
}

static int merge_heads(Net *net, int o)
{
    int dims = constant(net, "i64[3] {0, %d, %d}", (int)net->n, (int)net->c);
    o = node(net, "Transpose(v%d) {perm=[0, 2, 1, 3]}", o);
    return linear(net, node(net, "Reshape(v%d, c%d)", o, dims), net->c, net->c);
}

static int fused_attention(Net *net, int x)
{
    int q = linear(net, x, net->c, net->c), k = linear(net, x, net->c, net->c);
    int v = linear(net, x, net->c, net->c), h = (int)net->heads;
    int o = node(net, "Attention(v%d, v%d, v%d) {is_causal=%d, q_num_heads=%d, kv_num_heads=%d}",
                 q, k, v, (int)pick(net, 2), h, h);
    return linear(net, o, net->c, net->c);
}

static int attention(Net *net, int x)
{
    static Heads (*const form[])(Net *, int) = {separate, packed, split};
    if (net->opset >= 23 && pick(net, 3) == 0)
        return fused_attention(net, x);
    Heads h = form[pick(net, 3)](net, x);
    int p = node(net, "Softmax(v%d) {axis=-1}", terms(net, scaled_scores(net, h)));
    if (pick(net, 4) == 0)
        p = node(net, "Dropout(v%d)", p);
    return merge_heads(net, node(net, "MatMul(v%d, v%d)", p, h.v));
}

/* --- the rest of a block --- */

static int gelu_erf(Net *net, int x)
{
    int e = node(net, "Erf(v%d)", node(net, "Div(v%d, c%d)", x, number(net, 1.41421356237)));
    e = node(net, "Mul(v%d, v%d)", x, node(net, "Add(v%d, c%d)", e, number(net, 1)));
    return node(net, "Mul(v%d, c%d)", e, number(net, 0.5));
}

static int activation(Net *net, int x)
{
    switch (pick(net, 4)) {
    case 0:
        return node(net, "Relu(v%d)", x);
    case 1:
        return net->opset >= 20 ? node(net, "Gelu(v%d)", x) : gelu_erf(net, x);
    case 2:
        return node(net, "Mul(v%d, v%d)", x, node(net, "Sigmoid(v%d)", x));
    default:
        return gelu_erf(net, x);
    }
}

static int perceptron(Net *net, int x)
{
    int64_t wide = 2 * net->c;
    return linear(net, activation(net, linear(net, x, net->c, wide)), wide, net->c);
}

static int normed_attention(Net *net, int x)
{
    return attention(net, norm(net, x));
}

static int normed_perceptron(Net *net, int x)
{
    return perceptron(net, norm(net, x));
}

/* A part behind a norm; at times in a branch beside another part. */
static int normed(Net *net, int x, NetPart *f)
{
    static NetPart *const other[] = {normed_attention, normed_perceptron, norm, perceptron};
    if (net->depth > 1 || pick(net, 8) != 0)
        return f(net, norm(net, x));
    NetPart *inner = f == attention ? normed_attention : normed_perceptron;
    return pick(net, 2) == 0 ? vf_net_if(net, x, inner, other[pick(net, 4)])
                             : vf_net_if(net, x, other[pick(net, 4)], inner);
}

static int residual(Net *net, int x, NetPart *f)
{
    bool is_post = pick(net, 4) == 0;
    int y = noise(net, is_post ? f(net, x) : normed(net, x, f));
    if (pick(net, 4) == 0)
        y = node(net, "Mul(v%d, c%d)", y, vector(net, net->c, 0.5, 1));
    y = pick(net, 2) == 0 ? node(net, "Add(v%d, v%d)", x, y) : node(net, "Add(v%d, v%d)", y, x);
    return is_post ? norm(net, y) : y;
}

/* Patches of an image, a class token in front, positions. */
static int stem(Net *net)
{
    int64_t side = net->side / 2;
    int w = constant(net, "f32[%d, 3, 2, 2] random(%d)", (int)net->c, (int)pick(net, 9999));
    int x = node(net, "Conv(v0, c%d, c%d) {kernel_shape=[2, 2], strides=[2, 2]}", w,
                 vector(net, net->c, -0.5, 0.5));
    if (pick(net, 2) == 0)
        x = vf_net_norm_image(net, x);
    x = node(net, "Reshape(v%d, c%d)", x, constant(net, "i64[3] {0, %d, -1}", (int)net->c));
    x = node(net, "Transpose(v%d) {perm=[0, 2, 1]}", x);
    net->n = side * side;
    if (pick(net, 2) == 0) {
        int token = constant(net, "f32[%d, 1, %d] random(%d)", (int)net->batch, (int)net->c,
                             (int)pick(net, 9999));
        x = node(net, "Concat(c%d, v%d) {axis=1}", token, x);
        net->n++;
    }
    int place = constant(net, "f32[1, %d, %d] random(%d)", (int)net->n, (int)net->c,
                         (int)pick(net, 9999));
    return node(net, "Add(v%d, c%d)", x, place);
}

static int head(Net *net, int x)
{
    x = pick(net, 3) == 0 ? x : norm(net, x);
    if (pick(net, 2) == 0)
        x = node(net, "Gather(v%d, c%d) {axis=1}", x, constant(net, "i64[] {0}"));
    else if (pick(net, 2) == 0)
        x = vf_net_mean(net, x, 1);
    return pick(net, 4) == 0 ? x : linear(net, x, net->c, 5);
}

static int body(Net *net)
{
    int x = net->side > 0 ? stem(net) : noise(net, 0);
    int64_t depth = 1 + pick(net, 2);
    for (int64_t i = 0; i < depth; i++) {
        x = residual(net, x, attention);
        if (pick(net, 4) != 0)
            x = residual(net, x, perceptron);
    }
    return node(net, "Identity(v%d)", head(net, x));
}

const char *vf_random_network(VfArena *arena, uint64_t seed)
{
    static const int opsets[] = {13, 14, 17, 18, 20, 23};
    Net net = {.state = seed, .batch = 1};
    VfText head_text;
    VfBytes out;
    vf_text_init(&net.text, arena);
    vf_text_init(&head_text, arena);
    net.opset = opsets[pick(&net, 6)];
    net.batch = 1 + pick(&net, 2);
    net.heads = 1 + pick(&net, 3);
    net.c = net.heads * (2 + 2 * pick(&net, 2));
    /* A norm of two channels that are nearly alike makes anything of rounding. */
    if (net.c < 4)
        net.c = 4;
    net.n = 2 + pick(&net, 6);
    net.side = pick(&net, 3) == 0 ? 4 + 2 * pick(&net, 2) : 0;
    int64_t n = net.n, last = body(&net);
    vf_text_printf(&head_text, "model ir=8 opset=%d\n\ngraph g (v0: f32[", net.opset);
    if (net.side > 0)
        vf_text_printf(&head_text, "%d, 3, %d, %d", (int)net.batch, (int)net.side, (int)net.side);
    else if (pick(&net, 2) == 0)
        vf_text_printf(&head_text, "batch, %d, %d", (int)n, (int)net.c);
    else
        vf_text_printf(&head_text, "%d, %d, %d", (int)net.batch, (int)n, (int)net.c);
    vf_text_printf(&head_text, "]%s) -> (v%d", net.has_flag ? ", flag: bool[]" : "", (int)last);
    if (net.extra > 0)
        vf_text_printf(&head_text, ", v%d", net.extra);
    vf_text_printf(&head_text, ") {\n%s}\n", net.text.data);
    return vf_text_get(&head_text, &out, NULL) == VF_OK ? out.data : NULL;
}
