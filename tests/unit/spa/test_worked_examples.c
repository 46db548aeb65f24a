#include <math.h>
#include <stdio.h>

#include "passes/spa/kernel.h"
#include "passes/spa/schedule.h"
#include "tests/support/arena_case.h"
#include "tests/unit/spa/values.h"

static void assert_close(double a, double b, double tolerance, const char *what)
{
    if (!(fabs(a - b) <= tolerance * fmax(1, fabs(b))))
        ck_abort_msg("%s: %.15g, not %.15g", what, a, b);
}

static void assert_all(const double *a, const double *b, int32_t n, const char *what)
{
    for (int32_t i = 0; i < n; i++)
        assert_close(a[i], b[i], 2e-11, what);
}

/* One stack of the examples: its layers one after the other in `a`, `b` and `d`. */
typedef struct Example {
    VfSpaKernel kernel;
    int32_t tokens, depth, grid_h, grid_w, prefix;
    double link, target;
    const double *a, *b, *d;
} Example;

static const Example example[] = {
    {VF_SPA_CAUSAL, 4, 3, 0, 0, 0, 0, 0.25, causal_A, causal_B_lower, causal_D},
    {VF_SPA_LINE, 4, 3, 0, 0, 0, 0, 0.25, line_A, line_B, line_D},
    {VF_SPA_GRID, 6, 2, 2, 3, 0, 0, 0.25, grid_A, grid_B, grid_D},
    {VF_SPA_GRAPH, 5, 2, 2, 2, 1, 0.5, 0.2, graph_A, graph_B, graph_D},
    {VF_SPA_UNIFORM_CAUSAL, 4, 3, 0, 0, 0, 0, 0.8, uniform_A_causal, NULL, uniform_D_causal},
};
enum { EXAMPLE_COUNT = sizeof example / sizeof example[0] };

static VfSpaSpec spec_of(const Example *e)
{
    VfSpaSpec spec = vf_spa_spec(e->kernel, e->tokens, e->depth);
    spec.grid_h = e->grid_h;
    spec.grid_w = e->grid_w;
    spec.prefix = e->prefix;
    spec.link = e->link;
    spec.target = e->target;
    return spec;
}

START_TEST(test_stack)
{
    const Example *e = &example[_i];
    VfErr err = {0};
    VfSpaStack stack;
    VfSpaSpec spec = spec_of(e);
    ck_assert_msg(vf_spa_stack(arena, &spec, &stack, &err) == VF_OK, "%s", err.text);
    int32_t t = e->tokens;
    for (int32_t l = 0; l < e->depth; l++) {
        assert_all(stack.layer[l].A.at, e->a + l * t * t, t * t, "A");
        assert_all(stack.layer[l].D, e->d + l * t, t, "D");
        if (e->b != NULL)
            assert_all(stack.layer[l].B.at, e->b + l * t * t, t * t, "B");
    }
    ck_assert(stack.check.smallest >= -1e-15);
    ck_assert(stack.check.row_error < 1e-14);
    ck_assert(stack.check.product_error < 1e-10);
    ck_assert_int_eq(stack.check.n_row, t);
}
END_TEST

static void assert_sigma(const Example *e, int32_t l, const double *sigma)
{
    VfErr err = {0};
    VfMatrix found;
    VfSpaSpec spec = spec_of(e);
    ck_assert_msg(vf_spa_sigma(arena, &spec, l, &found, &err) == VF_OK, "%s", err.text);
    assert_all(found.at, sigma, e->tokens * e->tokens, "sigma");
}

START_TEST(test_sigma)
{
    assert_sigma(&example[0], 3, causal_sigma);
    assert_sigma(&example[1], 3, line_sigma);
    assert_sigma(&example[2], 2, grid_sigma);
    assert_sigma(&example[3], 1, graph_Sigma);
    assert_sigma(&example[3], 2, graph_Sigma + 25);
}
END_TEST

/* A_3 A_2 A_1 is the Cholesky factor (causal), the root (s) of the last kernel. */
START_TEST(test_product)
{
    static const double *const product[] = {causal_product, line_product};
    VfErr err = {0};
    VfSpaStack stack;
    VfMatrix two, three;
    VfSpaSpec spec = spec_of(&example[_i]);
    ck_assert_int_eq(vf_spa_stack(arena, &spec, &stack, &err), VF_OK);
    ck_assert_int_eq(vf_matrix_new(arena, 4, 4, &two, &err), VF_OK);
    ck_assert_int_eq(vf_matrix_new(arena, 4, 4, &three, &err), VF_OK);
    vf_matrix_multiply(&stack.layer[1].A, &stack.layer[0].A, &two);
    vf_matrix_multiply(&stack.layer[2].A, &two, &three);
    assert_all(three.at, product[_i], 16, "product");
}
END_TEST

