/* What ReLU attention keeps and what it does not (invariants of the conversion passes,
 * section 1.5), on one model rewritten by the pass: 3 queries, up to 4 keys, d 2.
 */
#include <math.h>
#include <stdio.h>

#include "converter/lower/lower.h"
#include "passes/ir/vft.h"
#include "passes/manager.h"
#include "tests/support/check_main.h"
#include "tests/support/run_model.h"

enum { N_Q = 3, N_K = 4, D = 2, N_OUT = N_Q * D };

static const double q_data[] = {1, 0.5, -0.5, 2, 0.25, -1};
static const double k_data[] = {0.5, 1, 1, -1, -1, 0.5, 2, 0.25};
static const double v_data[] = {1, 2, 0, -1, 3, 0.5, -2, 1};

/* What goes in: number `shift` is added to all scores of row 0; keys `mask` away get -1e4. */
typedef struct In {
    double q[N_Q * D], k[N_K * D], v[N_K * D];
    double shift;
    int32_t n_k, mask; /* bit j: key j is removed */
} In;

static In start(void)
{
    In in = {.n_k = N_K};
    for (int32_t i = 0; i < N_Q * D; i++)
        in.q[i] = q_data[i];
    for (int32_t i = 0; i < N_K * D; i++) {
        in.k[i] = k_data[i];
        in.v[i] = v_data[i];
    }
    return in;
}

static void set_input(VfModel *model, int32_t index, int64_t rows, const double *from)
{
    const int64_t dims[2] = {rows, D};
    VfTensor *tensor;
    void *data;
    ck_assert_int_eq(vf_tensor_new(model->arena, VF_F32, 2, dims, &tensor, &data, NULL), VF_OK);
    for (size_t i = 0; i < tensor->count; i++)
        vf_tensor_put_double(data, VF_F32, i, from[i]);
    model->graph->input[index]->tensor = tensor;
}

static VfModel *make_model(const In *in)
{
    char text[1024], bias[512];
    VfErr err = {0};
    VfModel *model = NULL;
    size_t at = 0;
    for (int32_t i = 0; i < N_Q * in->n_k; i++) {
        double x = in->mask >> i % in->n_k & 1 ? -1e4 : i / in->n_k == 0 ? in->shift : 0;
        at += (size_t)snprintf(bias + at, sizeof bias - at, "%s%g", i > 0 ? ", " : "", x);
    }
    snprintf(text, sizeof text,
             "model ir=8 opset=17\n\n"
             "graph g (q: f32[3, 2], k: f32[%d, 2], v: f32[%d, 2]) -> (p, o) {\n"
             "    bias = const f32[3, %d] {%s}\n"
             "    kt = Transpose(k) {perm=[1, 0]} @kt\n"
             "    s = MatMul(q, kt) @s\n    t = Add(s, bias) @t\n"
             "    p = Softmax(t) {axis=-1} @p\n    o = MatMul(p, v) @o\n}\n",
             (int)in->n_k, (int)in->n_k, (int)in->n_k, bias);
    ck_assert_msg(vf_vft_parse(vf_bytes(text), "text", &model, &err) == VF_OK, "%s", err.text);
    return model;
}

/* Weights and outputs after the pass. */
static void run(const In *in, const char *passes, double *p, double *o)
{
    VfErr err = {0};
    VfPipeline pipeline;
    VfPipelineOptions options = {.evaluator = vf_evaluator(), .stop_after = -1};
    VfTestOutputs outputs;
    VfModel *model = make_model(in);
    VfJournal *journal = vf_journal_new(model);
    ck_assert_int_eq(vf_pipeline_parse(model->arena, passes, NULL, &pipeline, &err), VF_OK);
    VfStatus status = vf_pipeline_run(model, &pipeline, &options, journal, NULL, NULL, &err);
    ck_assert_msg(status == VF_OK, "%s", err.text);
    ck_assert_int_eq(journal->n_edit, 1);
    set_input(model, 0, N_Q, in->q);
    set_input(model, 1, in->n_k, in->k);
    set_input(model, 2, in->n_k, in->v);
    status = vf_test_run(model, 1, model->arena, &outputs, &err);
    ck_assert_msg(status == VF_OK, "%s", err.text);
    for (int32_t i = 0; i < N_Q * in->n_k; i++)
        p[i] = vf_tensor_get_double(outputs.tensor[0], (size_t)i);
    for (int32_t i = 0; i < N_OUT; i++)
        o[i] = vf_tensor_get_double(outputs.tensor[1], (size_t)i);
    vf_model_free(model);
}

