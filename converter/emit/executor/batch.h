/* Inputs and outputs with the sizes that they have for a batch. */
#ifndef VF_EXECUTOR_BATCH_H
#define VF_EXECUTOR_BATCH_H

#include "executor.h"

/* Copies of the tensors of a model, dims and bytes as the batch makes them. */
typedef struct Fitted {
    int64_t batch; /* 0 where all shapes are fixed */
    ExecutorTensor *in, *out;
    int64_t *dims; /* of all of them */
} Fitted;

/* Fill `fitted`, which batch_release frees in any case. 0: no memory. */
int batch_fit(const Executor *model, int64_t batch, Fitted *fitted);
void batch_release(Fitted *fitted);

/* The batch of the npy file of an input, or 0 where that input or file does not tell. */
int64_t batch_of_file(const Executor *model, const ExecutorTensor *tensor, const char *path);

/* Print dim `i`: a number, or "4 + 2 * batch". */
void batch_print_dim(const Executor *model, const ExecutorTensor *tensor, int i);

#endif
