#include "tests/support/check_main.h"

#include "runtime/kernels/attention.h"
#include "tests/kernels/kernel_case.h"

enum { BATCH = 2, HEADS = 3 };

/* Which operands differ from plain rows of B x S x H x D. */
enum {
    KEYS_TURNED = 1,  /* k is stored d x n */
    ONE_KEY_HEAD = 2, /* k and v are those of all heads */
    QUERIES_TURNED = 4,
    VALUES_TURNED = 8
};
/* A bias: none, whole, of each head, of each batch, of each query, of each key, one number. */
enum { NO_BIAS, WHOLE, BY_HEAD, BY_BATCH, BY_QUERY, BY_KEY, ONE };

static const struct Shape {
    int64_t m, n, d, dv, function, layout, bias, bias2;
    double scale, shift, factor;
} shape[] = {
    {1, 1, 1, 1, VFK_ATTEND_SOFTMAX, 0, NO_BIAS, NO_BIAS, 1, 0, 1},
    {7, 1, 33, 5, VFK_ATTEND_SOFTMAX, 0, WHOLE, NO_BIAS, 0.5, 0, 1},
    {1, 49, 33, 33, VFK_ATTEND_SOFTMAX, KEYS_TURNED, BY_KEY, NO_BIAS, 0.2, 0.25, 2},
    {49, 49, 32, 32, VFK_ATTEND_SOFTMAX, 0, BY_HEAD, BY_BATCH, 0.2, 0, 1},
    {197, 197, 64, 64, VFK_ATTEND_SOFTMAX, 0, NO_BIAS, NO_BIAS, 0.125, 0, 1},
    {53, 31, 3, 17, VFK_ATTEND_SOFTMAX, ONE_KEY_HEAD, BY_QUERY, ONE, 1, 0, 1},
    {15, 385, 20, 40, VFK_ATTEND_SOFTMAX, QUERIES_TURNED, WHOLE, BY_KEY, 0.3, 0, 1},
    {29, 1000, 7, 9, VFK_ATTEND_SOFTMAX, VALUES_TURNED, BY_HEAD, NO_BIAS, 1, 0, 0.5},
    {103, 800, 200, 200, VFK_ATTEND_SOFTMAX, KEYS_TURNED, BY_BATCH, NO_BIAS, 0.1, 0, 1},
    {5, 17, 768, 3, VFK_ATTEND_SOFTMAX, 0, NO_BIAS, NO_BIAS, 0.05, 0, 1},
    {49, 50, 16, 16, VFK_ATTEND_RELU, 0, WHOLE, NO_BIAS, 0.25, 0, 0.02},
    {20, 900, 16, 24, VFK_ATTEND_RELU, 0, NO_BIAS, NO_BIAS, 0.25, 0.125, 1.0 / 900},
    {20, 900, 16, 24, VFK_ATTEND_SIGMOID, 0, BY_HEAD, BY_KEY, 0.25, -4, 1},
    {9, 12, 8, 8, VFK_ATTEND_NONE, KEYS_TURNED, NO_BIAS, NO_BIAS, 0.5, 0, 1},
};

static int64_t ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static void set_bias(int64_t kind, int64_t m, int64_t n, int64_t *batch, int64_t *row,
                     int64_t *col)
{
    const int64_t by_head = kind == WHOLE || kind == BY_HEAD;
    batch[1] = by_head ? m * n : 0;
    batch[0] = kind == WHOLE ? HEADS * m * n : kind == BY_BATCH ? m * n : 0;
    *row = kind == BY_QUERY ? 1 : kind == BY_KEY || kind == ONE ? 0 : n;
    *col = kind == BY_QUERY || kind == ONE ? 0 : 1;
}

