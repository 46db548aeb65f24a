#include "tests/support/check_main.h"

#include "runtime/kernels/linear_attention.h"
#include "tests/kernels/kernel_case.h"

enum { BATCH = 2, HEADS = 3 };

/* is_turned: k is stored d x n, v dv x n, q d x m. */
static const struct Shape {
    int64_t m, n, d, dv, is_turned, relu_q, relu_k;
    double shift, factor;
} shape[] = {
    {1, 1, 1, 1, 0, 0, 0, 0.5, 1},       {196, 196, 64, 64, 0, 1, 1, 1e-6, 1},
    {197, 197, 64, 64, 1, 1, 1, 0.1, 2}, {31, 1600, 20, 33, 0, 1, 1, 0.25, 0.5},
    {15, 5, 33, 100, 1, 0, 1, 200, 1},     {7, 800, 70, 16, 1, 1, 0, 1e3, -3},
};

static VfkLinearAttentionParams params_of(const struct Shape *s)
{
    const int64_t turned = s->is_turned;
    VfkLinearAttentionParams p = {.m = s->m, .n = s->n, .d = s->d, .dv = s->dv, .batch_rank = 2,
                                  .batch_dim = {BATCH, HEADS}, .relu_q = s->relu_q,
                                  .relu_k = s->relu_k, .shift = s->shift, .factor = s->factor};
    p.q_batch[0] = HEADS * s->m * s->d;
    p.q_batch[1] = turned ? s->m * s->d : s->d;
    p.q_row = turned ? 1 : HEADS * s->d;
    p.q_col = turned ? s->m : 1;
    p.k_batch[0] = HEADS * s->n * s->d;
    p.k_batch[1] = turned ? s->n * s->d : s->d;
    p.k_row = turned ? 1 : HEADS * s->d;
    p.k_col = turned ? s->n : 1;
    p.v_batch[0] = HEADS * s->n * s->dv;
    p.v_batch[1] = turned ? s->n * s->dv : s->dv;
    p.v_row = turned ? 1 : HEADS * s->dv;
    p.v_col = turned ? s->n : 1;
    p.out_batch[0] = HEADS * s->m * s->dv;
    p.out_batch[1] = s->dv;
    p.out_row = HEADS * s->dv;
    return p;
}

static double relu_if(int64_t does, float x)
{
    return does && x < 0 ? 0 : (double)x;
}

/* Column c of row i, from the scores of the row; `size` is that of the terms. */
static double want_of(const VfkLinearAttentionParams *p, const float *q, const float *k,
                      const float *v, int64_t i, int64_t c, double *size)
{
    double sum = 0, divisor = p->shift;
    *size = 0;
    for (int64_t j = 0; j < p->n; j++) {
        double s = 0;
        for (int64_t x = 0; x < p->d; x++) {
            s += relu_if(p->relu_q, q[i * p->q_row + x * p->q_col]) *
                 relu_if(p->relu_k, k[j * p->k_row + x * p->k_col]);
        }
        sum += s * (double)v[j * p->v_row + c * p->v_col];
        *size += fabs(s * (double)v[j * p->v_row + c * p->v_col]);
        divisor += s;
    }
    *size *= fabs(p->factor / divisor);
    return p->factor * sum / divisor;
}

START_TEST(test_linear_attention)
{
    const struct Shape *s = &shape[_i];
    const VfkLinearAttentionParams p = params_of(s);
    float *q = case_floats((size_t)(BATCH * HEADS * s->m * s->d), 1);
    float *k = case_floats((size_t)(BATCH * HEADS * s->n * s->d), 2);
    float *v = case_floats((size_t)(BATCH * HEADS * s->n * s->dv), 3);
    Case c = {"linear_attention_f32", &p, {q, k, v},
              {(size_t)(BATCH * HEADS * s->m * s->dv) * 4}, vfk_linear_attention_units(&p),
              vfk_linear_attention_scratch_bytes(&p)};
    ck_assert_int_eq(c.units, BATCH * HEADS * ((s->dv + 31) / 32));
    void *out[CASE_MAX_OUT];
    case_run_close(&c, out, 0, 1e-4);
    for (int64_t u = 0; u < BATCH * HEADS * s->m * s->dv; u++) {
        const int64_t col = u % s->dv, row = u / s->dv % s->m, head = u / s->dv / s->m;
        const int64_t b = head / HEADS, h = head % HEADS;
        double size;
        const double want = want_of(&p, q + b * p.q_batch[0] + h * p.q_batch[1],
                                    k + b * p.k_batch[0] + h * p.k_batch[1],
                                    v + b * p.v_batch[0] + h * p.v_batch[1], row, col, &size);
        const float got = ((float *)out[0])[b * p.out_batch[0] + h * p.out_batch[1] +
                                            row * p.out_row + col];
        ck_assert_msg(fabs((double)got - want) <= 1e-5 * (1 + size), "%g, not %g", (double)got,
                      want);
    }
    case_free(out);
    free(q);
    free(k);
    free(v);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("kernels/linear_attention");
    case_add(suite, "linear_attention", test_linear_attention,
             (int)(sizeof shape / sizeof shape[0]));
    return suite;
}

VF_CHECK_MAIN(make_suite)
