#include "passes/spa/kernel.h"

#include <math.h>

#include "passes/spa/parts.h"

typedef struct Kernel {
    const char *name;
    bool is_causal, is_uniform, needs_grid;
    VfSpaFill *fill;
    VfSpaSigma *sigma;
} Kernel;

static const Kernel kernel_table[VF_SPA_KERNEL_COUNT] = {
    /* name        causal uniform grid   fill                        sigma */
    {"auto",       false, false, false, NULL,                       NULL},
    {"causal",     true,  false, false, vf_spa_fill_causal,         vf_spa_sigma_line},
    {"s",          false, false, false, vf_spa_fill_line,           vf_spa_sigma_line},
    {"g",          false, false, true,  vf_spa_fill_grid,           vf_spa_sigma_grid},
    {"r",          false, false, true,  vf_spa_fill_graph,          vf_spa_sigma_graph},
    {"u-causal",   true,  true,  false, vf_spa_fill_uniform_causal, vf_spa_sigma_uniform},
    {"u",          false, true,  false, vf_spa_fill_uniform,        vf_spa_sigma_uniform},
};

const char *vf_spa_kernel_name(VfSpaKernel kernel)
{
    return kernel_table[kernel].name;
}

bool vf_spa_is_leading(VfSpaKernel kernel)
{
    return kernel_table[kernel].is_causal;
}

bool vf_spa_is_uniform(VfSpaKernel kernel)
{
    return kernel_table[kernel].is_uniform;
}

VfSpaSpec vf_spa_spec(VfSpaKernel kernel, int32_t tokens, int32_t depth)
{
    return (VfSpaSpec){.kernel = kernel, .tokens = tokens, .depth = depth,
                       .mean_correlation = 0.5, .floor = 1e-12};
}

VfSpaKernel vf_spa_choose(const VfSpaSpec *spec)
{
    enum { MOST_ROOTED = 1024 }; /* the roots of s take time by the third power of the tokens */
    bool has_grid = spec->grid_h > 0 && spec->grid_w > 0;
    if (spec->is_causal)
        return VF_SPA_CAUSAL;
    if (has_grid)
        return spec->prefix > 0 ? VF_SPA_GRAPH : VF_SPA_GRID;
    return spec->tokens <= MOST_ROOTED ? VF_SPA_LINE : VF_SPA_UNIFORM;
}

static VfStatus check_grid(const VfSpaSpec *spec, VfErr *err)
{
    if (spec->grid_h < 1 || spec->grid_w < 1 || spec->prefix < 0 ||
        spec->grid_h > VF_MATRIX_MAX || spec->grid_w > VF_MATRIX_MAX ||
        (int64_t)spec->grid_h * spec->grid_w + spec->prefix != spec->tokens)
        return vf_fail(err, VF_USAGE, "a grid of %d x %d and %d prefix tokens is not %d tokens",
                       spec->grid_h, spec->grid_w, spec->prefix, spec->tokens);
    if (spec->kernel == VF_SPA_GRID && spec->prefix > 0)
        return vf_fail(err, VF_USAGE, "kernel 'g' has no place for %d prefix tokens, 'r' has",
                       spec->prefix);
    return VF_OK;
}

static VfStatus check_numbers(const VfSpaSpec *spec, VfErr *err)
{
    double most = vf_spa_is_uniform(spec->kernel) ? 1 : 700; /* exp(-700) is still normal */
    if (!(spec->target >= 0 && spec->target < most))
        return vf_fail(err, VF_USAGE, "target %g of kernel '%s' is not between 0 and %g",
                       spec->target, vf_spa_kernel_name(spec->kernel), most);
    if (!(spec->mean_correlation > 0 && spec->mean_correlation < 1))
        return vf_fail(err, VF_USAGE, "mean correlation %g is not between 0 and 1",
                       spec->mean_correlation);
    if (!(spec->floor >= 0 && spec->floor < 1))
        return vf_fail(err, VF_USAGE, "floor %g is not in 0..1", spec->floor);
    if (spec->floor == 0 && !vf_spa_is_leading(spec->kernel))
        return vf_fail(err, VF_USAGE, "kernel '%s' needs a floor",
                       vf_spa_kernel_name(spec->kernel));
    if (!(spec->link >= 0 && spec->link <= 1e6))
        return vf_fail(err, VF_USAGE, "link weight %g is not in 0..1e6", spec->link);
    return VF_OK;
}

VfStatus vf_spa_resolve(const VfSpaSpec *spec, VfSpaSpec *resolved, VfErr *err)
{
    *resolved = *spec;
    if (spec->tokens < 1 || spec->tokens > VF_MATRIX_MAX)
        return vf_fail(err, VF_USAGE, "%d tokens are not between 1 and %d", spec->tokens,
                       VF_MATRIX_MAX);
    if (spec->depth < 1 || spec->depth > VF_SPA_MAX_DEPTH)
        return vf_fail(err, VF_USAGE, "%d layers are not between 1 and %d", spec->depth,
                       VF_SPA_MAX_DEPTH);
    if (spec->kernel == VF_SPA_AUTO)
        resolved->kernel = vf_spa_choose(spec);
    VF_TRY(check_numbers(resolved, err));
    if (kernel_table[resolved->kernel].needs_grid)
        VF_TRY(check_grid(resolved, err));
    if (resolved->kernel == VF_SPA_GRAPH && resolved->link == 0)
        resolved->link = 1 / sqrt((double)resolved->grid_h * resolved->grid_w);
    if (resolved->target == 0)
        VF_TRY(vf_spa_target(resolved, &resolved->target, err));
    return VF_OK;
}

