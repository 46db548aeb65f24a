/* BN and RepBN as one affine map, with the numbers of the worked example. */
#include "passes/match/norm.h"

#include <stdio.h>

#include "passes/ir/infer.h"
#include "tests/support/check_main.h"
#include "tests/unit/ir/vft_case.h"

#define PARAMETERS                        \
    "g = const f64[3] {1.2, -0.5, 0.8}\n" \
    "b = const f64[3] {0.1, 0.2, -0.3}\n" \
    "m = const f64[3] {0.5, -1, 2}\n"     \
    "v = const f64[3] {0.25, 4, 1}\n"
#define BN "n = BatchNormalization(x, g, b, m, v) {epsilon=1e-05} @n\n"

/* Columns: body, a and c expected. */
typedef struct Row {
    const char *body;
    double a[3], c[3];
} Row;

static const Row row[] = {
    {"e = const f64[1] {0.7}\n" BN "s = Mul(e, x)\ny = Add(n, s)\n",
     {3.09995200143995, 0.450000312499414, 1.49999600003},
     {-1.09997600071998, -0.0499996875005859, -1.89999200006}},
    {BN "y = Relu(n)\n",
     {2.39995200143995, -0.249999687500586, 0.79999600003},
     {-1.09997600071998, -0.0499996875005859, -1.89999200006}},
    {BN "y = Add(n, x)\n",
     {3.39995200143995, 0.750000312499414, 1.79999600003},
     {-1.09997600071998, -0.0499996875005859, -1.89999200006}},
    {"e = const f64[1, 3, 1] {0, 1, 2}\n" BN "s = Mul(x, e)\ny = Add(s, n)\n",
     {2.39995200143995, 0.750000312499414, 2.79999600003},
     {-1.09997600071998, -0.0499996875005859, -1.89999200006}},
};

static VfModel *model_of(const char *parameters, const char *body)
{
    char text[1024];
    snprintf(text, sizeof text, "model ir=8 opset=17\ngraph g (x: f64[2, 3, 5]) -> (y) {\n%s%s}\n",
             parameters, body);
    VfModel *model = read_vft(text);
    VfErr err = {0};
    ck_assert_msg(vf_infer_graph(model->graph, NULL, &err) == VF_OK, "%s", err.text);
    return model;
}

START_TEST(row_is_affine)
{
    VfModel *model = model_of(PARAMETERS, row[_i].body);
    VfArena *arena = vf_arena_new();
    VfNorms norms;
    double *a, *c;
    ck_assert_int_eq(vf_find_norms(arena, model, &norms, NULL), VF_OK);
    ck_assert_int_eq(norms.n_batch, 1);
    ck_assert_int_eq(vf_batch_norm_affine(arena, &norms.batch[0], &a, &c, NULL), VF_OK);
    for (int i = 0; i < 3; i++) {
        /* epsilon is an attribute in single precision */
        ck_assert_double_eq_tol(a[i], row[_i].a[i], 1e-10);
        ck_assert_double_eq_tol(c[i], row[_i].c[i], 1e-10);
    }
    vf_arena_free(arena);
    vf_model_free(model);
}
END_TEST

/* Columns: parameters, words of the reason. */
typedef struct Refusal {
    const char *parameters, *words;
} Refusal;

static const Refusal refusal[] = {
    {"g = const f64[3] {1, 1, 1}\nb = const f64[3] {1, 2, 3}\nm = const f64[3] {0, 0, 0}\n"
     "v = const f64[3] {1, -1, 1}\n",
     "the variance of 'n' is not positive in channel 1"},
    {"g = const f64[3] {1, 1, 1}\nb = const f64[3] {1, 2, 3}\nm = const f64[3] {0, 0, 0}\n"
     "w = const f64[3] {1, 1, 1}\nv = Relu(w)\n",
     "the variance of 'n' is not constant"},
};

START_TEST(unreadable_parameters_say_why)
{
    VfModel *model = model_of(refusal[_i].parameters, BN "y = Relu(n)\n");
    VfArena *arena = vf_arena_new();
    VfNorms norms;
    VfErr err = {0};
    double *a, *c;
    ck_assert_int_eq(vf_find_norms(arena, model, &norms, NULL), VF_OK);
    ck_assert_int_eq(vf_batch_norm_affine(arena, &norms.batch[0], &a, &c, &err), VF_UNSUPPORTED);
    ck_assert_msg(strstr(err.text, refusal[_i].words) != NULL, "%s", err.text);
    vf_arena_free(arena);
    vf_model_free(model);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("norm_affine");
    TCase *cases = tcase_create("norm_affine");
    tcase_add_loop_test(cases, row_is_affine, 0, (int)(sizeof row / sizeof row[0]));
    tcase_add_loop_test(cases, unreadable_parameters_say_why, 0,
                        (int)(sizeof refusal / sizeof refusal[0]));
    suite_add_tcase(suite, cases);
    return suite;
}

VF_CHECK_MAIN(make_suite)
