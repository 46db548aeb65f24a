/* linear_f32 against the steps that it replaces, bit for bit and in every variant, and those
 * against sums in double. */
#include "tests/support/check_main.h"

#include "runtime/kernels/linear.h"
#include "runtime/kernels/map.h"
#include "runtime/kernels/matmul.h"
#include "runtime/kernels/norm.h"
#include "tests/kernels/kernel_case.h"

enum { BIAS = 1, SCALE = 2, ADD = 4, ADD_ROW = 8 };

/* Sizes around the borders of tiles, groups and blocks of rows and of k. */
static const struct Shape {
    int64_t m, n, k;
    VfkAct act;
    int with;
    double alpha;
} shape[] = {
    {1, 1, 1, VFK_ACT_NONE, 0, 1},
    {1, 1000, 192, VFK_ACT_NONE, BIAS, 1},
    {3, 33, 7, VFK_ACT_RELU, BIAS, 1},
    {14, 32, 16, VFK_ACT_NONE, ADD, 1},
    {15, 31, 769, VFK_ACT_GELU, BIAS | ADD, 1},
    {29, 65, 768, VFK_ACT_GELU_TANH, BIAS | SCALE | ADD, 1},
    {197, 48, 1600, VFK_ACT_NONE, BIAS | SCALE | ADD_ROW, 0.125},
    {225, 17, 40, VFK_ACT_SILU, BIAS, 1},
    {448, 5, 3, VFK_ACT_SIGMOID, SCALE, 2},
    {7, 16, 12, VFK_ACT_TANH, 0, 1},
    {6, 24, 12, VFK_ACT_HARD_SWISH, BIAS, 1},
    {6, 24, 12, VFK_ACT_MISH, BIAS, 1},
    {5, 9, 0, VFK_ACT_NONE, BIAS, 1},
    {30, 64, 1600, VFK_ACT_NONE, BIAS | ADD, 1},
    {30, 48, 800, VFK_ACT_NONE, 0, 1},
    {17, 64, 1600, VFK_ACT_GELU, BIAS, 1},
    {17, 37, 1600, VFK_ACT_NONE, BIAS | ADD, 1},
};

/* Map kernels by VfkAct. */
static const char *const act_name[VFK_ACT_COUNT] = {
    NULL,       "relu_f32",    "gelu_f32", "gelu_tanh_f32",  "silu_f32",
    "sigmoid_f32", "tanh_f32", "hard_swish_f32", "mish_f32"};

static void pack(const float *b, int64_t k, int64_t n, float *packed)
{
    VfkPackParams params = {.k = k, .n = n, .row = n, .col = 1};
    VfkArgs args = {(const void *[]){b}, (void *[]){packed}, NULL, &params, 0,
                    vfk_pack_units(&params), NULL};
    vfk_kernel_find("pack_f32", VFK_REFERENCE)->fn(&args);
}

static const VfkKernel *find(const char *name, const char *variant)
{
    for (int32_t i = 0; i < vfk_kernel_count; i++) {
        const VfkKernel *kernel = &vfk_kernel_table[i];
        if (strcmp(kernel->name, name) == 0 && strcmp(kernel->variant, variant) == 0) {
            return kernel;
        }
    }
    ck_abort_msg("no kernel %s %s", name, variant);
    return NULL;
}

/* The map kernel is that of the same variant, or of ref where it has no other bits. */
static void apply_act(const struct Shape *s, const char *variant, float *c)
{
    if (act_name[s->act] == NULL) {
        return;
    }
    VfkMapParams params = {.n = s->m * s->n, .alpha = 1.5};
    VfkArgs args = {(const void *[]){c}, (void *[]){c}, NULL, &params, 0, s->m * s->n,
                    NULL};
    for (int32_t i = 0; i < vfk_kernel_count; i++) {
        const VfkKernel *kernel = &vfk_kernel_table[i];
        if (strcmp(kernel->name, act_name[s->act]) == 0 && strcmp(kernel->variant, variant) == 0) {
            kernel->fn(&args);
            return;
        }
    }
    find(act_name[s->act], "ref")->fn(&args);
}

/* The steps one by one; the product is that of `variant`. */
static void separate_steps(const struct Shape *s, const char *variant, const float *const in[5],
                           float *c)
{
    VfkMatmulParams p = {.m = s->m, .n = s->n, .k = s->k, .lda = s->k + (s->k == 0), .ldb = s->n,
                         .ldc = s->n, .block_rows = s->m, .alpha = s->alpha, .beta = 1,
                         .bias_col = 1};
    void *scratch = NULL;
    ck_assert_int_eq(posix_memalign(&scratch, 64, vfk_matmul_scratch_bytes(&p, 4) + 64), 0);
    const void *operand[] = {in[0], in[1], s->with & BIAS ? in[2] : NULL};
    VfkArgs args = {operand, (void *[]){c}, scratch, &p, 0, 1, NULL};
    find("matmul_f32", variant)->fn(&args);
    free(scratch);
    apply_act(s, variant, c);
    for (int64_t i = 0; i < s->m; i++) {
        for (int64_t j = 0; j < s->n; j++) {
            float *x = &c[i * s->n + j];
            *x = s->with & SCALE ? *x * in[3][j] : *x;
            *x = s->with & ADD ? *x + in[4][i * s->n + j] : *x;
            *x = s->with & ADD_ROW ? *x + in[4][j] : *x;
        }
    }
}

