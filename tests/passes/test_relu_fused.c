/* softmax-to-relu on attention that is one operator, and on projections that take up its scales,
 * against a reference in double: B 2, N 4, H 2, d 2.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "converter/lower/lower.h"
#include "passes/ir/vft.h"
#include "passes/manager.h"
#include "tests/passes/act_reference.h"
#include "tests/support/check_main.h"
#include "tests/support/run_model.h"

enum { B = 2, N = 4, H = 2, D = 2, C = 4, TEXT_MAX = 8192 };

typedef enum Mask { MASK_NONE, MASK_CAUSAL, MASK_FLAGS, MASK_LENGTHS, MASK_PAIRS } Mask;

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
    {"    q = MatMul(x, wq) @q\n    kv = MatMul(x, wkv) @kv\n"
     "    kvr = Reshape(kv, packed) @kvr\n"
     "    a = com.microsoft::MultiHeadAttention(q, kvr, _, b, flags) {num_heads=2} @a\n",
     MASK_FLAGS, true},
    {PROJECT SPLIT("q") SPLIT("k")
         SPLIT("v") "    kt = Transpose(kh) {perm=[0, 1, 3, 2]} @kt\n    s = MatMul(qh, kt) @s\n"
                    "    t = Mul(s, scale) @t\n    p = Softmax(t) {axis=-1} @p\n    o = MatMul(p, "
                    "vh) @o\n"
                    "    ot = Transpose(o) {perm=[0, 2, 1, 3]} @ot\n    a = Reshape(ot, joined) "
                    "@joined\n",
     MASK_NONE, false},
};
enum { N_SPELLING = sizeof spelling / sizeof spelling[0] };

typedef struct Options {
    const char *words, *act;
    double gain;
    bool is_valid;
} Options;

static const Options options_of[] = {
    {"act=relu", "relu", 1, false},
    {"act=relu2", "relu2", 1, false},
    {"act=relu6", "relu6", 1, false},
    {"act=gelu", "gelu", 1, false},
    {"act=softplus", "softplus", 1, false},
    {"act=sigmoid", "sigmoid", 1, false},
    {"act=identity", "identity", 1, false},
    {"act=sigmoid,L=valid,gain=2", "sigmoid", 2, true},
    {"act=relu,fold-scale=on,gain=3", "relu", 3, false},
    {"act=relu2,fold-scale=on", "relu2", 1, false},
    {"act=gelu,fold-scale=on", "gelu", 1, false},
    {"act=relu,gate=identity", "relu", 1, false},
    {"act=softplus,gate=silu,fold-scale=on", "softplus", 1, false},
};
enum { N_OPTIONS = sizeof options_of / sizeof options_of[0] };

/* --- numbers --- */

static double number(int32_t seed, int32_t i)
{
    return round(sin(seed * 12.9 + i * 7.3) * 16) / 16;
}

static double weight_of(int32_t part, int32_t row, int32_t column)
{
    return number(part + 1, row * C + column);
}

static double bias_of(const Spelling *s, int32_t part, int32_t column)
{
    return s->has_bias ? number(9, part * C + column) : 0;
}

static bool is_kept(Mask mask, int32_t b, int32_t i, int32_t j)
{
    static const int32_t length[B] = {3, 4};
    switch (mask) {
    case MASK_CAUSAL:
        return j <= i;
    case MASK_FLAGS:
        return (b + j) % 3 != 0;
    case MASK_LENGTHS:
        return j < length[b];
    case MASK_PAIRS:
        return (i + 2 * j) % 3 != 0;
    default:
        return true;
    }
}

/* --- reference --- */

static double projected(const Spelling *s, int32_t part, int32_t b, int32_t i, int32_t column)
{
    double sum = bias_of(s, part, column);
    for (int32_t c = 0; c < C; c++)
        sum += number(20, (b * N + i) * C + c) * weight_of(part, c, column);
    return sum;
}

/* Before the output projection. Softmax is the operator as it stands. */
static double attended(const Spelling *s, const Options *o, int32_t b, int32_t i, int32_t column)
{
    bool is_softmax = strcmp(o->act, "softmax") == 0;
    double sum = 0, n_kept = 0, total = 0;
    for (int32_t j = 0; j < N; j++) {
        double score = 0;
        for (int32_t c = column / D * D; c < column / D * D + D; c++)
            score += projected(s, 0, b, i, c) * projected(s, 1, b, j, c);
        if (!is_kept(s->mask, b, i, j))
            continue;
        n_kept++;
        double weight = is_softmax ? exp(score / sqrt(D)) : apply(o->act, score / sqrt(D));
        total += weight;
        sum += weight * projected(s, 2, b, j, column);
    }
    if (is_softmax)
        return sum / total;
    return o->gain * sum / (!o->is_valid ? N : n_kept > 1 ? n_kept : 1);
}

static double output(const Spelling *s, const Options *o, int32_t b, int32_t i, int32_t column)
{
    double sum = 0;
    for (int32_t c = 0; c < C; c++)
        sum += attended(s, o, b, i, c) * weight_of(3, c, column);
    return sum;
}

/* --- the model --- */

typedef struct Writer {
    char text[TEXT_MAX];
    size_t at;
} Writer;

static void put(Writer *w, const char *before, double x)
{
    w->at += (size_t)snprintf(w->text + w->at, TEXT_MAX - w->at, "%s%g", before, x);
}

