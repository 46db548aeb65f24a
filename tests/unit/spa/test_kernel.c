/* Choice of kernels, symmetry, what is refused. */
#include <math.h>
#include <string.h>

#include "passes/spa/kernel.h"
#include "passes/spa/schedule.h"
#include "tests/support/arena_case.h"

static VfSpaSpec grid_spec(VfSpaKernel kernel, int32_t h, int32_t w, int32_t prefix)
{
    VfSpaSpec spec = vf_spa_spec(kernel, h * w + prefix, 4);
    spec.grid_h = h;
    spec.grid_w = w;
    spec.prefix = prefix;
    return spec;
}

static VfSpaLayer layer_of(const VfSpaSpec *spec, int32_t l)
{
    VfErr err = {0};
    VfSpaLayer layer;
    ck_assert_msg(vf_spa_layer(arena, spec, l, &layer, &err) == VF_OK, "%s", err.text);
    return layer;
}

START_TEST(test_choose)
{
    static const struct {
        int32_t tokens, h, w, prefix;
        bool is_causal;
        const char *name;
    } row[] = {
        {197, 14, 14, 1, true, "causal"}, {197, 14, 14, 1, false, "r"},
        {196, 14, 14, 0, false, "g"},     {197, 0, 0, 0, false, "s"},
        {1024, 0, 0, 0, false, "s"},      {1025, 0, 0, 0, false, "u"},
        {1025, 32, 32, 1, false, "r"},    {2000, 0, 0, 0, true, "causal"},
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        VfErr err = {0};
        VfSpaSpec spec = vf_spa_spec(VF_SPA_AUTO, row[i].tokens, 2), done;
        spec.grid_h = row[i].h;
        spec.grid_w = row[i].w;
        spec.prefix = row[i].prefix;
        spec.is_causal = row[i].is_causal;
        ck_assert_msg(vf_spa_resolve(&spec, &done, &err) == VF_OK, "%s", err.text);
        ck_assert_str_eq(vf_spa_kernel_name(done.kernel), row[i].name);
        ck_assert(done.target > 0);
    }
}
END_TEST

/* The leading block of a causal layer is the layer of fewer tokens. */
START_TEST(test_leading)
{
    static const VfSpaKernel kernel[] = {VF_SPA_CAUSAL, VF_SPA_UNIFORM_CAUSAL};
    VfSpaSpec large = vf_spa_spec(kernel[_i], 40, 6), small = vf_spa_spec(kernel[_i], 13, 6);
    large.target = small.target = 0.3;
    ck_assert(vf_spa_is_leading(kernel[_i]) && !vf_spa_is_leading(VF_SPA_LINE));
    for (int32_t l = 1; l <= 6; l++) {
        VfSpaLayer a = layer_of(&large, l), b = layer_of(&small, l);
        for (int32_t i = 0; i < 13; i++) {
            ck_assert(a.D[i] == b.D[i]);
            for (int32_t j = 0; j < 13; j++)
                ck_assert(vf_matrix_row(&a.B, i)[j] == vf_matrix_row(&b.B, i)[j]);
        }
    }
}
END_TEST

START_TEST(test_causal_diagonal)
{
    VfSpaSpec spec = vf_spa_spec(VF_SPA_CAUSAL, 30, 7);
    spec.target = 0.02;
    for (int32_t l = 1; l <= 7; l++) {
        VfSpaLayer layer = layer_of(&spec, l);
        for (int32_t i = 1; i < 30; i++)
            ck_assert(fabs(vf_matrix_row(&layer.A, i)[i] - pow(-expm1(-0.04), 1.0 / 14)) < 1e-14);
        ck_assert(layer.A.at[0] == 1 && layer.D[0] == 1);
    }
}
END_TEST

