#include "tests/support/check_main.h"

#include "runtime/kernels/reduce.h"
#include "runtime/kernels/scan.h"
#include "tests/kernels/kernel_case.h"

/* How the elements of one output combine: `count` of them. */
static double combine(const char *name, const double *v, int64_t count)
{
    double sum = 0, product = 1, most = -HUGE_VAL, least = HUGE_VAL, l1 = 0, square = 0, lse = 0;
    for (int64_t i = 0; i < count; i++) {
        sum += v[i];
        product *= v[i];
        most = v[i] > most ? v[i] : most;
        least = v[i] < least ? v[i] : least;
        l1 += fabs(v[i]);
        square += v[i] * v[i];
        lse += exp(v[i]);
    }
    const struct {
        const char *name;
        double value;
    } all[] = {
        {"reduce_sum_f32", sum},   {"reduce_mean_f32", sum / (double)count},
        {"reduce_max_f32", most},  {"reduce_min_f32", least},
        {"reduce_l1_f32", l1},     {"reduce_prod_f32", product},
        {"reduce_l2_f32", sqrt(square)}, {"reduce_sum_square_f32", square},
        {"reduce_log_sum_f32", log(sum)}, {"reduce_log_sum_exp_f32", log(lse)},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (strcmp(all[i].name, name) == 0) {
            return all[i].value;
        }
    }
    return nan("");
}

static const char *const reduction[] = {
    "reduce_sum_f32", "reduce_mean_f32", "reduce_max_f32",        "reduce_min_f32",
    "reduce_l1_f32",  "reduce_l2_f32",   "reduce_sum_square_f32", "reduce_prod_f32",
    "reduce_log_sum_f32", "reduce_log_sum_exp_f32",
};
enum { N_REDUCTION = sizeof reduction / sizeof reduction[0] };

static const struct Shape {
    VfkReduceParams params;
    int64_t units, count, n_in;
} shape[] = {
    {{1, {7}, {131}, 1, {131}, {1}}, 7, 131, 917},          /* rows */
    {{1, {131}, {1}, 1, {7}, {131}}, 131, 7, 917},          /* columns */
    {{0, {0}, {0}, 1, {517}, {1}}, 1, 517, 517},            /* everything */
    {{2, {3, 70}, {350, 1}, 1, {5}, {70}}, 210, 5, 1050},   /* the middle */
    {{1, {5}, {70}, 2, {3, 70}, {350, 1}}, 5, 210, 1050},   /* both ends */
    {{1, {9}, {1}, 0, {0}, {0}}, 9, 1, 9},                  /* nothing */
    {{1, {4}, {2}, 1, {3}, {8}}, 4, 3, 24},                 /* no unit stride */
};

START_TEST(test_reduce)
{
    const struct Shape *s = &shape[_i];
    float *x = case_floats((size_t)s->n_in, 3);
    for (int64_t i = 0; i < s->n_in; i++) {
        x[i] = 0.75f + 0.5f * x[i];
    }
    for (int k = 0; k < N_REDUCTION; k++) {
        Case c = {reduction[k], &s->params, {x}, {(size_t)s->units * 4}, s->units, 0};
        void *out[CASE_MAX_OUT];
        case_run(&c, out);
        for (int64_t u = 0; u < s->units; u++) {
            double v[600];
            int64_t rest = u, at = 0;
            for (int64_t axis = s->params.keep_rank - 1; axis >= 0; axis--) {
                at += rest % s->params.keep_dim[axis] * s->params.keep_stride[axis];
                rest /= s->params.keep_dim[axis];
            }
            for (int64_t i = 0; i < s->count; i++) {
                int64_t more = i, from = at;
                for (int64_t axis = s->params.red_rank - 1; axis >= 0; axis--) {
                    from += more % s->params.red_dim[axis] * s->params.red_stride[axis];
                    more /= s->params.red_dim[axis];
                }
                v[i] = (double)x[from];
            }
            double want = combine(reduction[k], v, s->count), got = (double)((float *)out[0])[u];
            ck_assert_msg(fabs(got - want) <= 1e-7 * (fabs(want) + 1e-3), "%s shape %d: %g, not %g",
                          reduction[k], _i, got, want);
        }
        case_free(out);
    }
    free(x);
}
END_TEST

