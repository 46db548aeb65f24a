#include "converter/api/signal.h"

#include <math.h>

/* From T diagonal entries, the sum of all correlations and the sum of their squares. */
static VfSignalShape shape_of(double tokens, double sum, double squares, double low, double high)
{
    VfSignalShape shape = {(double)NAN, (double)NAN, low, high};
    if (tokens > 1 && low > 0 && isfinite(sum) && isfinite(high)) {
        shape.correlation = (sum - tokens) / (tokens * (tokens - 1));
        shape.rank = tokens * tokens / squares;
    }
    return shape;
}

VfSignalShape vf_signal_shape(const VfMatrix *kernel)
{
    double sum = 0, squares = 0, low = kernel->at[0], high = low;
    for (int32_t i = 0; i < kernel->n_row; i++) {
        double own = vf_matrix_row(kernel, i)[i];
        low = fmin(low, own);
        high = fmax(high, own);
        for (int32_t j = 0; j < kernel->n_col; j++) {
            double c = vf_matrix_row(kernel, i)[j] / sqrt(own * vf_matrix_row(kernel, j)[j]);
            sum += c;
            squares += c * c;
        }
    }
    return shape_of(kernel->n_row, sum, squares, low, high);
}

/* Sum of the squares of all products of two rows of `n` x `width`. */
static double gram_squares(const double *x, int32_t n, int32_t width)
{
    double sum = 0;
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j <= i; j++) {
            double product = 0;
            for (int32_t c = 0; c < width; c++)
                product += x[(int64_t)i * width + c] * x[(int64_t)j * width + c];
            sum += (i == j ? 1 : 2) * product * product;
        }
    return sum;
}

static double *transposed(VfArena *arena, const double *x, int32_t n, int32_t width)
{
    double *t = VF_NEW_ARRAY(arena, double, (size_t)n * (size_t)width);
    for (int32_t i = 0; t != NULL && i < n; i++)
        for (int32_t c = 0; c < width; c++)
            t[(int64_t)c * n + i] = x[(int64_t)i * width + c];
    return t;
}

/* The tokens divided by their lengths; the lengths' mean squares in `low` and `high`. */
static double *normalised(VfArena *arena, const double *x, int32_t n, int32_t width, double *low,
                          double *high)
{
    double *unit = VF_NEW_ARRAY(arena, double, (size_t)n * (size_t)width);
    for (int32_t i = 0; unit != NULL && i < n; i++) {
        const double *row = x + (int64_t)i * width;
        double square = 0;
        for (int32_t c = 0; c < width; c++)
            square += row[c] * row[c];
        *low = i == 0 ? square / width : fmin(*low, square / width);
        *high = i == 0 ? square / width : fmax(*high, square / width);
        for (int32_t c = 0; c < width; c++)
            unit[(int64_t)i * width + c] = row[c] / sqrt(square);
    }
    return unit;
}

/* No T x T matrix: the sum of all products is a squared sum of rows, and U Uᵀ has the squares of
 * Uᵀ U, of which one is small. */
VfStatus vf_signal_shape_of_tokens(VfArena *arena, const double *x, int32_t tokens, int32_t width,
                                   VfSignalShape *shape, VfErr *err)
{
    double low = 0, high = 0, sum = 0, squares;
    double *unit = normalised(arena, x, tokens, width, &low, &high);
    VF_TRY_ALLOC(unit, err);
    for (int32_t c = 0; c < width; c++) {
        double column = 0;
        for (int32_t i = 0; i < tokens; i++)
            column += unit[(int64_t)i * width + c];
        sum += column * column;
    }
    if (tokens <= width) {
        squares = gram_squares(unit, tokens, width);
    } else {
        double *turned = transposed(arena, unit, tokens, width);
        VF_TRY_ALLOC(turned, err);
        squares = gram_squares(turned, width, tokens);
    }
    *shape = shape_of(tokens, sum, squares, low, high);
    return VF_OK;
}

/* The products of all rows, or of all columns where they are fewer. */
static VfStatus gram_of(VfArena *arena, const VfMatrix *m, VfMatrix *gram, VfErr *err)
{
    VfMatrix side = *m;
    if (m->n_row > m->n_col) {
        VF_TRY(vf_matrix_new(arena, m->n_col, m->n_row, &side, err));
        for (int32_t i = 0; i < m->n_row; i++)
            for (int32_t j = 0; j < m->n_col; j++)
                vf_matrix_row(&side, j)[i] = vf_matrix_row(m, i)[j];
    }
    VF_TRY(vf_matrix_new(arena, side.n_row, side.n_row, gram, err));
    vf_matrix_multiply_transposed(&side, &side, gram);
    return VF_OK;
}

/* Squared singular values are exact to 1e-16 of the largest, the square of the limit is far
 * above that. */
VfStatus vf_signal_rank(VfArena *arena, const VfMatrix *matrix, int32_t *rank, VfErr *err)
{
    static const double float_epsilon = 1.1920928955078125e-7;
    int32_t longer = matrix->n_row > matrix->n_col ? matrix->n_row : matrix->n_col;
    VfMatrix gram;
    VF_TRY(gram_of(arena, matrix, &gram, err));
    double *number = VF_NEW_ARRAY(arena, double, 4 * (size_t)gram.n_row), most = 0;
    VF_TRY_ALLOC(number, err);
    vf_matrix_tridiagonalise(&gram, number, number + gram.n_row, number + 2 * gram.n_row);
    VF_TRY(vf_tridiagonal_eigen(gram.n_row, number, number + gram.n_row, err));
    for (int32_t i = 0; i < gram.n_row; i++)
        most = fmax(most, number[i]);
    double limit = longer * float_epsilon;
    *rank = 0;
    for (int32_t i = 0; i < gram.n_row; i++)
        *rank += number[i] > most * limit * limit;
    return VF_OK;
}
