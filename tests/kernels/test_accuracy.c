/* f32 kernels against double: the errors on random numbers, held against docs/accuracy.md.
 *
 * VF_BLESS=1 writes that page from what is measured. The numbers are the same in every run; the
 * double functions of another C library may move them by a little, for which SLACK is allowed.
 */
#include "tests/support/check_main.h"

#include <stdio.h>

#include "runtime/kernels/binary.h"
#include "runtime/kernels/map.h"
#include "runtime/kernels/matmul.h"
#include "runtime/kernels/norm.h"
#include "runtime/kernels/reduce.h"
#include "runtime/kernels/scan.h"
#include "runtime/kernels/softmax.h"
#include "tests/kernels/kernel_case.h"
#include "tests/kernels/map_reference.h"

enum { ROWS = 64, LENGTH = 1000, COUNT = ROWS * LENGTH };
static const double SLACK = 0.02; /* units of the last place */

/* What one kernel is tried on. `fill` computes the results in double from x, which is ROWS x
 * LENGTH, and y; both are in [low, high). */
typedef struct Subject {
    const char *kernel;
    const char *about; /* for the page */
    double low, high;
    double (*map)(double);
    void (*fill)(const float *x, const float *y, double *want);
    void (*call)(const float *x, const float *y, float *got);
    int n_row;    /* results in a row; 0: each by itself */
} Subject;

static void call_kernel(const char *name, const void *params, const void *const in[5],
                        size_t scratch, int64_t units, float *got)
{
    Case c = {name, params, {in[0], in[1], in[2], in[3], in[4]}, {0}, units, scratch};
    void *out[CASE_MAX_OUT] = {got, NULL, NULL};
    const VfkKernel *kernel = vfk_kernel_find(name, 1);
    ck_assert_msg(kernel != NULL, "no kernel %s", name);
    case_call(&c, kernel, out, units);
}

/* --- two operands --- */

