#include <stdio.h>
#include <string.h>

#include "converter/api/model_map.h"
#include "passes/ir/attr.h"

enum { LINES = 6 };

static const char times[] = "\xc3\x97", arrow[] = "\xe2\x86\x92";

typedef struct Lines {
    VfArena *arena;
    const VfSymbols *symbols;
    VfBytes *line;
    int32_t n;
    bool failed;
} Lines;

static Lines begin(VfArena *arena, const VfModel *model)
{
    Lines lines = {.arena = arena, .symbols = model == NULL ? NULL : model->symbols,
                   .line = VF_NEW_ARRAY(arena, VfBytes, LINES)};
    lines.failed = lines.line == NULL;
    return lines;
}

static void say(Lines *lines, const char *words)
{
    lines->failed |= words == NULL;
    if (!lines->failed && lines->n < LINES)
        lines->line[lines->n++] = (VfBytes){words, strlen(words)};
}

static const char *dim(Lines *lines, VfDim d)
{
    const char *text = vf_dim_text(lines->arena, lines->symbols, d);
    lines->failed |= text == NULL;
    return text == NULL ? "" : text;
}

static VfStatus finish(const Lines *lines, VfTone tone, const char *label, VfMapSite *out,
                       VfErr *err)
{
    if (lines->failed)
        return vf_no_memory(err);
    *out = (VfMapSite){.tone = tone, .n_line = lines->n, .line = lines->line,
                       .tip = {label, strlen(label)}};
    return VF_OK;
}

/* --- attention --- */

static bool is_unknown(VfDim d)
{
    return d.sym == VF_SYM_UNKNOWN;
}

/* "3 heads × 64", as far as it is known. */
static void say_heads(Lines *lines, const VfAttention *site)
{
    if (!is_unknown(site->heads) && !is_unknown(site->d))
        say(lines, vf_arena_printf(lines->arena, "%s head%s %s %s", dim(lines, site->heads),
                                   vf_dim_is(site->heads, 1) ? "" : "s", times,
                                   dim(lines, site->d)));
}

/* "14×14 + 1 tokens", "49 in 64 windows", "3136 by 49 tokens". */
static void say_tokens(Lines *lines, const VfAttention *site)
{
    VfArena *arena = lines->arena;
    if (site->is_window) {
        say(lines, is_unknown(site->windows)
                       ? vf_arena_printf(arena, "windows of %s", dim(lines, site->n_q))
                       : vf_arena_printf(arena, "%s windows of %s", dim(lines, site->windows),
                                         dim(lines, site->n_q)));
    } else if (!vf_dim_is_same(site->n_q, site->n_k)) {
        say(lines, vf_arena_printf(arena, "%s by %s tokens", dim(lines, site->n_q),
                                   dim(lines, site->n_k)));
    } else if (!is_unknown(site->grid_h) && !is_unknown(site->grid_w)) {
        const char *prefix = vf_dim_is(site->prefix, 0) || is_unknown(site->prefix)
                                 ? ""
                                 : vf_arena_printf(arena, " + %s", dim(lines, site->prefix));
        say(lines, prefix == NULL ? NULL
                                  : vf_arena_printf(arena, "%s%s%s%s tokens",
                                                    dim(lines, site->grid_h), times,
                                                    dim(lines, site->grid_w), prefix));
    } else {
        say(lines, vf_arena_printf(arena, "%s token%s", dim(lines, site->n_q),
                                   vf_dim_is(site->n_q, 1) ? "" : "s"));
    }
}

static void say_traits(Lines *lines, const VfAttention *site)
{
    const struct {
        bool is_on;
        const char *word;
    } trait[] = {
        {site->is_causal, "causal"},
        {site->is_cross && vf_dim_is_same(site->n_q, site->n_k), "cross"},
        {site->has_bias, "bias"},
        {site->mask == VF_MASK_WINDOW, "shifted"},
        {site->mask == VF_MASK_CONST || site->mask == VF_MASK_RUNTIME, "mask"},
    };
    VfText text;
    VfBytes done;
    vf_text_init(&text, lines->arena);
    for (size_t i = 0; i < sizeof trait / sizeof trait[0]; i++)
        if (trait[i].is_on)
            vf_text_printf(&text, "%s%s", text.size == 0 ? "" : ", ", trait[i].word);
    lines->failed |= vf_text_get(&text, &done, NULL) != VF_OK;
    if (!lines->failed && done.size > 0)
        say(lines, done.data);
}

VfStatus vf_map_attention(VfArena *arena, const VfModel *model, const VfAttention *site,
                          VfMapSite *out, VfErr *err)
{
    static const VfTone tone[] = {
        [VF_ATTENTION_SOFTMAX] = VF_TONE_SOFTMAX,
        [VF_ATTENTION_POINTWISE] = VF_TONE_POINTWISE,
        [VF_ATTENTION_LINEAR] = VF_TONE_KERNEL,
        [VF_ATTENTION_OTHER] = VF_TONE_ATTENTION,
    };
    Lines lines = begin(arena, model);
    const char *kind = site->act != NULL ? site->act : vf_attention_kind_name(site->kind);
    say(&lines, vf_arena_printf(arena, "%s attention", kind));
    say_heads(&lines, site);
    say_tokens(&lines, site);
    say_traits(&lines, site);
    const char *tip = vf_arena_printf(arena, "attention %d: %s", site->index, site->label);
    VF_TRY_ALLOC(tip, err);
    return finish(&lines, tone[site->kind], tip, out, err);
}

