#include "tests/support/check_main.h"

#include <float.h>
#include <stdio.h>

#include "runtime/kernels/map.h"
#include "tests/kernels/kernel_case.h"
#include "tests/kernels/map_reference.h"

/* alpha is 1.5 and beta 0.25 throughout. ulp: units of the last place allowed in f32; absolute:
 * error that is allowed in any case. */
static const struct Row {
    const char *op;
    double (*f)(double);
    double low, high; /* of the arguments tried */
    double ulp, absolute;
} row[] = {
    {"abs", fabs, -9, 9, 0, 0},
    {"neg", ref_neg, -9, 9, 0, 0},
    {"sign", ref_sign, -2, 2, 0, 0},
    {"relu", ref_relu, -9, 9, 0, 0},
    {"floor", floor, -9, 9, 0, 0},
    {"ceil", ceil, -9, 9, 0, 0},
    {"round", rint, -9, 9, 0, 0},
    {"sqrt", sqrt, 0, 1e6, 0.5, 0},
    {"reciprocal", ref_reciprocal, 0.01, 100, 0.5, 0},
    {"exp", exp, -104, 88.72, 2, 0},
    {"log", log, 0, 3, 2, 0},
    {"log", log, 1e-44, 1e-38, 2, 0},
    {"sin", sin, -30, 30, 2, 0},
    {"cos", cos, -30, 30, 2, 0},
    {"tan", tan, -1.5, 1.5, 4, 0},
    {"asin", asin, -1, 1, 4, 0},
    {"acos", acos, -1, 1, 4, 0},
    {"atan", atan, -30, 30, 4, 0},
    {"sinh", sinh, -9, 9, 4, 0},
    {"cosh", cosh, -9, 9, 4, 0},
    {"asinh", asinh, -9, 9, 4, 0},
    {"acosh", acosh, 1, 9, 4, 0},
    {"atanh", atanh, -0.99, 0.99, 4, 0},
    {"sigmoid", ref_sigmoid, -100, 100, 4, 0},
    {"tanh", tanh, -12, 12, 4, 0},
    {"tanh", tanh, -0.01, 0.01, 4, 0},
    {"erf", erf, -6, 6, 8, 0},
    {"erf", erf, -0.01, 0.01, 4, 0},
    {"gelu", ref_gelu, -6, 6, 170, 0},
    {"gelu", ref_gelu, -30, 30, 4, 1e-7},
    {"gelu_tanh", ref_gelu_tanh, -9, 9, 8, 5e-7},
    {"softplus", ref_softplus, -100, 100, 4, 0},
    {"softsign", ref_softsign, -9, 9, 2, 0},
    {"silu", ref_silu, -50, 50, 8, 3e-7},
    {"mish", ref_mish, -50, 50, 8, 3e-7},
    {"leaky_relu", ref_leaky, -9, 9, 0.5, 0},
    {"elu", ref_elu, -50, 9, 4, 0},
    {"selu", ref_selu, -50, 9, 4, 0},
    {"celu", ref_celu, -50, 9, 4, 0},
    {"thresholded_relu", ref_thresholded, -9, 9, 0, 0},
    {"hard_sigmoid", ref_hard_sigmoid, -3, 3, 2, 1e-7},
    {"hard_swish", ref_hard_swish, -9, 9, 2, 3e-7},
    {"shrink", ref_shrink, -3, 3, 1, 0},
    {"affine", ref_affine, -3, 3, 2, 1e-7},
};

static const VfkMapParams constants = {0, 1.5, 0.25};

static void check_f32(const struct Row *r, const char *kernel, const float *x, const float *y,
                      size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double want = r->f((double)x[i]), got = (double)y[i];
        double allowed = fmax(r->ulp * last_place(want), r->absolute);
        ck_assert_msg(fabs(got - want) <= allowed, "%s(%a) is %a, not %a", kernel, (double)x[i],
                      got, want);
    }
}

