/* Small models of one norm with samples, and the norms in double, written from their formulas. */
#ifndef VF_TESTS_NORM_CASE_H
#define VF_TESTS_NORM_CASE_H

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "converter/api/calibration.h"
#include "converter/lower/lower.h"
#include "tests/unit/ir/vft_case.h"

enum { N_SAMPLE = 24, N_TOKEN = 5, WIDTH = 3, N_ROW = N_SAMPLE * N_TOKEN, N_X = N_ROW * WIDTH };

static const double norm_scale[WIDTH] = {1.5, -0.5, 2}, norm_shift[WIDTH] = {0.25, 0, -1};
static const double norm_epsilon = 1e-5;

/* What stands between x and y of a model of tokens. */
typedef struct NormCase {
    const char *name, *head, *body;
    bool is_rms, has_shift;
} NormCase;

#define TOKENS "model ir=8 opset=17\n\ngraph g (x: f32[n, 5, 3]) -> (y) {\n" \
    "    s = const f32[3] {1.5, -0.5, 2}\n    b = const f32[3] {0.25, 0, -1}\n"   \
    "    two = const f32[] {2}\n    e = const f32[] {1e-05}\n"

/* Channel c of token t of sample n is sample[(n * N_TOKEN + t) * WIDTH + c]. */
static double sample[N_X];

static inline void make_samples(void)
{
    uint64_t state = 7;
    for (int i = 0; i < N_X; i++) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        double u = (double)(state >> 40) / (double)(1 << 24);
        /* unlike means and spreads, and a skew: LayerNorm of it is far from affine */
        sample[i] = (double)(float)((i % WIDTH + 0.5) * (u * u - 0.3) + 0.7 * (i % WIDTH));
    }
}

/* --- the norm --- */

static inline void norm_row(const double *x, const NormCase *norm, double *y)
{
    double mean = 0, square = 0;
    for (int c = 0; c < WIDTH && !norm->is_rms; c++)
        mean += x[c] / WIDTH;
    for (int c = 0; c < WIDTH; c++)
        square += (x[c] - mean) * (x[c] - mean) / WIDTH;
    for (int c = 0; c < WIDTH; c++) {
        y[c] = (x[c] - mean) / sqrt(square + norm_epsilon) * norm_scale[c];
        y[c] += norm->has_shift ? norm_shift[c] : 0;
    }
}

static inline void norm_all(const NormCase *norm, double *y)
{
    for (int i = 0; i < N_ROW; i++)
        norm_row(sample + i * WIDTH, norm, y + i * WIDTH);
}

/* E, Var and Cov over all rows of channel c. */
static inline double mean_of(const double *v, int c)
{
    double sum = 0;
    for (int i = 0; i < N_ROW; i++)
        sum += v[i * WIDTH + c];
    return sum / N_ROW;
}

static inline double covariance_of(const double *v, const double *w, int c)
{
    double sum = 0, mean_v = mean_of(v, c), mean_w = mean_of(w, c);
    for (int i = 0; i < N_ROW; i++)
        sum += (v[i * WIDTH + c] - mean_v) * (w[i * WIDTH + c] - mean_w);
    return sum / N_ROW;
}

/* --- running --- */

typedef struct NormRun {
    VfArena *arena;
    VitfoldData *data;
    VitfoldModel model;
    const VfCalibration *calibration;
} NormRun;

static inline VitfoldData *data_of(const char *name, int n_sample)
{
    static float x[N_X];
    int64_t dims[3] = {n_sample, N_TOKEN, WIDTH};
    VitfoldTensor t = {name, strlen(name), VF_F32, 3, dims, x, 0};
    VitfoldData *data = vitfold_data_new();
    for (int i = 0; i < N_X; i++)
        x[i] = (float)sample[i];
    ck_assert_int_eq(vitfold_data_add(data, &t, NULL), VITFOLD_OK);
    return data;
}

static inline void norm_open(NormRun *run, const char *head, const char *body)
{
    static char text[4096];
    VfErr err = {0};
    make_samples();
    snprintf(text, sizeof text, "%s%s}\n", head, body);
    *run = (NormRun){.arena = vf_arena_new(), .data = data_of("x", N_SAMPLE)};
    run->model = (VitfoldModel){.arena = run->arena, .ir = read_vft(text), .path = "case"};
    ck_assert(vf_calibration_new(run->arena, &run->model, run->data, &run->calibration, &err) ==
              VF_OK);
}

static inline void norm_close(NormRun *run)
{
    vf_model_free(run->model.ir);
    vitfold_data_free(run->data);
    vf_arena_free(run->arena);
}

static inline VfStatus norm_convert(NormRun *run, const char *words, bool has_data, VfErr *err)
{
    VfPipeline pipeline;
    VfPipelineOptions options = {.evaluator = vf_evaluator(), .stop_after = -1, .cleanup = true,
                                 .calibration = has_data ? run->calibration : NULL};
    run->model.journal = vf_journal_new(run->model.ir);
    VF_TRY(vf_pipeline_parse(run->arena, words, NULL, &pipeline, err));
    return vf_pipeline_run(run->model.ir, &pipeline, &options, run->model.journal, NULL, NULL,
                           err);
}

/* Run on all samples, with lambda when it is not NaN; element i of the first result. */
static inline void norm_results(NormRun *run, double lambda, float *y)
{
    VfErr err = {0};
    VitfoldData *in = data_of("x", N_SAMPLE), *out = vitfold_data_new();
    float value = (float)lambda;
    VitfoldTensor t = {"norm_lambda", 11, VF_F32, 0, NULL, &value, 0};
    VitfoldRunOptions options = {.n_thread = 1};
    if (!isnan(lambda))
        ck_assert_int_eq(vitfold_data_add(in, &t, NULL), VITFOLD_OK);
    ck_assert_msg(vitfold_run(&run->model, in, out, &options, &err) == VITFOLD_OK, "%s", err.text);
    VitfoldTensor got = vitfold_data_at(out, 0);
    ck_assert_uint_eq(got.bytes, N_X * sizeof *y);
    memcpy(y, got.data, got.bytes);
    vitfold_data_free(in);
    vitfold_data_free(out);
}

/* Within 1e-4 of the range of what is wanted. */
static inline void norm_compare(const float *got, const double *want, const char *what)
{
    double low = want[0], high = want[0], worst = 0;
    for (int i = 0; i < N_X; i++) {
        low = want[i] < low ? want[i] : low; /* fmin here crashes gcc 12.2 for aarch64 */
        high = want[i] > high ? want[i] : high;
        worst = fmax(worst, fabs((double)got[i] - want[i]));
    }
    ck_assert_msg(worst <= 1e-4 * (high - low), "%s: off by %g, range %g", what, worst, high - low);
}

#endif
