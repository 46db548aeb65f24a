/* The resolvent kernel c (m I + Laplacian)⁻¹ of the token graph: a grid with unit edges between
 * neighbours, each prefix token joined to every grid token with one weight.
 *
 * Its eigenvectors are known: cosines on the grid (DCT-II), shifted by what the prefix adds; one
 * vector of the prefix against the grid; differences of prefix tokens. A product of two cosines
 * is half a sum of two, so a function of the Laplacian is four look-ups an entry in a table of
 * 2H x 2W numbers. */
#include <math.h>

#include "passes/spa/parts.h"
#include "passes/spa/schedule.h"

/* A function on the spectrum: scale / (m + x), or the root scale sqrt((last_m + x) / (m + x)),
 * whose numerator is 1 where last_m is infinite. */
typedef struct Function {
    bool is_root;
    double scale, m, last_m;
} Function;

static double apply(const Function *f, double x)
{
    if (!f->is_root)
        return f->scale / (f->m + x);
    if (isinf(f->last_m))
        return f->scale / sqrt(f->m + x);
    return f->scale * sqrt((f->last_m + x) / (f->m + x));
}

/* f(Laplacian), ready to be looked at. */
typedef struct Operator {
    int32_t h, w, prefix;
    double *table;      /* 2h x 2w */
    double cross;       /* prefix and grid */
    double same, other; /* one prefix token with itself, with another */
    double grid;        /* added to every pair of grid tokens */
} Operator;

static double grid_value(const Operator *op, int32_t j, int32_t k)
{
    static const double pi = 3.14159265358979323846;
    double a = sin(0.5 * pi * j / op->h), b = sin(0.5 * pi * k / op->w);
    return 4 * (a * a + b * b);
}

/* Where the modes of all eigenvalues of the graph are summed. */
static double spectrum_sum(const VfSpaSpec *spec, const Function *f)
{
    Operator op = {.h = spec->grid_h, .w = spec->grid_w};
    double n = (double)op.h * op.w, shift = spec->prefix * spec->link, sum = apply(f, 0);
    for (int32_t j = 0; j < op.h; j++)
        for (int32_t k = 0; k < op.w; k++)
            if (j + k > 0)
                sum += apply(f, grid_value(&op, j, k) + shift);
    if (spec->prefix > 0)
        sum += apply(f, (n + spec->prefix) * spec->link) +
               (spec->prefix - 1) * apply(f, n * spec->link);
    return sum;
}

static double shift_of(double gamma)
{
    double one_less = -expm1(-gamma);
    return one_less * one_less / exp(-gamma);
}

/* m_l and c_l, which makes the mean of the diagonal 1. */
static Function kernel_of(const VfSpaSpec *spec, int32_t l)
{
    Function f = {.scale = 1, .m = shift_of(vf_spa_decay(spec->target, spec->depth, l).gamma)};
    f.scale = spec->tokens / spectrum_sum(spec, &f);
    return f;
}

/* sqrt(f_l / f_{l-1}) */
static Function layer_of(const VfSpaSpec *spec, int32_t l)
{
    Function now = kernel_of(spec, l);
    if (l == 1)
        return (Function){true, sqrt(now.scale), now.m, (double)INFINITY};
    Function last = kernel_of(spec, l - 1);
    return (Function){true, sqrt(now.scale / last.scale), now.m, last.m};
}

/* table[a][b] = Σ_jk (weights of the modes) f(x_jk) cos(π j a / h) cos(π k b / w) / (h w), sums
 * over rows first. */
static VfStatus fill_table(VfArena *scratch, Operator *op, const Function *f, double shift,
                           VfErr *err)
{
    static const double pi = 3.14159265358979323846;
    int32_t h = op->h, w = op->w;
    op->table = VF_NEW_ARRAY(scratch, double, 4 * (size_t)h * (size_t)w);
    double *part = VF_NEW_ARRAY(scratch, double, 2 * (size_t)h * (size_t)w);
    double *cosine = VF_NEW_ARRAY(scratch, double, 2 * (size_t)(h > w ? h : w));
    VF_TRY_ALLOC(op->table, err);
    VF_TRY_ALLOC(part, err);
    VF_TRY_ALLOC(cosine, err);
    for (int32_t i = 0; i < 2 * w; i++)
        cosine[i] = cos(pi * i / w);
    for (int32_t j = 0; j < h; j++)
        for (int32_t k = 0; k < w; k++) {
            bool is_constant = j + k == 0;
            if (is_constant && op->prefix > 0)
                continue; /* it mixes with the prefix: see mix_prefix */
            double value = apply(f, grid_value(op, j, k) + shift) / ((double)h * w) *
                           (j == 0 ? 1 : 2) * (k == 0 ? 1 : 2);
            for (int32_t b = 0; b < 2 * w; b++)
                part[(int64_t)j * 2 * w + b] += value * cosine[(int64_t)k * b % (2 * w)];
        }
    for (int32_t i = 0; i < 2 * h; i++)
        cosine[i] = cos(pi * i / h);
    for (int32_t a = 0; a < 2 * h; a++)
        for (int32_t j = 0; j < h; j++)
            for (int32_t b = 0; b < 2 * w; b++)
                op->table[(int64_t)a * 2 * w + b] +=
                    cosine[(int64_t)j * a % (2 * h)] * part[(int64_t)j * 2 * w + b];
    return VF_OK;
}

