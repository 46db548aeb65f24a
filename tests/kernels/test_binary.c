#include "tests/support/check_main.h"

#include "runtime/kernels/binary.h"
#include "runtime/kernels/where.h"
#include "tests/kernels/kernel_case.h"

/* Shapes of broadcasting: the result's dims and the operands' strides. */
static const struct Shape {
    VfkBinaryParams params;
    int64_t units, n_a, n_b;
    int is_a_contiguous;
} shape[] = {
    {{0, {0}, {0}, {0}}, 1, 1, 1, 1},
    {{1, {517}, {1}, {1}}, 517, 517, 517, 1},
    {{1, {517}, {1}, {0}}, 517, 517, 1, 1},
    {{1, {517}, {0}, {1}}, 517, 1, 517, 0},
    {{1, {33}, {0}, {0}}, 33, 1, 1, 0},
    {{2, {7, 19}, {19, 1}, {0, 1}}, 133, 133, 19, 1},
    {{2, {7, 19}, {1, 0}, {19, 1}}, 133, 7, 133, 0},
    {{2, {7, 19}, {1, 7}, {19, 1}}, 133, 133, 133, 0},
    {{3, {3, 5, 7}, {35, 7, 1}, {5, 1, 0}}, 105, 105, 15, 1},
    {{4, {2, 3, 4, 5}, {12, 0, 3, 1}, {0, 20, 5, 1}}, 120, 40, 60, 0},
    {{2, {0, 19}, {19, 1}, {0, 1}}, 0, 1, 19, 1},
};
enum { N_SHAPE = sizeof shape / sizeof shape[0] };

/* Offsets of result element u in both operands, and nothing clever. */
static void offsets(const VfkBinaryParams *params, int64_t u, int64_t *a, int64_t *b)
{
    *a = *b = 0;
    for (int64_t axis = params->rank - 1; axis >= 0; axis--) {
        int64_t index = u % params->dim[axis];
        u /= params->dim[axis];
        *a += index * params->stride_a[axis];
        *b += index * params->stride_b[axis];
    }
}

static float op_add(float p, float q) { return p + q; }
static float op_sub(float p, float q) { return p - q; }
static float op_mul(float p, float q) { return p * q; }
static float op_div(float p, float q) { return p / q; }
static float op_min(float p, float q) { return p < q ? p : q; }
static float op_max(float p, float q) { return p > q ? p : q; }
static float op_prelu(float p, float q) { return p < 0 ? p * q : p; }

static const struct Op {
    const char *name;
    float (*f)(float p, float q);
} op[] = {
    {"add_f32", op_add},   {"sub_f32", op_sub}, {"mul_f32", op_mul},     {"div_f32", op_div},
    {"min_f32", op_min},   {"max_f32", op_max}, {"prelu_f32", op_prelu}, {"fmod_f32", fmodf},
    {"pow_f32", powf},
};

START_TEST(test_broadcast)
{
    const struct Shape *s = &shape[_i];
    for (size_t k = 0; k < sizeof op / sizeof op[0]; k++) {
        float *a = case_floats((size_t)s->n_a, 1), *b = case_floats((size_t)s->n_b, 2);
        for (int64_t i = 0; op[k].f == powf && i < s->n_a; i++) {
            a[i] = fabsf(a[i]);
        }
        Case c = {op[k].name, &s->params, {a, b}, {(size_t)s->units * 4}, s->units, 0};
        void *out[CASE_MAX_OUT];
        case_run(&c, out);
        for (int64_t u = 0; u < s->units; u++) {
            int64_t ia, ib;
            offsets(&s->params, u, &ia, &ib);
            float want = op[k].f(a[ia], b[ib]), got = ((float *)out[0])[u];
            ck_assert_msg(got == want, "%s shape %d element %d: %g, not %g", op[k].name, _i,
                          (int)u, (double)got, (double)want);
        }
        if (s->is_a_contiguous && s->units > 0) {
            case_in_place(&c, out[0]);
        }
        case_free(out);
        free(a);
        free(b);
    }
}
END_TEST

