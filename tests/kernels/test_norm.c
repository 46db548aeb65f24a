#include "tests/support/check_main.h"

#include "runtime/kernels/norm.h"
#include "runtime/kernels/softmax.h"
#include "tests/kernels/kernel_case.h"

static void close_to(const char *name, const float *got, const double *want, size_t n,
                     double tolerance)
{
    for (size_t i = 0; i < n; i++) {
        ck_assert_msg(fabs((double)got[i] - want[i]) <= tolerance * (1 + fabs(want[i])),
                      "%s: element %zu is %g, not %g", name, i, (double)got[i], want[i]);
    }
}

static const struct Lines {
    int64_t outer, n, inner;
} lines[] = {{3, 197, 1}, {1, 1, 1},   {5, 17, 1}, {2, 9, 70},  {1, 300, 3}, {4, 16, 1}, {2, 0, 3},
             {70, 49, 1}, {2, 259, 1}, {40, 7, 1}, {2, 256, 1}, {1, 288, 1}};

START_TEST(test_softmax)
{
    const struct Lines *s = &lines[_i];
    const VfkSoftmaxParams params = {s->outer, s->n, s->inner};
    size_t n = (size_t)(s->outer * s->n * s->inner);
    float *x = case_floats(n, 4);
    double *soft = case_buffer(n * 8), *logs = case_buffer(n * 8), *hard = case_buffer(n * 8);
    for (int64_t u = 0; u < s->outer * s->inner; u++) {
        int64_t at = u / s->inner * s->n * s->inner + u % s->inner, best = at;
        double sum = 0;
        for (int64_t i = 0; i < s->n; i++) {
            int64_t e = at + i * s->inner;
            x[e] *= 20;
            best = x[e] > x[best] ? e : best;
            sum += exp((double)x[e]);
        }
        for (int64_t i = 0; i < s->n; i++) {
            int64_t e = at + i * s->inner;
            soft[e] = exp((double)x[e]) / sum;
            logs[e] = (double)x[e] - log(sum);
            hard[e] = e == best;
        }
    }
    const struct {
        const char *name;
        const double *want;
    } op[] = {{"softmax_f32", soft}, {"log_softmax_f32", logs}, {"hardmax_f32", hard}};
    for (int k = 0; k < 3; k++) {
        Case c = {op[k].name, &params, {x}, {n * 4}, s->outer * s->inner, 0};
        void *out[CASE_MAX_OUT];
        case_run(&c, out);
        close_to(op[k].name, out[0] ? out[0] : x, op[k].want, n, 5e-7);
        if (n > 0) {
            case_in_place(&c, out[0]);
        }
        const VfkKernel *fused = case_find_fused(op[k].name);
        if (fused != NULL) {
            case_call(&c, fused, out, c.units);
            close_to(fused->symbol, out[0] ? out[0] : x, op[k].want, n, 5e-7);
        }
        case_free(out);
    }
    free(soft);
    free(logs);
    free(hard);
    free(x);
}
END_TEST

START_TEST(test_softmax_extremes)
{
    float x[4][3] = {{1e38f, 1e38f, -1e38f},
                     {-INFINITY, 0, -INFINITY},
                     {-INFINITY, -INFINITY, -INFINITY},
                     {0, NAN, 1}};
    VfkSoftmaxParams params = {4, 3, 1};
    Case c = {"softmax_f32", &params, {x}, {sizeof x}, 4, 0};
    void *out[CASE_MAX_OUT];
    case_run(&c, out);
    float want[6] = {0.5f, 0.5f, 0, 0, 1, 0};
    ck_assert_mem_eq(out[0], want, sizeof want);
    for (int i = 6; i < 12; i++) {
        ck_assert(isnan(((float *)out[0])[i]));
    }
    case_free(out);
}
END_TEST

START_TEST(test_log_softmax_extremes)
{
    float x[4][3] = {{-INFINITY, 0, -INFINITY},
                     {3e38f, -3e38f, -3e38f},
                     {-INFINITY, -INFINITY, -INFINITY},
                     {0, NAN, 1}};
    VfkSoftmaxParams params = {4, 3, 1};
    Case c = {"log_softmax_f32", &params, {x}, {sizeof x}, 4, 0};
    void *out[CASE_MAX_OUT];
    case_run(&c, out);
    float want[6] = {-INFINITY, 0, -INFINITY, 0, -INFINITY, -INFINITY};
    ck_assert_mem_eq(out[0], want, sizeof want);
    for (int i = 6; i < 12; i++) {
        ck_assert(isnan(((float *)out[0])[i]));
    }
    case_free(out);
}
END_TEST

