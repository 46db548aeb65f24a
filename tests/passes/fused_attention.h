/* Attention as one operator in several spellings, and the numbers a reference in double works with:
 * B 2, N 4, H 2, d 2. Weights and inputs are sixteenths, so that single precision holds them.
 */
#ifndef VF_TESTS_FUSED_ATTENTION_H
#define VF_TESTS_FUSED_ATTENTION_H

#include <math.h>
#include <stdio.h>

#include "passes/ir/vft.h"
#include "tests/support/check_main.h"

enum { B = 2, N = 4, H = 2, D = 2, C = 4, TEXT_MAX = 8192 };

typedef enum Mask {
    MASK_NONE,
    MASK_CAUSAL,
    MASK_WINDOW,
    MASK_FLAGS,
    MASK_LENGTHS,
    MASK_BETWEEN,
    MASK_PAIRS
} Mask;

/* One spelling; `text` stands between the weights wq, wk, wv, w (all three), wkv (keys and values
 * by head), b and the product with wo. */
typedef struct Spelling {
    const char *text;
    Mask mask;
    bool has_bias;
} Spelling;

#define PROJECT "    q = MatMul(x, wq) @q\n    k = MatMul(x, wk) @k\n    v = MatMul(x, wv) @v\n"
#define SPLIT(x)                                                                                   \
    "    " x "r = Reshape(" x ", heads) @" x "r\n"                                                 \
    "    " x "h = Transpose(" x "r) {perm=[0, 2, 1, 3]} @" x "h\n"

static const Spelling spelling[] = {
    {PROJECT "    a = Attention(q, k, v) {is_causal=1, kv_num_heads=2, q_num_heads=2} @a\n",
     MASK_CAUSAL, false},
    {PROJECT "    a = Attention(q, k, v, pairs) {kv_num_heads=2, q_num_heads=2} @a\n", MASK_PAIRS,
     false},
    {"    a = com.microsoft::Attention(x, w, b) {num_heads=2} @a\n", MASK_NONE, true},
    {"    a = com.microsoft::Attention(x, w, b, flags) {num_heads=2} @a\n", MASK_FLAGS, true},
    {"    a = com.microsoft::Attention(x, w, b) {num_heads=2, unidirectional=1} @a\n", MASK_CAUSAL,
     true},
    {PROJECT "    a = com.microsoft::MultiHeadAttention(q, k, v, b, lengths) {num_heads=2} @a\n",
     MASK_LENGTHS, true},
    {"    a = com.microsoft::Attention(x, w, b, ends) {num_heads=2} @a\n", MASK_BETWEEN, true},
    {"    a = com.microsoft::Attention(x, w, b, cube) {num_heads=2} @a\n", MASK_PAIRS, true},
    {PROJECT "    a = com.microsoft::MultiHeadAttention(q, k, v, b, _, added) {num_heads=2} @a\n",
     MASK_PAIRS, true},
    {"    q = MatMul(x, wq) @q\n    kv = MatMul(x, wkv) @kv\n"
     "    kvr = Reshape(kv, packed) @kvr\n"
     "    a = com.microsoft::MultiHeadAttention(q, kvr, _, b, flags) {num_heads=2} @a\n",
     MASK_FLAGS, true},
    {PROJECT "    a = com.microsoft::GroupQueryAttention(q, k, v, _, _, full, all) {kv_num_heads="
             "2, num_heads=2} @a\n",
     MASK_CAUSAL, false},
    {PROJECT "    a = com.microsoft::GroupQueryAttention(q, k, v, _, _, full, all) {kv_num_heads="
             "2, local_window_size=2, num_heads=2} @a\n",
     MASK_WINDOW, false},
    {"    qkv = MatMul(x, w) @qkv\n    c = Add(qkv, b) @c\n"
     "    a = com.microsoft::GroupQueryAttention(c, _, _, _, _, last, all) {causal=0, "
     "kv_num_heads=2, num_heads=2} @a\n",
     MASK_LENGTHS, true},
    {PROJECT SPLIT("q") SPLIT("k")
         SPLIT("v") "    kt = Transpose(kh) {perm=[0, 1, 3, 2]} @kt\n    s = MatMul(qh, kt) @s\n"
                    "    t = Mul(s, scale) @t\n    p = Softmax(t) {axis=-1} @p\n    o = MatMul(p, "
                    "vh) @o\n"
                    "    ot = Transpose(o) {perm=[0, 2, 1, 3]} @ot\n    a = Reshape(ot, joined) "
                    "@joined\n",
     MASK_NONE, false},
};
enum { N_SPELLING = sizeof spelling / sizeof spelling[0] };

/* --- numbers --- */

static inline double number(int32_t seed, int32_t i)
{
    return round(sin(seed * 12.9 + i * 7.3) * 16) / 16;
}

static inline double weight_of(int32_t part, int32_t row, int32_t column)
{
    return number(part + 1, row * C + column);
}

static inline double bias_of(const Spelling *s, int32_t part, int32_t column)
{
    return s->has_bias ? number(9, part * C + column) : 0;
}

