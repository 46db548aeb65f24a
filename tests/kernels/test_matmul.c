#include "tests/support/check_main.h"

#include "runtime/kernels/matmul.h"
#include "tests/kernels/kernel_case.h"

/* Sizes around the tile and block borders. block: rows of a unit. */
static const struct Shape {
    int64_t m, n, k, block;
    int trans_a, trans_b, bias; /* bias: 0 none, 1 row, 2 column, 3 matrix, 4 one element */
    double alpha, beta;
} shape[] = {
    {1, 1, 1, 1, 0, 0, 0, 1, 0},       {1, 67, 33, 1, 0, 0, 1, 1, 1},
    {1, 67, 33, 1, 1, 1, 1, 0.5, 2},   {67, 1, 33, 67, 0, 0, 2, 1, 1},
    {67, 1, 33, 10, 1, 1, 2, 1, -1},   {5, 7, 3, 2, 0, 1, 3, -2, 0.5},
    {6, 32, 256, 6, 0, 0, 0, 1, 0},    {7, 33, 257, 3, 1, 0, 1, 1, 1},
    {97, 65, 130, 64, 0, 1, 4, 1, 1},  {101, 517, 31, 101, 1, 1, 0, 1, 0},
    {13, 513, 600, 13, 0, 0, 1, 1, 1}, {4, 5, 0, 4, 0, 0, 1, 1, 2},
    {0, 5, 3, 4, 0, 0, 0, 1, 0},       {4, 0, 3, 4, 0, 0, 0, 1, 0},
};

static double element(const double *x, int64_t ld, int trans, int64_t i, int64_t j)
{
    return trans ? x[j * ld + i] : x[i * ld + j];
}

static VfkMatmulParams params_of(const struct Shape *s, int64_t extra)
{
    VfkMatmulParams p = {.m = s->m, .n = s->n, .k = s->k, .trans_a = s->trans_a,
                         .trans_b = s->trans_b, .block_rows = s->block, .alpha = s->alpha,
                         .beta = s->beta};
    p.lda = (s->trans_a ? s->m : s->k) + extra;
    p.ldb = (s->trans_b ? s->k : s->n) + extra;
    p.ldc = s->n;
    p.lda += p.lda == 0;
    p.ldb += p.ldb == 0;
    p.ldc += p.ldc == 0;
    p.bias_row = s->bias == 2 ? 1 : s->bias == 3 ? s->n : 0;
    p.bias_col = s->bias == 1 || s->bias == 3;
    return p;
}

/* Rows stand `3` elements further apart than they are long. */
START_TEST(test_product)
{
    const struct Shape *s = &shape[_i];
    VfkMatmulParams p = params_of(s, 3);
    size_t na = (size_t)((s->trans_a ? s->k : s->m) * p.lda + 1);
    size_t nb = (size_t)((s->trans_b ? s->n : s->k) * p.ldb + 1);
    size_t nc = (size_t)(s->m * s->n), n_bias = (size_t)(s->m * s->n + s->m + s->n + 1);
    double *a = case_doubles(na, 1), *b = case_doubles(nb, 2), *bias = case_doubles(n_bias, 3);
    float *a32 = case_floats(na, 1), *b32 = case_floats(nb, 2), *bias32 = case_floats(n_bias, 3);
    int64_t units = (s->m + s->block - 1) / s->block;
    Case c64 = {"matmul_f64", &p, {a, b, s->bias ? bias : NULL}, {nc * 8}, units,
                vfk_matmul_scratch_bytes(&p, 8)};
    Case c32 = {"matmul_f32", &p, {a32, b32, s->bias ? bias32 : NULL}, {nc * 4}, units,
                vfk_matmul_scratch_bytes(&p, 4)};
    void *out64[CASE_MAX_OUT], *out32[CASE_MAX_OUT];
    case_run_close(&c64, out64, 1, 1e-12);
    case_run_close(&c32, out32, 0, 2e-4);
    for (int64_t i = 0; i < s->m; i++) {
        for (int64_t j = 0; j < s->n; j++) {
            double sum = 0, shift = bias[i * p.bias_row + j * p.bias_col];
            for (int64_t k = 0; k < s->k; k++) {
                sum += element(a, p.lda, s->trans_a, i, k) * element(b, p.ldb, s->trans_b, k, j);
            }
            double want = s->alpha * sum + (s->bias ? s->beta * shift : 0);
            ck_assert(fabs(((double *)out64[0])[i * s->n + j] - want) <= 1e-12);
            ck_assert(fabs((double)((float *)out32[0])[i * s->n + j] - want) <= 2e-4);
        }
    }
    case_free(out64);
    case_free(out32);
    free(a);
    free(b);
    free(bias);
    free(a32);
    free(b32);
    free(bias32);
}
END_TEST