static VfkAttentionParams params_of(const struct Shape *s)
{
    VfkAttentionParams p = {.m = s->m, .n = s->n, .d = s->d, .dv = s->dv, .batch_rank = 2,
                            .batch_dim = {BATCH, HEADS}, .function = s->function,
                            .scale = s->scale, .shift = s->shift, .factor = s->factor};
    const int64_t heads = s->layout & ONE_KEY_HEAD ? 1 : HEADS;
    p.q_batch[0] = s->m * HEADS * s->d;
    p.q_batch[1] = s->layout & QUERIES_TURNED ? s->m * s->d : s->d;
    p.q_row = s->layout & QUERIES_TURNED ? 1 : HEADS * s->d;
    p.q_col = s->layout & QUERIES_TURNED ? s->m : 1;
    p.k_batch[0] = s->n * heads * s->d;
    p.k_batch[1] = heads == 1 ? 0 : s->layout & KEYS_TURNED ? s->n * s->d : s->d;
    p.k_row = s->layout & KEYS_TURNED ? 1 : heads * s->d;
    p.k_col = s->layout & KEYS_TURNED ? s->n : 1;
    p.v_batch[0] = s->n * heads * s->dv;
    p.v_batch[1] = heads == 1 ? 0 : s->layout & VALUES_TURNED ? s->n * s->dv : s->dv;
    p.v_row = s->layout & VALUES_TURNED ? 1 : heads * s->dv;
    p.v_col = s->layout & VALUES_TURNED ? s->n : 1;
    p.out_batch[0] = s->m * HEADS * s->dv;
    p.out_batch[1] = s->dv;
    p.out_row = HEADS * s->dv;
    set_bias(s->bias, s->m, s->n, p.bias_batch, &p.bias_row, &p.bias_col);
    set_bias(s->bias2, s->m, s->n, p.bias2_batch, &p.bias2_row, &p.bias2_col);
    p.block_rows = vfk_attention_block_rows(&p);
    return p;
}

static double function_of(int64_t function, double x)
{
    return function == VFK_ATTEND_RELU ? fmax(x, 0) : function == VFK_ATTEND_SIGMOID
                                             ? 1 / (1 + exp(-x)) : x;
}

/* The weights of query i in batch b, head h. */
static void weights_of(const VfkAttentionParams *p, const float *const in[5], int64_t b, int64_t h,
                       int64_t i, double *w)
{
    const float *q = in[0] + b * p->q_batch[0] + h * p->q_batch[1] + i * p->q_row;
    const float *k = in[1] + b * p->k_batch[0] + h * p->k_batch[1];
    double most = -INFINITY, sum = 0;
    for (int64_t j = 0; j < p->n; j++) {
        double s = 0;
        for (int64_t c = 0; c < p->d; c++) {
            s += (double)q[c * p->q_col] * (double)k[j * p->k_row + c * p->k_col];
        }
        w[j] = p->scale * s + p->shift;
        if (in[3]) {
            w[j] += (double)in[3][b * p->bias_batch[0] + h * p->bias_batch[1] + i * p->bias_row +
                                  j * p->bias_col];
        }
        if (in[4]) {
            w[j] += (double)in[4][b * p->bias2_batch[0] + h * p->bias2_batch[1] +
                                  i * p->bias2_row + j * p->bias2_col];
        }
        most = fmax(most, w[j]);
    }
    const int is_soft = p->function == VFK_ATTEND_SOFTMAX;
    for (int64_t j = 0; j < p->n; j++) {
        w[j] = is_soft ? exp(w[j] - most) : function_of(p->function, w[j]);
        sum += w[j];
    }
    for (int64_t j = 0; j < p->n; j++) {
        w[j] *= p->factor / (is_soft ? sum : 1);
    }
}

static void check_head(const VfkAttentionParams *p, const float *const in[5], const float *out,
                       int64_t b, int64_t h, double *w)
{
    const float *v = in[2] + b * p->v_batch[0] + h * p->v_batch[1];
    for (int64_t i = 0; i < p->m; i++) {
        weights_of(p, in, b, h, i, w);
        for (int64_t c = 0; c < p->dv; c++) {
            double want = 0, size = 0;
            for (int64_t j = 0; j < p->n; j++) {
                const double term = w[j] * (double)v[j * p->v_row + c * p->v_col];
                want += term;
                size += fabs(term);
            }
            const float got = out[b * p->out_batch[0] + h * p->out_batch[1] + i * p->out_row + c];
            ck_assert_msg(fabs((double)got - want) <= 1e-5 * (1 + size),
                          "head %d row %d column %d is %g, not %g", (int)h, (int)i, (int)c,
                          (double)got, want);
        }
    }
}