/* S does not change when tokens are read backwards; G and R when the grid is turned over. */
START_TEST(test_flips)
{
    VfSpaSpec line = vf_spa_spec(VF_SPA_LINE, 23, 4);
    VfSpaSpec grid = grid_spec(VF_SPA_GRID, 3, 5, 0), graph = grid_spec(VF_SPA_GRAPH, 3, 5, 2);
    for (int32_t l = 1; l <= 4; l++) {
        VfSpaLayer s = layer_of(&line, l), g = layer_of(&grid, l), r = layer_of(&graph, l);
        for (int32_t i = 0; i < 23 * 23; i++)
            ck_assert(fabs(s.A.at[i] - s.A.at[23 * 23 - 1 - i]) < 1e-13);
        for (int32_t i = 0; i < 15; i++)
            for (int32_t j = 0; j < 15; j++) {
                int32_t fi = i / 5 * 5 + 4 - i % 5, fj = j / 5 * 5 + 4 - j % 5; /* columns */
                int32_t ti = (2 - i / 5) * 5 + i % 5, tj = (2 - j / 5) * 5 + j % 5; /* rows */
                double a = vf_matrix_row(&g.A, i)[j], b = vf_matrix_row(&r.A, i + 2)[j + 2];
                ck_assert(fabs(vf_matrix_row(&g.A, fi)[fj] - a) < 1e-13);
                ck_assert(fabs(vf_matrix_row(&g.A, ti)[tj] - a) < 1e-13);
                ck_assert(fabs(vf_matrix_row(&r.A, fi + 2)[fj + 2] - b) < 1e-13);
                ck_assert(fabs(vf_matrix_row(&r.A, ti + 2)[tj + 2] - b) < 1e-13);
            }
    }
}
END_TEST

/* R with a raw diagonal: symmetric, equal row sums, all layers commute. */
START_TEST(test_raw_graph)
{
    VfErr err = {0};
    VfSpaSpec spec = grid_spec(VF_SPA_GRAPH, 4, 3, 2);
    spec.is_raw_diagonal = true;
    VfSpaLayer a = layer_of(&spec, 2), b = layer_of(&spec, 4);
    VfMatrix ab, ba;
    ck_assert_int_eq(vf_matrix_new(arena, 14, 14, &ab, &err), VF_OK);
    ck_assert_int_eq(vf_matrix_new(arena, 14, 14, &ba, &err), VF_OK);
    vf_matrix_multiply(&a.A, &b.A, &ab);
    vf_matrix_multiply(&b.A, &a.A, &ba);
    ck_assert(a.is_scalar);
    for (int32_t i = 0; i < 14; i++) {
        double sum = 0;
        for (int32_t j = 0; j < 14; j++) {
            ck_assert(fabs(vf_matrix_row(&ab, i)[j] - vf_matrix_row(&ba, i)[j]) < 1e-13);
            ck_assert(fabs(vf_matrix_row(&a.A, i)[j] - vf_matrix_row(&a.A, j)[i]) < 1e-14);
            sum += vf_matrix_row(&a.A, i)[j];
        }
        ck_assert(fabs(sum - a.D[0]) < 1e-13);
    }
}
END_TEST

/* Without a floor the bias of a causal kernel does not underflow. */
START_TEST(test_no_floor)
{
    VfSpaSpec spec = vf_spa_spec(VF_SPA_CAUSAL, 2000, 1);
    spec.target = 3;
    spec.floor = 0;
    VfSpaLayer layer = layer_of(&spec, 1);
    double b = vf_matrix_row(&layer.B, 1999)[0];
    ck_assert(fabs(b + 3 * 1999 + log(layer.D[1999])) < 1e-9);
    ck_assert(layer.row_error < 1e-14);
}
END_TEST

/* A raised floor bounds the bias. */
START_TEST(test_floor)
{
    VfSpaSpec spec = vf_spa_spec(VF_SPA_LINE, 100, 1);
    spec.target = 2;
    spec.floor = 1e-4;
    VfSpaLayer layer = layer_of(&spec, 1);
    for (int32_t i = 0; i < 100 * 100; i++)
        ck_assert(layer.B.at[i] > -9.7);
    ck_assert(layer.smallest < 1e-20);
}
END_TEST

