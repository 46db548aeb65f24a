/* The folding examples of the specification, to their digits, in double.
 *
 * Keys in brackets are those of worked-examples.json; the numbers are copied from there. ONNX keeps
 * epsilon as a float, which moves results by less than 1e-11.
 */
#include <math.h>
#include <string.h>

#include "passes/ir/vft.h"
#include "passes/manager.h"
#include "tests/support/check_main.h"

#define HEAD "model ir=8 opset=17\n\n"
#define BN                                                                                         \
    "    g = const f64[3] {1.2, -0.5, 0.8}\n"                                                      \
    "    b = const f64[3] {0.1, 0.2, -0.3}\n"                                                      \
    "    m = const f64[3] {0.5, -1, 2}\n"                                                          \
    "    v = const f64[3] {0.25, 4, 1}\n"
#define REP                                                                                        \
    "    e = const f64[1] {0.7}\n"                                                                 \
    "    n = BatchNormalization(x, g, b, m, v) {epsilon=1e-05} @bn\n"                              \
    "    s = Mul(e, x) @mul\n"

enum { N_NUMBER_MAX = 18 };
static const double TOLERANCE = 1e-10;

/* A constant operand of the result: node by operator, slot, and its numbers. */
typedef struct Expected {
    VfOp op;
    int slot, n;
    double number[N_NUMBER_MAX];
} Expected;

typedef struct Example {
    const char *key, *passes, *text;
    Expected expected[2];
} Example;

static const Example example[] = {
    {"repbn",
     "fold-repbn",
     HEAD "graph g (x: f64[2, 3]) -> (y: f64[2, 3]) {\n" BN REP "    y = Add(n, s) @add\n}\n",
     {{VF_OP_BATCH_NORMALIZATION, 1, 3, {1.55000699993, 0.900001749998906, 1.50000349999125}},
      {VF_OP_BATCH_NORMALIZATION, 2, 3, {0.45, -0.5, 1.1}}}},
    {"bn_then_linear",
     "fold-bn",
     HEAD "graph g (x: f64[2, 3]) -> (y: f64[2, 2]) {\n" BN
          "    w = const f64[3, 2] {1, 0.25, -2, 1, 0.5, -1}\n"
          "    k = const f64[2] {0.3, -0.4}\n" REP "    r = Add(n, s) @add\n"
          "    p = MatMul(r, w) @fc\n"
          "    y = Add(p, k) @bias\n}\n",
     {{VF_OP_MATMUL,
       1,
       6,
       {3.09995200143995, 0.774988000359988, -0.900000624998828, 0.450000312499414, 0.749998000015,
        -1.49999600003}},
      {VF_OP_ADD, 1, 2, {-1.6499726257488, 1.17499831237942}}}},
    {"linear_then_repbn",
     "fold-bn",
     HEAD "graph g (u: f64[2, 2]) -> (z: f64[2, 3]) {\n" BN
          "    w = const f64[3, 2] {0.5, -1, 2, 0.25, -0.75, 1.5}\n"
          "    k = const f64[3] {1, -0.5, 0.25}\n"
          "    x = Gemm(u, w, k) {transB=1} @fc\n" REP "    y = Add(n, s) @add\n"
          "    z = Relu(y) @act\n}\n",
     {{VF_OP_GEMM,
       1,
       6,
       {1.54997600071998, -3.09995200143995, 0.900000624998828, 0.112500078124854, -1.1249970000225,
        2.249994000045}},
      {VF_OP_GEMM, 2, 3, {1.99997600071998, -0.274999843750293, -1.5249930000525}}}},
    {"bn_then_padded_conv3x3",
     "fold-bn",
     HEAD
     "graph g (x: f64[1, 2, 3, 3]) -> (y: f64[1, 1, 3, 3]) {\n"
     "    g = const f64[2] {1.5, -0.8}\n"
     "    b = const f64[2] {0.2, -0.6}\n"
     "    m = const f64[2] {0, 0}\n"
     "    v = const f64[2] {1, 1}\n"
     "    w = const f64[1, 2, 3, 3] {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.5, 1.4, 1.3, "
     "1.2, 1.1, 1.0, 0.9, 0.8, 0.7}\n"
     "    k = const f64[1] {0.05}\n"
     "    n = BatchNormalization(x, g, b, m, v) {epsilon=0.0} @bn\n"
     "    y = Conv(n, w, k) {kernel_shape=[3, 3], pads=[1, 1, 1, 1]} @conv\n}\n",
     {{VF_OP_CONV,
       1,
       18,
       {0.15, 0.3, 0.45, 0.6, 0.75, 0.9, 1.05, 1.2, 1.35, -1.2, -1.12, -1.04, -0.96, -0.88, -0.8,
        -0.72, -0.64, -0.56}},
      {VF_OP_ADD, 1, 9, {-1.55, -2.59, -1.87, -3.07, -4.99, -3.55, -2.51, -4.03, -2.83}}}},
    {"bn_meanpool_head",
     "fold-bn",
     HEAD "graph g (x: f64[1, 3, 2]) -> (y: f64[1, 2]) {\n" BN
          "    w = const f64[2, 3] {1, 0, -1, 0.5, 2, 0.25}\n"
          "    k = const f64[2] {0.1, -0.2}\n" REP "    r = Add(n, s) @add\n"
          "    p = ReduceMean(r) {axes=[2], keepdims=0} @mean\n"
          "    y = Gemm(p, w, k) {transB=1} @head\n}\n",
     {{VF_OP_GEMM,
       1,
       6,
       {3.09995200143995, 0.0, -1.49999600003, 1.54997600071998, 0.900000624998828,
        0.3749990000075}},
      {VF_OP_GEMM, 2, 2, {0.900015999340024, -1.32498537537616}}}},
};

