#include "tests/support/check_main.h"

#include "runtime/kernels/conv.h"
#include "runtime/kernels/pool.h"
#include "tests/kernels/kernel_case.h"

/* batch, groups, in and out channels of a group, input, output, kernel, stride, pad, dilation */
static const VfkConvParams shape[] = {
    {1, 1, 3, 8, {1, 32, 32}, {1, 4, 4}, {1, 8, 8}, {1, 8, 8}, {0, 0, 0}, {1, 1, 1}, 7},
    {2, 1, 5, 4, {1, 9, 11}, {1, 9, 11}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}, 32},
    {1, 2, 3, 2, {1, 9, 11}, {1, 5, 6}, {1, 3, 3}, {1, 2, 2}, {0, 1, 1}, {1, 1, 1}, 13},
    {2, 3, 4, 5, {1, 7, 9}, {1, 7, 9}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {1, 1, 1}, 20},
    {1, 1, 2, 3, {1, 1, 30}, {1, 1, 14}, {1, 1, 4}, {1, 1, 2}, {0, 0, 2}, {1, 1, 2}, 5},
    {1, 1, 2, 3, {5, 6, 7}, {5, 6, 3}, {3, 3, 3}, {1, 1, 2}, {1, 1, 0}, {1, 1, 1}, 50},
    {2, 6, 1, 1, {1, 9, 9}, {1, 9, 9}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}, 81},
    {1, 4, 1, 2, {1, 12, 12}, {1, 5, 5}, {1, 7, 7}, {1, 2, 2}, {0, 2, 2}, {1, 1, 1}, 9},
    {1, 1, 1, 2, {1, 3, 3}, {1, 7, 7}, {1, 3, 3}, {1, 1, 1}, {0, 3, 3}, {1, 1, 1}, 8}, /* all pad */
    {2, 37, 1, 1, {1, 9, 11}, {1, 5, 6}, {1, 3, 3}, {1, 2, 2}, {0, 1, 1}, {1, 1, 1}, 30},
    {1, 33, 1, 1, {1, 14, 13}, {1, 14, 13}, {1, 9, 9}, {1, 1, 1}, {0, 4, 4}, {1, 1, 1}, 99},
    {1, 18, 1, 1, {4, 5, 6}, {4, 5, 6}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, 99},
    {1, 3, 1, 1, {1, 40, 300}, {1, 36, 298}, {1, 5, 5}, {1, 1, 1}, {0, 0, 1}, {1, 1, 1}, 99},
    {1, 4, 1, 1, {1, 2, 3}, {1, 6, 7}, {1, 5, 5}, {1, 1, 1}, {0, 4, 4}, {1, 1, 1}, 99},
    {1, 1, 5, 9, {1, 20, 21}, {1, 5, 6}, {1, 7, 7}, {1, 4, 4}, {0, 3, 3}, {1, 1, 1}, 30},
    {2, 1, 3, 17, {1, 12, 16}, {1, 3, 4}, {1, 4, 4}, {1, 4, 4}, {0, 0, 0}, {1, 1, 1}, 12},
    {1, 1, 2, 2, {1, 8, 8}, {1, 4, 4}, {1, 3, 3}, {1, 1, 1}, {0, -1, -1}, {1, 1, 1}, 8}, /* cut */
    {3, 64, 1, 1, {1, 14, 14}, {1, 14, 14}, {1, 5, 5}, {1, 1, 1}, {0, 2, 2}, {1, 1, 1}, 99},
    {1, 512, 1, 1, {1, 5, 8}, {1, 5, 8}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}, 99},
    {1, 521, 1, 1, {1, 4, 17}, {1, 4, 17}, {1, 7, 7}, {1, 1, 1}, {0, 3, 3}, {1, 1, 1}, 99},
    {2, 40, 1, 1, {1, 9, 12}, {1, 3, 10}, {1, 3, 5}, {1, 2, 1}, {0, 1, 1}, {1, 2, 1}, 99},
    {2, 1, 3, 5, {1, 32, 48}, {1, 2, 3}, {1, 16, 16}, {1, 16, 16}, {0, 0, 0}, {1, 1, 1}, 4},
    {1, 1, 2, 3, {1, 6, 17}, {1, 4, 4}, {1, 4, 4}, {1, 2, 4}, {0, 2, 0}, {1, 1, 1}, 7},
    {1, 20, 1, 1, {1, 9, 12}, {1, 9, 8}, {1, 3, 3}, {1, 1, 1}, {0, 1, -1}, {1, 1, 1}, 99},
};
enum { N_SHAPE = sizeof shape / sizeof shape[0] };