START_TEST(test_f32)
{
    const struct Row *r = &row[_i];
    char name[64];
    size_t n = 20011;
    uint64_t seed = 7;
    snprintf(name, sizeof name, "%s_f32", r->op);
    float *x = case_buffer(n * sizeof *x);
    for (size_t i = 0; i < n; i++) {
        x[i] = (float)(r->low + (r->high - r->low) * (case_random(&seed) + 1) / 2);
    }
    Case c = {name, &constants, {x}, {n * sizeof *x}, (int64_t)n, 0};
    void *out[CASE_MAX_OUT];
    case_run(&c, out);
    check_f32(r, name, x, out[0], n);
    case_in_place(&c, out[0]);
    const VfkKernel *fused = case_find_fused(name);
    if (fused != NULL) {
        case_call(&c, fused, out, c.units);
        check_f32(r, fused->symbol, x, out[0], n);
    }
    case_free(out);
    free(x);
}
END_TEST

START_TEST(test_f64)
{
    const struct Row *r = &row[_i];
    char name[64];
    size_t n = 517;
    uint64_t seed = 11;
    snprintf(name, sizeof name, "%s_f64", r->op);
    double *x = case_buffer(n * sizeof *x);
    for (size_t i = 0; i < n; i++) {
        x[i] = r->low + (r->high - r->low) * (case_random(&seed) + 1) / 2;
    }
    Case c = {name, &constants, {x}, {n * sizeof *x}, (int64_t)n, 0};
    void *out[CASE_MAX_OUT];
    case_run(&c, out);
    for (size_t i = 0; i < n; i++) {
        double want = r->f(x[i]), got = ((double *)out[0])[i];
        ck_assert_msg(fabs(got - want) <= 1e-14 * (1 + fabs(want)), "%s(%a) is %a, not %a",
                      name, x[i], got, want);
    }
    case_in_place(&c, out[0]);
    case_free(out);
    free(x);
}
END_TEST