/* Every second shape names what is needed next, which changes nothing. */
START_TEST(test_as_separate_steps)
{
    const struct Shape *s = &shape[_i];
    size_t nc = (size_t)(s->m * s->n), packed_n = (size_t)vfk_packed_elements(s->k, s->n);
    float *in[5] = {case_floats((size_t)(s->m * s->k) + 1, 1),
                    case_floats((size_t)(s->k * s->n) + 1, 2), case_floats((size_t)s->n, 3),
                    case_floats((size_t)s->n, 4), case_floats(nc, 5)};
    void *packed = NULL;
    ck_assert_int_eq(posix_memalign(&packed, 64, packed_n * 4 + 64), 0);
    pack(in[1], s->k, s->n, packed);
    VfkLinearParams p = {.n = s->n, .k = s->k, .rank = 1, .dim = {s->m}, .a_step = {s->k},
                         .c_step = {s->n}, .add_step = {s->with & ADD_ROW ? 0 : s->n},
                         .a_col = 1, .act = s->act, .alpha = s->alpha, .act_alpha = 1.5,
                         .fetch = _i % 2 * (int64_t)packed_n * 4};
    Case c = {"linear_f32", &p,
              {in[0], packed, s->with & BIAS ? in[2] : NULL, s->with & SCALE ? in[3] : NULL,
               s->with & (ADD | ADD_ROW) ? in[4] : NULL, _i % 2 ? packed : NULL},
              {nc * 4}, vfk_linear_units(&p), vfk_linear_scratch_bytes(&p)};
    float *want = case_buffer(nc * 4), *got = case_buffer(nc * 4);
    void *out[CASE_MAX_OUT] = {got};
    for (int32_t i = 0; i < vfk_kernel_count; i++) {
        const VfkKernel *kernel = &vfk_kernel_table[i];
        if (strcmp(kernel->name, "linear_f32") != 0 || !case_can_run(kernel)) {
            continue;
        }
        separate_steps(s, kernel->variant, (const float *const *)in, want);
        for (int64_t share = 1; share <= c.units; share += share == 1 ? 2 : c.units) {
            memset(got, 0x5a, nc * 4);
            case_call(&c, kernel, out, share);
            ck_assert_msg(memcmp(got, want, nc * 4) == 0, "%s: shares of %d differ",
                          kernel->symbol, (int)share);
        }
    }
    for (int i = 0; i < 5; i++) {
        free(in[i]);
    }
    free(packed);
    free(want);
    free(got);
}
END_TEST

/* Rows `to_row` apart, the gaps NaN. */
static float *spread(const float *from, int64_t rows, int64_t width, int64_t to_row)
{
    float *to = case_buffer((size_t)(rows * to_row) * sizeof *to);
    for (int64_t i = 0; i < rows * to_row; i++) {
        to[i] = NAN;
    }
    for (int64_t i = 0; i < rows; i++) {
        memcpy(to + i * to_row, from + i * width, (size_t)width * sizeof *to);
    }
    return to;
}

/* Two ways to the same product: `c` and `d` must give the same bits in every variant. */
static void must_agree(const Case *c, const Case *d)
{
    const size_t bytes = c->out_bytes[0];
    float *want = case_buffer(bytes), *got = case_buffer(bytes);
    for (int32_t i = 0; i < vfk_kernel_count; i++) {
        const VfkKernel *kernel = &vfk_kernel_table[i];
        if (strcmp(kernel->name, c->name) != 0 || !case_can_run(kernel)) {
            continue;
        }
        for (int64_t share = 1; share <= d->units; share += 2) {
            memset(got, 0x5a, bytes);
            case_call(c, kernel, (void *[CASE_MAX_OUT]){want}, c->units);
            case_call(d, kernel, (void *[CASE_MAX_OUT]){got}, share);
            ck_assert_msg(memcmp(got, want, bytes) == 0, "%s: shares of %d differ",
                          kernel->symbol, (int)share);
        }
    }
    free(want);
    free(got);
}

static float *packed_of(const struct Shape *s, uint64_t seed)
{
    void *packed = NULL;
    float *b = case_floats((size_t)(s->k * s->n) + 1, seed);
    size_t bytes = (size_t)vfk_packed_elements(s->k, s->n) * 4 + 64;
    ck_assert_int_eq(posix_memalign(&packed, 64, bytes), 0);
    pack(b, s->k, s->n, packed);
    free(b);
    return packed;
}

static VfkLinearParams plain_params(const struct Shape *s)
{
    return (VfkLinearParams){.n = s->n, .k = s->k, .rank = 1, .dim = {s->m}, .a_step = {s->k},
                             .c_step = {s->n}, .a_col = 1, .act = s->act, .alpha = s->alpha};
}