/* Rows of x shifted far from 0, where a one-pass variance fails. */
START_TEST(test_layer_norm)
{
    enum { ROWS = 5 };
    int64_t n = (int64_t[]){197, 16, 1, 33}[_i];
    size_t total = (size_t)(ROWS * n);
    float *x = case_floats(total, 6), *scale = case_floats((size_t)n, 7);
    float *bias = case_floats((size_t)n, 8);
    double *want = case_buffer(total * 8), *rms = case_buffer(total * 8), mean[ROWS];
    for (int64_t r = 0; r < ROWS; r++) {
        double sum = 0, distance = 0, square = 0;
        for (int64_t i = 0; i < n; i++) {
            x[r * n + i] += 1000;
            sum += (double)x[r * n + i];
            square += (double)x[r * n + i] * (double)x[r * n + i];
        }
        mean[r] = sum / (double)n;
        for (int64_t i = 0; i < n; i++) {
            double d = (double)x[r * n + i] - mean[r];
            distance += d * d;
        }
        for (int64_t i = 0; i < n; i++) {
            double v = (double)x[r * n + i], s = (double)scale[i];
            want[r * n + i] = (v - mean[r]) / sqrt(distance / (double)n + 1e-3) * s +
                              (double)bias[i];
            rms[r * n + i] = v / sqrt(square / (double)n + 1e-3) * s;
        }
    }
    VfkRowNormParams params = {ROWS, n, 1e-3};
    Case c = {"layer_norm_f32", &params, {x, scale, bias}, {total * 4, ROWS * 4, ROWS * 4}, ROWS,
              0};
    void *out[CASE_MAX_OUT];
    case_run(&c, out);
    close_to("layer_norm", out[0], want, total, 1e-4);
    close_to("mean", out[1], mean, ROWS, 1e-6);
    c.out_bytes[1] = c.out_bytes[2] = 0;
    case_in_place(&c, out[0]);
    case_free(out);
    Case d = {"rms_norm_f32", &params, {x, scale}, {total * 4}, ROWS, 0};
    case_run(&d, out);
    close_to("rms_norm", out[0], rms, total, 1e-6);
    case_in_place(&d, out[0]);
    case_free(out);
    free(x);
    free(scale);
    free(bias);
    free(want);
    free(rms);
}
END_TEST

enum { BATCH = 2, CHANNELS = 6, INNER = 35, TOTAL = BATCH * CHANNELS * INNER };

/* Mean and variance of elements first, first + step, ...: runs of INNER. */
static void moments(const float *x, int64_t runs, int64_t step, double *mean, double *variance)
{
    double sum = 0, square = 0, n = (double)(runs * INNER);
    for (int64_t r = 0; r < runs; r++) {
        for (int64_t i = 0; i < INNER; i++) {
            double v = (double)x[r * step + i];
            sum += v;
            square += v * v;
        }
    }
    *mean = sum / n;
    *variance = square / n - sum / n * (sum / n);
}

START_TEST(test_channel_norms)
{
    float *x = case_floats(TOTAL, 9), *scale = case_floats(CHANNELS, 10);
    float *bias = case_floats(CHANNELS, 11), *mean = case_floats(CHANNELS, 12);
    float *variance = case_floats(CHANNELS, 13);
    double batch[TOTAL], instance[TOTAL], group[TOTAL], mvn[TOTAL];
    for (int64_t p = 0; p < BATCH * CHANNELS; p++) {
        int64_t c = p % CHANNELS, first = p / 3 * 3;
        double m, v, gm, gv, am, av;
        variance[c] = fabsf(variance[c]);
        moments(x + p * INNER, 1, 0, &m, &v);
        moments(x + first * INNER, 3, INNER, &gm, &gv);
        moments(x + c * INNER, BATCH, CHANNELS * INNER, &am, &av);
        for (int64_t i = p * INNER; i < (p + 1) * INNER; i++) {
            double e = (double)x[i], s = (double)scale[c], b = (double)bias[c];
            batch[i] = (e - (double)mean[c]) / sqrt((double)variance[c] + 1e-2) * s + b;
            instance[i] = (e - m) / sqrt(v + 1e-2) * s + b;
            group[i] = (e - gm) / sqrt(gv + 1e-2) * s + b;
            mvn[i] = (e - am) / (sqrt(av) + 1e-2);
        }
    }
    VfkChannelNormParams params = {BATCH, CHANNELS, INNER, 1e-2};
    VfkGroupNormParams groups = {BATCH, 2, CHANNELS, INNER, 0, 1e-2};
    const struct {
        Case c;
        const double *want;
    } all[] = {
        {{"batch_norm_f32", &params, {x, scale, bias, mean, variance}, {TOTAL * 4}, 12, 0}, batch},
        {{"instance_norm_f32", &params, {x, scale, bias}, {TOTAL * 4}, 12, 0}, instance},
        {{"mean_variance_norm_f32", &params, {x}, {TOTAL * 4}, CHANNELS, 0}, mvn},
        {{"group_norm_f32", &groups, {x, scale, bias}, {TOTAL * 4}, 4, 0}, group},
    };
    for (int k = 0; k < 4; k++) {
        void *out[CASE_MAX_OUT];
        case_run(&all[k].c, out);
        close_to(all[k].c.name, out[0], all[k].want, TOTAL, 2e-6);
        case_in_place(&all[k].c, out[0]);
        case_free(out);
    }
    free(x);
    free(scale);
    free(bias);
    free(mean);
    free(variance);
}
END_TEST

