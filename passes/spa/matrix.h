/* Dense matrices of doubles in an arena, for the mathematics of token kernels.
 *
 * Rows follow one another without gaps. Plain loops: the sizes are token counts, a few thousand
 * at most, and nothing here runs when a converted model does.
 */
#ifndef VF_SPA_MATRIX_H
#define VF_SPA_MATRIX_H

#include <stdint.h>

#include "runtime/base/arena.h"

/* Rows and columns are at most this: a square matrix then takes 128 MiB. */
enum { VF_MATRIX_MAX = 4096 };

typedef struct VfMatrix {
    int32_t n_row, n_col;
    double *at; /* n_row * n_col, row by row */
} VfMatrix;

static inline double *vf_matrix_row(const VfMatrix *m, int32_t row)
{
    return m->at + (int64_t)row * m->n_col;
}

/* A matrix of zeros in `arena`. VF_UNSUPPORTED: a size is not in 1..VF_MATRIX_MAX. */
VfStatus vf_matrix_new(VfArena *arena, int32_t n_row, int32_t n_col, VfMatrix *m, VfErr *err);

/* The identity. */
VfStatus vf_matrix_identity(VfArena *arena, int32_t n, VfMatrix *m, VfErr *err);

/* out = a b and out = a bᵀ. The sizes agree and `out` is neither `a` nor `b`. */
void vf_matrix_multiply(const VfMatrix *a, const VfMatrix *b, VfMatrix *out);
void vf_matrix_multiply_transposed(const VfMatrix *a, const VfMatrix *b, VfMatrix *out);

/* out = vᵀ diag(w) v for rows v: a function of a symmetric matrix from its eigenvectors. */
VfStatus vf_matrix_from_eigen(VfArena *scratch, const VfMatrix *v, const double *w, VfMatrix *out,
                              VfErr *err);

/* The symmetric matrix `a`, which is lost, made tridiagonal by Householder reflections: same
 * eigenvalues. `diagonal` and `off` (n each) as below; `scratch` has room for 2 n numbers. */
void vf_matrix_tridiagonalise(VfMatrix *a, double *diagonal, double *off, double *scratch);

/* Eigenvalues of a symmetric tridiagonal matrix of size `n`, by the QL method with implicit
 * shifts. `diagonal` (n) becomes the eigenvalues in no order; `off` (n), whose item i stands
 * between i and i + 1 and whose last is ignored, is lost. VF_INTERNAL: no convergence. */
VfStatus vf_tridiagonal_eigen(int32_t n, double *diagonal, double *off, VfErr *err);

#endif
