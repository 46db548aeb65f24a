/* The closed forms against numerical factorisations written here: Cholesky, and square roots from
 * Jacobi's eigenvectors; and the invariants of whole stacks. */
#include <math.h>
#include <string.h>

#include "passes/spa/kernel.h"
#include "passes/spa/schedule.h"
#include "tests/support/arena_case.h"

static VfMatrix new_matrix(int32_t n)
{
    VfMatrix m;
    ck_assert_int_eq(vf_matrix_new(arena, n, n, &m, NULL), VF_OK);
    return m;
}

/* --- factorisations --- */

static VfMatrix cholesky(const VfMatrix *sigma)
{
    VfMatrix f = new_matrix(sigma->n_row);
    for (int32_t i = 0; i < f.n_row; i++)
        for (int32_t j = 0; j <= i; j++) {
            double sum = vf_matrix_row(sigma, i)[j];
            for (int32_t k = 0; k < j; k++)
                sum -= vf_matrix_row(&f, i)[k] * vf_matrix_row(&f, j)[k];
            vf_matrix_row(&f, i)[j] = i == j ? sqrt(sum) : sum / vf_matrix_row(&f, j)[j];
        }
    return f;
}

static void jacobi_turn(VfMatrix *m, VfMatrix *v, int32_t p, int32_t q)
{
    int32_t n = m->n_row;
    double off = vf_matrix_row(m, p)[q];
    if (off == 0)
        return;
    double theta = (vf_matrix_row(m, q)[q] - vf_matrix_row(m, p)[p]) / (2 * off);
    double t = copysign(1, theta) / (fabs(theta) + sqrt(theta * theta + 1));
    double c = 1 / sqrt(t * t + 1), s = t * c;
    for (int32_t k = 0; k < n; k++) {
        double a = vf_matrix_row(m, k)[p], b = vf_matrix_row(m, k)[q];
        vf_matrix_row(m, k)[p] = c * a - s * b;
        vf_matrix_row(m, k)[q] = s * a + c * b;
    }
    for (int32_t k = 0; k < n; k++) {
        double a = vf_matrix_row(m, p)[k], b = vf_matrix_row(m, q)[k];
        vf_matrix_row(m, p)[k] = c * a - s * b;
        vf_matrix_row(m, q)[k] = s * a + c * b;
        a = vf_matrix_row(v, p)[k];
        b = vf_matrix_row(v, q)[k];
        vf_matrix_row(v, p)[k] = c * a - s * b;
        vf_matrix_row(v, q)[k] = s * a + c * b;
    }
}

/* Eigenvalues, rows of `v` the vectors. */
static void jacobi(const VfMatrix *sigma, double *value, VfMatrix *v)
{
    int32_t n = sigma->n_row;
    VfMatrix m = new_matrix(n);
    memcpy(m.at, sigma->at, (size_t)n * (size_t)n * sizeof *m.at);
    ck_assert_int_eq(vf_matrix_identity(arena, n, v, NULL), VF_OK);
    for (int turn = 0; turn < 30; turn++)
        for (int32_t p = 0; p < n; p++)
            for (int32_t q = p + 1; q < n; q++)
                jacobi_turn(&m, v, p, q);
    for (int32_t i = 0; i < n; i++)
        value[i] = vf_matrix_row(&m, i)[i];
}

static VfMatrix root(const VfMatrix *sigma)
{
    double *value = VF_NEW_ARRAY(arena, double, (size_t)sigma->n_row);
    VfMatrix v, f = new_matrix(sigma->n_row);
    jacobi(sigma, value, &v);
    for (int32_t i = 0; i < sigma->n_row; i++)
        value[i] = sqrt(value[i]);
    ck_assert_int_eq(vf_matrix_from_eigen(arena, &v, value, &f, NULL), VF_OK);
    return f;
}

/* --- layers --- */

typedef struct Case {
    VfSpaKernel kernel;
    int32_t tokens, depth, grid_h, grid_w, prefix;
    double target;
    bool is_raw;
} Case;

static VfSpaSpec spec_of(const Case *c)
{
    VfSpaSpec spec = vf_spa_spec(c->kernel, c->tokens, c->depth);
    spec.grid_h = c->grid_h;
    spec.grid_w = c->grid_w;
    spec.prefix = c->prefix;
    spec.target = c->target;
    spec.is_raw_diagonal = c->is_raw;
    return spec;
}

