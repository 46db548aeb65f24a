/* All layers of a stack, their check, and the target for a wanted mean correlation. */
#include <math.h>

#include "passes/spa/parts.h"

enum { MOST_CHECKED_ROWS = 64 };

/* Rows of the identity, spread evenly from the first to the last token. */
static VfStatus pick_rows(VfArena *arena, int32_t tokens, int32_t **row, VfMatrix *picked,
                          VfErr *err)
{
    int32_t n = tokens < MOST_CHECKED_ROWS ? tokens : MOST_CHECKED_ROWS;
    *row = VF_NEW_ARRAY(arena, int32_t, (size_t)n);
    VF_TRY_ALLOC(*row, err);
    VF_TRY(vf_matrix_new(arena, n, tokens, picked, err));
    for (int32_t i = 0; i < n; i++) {
        (*row)[i] = n == 1 ? 0 : (int32_t)((int64_t)i * (tokens - 1) / (n - 1));
        vf_matrix_row(picked, i)[(*row)[i]] = 1;
    }
    return VF_OK;
}

/* Rows of Π_L = A_L ... A_1, multiplied from the left, against Σ_L: no power of T above 2. */
static VfStatus check_product(VfArena *scratch, VfSpaStack *stack, VfErr *err)
{
    int32_t *row;
    VfMatrix now, next, sigma;
    VF_TRY(pick_rows(scratch, stack->spec.tokens, &row, &now, err));
    VF_TRY(vf_matrix_new(scratch, now.n_row, now.n_col, &next, err));
    for (int32_t l = stack->n_layer; l-- > 0;) {
        vf_matrix_multiply(&now, &stack->layer[l].A, &next);
        VfMatrix swap = now;
        now = next;
        next = swap;
    }
    VF_TRY(vf_spa_sigma(scratch, &stack->spec, stack->spec.depth, &sigma, err));
    VfMatrix gram;
    VF_TRY(vf_matrix_new(scratch, now.n_row, now.n_row, &gram, err));
    vf_matrix_multiply_transposed(&now, &now, &gram);
    for (int32_t i = 0; i < now.n_row; i++)
        for (int32_t j = 0; j < now.n_row; j++)
            stack->check.product_error =
                fmax(stack->check.product_error,
                     fabs(vf_matrix_row(&gram, i)[j] - vf_matrix_row(&sigma, row[i])[row[j]]));
    stack->check.n_row = now.n_row;
    return VF_OK;
}

static void check_layers(VfSpaStack *stack)
{
    VfSpaCheck *check = &stack->check;
    *check = (VfSpaCheck){.smallest = (double)INFINITY, .largest = -(double)INFINITY};
    for (int32_t l = 0; l < stack->n_layer; l++) {
        const VfSpaLayer *layer = &stack->layer[l];
        if (layer->smallest < check->smallest) {
            check->smallest = layer->smallest;
            check->smallest_layer = layer->l;
        }
        check->largest = fmax(check->largest, layer->largest);
        check->row_error = fmax(check->row_error, layer->row_error);
    }
}

static VfStatus build(VfArena *arena, const VfSpaSpec *spec, VfSpaStack *stack, VfErr *err)
{
    VF_TRY(vf_spa_resolve(spec, &stack->spec, err));
    int64_t bytes = 2 * (int64_t)sizeof(double) * spec->tokens * spec->tokens * spec->depth;
    if (bytes > VF_SPA_STACK_BYTES)
        return vf_fail(err, VF_UNSUPPORTED, "%d layers of %d tokens are %lld MiB of matrices",
                       spec->depth, spec->tokens, (long long)(bytes >> 20));
    stack->layer = VF_NEW_ARRAY(arena, VfSpaLayer, (size_t)spec->depth);
    VF_TRY_ALLOC(stack->layer, err);
    stack->n_layer = spec->depth;
    for (int32_t l = 1; l <= spec->depth; l++)
        VF_TRY(vf_spa_layer(arena, &stack->spec, l, &stack->layer[l - 1], err));
    check_layers(stack);
    VfArena *scratch = vf_arena_new();
    VF_TRY_ALLOC(scratch, err);
    VfStatus status = check_product(scratch, stack, err);
    vf_arena_free(scratch);
    return status;
}

