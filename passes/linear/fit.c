/* First weights of the convolution by ridge regression: what softmax attention gives less what the
 * linear part gives, on the shifted copies of V and a one, per channel and pooled over all else. */
#include <math.h>

#include "passes/linear/fit.h"
#include "passes/linear/linear.h"
#include "passes/match/facts.h"

/* Values measured of each site. */
enum { MEASURE_Q, MEASURE_K, MEASURE_V, MEASURE_OUT, MEASURE_COUNT };

typedef struct Fit {
    VfLinearSite *work;
    VfDwcSums sums;
    size_t batch[VF_AXIS_MAX], n_batch; /* batch axes as measured, and their product */
    size_t n_q, n_k, d, d_v;
    double *q, *k, *v, *out; /* one matrix each: rows are tokens */
    double *features, *total; /* φ(K)ᵀ V (d, d_v) and Σ φ(K) (d) */
    double *map;              /* V on the grid of the queries (h w, d_v) */
} Fit;

typedef struct Fits {
    int32_t n;
    Fit *fit;
} Fits;

static const VfLettered *lettered(const VfLinearSite *work, int32_t which)
{
    const VfLettered *const operand[] = {&work->q, &work->k, &work->v, &work->out};
    return operand[which];
}

/* --- measured values --- */

static VfStatus fail_sizes(const Fit *fit, VfErr *err)
{
    return vf_fail(err, VF_UNSUPPORTED,
                   "cannot fit '%s': values measured have other sizes than the graph says",
                   fit->work->site->label);
}

static size_t size_of_batch(const VfLinearSite *work, const VfTensor *out, int32_t b)
{
    for (int32_t a = 0; a < work->out.rank; a++) {
        if (work->out.letter[a] == work->batch[b])
            return (size_t)out->dims[a];
    }
    return 1;
}

static VfStatus read_batch(Fit *fit, const VfTensor *out, VfErr *err)
{
    if (out->rank != fit->work->out.rank)
        return fail_sizes(fit, err);
    fit->n_batch = 1;
    for (int32_t b = 0; b < fit->work->n_batch; b++) {
        fit->batch[b] = size_of_batch(fit->work, out, b);
        fit->n_batch *= fit->batch[b];
    }
    return VF_OK;
}

/* Where batch entry `at` stands along axis `letter`. */
static size_t place_in_batch(const Fit *fit, size_t at, int8_t letter, size_t *size)
{
    for (int32_t b = fit->work->n_batch - 1; b >= 0; b--) {
        *size = fit->batch[b];
        if (fit->work->batch[b] == letter)
            return at % fit->batch[b];
        at /= fit->batch[b];
    }
    *size = 0;
    return 0;
}

typedef struct Matrix {
    int8_t row, column;
    size_t n_row, n_column;
    double *to;
} Matrix;

/* The matrix of batch entry `at`; axes of one are shared by the whole batch. */
static VfStatus read_matrix(const Fit *fit, const VfLettered *operand, const VfTensor *tensor,
                            size_t at, const Matrix *matrix, VfErr *err)
{
    size_t step = 1, offset = 0, row = 0, column = 0;
    if (tensor->rank != operand->rank)
        return fail_sizes(fit, err);
    for (int32_t a = operand->rank - 1; a >= 0; a--) {
        size_t size = (size_t)tensor->dims[a], want = 0;
        int8_t letter = operand->letter[a];
        if (letter == matrix->row) {
            row = step;
            want = matrix->n_row;
        } else if (letter == matrix->column) {
            column = step;
            want = matrix->n_column;
        } else {
            size_t place = place_in_batch(fit, at, letter, &want);
            want = size == 1 ? 1 : want;
            offset += size == 1 ? 0 : place * step;
        }
        if (size != want)
            return fail_sizes(fit, err);
        step *= size;
    }
    for (size_t i = 0; i < matrix->n_row; i++) {
        for (size_t j = 0; j < matrix->n_column; j++)
            matrix->to[i * matrix->n_column + j] =
                vf_tensor_get_double(tensor, offset + i * row + j * column);
    }
    return VF_OK;
}

