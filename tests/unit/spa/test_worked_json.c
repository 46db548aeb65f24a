/* The signal-preserving stacks of worked-examples.json against the file itself: every layer's
 * factor, matrix, row factors, rows and bias, kernels, schedules and constants. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "passes/spa/kernel.h"
#include "passes/spa/schedule.h"
#include "tests/support/arena_case.h"
#include "tests/support/worked.h"

/* The file has 15 digits; roots are found by halving. */
static const double TOLERANCE = 2e-11;

typedef struct Stack {
    const char *key;
    VfSpaKernel kernel;
    int32_t tokens, depth, grid_h, grid_w, prefix;
    const char *target, *link;
    const char *name_A, *name_D, *name_B; /* in each layer; NULL: not in the file */
    const char *factor; /* what A_l ... A_1 is, in each layer */
    const char *last_kernel, *last_product;
} Stack;

static const Stack stack[] = {
    {"espa_causal", VF_SPA_CAUSAL, 4, 3, 0, 0, 0, "gamma_L", NULL, "A", "D", "B_lower", "chol",
     "Sigma_L", "product"},
    {"espa_sym1d", VF_SPA_LINE, 4, 3, 0, 0, 0, "gamma_L", NULL, "A", "D", "B", "sqrt_Sigma",
     "Sigma_L", "product"},
    {"espa_grid_l1", VF_SPA_GRID, 6, 2, 2, 3, 0, "gamma_L", NULL, "A", "D", "B", NULL, "Sigma_L",
     NULL},
    {"spa_graph", VF_SPA_GRAPH, 5, 2, 2, 2, 1, "gamma_L", "w", "A", "D", "B", NULL, NULL, NULL},
    {"uspa", VF_SPA_UNIFORM_CAUSAL, 4, 3, 0, 0, 0, "rho.3", NULL, "A_causal", "D_causal", NULL,
     NULL, NULL, NULL},
};
enum { STACK_COUNT = sizeof stack / sizeof stack[0] };

/* Static, for one call. */
static const char *path_of(const Stack *s, const char *name)
{
    static char path[96];
    snprintf(path, sizeof path, "%s.%s", s->key, name);
    return path;
}

static const char *layer_path(const Stack *s, int32_t l, const char *name)
{
    static char path[96];
    snprintf(path, sizeof path, "%s.layers.%d.%s", s->key, (int)l - 1, name);
    return path;
}

static VfSpaSpec spec_of(const Stack *s)
{
    VfSpaSpec spec = vf_spa_spec(s->kernel, s->tokens, s->depth);
    spec.grid_h = s->grid_h;
    spec.grid_w = s->grid_w;
    spec.prefix = s->prefix;
    spec.target = vf_worked_number(path_of(s, s->target));
    spec.link = s->link == NULL ? 0 : vf_worked_number(path_of(s, s->link));
    return spec;
}

static VfSpaLayer layer_of(const VfSpaSpec *spec, int32_t l)
{
    VfErr err = {0};
    VfSpaLayer layer;
    ck_assert_msg(vf_spa_layer(arena, spec, l, &layer, &err) == VF_OK, "%s", err.text);
    return layer;
}

static void check(const Stack *s, int32_t l, const char *name, const double *got, int32_t n)
{
    if (name != NULL)
        vf_worked_check(layer_path(s, l, name), got, (size_t)n, TOLERANCE);
}

/* product = A_l product. */
static void extend(VfMatrix *product, const VfMatrix *A)
{
    VfErr err = {0};
    VfMatrix next;
    ck_assert_int_eq(vf_matrix_new(arena, A->n_row, A->n_col, &next, &err), VF_OK);
    vf_matrix_multiply(A, product, &next);
    *product = next;
}

static VfMatrix identity(int32_t n)
{
    VfErr err = {0};
    VfMatrix one;
    ck_assert_int_eq(vf_matrix_new(arena, n, n, &one, &err), VF_OK);
    for (int32_t i = 0; i < n; i++)
        vf_matrix_row(&one, i)[i] = 1;
    return one;
}