static Case case_of(const struct Shape *s, const VfkLinearParams *p, const float *a,
                    const float *packed)
{
    return (Case){"linear_f32", p, {a, packed}, {(size_t)(s->m * s->n) * 4}, vfk_linear_units(p),
                  vfk_linear_scratch_bytes(p)};
}

/* Rows that lie where tiles read them are not copied. */
START_TEST(test_tiled_rows)
{
    const struct Shape *s = &shape[_i];
    if (s->k > GEMM_STRIDE) {
        return;
    }
    float *a = case_floats((size_t)(s->m * s->k) + 1, 1), *packed = packed_of(s, 2);
    float *apart = spread(a, s->m, s->k, GEMM_STRIDE);
    VfkLinearParams p = plain_params(s), q = p;
    q.a_step[0] = GEMM_STRIDE;
    Case c = case_of(s, &p, a, packed), d = case_of(s, &q, apart, packed);
    must_agree(&c, &d);
    free(a);
    free(apart);
    free(packed);
}
END_TEST

/* A layer norm taken while rows are packed, with and without its scale and bias; what `x` is read
 * from may lie apart. */
START_TEST(test_normed_rows)
{
    const struct Shape *s = &shape[_i];
    if (s->k > GEMM_KC || s->k == 0) {
        return;
    }
    float *x = case_floats((size_t)(s->m * s->k), 1), *packed = packed_of(s, 2);
    float *scale = case_floats((size_t)s->k, 3), *bias = case_floats((size_t)s->k, 4);
    float *apart = spread(x, s->m, s->k, GEMM_STRIDE), *a = case_buffer((size_t)(s->m * s->k) * 4);
    const void *norm_in[] = {x, _i % 3 ? scale : NULL, _i % 2 ? bias : NULL};
    const VfkRowNormParams norm = {.rows = s->m, .n = s->k, .eps = 1e-5};
    VfkArgs args = {norm_in, (void *[]){a, NULL, NULL}, NULL, &norm, 0, s->m, NULL};
    find("layer_norm_f32", "ref")->fn(&args);
    VfkLinearParams p = plain_params(s), q = p;
    q.norms = 1;
    q.norm_eps = norm.eps;
    q.a_step[0] = GEMM_STRIDE;
    Case c = case_of(s, &p, a, packed), d = case_of(s, &q, apart, packed);
    d.in[6] = norm_in[1];
    d.in[7] = norm_in[2];
    must_agree(&c, &d);
    void *const made[] = {x, packed, scale, bias, apart, a};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        free(made[i]);
    }
}
END_TEST

/* Heads of a B x H x S x D operand become rows of S x (H D), without any transpose: strided rows
 * of a, of c and of add, and a whose columns are apart. */
START_TEST(test_strided_rows)
{
    enum { B = 2, H = 3, S = 5, K = 4, N = 6, ROWS = B * H * S };
    float *a = case_floats(ROWS * K, 1), *b = case_floats(K * N, 2), *add = case_floats(B * N, 3);
    void *packed = NULL;
    ck_assert_int_eq(posix_memalign(&packed, 64, (size_t)vfk_packed_elements(K, N) * 4), 0);
    pack(b, K, N, packed);
    VfkLinearParams p = {.n = N, .k = K, .rank = 3, .dim = {B, H, S},
                         .a_step = {H * S * K, S * K, 1}, .c_step = {S * H * N, N, H * N},
                         .add_step = {N, 0, 0}, .a_col = S, .alpha = 1};
    Case c = {"linear_f32", &p, {a, packed, NULL, NULL, add}, {ROWS * N * 4},
              vfk_linear_units(&p), vfk_linear_scratch_bytes(&p)};
    void *out[CASE_MAX_OUT];
    case_run_close(&c, out, 0, 1e-6);
    for (int u = 0; u < ROWS * N; u++) {
        int j = u % N, i = u / N % S, h = u / N / S % H, image = u / N / S / H;
        double want = (double)add[image * N + j];
        for (int k = 0; k < K; k++) {
            want += (double)a[((image * H + h) * K + k) * S + i] * (double)b[k * N + j];
        }
        double got = (double)((float *)out[0])[((image * S + i) * H + h) * N + j];
        ck_assert(fabs(got - want) <= 1e-6);
    }
    case_free(out);
    free(a);
    free(b);
    free(add);
    free(packed);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("kernels/linear");
    case_add(suite, "as separate steps", test_as_separate_steps,
             (int)(sizeof shape / sizeof shape[0]));
    case_add(suite, "tiled rows", test_tiled_rows, (int)(sizeof shape / sizeof shape[0]));
    case_add(suite, "normed rows", test_normed_rows, (int)(sizeof shape / sizeof shape[0]));
    case_add(suite, "strided rows", test_strided_rows, 1);
    return suite;
}

VF_CHECK_MAIN(make_suite)
