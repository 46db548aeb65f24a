/* What the passes make of the examples of worked-examples.json, run, against the file itself.
 *
 * A case is a model with $(path) for the numbers of the file, the passes, where the inputs come
 * from and what the outputs must be.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "passes/ir/vft.h"
#include "tests/support/run_model.h"
#include "tests/support/run_pass.h"
#include "tests/support/worked.h"

#define HEAD "model ir=8 opset=17\n\ngraph g "

enum { N_INPUT_MAX = 3, RANK_MAX = 4, TEXT_MAX = 8192 };

typedef struct Case {
    const char *passes, *text;
    const char *input[N_INPUT_MAX];  /* paths, in order */
    const char *output[N_INPUT_MAX]; /* likewise; "": not in the file */
} Case;

/* --- models --- */

#define SELF "(q: f32[1, 3, 2], k: f32[1, 3, 2], v: f32[1, 3, 2])"
#define CROSS "(q: f32[1, 2, 2], k: f32[1, 5, 2], v: f32[1, 5, 2])"
#define SCORES                                        \
    "    scale = const f32[] {0.70710678118654752}\n" \
    "    kt = Transpose(k) {perm=[0, 2, 1]} @kt\n"    \
    "    s = MatMul(q, kt) @s\n"                      \
    "    t = Mul(s, scale) @t\n"
#define ATTENTION(inputs, mask, logits)             \
    HEAD inputs " -> (p, o) {\n" mask SCORES logits \
    "    p = Softmax(u) {axis=-1} @softmax\n"       \
    "    o = MatMul(p, v) @o\n}\n"
#define PLAIN(inputs) ATTENTION(inputs, "", "    u = Identity(t) @u\n")
#define MASKED                                                               \
    ATTENTION(SELF, "    mask = const f32[3, 3] {$(relu_attention.mask)}\n", \
            "    u = Add(t, mask) @u\n")

/* Self-attention of tokens which are a row of q, of k and of v each: passes can see that. */
#define PICK " = const f32[6, 2] {"
#define TOKENS                                                            \
    HEAD "(a: f32[1, 3, 2], b: f32[1, 3, 2], c: f32[1, 3, 2]) -> (o) {\n" \
         "    wq" PICK "1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0}\n"            \
         "    wk" PICK "0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0}\n"            \
         "    wv" PICK "0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1}\n"            \
         "    x = Concat(a, b, c) {axis=2} @tokens\n"                     \
         "    q = MatMul(x, wq) @q\n"                                     \
         "    k = MatMul(x, wk) @k\n"                                     \
         "    v = MatMul(x, wv) @v\n" SCORES                              \
         "    p = Softmax(t) {axis=-1} @softmax\n"                        \
         "    o = MatMul(p, v) @o\n}\n"

#define RELU(act, alpha)                                                                   \
    {                                                                                      \
        "softmax-to-relu:act=" act ",alpha=" alpha, PLAIN(SELF),                           \
            {"relu_attention.Q", "relu_attention.K", "relu_attention.V"},                  \
        {                                                                                  \
            "relu_attention.A_" act "_alpha" alpha, "relu_attention.O_" act "_alpha" alpha \
        }                                                                                  \
    }
#define RELU_MASKED(act)                                                  \
    {                                                                     \
        "softmax-to-relu:act=" act, MASKED,                               \
            {"relu_attention.Q", "relu_attention.K", "relu_attention.V"}, \
        {                                                                 \
            "relu_attention.A_" act "_masked_alpha1", ""                  \
        }                                                                 \
    }

#define BN                                                            \
    "    g = const f32[3] {$(repbn.gamma)}\n"                         \
    "    b = const f32[3] {$(repbn.beta)}\n"                          \
    "    m = const f32[3] {$(repbn.mean)}\n"                          \
    "    v = const f32[3] {$(repbn.var)}\n"                           \
    "    e = const f32[1] {$(repbn.eta)}\n"                           \
    "    n = BatchNormalization(x, g, b, m, v) {epsilon=1e-05} @bn\n" \
    "    s = Mul(e, x) @mul\n"                                        \
    "    r = Add(n, s) @add\n"