START_TEST(test_raw_graph)
{
    VfErr err = {0};
    VfSpaSpec spec = spec_of(&example[3]);
    spec.is_raw_diagonal = true;
    for (int32_t l = 1; l <= 2; l++) {
        VfSpaLayer layer;
        ck_assert_int_eq(vf_spa_layer(arena, &spec, l, &layer, &err), VF_OK);
        assert_all(layer.A.at, graph_A_raw + (l - 1) * 25, 25, "raw A");
        ck_assert(layer.is_scalar);
        assert_close(layer.D[0], graph_row_sum_raw[l - 1], 1e-13, "row sum");
        ck_assert(layer.D[0] == layer.D[4]);
    }
}
END_TEST

START_TEST(test_uniform)
{
    VfErr err = {0};
    VfSpaSpec spec = vf_spa_spec(VF_SPA_UNIFORM, 4, 3);
    spec.target = 0.8;
    for (int32_t l = 1; l <= 3; l++) {
        VfSpaLayer layer;
        assert_close(vf_spa_rho(0.8, 3, l), uniform_rho[l], 1e-14, "rho");
        ck_assert_int_eq(vf_spa_layer(arena, &spec, l, &layer, &err), VF_OK);
        double p = uniform_sym_p[l - 1], q = uniform_sym_q[l - 1];
        assert_close(layer.A.at[0], p + q, 1e-13, "p + q");
        assert_close(layer.A.at[1], q, 1e-13, "q");
        assert_close(layer.D[3], uniform_D_sym[l - 1], 1e-13, "D");
        assert_close(layer.B.at[5], uniform_B_sym_diag[l - 1], 1e-13, "B on the diagonal");
        assert_close(layer.B.at[4], uniform_B_sym_off[l - 1], 1e-13, "B off the diagonal");
    }
}
END_TEST

START_TEST(test_schedule)
{
    for (int32_t l = 0; l <= 3; l++) {
        VfSpaDecay at = vf_spa_decay(0.25, 3, l);
        if (l > 0)
            assert_close(at.gamma, causal_gamma[l], 1e-13, "gamma");
        else
            ck_assert(isinf(at.gamma));
        assert_close(at.lambda, causal_lambda[l], 1e-13, "lambda");
        assert_close(at.a, causal_a[l], 1e-13, "a");
        assert_close(at.one_less, 1 - causal_lambda[l], 1e-13, "1 - lambda");
    }
    assert_close(vf_spa_decay(0.25, 2, 1).gamma, grid_gamma[1], 1e-13, "gamma");
}
END_TEST

static VfSpaLayer line_layer_2(void)
{
    VfErr err = {0};
    VfSpaLayer layer;
    VfSpaSpec spec = spec_of(&example[1]);
    ck_assert_int_eq(vf_spa_layer(arena, &spec, 2, &layer, &err), VF_OK);
    return layer;
}

START_TEST(test_partial)
{
    VfSpaLayer layer = line_layer_2();
    vf_spa_weaken(&layer, 0.5);
    assert_all(layer.A.at, weak_A, 16, "A at half strength");
    layer = line_layer_2();
    vf_spa_weaken(&layer, 1);
    assert_all(layer.A.at, line_A + 16, 16, "A at full strength");
    vf_spa_weaken(&layer, 0);
    for (int32_t i = 0; i < 16; i++) {
        ck_assert(layer.B.at[i] == 0 && layer.D[i % 4] == 1);
        ck_assert(layer.A.at[i] == 0.25);
    }
}
END_TEST

START_TEST(test_pointwise)
{
    static const struct {
        const char *act;
        const double *bias;
    } row[] = {
        {"relu", pointwise_bias_relu},
        {"identity", pointwise_bias_relu},
        {"relu2", pointwise_bias_relu2},
        {"softplus", pointwise_bias_softplus},
    };
    VfErr err = {0};
    VfMatrix bias;
    VfSpaLayer layer = line_layer_2();
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        ck_assert_int_eq(vf_spa_pointwise_bias(arena, &layer, row[i].act, 4, &bias, &err), VF_OK);
        assert_all(bias.at, row[i].bias, 16, row[i].act);
    }
    static const char *const refused[] = {"relu6", "sigmoid", "gelu", "clip"};
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        ck_assert_int_eq(vf_spa_pointwise_bias(arena, &layer, refused[i], 4, &bias, &err),
                         VF_UNSUPPORTED);
}
END_TEST

