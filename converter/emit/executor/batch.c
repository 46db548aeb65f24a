#include "batch.h"

#include <stdio.h>
#include <stdlib.h>

#include "npy.h"

/* Copies of `n` tensors; their dims go to `*dims` and behind. */
static ExecutorTensor *fit(const Executor *model, const ExecutorTensor *tensor, int n,
                           int64_t batch, int64_t **dims)
{
    ExecutorTensor *fitted = calloc((size_t)n + 1, sizeof *fitted);
    for (int i = 0; fitted != NULL && i < n; i++) {
        fitted[i] = tensor[i];
        if (tensor[i].per_batch == NULL)
            continue;
        fitted[i].dims = *dims;
        fitted[i].bytes = tensor[i].element_bytes;
        for (int k = 0; k < tensor[i].rank; k++) {
            int64_t dim = tensor[i].dims[k] - tensor[i].per_batch[k] * (model->max_batch - batch);
            fitted[i].bytes *= (size_t)dim;
            *(*dims)++ = dim;
        }
    }
    return fitted;
}

int batch_fit(const Executor *model, int64_t batch, Fitted *fitted)
{
    size_t n = 1;
    for (int i = 0; i < model->n_in; i++)
        n += (size_t)model->in[i].rank;
    for (int i = 0; i < model->n_out; i++)
        n += (size_t)model->out[i].rank;
    *fitted = (Fitted){.batch = batch, .dims = malloc(n * sizeof(int64_t))};
    if (fitted->dims == NULL)
        return 0;
    int64_t *dims = fitted->dims;
    fitted->in = fit(model, model->in, model->n_in, batch, &dims);
    fitted->out = fit(model, model->out, model->n_out, batch, &dims);
    return fitted->in != NULL && fitted->out != NULL;
}

void batch_release(Fitted *fitted)
{
    free(fitted->in);
    free(fitted->out);
    free(fitted->dims);
}

int64_t batch_of_file(const Executor *model, const ExecutorTensor *tensor, const char *path)
{
    const int64_t *slope = tensor->per_batch;
    /* The first dim must be the batch, or a multiple of it, and nothing else. */
    if (slope == NULL || slope[0] < 1 || tensor->dims[0] != slope[0] * model->max_batch)
        return 0;
    int64_t rows = npy_rows(path);
    return rows < 1 ? 0 : rows / slope[0];
}

void batch_print_dim(const Executor *model, const ExecutorTensor *tensor, int i)
{
    int64_t slope = tensor->per_batch == NULL ? 0 : tensor->per_batch[i];
    int64_t start = tensor->dims[i] - slope * model->max_batch;
    if (slope == 0 || start != 0)
        printf("%lld%s", (long long)start, slope == 0 ? "" : " + ");
    if (slope != 0 && slope != 1)
        printf("%lld * ", (long long)slope);
    if (slope != 0)
        printf("batch");
}
