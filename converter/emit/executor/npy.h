/* Arrays in npy files (format 1, 2 or 3, C order, little endian). */
#ifndef VF_EXECUTOR_NPY_H
#define VF_EXECUTOR_NPY_H

#include <stddef.h>

#include "executor.h"

/* Read `path` into `data`. It must have the tensor's type and shape. NULL, or what is wrong. */
const char *npy_read(const char *path, const ExecutorTensor *tensor, void *data);

/* The first dim of the array in `path`; -1 where there is none or the file is no npy file. */
long long npy_rows(const char *path);

/* Write the tensor. NULL, or what is wrong. */
const char *npy_write(const char *path, const ExecutorTensor *tensor, const void *data);

/* Element `i` of `data` as a number. */
double npy_element(const ExecutorTensor *tensor, const void *data, size_t i);

#endif