static VfMatrix sigma_of(const VfSpaSpec *spec, int32_t l)
{
    VfErr err = {0};
    VfMatrix sigma;
    ck_assert_msg(vf_spa_sigma(arena, spec, l, &sigma, &err) == VF_OK, "%s", err.text);
    return sigma;
}

/* |A F' - F|: the layer takes the factor of one kernel to that of the next. */
static double factor_error(const Case *c, int32_t l, VfMatrix (*factor)(const VfMatrix *))
{
    VfErr err = {0};
    VfSpaLayer layer;
    VfSpaSpec spec = spec_of(c);
    ck_assert_msg(vf_spa_layer(arena, &spec, l, &layer, &err) == VF_OK, "%s", err.text);
    VfMatrix now = sigma_of(&spec, l), last = sigma_of(&spec, l - 1);
    VfMatrix f = factor(&now), g = factor(&last), moved = new_matrix(c->tokens);
    vf_matrix_multiply(&layer.A, &g, &moved);
    double worst = 0;
    for (int32_t i = 0; i < c->tokens * c->tokens; i++)
        worst = fmax(worst, fabs(moved.at[i] - f.at[i]));
    return worst;
}

START_TEST(test_cholesky)
{
    static const int32_t tokens[] = {1, 2, 3, 4, 7, 16, 49};
    static const int32_t depth[] = {1, 2, 12, 100};
    static const double gamma[] = {0.005, 0.1, 1, 6}, rho[] = {0.05, 0.5, 0.8, 0.95};
    for (size_t t = 0; t < sizeof tokens / sizeof tokens[0]; t++)
        for (int k = 0; k < 16; k++) {
            int32_t l = 1 + (k * 7) % depth[k / 4];
            Case e = {VF_SPA_CAUSAL, tokens[t], depth[k / 4], .target = gamma[k % 4]};
            Case u = {VF_SPA_UNIFORM_CAUSAL, tokens[t], depth[k / 4], .target = rho[k % 4]};
            ck_assert_msg(factor_error(&e, l, cholesky) < 1e-9, "e, %d tokens, %d", tokens[t], k);
            ck_assert_msg(factor_error(&u, l, cholesky) < 1e-10, "u, %d tokens, %d", tokens[t], k);
            vf_arena_reset(arena);
        }
}
END_TEST

START_TEST(test_roots)
{
    static const Case row[] = {
        {VF_SPA_LINE, 1, 3, .target = 0.3},     {VF_SPA_LINE, 2, 3, .target = 0.3},
        {VF_SPA_LINE, 3, 3, .target = 0.3},     {VF_SPA_LINE, 5, 4, .target = 1},
        {VF_SPA_LINE, 16, 12, .target = 0.02},  {VF_SPA_LINE, 31, 12, .target = 0.1},
        {VF_SPA_GRID, 12, 12, 3, 4, 0, 0.25},   {VF_SPA_GRID, 30, 5, 6, 5, 0, 0.05},
        {VF_SPA_GRID, 7, 5, 1, 7, 0, 0.05},     {VF_SPA_UNIFORM, 17, 5, .target = 0.7},
        {VF_SPA_GRAPH, 30, 6, 6, 5, 0, 0.2, true}, {VF_SPA_GRAPH, 31, 6, 6, 5, 1, 0.2, true},
        {VF_SPA_GRAPH, 34, 6, 6, 5, 4, 0.2, true}, {VF_SPA_GRAPH, 9, 3, 1, 7, 2, 1, true},
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++)
        for (int32_t l = 1; l <= row[i].depth; l++) {
            double error = factor_error(&row[i], l, root);
            ck_assert_msg(error < 1e-9, "row %zu, layer %d: %g", i, l, error);
            vf_arena_reset(arena);
        }
}
END_TEST