START_TEST(test_same_operand_in_place)
{
    enum { N = 77 };
    float *a = case_floats(N, 5), want[N];
    for (int i = 0; i < N; i++) {
        want[i] = a[i] + a[i];
    }
    VfkBinaryParams params = {1, {N}, {1}, {1}};
    const void *in[] = {a, a};
    void *out[] = {a};
    VfkArgs args = {in, out, NULL, &params, 0, N, NULL};
    vfk_kernel_find("add_f32", 0)->fn(&args);
    ck_assert_mem_eq(a, want, sizeof want);
    free(a);
}
END_TEST

/* Exponents with a path of their own agree with libm, also at the ends. */
START_TEST(test_pow_of_scalars)
{
    static const float exponent[] = {2, 3, 0.5f, -0.5f, 1, -1, 0, 2.5f};
    float x[] = {0, -0.0f, 1, -1, 4, 1e30f, INFINITY, -INFINITY, NAN, 0.1f};
    float e = exponent[_i];
    VfkBinaryParams params = {1, {10}, {1}, {0}};
    Case c = {"pow_f32", &params, {x, &e}, {sizeof x}, 10, 0};
    void *out[CASE_MAX_OUT];
    case_run(&c, out);
    for (int i = 0; i < 10; i++) {
        double want = pow((double)x[i], (double)e), got = (double)((float *)out[0])[i];
        int close = isnan(want)   ? isnan(got)
                    : isinf((float)want) ? got == (double)(float)want
                                  : fabs(got - want) <= 4e-7 * fabs(want);
        ck_assert_msg(close, "pow(%g, %g) is %g, not %g", (double)x[i], (double)e, got, want);
    }
    case_free(out);
}
END_TEST

START_TEST(test_nan_wins)
{
    float a[] = {NAN, 1, NAN}, b[] = {1, NAN, NAN};
    VfkBinaryParams params = {1, {3}, {1}, {1}};
    const char *name[] = {"min_f32", "max_f32"};
    for (int k = 0; k < 2; k++) {
        Case c = {name[k], &params, {a, b}, {sizeof a}, 3, 0};
        void *out[CASE_MAX_OUT];
        case_run(&c, out);
        for (int i = 0; i < 3; i++) {
            ck_assert(isnan(((float *)out[0])[i]));
        }
        case_free(out);
    }
}
END_TEST

#define LEAST INT64_MIN
static const struct Integer {
    const char *name;
    int64_t a, b, want;
} integer[] = {
    {"add_i64", INT64_MAX, 1, LEAST},  {"sub_i64", LEAST, 1, INT64_MAX},
    {"mul_i64", LEAST, -1, LEAST},     {"div_i64", -7, 2, -3},
    {"div_i64", LEAST, -1, LEAST},     {"div_i64", 5, 0, 0},
    {"mod_i64", -7, 3, 2},             {"mod_i64", 7, -3, -2},
    {"mod_i64", LEAST, -1, 0},         {"mod_i64", 5, 0, 0},
    {"fmod_i64", -7, 3, -1},           {"fmod_i64", 7, -3, 1},
    {"pow_i64", 3, 4, 81},             {"pow_i64", -2, 63, LEAST},
    {"pow_i64", 2, -1, 0},             {"pow_i64", -1, -3, -1},
    {"pow_i64", 0, -2, 0},             {"pow_i64", 0, 0, 1},
    {"min_i64", -3, 4, -3},            {"max_i64", -3, 4, 4},
    {"bitwise_and_i64", -1, 6, 6},     {"bitwise_or_i64", 1, 6, 7},
    {"bitwise_xor_i64", -1, 6, -7},    {"shift_left_u64", 1, 63, LEAST},
    {"shift_left_u64", 1, 64, 0},      {"shift_right_u64", -1, 63, 1},
    {"shift_right_u64", -1, 200, 0},   {"div_u64", -1, 2, INT64_MAX},
    {"mod_u64", 7, 0, 0},              {"pow_u64", 3, 3, 27},
};