START_TEST(test_nothing_to_reduce)
{
    static const float want[N_REDUCTION] = {0, NAN, -INFINITY, INFINITY, 0, 0, 0, 1, -INFINITY,
                                            -INFINITY};
    VfkReduceParams params = {1, {2}, {0}, 1, {0}, {1}};
    float x = 0;
    Case c = {reduction[_i], &params, {&x}, {8}, 2, 0};
    void *out[CASE_MAX_OUT];
    case_run(&c, out);
    float got = ((float *)out[0])[1];
    ck_assert_msg(isnan(want[_i]) ? isnan(got) : got == want[_i], "%s: %g", reduction[_i],
                  (double)got);
    case_free(out);
}
END_TEST

START_TEST(test_nan_and_large)
{
    float x[40];
    for (int i = 0; i < 40; i++) {
        x[i] = 1e4f;
    }
    VfkReduceParams params = {0, {0}, {0}, 1, {40}, {1}};
    Case c = {"reduce_log_sum_exp_f32", &params, {x}, {4}, 1, 0};
    void *out[CASE_MAX_OUT];
    case_run(&c, out);
    ck_assert(fabsf(*(float *)out[0] - 10003.689f) < 1e-2f);
    case_free(out);
    x[17] = NAN;
    for (int k = 0; k < N_REDUCTION; k++) {
        c.name = reduction[k];
        case_run(&c, out);
        ck_assert_msg(isnan(*(float *)out[0]), "%s", reduction[k]);
        case_free(out);
    }
}
END_TEST

/* A million tenths: a running float sum would be off in the third digit. */
START_TEST(test_long_sum)
{
    enum { N = 1000000 };
    float *x = case_buffer(N * sizeof *x);
    for (int i = 0; i < N; i++) {
        x[i] = 0.1f;
    }
    VfkReduceParams params = {0, {0}, {0}, 1, {N}, {1}};
    Case c = {"reduce_sum_f32", &params, {x}, {4}, 1, 0};
    void *out[CASE_MAX_OUT];
    case_run(&c, out);
    ck_assert(*(float *)out[0] == (float)(N * (double)0.1f));
    case_free(out);
    free(x);
}
END_TEST

START_TEST(test_integers)
{
    int32_t x[] = {INT32_MAX, 2, -3, 5};
    static const struct {
        const char *name;
        int32_t want;
    } want[] = {
        {"reduce_sum_i32", INT32_MIN + 3}, {"reduce_max_i32", INT32_MAX},
        {"reduce_min_i32", -3},            {"reduce_prod_i32", INT32_MIN + 30 - INT32_MIN},
        {"reduce_mean_i32", 536870912},    {"reduce_l1_i32", INT32_MIN + 9},
        {"reduce_sum_square_i32", 39},
    };
    VfkReduceParams params = {0, {0}, {0}, 1, {4}, {1}};
    Case c = {want[_i].name, &params, {x}, {4}, 1, 0};
    void *out[CASE_MAX_OUT];
    case_run(&c, out);
    ck_assert_msg(*(int32_t *)out[0] == want[_i].want, "%s: %d", want[_i].name,
                  (int)*(int32_t *)out[0]);
    case_free(out);
}
END_TEST

/* Above what an i64 holds. */
START_TEST(test_unsigned)
{
    uint64_t x[] = {UINT64_MAX - 1, UINT64_MAX, UINT64_C(1) << 63, 4};
    static const struct {
        const char *name;
        int64_t n;
        uint64_t want;
    } want[] = {
        {"reduce_max_u64", 4, UINT64_MAX},
        {"reduce_min_u64", 3, UINT64_C(1) << 63},
        {"reduce_mean_u64", 1, UINT64_MAX - 1},
    };
    VfkReduceParams params = {0, {0}, {0}, 1, {want[_i].n}, {1}};
    Case c = {want[_i].name, &params, {x}, {8}, 1, 0};
    void *out[CASE_MAX_OUT];
    case_run(&c, out);
    ck_assert_msg(*(uint64_t *)out[0] == want[_i].want, "%s", want[_i].name);
    case_free(out);
}
END_TEST