static VfStatus read_entry(const Fit *fit, const VfTensor *const *tensor, size_t at, VfErr *err)
{
    const VfLinearSite *work = fit->work;
    const Matrix matrix[] = {
        [MEASURE_Q] = {work->query, work->width, fit->n_q, fit->d, fit->q},
        [MEASURE_K] = {work->key, work->width, fit->n_k, fit->d, fit->k},
        [MEASURE_V] = {work->key, work->value_width, fit->n_k, fit->d_v, fit->v},
        [MEASURE_OUT] = {work->query, work->value_width, fit->n_q, fit->d_v, fit->out}};
    for (int32_t i = 0; i < MEASURE_COUNT; i++)
        VF_TRY(read_matrix(fit, lettered(work, i), tensor[i], at, &matrix[i], err));
    return VF_OK;
}

/* --- the regression --- */

static void sum_features(Fit *fit)
{
    for (size_t i = 0; i < fit->d * fit->d_v; i++)
        fit->features[i] = 0;
    for (size_t c = 0; c < fit->d; c++)
        fit->total[c] = 0;
    for (size_t j = 0; j < fit->n_k; j++) {
        for (size_t c = 0; c < fit->d; c++) {
            double phi = fmax(fit->k[j * fit->d + c], 0.0);
            fit->total[c] += phi;
            for (size_t e = 0; phi > 0 && e < fit->d_v; e++)
                fit->features[c * fit->d_v + e] += phi * fit->v[j * fit->d_v + e];
        }
    }
}

/* Softmax attention less the linear part, in place. */
static void subtract_linear(Fit *fit)
{
    double eps = vf_linear_epsilon(fit->work), gain = vf_linear_gain(fit->work);
    for (size_t i = 0; i < fit->n_q; i++) {
        double below = eps;
        for (size_t c = 0; c < fit->d; c++)
            below += fmax(fit->q[i * fit->d + c], 0.0) * fit->total[c];
        for (size_t c = 0; c < fit->d; c++) {
            double phi = fmax(fit->q[i * fit->d + c], 0.0);
            for (size_t e = 0; phi > 0 && e < fit->d_v; e++)
                fit->out[i * fit->d_v + e] -= gain * phi * fit->features[c * fit->d_v + e] / below;
        }
    }
}

/* Row `at` of the grid from one key, or from two with 1-D interpolation. */
static void upsample_token(const Fit *fit, size_t at, double *to)
{
    const VfTokenGrid *grid = &fit->work->grid;
    size_t w = (size_t)grid->w, s = (size_t)grid->stride, n = (size_t)(grid->h * grid->w) / (s * s);
    size_t first = at / w / s * (w / s) + at % w / s, second = first;
    double part = 0;
    if (s > 1 && fit->work->options->upsample == VF_UPSAMPLE_LINEAR_1D) {
        double from = fmax(((double)at + 0.5) / (double)(s * s) - 0.5, 0.0);
        first = (size_t)from;
        second = first + 1 < n ? first + 1 : first;
        part = from - (double)first;
    }
    const double *v = fit->v + (size_t)grid->key_prefix * fit->d_v;
    for (size_t e = 0; e < fit->d_v; e++)
        to[e] = (1 - part) * v[first * fit->d_v + e] + part * v[second * fit->d_v + e];
}

static VfStatus visit_site(Fit *fit, const VfTensor *const *tensor, VfErr *err)
{
    const VfTokenGrid *grid = &fit->work->grid;
    VF_TRY(read_batch(fit, tensor[MEASURE_OUT], err));
    for (size_t at = 0; at < fit->n_batch; at++) {
        VF_TRY(read_entry(fit, tensor, at, err));
        sum_features(fit);
        subtract_linear(fit);
        for (size_t i = 0; i < (size_t)(grid->h * grid->w); i++)
            upsample_token(fit, i, fit->map + i * fit->d_v);
        vf_dwc_sums_add(&fit->sums, fit->map, fit->out + (size_t)grid->prefix * fit->d_v);
    }
    return VF_OK;
}

static VfStatus visit(void *user, const VfTensor *const *tensor, VfErr *err)
{
    const Fits *fits = user;
    for (int32_t i = 0; i < fits->n; i++)
        VF_TRY(visit_site(&fits->fit[i], tensor + i * MEASURE_COUNT, err));
    return VF_OK;
}

/* --- sites --- */