static int64_t volume(const int64_t dim[3])
{
    return dim[0] * dim[1] * dim[2];
}

/* Element of `dim` at the position that `out` reads at kernel position k, or -1 outside. */
static int64_t position(const VfkConvParams *p, int64_t out, int64_t k, const int64_t out_dim[3],
                        const int64_t in_dim[3])
{
    int64_t at = 0, scale = 1;
    for (int axis = 2; axis >= 0; axis--) {
        int64_t i = out % out_dim[axis] * p->stride[axis] +
                    k % p->kernel[axis] * p->dilation[axis] - p->pad[axis];
        if (i < 0 || i >= in_dim[axis]) {
            return -1;
        }
        at += i * scale;
        scale *= in_dim[axis];
        out /= out_dim[axis];
        k /= p->kernel[axis];
    }
    return at;
}

typedef struct Data {
    float *x, *weight, *bias;
    double *want;
    size_t n;
} Data;

static Data make_data(const VfkConvParams *p)
{
    int64_t in = p->groups * p->in_channels, out = p->groups * p->out_channels;
    size_t pixels = (size_t)volume(p->out_dim);
    Data d = {.n = (size_t)(p->batch * out) * pixels};
    d.x = case_floats((size_t)(p->batch * in * volume(p->in_dim)), 1);
    d.weight = case_floats((size_t)(out * p->in_channels * volume(p->kernel)), 2);
    d.bias = case_floats((size_t)out, 3);
    d.want = case_buffer(d.n * sizeof *d.want);
    for (size_t i = 0; i < d.n; i++) {
        d.want[i] = (double)d.bias[i / pixels % (size_t)out];
    }
    return d;
}

static void check_and_free(const char *name, Data *d, void *out[CASE_MAX_OUT])
{
    for (size_t i = 0; i < d->n; i++) {
        double got = (double)((float *)out[0])[i];
        ck_assert_msg(fabs(got - d->want[i]) <= 2e-5, "%s: element %zu is %g, not %g", name, i,
                      got, d->want[i]);
    }
    case_free(out);
    free(d->x);
    free(d->weight);
    free(d->bias);
    free(d->want);
}

/* Steps of `channels` planes of `dim`, or of elements of `channels`, one after the other. */
static void set_steps(const int64_t dim[3], int64_t channels, int channels_last, int64_t step[5])
{
    step[4] = channels_last ? channels : 1;
    step[3] = step[4] * dim[2];
    step[2] = step[3] * dim[1];
    step[1] = channels_last ? 1 : volume(dim);
    step[0] = volume(dim) * channels;
}

/* y = x with the axes `rows` and `cols` changed, for each of n matrices. */
static float *turned(const float *x, int64_t n, int64_t rows, int64_t cols)
{
    float *y = case_buffer((size_t)(n * rows * cols) * sizeof *y);
    for (int64_t i = 0; i < n * rows * cols; i++) {
        int64_t row = i / cols % rows, col = i % cols;
        y[(i / rows / cols * cols + col) * rows + row] = x[i];
    }
    return y;
}

/* The result added to itself is twice the result. */
static void check_added(const VfkConvParams *plain, const float *x, const float *weight,
                        const Data *d, const float *out)
{
    VfkConvParams p = *plain;
    memcpy(p.add_step, p.y_step, sizeof p.add_step);
    Case c = {"depthwise_f32", &p, {x, weight, d->bias, out}, {d->n * 4}, vfk_depthwise_units(&p),
              0};
    void *twice[CASE_MAX_OUT];
    case_run(&c, twice);
    for (size_t i = 0; i < d->n; i++) {
        ck_assert(((float *)twice[0])[i] == 2 * out[i]);
    }
    case_free(twice);
}