#define REPBN HEAD "(x: f32[2, 3]) -> (y: f32[2, 3]) {\n" BN "    y = Identity(r) @y\n}\n"

static const Case example[] = {
    {"none", PLAIN(SELF),
     {"relu_attention.Q", "relu_attention.K", "relu_attention.V"},
     {"relu_attention.A_softmax", "relu_attention.O_softmax"}},
    {"none", MASKED,
     {"relu_attention.Q", "relu_attention.K", "relu_attention.V"},
     {"relu_attention.A_softmax_masked", ""}},
    RELU("relu", "1"), RELU("relu", "0.5"),
    RELU("relu2", "1"), RELU("relu2", "0.5"),
    RELU("relu6", "1"), RELU("relu6", "0.5"),
    RELU("gelu", "1"), RELU("gelu", "0.5"),
    RELU("softplus", "1"), RELU("softplus", "0.5"),
    RELU("sigmoid", "1"), RELU("sigmoid", "0.5"),
    RELU("identity", "1"), RELU("identity", "0.5"),
    RELU_MASKED("relu"), RELU_MASKED("relu2"), RELU_MASKED("relu6"), RELU_MASKED("gelu"),
    RELU_MASKED("softplus"), RELU_MASKED("sigmoid"),
    {"softmax-to-relu", PLAIN(CROSS),
     {"relu_attention_cross.Q", "relu_attention_cross.K", "relu_attention_cross.V"},
     {"relu_attention_cross.A_relu_alpha1", "relu_attention_cross.O_relu_alpha1"}},
    {"none", REPBN, {"repbn.x"}, {"repbn.y"}},
    {"fold-repbn", REPBN, {"repbn.x"}, {"repbn.y_merged"}},
    {"fold-repbn,fold-bn", REPBN, {"repbn.x"}, {"repbn.y_affine"}},
    {"fold-bn",
     HEAD "(x: f32[2, 3]) -> (y: f32[2, 2]) {\n" BN
          "    w = const f32[2, 3] {$(bn_then_linear.W_out_in)}\n"
          "    k = const f32[2] {$(bn_then_linear.b)}\n"
          "    y = Gemm(r, w, k) {transB=1} @fc\n}\n",
     {"bn_then_linear.x"},
     {"bn_then_linear.y"}},
    {"fold-bn",
     HEAD "(u: f32[2, 2]) -> (y: f32[2, 3]) {\n"
          "    w = const f32[3, 2] {$(linear_then_repbn.W_out_in)}\n"
          "    k = const f32[3] {$(linear_then_repbn.b)}\n"
          "    x = Gemm(u, w, k) {transB=1} @fc\n" BN "    y = Identity(r) @y\n}\n",
     {"linear_then_repbn.u"},
     {"linear_then_repbn.y"}},
    {"fold-bn",
     HEAD "(x: f32[1, 2, 3, 3]) -> (y: f32[1, 1, 3, 3]) {\n"
          "    g = const f32[2] {$(bn_then_padded_conv3x3.a)}\n"
          "    b = const f32[2] {$(bn_then_padded_conv3x3.c)}\n"
          "    m = const f32[2] {0, 0}\n"
          "    v = const f32[2] {1, 1}\n"
          "    w = const f32[1, 2, 3, 3] {$(bn_then_padded_conv3x3.W_oihw)}\n"
          "    k = const f32[1] {$(bn_then_padded_conv3x3.b)}\n"
          "    n = BatchNormalization(x, g, b, m, v) {epsilon=0.0} @bn\n"
          "    y = Conv(n, w, k) {kernel_shape=[3, 3], pads=[1, 1, 1, 1]} @conv\n}\n",
     {"bn_then_padded_conv3x3.x_chw"},
     {"bn_then_padded_conv3x3.y"}},
    {"fold-bn",
     HEAD "(z: f32[1, 2, 3]) -> (y: f32[1, 2]) {\n"
          "    x = Transpose(z) {perm=[0, 2, 1]} @t\n"
          "    g = const f32[3] {$(repbn.gamma)}\n"
          "    b = const f32[3] {$(repbn.beta)}\n"
          "    m = const f32[3] {$(repbn.mean)}\n"
          "    v = const f32[3] {$(repbn.var)}\n"
          "    e = const f32[1] {$(repbn.eta)}\n"
          "    w = const f32[2, 3] {$(bn_meanpool_head.W)}\n"
          "    k = const f32[2] {$(bn_meanpool_head.b)}\n"
          "    n = BatchNormalization(x, g, b, m, v) {epsilon=1e-05} @bn\n"
          "    s = Mul(e, x) @mul\n"
          "    r = Add(n, s) @add\n"
          "    p = ReduceMean(r) {axes=[2], keepdims=0} @mean\n"
          "    y = Gemm(p, w, k) {transB=1} @head\n}\n",
     {"repbn.x"},
     {"bn_meanpool_head.logits"}},
    {"insert-spa:kernel=skipinit,alpha=0.9,beta=0.3", TOKENS,
     {"relu_attention.Q", "relu_attention.K", "relu_attention.V"},
     {"value_skipinit_shaped.O_skipinit"}},
    {"insert-spa:kernel=shaped,alpha=0.9,beta=0.3,center=0.2", TOKENS,
     {"relu_attention.Q", "relu_attention.K", "relu_attention.V"},
     {"value_skipinit_shaped.O_shaped"}},
};

