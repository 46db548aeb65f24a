/* softmax-to-relu on attention that is one operator, and on projections that take up its scales,
 * against a reference in double.
 */
#include <string.h>

#include "tests/passes/act_reference.h"
#include "tests/passes/fused_attention.h"
#include "tests/support/run_model.h"
#include "tests/support/run_pass.h"

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

/* --- reference --- */

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

/* --- the pass --- */

static int32_t run_pass(VfModel *model, const Options *o)
{
    char text[128];
    snprintf(text, sizeof text, "softmax-to-relu:%s", o->words);
    return vf_test_passes(model, text)->n_edit;
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
