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

/* What the function of a model returns: done; the batch is out of range and nothing was written; an
 * index lies outside the axis that it counts along, and the outputs mean nothing. */
enum { EXECUTOR_OK = 0, EXECUTOR_BAD_BATCH = 1, EXECUTOR_BAD_INDEX = 3 };

typedef struct ExecutorTensor {
    const char *name;
    const char *type;    /* of an element, as npy files spell it: "<f4", "<i8", "|b1", ... */
    size_t element_bytes;
    int rank;
    const int64_t *dims; /* `rank` of them, with the largest batch */
    /* How much each dim grows with each more in the batch; NULL where there is no choice. */
    const int64_t *per_batch;
    size_t bytes; /* C order, little endian; with the largest batch */
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
    /* The batches that the model can be run with; both 0 where all shapes are fixed. */
    int64_t min_batch, max_batch;
    /* in[i] holds in[i].bytes bytes, out[i] gets out[i].bytes; each aligned for its type. One of
     * the two is there: `run_batch` where the caller chooses the batch. */
    int (*run)(const void *weights, void *arena, const void *const *in, void *const *out);
    int (*run_batch)(int64_t batch, const void *weights, void *arena, const void *const *in,
                     void *const *out);
} Executor;

/* The models of this program, the first one first. */
extern const Executor *const executor_model[];
extern const int executor_count;

#endif