static VfStatus begin(VfLinearSite *work, Fit *fit, VfErr *err)
{
    VfArena *arena = work->cx->arena;
    const VfTokenGrid *grid = &work->grid;
    *fit = (Fit){.work = work,
                 .n_q = (size_t)work->n_q.k,
                 .n_k = (size_t)work->n_k.k,
                 .d = (size_t)work->d.k,
                 .d_v = (size_t)work->d_v.k};
    struct {
        double **to;
        size_t a, b;
    } const matrix[] = {{&fit->q, fit->n_q, fit->d},        {&fit->k, fit->n_k, fit->d},
                        {&fit->v, fit->n_k, fit->d_v},      {&fit->out, fit->n_q, fit->d_v},
                        {&fit->features, fit->d, fit->d_v}, {&fit->total, fit->d, 1},
                        {&fit->map, (size_t)(grid->h * grid->w), fit->d_v}};
    for (size_t i = 0; i < sizeof matrix / sizeof matrix[0]; i++) {
        size_t n;
        if (__builtin_mul_overflow(matrix[i].a, matrix[i].b, &n))
            return vf_no_memory(err);
        *matrix[i].to = VF_NEW_ARRAY(arena, double, n);
        VF_TRY_ALLOC(*matrix[i].to, err);
    }
    fit->sums = (VfDwcSums){.h = grid->h, .w = grid->w, .side = work->options->kernel,
                            .width = work->d_v.k};
    return vf_dwc_sums_init(&fit->sums, arena, err);
}

static VfStatus end(Fit *fit, VfErr *err)
{
    VfLinearSite *work = fit->work;
    int64_t n = work->options->kernel, dims[] = {work->d_v.k, 1, n, n};
    VfDtype dtype = work->site->out->type.dtype;
    VfTensor *kernel, *bias;
    void *taps, *shift;
    VF_TRY(vf_tensor_new(work->cx->model->arena, dtype, 4, dims, &kernel, &taps, err));
    VF_TRY(vf_tensor_new(work->cx->model->arena, dtype, 1, dims, &bias, &shift, err));
    VF_TRY(vf_dwc_sums_solve(&fit->sums, work->cx->arena, work->options->ridge, err));
    size_t n_tap = (size_t)(n * n);
    for (size_t c = 0; c < fit->d_v; c++) {
        const double *x = fit->sums.solution + c * (n_tap + 1);
        for (size_t t = 0; t < n_tap; t++)
            vf_tensor_put_double(taps, dtype, c * n_tap + t, x[t]);
        vf_tensor_put_double(shift, dtype, c, x[n_tap]);
    }
    work->dwc = (VfDwcWeights){kernel, bias, fit->sums.r2};
    if (!isfinite(fit->sums.r2))
        work->why = "its values on the calibration data are not finite";
    return VF_OK;
}

static const char *why_not_fit(const VfLinearSite *work)
{
    if (work->site->out->graph != work->cx->model->graph)
        return "dwc=lsq does not measure in a subgraph: use dwc=zero";
    if (work->cx->calibration == NULL)
        return "dwc=lsq needs calibration data";
    if (work->mask != VF_LINEAR_MASK_NONE)
        return "dwc=lsq does not know the linear part of a masked site: use dwc=zero";
    if (work->is_fused)
        return "dwc=lsq does not look into a fused operator: use dwc=zero";
    if (!vf_dim_is_known(work->d))
        return "dwc=lsq needs a fixed head width";
    return NULL;
}

static VfStatus measure(VfLinearSite *site, int32_t n, Fits *fits, VfErr *err)
{
    VfPassCx *cx = site[0].cx;
    VfValue **value = VF_NEW_ARRAY(cx->arena, VfValue *, (size_t)n * MEASURE_COUNT);
    fits->fit = VF_NEW_ARRAY(cx->arena, Fit, (size_t)n);
    VF_TRY_ALLOC(value, err);
    VF_TRY_ALLOC(fits->fit, err);
    for (int32_t i = 0; i < n; i++) {
        if (site[i].why != NULL)
            continue;
        VF_TRY(begin(&site[i], &fits->fit[fits->n], err));
        for (int32_t m = 0; m < MEASURE_COUNT; m++)
            value[fits->n * MEASURE_COUNT + m] = lettered(&site[i], m)->value;
        fits->n++;
    }
    if (fits->n == 0)
        return VF_OK;
    return cx->calibration->measure(cx->calibration, cx->model, fits->n * MEASURE_COUNT, value,
                                    visit, fits, err);
}

VfStatus vf_linear_fit(VfLinearSite *site, int32_t n, VfErr *err)
{
    Fits fits = {0, NULL};
    for (int32_t i = 0; i < n; i++)
        site[i].why = site[i].why == NULL ? why_not_fit(&site[i]) : site[i].why;
    if (n > 0)
        VF_TRY(measure(site, n, &fits, err));
    for (int32_t i = 0; i < fits.n; i++)
        VF_TRY(end(&fits.fit[i], err));
    return VF_OK;
}