START_TEST(test_attention)
{
    const struct Shape *s = &shape[_i];
    const VfkAttentionParams p = params_of(s);
    float *q = case_floats((size_t)(BATCH * HEADS * s->m * s->d), 1);
    float *k = case_floats((size_t)(BATCH * HEADS * s->n * s->d), 2);
    float *v = case_floats((size_t)(BATCH * HEADS * s->n * s->dv), 3);
    float *bias = case_floats((size_t)(BATCH * HEADS * s->m * s->n), 4);
    float *bias2 = case_floats((size_t)(BATCH * HEADS * s->m * s->n), 5);
    Case c = {"attention_f32", &p,
              {q, k, v, s->bias ? bias : NULL, s->bias2 ? bias2 : NULL},
              {(size_t)(BATCH * HEADS * s->m * s->dv) * 4}, vfk_attention_units(&p),
              vfk_attention_scratch_bytes(&p)};
    ck_assert_int_eq(c.units, BATCH * HEADS * ceil_div(s->m, p.block_rows));
    void *out[CASE_MAX_OUT];
    case_run_close(&c, out, 0, 1e-4);
    const float *in[5] = {q, k, v, c.in[3], c.in[4]};
    double *w = case_buffer((size_t)s->n * sizeof(double));
    for (int64_t b = 0; b < BATCH; b++) {
        for (int64_t h = 0; h < HEADS; h++) {
            check_head(&p, in, out[0], b, h, w);
        }
    }
    case_free(out);
    free(w);
    free(q);
    free(k);
    free(v);
    free(bias);
    free(bias2);
}
END_TEST

/* Rows of one query: scores are those of the bias alone, value j is j. */
static float attend_bias(const float *bias, int64_t n)
{
    const float zero = 0;
    float *v = case_buffer((size_t)n * sizeof(float));
    for (int64_t j = 0; j < n; j++) {
        v[j] = (float)j;
    }
    VfkAttentionParams p = {.m = 1, .n = n, .d = 1, .dv = 1, .v_row = 1, .v_col = 1,
                            .bias_col = 1, .scale = 1, .factor = 1, .block_rows = 1};
    Case c = {"attention_f32", &p, {&zero, &zero, v, bias}, {sizeof(float)}, 1,
              vfk_attention_scratch_bytes(&p)};
    void *out[CASE_MAX_OUT];
    case_run(&c, out);
    const float result = *(float *)out[0];
    case_free(out);
    free(v);
    return result;
}

/* Masked keys, in one block and over many. */
START_TEST(test_masks)
{
    static const int64_t size[] = {3, 16, 50, 385, 1000};
    const int64_t n = size[_i];
    float *bias = case_buffer((size_t)n * sizeof(float));
    for (int64_t seen = 0; seen < n; seen += n - 1) {
        for (int64_t j = 0; j < n; j++) {
            bias[j] = j == seen ? -1e30f : -INFINITY;
        }
        ck_assert(attend_bias(bias, n) == (float)seen);
        bias[seen] = -INFINITY;
        ck_assert(isnan(attend_bias(bias, n)));
        bias[seen] = NAN;
        ck_assert(isnan(attend_bias(bias, n)));
        bias[seen] = INFINITY;
        ck_assert(isnan(attend_bias(bias, n)));
    }
    for (int64_t j = 0; j < n; j++) {
        bias[j] = j == n - 1 ? 1e38f : -1e38f;
    }
    ck_assert(attend_bias(bias, n) == (float)(n - 1));
    free(bias);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("kernels/attention");
    case_add(suite, "attention", test_attention, (int)(sizeof shape / sizeof shape[0]));
    case_add(suite, "masks", test_masks, 5);
    return suite;
}

VF_CHECK_MAIN(make_suite)