START_TEST(layers_are_those_of_the_file)
{
    const Stack *s = &stack[_i];
    int32_t square = s->tokens * s->tokens;
    VfSpaSpec spec = spec_of(s);
    VfMatrix product = identity(s->tokens);
    for (int32_t l = 1; l <= s->depth; l++) {
        VfSpaLayer layer = layer_of(&spec, l);
        check(s, l, s->name_A, layer.A.at, square);
        check(s, l, s->name_D, layer.D, s->tokens);
        check(s, l, s->name_B, layer.B.at, square);
        extend(&product, &layer.A);
        check(s, l, s->factor, product.at, square);
    }
    if (s->last_product != NULL)
        vf_worked_check(path_of(s, s->last_product), product.at, (size_t)square, TOLERANCE);
}
END_TEST

START_TEST(last_kernel_is_that_of_the_file)
{
    const Stack *s = &stack[_i];
    VfErr err = {0};
    VfMatrix sigma;
    VfSpaSpec spec = spec_of(s);
    if (s->last_kernel == NULL)
        return;
    ck_assert_int_eq(vf_spa_sigma(arena, &spec, s->depth, &sigma, &err), VF_OK);
    vf_worked_check(path_of(s, s->last_kernel), sigma.at, (size_t)(s->tokens * s->tokens),
                    TOLERANCE);
}
END_TEST

/* Rows of the causal layers: P = A / D, which is exp(B) on and below the diagonal. */
START_TEST(causal_rows)
{
    double rows[16] = {0};
    VfSpaSpec spec = spec_of(&stack[0]);
    for (int32_t l = 1; l <= 3; l++) {
        VfSpaLayer layer = layer_of(&spec, l);
        for (int32_t i = 0; i < 4; i++)
            for (int32_t j = 0; j <= i; j++)
                rows[4 * i + j] = exp(layer.B.at[4 * i + j]);
        check(&stack[0], l, "P", rows, 16);
    }
}
END_TEST

/* The factors of the grid: A of two lines, of 2 and of 3 tokens. */
START_TEST(grid_factors)
{
    static const char *const name[] = {"A_rows", "A_cols"};
    for (int32_t side = 0; side < 2; side++) {
        VfSpaSpec spec = vf_spa_spec(VF_SPA_LINE, 2 + side, 2);
        spec.target = vf_worked_number("espa_grid_l1.gamma_L");
        for (int32_t l = 1; l <= 2; l++) {
            VfSpaLayer layer = layer_of(&spec, l);
            check(&stack[2], l, name[side], layer.A.at, (2 + side) * (2 + side));
        }
    }
}
END_TEST

/* The graph kernel before its diagonal is made one. Its row sums are sqrt(c_1 / m_1), then
 * sqrt(c_l m_{l-1} / (c_{l-1} m_l)), which gives the c of the file. */
START_TEST(graph_before_scaling)
{
    const Stack *s = &stack[3];
    double m[] = {INFINITY, 0, 0}, share = 1;
    VfSpaSpec spec = spec_of(s);
    VfErr err = {0};
    for (int32_t l = 1; l <= 2; l++) {
        VfMatrix sigma;
        VfSpaDecay at = vf_spa_decay(spec.target, 2, l);
        m[l] = at.one_less * at.one_less / at.lambda;
        ck_assert_int_eq(vf_spa_sigma(arena, &spec, l, &sigma, &err), VF_OK);
        check(s, l, "Sigma", sigma.at, 25);
    }
    vf_worked_check("spa_graph.m", m, 3, TOLERANCE);
    spec.is_raw_diagonal = true;
    for (int32_t l = 1; l <= 2; l++) {
        VfSpaLayer layer = layer_of(&spec, l);
        check(s, l, "A_raw", layer.A.at, 25);
        check(s, l, "row_sum_raw", layer.D, 1);
        share *= layer.D[0] * layer.D[0];
        double c = share * m[l];
        check(s, l, "c", &c, 1);
    }
}
END_TEST

/* Both uniform kernels. The Cholesky factor of the causal one is constant down each column: a
 * fifth token shows that of the fourth. */
START_TEST(uniform_layers)
{
    const Stack *s = &stack[4];
    VfSpaSpec causal = spec_of(s), both = causal;
    VfMatrix product = identity(5);
    both.kernel = VF_SPA_UNIFORM;
    causal.tokens = 5;
    for (int32_t l = 1; l <= 3; l++) {
        VfSpaLayer layer = layer_of(&causal, l), sym = layer_of(&both, l);
        double diagonal[4], below[4], p = sym.A.at[0] - sym.A.at[1];
        extend(&product, &layer.A);
        for (int32_t j = 0; j < 4; j++) {
            diagonal[j] = vf_matrix_row(&product, j)[j];
            below[j] = vf_matrix_row(&product, 4)[j];
        }
        check(s, l, "chol_diag", diagonal, 4);
        check(s, l, "chol_below", below, 4);
        check(s, l, "sym_p", &p, 1);
        check(s, l, "sym_q", &sym.A.at[1], 1);
        check(s, l, "D_sym", sym.D, 1);
        check(s, l, "B_sym_diag", &sym.B.at[0], 1);
        check(s, l, "B_sym_off", &sym.B.at[1], 1);
    }
}
END_TEST