static const VfNode *find(const VfModel *model, VfOp op)
{
    const VfNode *node = model->graph->first_node;
    while (node != NULL && node->op != op)
        node = node->next;
    return node;
}

static void check_expected(const Example *e, const VfModel *model, const Expected *expected)
{
    const VfNode *node = find(model, expected->op);
    ck_assert_msg(node != NULL, "[%s] has no %s", e->key, vf_op_info(expected->op)->name);
    const VfTensor *tensor = vf_value_const(vf_node_in(node, expected->slot));
    ck_assert_ptr_nonnull(tensor);
    ck_assert_uint_eq(tensor->count, (size_t)expected->n);
    for (size_t i = 0; i < tensor->count; i++) {
        double got = vf_tensor_get_double(tensor, i), want = expected->number[i];
        ck_assert_msg(fabs(got - want) <= TOLERANCE,
                      "[%s] %s operand %d, element %zu: %.15g, not %.15g", e->key,
                      vf_op_info(expected->op)->name, expected->slot, i, got, want);
    }
}

START_TEST(worked_example)
{
    const Example *e = &example[_i];
    VfErr err = {0};
    VfModel *model = NULL;
    VfPipeline pipeline;
    VfPipelineOptions options = {.stop_after = -1};
    VfArena *arena = vf_arena_new();
    VfBytes text = {e->text, strlen(e->text)};
    ck_assert_msg(vf_vft_parse(text, e->key, &model, &err) == VF_OK, "%s", err.text);
    ck_assert_int_eq(vf_pipeline_parse(arena, e->passes, NULL, &pipeline, &err), VF_OK);
    VfJournal *journal = vf_journal_new(model);
    VfStatus status = vf_pipeline_run(model, &pipeline, &options, journal, NULL, NULL, &err);
    ck_assert_msg(status == VF_OK, "[%s] %s", e->key, err.text);
    ck_assert_int_eq(journal->n_edit, 1);
    for (size_t i = 0; i < sizeof e->expected / sizeof e->expected[0]; i++)
        check_expected(e, model, &e->expected[i]);
    vf_model_free(model);
    vf_arena_free(arena);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("worked examples");
    TCase *tcase = tcase_create("folding");
    tcase_add_loop_test(tcase, worked_example, 0, (int)(sizeof example / sizeof example[0]));
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
