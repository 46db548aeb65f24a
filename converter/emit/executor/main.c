/* Runs a compiled model on npy files, times it and checks its results.
 *
 *     executor [options]
 *       --in NAME=FILE.npy      an input, by name or number; inputs not named hold zeros
 *       --out NAME=FILE.npy     write an output
 *       --expect NAME=FILE.npy  compare an output; exit status 1 where it differs
 *       --rtol X --atol X       allowed: atol + rtol |expected|; 1e-4 and 1e-5
 *       --batch N               where the model leaves it open; else that of the inputs' files,
 *                               else the smallest
 *       --weights FILE          instead of the file that the program was written with
 *       --which N               the model, counted from 0, where there are several
 *       --compare               run the first two models and print how far their outputs differ
 *       --repeats N             run N times and print the times
 *       --list                  print names, shapes and sizes
 *
 * Exit status: 0 done, 1 a check failed, 2 wrong usage, 3 index out of range, 6 file fault.
 */
#define _POSIX_C_SOURCE 200809L

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "batch.h"
#include "executor.h"
#include "npy.h"

#ifdef EXECUTOR_BLAS
/* Of the kernels: OpenBLAS computes each product on the thread that asks for it. */
void vfk_blas_single_thread(void);
#endif

enum { DONE = 0, DIFFERS = 1, USAGE = 2, INVALID = 3, IO = 6, NOT_GIVEN = -1 };

typedef struct File {
    const char *name; /* of the tensor, not terminated */
    size_t name_size;
    const char *path;
} File;

typedef struct Files {
    File *file;
    int n;
} Files;

typedef struct Options {
    Files in, out, expect;
    double rtol, atol;
    const char *weights;
    int which, repeats, compare, list;
    int batch; /* or NOT_GIVEN */
} Options;

/* Memory of one model. */
typedef struct Memory {
    Fitted fitted; /* the tensors with the sizes of the batch */
    void *arena;
    void *mapped, *own_weights; /* the file; what was made of it */
    const void *weights;
    void **in, **out;
} Memory;

static int fail(int status, const char *what, const char *about)
{
    fprintf(stderr, "executor: %s '%s'\n", what, about);
    return status;
}

static int fail_name(const char *what, const File *file)
{
    fprintf(stderr, "executor: %s '%.*s'\n", what, (int)file->name_size, file->name);
    return USAGE;
}

/* Aligned, zeroed; never NULL for a size that fits. */
static void *new_memory(size_t bytes)
{
    size_t rounded = (bytes + EXECUTOR_ALIGNMENT) / EXECUTOR_ALIGNMENT * EXECUTOR_ALIGNMENT;
    void *memory = rounded > bytes ? aligned_alloc(EXECUTOR_ALIGNMENT, rounded) : NULL;
    return memory == NULL ? NULL : memset(memory, 0, rounded);
}

static int add_file(Files *files, const char *word)
{
    const char *equal = strchr(word, '=');
    /* The last one: names may hold any byte, paths seldom this one. */
    for (const char *next = equal; next != NULL; next = strchr(next + 1, '='))
        equal = next;
    if (equal == NULL)
        return fail(USAGE, "expected NAME=FILE.npy, not", word);
    files->file[files->n++] = (File){word, (size_t)(equal - word), equal + 1};
    return DONE;
}

/* To where a place is given. Numbers are not negative. */
static int parse_number(const char *word, double *number, int *integer)
{
    char *end;
    double value = strtod(word, &end);
    int is_good = *end == '\0' && end != word && value >= 0;
    if (integer != NULL && is_good && value <= 1e9 && value == floor(value))
        *integer = (int)value;
    else if (integer != NULL)
        return 0;
    if (number != NULL && is_good)
        *number = value;
    return number == NULL || is_good;
}