START_TEST(schedules)
{
    double gamma[4], lambda[4], a[4], rho[4], grid[3];
    for (int32_t l = 0; l <= 3; l++) {
        VfSpaDecay at = vf_spa_decay(vf_worked_number("espa_causal.gamma_L"), 3, l);
        gamma[l] = at.gamma;
        lambda[l] = at.lambda;
        a[l] = at.a;
        rho[l] = vf_spa_rho(vf_worked_number("uspa.rho.3"), 3, l);
        if (l < 3)
            grid[l] = vf_spa_decay(vf_worked_number("espa_grid_l1.gamma_L"), 2, l).gamma;
    }
    vf_worked_check("espa_causal.gamma", gamma, 4, TOLERANCE);
    vf_worked_check("espa_causal.lambda", lambda, 4, TOLERANCE);
    vf_worked_check("espa_causal.a", a, 4, TOLERANCE);
    vf_worked_check("uspa.rho", rho, 4, TOLERANCE);
    vf_worked_check("espa_grid_l1.gamma", grid, 3, TOLERANCE);
}
END_TEST

START_TEST(half_strength_and_point_wise)
{
    static const char *const act[] = {"relu", "relu2", "softplus"};
    char path[96];
    VfErr err = {0};
    VfMatrix bias;
    VfSpaSpec spec = spec_of(&stack[1]);
    VfSpaLayer layer = layer_of(&spec, 2);
    for (size_t i = 0; i < sizeof act / sizeof act[0]; i++) {
        snprintf(path, sizeof path, "spa_relu_composition.bias_%s_alpha1", act[i]);
        ck_assert_int_eq(vf_spa_pointwise_bias(arena, &layer, act[i], 4, &bias, &err), VF_OK);
        vf_worked_check(path, bias.at, 16, TOLERANCE);
    }
    vf_spa_weaken(&layer, vf_worked_number("spa_partial_tau.tau"));
    vf_worked_check("spa_partial_tau.A_at_zero_logits", layer.A.at, 16, TOLERANCE);
}
END_TEST

START_TEST(slopes)
{
    static const int32_t depth[] = {24, 36, 48, 72, 100};
    VfErr err = {0};
    char path[96];
    double target = vf_worked_number("tat_leaky_relu.target_C0"), slope, number;
    for (size_t i = 0; i < sizeof depth / sizeof depth[0]; i++) {
        ck_assert_int_eq(vf_tat_solve(depth[i], target, &slope, &err), VF_OK);
        number = vf_tat_scale(slope);
        snprintf(path, sizeof path, "tat_leaky_relu.slopes.%d.slope", (int)depth[i]);
        vf_worked_check(path, &slope, 1, TOLERANCE);
        snprintf(path, sizeof path, "tat_leaky_relu.slopes.%d.output_scale", (int)depth[i]);
        vf_worked_check(path, &number, 1, TOLERANCE);
    }
    number = vf_tat_map(0, 0);
    vf_worked_check("tat_leaky_relu.cmap_at_c0_a0", &number, 1, TOLERANCE);
    number = vf_tat_compose(0, 12);
    vf_worked_check("tat_leaky_relu.relu_12_layers_C0", &number, 1, TOLERANCE);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("spa/worked_json");
    TCase *tcase = tcase_create("file");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, layers_are_those_of_the_file, 0, STACK_COUNT);
    tcase_add_loop_test(tcase, last_kernel_is_that_of_the_file, 0, STACK_COUNT);
    tcase_add_test(tcase, causal_rows);
    tcase_add_test(tcase, grid_factors);
    tcase_add_test(tcase, graph_before_scaling);
    tcase_add_test(tcase, uniform_layers);
    tcase_add_test(tcase, schedules);
    tcase_add_test(tcase, half_strength_and_point_wise);
    tcase_add_test(tcase, slopes);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_WORKED_MAIN(make_suite)