/* --- running --- */

/* The numbers at the path in `from`, which begins behind "$(", written to `to`; the end of it. */
static const char *print_numbers(const char *from, char *to, size_t room, size_t *n_written)
{
    char path[96];
    size_t length = strcspn(from, ")");
    ck_assert_uint_lt(length, sizeof path);
    memcpy(path, from, length);
    path[length] = '\0';
    VfWorked numbers = vf_worked(path);
    *n_written = 0;
    for (size_t i = 0; i < numbers.n; i++)
        *n_written += (size_t)snprintf(to + *n_written, room - *n_written, "%s%.17g",
                                       i > 0 ? ", " : "", numbers.at[i]);
    ck_assert_uint_lt(*n_written, room);
    return from + length + 1;
}

static VfModel *parse(const Case *c)
{
    static char text[TEXT_MAX];
    size_t at = 0, n;
    VfModel *model = NULL;
    VfErr err = {0};
    for (const char *from = c->text; *from != '\0';) {
        ck_assert_uint_lt(at + 1, sizeof text);
        if (strncmp(from, "$(", 2) == 0) {
            from = print_numbers(from + 2, text + at, sizeof text - at, &n);
            at += n;
        } else {
            text[at++] = *from++;
        }
    }
    text[at] = '\0';
    ck_assert_msg(vf_vft_parse(vf_bytes(text), c->passes, &model, &err) == VF_OK, "%s", err.text);
    return model;
}

/* The input, which has a known shape, filled from the head of the numbers at `path`. */
static void fill_input(VfModel *model, int32_t i, const char *path)
{
    VfValue *input = model->graph->input[i];
    VfWorked numbers = vf_worked(path);
    int64_t dims[RANK_MAX];
    VfTensor *tensor;
    void *data;
    for (int32_t d = 0; d < input->type.rank; d++)
        dims[d] = input->type.dims[d].k;
    ck_assert_int_eq(vf_tensor_new(model->arena, VF_F32, input->type.rank, dims, &tensor,
                                   &data, NULL),
                     VF_OK);
    ck_assert_uint_eq(tensor->count, numbers.n);
    for (size_t k = 0; k < numbers.n; k++)
        vf_tensor_put_double(data, VF_F32, k, numbers.at[k]);
    input->tensor = tensor;
}