static int check_options(const Options *options)
{
    int is_single = options->out.n > 0 || options->expect.n > 0 || options->weights != NULL;
    if (options->which < 0 || options->which >= executor_count)
        return fail(USAGE, "there is no such", "--which");
    if (options->compare && executor_count < 2)
        return fail(USAGE, "this program holds one model only, so there is no", "--compare");
    if (options->compare && is_single)
        return fail(USAGE, "of one model are --out, --expect and --weights, of two", "--compare");
    return DONE;
}

static int parse(int argc, char **argv, Options *options)
{
    const struct {
        const char *word;
        Files *files;
        const char **text;
        double *number;
        int *integer, *flag;
    } row[] = {{"--in", &options->in, NULL, NULL, NULL, NULL},
               {"--out", &options->out, NULL, NULL, NULL, NULL},
               {"--expect", &options->expect, NULL, NULL, NULL, NULL},
               {"--weights", NULL, &options->weights, NULL, NULL, NULL},
               {"--rtol", NULL, NULL, &options->rtol, NULL, NULL},
               {"--atol", NULL, NULL, &options->atol, NULL, NULL},
               {"--which", NULL, NULL, NULL, &options->which, NULL},
               {"--repeats", NULL, NULL, NULL, &options->repeats, NULL},
               {"--batch", NULL, NULL, NULL, &options->batch, NULL},
               {"--compare", NULL, NULL, NULL, NULL, &options->compare},
               {"--list", NULL, NULL, NULL, NULL, &options->list}};
    for (int i = 1; i < argc; i++) {
        size_t k = 0, n = sizeof row / sizeof row[0];
        while (k < n && strcmp(argv[i], row[k].word) != 0)
            k++;
        if (k == n)
            return fail(USAGE, "unknown option", argv[i]);
        if (row[k].flag != NULL) {
            *row[k].flag = 1;
            continue;
        }
        if (++i == argc)
            return fail(USAGE, "no value for option", argv[i - 1]);
        if (row[k].files != NULL && add_file(row[k].files, argv[i]) != DONE)
            return USAGE;
        if (row[k].text != NULL)
            *row[k].text = argv[i];
        if (!parse_number(argv[i], row[k].number, row[k].integer))
            return fail(USAGE, "expected a number, not", argv[i]);
    }
    return check_options(options);
}

static int find(const ExecutorTensor *tensor, int n, const File *file)
{
    for (int i = 0; i < n; i++) {
        if (strlen(tensor[i].name) == file->name_size &&
            memcmp(tensor[i].name, file->name, file->name_size) == 0)
            return i;
    }
    /* Names may hold what cannot be typed: their number will do, too. */
    char *end;
    unsigned long number = strtoul(file->name, &end, 10);
    int is_number = file->name_size > 0 && end == file->name + file->name_size;
    return is_number && number < (unsigned long)n ? (int)number : -1;
}

/* --- weights --- */

static uint64_t digest(const unsigned char *data, size_t size)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ data[i]) * 0x100000001b3u;
    return hash;
}

/* The file is mapped: only what is used is read, and processes share it. */
static int map_weights(const Executor *model, const char *path, Memory *memory)
{
    struct stat facts;
    int fd = open(path, O_RDONLY);
    if (fd < 0)
        return fail(IO, "cannot open weights", path);
    int is_whole = fstat(fd, &facts) == 0 && (uintmax_t)facts.st_size == model->file_bytes;
    void *bytes = is_whole ? mmap(NULL, model->file_bytes, PROT_READ, MAP_PRIVATE, fd, 0)
                           : MAP_FAILED;
    close(fd);
    if (bytes == MAP_FAILED)
        return fail(IO, is_whole ? "cannot map weights" : "not the weights of this model:", path);
    memory->weights = memory->mapped = bytes;
    return DONE;
}