#define BINARY(op, expression) \
    static void want_##op(const float *x, const float *y, double *want) \
    { \
        for (int i = 0; i < COUNT; i++) { \
            const double p = (double)x[i], q = (double)y[i]; \
            want[i] = (expression); \
        } \
    } \
    static void call_##op(const float *x, const float *y, float *got) \
    { \
        const VfkBinaryParams params = {1, {COUNT}, {1}, {1}}; \
        call_kernel(#op "_f32", &params, (const void *[5]){x, y}, 0, COUNT, got); \
    }

BINARY(add, p + q)
BINARY(sub, p - q)
BINARY(mul, p * q)
BINARY(div, p / q)
BINARY(pow, pow(p, q))

/* --- rows to a number --- */

#define REDUCTION(op, step, result) \
    static void want_##op(const float *x, const float *y, double *want) \
    { \
        (void)y; \
        for (int r = 0; r < ROWS; r++) { \
            long double a = 0; \
            for (int i = 0; i < LENGTH; i++) { \
                const long double v = (long double)x[r * LENGTH + i]; \
                a += (step); \
            } \
            want[r] = (double)(result); \
        } \
    } \
    static void call_##op(const float *x, const float *y, float *got) \
    { \
        const VfkReduceParams params = {1, {ROWS}, {LENGTH}, 1, {LENGTH}, {1}}; \
        call_kernel(#op "_f32", &params, (const void *[5]){x, y}, 0, ROWS, got); \
    }

REDUCTION(reduce_sum, v, a)
REDUCTION(reduce_mean, v, a / LENGTH)
REDUCTION(reduce_l1, fabsl(v), a)
REDUCTION(reduce_l2, v * v, sqrtl(a))
REDUCTION(reduce_sum_square, v * v, a)
REDUCTION(reduce_log_sum, v, logl(a))
REDUCTION(reduce_log_sum_exp, expl(v), logl(a))

/* --- rows to rows --- */

#define ROW_LOOP(statistics, result) \
    (void)y; \
    for (int r = 0; r < ROWS; r++) { \
        const float *row = x + r * LENGTH; \
        long double a = 0, b = 0; \
        statistics \
        for (int i = 0; i < LENGTH; i++) { \
            const long double v = (long double)row[i]; \
            want[r * LENGTH + i] = (double)(result); \
        } \
    }

#define OVER_ROW(step) \
    for (int i = 0; i < LENGTH; i++) { \
        const long double v = (long double)row[i]; \
        step; \
    }

static void want_softmax(const float *x, const float *y, double *want)
{
    ROW_LOOP(OVER_ROW(a += expl(v)), expl(v) / a + b)
}

static void want_log_softmax(const float *x, const float *y, double *want)
{
    ROW_LOOP(OVER_ROW(a += expl(v)), v - logl(a) + b)
}

static void want_layer_norm(const float *x, const float *y, double *want)
{
    ROW_LOOP(OVER_ROW(a += v / LENGTH) OVER_ROW(b += (v - a) * (v - a) / LENGTH),
             (v - a) / sqrtl(b + 1e-5L))
}

static void want_rms_norm(const float *x, const float *y, double *want)
{
    ROW_LOOP(OVER_ROW(a += v * v / LENGTH), v / sqrtl(a + 1e-5L) + b)
}

static void want_lp_norm(const float *x, const float *y, double *want)
{
    ROW_LOOP(OVER_ROW(a += v * v), v / sqrtl(a) + b)
}

static void want_cumsum(const float *x, const float *y, double *want)
{
    ROW_LOOP(, (a += v) + b)
}

#define ROW_CALL(op, type, ...) \
    static void call_##op(const float *x, const float *y, float *got) \
    { \
        const type params = {__VA_ARGS__}; \
        (void)y; \
        call_kernel(#op "_f32", &params, (const void *[5]){x}, 0, ROWS, got); \
    }

ROW_CALL(softmax, VfkSoftmaxParams, ROWS, LENGTH, 1)
ROW_CALL(log_softmax, VfkSoftmaxParams, ROWS, LENGTH, 1)
ROW_CALL(layer_norm, VfkRowNormParams, ROWS, LENGTH, 1e-5)
ROW_CALL(rms_norm, VfkRowNormParams, ROWS, LENGTH, 1e-5)
ROW_CALL(lp_norm, VfkLpNormParams, ROWS, LENGTH, 1, 2)
ROW_CALL(cumsum, VfkCumulateParams, ROWS, LENGTH, 1, 0, 0)

/* --- products: ROWS x LENGTH times LENGTH x ROWS --- */

static void want_matmul(const float *x, const float *y, double *want)
{
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < ROWS; j++) {
            long double sum = 0;
            for (int k = 0; k < LENGTH; k++)
                sum += (long double)x[i * LENGTH + k] * (long double)y[k * ROWS + j];
            want[i * ROWS + j] = (double)sum;
        }
    }
}

static void call_matmul(const float *x, const float *y, float *got)
{
    const VfkMatmulParams params = {.m = ROWS, .n = ROWS, .k = LENGTH, .lda = LENGTH, .ldb = ROWS,
                                    .ldc = ROWS, .block_rows = ROWS, .alpha = 1};
    call_kernel("matmul_f32", &params, (const void *[5]){x, y},
                vfk_matmul_scratch_bytes(&params, 4), 1, got);
}

#define MAP(op, f, low, high) {#op, "", low, high, f, NULL, NULL, 0}
#define EACH(op, low, high) {#op, "", low, high, NULL, want_##op, call_##op, 0}
#define SUM(op, about, low, high) {#op, about, low, high, NULL, want_##op, call_##op, ROWS}
#define ROW(op, low, high, n_row) \
    {#op, "rows of 1000", low, high, NULL, want_##op, call_##op, n_row}

static const Subject subject[] = {
    MAP(abs, fabs, -9, 9), MAP(neg, ref_neg, -9, 9), MAP(sign, ref_sign, -2, 2),
    MAP(relu, ref_relu, -9, 9), MAP(floor, floor, -9, 9), MAP(ceil, ceil, -9, 9),
    MAP(round, rint, -9, 9), MAP(sqrt, sqrt, 0, 1e6), MAP(reciprocal, ref_reciprocal, 0.01, 100),
    MAP(exp, exp, -87, 88), MAP(log, log, 0.001, 1000), MAP(sin, sin, -30, 30),
    MAP(cos, cos, -30, 30), MAP(tan, tan, -1.5, 1.5), MAP(asin, asin, -1, 1),
    MAP(acos, acos, -1, 1), MAP(atan, atan, -30, 30), MAP(sinh, sinh, -9, 9),
    MAP(cosh, cosh, -9, 9), MAP(asinh, asinh, -9, 9), MAP(acosh, acosh, 1, 9),
    MAP(atanh, atanh, -0.99, 0.99), MAP(sigmoid, ref_sigmoid, -80, 80), MAP(tanh, tanh, -12, 12),
    MAP(erf, erf, -6, 6), MAP(gelu, ref_gelu, -3, 9), MAP(gelu, ref_gelu, -6, -3),
    MAP(gelu_tanh, ref_gelu_tanh, -3, 9), MAP(softplus, ref_softplus, -80, 80),
    MAP(softsign, ref_softsign, -9, 9), MAP(silu, ref_silu, -50, 50),
    MAP(mish, ref_mish, -50, 50), MAP(elu, ref_elu, -50, 9), MAP(selu, ref_selu, -50, 9),
    MAP(celu, ref_celu, -50, 9), MAP(leaky_relu, ref_leaky, -9, 9),
    MAP(hard_sigmoid, ref_hard_sigmoid, 0, 3), MAP(hard_swish, ref_hard_swish, -2.9, 9),
    EACH(add, -9, 9), EACH(sub, -9, 9), EACH(mul, -9, 9), EACH(div, 0.1, 9), EACH(pow, 0.1, 9),
    SUM(reduce_sum, "1000 of one sign", 0, 1), SUM(reduce_sum, "1000 of both", -1, 1),
    SUM(reduce_mean, "1000", 0, 1), SUM(reduce_l1, "1000", -1, 1), SUM(reduce_l2, "1000", -1, 1),
    SUM(reduce_sum_square, "1000", -1, 1), SUM(reduce_log_sum, "1000", 0, 1),
    SUM(reduce_log_sum_exp, "1000", -9, 9),
    ROW(softmax, -9, 9, 0), ROW(softmax, -80, 0, 0), ROW(log_softmax, -9, 9, 0),
    ROW(layer_norm, -9, 9, LENGTH), ROW(layer_norm, 1000, 1001, LENGTH),
    ROW(rms_norm, -9, 9, 0), ROW(lp_norm, -9, 9, 0), ROW(cumsum, 0, 1, 0),
    {"matmul", "1000 products, both signs", -1, 1, NULL, want_matmul, call_matmul, ROWS},
    {"matmul", "1000 products, one sign", 0, 1, NULL, want_matmul, call_matmul, ROWS},
};

enum { N_SUBJECT = sizeof subject / sizeof subject[0] };

typedef struct Error {
    double most, mean; /* units of the last place */
} Error;

static void call_map(const Subject *s, const float *x, float *got)
{
    char name[64];
    snprintf(name, sizeof name, "%s_f32", s->kernel);
    const VfkMapParams params = {COUNT, 1.5, 0.25};
    call_kernel(name, &params, (const void *[5]){x}, 0, COUNT, got);
}

/* How many results there are: those that `want` was filled with. */
static int n_result(const Subject *s)
{
    if (s->fill == want_matmul)
        return ROWS * ROWS;
    return s->n_row == ROWS ? ROWS : COUNT;
}

/* The unit of result i: its own last place, or that of the largest of its row. */
static double unit_of(const Subject *s, const double *want, int i)
{
    double largest = fabs(want[i]);
    for (int k = 0, first = s->n_row > 0 ? i - i % s->n_row : 0; k < s->n_row; k++)
        largest = fmax(largest, fabs(want[first + k]));
    return last_place(largest);
}

static Error measure(const Subject *s)
{
    float *x = case_floats(COUNT, 3), *y = case_floats(COUNT, 5);
    float *got = case_buffer(COUNT * sizeof *got);
    double *want = case_buffer(COUNT * sizeof *want), unit = 0;
    Error error = {0, 0};
    for (int i = 0; i < COUNT; i++) {
        x[i] = (float)(s->low + (s->high - s->low) * ((double)x[i] + 1) / 2);
        y[i] = (float)(s->low + (s->high - s->low) * ((double)y[i] + 1) / 2);
        want[i] = s->map != NULL ? s->map((double)x[i]) : 0;
    }
    if (s->map != NULL) {
        call_map(s, x, got);
    } else {
        s->fill(x, y, want);
        s->call(x, y, got);
    }
    int n = n_result(s);
    for (int i = 0; i < n; i++) {
        if (i == 0 || s->n_row == 0 || i % s->n_row == 0)
            unit = unit_of(s, want, i);
        double off = fabs((double)got[i] - want[i]) / unit;
        error.most = fmax(error.most, off);
        error.mean += off / n;
    }
    free(x);
    free(y);
    free(got);
    free(want);
    return error;
}

/* --- the page --- */

static void row_text(const Subject *s, char *text, size_t size)
{
    snprintf(text, size, "| %s | %s%s%g to %g | %s |", s->kernel, s->about,
             s->about[0] != '\0' ? ", " : "", s->low, s->high,
             s->n_row > 0 ? "largest of the row" : "own");
}

static const char page_head[] =
    "# Accuracy\n\n"
    "Made by `VF_BLESS=1 kernels_test_accuracy`; the test holds the kernels to it.\n\n"
    "Float32 kernels against the same function in double (sums in long double), on 64,000 uniform\n"
    "random numbers of the range given (both operands, where there are two). Errors are in units\n"
    "of the last place (ULP) of the right result, or, where terms cancel, of the largest of the\n"
    "row; a correctly rounded result is within 0.5. Parameters: alpha 1.5, beta 0.25, epsilon\n"
    "1e-5. Softmax rounds the distance to the largest of the row, which shows in results that are\n"
    "that much smaller. All variants of a kernel give the same bits, but for fused multiply-add\n"
    "(matmul, conv, softmax, log_softmax, exp, log, sigmoid, tanh, erf, gelu, gelu_tanh, silu,\n"
    "softplus, mish, elu, selu, celu and the steps that fuse some of them) and BLAS in matmul and\n"
    "conv, whose errors are of the same size; the figures are those of the plain variants. 16-bit\n"
    "floats are computed in float32 and rounded once.\n\n"
    "Infinities and NaN give what the formula of the ONNX operator gives: gelu, silu, mish and\n"
    "hard_swish of -infinity are -infinity * 0, which is NaN, as are softsign of an infinity and\n"
    "a row of softmax that is -infinity throughout. Finite numbers, however large, give finite\n"
    "results where the function has them. Denormal numbers are not flushed to zero.\n\n"
    "| kernel | on | unit | largest error | mean error |\n"
    "| --- | --- | --- | --- | --- |\n";

/* Measured by the script it names, not here. */
static const char page_tail[] =
    "\n"
    "## Whole models\n"
    "\n"
    "`scripts/intermediates_table` runs models with `--save-all` and compares every result of\n"
    "a node with ONNX Runtime's (1.32, CPU, optimisations off). Over the 197 vision\n"
    "transformers of the test corpus: 41,362 results, none wrong (limit 1e-4 of the largest\n"
    "magnitude of the result), none with NaN. The worst relative error of a model is below\n"
    "1e-6 for 75 of them, below 1e-5 for 193, and 2.2e-5 at most:\n"
    "\n"
    "| model | results | worst relative error | in |\n"
    "| --- | --- | --- | --- |\n"
    "| t09_tinyvit_bnkept_op14 | 369 | 2.2e-05 | a mean of rows that cancels |\n"
    "| own_vit_repbn_convstem_bnkept_op13 | 103 | 2.1e-05 | erf |\n"
    "| slab_cswin_sla_repbn_op13 | 1279 | 1.8e-05 | a reciprocal of a sum |\n"
    "| slab_swin_sla_mixed_op14 | 335 | 1.2e-05 | erf |\n"
    "| the other 193 | 39,276 | 7.2e-06 | |\n";

static void write_page(const char *path)
{
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(page_head, file);
    for (int i = 0; i < N_SUBJECT; i++) {
        char text[200];
        Error error = measure(&subject[i]);
        row_text(&subject[i], text, sizeof text);
        fprintf(file, "%s %.2f | %.2f |\n", text, error.most, error.mean);
    }
    fputs(page_tail, file);
    ck_assert_int_eq(fclose(file), 0);
}

/* The largest error that the page tells for the subject. */
static double told_error(FILE *page, const Subject *s)
{
    char text[200], line[300];
    row_text(s, text, sizeof text);
    rewind(page);
    while (fgets(line, sizeof line, page) != NULL)
        if (strncmp(line, text, strlen(text)) == 0)
            return strtod(line + strlen(text), NULL);
    ck_abort_msg("docs/accuracy.md has no row '%s'", text);
    return 0;
}

START_TEST(errors_are_as_told)
{
    char path[600];
    const char *bless = getenv("VF_BLESS");
    snprintf(path, sizeof path, "%s/docs/accuracy.md", getenv("VITFOLD_SOURCE"));
    if (bless != NULL && strcmp(bless, "1") == 0)
        write_page(path);
    FILE *page = fopen(path, "r");
    ck_assert_msg(page != NULL, "no '%s'", path);
    for (int i = 0; i < N_SUBJECT; i++) {
        double told = told_error(page, &subject[i]);
        double most = measure(&subject[i]).most;
        ck_assert_msg(most <= told * 1.05 + SLACK, "%s: error of %g units, %g are told",
                      subject[i].kernel, most, told);
    }
    fclose(page);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("kernels/accuracy");
    TCase *tcase = tcase_create("errors");
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, errors_are_as_told);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
