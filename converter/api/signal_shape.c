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

/* Rows take the place of columns: the rank is the same. The row with the largest rest goes to
 * place k. */
static double bring_largest(VfMatrix *m, int32_t k)
{
    int32_t best = k;
    double most = -1;
    for (int32_t i = k; i < m->n_row; i++) {
        double square = 0;
        for (int32_t c = 0; c < m->n_col; c++)
            square += vf_matrix_row(m, i)[c] * vf_matrix_row(m, i)[c];
        if (square > most) {
            most = square;
            best = i;
        }
    }
    for (int32_t c = 0; c < m->n_col; c++) {
        double swap = vf_matrix_row(m, k)[c];
        vf_matrix_row(m, k)[c] = vf_matrix_row(m, best)[c];
        vf_matrix_row(m, best)[c] = swap;
    }
    return sqrt(most);
}

/* Take the direction of row k out of the rows behind it. */
static void take_out(VfMatrix *m, int32_t k, double length)
{
    const double *pivot = vf_matrix_row(m, k);
    for (int32_t i = k + 1; i < m->n_row; i++) {
        double *row = vf_matrix_row(m, i), share = 0;
        for (int32_t c = 0; c < m->n_col; c++)
            share += row[c] * pivot[c];
        share /= length * length;
        for (int32_t c = 0; c < m->n_col; c++)
            row[c] -= share * pivot[c];
    }
}

int32_t vf_signal_rank(VfMatrix *matrix)
{
    static const double float_epsilon = 1.1920928955078125e-7;
    int32_t longer = matrix->n_row > matrix->n_col ? matrix->n_row : matrix->n_col;
    int32_t most = matrix->n_row < matrix->n_col ? matrix->n_row : matrix->n_col;
    double first = 0;
    for (int32_t k = 0; k < most; k++) {
        double length = bring_largest(matrix, k);
        if (k == 0)
            first = length;
        if (!(length > longer * float_epsilon * first))
            return k;
        take_out(matrix, k, length);
    }
    return most;
}