static bool is_negative(const VfSpaCheck *check)
{
    return !(check->smallest >= -1e-12 * check->largest);
}

/* 1e-6 is about what float constants cost anyway. A floor that is raised above what that takes is a
 * wish for another kernel, whose error is told. */
static bool is_off(const VfSpaStack *stack)
{
    static const double fine_floor = 1e-9;
    return stack->spec.floor <= fine_floor && !(stack->check.product_error <= 1e-6);
}

static const char *fault_text(VfArena *arena, const VfSpaStack *stack)
{
    const VfSpaCheck *check = &stack->check;
    const char *name = vf_spa_kernel_name(stack->spec.kernel);
    if (is_negative(check))
        return vf_arena_printf(arena, "kernel '%s' has an entry %.3g in layer %d", name,
                               check->smallest, check->smallest_layer);
    return vf_arena_printf(arena, "the layers of kernel '%s' miss its last kernel by %.3g", name,
                           check->product_error);
}

/* What AUTO takes when its first choice has a fault. */
static VfSpaKernel second_choice(const VfSpaSpec *spec)
{
    if (spec->is_causal)
        return VF_SPA_UNIFORM_CAUSAL;
    return spec->grid_h > 0 && spec->grid_w > 0 ? VF_SPA_GRAPH : VF_SPA_UNIFORM;
}

VfStatus vf_spa_stack(VfArena *arena, const VfSpaSpec *spec, VfSpaStack *stack, VfErr *err)
{
    *stack = (VfSpaStack){0};
    VF_TRY(build(arena, spec, stack, err));
    if (!is_negative(&stack->check) && !is_off(stack))
        return VF_OK;
    const char *why = fault_text(arena, stack);
    VF_TRY_ALLOC(why, err);
    if (spec->kernel != VF_SPA_AUTO)
        return vf_fail(err, VF_UNSUPPORTED, "%s", why);
    VfSpaSpec other = *spec;
    other.kernel = second_choice(spec);
    other.target = 0; /* γ of one kernel says nothing about another */
    VF_TRY(build(arena, &other, stack, err));
    stack->fallback = why;
    return VF_OK;
}

static VfStatus mean_of(VfArena *scratch, const VfSpaSpec *spec, double target, double *mean,
                        VfErr *err)
{
    static VfSpaMean *const mean_table[VF_SPA_KERNEL_COUNT] = {
        [VF_SPA_CAUSAL] = vf_spa_mean_line,
        [VF_SPA_LINE] = vf_spa_mean_line,
        [VF_SPA_GRID] = vf_spa_mean_grid,
        [VF_SPA_GRAPH] = vf_spa_mean_graph,
    };
    VfSpaSpec tried = *spec;
    tried.target = target;
    vf_arena_reset(scratch);
    return mean_table[spec->kernel](scratch, &tried, mean, err);
}

/* The mean falls from 1 to 0 as γ grows; halve the interval of log γ. */
static VfStatus bisect(VfArena *scratch, const VfSpaSpec *spec, double *target, VfErr *err)
{
    double low = log(1e-9), high = log(600), mean = 0;
    for (int i = 0; i < 64; i++) {
        double middle = 0.5 * (low + high);
        VF_TRY(mean_of(scratch, spec, exp(middle), &mean, err));
        if (mean > spec->mean_correlation)
            low = middle;
        else
            high = middle;
    }
    *target = exp(0.5 * (low + high));
    if (!(fabs(mean - spec->mean_correlation) < 1e-6))
        return vf_fail(err, VF_UNSUPPORTED, "no target gives a mean correlation of %g",
                       spec->mean_correlation);
    return VF_OK;
}

VfStatus vf_spa_target(const VfSpaSpec *spec, double *target, VfErr *err)
{
    if (vf_spa_is_uniform(spec->kernel)) {
        *target = spec->mean_correlation;
        return VF_OK;
    }
    if (spec->tokens < 2)
        return vf_fail(err, VF_UNSUPPORTED, "one token has no correlation to aim at");
    VfArena *scratch = vf_arena_new();
    VF_TRY_ALLOC(scratch, err);
    VfStatus status = bisect(scratch, spec, target, err);
    vf_arena_free(scratch);
    return status;
}