/* The resolvent kernel from the Laplacian itself: Σ_raw = c (m I + Λ)⁻¹ has Σ (m I + Λ) = c I. */
START_TEST(test_laplacian)
{
    Case c = {VF_SPA_GRAPH, 23, 4, 4, 5, 3, 0.3, true};
    VfSpaSpec spec = spec_of(&c);
    spec.link = 0.4;
    VfMatrix laplacian = new_matrix(23), product = new_matrix(23);
    for (int32_t i = 0; i < 23; i++)
        for (int32_t j = 0; j < 23; j++) {
            int32_t a = i - 3, b = j - 3;
            bool is_link = (a < 0) != (b < 0);
            bool is_edge = a >= 0 && b >= 0 && abs(a / 5 - b / 5) + abs(a % 5 - b % 5) == 1;
            double weight = is_link ? 0.4 : is_edge ? 1 : 0;
            vf_matrix_row(&laplacian, i)[j] -= weight;
            vf_matrix_row(&laplacian, i)[i] += weight;
        }
    for (int32_t l = 1; l <= 4; l++) {
        double lambda = vf_spa_decay(0.3, 4, l).lambda, m = (1 - lambda) * (1 - lambda) / lambda;
        VfMatrix sigma = sigma_of(&spec, l);
        vf_matrix_multiply(&sigma, &laplacian, &product);
        double scale = m * sigma.at[0] + product.at[0];
        for (int32_t i = 0; i < 23 * 23; i++) {
            double wanted = i % 24 == 0 ? scale : 0;
            ck_assert(fabs(m * sigma.at[i] + product.at[i] - wanted) < 1e-11);
        }
    }
}
END_TEST

/* --- invariants of stacks --- */

static const Case stack_row[] = {
    {VF_SPA_CAUSAL, 2, 12, .target = 0.005},   {VF_SPA_CAUSAL, 197, 12, .target = 0.005},
    {VF_SPA_CAUSAL, 32, 100, .target = 0.1},   {VF_SPA_CAUSAL, 256, 3, .target = 0.005},
    {VF_SPA_LINE, 7, 12},                      {VF_SPA_LINE, 49, 48},
    {VF_SPA_LINE, 196, 12},                    {VF_SPA_LINE, 197, 12, .target = 0.001},
    {VF_SPA_LINE, 64, 24, .target = 1},        {VF_SPA_GRID, 49, 12, 7, 7},
    {VF_SPA_GRID, 196, 12, 14, 14},            {VF_SPA_GRID, 24, 48, 4, 6},
    {VF_SPA_GRAPH, 50, 12, 7, 7, 1},           {VF_SPA_GRAPH, 197, 12, 14, 14, 1},
    {VF_SPA_GRAPH, 54, 12, 7, 7, 5, 0, true},  {VF_SPA_GRAPH, 69, 48, 8, 8, 5},
    {VF_SPA_UNIFORM_CAUSAL, 197, 12},          {VF_SPA_UNIFORM_CAUSAL, 32, 100, .target = 0.95},
    {VF_SPA_UNIFORM, 257, 4, .target = 0.8},  {VF_SPA_UNIFORM, 1, 3},
};
enum { STACK_COUNT = sizeof stack_row / sizeof stack_row[0] };

static void assert_realised(const VfSpaLayer *layer)
{
    for (int32_t i = 0; i < layer->A.n_row; i++)
        for (int32_t j = 0; j < layer->A.n_col; j++) {
            double a = vf_matrix_row(&layer->A, i)[j], b = vf_matrix_row(&layer->B, i)[j];
            if (layer->is_causal && j > i)
                ck_assert(a == 0 && b == 0);
            else
                ck_assert(fabs(layer->D[i] * exp(b) - a) <= 1e-12 && b >= -30 && a > 0);
        }
}

START_TEST(test_invariants)
{
    VfErr err = {0};
    VfSpaStack stack;
    const Case *c = &stack_row[_i];
    VfSpaSpec spec = spec_of(c);
    ck_assert_msg(vf_spa_stack(arena, &spec, &stack, &err) == VF_OK, "%s", err.text);
    ck_assert(stack.check.smallest >= -1e-14);
    ck_assert(stack.check.row_error < 1e-12);
    ck_assert_msg(stack.check.product_error < 1e-8, "%g", stack.check.product_error);
    ck_assert_ptr_null(stack.fallback);
    for (int32_t l = 0; l < stack.n_layer; l++)
        assert_realised(&stack.layer[l]);
    VfMatrix sigma = sigma_of(&stack.spec, c->depth);
    for (int32_t i = 0; i < c->tokens && !c->is_raw; i++)
        ck_assert(fabs(vf_matrix_row(&sigma, i)[i] - 1) < 1e-12);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("spa/reference");
    TCase *tcase = tcase_create("reference");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, 600);
    tcase_add_test(tcase, test_cholesky);
    tcase_add_test(tcase, test_roots);
    tcase_add_test(tcase, test_laplacian);
    tcase_add_loop_test(tcase, test_invariants, 0, STACK_COUNT);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