/* Arguments at the ends of the range; NaN stands for "is NaN". */
static const struct Extreme {
    const char *name;
    float x, y;
} extreme[] = {
    {"exp_f32", -INFINITY, 0},        {"exp_f32", INFINITY, INFINITY},
    {"exp_f32", NAN, NAN},            {"exp_f32", 88.72284f, INFINITY},
    {"exp_f32", -104.0f, 0},          {"exp_f32", -FLT_MAX, 0},
    {"exp_f32", FLT_MAX, INFINITY},   {"exp_f32", 0, 1},
    {"exp_f32", -103.5f, 1.40129846e-45f},
    {"log_f32", 0, -INFINITY},        {"log_f32", -0.0f, -INFINITY},
    {"log_f32", -1, NAN},             {"log_f32", INFINITY, INFINITY},
    {"log_f32", -INFINITY, NAN},      {"log_f32", NAN, NAN},
    {"log_f32", 1, 0},                {"tanh_f32", INFINITY, 1},
    {"tanh_f32", -INFINITY, -1},      {"tanh_f32", NAN, NAN},
    {"tanh_f32", -0.0f, -0.0f},       {"erf_f32", INFINITY, 1},
    {"erf_f32", -INFINITY, -1},       {"erf_f32", NAN, NAN},
    {"sigmoid_f32", INFINITY, 1},     {"sigmoid_f32", -INFINITY, 0},
    {"sigmoid_f32", NAN, NAN},        {"softplus_f32", INFINITY, INFINITY},
    {"softplus_f32", -INFINITY, 0},   {"softplus_f32", NAN, NAN},
    {"softplus_f32", FLT_MAX, FLT_MAX},
    {"gelu_f32", FLT_MAX, FLT_MAX},   {"gelu_f32", -FLT_MAX, -0.0f},
    {"gelu_f32", NAN, NAN},           {"gelu_f32", INFINITY, INFINITY},
    {"gelu_tanh_f32", NAN, NAN},      {"gelu_tanh_f32", -1e20f, -0.0f},
    {"silu_f32", NAN, NAN},           {"silu_f32", -FLT_MAX, -0.0f},
    {"mish_f32", NAN, NAN},           {"mish_f32", FLT_MAX, FLT_MAX},
    {"elu_f32", -INFINITY, -1.5f},    {"elu_f32", NAN, NAN},
    {"relu_f32", NAN, NAN},           {"relu_f32", -INFINITY, 0},
    {"round_f32", 0.5f, 0},           {"round_f32", 1.5f, 2},
    {"round_f32", -2.5f, -2},         {"round_f32", 8388609.0f, 8388609.0f},
    {"sign_f32", NAN, NAN},           {"sqrt_f32", -1, NAN},
    {"reciprocal_f32", 0, INFINITY},  {"reciprocal_f32", -0.0f, -INFINITY},
    /* -inf times the 0 that its factor tends to, as the functions of ONNX are defined */
    {"gelu_f32", -INFINITY, NAN},     {"gelu_tanh_f32", -INFINITY, NAN},
    {"silu_f32", -INFINITY, NAN},     {"mish_f32", -INFINITY, NAN},
    {"hard_swish_f32", -INFINITY, NAN}, {"softsign_f32", -INFINITY, NAN},
    {"softsign_f32", INFINITY, NAN},
    {"gelu_tanh_f32", INFINITY, INFINITY}, {"gelu_tanh_f32", FLT_MAX, FLT_MAX},
    {"gelu_tanh_f32", -FLT_MAX, -0.0f},
    {"silu_f32", INFINITY, INFINITY}, {"silu_f32", FLT_MAX, FLT_MAX},
    {"mish_f32", INFINITY, INFINITY}, {"mish_f32", -FLT_MAX, -0.0f},
    {"hard_swish_f32", INFINITY, INFINITY}, {"hard_swish_f32", NAN, NAN},
    {"hard_swish_f32", FLT_MAX, FLT_MAX}, {"hard_swish_f32", -FLT_MAX, -0.0f},
    {"hard_sigmoid_f32", INFINITY, 1}, {"hard_sigmoid_f32", -INFINITY, 0},
    {"hard_sigmoid_f32", NAN, NAN},   {"sigmoid_f32", -FLT_MAX, 0},
    {"sigmoid_f32", FLT_MAX, 1},      {"softplus_f32", -FLT_MAX, 0},
    {"elu_f32", INFINITY, INFINITY},  {"elu_f32", -FLT_MAX, -1.5f},
    {"selu_f32", -INFINITY, -0.375f}, {"selu_f32", INFINITY, INFINITY},
    {"selu_f32", NAN, NAN},           {"celu_f32", -INFINITY, -1.5f},
    {"celu_f32", INFINITY, INFINITY}, {"celu_f32", NAN, NAN},
    {"softsign_f32", NAN, NAN},       {"softsign_f32", FLT_MAX, 1},
    {"leaky_relu_f32", -INFINITY, -INFINITY}, {"leaky_relu_f32", NAN, NAN},
    {"thresholded_relu_f32", NAN, 0}, {"thresholded_relu_f32", INFINITY, INFINITY},
    /* denormal numbers are not flushed to zero */
    {"sigmoid_f32", 1e-45f, 0.5f},    {"softplus_f32", 1e-45f, 0.693147182f},
    {"erf_f32", -1e-45f, -1e-45f},    {"tanh_f32", 1e-45f, 1e-45f},
    {"mish_f32", -1e-45f, -1e-45f},   {"gelu_f32", 1e-40f, 5e-41f},
    {"gelu_tanh_f32", 1e-40f, 5e-41f}, {"silu_f32", 1e-40f, 5e-41f},
    {"hard_swish_f32", 1e-40f, 5e-41f}, {"relu_f32", 1e-45f, 1e-45f},
};

static void check_extreme(const struct Extreme *e, const char *kernel, const float *y, int n)
{
    for (int i = 0; i < n; i++) {
        int same = isnan(e->y) ? isnan(y[i]) : memcmp(&y[i], &e->y, sizeof y[i]) == 0;
        ck_assert_msg(same, "%s(%a) is %a, not %a", kernel, (double)e->x, (double)y[i],
                      (double)e->y);
    }
}

START_TEST(test_extremes)
{
    const struct Extreme *e = &extreme[_i];
    enum { N = 37 };
    float x[N];
    for (int i = 0; i < N; i++) {
        x[i] = e->x;
    }
    Case c = {e->name, &constants, {x}, {sizeof x}, N, 0};
    void *out[CASE_MAX_OUT];
    case_run(&c, out);
    check_extreme(e, e->name, out[0], N);
    const VfkKernel *fused = case_find_fused(e->name);
    if (fused != NULL) {
        case_call(&c, fused, out, N);
        check_extreme(e, fused->symbol, out[0], N);
    }
    case_free(out);
}
END_TEST