/* --- norms --- */

VfStatus vf_map_layer_norm(VfArena *arena, const VfModel *model, const VfLayerNorm *site,
                           VfMapSite *out, VfErr *err)
{
    Lines lines = begin(arena, model);
    say(&lines, site->is_rms ? "RMS norm" : "layer norm");
    if (!is_unknown(site->width))
        say(&lines, dim(&lines, site->width));
    return finish(&lines, VF_TONE_NORM, site->label, out, err);
}

VfStatus vf_map_batch_norm(VfArena *arena, const VfBatchNorm *site, VfMapSite *out, VfErr *err)
{
    Lines lines = begin(arena, NULL);
    say(&lines, site->is_rep ? "RepBN" : "batch norm");
    if (site->channels >= 0)
        say(&lines, vf_arena_printf(arena, "%lld", (long long)site->channels));
    return finish(&lines, VF_TONE_BATCH, site->label, out, err);
}

/* --- layers --- */

/* The constant operand a product multiplies with; -1 if none of rank 2. */
static int32_t weight_slot(const VfNode *node)
{
    for (int32_t i = node->n_in > 2 ? 1 : node->n_in - 1; i >= 0; i--) {
        const VfTensor *weight = vf_value_const(vf_node_in(node, i));
        if (weight != NULL && weight->rank == 2)
            return i;
    }
    return -1;
}

static void say_product(Lines *lines, const VfNode *node)
{
    int32_t slot = weight_slot(node);
    say(lines, "linear");
    if (slot < 0) {
        say(lines, vf_arena_printf(lines->arena, "%.*s", (int)node->op_type.size,
                                   node->op_type.data));
        return;
    }
    const VfTensor *weight = vf_value_const(vf_node_in(node, slot));
    bool is_turned = (node->op == VF_OP_GEMM &&
                      vf_node_int(node, slot == 0 ? "transA" : "transB") != 0) != (slot == 0);
    say(lines, vf_arena_printf(lines->arena, "%lld%s%lld%s",
                               (long long)weight->dims[is_turned ? 1 : 0], arrow,
                               (long long)weight->dims[is_turned ? 0 : 1],
                               slot == 0 ? " tokens" : ""));
}

static void say_conv(Lines *lines, const VfNode *node)
{
    const VfTensor *weight = vf_value_const(vf_node_in(node, 1));
    int64_t group = vf_node_int(node, "group");
    int32_t n_stride;
    const int64_t *stride = vf_node_ints(node, "strides", &n_stride);
    bool is_up = node->op == VF_OP_CONV_TRANSPOSE;
    VfText text;
    VfBytes done;
    if (weight == NULL || weight->rank < 3) {
        say(lines, is_up ? "deconv" : "conv");
        return;
    }
    int64_t in = is_up ? weight->dims[0] : weight->dims[1] * group;
    int64_t out = is_up ? weight->dims[1] * group : weight->dims[0];
    vf_text_init(&text, lines->arena);
    vf_text_string(&text, is_up ? "deconv " : "conv ");
    for (int32_t i = 2; i < weight->rank; i++)
        vf_text_printf(&text, "%s%lld", i == 2 ? "" : times, (long long)weight->dims[i]);
    lines->failed |= vf_text_get(&text, &done, NULL) != VF_OK;
    say(lines, lines->failed ? NULL : done.data);
    if (group == in && group > 1 && out == in)
        say(lines, vf_arena_printf(lines->arena, "%lld, by channel", (long long)in));
    else
        say(lines, vf_arena_printf(lines->arena, "%lld%s%lld", (long long)in, arrow,
                                   (long long)out));
    if (n_stride > 0 && stride[0] > 1)
        say(lines, vf_arena_printf(lines->arena, "stride %lld", (long long)stride[0]));
}

static void say_embedding(Lines *lines, const VfNode *node)
{
    const VfTensor *table = vf_value_const(vf_node_in(node, 0));
    say(lines, "embedding");
    say(lines, vf_arena_printf(lines->arena, "%lld%s%lld", (long long)table->dims[0], times,
                               (long long)table->dims[1]));
}

VfStatus vf_map_layer(VfArena *arena, const VfNode *node, VfMapSite *out, VfErr *err)
{
    Lines lines = begin(arena, node->graph->model);
    bool is_conv = node->op == VF_OP_CONV || node->op == VF_OP_CONV_TRANSPOSE;
    if (node->op == VF_OP_GATHER)
        say_embedding(&lines, node);
    else if (is_conv)
        say_conv(&lines, node);
    else
        say_product(&lines, node);
    VfTone tone = node->op == VF_OP_GATHER ? VF_TONE_PLAIN
                  : is_conv                ? VF_TONE_CONV
                                           : VF_TONE_PRODUCT;
    return finish(&lines, tone, vf_node_label(node), out, err);
}