/* Heads inside B x S x H x D tensors, without any transpose: scores = q k^T per head. */
START_TEST(test_heads)
{
    enum { B = 2, S = 11, H = 3, D = 5, N = B * S * H * D };
    float *q = case_floats(N, 4), *k = case_floats(N, 5);
    VfkMatmulParams p = {.m = S, .n = S, .k = D, .trans_b = 1, .lda = H * D, .ldb = H * D,
                         .ldc = S, .batch_rank = 2, .batch_dim = {B, H},
                         .a_batch = {S * H * D, D}, .b_batch = {S * H * D, D},
                         .c_batch = {H * S * S, S * S}, .block_rows = 4, .alpha = 1};
    Case c = {"matmul_f32", &p, {q, k}, {B * H * S * S * 4}, B * H * 3,
              vfk_matmul_scratch_bytes(&p, 4)};
    void *out[CASE_MAX_OUT];
    case_run_close(&c, out, 0, 1e-5);
    for (int u = 0; u < B * H * S * S; u++) {
        int b = u / (H * S * S), h = u / (S * S) % H, i = u / S % S, j = u % S;
        double sum = 0;
        for (int d = 0; d < D; d++) {
            sum += (double)q[((b * S + i) * H + h) * D + d] *
                   (double)k[((b * S + j) * H + h) * D + d];
        }
        ck_assert(fabs((double)((float *)out[0])[u] - sum) <= 1e-5);
    }
    case_free(out);
    free(q);
    free(k);
}
END_TEST

START_TEST(test_integers)
{
    int32_t a[] = {1, 2, 3, INT32_MAX}, b[] = {5, 6, 7, 8};
    int32_t want[] = {19, 22, 15 - 7 + INT32_MIN, 18 - 8};
    VfkMatmulParams p = {.m = 2, .n = 2, .k = 2, .lda = 2, .ldb = 2, .ldc = 2, .block_rows = 1};
    Case c = {"matmul_i32", &p, {a, b}, {16}, 2, 0};
    void *out[CASE_MAX_OUT];
    case_run(&c, out);
    ck_assert_mem_eq(out[0], want, sizeof want);
    case_free(out);
    uint8_t x[] = {0, 255, 10, 20}, x_zero[] = {128, 10};
    int8_t y[] = {-128, 127, 1, 2}, y_zero[] = {1, -1};
    int32_t q[] = {-128 * -129 + 0, -128 * 128 + 127 * 3, 0, 10 * 3};
    VfkMatmulIntegerParams i = {.m = 2, .n = 2, .k = 2, .lda = 2, .ldb = 2, .ldc = 2,
                                .a_zero_stride = 1, .b_zero_stride = 1, .block_rows = 2};
    Case d = {"matmul_integer_u8_i8", &i, {x, y, x_zero, y_zero}, {16}, 1, 0};
    case_run(&d, out);
    ck_assert_mem_eq(out[0], q, sizeof q);
    case_free(out);
}
END_TEST

static Suite *make_suite(void)
{
    vfk_blas_single_thread();
    Suite *suite = suite_create("kernels/matmul");
    case_add(suite, "product", test_product, (int)(sizeof shape / sizeof shape[0]));
    case_add(suite, "heads", test_heads, 1);
    case_add(suite, "integers", test_integers, 1);
    return suite;
}

VF_CHECK_MAIN(make_suite)