START_TEST(test_clip)
{
    float x[] = {-INFINITY, -3, -1, 0, 2, 5, INFINITY, NAN}, low = -1, high = 2;
    float both[] = {-1, -1, -1, 0, 2, 2, 2, NAN}, above[] = {-1, -1, -1, 0, 2, 5, INFINITY, NAN};
    Case c = {"clip_f32", &constants, {x, &low, &high}, {sizeof x}, 8, 0};
    void *out[CASE_MAX_OUT];
    case_run(&c, out);
    ck_assert_mem_eq(out[0], both, 7 * sizeof(float));
    ck_assert(isnan(((float *)out[0])[7]));
    case_free(out);
    c.in[2] = NULL;
    case_run(&c, out);
    ck_assert_mem_eq(out[0], above, 7 * sizeof(float));
    case_free(out);
    int8_t small[] = {-128, 0, 127}, least = 3, most = 1, crossed[] = {1, 1, 1};
    Case i8 = {"clip_i8", &constants, {small, &least, &most}, {3}, 3, 0};
    case_run(&i8, out);
    ck_assert_mem_eq(out[0], crossed, 3);
    case_free(out);
}
END_TEST

START_TEST(test_integers)
{
    int32_t x[] = {INT32_MIN, -7, 0, 7, INT32_MAX};
    static const struct {
        const char *name;
        int32_t y[5];
    } want[] = {
        {"abs_i32", {INT32_MIN, 7, 0, 7, INT32_MAX}},
        {"neg_i32", {INT32_MIN, 7, 0, -7, -INT32_MAX}},
        {"sign_i32", {-1, -1, 0, 1, 1}},
        {"relu_i32", {0, 0, 0, 7, INT32_MAX}},
        {"bitwise_not_i32", {INT32_MAX, 6, -1, -8, INT32_MIN}},
    };
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        Case c = {want[i].name, &constants, {x}, {sizeof x}, 5, 0};
        void *out[CASE_MAX_OUT];
        case_run(&c, out);
        ck_assert_msg(memcmp(out[0], want[i].y, sizeof x) == 0, "%s", want[i].name);
        case_free(out);
    }
    int8_t small[] = {-128, 5}, absolute[] = {-128, 5};
    Case c = {"abs_i8", &constants, {small}, {2}, 2, 0};
    void *out[CASE_MAX_OUT];
    case_run(&c, out);
    ck_assert_mem_eq(out[0], absolute, 2);
    case_free(out);
}
END_TEST

START_TEST(test_predicates)
{
    float x[] = {0, NAN, INFINITY, -INFINITY, FLT_MAX};
    static const struct {
        const char *name;
        double low, high;
        uint8_t y[5];
    } want[] = {
        {"isnan_f32", 0, 0, {0, 1, 0, 0, 0}},
        {"isinf_f32", 1, 1, {0, 0, 1, 1, 0}},
        {"isinf_f32", 1, 0, {0, 0, 0, 1, 0}},
        {"isinf_f32", 0, 1, {0, 0, 1, 0, 0}},
    };
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        VfkMapParams params = {5, want[i].low, want[i].high};
        Case c = {want[i].name, &params, {x}, {5}, 5, 0};
        void *out[CASE_MAX_OUT];
        case_run(&c, out);
        ck_assert_mem_eq(out[0], want[i].y, 5);
        case_free(out);
    }
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("kernels/map");
    case_add(suite, "f32", test_f32, (int)(sizeof row / sizeof row[0]));
    case_add(suite, "f64", test_f64, (int)(sizeof row / sizeof row[0]));
    case_add(suite, "extremes", test_extremes, (int)(sizeof extreme / sizeof extreme[0]));
    case_add(suite, "clip", test_clip, 1);
    case_add(suite, "integers", test_integers, 1);
    case_add(suite, "predicates", test_predicates, 1);
    return suite;
}

VF_CHECK_MAIN(make_suite)
