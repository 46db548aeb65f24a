/* Sizes of real models: spot values at 196 and 197 tokens, targets, timings that stay sane. */
#include <math.h>

#include "passes/spa/kernel.h"
#include "passes/spa/schedule.h"
#include "tests/support/arena_case.h"

static void assert_digits(double a, double b, const char *what)
{
    if (!(fabs(a - b) <= 2e-10 * fabs(b)))
        ck_abort_msg("%s: %.14g, not %.14g", what, a, b);
}

static VfSpaSpec spec_of(VfSpaKernel kernel, int32_t tokens, int32_t side, int32_t prefix)
{
    VfSpaSpec spec = vf_spa_spec(kernel, tokens, 12);
    spec.grid_h = spec.grid_w = side;
    spec.prefix = prefix;
    return spec;
}

static VfSpaLayer layer_6(const VfSpaSpec *spec)
{
    VfErr err = {0};
    VfSpaLayer layer;
    ck_assert_msg(vf_spa_layer(arena, spec, 6, &layer, &err) == VF_OK, "%s", err.text);
    return layer;
}

static double at(const VfSpaLayer *layer, int32_t i, int32_t j)
{
    return vf_matrix_row(&layer->A, i)[j];
}

static double trace(const VfSpaLayer *layer)
{
    double sum = 0;
    for (int32_t i = 0; i < layer->A.n_row; i++)
        sum += at(layer, i, i);
    return sum;
}

START_TEST(test_causal)
{
    VfSpaSpec spec = spec_of(VF_SPA_CAUSAL, 197, 0, 0);
    spec.target = 0.005;
    VfSpaLayer layer = layer_6(&spec);
    assert_digits(vf_spa_decay(0.005, 12, 5).gamma, 0.0791900518715, "gamma 5");
    assert_digits(vf_spa_decay(0.005, 12, 6).gamma, 0.0525416770647, "gamma 6");
    assert_digits(at(&layer, 196, 196), 0.825232387243, "A[196][196]");
    assert_digits(at(&layer, 100, 50), 0.00156871915769, "A[100][50]");
    assert_digits(at(&layer, 196, 0), 6.61994857403e-06, "A[196][0]");
    assert_digits(at(&layer, 1, 0), 0.186412013501, "A[1][0]");
    assert_digits(layer.D[1], 1.01164440074, "D[1]");
    assert_digits(layer.D[50], 1.21104995473, "D[50]");
    assert_digits(layer.D[196], 1.22748769222, "D[196]");
    assert_digits(vf_matrix_row(&layer.B, 100)[50], -6.66150265178, "B[100][50]");
}
END_TEST

START_TEST(test_line)
{
    VfSpaSpec spec = spec_of(VF_SPA_LINE, 197, 0, 0);
    spec.target = 0.012862238606618;
    VfSpaLayer layer = layer_6(&spec);
    assert_digits(trace(&layer), 169.427957291, "trace");
    assert_digits(at(&layer, 0, 0), 0.898776553531, "A[0][0]");
    assert_digits(at(&layer, 98, 98), 0.859330625327, "A[98][98]");
    assert_digits(at(&layer, 98, 97), 0.0147167094687, "A[98][97]");
    assert_digits(at(&layer, 0, 1), 0.0287675020127, "A[0][1]");
    assert_digits(at(&layer, 1, 0), 0.0445944696455, "A[1][0]");
    assert_digits(layer.D[0], 1.10587614778, "D[0]");
    assert_digits(layer.D[1], 1.1069690455, "D[1]");
    assert_digits(layer.D[98], 1.1849255415, "D[98]");
}
END_TEST

START_TEST(test_grid)
{
    VfSpaSpec spec = spec_of(VF_SPA_GRID, 196, 14, 0);
    spec.target = 0.0815285067066462;
    VfSpaLayer layer = layer_6(&spec);
    assert_digits(trace(&layer), 169.714624572, "trace");
    assert_digits(at(&layer, 0, 0), 0.91013816399, "A[0][0]");
    assert_digits(at(&layer, 105, 105), 0.856223851974, "A[105][105]");
    assert_digits(layer.D[0], 1.11928550858, "D[0]");
    assert_digits(layer.D[105], 1.17515192313, "D[105]");
    spec.tokens = 14; /* its factor: the same kernel on one line */
    spec.kernel = VF_SPA_LINE;
    layer = layer_6(&spec);
    assert_digits(at(&layer, 0, 0), 0.954011616276, "factor[0][0]");
    assert_digits(at(&layer, 7, 7), 0.92532364715, "factor[7][7]");
    assert_digits(at(&layer, 7, 6), 0.0211002965738, "factor[7][6]");
}
END_TEST