static VfModel *run(const Case *c, VfTestOutputs *outputs)
{
    VfErr err = {0};
    VfModel *model = parse(c);
    VfJournal *journal = vf_test_passes(model, c->passes);
    ck_assert_msg(strcmp(c->passes, "none") == 0 || journal->n_edit > 0, "%s: no edit", c->passes);
    for (int32_t i = 0; i < model->graph->n_input; i++)
        fill_input(model, i, c->input[i]);
    VfStatus status = vf_test_run(model, 1, model->arena, outputs, &err);
    ck_assert_msg(status == VF_OK, "%s: %s", c->passes, err.text);
    return model;
}

/* The numbers of an output. */
static VfWorked numbers_of(const VfTestOutputs *outputs, int32_t i)
{
    VfWorked numbers = {.n = outputs->tensor[i]->count};
    ck_assert_uint_le(numbers.n, VF_WORKED_MAX);
    for (size_t k = 0; k < numbers.n; k++)
        numbers.at[k] = vf_tensor_get_double(outputs->tensor[i], k);
    return numbers;
}

/* --- cases --- */

START_TEST(passes_give_the_numbers_of_the_file)
{
    const Case *c = &example[_i];
    VfTestOutputs outputs;
    VfModel *model = run(c, &outputs);
    for (int32_t i = 0; i < outputs.n; i++) {
        VfWorked got = numbers_of(&outputs, i);
        if (c->output[i][0] != '\0')
            vf_worked_check(c->output[i], got.at, got.n, vf_worked_number("_tolerance.float32"));
    }
    vf_model_free(model);
}
END_TEST

/* An added mask of -100 would leave identity -33 there (the file notes it), so the pass multiplies
 * instead: entries the mask removes are zero, the others those of the file. */
START_TEST(masked_identity)
{
    const Case c = {"softmax-to-relu:act=identity",
                    MASKED,
                    {"relu_attention.Q", "relu_attention.K", "relu_attention.V"},
                    {NULL}};
    VfTestOutputs outputs;
    VfWorked mask = vf_worked("relu_attention.mask");
    VfWorked want = vf_worked("relu_attention.A_identity_masked_alpha1");
    VfModel *model = run(&c, &outputs);
    VfWorked got = numbers_of(&outputs, 0);
    for (size_t i = 0; i < want.n; i++)
        ck_assert_double_eq_tol(got.at[i], mask.at[i] < 0 ? 0 : want.at[i], 1e-6);
    vf_model_free(model);
}
END_TEST

/* gain=auto is sqrt(2 pi), whose inverse is the mean of relu; shift=auto is c in relu(S + c). */
START_TEST(automatic_gain_and_shift)
{
    Case c = {"softmax-to-relu:gain=auto",
              PLAIN(SELF),
              {"relu_attention.Q", "relu_attention.K", "relu_attention.V"},
              {NULL}};
    VfTestOutputs outputs;
    VfWorked plain = vf_worked("relu_attention.A_relu_alpha1");
    VfWorked logits = vf_worked("relu_attention.logits");
    VfModel *model = run(&c, &outputs);
    double gain = numbers_of(&outputs, 0).at[0] / plain.at[0], mean = 1 / gain;
    vf_worked_check("constants.gain_mean_match", &gain, 1, 1e-6);
    vf_worked_check("constants.E_relu_std_normal", &mean, 1, 1e-6);
    vf_model_free(model);
    c.passes = "softmax-to-relu:shift=auto";
    model = run(&c, &outputs);
    double shift = 3 * numbers_of(&outputs, 0).at[0] - logits.at[0];
    vf_worked_check("constants.shift_for_unit_row_sum", &shift, 1, 1e-6);
    vf_model_free(model);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("worked json");
    TCase *tcase = tcase_create("passes");
    tcase_add_loop_test(tcase, passes_give_the_numbers_of_the_file, 0,
                        (int)(sizeof example / sizeof example[0]));
    tcase_add_test(tcase, masked_identity);
    tcase_add_test(tcase, automatic_gain_and_shift);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_WORKED_MAIN(make_suite)