/* The result with channels last must be that of `out`, planes. */
static void check_channels_last(const VfkConvParams *planes, const Data *d, const float *out)
{
    VfkConvParams p = *planes;
    int64_t pixels = volume(p.out_dim);
    float *x = turned(d->x, p.batch, p.groups, volume(p.in_dim));
    float *weight = turned(d->weight, 1, p.groups, volume(p.kernel));
    p.channels_last = 1;
    set_steps(p.in_dim, p.groups, 1, p.x_step);
    set_steps(p.out_dim, p.groups, 1, p.y_step);
    Case c = {"depthwise_f32", &p, {x, weight, d->bias}, {d->n * 4}, vfk_depthwise_units(&p), 0};
    void *other[CASE_MAX_OUT];
    case_run(&c, other);
    float *y = turned(other[0], p.batch, pixels, p.groups);
    for (size_t i = 0; i < d->n; i++) {
        ck_assert_msg(y[i] == out[i], "channels last: element %zu is %g, not %g", i,
                      (double)y[i], (double)out[i]);
    }
    check_added(&p, x, weight, d, other[0]);
    case_free(other);
    free(x);
    free(weight);
    free(y);
}

START_TEST(test_conv)
{
    VfkConvParams params = shape[_i % N_SHAPE];
    const VfkConvParams *p = &params;
    int direct = _i >= N_SHAPE;
    Data d = make_data(p);
    set_steps(p->in_dim, p->groups * p->in_channels, 0, params.x_step);
    set_steps(p->out_dim, p->groups * p->out_channels, 0, params.y_step);
    int64_t out_channels = p->groups * p->out_channels, pixels = volume(p->out_dim);
    int64_t taps = volume(p->kernel), in_plane = volume(p->in_dim);
    for (int64_t i = 0; i < (int64_t)d.n; i++) {
        int64_t o = i / pixels % out_channels, b = i / pixels / out_channels;
        int64_t plane = (b * p->groups + o / p->out_channels) * p->in_channels;
        for (int64_t c = 0; c < p->in_channels; c++) {
            for (int64_t k = 0; k < taps; k++) {
                int64_t at = position(p, i % pixels, k, p->out_dim, p->in_dim);
                if (at >= 0) {
                    d.want[i] += (double)d.x[(plane + c) * in_plane + at] *
                                 (double)d.weight[(o * p->in_channels + c) * taps + k];
                }
            }
        }
    }
    Case c = {"conv_f32", p, {d.x, d.weight, d.bias}, {d.n * 4},
              p->batch * p->groups * ((pixels + p->block_cols - 1) / p->block_cols),
              vfk_conv_scratch_bytes(p, 4)};
    if (direct) {
        c.name = "depthwise_f32";
        c.units = vfk_depthwise_units(p);
        c.scratch_bytes = 0;
    }
    void *out[CASE_MAX_OUT];
    case_run_close(&c, out, 0, 2e-5);
    if (direct && p->in_channels == 1 && p->out_channels == 1) {
        check_channels_last(p, &d, out[0]);
    }
    check_and_free(c.name, &d, out);
}
END_TEST

/* Windows of planes and of channels last, in the order of each. */
START_TEST(test_unfold)
{
    VfkConvParams p = shape[_i % N_SHAPE];
    int64_t channels = p.in_channels, taps = volume(p.kernel), plane = volume(p.in_dim);
    int64_t pixels = volume(p.out_dim);
    size_t n = (size_t)(p.batch * pixels * channels * taps);
    float *planes = case_floats((size_t)(p.batch * channels * plane), 7);
    float *last = turned(planes, p.batch, channels, plane);
    p.groups = 1;
    p.channels_last = _i >= N_SHAPE;
    set_steps(p.in_dim, channels, (int)p.channels_last, p.x_step);
    Case c = {"unfold_b4", &p, {p.channels_last ? last : planes}, {n * 4},
              p.batch * p.out_dim[0] * p.out_dim[1], 0};
    void *out[CASE_MAX_OUT];
    case_run(&c, out);
    for (int64_t i = 0; i < (int64_t)n; i++) {
        int64_t rest = i % (channels * taps), row = i / (channels * taps);
        int64_t channel = p.channels_last ? rest % channels : rest / taps;
        int64_t k = p.channels_last ? rest / channels : rest % taps;
        int64_t at = position(&p, row % pixels, k, p.out_dim, p.in_dim);
        float want = at < 0 ? 0 : planes[(row / pixels * channels + channel) * plane + at];
        ck_assert_msg(((float *)out[0])[i] == want, "unfold: element %lld", (long long)i);
    }
    case_free(out);
    free(planes);
    free(last);
}
END_TEST