START_TEST(test_arg)
{
    float x[] = {1, 3, 3, 0, 0, 2, NAN, 5};
    static const struct {
        const char *name;
        int64_t n, last, want;
    } want[] = {
        {"argmax_f32", 6, 0, 1}, {"argmax_f32", 6, 1, 2}, {"argmin_f32", 6, 0, 3},
        {"argmin_f32", 6, 1, 4}, {"argmax_f32", 8, 0, 6}, {"argmin_f32", 8, 1, 6},
    };
    VfkArgParams params = {1, want[_i].n, 1, want[_i].last};
    Case c = {want[_i].name, &params, {x}, {8}, 1, 0};
    void *out[CASE_MAX_OUT];
    case_run(&c, out);
    ck_assert_int_eq(*(int64_t *)out[0], want[_i].want);
    case_free(out);
}
END_TEST

START_TEST(test_cumsum)
{
    int64_t x[] = {1, 2, 3, 4, 5, 6}; /* 3 x 2, along the first axis */
    static const int64_t want[4][6] = {
        {1, 2, 4, 6, 9, 12}, {0, 0, 1, 2, 4, 6}, {9, 12, 8, 10, 5, 6}, {8, 10, 5, 6, 0, 0}};
    VfkCumulateParams params = {1, 3, 2, _i & 1, _i >> 1};
    Case c = {"cumsum_i64", &params, {x}, {48}, 2, 0};
    void *out[CASE_MAX_OUT];
    case_run(&c, out);
    ck_assert_mem_eq(out[0], want[_i], 48);
    case_in_place(&c, out[0]);
    case_free(out);
}
END_TEST

START_TEST(test_cumprod)
{
    int32_t x[] = {1, 2, 3, 4, 5, 6}; /* 3 x 2, along the first axis */
    static const int32_t want[4][6] = {
        {1, 2, 3, 8, 15, 48}, {1, 1, 1, 2, 3, 8}, {15, 48, 15, 24, 5, 6}, {15, 24, 5, 6, 1, 1}};
    VfkCumulateParams params = {1, 3, 2, _i & 1, _i >> 1};
    Case c = {"cumprod_i32", &params, {x}, {24}, 2, 0};
    void *out[CASE_MAX_OUT];
    case_run(&c, out);
    ck_assert_mem_eq(out[0], want[_i], 24);
    case_in_place(&c, out[0]);
    case_free(out);
}
END_TEST

/* Against a plain selection: the best of what is left, k times. */
START_TEST(test_topk)
{
    enum { N = 53, INNER = 3 };
    int64_t k = (int64_t[]){1, 7, 53, 0}[_i % 4], largest = _i / 4;
    int32_t x[N * INNER];
    uint64_t seed = 9;
    for (int i = 0; i < N * INNER; i++) {
        x[i] = (int32_t)(case_random(&seed) * 9);
    }
    VfkTopkParams params = {1, N, INNER, k, largest, 1};
    Case c = {"topk_i32", &params, {x}, {(size_t)k * INNER * 4, (size_t)k * INNER * 8}, INNER,
              vfk_topk_scratch_bytes(&params)};
    void *out[CASE_MAX_OUT];
    case_run(&c, out);
    for (int line = 0; line < INNER; line++) {
        int taken[N] = {0};
        for (int64_t r = 0; r < k; r++) {
            int best = -1;
            for (int i = 0; i < N; i++) {
                int32_t v = x[i * INNER + line], m = best < 0 ? 0 : x[best * INNER + line];
                if (!taken[i] && (best < 0 || (largest ? v > m : v < m))) {
                    best = i;
                }
            }
            taken[best] = 1;
            ck_assert_int_eq(((int64_t *)out[1])[r * INNER + line], best);
            ck_assert_int_eq(((int32_t *)out[0])[r * INNER + line], x[best * INNER + line]);
        }
    }
    case_free(out);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("kernels/reduce");
    case_add(suite, "reduce", test_reduce, (int)(sizeof shape / sizeof shape[0]));
    case_add(suite, "nothing", test_nothing_to_reduce, N_REDUCTION);
    case_add(suite, "nan and large", test_nan_and_large, 1);
    case_add(suite, "long sum", test_long_sum, 1);
    case_add(suite, "integers", test_integers, 7);
    case_add(suite, "unsigned", test_unsigned, 3);
    case_add(suite, "arg", test_arg, 6);
    case_add(suite, "cumsum", test_cumsum, 4);
    case_add(suite, "cumprod", test_cumprod, 4);
    case_add(suite, "topk", test_topk, 8);
    return suite;
}

VF_CHECK_MAIN(make_suite)