static void put_text(Writer *w, const char *text)
{
    w->at += (size_t)snprintf(w->text + w->at, TEXT_MAX - w->at, "%s", text);
}

/* Columns of the parts `first` to `last` side by side; by head when `is_packed`. */
static void put_weights(Writer *w, const char *head, int32_t first, int32_t last, bool is_packed)
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

static VfModel *make_model(const Spelling *s)
{
    Writer w = {.at = 0};
    VfErr err = {0};
    VfModel *model = NULL;
    put_text(&w, "model ir=10 opset=23 opset com.microsoft=1\n\n"
                 "graph g (x: f32[2, 4, 4]) -> (y) {\n    scale = const f32[] {0.70710678}\n"
                 "    heads = const i64[4] {0, 0, 2, 2}\n    joined = const i64[3] {0, 0, 4}\n"
                 "    packed = const i64[5] {0, 0, 2, 2, 2}\n"
                 "    lengths = const i32[2] {3, 4}\n");
    put_weights(&w, "    wq = const f32[4, 4] {", 0, 0, false);
    put_weights(&w, "    wk = const f32[4, 4] {", 1, 1, false);
    put_weights(&w, "    wv = const f32[4, 4] {", 2, 2, false);
    put_weights(&w, "    wo = const f32[4, 4] {", 3, 3, false);
    put_weights(&w, "    w = const f32[4, 12] {", 0, 2, false);
    put_weights(&w, "    wkv = const f32[4, 8] {", 1, 2, true);
    put_text(&w, "    b = const f32[12] {");
    for (int32_t i = 0; i < 12; i++)
        put(&w, i == 0 ? "" : ", ", number(9, i));
    put_text(&w, "}\n    flags = const i32[2, 4] {");
    for (int32_t i = 0; i < B * N; i++)
        put(&w, i == 0 ? "" : ", ", is_kept(MASK_FLAGS, i / N, 0, i % N));
    put_text(&w, "}\n    pairs = const bool[4, 4] {");
    for (int32_t i = 0; i < N * N; i++) {
        put_text(&w, i == 0 ? "" : ", ");
        put_text(&w, is_kept(MASK_PAIRS, 0, i / N, i % N) ? "true" : "false");
    }
    put_text(&w, "}\n");
    put_text(&w, s->text);
    put_text(&w, "    y = MatMul(a, wo) @y\n}\n");
    ck_assert_msg(vf_vft_parse(vf_bytes(w.text), "text", &model, &err) == VF_OK, "%s", err.text);
    return model;
}

static int32_t run_pass(VfModel *model, const Options *o)
{
    char text[128];
    VfErr err = {0};
    VfPipeline pipeline;
    VfPipelineOptions options = {.evaluator = vf_evaluator(), .stop_after = -1};
    VfJournal *journal = vf_journal_new(model);
    snprintf(text, sizeof text, "softmax-to-relu:%s", o->words);
    ck_assert_int_eq(vf_pipeline_parse(model->arena, text, NULL, &pipeline, &err), VF_OK);
    VfStatus status = vf_pipeline_run(model, &pipeline, &options, journal, NULL, NULL, &err);
    ck_assert_msg(status == VF_OK, "%s", err.text);
    return journal->n_edit;
}

static const VfTensor *input_tensor(VfArena *arena)
{
    const int64_t dims[3] = {B, N, C};
    VfTensor *tensor;
    void *data;
    ck_assert_int_eq(vf_tensor_new(arena, VF_F32, 3, dims, &tensor, &data, NULL), VF_OK);
    for (size_t i = 0; i < tensor->count; i++)
        vf_tensor_put_double(data, VF_F32, i, number(20, (int32_t)i));
    return tensor;
}

static void check_outputs(VfModel *model, const Spelling *s, const Options *o)
{
    VfErr err = {0};
    VfTestOutputs outputs;
    model->graph->input[0]->tensor = input_tensor(model->arena);
    VfStatus status = vf_test_run(model, 1, model->arena, &outputs, &err);
    ck_assert_msg(status == VF_OK, "%s", err.text);
    for (int32_t i = 0; i < B * N * C; i++) {
        double y = vf_tensor_get_double(outputs.tensor[0], (size_t)i);
        ck_assert_double_eq_tol(y, output(s, o, i / (N * C), i / C % N, i % C), 2e-5);
    }
}

START_TEST(operator_gives_the_reference)
{
    static const Options softmax = {"", "softmax", 1, false};
    VfModel *model = make_model(&spelling[_i]);
    check_outputs(model, &spelling[_i], &softmax);
    vf_model_free(model);
}
END_TEST

START_TEST(pass_gives_the_reference)
{
    const Spelling *s = &spelling[_i / N_OPTIONS];
    const Options *o = &options_of[_i % N_OPTIONS];
    VfModel *model = make_model(s);
    ck_assert_int_eq(run_pass(model, o), 1);
    ck_assert_int_eq(run_pass(model, o), 0);
    check_outputs(model, s, o);
    vf_model_free(model);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("ReLU attention of fused operators");
    TCase *tcase = tcase_create("cases");
    tcase_add_loop_test(tcase, operator_gives_the_reference, 0, N_SPELLING);
    tcase_add_loop_test(tcase, pass_gives_the_reference, 0, N_SPELLING * N_OPTIONS);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