/* Rows of channels give the bits that planes of one row each do. */
START_TEST(test_batch_norm_rows)
{
    enum { ROWS = 5, WIDTH = 70, SIZE = ROWS * WIDTH };
    float *x = case_floats(SIZE, 14), *scale = case_floats(WIDTH, 15);
    float *bias = case_floats(WIDTH, 16), *mean = case_floats(WIDTH, 17);
    float *variance = case_floats(WIDTH, 18), *planes = case_buffer(SIZE * sizeof *planes);
    for (int i = 0; i < SIZE; i++) {
        variance[i % WIDTH] = fabsf(variance[i % WIDTH]);
        planes[i % WIDTH * ROWS + i / WIDTH] = x[i];
    }
    VfkChannelNormParams in_rows = {ROWS, WIDTH, 1, 1e-2}, in_planes = {1, WIDTH, ROWS, 1e-2};
    Case c = {"batch_norm_f32", &in_rows, {x, scale, bias, mean, variance}, {SIZE * 4}, SIZE, 0};
    Case d = {"batch_norm_f32", &in_planes, {planes, scale, bias, mean, variance}, {SIZE * 4},
              WIDTH, 0};
    void *out[CASE_MAX_OUT], *want[CASE_MAX_OUT];
    case_run(&c, out);
    case_run(&d, want);
    for (int i = 0; i < SIZE; i++) {
        ck_assert_mem_eq((float *)out[0] + i, (float *)want[0] + (i % WIDTH * ROWS + i / WIDTH), 4);
    }
    case_in_place(&c, out[0]);
    case_free(out);
    case_free(want);
    free(x);
    free(scale);
    free(bias);
    free(mean);
    free(variance);
    free(planes);
}
END_TEST

START_TEST(test_lp_norm)
{
    float x[] = {3, 0, -4, 0, 0, 0}; /* 3 x 2 along the first axis */
    double one[] = {3.0 / 7, 0, -4.0 / 7, 0, 0, 0}, two[] = {0.6, 0, -0.8, 0, 0, 0};
    VfkLpNormParams params = {1, 3, 2, _i + 1};
    Case c = {"lp_norm_f32", &params, {x}, {24}, 2, 0};
    void *out[CASE_MAX_OUT];
    case_run(&c, out);
    close_to("lp_norm", out[0], _i ? two : one, 6, 1e-7);
    case_free(out);
}
END_TEST

START_TEST(test_lrn)
{
    float x[10];
    double want[10];
    for (int i = 0; i < 10; i++) {
        x[i] = (float)(i + 1);
    }
    for (int c = 0; c < 5; c++) {
        for (int i = 0; i < 2; i++) {
            double sum = 0;
            for (int k = c - 1; k <= c + 2; k++) { /* size 4: one before, two behind */
                sum += k < 0 || k > 4 ? 0 : (double)(x[2 * k + i] * x[2 * k + i]);
            }
            want[2 * c + i] = (double)x[2 * c + i] / pow(1 + 0.5 / 4 * sum, 0.75);
        }
    }
    VfkLrnParams params = {1, 5, 2, 4, 0.5, 0.75, 1};
    Case c = {"lrn_f32", &params, {x}, {sizeof x}, 5, 0};
    void *out[CASE_MAX_OUT];
    case_run(&c, out);
    close_to("lrn", out[0], want, 10, 1e-6);
    case_free(out);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("kernels/norm");
    case_add(suite, "softmax", test_softmax, (int)(sizeof lines / sizeof lines[0]));
    case_add(suite, "softmax extremes", test_softmax_extremes, 1);
    case_add(suite, "log_softmax extremes", test_log_softmax_extremes, 1);
    case_add(suite, "layer norm", test_layer_norm, 4);
    case_add(suite, "channels", test_channel_norms, 1);
    case_add(suite, "rows of channels", test_batch_norm_rows, 1);
    case_add(suite, "lp norm", test_lp_norm, 2);
    case_add(suite, "lrn", test_lrn, 1);
    return suite;
}

VF_CHECK_MAIN(make_suite)