START_TEST(test_integers)
{
    const struct Integer *r = &integer[_i];
    VfkBinaryParams params = {0, {0}, {0}, {0}};
    Case c = {r->name, &params, {&r->a, &r->b}, {8}, 1, 0};
    void *out[CASE_MAX_OUT];
    case_run(&c, out);
    ck_assert_msg(*(int64_t *)out[0] == r->want, "%s(%lld, %lld) is %lld", r->name,
                  (long long)r->a, (long long)r->b, (long long)*(int64_t *)out[0]);
    case_free(out);
}
END_TEST

START_TEST(test_narrow_integers)
{
    uint8_t a[] = {200, 255, 7, 128}, b[] = {100, 255, 0, 1};
    uint8_t sum[] = {44, 254, 7, 129}, product[] = {32, 1, 0, 128}, quotient[] = {2, 1, 0, 128};
    const struct {
        const char *name;
        uint8_t *want;
    } want[] = {{"add_u8", sum}, {"mul_u8", product}, {"div_u8", quotient}};
    VfkBinaryParams params = {1, {4}, {1}, {1}};
    for (int k = 0; k < 3; k++) {
        Case c = {want[k].name, &params, {a, b}, {4}, 4, 0};
        void *out[CASE_MAX_OUT];
        case_run(&c, out);
        ck_assert_mem_eq(out[0], want[k].want, 4);
        case_free(out);
    }
    int16_t p[] = {INT16_MIN, 181}, q[] = {INT16_MIN, 181}, square[] = {0, 32761};
    params.dim[0] = 2;
    Case c = {"mul_i16", &params, {p, q}, {4}, 2, 0};
    void *out[CASE_MAX_OUT];
    case_run(&c, out);
    ck_assert_mem_eq(out[0], square, sizeof square);
    case_free(out);
}
END_TEST

START_TEST(test_comparisons)
{
    float a[] = {1, 2, 3, NAN, -0.0f}, b[] = {2, 2, 2, NAN, 0};
    static const struct {
        const char *name;
        uint8_t want[5];
    } want[] = {
        {"equal_f32", {0, 1, 0, 0, 1}},
        {"less_f32", {1, 0, 0, 0, 0}},
        {"less_equal_f32", {1, 1, 0, 0, 1}},
        {"greater_f32", {0, 0, 1, 0, 0}},
        {"greater_equal_f32", {0, 1, 1, 0, 1}},
    };
    VfkBinaryParams params = {1, {5}, {1}, {1}};
    for (int k = 0; k < 5; k++) {
        Case c = {want[k].name, &params, {a, b}, {5}, 5, 0};
        void *out[CASE_MAX_OUT];
        case_run(&c, out);
        ck_assert_msg(memcmp(out[0], want[k].want, 5) == 0, "%s", want[k].name);
        case_free(out);
    }
}
END_TEST

START_TEST(test_where)
{
    uint8_t c[6] = {1, 0, 0, 1, 1, 0};
    int64_t x[3] = {10, 20, 30}, y = -1, want[6] = {10, -1, -1, 10, 20, -1};
    VfkWhereParams params = {2, {2, 3}, {3, 1}, {0, 1}, {0, 0}};
    Case r = {"where_b8", &params, {c, x, &y}, {sizeof want}, 6, 0};
    void *out[CASE_MAX_OUT];
    case_run(&r, out);
    ck_assert_mem_eq(out[0], want, sizeof want);
    case_free(out);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("kernels/binary");
    case_add(suite, "broadcast", test_broadcast, N_SHAPE);
    case_add(suite, "same operand", test_same_operand_in_place, 1);
    case_add(suite, "pow", test_pow_of_scalars, 8);
    case_add(suite, "nan", test_nan_wins, 1);
    case_add(suite, "integers", test_integers, (int)(sizeof integer / sizeof integer[0]));
    case_add(suite, "narrow", test_narrow_integers, 1);
    case_add(suite, "comparisons", test_comparisons, 1);
    case_add(suite, "where", test_where, 1);
    return suite;
}

VF_CHECK_MAIN(make_suite)