/* The transposed convolution of a row: x and y of the convolution change places. */
START_TEST(test_conv_transpose)
{
    VfkConvParams p = shape[_i];
    for (int axis = 0; axis < 3; axis++) {
        p.in_dim[axis] = shape[_i].out_dim[axis];
        p.out_dim[axis] = shape[_i].in_dim[axis];
    }
    Data d = make_data(&p);
    int64_t pixels = volume(p.in_dim), taps = volume(p.kernel), out_plane = volume(p.out_dim);
    int64_t planes = p.batch * p.groups * p.in_channels;
    for (int64_t plane = 0; plane < planes; plane++) {
        int64_t c = plane % p.in_channels, image_group = plane / p.in_channels;
        int64_t group = image_group % p.groups;
        for (int64_t o = 0; o < p.out_channels; o++) {
            for (int64_t i = 0; i < pixels * taps; i++) {
                int64_t at = position(&p, i / taps, i % taps, p.in_dim, p.out_dim);
                int64_t w = ((group * p.in_channels + c) * p.out_channels + o) * taps + i % taps;
                if (at >= 0) {
                    d.want[(image_group * p.out_channels + o) * out_plane + at] +=
                        (double)d.x[plane * pixels + i / taps] * (double)d.weight[w];
                }
            }
        }
    }
    Case c = {"conv_transpose_f32", &p, {d.x, d.weight, d.bias}, {d.n * 4},
              p.batch * p.groups * p.out_channels, 0};
    void *out[CASE_MAX_OUT];
    case_run(&c, out);
    check_and_free(c.name, &d, out);
}
END_TEST

START_TEST(test_block_cols)
{
    for (int i = 0; i < N_SHAPE; i++) {
        int64_t cols = vfk_conv_block_cols(&shape[i], 4);
        ck_assert_int_ge(cols, 1);
        ck_assert_int_le(cols, volume(shape[i].out_dim));
    }
    VfkConvParams huge = {1, 1, INT64_C(1) << 40, 1, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1},
                          {0, 0, 0}, {1, 1, 1}, INT64_C(1) << 30};
    ck_assert_uint_eq(vfk_conv_scratch_bytes(&huge, 4), SIZE_MAX);
}
END_TEST

/* planes, input, output, kernel, stride, pad, pad_end, dilation, count_include_pad, order, p */
static const VfkPoolParams pool[] = {
    {3, {1, 9, 11}, {1, 4, 5}, {1, 3, 3}, {1, 2, 2}, {0, 0, 0}, {0, 0, 0}, {1, 1, 1}, 0, 0, 2},
    {2, {1, 9, 11}, {1, 5, 6}, {1, 3, 3}, {1, 2, 2}, {0, 1, 1}, {0, 1, 1}, {1, 1, 1}, 1, 1, 3},
    {2, {1, 9, 11}, {1, 5, 6}, {1, 3, 3}, {1, 2, 2}, {0, 1, 1}, {0, 1, 1}, {1, 1, 1}, 0, 0, 2},
    {1, {1, 1, 20}, {1, 1, 9}, {1, 1, 3}, {1, 1, 2}, {0, 0, 1}, {0, 0, 0}, {1, 1, 2}, 1, 0, 1},
    {1, {4, 5, 6}, {2, 2, 3}, {2, 2, 2}, {2, 2, 2}, {0, 0, 0}, {0, 0, 0}, {1, 1, 1}, 0, 1, 2},
    {1, {1, 5, 5}, {1, 3, 3}, {1, 2, 2}, {1, 2, 2}, {0, 0, 0}, {0, 1, 1}, {1, 1, 1}, 1, 0, 2},
    {5, {1, 7, 7}, {1, 1, 1}, {1, 7, 7}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}, {1, 1, 1}, 0, 0, 2},
};