/* The constant vector, the one of the prefix against the grid (√(N/p), -√(p/N)) / √(N+p), and the
 * differences of prefix tokens. */
static void mix_prefix(Operator *op, const Function *f, double link)
{
    double n = (double)op->h * op->w, p = op->prefix, t = n + p;
    double constant = apply(f, 0) / t, against = apply(f, t * link) / t, apart = apply(f, n * link);
    op->grid = constant + against * p / n;
    op->cross = constant - against;
    op->other = constant + against * n / p - apart / p;
    op->same = op->other + apart;
}

static VfStatus make_operator(VfArena *scratch, const VfSpaSpec *spec, const Function *f,
                              Operator *op, VfErr *err)
{
    *op = (Operator){.h = spec->grid_h, .w = spec->grid_w, .prefix = spec->prefix};
    VF_TRY(fill_table(scratch, op, f, spec->prefix * spec->link, err));
    if (spec->prefix > 0)
        mix_prefix(op, f, spec->link);
    return VF_OK;
}

static double entry(const Operator *op, int32_t i, int32_t j)
{
    if (i < op->prefix && j < op->prefix)
        return i == j ? op->same : op->other;
    if (i < op->prefix || j < op->prefix)
        return op->cross;
    i -= op->prefix;
    j -= op->prefix;
    int32_t row = i / op->w, column = i % op->w, row_j = j / op->w, column_j = j % op->w;
    int32_t dr = row > row_j ? row - row_j : row_j - row, sr = row + row_j + 1;
    int32_t dc = column > column_j ? column - column_j : column_j - column;
    int32_t sc = column + column_j + 1;
    const double *near = op->table + (int64_t)dr * 2 * op->w;
    const double *far = op->table + (int64_t)sr * 2 * op->w;
    return op->grid + 0.25 * ((near[dc] + near[sc]) + (far[dc] + far[sc]));
}

/* s_l = diag(Σ_l)^-½, all 1 for l = 0 and for a raw diagonal. */
static VfStatus make_scale(VfArena *scratch, const VfSpaSpec *spec, int32_t l, double **scale,
                           VfErr *err)
{
    *scale = VF_NEW_ARRAY(scratch, double, (size_t)spec->tokens);
    VF_TRY_ALLOC(*scale, err);
    Function f = l == 0 ? (Function){0} : kernel_of(spec, l);
    Operator op = {0};
    bool is_one = l == 0 || spec->is_raw_diagonal;
    if (!is_one)
        VF_TRY(make_operator(scratch, spec, &f, &op, err));
    for (int32_t i = 0; i < spec->tokens; i++)
        (*scale)[i] = is_one ? 1 : 1 / sqrt(entry(&op, i, i));
    return VF_OK;
}

VfStatus vf_spa_fill_graph(VfArena *scratch, const VfSpaSpec *spec, VfSpaLayer *layer,
                           bool *has_log, VfErr *err)
{
    (void)has_log;
    Function f = layer_of(spec, layer->l);
    Operator op;
    double *now, *last;
    VF_TRY(make_operator(scratch, spec, &f, &op, err));
    VF_TRY(make_scale(scratch, spec, layer->l, &now, err));
    VF_TRY(make_scale(scratch, spec, layer->l - 1, &last, err));
    for (int32_t i = 0; i < spec->tokens; i++)
        for (int32_t j = 0; j < spec->tokens; j++)
            vf_matrix_row(&layer->A, i)[j] = now[i] * entry(&op, i, j) / last[j];
    return VF_OK;
}

VfStatus vf_spa_sigma_graph(VfArena *scratch, const VfSpaSpec *spec, int32_t l, VfMatrix *sigma,
                            VfErr *err)
{
    Function f = kernel_of(spec, l);
    Operator op;
    double *scale;
    VF_TRY(make_operator(scratch, spec, &f, &op, err));
    VF_TRY(make_scale(scratch, spec, l, &scale, err));
    for (int32_t i = 0; i < spec->tokens; i++)
        for (int32_t j = 0; j < spec->tokens; j++)
            vf_matrix_row(sigma, i)[j] = scale[i] * entry(&op, i, j) * scale[j];
    return VF_OK;
}

VfStatus vf_spa_mean_graph(VfArena *scratch, const VfSpaSpec *spec, double *mean, VfErr *err)
{
    Function f = kernel_of(spec, spec->depth);
    Operator op;
    double *scale, sum = 0, n = spec->tokens;
    VF_TRY(make_operator(scratch, spec, &f, &op, err));
    VF_TRY(make_scale(scratch, spec, spec->depth, &scale, err));
    for (int32_t i = 0; i < spec->tokens; i++) {
        double row = 0;
        for (int32_t j = 0; j < i; j++)
            row += scale[j] * entry(&op, i, j);
        sum += 2 * scale[i] * row;
    }
    *mean = sum / (n * (n - 1));
    return VF_OK;
}