/* The roots of a nearly singular kernel keep their digits. */
START_TEST(test_nearly_singular)
{
    VfErr err = {0};
    VfSpaStack stack;
    VfSpaSpec row[] = {vf_spa_spec(VF_SPA_AUTO, 105, 12), grid_spec(VF_SPA_AUTO, 40, 5, 0)};
    const VfSpaKernel kernel[] = {VF_SPA_LINE, VF_SPA_GRID};
    for (size_t i = 0; i < 2; i++) {
        row[i].mean_correlation = 1 - 1e-8;
        ck_assert_msg(vf_spa_stack(arena, &row[i], &stack, &err) == VF_OK, "%s", err.text);
        ck_assert_int_eq(stack.spec.kernel, kernel[i]);
        ck_assert_ptr_null(stack.fallback);
        ck_assert(stack.check.product_error < 1e-9 && stack.check.smallest > 0);
    }
}
END_TEST

/* Who raises the floor wants another kernel: it is built, and its error told. */
START_TEST(test_raised_floor)
{
    VfErr err = {0};
    VfSpaStack stack;
    VfSpaSpec spec = vf_spa_spec(VF_SPA_LINE, 64, 4);
    spec.floor = 1e-4;
    ck_assert_msg(vf_spa_stack(arena, &spec, &stack, &err) == VF_OK, "%s", err.text);
    ck_assert(stack.check.product_error > 1e-6);
}
END_TEST

START_TEST(test_refused)
{
    const struct {
        VfSpaSpec spec;
        VfStatus status;
        const char *words;
    } row[] = {
        {vf_spa_spec(VF_SPA_LINE, 0, 2), VF_USAGE, "0 tokens are not between"},
        {vf_spa_spec(VF_SPA_LINE, VF_MATRIX_MAX + 1, 2), VF_USAGE, "4097 tokens"},
        {vf_spa_spec(VF_SPA_LINE, 4, 0), VF_USAGE, "0 layers"},
        {vf_spa_spec(VF_SPA_GRID, 4, 2), VF_USAGE, "a grid of 0 x 0"},
        {grid_spec(VF_SPA_GRID, 2, 2, 1), VF_USAGE, "no place for 1 prefix tokens"},
        {{VF_SPA_GRAPH, .tokens = 9, .grid_h = 2, .grid_w = 4, .depth = 2,
          .mean_correlation = 0.5, .floor = 1e-12}, VF_USAGE, "is not 9 tokens"},
        {{VF_SPA_GRAPH, .tokens = 9, .grid_h = INT32_MAX, .grid_w = INT32_MAX, .depth = 2,
          .mean_correlation = 0.5, .floor = 1e-12}, VF_USAGE, "is not 9 tokens"},
        {{VF_SPA_LINE, .tokens = 9, .depth = 2, .mean_correlation = 1, .floor = 1e-12}, VF_USAGE,
         "mean correlation 1"},
        {{VF_SPA_LINE, .tokens = 9, .depth = 2, .mean_correlation = 0.5}, VF_USAGE,
         "kernel 's' needs a floor"},
        {{VF_SPA_UNIFORM, .tokens = 9, .depth = 2, .target = 1, .mean_correlation = 0.5,
          .floor = 1e-12}, VF_USAGE, "target 1 of kernel 'u'"},
        {{VF_SPA_LINE, .tokens = 9, .depth = 2, .target = NAN, .mean_correlation = 0.5,
          .floor = 1e-12}, VF_USAGE, "target nan"},
        {vf_spa_spec(VF_SPA_LINE, 1, 2), VF_UNSUPPORTED, "one token"},
        {vf_spa_spec(VF_SPA_CAUSAL, 4096, 10), VF_UNSUPPORTED, "10 layers of 4096 tokens are 2560"},
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        VfErr err = {0};
        VfSpaStack stack;
        ck_assert_msg(vf_spa_stack(arena, &row[i].spec, &stack, &err) == row[i].status, "%zu", i);
        ck_assert_msg(strstr(err.text, row[i].words) != NULL, "%s", err.text);
    }
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("spa/kernel");
    TCase *tcase = tcase_create("kernel");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, test_choose);
    tcase_add_loop_test(tcase, test_leading, 0, 2);
    tcase_add_test(tcase, test_causal_diagonal);
    tcase_add_test(tcase, test_flips);
    tcase_add_test(tcase, test_raw_graph);
    tcase_add_test(tcase, test_no_floor);
    tcase_add_test(tcase, test_floor);
    tcase_add_test(tcase, test_nearly_singular);
    tcase_add_test(tcase, test_raised_floor);
    tcase_add_test(tcase, test_refused);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