static int read_weights(const Executor *model, const char *path, Memory *memory)
{
    int status = map_weights(model, path, memory);
    if (status == DONE && model->widen != NULL) {
        memory->own_weights = new_memory(model->weights_bytes);
        memory->weights = memory->own_weights;
        if (memory->own_weights == NULL)
            return fail(IO, "no memory for weights of", path);
        model->widen(memory->mapped, memory->own_weights);
    }
    if (status == DONE &&
        digest(memory->weights, model->weights_bytes) != model->weights_digest)
        return fail(IO, "not the weights of this model:", path);
    return status;
}

static int get_weights(const Executor *model, const char *given, Memory *memory)
{
    memory->weights = model->weights;
    if (model->weights != NULL || model->weights_bytes == 0)
        return DONE;
    return read_weights(model, given != NULL ? given : model->weights_file, memory);
}

/* --- the batch --- */

static int choose_batch(const Executor *model, const Options *options, int64_t *batch)
{
    char what[96], number[24];
    *batch = options->batch == NOT_GIVEN ? 0 : options->batch;
    if (model->max_batch == 0)
        return options->batch == NOT_GIVEN
                   ? DONE
                   : fail(USAGE, "all shapes are fixed, so there is no", "--batch");
    for (int i = 0; i < options->in.n && options->batch == NOT_GIVEN && *batch == 0; i++) {
        int at = find(model->in, model->n_in, &options->in.file[i]);
        *batch = at < 0 ? 0 : batch_of_file(model, &model->in[at], options->in.file[i].path);
    }
    if (options->batch == NOT_GIVEN && *batch == 0)
        *batch = model->min_batch;
    if (*batch >= model->min_batch && *batch <= model->max_batch)
        return DONE;
    snprintf(what, sizeof what, "the model takes batches of %lld to %lld, not of",
             (long long)model->min_batch, (long long)model->max_batch);
    snprintf(number, sizeof number, "%lld", (long long)*batch);
    return fail(USAGE, what, number);
}

/* --- running --- */

static int prepare(const Executor *model, int64_t batch, const char *weights, Memory *memory)
{
    memory->arena = new_memory(model->arena_bytes);
    memory->in = calloc((size_t)model->n_in + 1, sizeof *memory->in);
    memory->out = calloc((size_t)model->n_out + 1, sizeof *memory->out);
    int is_ready = memory->arena != NULL && memory->in != NULL && memory->out != NULL &&
                   batch_fit(model, batch, &memory->fitted);
    for (int i = 0; is_ready && i < model->n_in; i++)
        is_ready = (memory->in[i] = new_memory(memory->fitted.in[i].bytes)) != NULL;
    for (int i = 0; is_ready && i < model->n_out; i++)
        is_ready = (memory->out[i] = new_memory(memory->fitted.out[i].bytes)) != NULL;
    return is_ready ? get_weights(model, weights, memory) : fail(IO, "no memory for", model->name);
}