/* The three forms at the logits of the example. */
START_TEST(test_pointwise_forms)
{
    VfErr err = {0};
    VfMatrix bias;
    VfSpaLayer layer = line_layer_2();
    ck_assert_int_eq(vf_spa_pointwise_bias(arena, &layer, "relu", 4, &bias, &err), VF_OK);
    for (int32_t i = 0; i < 4; i++) {
        double sum = 0;
        for (int32_t j = 0; j < 4; j++)
            sum += exp(pointwise_logits[4 * i + j] + layer.B.at[4 * i + j]);
        for (int32_t j = 0; j < 4; j++) {
            int32_t k = 4 * i + j;
            double s = pointwise_logits[k];
            assert_close(fmax(0, s + bias.at[k]) / 4, pointwise_A_additive[k], 1e-13, "additive");
            assert_close(layer.A.at[k] * fmax(0, 1 + s), pointwise_A_multiplicative[k], 1e-13,
                         "multiplicative");
            assert_close(layer.D[i] * exp(s + layer.B.at[k]) / sum, pointwise_A_softmax[k], 1e-13,
                         "softmax");
        }
    }
}
END_TEST

START_TEST(test_shape)
{
    double third[9], a[9], o[6];
    for (int i = 0; i < 9; i++)
        third[i] = 1.0 / 3;
    VfMatrix A = {3, 3, a}, C = {3, 3, third}, V = {3, 2, NULL}, O = {3, 2, o};
    double v[6];
    for (int i = 0; i < 6; i++)
        v[i] = shaped_V[i];
    V.at = v;
    for (int shaped = 0; shaped < 2; shaped++) {
        for (int i = 0; i < 9; i++)
            a[i] = shaped_attention[i];
        vf_spa_shape(&A, 0.9, 0.3, 0.2, shaped ? &C : NULL);
        vf_matrix_multiply(&A, &V, &O);
        assert_all(o, shaped ? shaped_shaped : shaped_skipinit, 6, "O");
    }
}
END_TEST

START_TEST(test_tat)
{
    static const struct {
        int32_t n;
        double slope, scale;
    } row[] = {
        {24, 0.238502602147121, 1.37562937383631}, {36, 0.351121259798349, 1.33435011651542},
        {48, 0.421161750427857, 1.30333837735527}, {72, 0.508388910582281, 1.26065256923614},
        {100, 0.57043953105872, 1.22840424481931},
    };
    VfErr err = {0};
    double slope;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        ck_assert_int_eq(vf_tat_solve(row[i].n, 0.9, &slope, &err), VF_OK);
        assert_close(slope, row[i].slope, 1e-10, "slope");
        assert_close(vf_tat_scale(slope), row[i].scale, 1e-10, "scale");
    }
    assert_close(vf_tat_map(0, 0), 0.318309886183791, 1e-14, "C(0)");
    assert_close(vf_tat_compose(0, 12), 0.897148051767752, 1e-13, "12 layers");
    ck_assert_int_eq(vf_tat_solve(12, 0.9, &slope, &err), VF_UNSUPPORTED);
    ck_assert_str_eq(err.text, "target 0.9 is out of reach with 12 non-linear layers: plain relu "
                               "gives 0.897148");
    ck_assert_int_eq(vf_tat_solve(0, 0.9, &slope, &err), VF_USAGE);
    ck_assert_int_eq(vf_tat_solve(3, 1, &slope, &err), VF_USAGE);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("spa/worked_examples");
    TCase *tcase = tcase_create("examples");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, test_stack, 0, EXAMPLE_COUNT);
    tcase_add_loop_test(tcase, test_product, 0, 2);
    tcase_add_test(tcase, test_sigma);
    tcase_add_test(tcase, test_raw_graph);
    tcase_add_test(tcase, test_uniform);
    tcase_add_test(tcase, test_schedule);
    tcase_add_test(tcase, test_partial);
    tcase_add_test(tcase, test_pointwise);
    tcase_add_test(tcase, test_pointwise_forms);
    tcase_add_test(tcase, test_shape);
    tcase_add_test(tcase, test_tat);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
