/* insert-spa on fused attention operators gives what it gives on the same attention in plain nodes,
 * which test_spa_layers.c holds to a reference. A second run changes nothing. */
#include <stdio.h>
#include <string.h>

#include "converter/lower/lower.h"
#include "passes/ir/vft.h"
#include "passes/manager.h"
#include "tests/support/check_main.h"
#include "tests/support/run_model.h"

#define MODEL "model ir=11 opset=23 opset com.microsoft=1\n\ngraph g "
#define MASK                                                                                       \
    "    m = const f32[4, 4] {0.5, -1000, 0, 0.25, 0, 0, -1000, 0.5, 1, 0, 0, -1000, 0, -1, 0, 0}\n"
#define FLAGS                                                                                      \
    "    m = const bool[4, 4] {true, false, true, true, true, true, false, true, true, true, "     \
    "true, false, false, true, true, true}\n"
#define HEADS                                                                                      \
    MODEL "(x: f32[1, 2, 4, 2]) -> (y) {\n"                                                        \
          "    w = const f32[2, 2] {1, 0.25, -0.5, 0.75}\n"                                        \
          "    q = MatMul(x, w) @q\n"                                                              \
          "    c = const f32[] {0.70710678}\n"                                                     \
          "    low = const f32[] {-1e30}\n"
#define SCORES                                                                                     \
    "    k = Transpose(x) {perm=[0, 1, 3, 2]} @k\n"                                                \
    "    r = MatMul(q, k) @r\n"                                                                    \
    "    s = Mul(r, c) @s\n"
#define VALUES                                                                                     \
    "    p = Softmax(%s) {axis=-1} @attention\n"                                                   \
    "    y = MatMul(p, x) @o\n"

/* Tokens of two heads side by side, each of width 2. */
#define ROWS MODEL "(x: f32[1, 4, 4]) -> (y) {\n"                                                  \
    "    w = const f32[4, 4] {1, 0.25, -0.5, 0.75, 0, 1, 0.5, 0, 0.25, -1, 1, 0, 0, 0, 0.5, 1}\n"  \
    "    a = MatMul(x, w) @a\n"                                                                    \
    "    bias = const f32[12] {0.1, 0, -0.1, 0.2, 0, 0, 0.3, 0, 0, 0.1, 0, -0.2}\n"                \
    "    t = const f32[1, 2, 4, 4] {0, 1, 0, 0, 0.5, 0, 0, 0, 0, 0, 0, -1, 0, 0, 0, 0, 0, 0, 0, "  \
    "0, 1, 1, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0}\n"
#define SPLIT                                                                                      \
    "    bq = const f32[4] {0.1, 0, -0.1, 0.2}\n"                                                  \
    "    bk = const f32[4] {0, 0, 0.3, 0}\n"                                                       \
    "    bv = const f32[4] {0, 0.1, 0, -0.2}\n"                                                    \
    "    shape = const i64[4] {0, 0, 2, 2}\n"                                                      \
    "    back = const i64[3] {0, 0, 4}\n"                                                          \
    "    c = const f32[] {0.70710678}\n"                                                           \
    "    qb = Add(a, bq) @qb\n"                                                                    \
    "    kb = Add(x, bk) @kb\n"                                                                    \
    "    vb = Add(x, bv) @vb\n"                                                                    \
    "    qs = Reshape(qb, shape) @qs\n"                                                            \
    "    ks = Reshape(kb, shape) @ks\n"                                                            \
    "    vs = Reshape(vb, shape) @vs\n"                                                            \
    "    q = Transpose(qs) {perm=[0, 2, 1, 3]} @q\n"                                               \
    "    k = Transpose(ks) {perm=[0, 2, 3, 1]} @k\n"                                               \
    "    v = Transpose(vs) {perm=[0, 2, 1, 3]} @v\n"                                               \
    "    r = MatMul(q, k) @r\n"                                                                    \
    "    s = Mul(r, c) @s\n"                                                                       \
    "    st = Add(s, t) @st\n"