static inline bool is_kept(Mask mask, int32_t b, int32_t i, int32_t j)
{
    static const int32_t length[B] = {3, 4}, start[B] = {1, 0};
    switch (mask) {
    case MASK_CAUSAL:
        return j <= i;
    case MASK_WINDOW:
        return j <= i && j > i - 2;
    case MASK_FLAGS:
        return (b + j) % 3 != 0;
    case MASK_LENGTHS:
        return j < length[b];
    case MASK_BETWEEN:
        return j >= start[b] && j < length[b];
    case MASK_PAIRS:
        return (i + 2 * j) % 3 != 0;
    default:
        return true;
    }
}

static inline double projected(const Spelling *s, int32_t part, int32_t b, int32_t i,
                               int32_t column)
{
    double sum = bias_of(s, part, column);
    for (int32_t c = 0; c < C; c++)
        sum += number(20, (b * N + i) * C + c) * weight_of(part, c, column);
    return sum;
}

/* --- the model --- */

typedef struct Writer {
    char text[TEXT_MAX];
    size_t at;
} Writer;

static inline void put(Writer *w, const char *before, double x)
{
    w->at += (size_t)snprintf(w->text + w->at, TEXT_MAX - w->at, "%s%g", before, x);
}

static inline void put_text(Writer *w, const char *text)
{
    w->at += (size_t)snprintf(w->text + w->at, TEXT_MAX - w->at, "%s", text);
}

/* Columns of the parts `first` to `last` side by side; by head when `is_packed`. */
static inline void put_weights(Writer *w, const char *head, int32_t first, int32_t last,
                               bool is_packed)
{
    int32_t n = last - first + 1;
    put_text(w, head);
    for (int32_t row = 0; row < C; row++) {
        for (int32_t i = 0; i < n * C; i++) {
            int32_t part = is_packed ? i / D % n : i / C;
            int32_t column = is_packed ? i / (n * D) * D + i % D : i % C;
            put(w, row + i == 0 ? "" : ", ", weight_of(first + part, row, column));
        }
    }
    put_text(w, "}\n");
}

/* One number for each pair, `n` times over. */
static inline void put_pairs(Writer *w, const char *head, int32_t n, double removed, double kept)
{
    put_text(w, head);
    for (int32_t i = 0; i < n * N * N; i++)
        put(w, i == 0 ? "" : ", ", is_kept(MASK_PAIRS, 0, i / N % N, i % N) ? kept : removed);
    put_text(w, "}\n");
}

static inline void put_masks(Writer *w)
{
    put_text(w, "    last = const i32[2] {2, 3}\n    full = const i32[2] {3, 3}\n"
                "    all = const i32[1] {4}\n    lengths = const i32[2] {3, 4}\n"
                "    ends = const i32[4] {3, 4, 1, 0}\n    flags = const i32[2, 4] {");
    for (int32_t i = 0; i < B * N; i++)
        put(w, i == 0 ? "" : ", ", is_kept(MASK_FLAGS, i / N, 0, i % N));
    put_text(w, "}\n");
    put_pairs(w, "    pairs = const bool[4, 4] {", 1, 0, 1);
    put_pairs(w, "    cube = const i32[2, 4, 4] {", 2, 0, 1);
    put_pairs(w, "    added = const f32[1, 2, 4, 4] {", 2, -1000, 0);
}

static inline VfModel *make_model(const Spelling *s)
{
    Writer w = {.at = 0};
    VfErr err = {0};
    VfModel *model = NULL;
    put_text(&w, "model ir=10 opset=23 opset com.microsoft=1\n\n"
                 "graph g (x: f32[2, 4, 4]) -> (y) {\n    scale = const f32[] {0.70710678}\n"
                 "    heads = const i64[4] {0, 0, 2, 2}\n    joined = const i64[3] {0, 0, 4}\n"
                 "    packed = const i64[5] {0, 0, 2, 2, 2}\n");
    put_weights(&w, "    wq = const f32[4, 4] {", 0, 0, false);
    put_weights(&w, "    wk = const f32[4, 4] {", 1, 1, false);
    put_weights(&w, "    wv = const f32[4, 4] {", 2, 2, false);
    put_weights(&w, "    wo = const f32[4, 4] {", 3, 3, false);
    put_weights(&w, "    w = const f32[4, 12] {", 0, 2, false);
    put_weights(&w, "    wkv = const f32[4, 8] {", 1, 2, true);
    put_text(&w, "    b = const f32[12] {");
    for (int32_t i = 0; i < 12; i++)
        put(&w, i == 0 ? "" : ", ", number(9, i));
    put_text(&w, "}\n");
    put_masks(&w);
    put_text(&w, s->text);
    put_text(&w, "    y = MatMul(a, wo) @y\n}\n");
    ck_assert_msg(vf_vft_parse(vf_bytes(w.text), "text", &model, &err) == VF_OK, "%s", err.text);
    return model;
}

static inline const VfTensor *input_tensor(VfArena *arena)
{
    const int64_t dims[3] = {B, N, C};
    VfTensor *tensor;
    void *data;
    ck_assert_int_eq(vf_tensor_new(arena, VF_F32, 3, dims, &tensor, &data, NULL), VF_OK);
    for (size_t i = 0; i < tensor->count; i++)
        vf_tensor_put_double(data, VF_F32, i, number(20, (int32_t)i));
    return tensor;
}

#endif