/* Unmasked entries of row i. */
static int32_t row_length(const VfSpaLayer *layer, int32_t i)
{
    return layer->is_causal ? i + 1 : layer->A.n_col;
}

/* Entries in A, their logarithms in B: apply the floor, then P = A / D and its logarithm. */
static void finish_row(VfSpaLayer *layer, int32_t i, double floor)
{
    double *a = vf_matrix_row(&layer->A, i), *b = vf_matrix_row(&layer->B, i);
    int32_t n = row_length(layer, i);
    double least = -(double)INFINITY, sum = 0, check = 0;
    for (int32_t j = 0; j < n; j++)
        least = fmax(least, b[j]);
    least += log(floor);
    double least_entry = exp(least);
    for (int32_t j = 0; j < n; j++) {
        if (b[j] < least) {
            b[j] = least;
            a[j] = least_entry;
        }
        sum += a[j];
    }
    layer->D[i] = sum;
    double log_sum = log(sum);
    for (int32_t j = 0; j < n; j++) {
        b[j] -= log_sum;
        check += exp(b[j]);
    }
    layer->row_error = fmax(layer->row_error, fabs(check - 1));
}

static void finish(const VfSpaSpec *spec, VfSpaLayer *layer, bool has_log)
{
    layer->smallest = (double)INFINITY;
    layer->largest = -(double)INFINITY;
    for (int32_t i = 0; i < layer->A.n_row; i++) {
        for (int32_t j = 0; j < row_length(layer, i); j++) {
            double a = vf_matrix_row(&layer->A, i)[j];
            layer->smallest = fmin(layer->smallest, a);
            layer->largest = fmax(layer->largest, a);
            if (!has_log)
                vf_matrix_row(&layer->B, i)[j] = log(fmax(a, 0));
        }
        finish_row(layer, i, spec->floor);
    }
    if (layer->is_scalar)
        for (int32_t i = 1; i < layer->A.n_row; i++)
            layer->D[i] = layer->D[0];
}

static VfStatus build(VfArena *arena, VfArena *scratch, const VfSpaSpec *spec, VfSpaLayer *layer,
                      VfErr *err)
{
    const Kernel *kernel = &kernel_table[spec->kernel];
    bool has_log = false;
    layer->is_causal = kernel->is_causal;
    layer->is_scalar = spec->kernel == VF_SPA_UNIFORM ||
                       (spec->kernel == VF_SPA_GRAPH && spec->is_raw_diagonal);
    layer->D = VF_NEW_ARRAY(arena, double, (size_t)spec->tokens);
    VF_TRY_ALLOC(layer->D, err);
    VF_TRY(vf_matrix_new(arena, spec->tokens, spec->tokens, &layer->A, err));
    VF_TRY(vf_matrix_new(arena, spec->tokens, spec->tokens, &layer->B, err));
    VF_TRY(kernel->fill(scratch, spec, layer, &has_log, err));
    finish(spec, layer, has_log);
    return VF_OK;
}

VfStatus vf_spa_layer(VfArena *arena, const VfSpaSpec *spec, int32_t l, VfSpaLayer *layer,
                      VfErr *err)
{
    VfSpaSpec resolved;
    VF_TRY(vf_spa_resolve(spec, &resolved, err));
    *layer = (VfSpaLayer){.l = l};
    if (l < 1 || l > resolved.depth)
        return vf_fail(err, VF_USAGE, "layer %d is not between 1 and %d", l, resolved.depth);
    VfArena *scratch = vf_arena_new();
    VF_TRY_ALLOC(scratch, err);
    VfStatus status = build(arena, scratch, &resolved, layer, err);
    vf_arena_free(scratch);
    return status;
}

VfStatus vf_spa_sigma(VfArena *arena, const VfSpaSpec *spec, int32_t l, VfMatrix *sigma,
                      VfErr *err)
{
    VfSpaSpec resolved;
    VF_TRY(vf_spa_resolve(spec, &resolved, err));
    if (l < 0 || l > resolved.depth)
        return vf_fail(err, VF_USAGE, "layer %d is not between 0 and %d", l, resolved.depth);
    if (l == 0)
        return vf_matrix_identity(arena, resolved.tokens, sigma, err);
    VF_TRY(vf_matrix_new(arena, resolved.tokens, resolved.tokens, sigma, err));
    VfArena *scratch = vf_arena_new();
    VF_TRY_ALLOC(scratch, err);
    VfStatus status = kernel_table[resolved.kernel].sigma(scratch, &resolved, l, sigma, err);
    vf_arena_free(scratch);
    return status;
}