#define JOIN                                                                                       \
    "    p = Softmax(%s) {axis=-1} @attention\n"                                                   \
    "    h = MatMul(p, v) @o\n"                                                                    \
    "    ht = Transpose(h) {perm=[0, 2, 1, 3]} @ht\n"                                              \
    "    y = Reshape(ht, back) @y\n"

/* Fused, plain, and what the softmax of the plain one is taken of. */
static const struct {
    const char *fused, *plain, *logits;
} pair[] = {
    {HEADS "    y = Attention(q, x, x) @attention\n}\n", HEADS SCORES VALUES "}\n", "s"},
    {HEADS "    y = Attention(q, x, x) {is_causal=1} @attention\n}\n",
     HEADS SCORES "    m = const f32[4, 4] {0, -inf, -inf, -inf, 0, 0, -inf, -inf, 0, 0, 0, -inf, "
                  "0, 0, 0, 0}\n    sm = Add(s, m) @sm\n" VALUES "}\n", "sm"},
    {HEADS MASK "    y = Attention(q, x, x, m) @attention\n}\n",
     HEADS MASK SCORES "    sm = Add(s, m) @sm\n" VALUES "}\n", "sm"},
    {HEADS FLAGS "    y = Attention(q, x, x, m) @attention\n}\n",
     HEADS FLAGS SCORES "    sm = Where(m, s, low) @sm\n" VALUES "}\n", "sm"},
    {ROWS "    y = com.microsoft::MultiHeadAttention(a, x, x, bias, _, t) {num_heads=2} "
          "@attention\n}\n",
     ROWS SPLIT JOIN "}\n", "st"},
};
enum { N_PAIR = sizeof pair / sizeof pair[0] };

static const char *const passes[] = {
    "insert-spa:tau=1,gamma=0.5", "insert-spa:tau=0.5,gamma=0.5",
    "insert-spa:kernel=skipinit,alpha=0.5,beta=0.75"};

static VfModel *read_model(const char *format, const char *logits)
{
    char text[4096];
    VfModel *model = NULL;
    VfErr err = {0};
    const char *at = strstr(format, "%s");
    int n = at != NULL ? (int)(at - format) : (int)strlen(format);
    snprintf(text, sizeof text, "%.*s%s%s", n, format, at != NULL ? logits : "",
             at != NULL ? at + 2 : "");
    ck_assert_msg(vf_vft_parse(vf_bytes(text), "text", &model, &err) == VF_OK, "%s", err.text);
    return model;
}

static int32_t rewrite(VfModel *model, const char *words)
{
    VfErr err = {0};
    VfPipeline pipeline;
    VfPipelineOptions options = {.evaluator = vf_evaluator(), .stop_after = -1};
    VfJournal *journal = vf_journal_new(model);
    ck_assert_int_eq(vf_pipeline_parse(model->arena, words, NULL, &pipeline, &err), VF_OK);
    VfStatus status = vf_pipeline_run(model, &pipeline, &options, journal, NULL, NULL, &err);
    ck_assert_msg(status == VF_OK, "%s: %s", words, err.text);
    return journal->n_edit;
}

START_TEST(fused_is_plain)
{
    for (size_t k = 0; k < sizeof passes / sizeof passes[0]; k++) {
        VfModel *model[2] = {read_model(pair[_i].fused, NULL),
                             read_model(pair[_i].plain, pair[_i].logits)};
        VfTestOutputs outputs[2];
        VfErr err = {0};
        for (int i = 0; i < 2; i++) {
            ck_assert_msg(rewrite(model[i], passes[k]) == 1, "pair %d, %s: %s is left alone", _i,
                          passes[k], i == 0 ? "fused" : "plain");
            ck_assert_int_eq(rewrite(model[i], passes[k]), 0);
            ck_assert_msg(vf_test_run(model[i], 7, model[i]->arena, &outputs[i], &err) == VF_OK,
                          "%s", err.text);
        }
        double far = vf_test_distance(&outputs[0], &outputs[1]);
        ck_assert_msg(far < 1e-5, "pair %d, %s: %g", _i, passes[k], far);
        vf_model_free(model[0]);
        vf_model_free(model[1]);
    }
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("spa fused");
    TCase *tcase = tcase_create("cases");
    tcase_add_loop_test(tcase, fused_is_plain, 0, N_PAIR);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