START_TEST(relu_is_homogeneous)
{
    double p[12], o[N_OUT], p3[12], o3[N_OUT];
    In in = start();
    run(&in, "softmax-to-relu", p, o);
    for (int32_t i = 0; i < N_Q * D; i++)
        in.q[i] *= 3;
    run(&in, "softmax-to-relu", p3, o3);
    for (int32_t i = 0; i < N_OUT; i++)
        ck_assert_double_eq_tol(o3[i], 3 * o[i], 1e-5);
}
END_TEST

START_TEST(a_constant_of_the_row_counts)
{
    double p[12], o[N_OUT], p1[12], o1[N_OUT];
    In in = start();
    run(&in, "softmax-to-relu", p, o);
    in.shift = 1;
    run(&in, "softmax-to-relu", p1, o1);
    ck_assert_double_gt(fabs(o1[0] - o[0]), 1e-2);
    ck_assert_double_eq_tol(o1[2], o[2], 1e-6);
}
END_TEST

/* The first and the last two keys apart. */
START_TEST(keys_add_up)
{
    double p[12], o[N_OUT], part[N_OUT], sum[N_OUT] = {0};
    In in = start();
    run(&in, "softmax-to-relu:alpha=0", p, o);
    for (int32_t half = 0; half < 2; half++) {
        In few = start();
        few.n_k = 2;
        for (int32_t i = 0; i < 2 * D; i++) {
            few.k[i] = in.k[half * 2 * D + i];
            few.v[i] = in.v[half * 2 * D + i];
        }
        run(&few, "softmax-to-relu:alpha=0", p, part);
        for (int32_t i = 0; i < N_OUT; i++)
            sum[i] += part[i];
    }
    for (int32_t i = 0; i < N_OUT; i++)
        ck_assert_double_eq_tol(sum[i], o[i], 1e-5);
}
END_TEST

START_TEST(order_of_keys_does_not_count)
{
    double p[12], o[N_OUT], o2[N_OUT];
    In in = start(), turned = start();
    for (int32_t i = 0; i < N_K * D; i++) {
        turned.k[i] = in.k[(i + 2 * D) % (N_K * D)];
        turned.v[i] = in.v[(i + 2 * D) % (N_K * D)];
    }
    for (int32_t i = 0; i < N_Q * D; i++)
        turned.q[i] = in.q[(i + D) % (N_Q * D)];
    run(&in, "softmax-to-relu", p, o);
    run(&turned, "softmax-to-relu", p, o2);
    for (int32_t i = 0; i < N_OUT; i++)
        ck_assert_double_eq_tol(o2[i], o[(i + D) % N_OUT], 1e-5);
}
END_TEST

START_TEST(removed_keys_have_weight_zero)
{
    static const char *const passes[] = {"softmax-to-relu",
                                         "softmax-to-relu:act=relu2",
                                         "softmax-to-relu:act=relu6",
                                         "softmax-to-relu:act=gelu",
                                         "softmax-to-relu:act=softplus",
                                         "softmax-to-relu:act=sigmoid",
                                         "softmax-to-relu:act=identity"};
    double p[12], o[N_OUT];
    In in = start();
    in.mask = 5;
    run(&in, passes[_i], p, o);
    for (int32_t i = 0; i < N_Q * N_K; i++)
        ck_assert(in.mask >> i % N_K & 1 ? fabs(p[i]) <= 0 : isfinite(p[i]));
}
END_TEST

START_TEST(alpha_is_a_power_of_the_keys)
{
    double p[12], o[N_OUT], p2[12], o2[N_OUT];
    In in = start();
    run(&in, "softmax-to-relu:alpha=0,act=softplus", p, o);
    run(&in, "softmax-to-relu:alpha=1.5,act=softplus", p2, o2);
    for (int32_t i = 0; i < N_Q * N_K; i++)
        ck_assert_double_eq_tol(p2[i], p[i] * pow(N_K, -1.5), 1e-6);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("ReLU attention: invariants");
    TCase *tcase = tcase_create("cases");
    tcase_add_test(tcase, relu_is_homogeneous);
    tcase_add_test(tcase, a_constant_of_the_row_counts);
    tcase_add_test(tcase, keys_add_up);
    tcase_add_test(tcase, order_of_keys_does_not_count);
    tcase_add_loop_test(tcase, removed_keys_have_weight_zero, 0, 7);
    tcase_add_test(tcase, alpha_is_a_power_of_the_keys);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