START_TEST(test_graph)
{
    VfErr err = {0};
    VfSpaStack stack;
    VfSpaSpec spec = spec_of(VF_SPA_GRAPH, 197, 14, 1);
    spec.target = 0.0980653658125553;
    ck_assert_msg(vf_spa_stack(arena, &spec, &stack, &err) == VF_OK, "%s", err.text);
    VfSpaLayer layer = stack.layer[5];
    assert_digits(stack.spec.link, 1.0 / 14, "link weight");
    assert_digits(trace(&layer), 190.306000922, "trace");
    assert_digits(at(&layer, 0, 0), 0.917741131063, "A[0][0]");
    assert_digits(at(&layer, 0, 1), 0.00281160319147, "A[0][1]");
    assert_digits(at(&layer, 1, 0), 0.000385492022179, "A[1][0]");
    assert_digits(at(&layer, 1, 1), 0.973805379888, "A[1][1]");
    assert_digits(at(&layer, 106, 106), 0.968788021983, "A[106][106]");
    assert_digits(at(&layer, 106, 105), 0.00377916813644, "A[106][105]");
    assert_digits(layer.D[0], 1.33015228806, "D[0]");
    assert_digits(layer.D[1], 1.12179494365, "D[1]");
    assert_digits(layer.D[106], 1.18356382145, "D[106]");
    assert_digits(stack.check.smallest, 0.000164697929687, "smallest entry");
}
END_TEST

START_TEST(test_targets)
{
    static const struct {
        VfSpaKernel kernel;
        int32_t tokens, side, prefix;
        double gamma;
    } row[] = {
        {VF_SPA_LINE, 49, 0, 0, 0.0503457},    {VF_SPA_CAUSAL, 196, 0, 0, 0.0129273},
        {VF_SPA_LINE, 197, 0, 0, 0.0128622},   {VF_SPA_LINE, 512, 0, 0, 0.00497656},
        {VF_SPA_LINE, 577, 0, 0, 0.00441768},  {VF_SPA_GRID, 49, 7, 0, 0.162506},
        {VF_SPA_GRID, 196, 14, 0, 0.0815285},  {VF_SPA_GRID, 256, 16, 0, 0.0713564},
        {VF_SPA_GRID, 576, 24, 0, 0.0475939},  {VF_SPA_GRID, 784, 28, 0, 0.0407990},
        {VF_SPA_GRID, 3136, 56, 0, 0.0204039}, {VF_SPA_GRAPH, 50, 7, 1, 0.209130},
        {VF_SPA_GRAPH, 197, 14, 1, 0.0980654}, {VF_SPA_GRAPH, 577, 24, 1, 0.0549581},
    };
    VfErr err = {0};
    VfSpaSpec spec = spec_of(row[_i].kernel, row[_i].tokens, row[_i].side, row[_i].prefix), done;
    ck_assert_msg(vf_spa_resolve(&spec, &done, &err) == VF_OK, "%s", err.text);
    ck_assert_msg(fabs(done.target / row[_i].gamma - 1) < 4e-6, "%.9g, not %.9g", done.target,
                  row[_i].gamma);
}
END_TEST
enum { TARGET_COUNT = 14 };

/* The kernel that a target was found for has the mean that was asked for. */
START_TEST(test_mean)
{
    static const struct {
        VfSpaKernel kernel;
        int32_t tokens, side, prefix;
        bool is_raw;
    } row[] = {
        {VF_SPA_CAUSAL, 20, 0, 0, false}, {VF_SPA_LINE, 21, 0, 0, false},
        {VF_SPA_GRID, 25, 5, 0, false},   {VF_SPA_GRAPH, 25, 5, 0, false},
        {VF_SPA_GRAPH, 28, 5, 3, false},  {VF_SPA_GRAPH, 28, 5, 3, true},
        {VF_SPA_UNIFORM, 9, 0, 0, false},
    };
    static const double wanted[] = {0.05, 0.5, 0.8, 0.99};
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++)
        for (size_t k = 0; k < sizeof wanted / sizeof wanted[0]; k++) {
            VfErr err = {0};
            VfMatrix sigma;
            double sum = 0, n = row[i].tokens;
            VfSpaSpec spec = spec_of(row[i].kernel, row[i].tokens, row[i].side, row[i].prefix);
            spec.mean_correlation = wanted[k];
            spec.is_raw_diagonal = row[i].is_raw;
            ck_assert_msg(vf_spa_sigma(arena, &spec, 12, &sigma, &err) == VF_OK, "%s", err.text);
            for (int32_t j = 0; j < sigma.n_row * sigma.n_row; j++)
                sum += sigma.at[j];
            ck_assert_msg(fabs((sum - n) / (n * (n - 1)) - wanted[k]) < 1e-9, "row %zu", i);
        }
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("spa/large");
    TCase *tcase = tcase_create("spots");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, test_causal);
    tcase_add_test(tcase, test_line);
    tcase_add_test(tcase, test_grid);
    tcase_add_test(tcase, test_graph);
    tcase_add_loop_test(tcase, test_targets, 0, TARGET_COUNT);
    tcase_add_test(tcase, test_mean);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