/* Taps of output `out` inside the input with its padding. */
static int64_t padded_taps(const VfkPoolParams *p, int64_t out)
{
    int64_t n = 1;
    for (int axis = 2; axis >= 0; axis--) {
        int64_t taps = 0, start = out % p->out_dim[axis] * p->stride[axis] - p->pad[axis];
        for (int64_t k = 0; k < p->kernel[axis]; k++) {
            taps += start + k * p->dilation[axis] < p->in_dim[axis] + p->pad_end[axis];
        }
        n *= taps;
        out /= p->out_dim[axis];
    }
    return n;
}

START_TEST(test_pool)
{
    const VfkPoolParams *p = &pool[_i];
    VfkConvParams geometry = {0};
    int64_t in_plane = volume(p->in_dim), pixels = volume(p->out_dim);
    memcpy(geometry.kernel, p->kernel, sizeof p->kernel);
    memcpy(geometry.stride, p->stride, sizeof p->stride);
    memcpy(geometry.pad, p->pad, sizeof p->pad);
    memcpy(geometry.dilation, p->dilation, sizeof p->dilation);
    float *x = case_floats((size_t)(p->planes * in_plane), 5);
    size_t n = (size_t)(p->planes * pixels);
    Case most = {"max_pool_f32", p, {x}, {n * 4, n * 8}, p->planes, 0};
    Case mean = {"average_pool_f32", p, {x}, {n * 4}, p->planes, 0};
    Case power = {"lp_pool_f32", p, {x}, {n * 4}, p->planes, 0};
    void *out[3][CASE_MAX_OUT];
    case_run(&most, out[0]);
    case_run(&mean, out[1]);
    case_run(&power, out[2]);
    for (int64_t i = 0; i < (int64_t)n; i++) {
        double sum = 0, root = 0;
        float best = -INFINITY;
        int64_t taps = 0, best_at = 0, plane = i / pixels;
        for (int64_t k = 0; k < volume(p->kernel); k++) {
            int64_t at = position(&geometry, i % pixels, k, p->out_dim, p->in_dim);
            if (at >= 0) {
                float v = x[plane * in_plane + at];
                best_at = v > best ? at : best_at;
                best = v > best ? v : best;
                sum += (double)v;
                root += pow(fabs((double)v), (double)p->p);
                taps++;
            }
        }
        int64_t w = best_at % p->in_dim[2], h = best_at / p->in_dim[2] % p->in_dim[1];
        int64_t d = best_at / p->in_dim[2] / p->in_dim[1];
        int64_t turned = (w * p->in_dim[1] + h) * p->in_dim[0] + d;
        int64_t count = p->count_include_pad ? padded_taps(p, i % pixels) : taps;
        ck_assert(((float *)out[0][0])[i] == best);
        ck_assert_int_eq(((int64_t *)out[0][1])[i],
                         plane * in_plane + (p->column_major ? turned : best_at));
        ck_assert(fabs((double)((float *)out[1][0])[i] - sum / (double)count) <= 1e-6);
        ck_assert(fabs((double)((float *)out[2][0])[i] - pow(root, 1.0 / (double)p->p)) <= 1e-5);
    }
    for (int k = 0; k < 3; k++) {
        case_free(out[k]);
    }
    free(x);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("kernels/conv");
    case_add(suite, "conv", test_conv, 2 * N_SHAPE);
    case_add(suite, "unfold", test_unfold, 2 * N_SHAPE);
    case_add(suite, "transpose", test_conv_transpose, N_SHAPE);
    case_add(suite, "block", test_block_cols, 1);
    case_add(suite, "pool", test_pool, (int)(sizeof pool / sizeof pool[0]));
    return suite;
}

VF_CHECK_MAIN(make_suite)
