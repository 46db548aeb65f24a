#include "converter/api/signal_tokens.h"

#include <math.h>
#include <string.h>

/* Matrices of long stacks add up; the arena gives none back. */
static const size_t memory_limit = (size_t)6 << 30;

VfStatus vf_walk_matrix(VfWalk *walk, int32_t n_row, int32_t n_col, VfMatrix *m, VfErr *err)
{
    if (vf_arena_used(walk->arena) > memory_limit)
        return vf_fail(err, VF_UNSUPPORTED, "token kernels take more than %zu GiB",
                       memory_limit >> 30);
    return vf_matrix_new(walk->arena, n_row, n_col, m, err);
}

bool vf_walk_has_equal_rows(const VfMatrix *m)
{
    for (int32_t i = 1; i < m->n_row; i++)
        if (memcmp(vf_matrix_row(m, i), m->at, (size_t)m->n_col * sizeof *m->at) != 0)
            return false;
    return true;
}

/* sum += weight M K Mᵀ */
static VfStatus add_mapped(VfWalk *walk, const VfTokens *t, const VfMatrix *map, double weight,
                           VfMatrix *sum, VfErr *err)
{
    VfMatrix moved = *map, term = {0}, first = {1, map->n_col, map->at};
    const VfMatrix *from = vf_walk_has_equal_rows(map) ? &first : map;
    if (t->kernel != NULL) {
        VF_TRY(vf_walk_matrix(walk, from->n_row, t->kernel->n_col, &moved, err));
        vf_matrix_multiply(from, t->kernel, &moved);
    }
    moved.n_row = from->n_row;
    VF_TRY(vf_walk_matrix(walk, from->n_row, from->n_row, &term, err));
    vf_matrix_multiply_transposed(&moved, from, &term);
    for (int32_t i = 0; i < sum->n_row; i++)
        for (int32_t j = 0; j < sum->n_col; j++)
            vf_matrix_row(sum, i)[j] +=
                weight * (from == &first ? term.at[0] : vf_matrix_row(&term, i)[j]);
    return VF_OK;
}

VfStatus vf_tokens_kernel(VfWalk *walk, const VfTokens *t, VfMatrix *kernel, VfErr *err)
{
    int32_t n = vf_tokens_count(t);
    double square = t->factor * t->factor;
    VF_TRY(vf_walk_matrix(walk, n, n, kernel, err));
    for (int32_t k = 0; k < t->n_map; k++)
        VF_TRY(add_mapped(walk, t, &t->map[k], square / t->n_map, kernel, err));
    for (int32_t i = 0; t->n_map == 0 && i < n; i++)
        for (int32_t j = 0; j < n; j++)
            vf_matrix_row(kernel, i)[j] =
                square * (t->kernel != NULL ? vf_matrix_row(t->kernel, i)[j] : i == j ? 1 : 0);
    return VF_OK;
}

VfTokens *vf_tokens_new(VfWalk *walk, VfTokens value)
{
    VfTokens *t = VF_NEW(walk->arena, VfTokens);
    if (t != NULL)
        *t = value;
    return t;
}

VfStatus vf_tokens_source(VfWalk *walk, int32_t n, const VfMatrix *kernel, VfTokens **out,
                          VfErr *err)
{
    VfMatrix *kept = NULL;
    if (kernel != NULL) {
        kept = VF_NEW(walk->arena, VfMatrix);
        VF_TRY_ALLOC(kept, err);
        *kept = *kernel;
    }
    *out = vf_tokens_new(walk, (VfTokens){.source = walk->n_source++, .n = n, .kernel = kept,
                                          .factor = 1, .site = -1});
    VF_TRY_ALLOC(*out, err);
    return VF_OK;
}
