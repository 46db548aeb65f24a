#include <limits.h>
#include <string.h>

#include "runtime/kernels/variant.h"

static int fit(int n, const int64_t *number)
{
    for (int i = 0; i < n; i++) {
        if (number[i] > INT_MAX) {
            return 0;
        }
    }
    return 1;
}

static int matmul_fits(const void *params)
{
    const VfkMatmulParams *p = params;
    const int64_t number[] = {vfk_min_i64(p->m, p->block_rows), p->n, p->k, p->lda, p->ldb, p->ldc};
    return fit(sizeof number / sizeof number[0], number);
}

/* The product of the dims, or more than any int. */
static int64_t volume_of(int64_t n, const int64_t dim[3])
{
    for (int axis = 0; axis < 3; axis++) {
        if (__builtin_mul_overflow(n, dim[axis], &n)) {
            return INT64_MAX;
        }
    }
    return n;
}

static int conv_fits(const void *params)
{
    const VfkConvParams *p = params;
    const int64_t number[] = {p->out_channels, volume_of(p->in_channels, p->kernel),
                              volume_of(1, p->out_dim)};
    return fit(sizeof number / sizeof number[0], number);
}

int vfk_fits_int(const VfkKernel *kernel, const void *params)
{
    static const struct {
        const char *params;
        int (*fits)(const void *params);
    } row[] = {{"VfkMatmulParams", matmul_fits}, {"VfkConvParams", conv_fits}};
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        if (strcmp(kernel->params, row[i].params) == 0) {
            return row[i].fits(params);
        }
    }
    return 1;
}