static int read_inputs(const Executor *model, const Files *files, Memory *memory)
{
    for (int i = 0; i < files->n; i++) {
        int at = find(model->in, model->n_in, &files->file[i]);
        if (at < 0)
            return fail_name("the model (see --list) has no input", &files->file[i]);
        const char *why = npy_read(files->file[i].path, &memory->fitted.in[at], memory->in[at]);
        if (why != NULL)
            return fail(IO, why, files->file[i].path);
    }
    return DONE;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec * 1e-6;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int call(const Executor *model, Memory m)
{
    const void *const *in = (const void *const *)m.in;
    return model->run_batch == NULL ? model->run(m.weights, m.arena, in, m.out)
                                    : model->run_batch(m.fitted.batch, m.weights, m.arena, in,
                                                       m.out);
}

static int run(const Executor *model, Memory *memory, int repeats)
{
    double *time = malloc((size_t)(repeats + 1) * sizeof *time);
    if (time == NULL)
        return fail(IO, "no memory for", "--repeats");
    int status = EXECUTOR_OK;
    for (int i = 0; (i < repeats || i == 0) && status == EXECUTOR_OK; i++) {
        double start = now();
        status = call(model, *memory);
        time[i] = now() - start;
    }
    if (repeats > 0 && status == EXECUTOR_OK) {
        qsort(time, (size_t)repeats, sizeof *time, compare_doubles);
        printf("%s", model->name);
        if (memory->fitted.batch > 0)
            printf(", batch %lld", (long long)memory->fitted.batch);
        printf(": %d runs, least %.3f ms, median %.3f ms, most %.3f ms\n", repeats, time[0],
               time[repeats / 2], time[repeats - 1]);
    }
    free(time);
    return status == EXECUTOR_OK ? DONE : fail(INVALID, "an index is out of range in", model->name);
}

/* --- results --- */

/* Compare `a` with what is right; prints one line. */
static int check(const ExecutorTensor *tensor, const void *a, const void *right,
                 const Options *options)
{
    double worst = 0.0, most = 0.0;
    size_t n = tensor->bytes / tensor->element_bytes, n_bad = 0;
    int is_equal = memcmp(a, right, tensor->bytes) == 0;
    for (size_t i = 0; i < n && !is_equal; i++) {
        double x = npy_element(tensor, a, i), y = npy_element(tensor, right, i);
        int is_same = x == y || (isnan(x) && isnan(y));
        double distance = is_same ? 0.0 : fabs(x - y);
        /* Near an infinity there is nothing, though every share of it is infinite, too. */
        int is_near = isfinite(y) && distance <= options->atol + options->rtol * fabs(y);
        n_bad += is_same || is_near ? 0u : 1u;
        worst = distance > worst || isnan(distance) ? distance : worst;
        most = fmax(most, fabs(y));
    }
    if (is_equal)
        printf("%s: %zu elements, equal to the bit\n", tensor->name, n);
    else
        printf("%s: %zu elements, %zu differ by more than allowed, at most by %.3g of %.3g\n",
               tensor->name, n, n_bad, worst, most);
    return n_bad == 0 ? DONE : DIFFERS;
}

static int check_expected(const Executor *model, const Options *options, const Memory *memory)
{
    int status = DONE;
    for (int i = 0; i < options->expect.n; i++) {
        const File *file = &options->expect.file[i];
        int at = find(model->out, model->n_out, file);
        if (at < 0)
            return fail_name("the model (see --list) has no output", file);
        const ExecutorTensor *tensor = &memory->fitted.out[at];
        void *right = new_memory(tensor->bytes);
        const char *why = right == NULL ? "no memory for"
                                        : npy_read(file->path, tensor, right);
        int found = why != NULL ? fail(IO, why, file->path)
                                : check(tensor, memory->out[at], right, options);
        free(right);
        if (found == IO)
            return IO;
        status = found != DONE ? found : status;
    }
    return status;
}

static int write_outputs(const Executor *model, const Files *files, const Memory *memory)
{
    for (int i = 0; i < files->n; i++) {
        int at = find(model->out, model->n_out, &files->file[i]);
        if (at < 0)
            return fail_name("the model (see --list) has no output", &files->file[i]);
        const char *why = npy_write(files->file[i].path, &memory->fitted.out[at], memory->out[at]);
        if (why != NULL)
            return fail(IO, why, files->file[i].path);
    }
    return DONE;
}

static void print_tensor(const Executor *model, const char *kind, const ExecutorTensor *tensor)
{
    printf("  %s %s: %s [", kind, tensor->name, tensor->type);
    for (int i = 0; i < tensor->rank; i++) {
        printf("%s", i > 0 ? ", " : "");
        batch_print_dim(model, tensor, i);
    }
    printf("], %zu bytes\n", tensor->bytes);
}

static void list(const Executor *model)
{
    printf("%s: arena %zu bytes, weights %zu bytes\n", model->name, model->arena_bytes,
           model->weights_bytes);
    if (model->max_batch > 0)
        printf("  batches of %lld to %lld; bytes are those of the largest\n",
               (long long)model->min_batch, (long long)model->max_batch);
    for (int i = 0; i < model->n_in; i++)
        print_tensor(model, "in ", &model->in[i]);
    for (int i = 0; i < model->n_out; i++)
        print_tensor(model, "out", &model->out[i]);
}

/* Outputs of the second model against those of the first, by name, else by number. */
static int compare_models(const Options *options, const Memory *memory)
{
    const Executor *first = executor_model[0], *second = executor_model[1];
    int status = DONE;
    for (int i = 0; i < first->n_out; i++) {
        const ExecutorTensor *a = &memory[0].fitted.out[i];
        int k = find(second->out, second->n_out, &(File){a->name, strlen(a->name), NULL});
        k = k < 0 && i < second->n_out ? i : k;
        const ExecutorTensor *b = k < 0 ? NULL : &memory[1].fitted.out[k];
        if (b == NULL)
            status = fail(DIFFERS, "the second model has no output", a->name);
        else if (a->bytes != b->bytes || strcmp(a->type, b->type) != 0)
            status = fail(DIFFERS, "the models differ in type or shape of", a->name);
        else if (check(b, memory[1].out[k], memory[0].out[i], options) != DONE)
            status = DIFFERS;
    }
    if (first->n_out < second->n_out)
        status = fail(DIFFERS, "more outputs than the first model's has", second->name);
    return status;
}

static int run_model(int which, const Options *options, Memory *memory)
{
    const Executor *model = executor_model[which];
    int64_t batch;
    int status = choose_batch(model, options, &batch);
    if (status == DONE)
        status = prepare(model, batch, options->weights, memory);
    if (status == DONE)
        status = read_inputs(model, &options->in, memory);
    return status == DONE ? run(model, memory, options->repeats) : status;
}

static void release(const Executor *model, Memory *memory)
{
    for (int i = 0; memory->in != NULL && i < model->n_in; i++)
        free(memory->in[i]);
    for (int i = 0; memory->out != NULL && i < model->n_out; i++)
        free(memory->out[i]);
    free(memory->in);
    free(memory->out);
    batch_release(&memory->fitted);
    free(memory->arena);
    free(memory->own_weights);
    if (memory->mapped != NULL)
        munmap(memory->mapped, model->file_bytes);
}

static int act(const Options *options)
{
    Memory memory[2] = {{.arena = NULL}};
    for (int i = 0; options->list && i < executor_count; i++)
        list(executor_model[i]);
    if (options->list)
        return DONE;
#ifdef EXECUTOR_BLAS
    vfk_blas_single_thread();
#endif
    int status = DONE, first = options->compare ? 0 : options->which;
    int last = options->compare ? 1 : first;
    for (int i = first; i <= last && status == DONE; i++)
        status = run_model(i, options, &memory[i - first]);
    if (status == DONE && options->compare)
        status = compare_models(options, memory);
    if (status == DONE && !options->compare)
        status = write_outputs(executor_model[first], &options->out, &memory[0]);
    if (status == DONE && !options->compare)
        status = check_expected(executor_model[first], options, &memory[0]);
    for (int i = first; i <= last; i++)
        release(executor_model[i], &memory[i - first]);
    return status;
}

int main(int argc, char **argv)
{
    size_t n = (size_t)argc + 1; /* there are fewer files than words */
    File *file = calloc(3 * n, sizeof *file);
    Options options = {{file, 0}, {file + n, 0}, {file + 2 * n, 0}, 1e-4, 1e-5, .batch = NOT_GIVEN};
    int status = file == NULL ? fail(IO, "no memory for", "options") : parse(argc, argv, &options);
    if (status == DONE)
        status = act(&options);
    free(file);
    return fflush(stdout) == 0 && !ferror(stdout) ? status : fail(IO, "cannot write", "stdout");
}
