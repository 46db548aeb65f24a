/* A compiled model as plain C: what main.c and other callers need to know of it.
 *
 * The function `run` allocates nothing, keeps no state and does no input or output. It may be
 * called by several threads at once, each with an arena and results of its own. Weights are only
 * read and may be shared.
 */
#ifndef VF_EXECUTOR_H
#define VF_EXECUTOR_H

#include <stddef.h>
#include <stdint.h>

enum { EXECUTOR_ALIGNMENT = 64 }; /* of arena and weights, in bytes */

typedef struct ExecutorTensor {
    const char *name;
    const char *type;    /* of an element, as npy files spell it: "<f4", "<i8", "|b1", ... */
    size_t element_bytes;
    int rank;
    const int64_t *dims; /* `rank` of them */
    size_t bytes;        /* C order, little endian */
} ExecutorTensor;

typedef struct Executor {
    const char *name;
    int n_in, n_out;
    const ExecutorTensor *in, *out;
    size_t arena_bytes;
    size_t weights_bytes;
    uint64_t weights_digest;   /* FNV-1a of the weights, 64 bits */
    const void *weights;       /* the weights themselves, or NULL: they are in a file */
    const char *weights_file;
    size_t file_bytes;         /* of that file */
    /* Make `weights_bytes` of weights out of the bytes of the file, where it holds them in a
     * smaller type; NULL: the file holds them as they are. */
    void (*widen)(const void *file, void *weights);
    /* in[i] holds in[i].bytes bytes, out[i] gets out[i].bytes; each aligned for its type. */
    void (*run)(const void *weights, void *arena, const void *const *in, void *const *out);
} Executor;

/* The models of this program, the first one first. */
extern const Executor *const executor_model[];
extern const int executor_count;

#endif
