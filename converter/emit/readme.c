/* README.md: what a reader does with the folder, and how a caller calls the function. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "converter/emit/program.h"
#include "converter/emit/spell.h"

enum { MAX_NUMBER = 32 };

static void print_files(const VfEmitProgram *program, int32_t n, VfText *text)
{
    vf_text_string(text, "## What is here\n\n| file | what |\n|---|---|\n");
    for (int32_t i = 0; i < n; i++) {
        const char *stem = program[i].stem;
        vf_text_printf(text, "| `%s.h` | the function `%s_run`, its inputs and outputs, the "
                             "memory it "
                       "needs |\n", stem, stem);
        vf_text_printf(text, "| `%s.c` | that function: one call of a kernel for each step%s "
                             "|\n", stem,
                       program->options->is_single_file ? ", and the kernels" : "");
        if (vf_emit_has_weights_file(&program[i]))
            vf_text_printf(text, "| `%s.weights` | its weights, %zu bytes |\n", stem,
                           program[i].weights.file_bytes);
        else if (program[i].weights.bytes > 0)
            vf_text_printf(text, "| `%s_weights.c` | its weights |\n", stem);
    }
    if (!program->options->is_single_file)
        vf_text_string(text, "| `runtime/kernels/` | the kernels, as vitfold itself runs them |\n");
    vf_text_string(text, "| `executor.h`, `executors.c` | what `main.c` knows of a model; the "
                         "models "
                         "of this program |\n"
                         "| `main.c`, `batch.[ch]`, `npy.[ch]` | the command line program; not "
                         "needed to call the function |\n| `FILES` | SHA-256 of every file |\n\n");
}

static bool is_name(const VfEmitModel *model, bool is_output, const char *word)
{
    for (int32_t i = 0; i < model->n_sample; i++) {
        VfBytes name = model->sample[i].tensor->name;
        if (model->sample[i].is_output == is_output && name.size == strlen(word) &&
            memcmp(name.data, word, name.size) == 0)
            return true;
    }
    return false;
}

/* The number of a tensor whose name no word can hold, spelled as no other name is. */
static void print_number(const VfEmitModel *model, bool is_output, int32_t number, VfText *text)
{
    char word[MAX_NUMBER];
    int width = 1;
    do
        snprintf(word, sizeof word, "%0*d", width++, number);
    while (width < MAX_NUMBER && is_name(model, is_output, word));
    vf_text_string(text, word);
}

/* The words that name the samples, inputs or outputs. */
static void print_samples(const VfEmitModel *model, bool is_output, VfText *text)
{
    int32_t number = 0;
    for (int32_t i = 0; i < model->n_sample; i++) {
        VfBytes name = model->sample[i].tensor->name;
        if (model->sample[i].is_output != is_output)
            continue;
        vf_text_printf(text, " \\\n        %s ", is_output ? "--expect" : "--in");
        if (name.size == 0 || memchr(name.data, '\0', name.size) != NULL)
            print_number(model, is_output, number, text);
        else
            vf_spell_shell_word(text, name);
        vf_text_printf(text, "=sample/%s_%d.npy", is_output ? "out" : "in", number++);
    }
}

/* --- the program --- */

static const char with_sample[] =
    "\n\nbuilds the program and runs it on the sample in `sample/`. For each output it should "
    "print how many\n"
    "elements it has and `equal to the bit`: the same bytes as vitfold computed. ";
static const char with_narrow_sample[] =
    "\n\nbuilds the program and runs it on the sample in `sample/`. For each output it prints how "
    "far that\n"
    "is from what vitfold computed with the weights before they were stored as %s, and ends with "
    "status 1\n"
    "where it is more than `--rtol` and `--atol` allow, 1e-4 and 1e-5. ";
static const char without_sample[] =
    "\n\nbuilds the program and times it on zeros. There is no sample to check against: "
    "`vitfold emit-c`\n"
    "with `--random 1` writes one. ";
static const char how_to_use[] =
    "A C11 compiler, make and a\nPOSIX system are all it needs.\n\n"
    "`./executor --list` prints the names and shapes of inputs and outputs. `--in NAME=FILE.npy` "
    "gives\n"
    "an input (those not given are zero), `--out NAME=FILE.npy` writes an output, `--expect\n"
    "NAME=FILE.npy` compares one (within `--rtol` and `--atol`, or to the bit) and ends with "
    "status 1\n"
    "where it differs, `--repeats N` times N runs. The top of `main.c` has all options.\n\n";

static void print_check(const VfEmitProgram *program, bool has_sample, VfText *text)
{
    if (!has_sample)
        vf_text_printf(text, " --repeats 10%s", without_sample);
    else if (program->weights.n_narrow > 0)
        vf_text_printf(text, with_narrow_sample,
                       program->weights.dtype == VF_EMIT_F16 ? "f16" : "bf16");
    else
        vf_text_string(text, with_sample);
}

static void print_start(const VfEmitProgram *program, int32_t n, VfText *text)
{
    const VfEmitModel *model = program->model;
    bool has_sample = model->n_sample > 0;
    vf_text_string(text, "## Building and checking\n\n    make\n    ./executor");
    print_samples(model, false, text);
    print_samples(model, true, text);
    print_check(program, has_sample, text);
    vf_text_string(text, how_to_use);
    if (vf_emit_has_weights_file(program))
        vf_text_string(text, "The weights are looked for in the folder where the program is "
                             "started, or where `--weights FILE`\nsays.\n\n");
    if (vf_emit_has_batch(&program->whole))
        vf_text_printf(text, "The batch may be %" PRId64 " to %" PRId64 ": it is the first "
                       "dimension of the inputs' files, or, where none is\ngiven, that of "
                       "`--batch N`.\n\n", program->whole.min, program->whole.max);
    if (n < 2)
        return;
    vf_text_string(text, "There are two models in the program: `--which 0` is `original`, "
                         "`--which 1` is `converted`, and\n\n    ./executor --compare");
    print_samples(model, false, text);
    vf_text_string(text, "\n\nruns both on the same input and prints how far their outputs "
                         "differ.\n\n");
}

/* --- the function --- */

static void print_parameters(const VfEmitProgram *program, VfText *text)
{
    bool has_batch = vf_emit_has_batch(&program->whole);
    vf_text_string(text, "    int compute(");
    vf_text_string(text, has_batch ? "int64_t batch, " : "");
    vf_text_string(text, "const void *weights");
    for (int32_t i = 0; i < program->plan->n_input; i++)
        vf_text_printf(text, ",\n        const void *in_%s", program->in_name[i]);
    for (int32_t i = 0; i < program->plan->n_output; i++)
        vf_text_printf(text, ",\n        void *out_%s", program->out_name[i]);
    vf_text_string(text, ")\n");
}

static void print_pointers(const VfEmitProgram *program, bool is_output, VfText *text)
{
    int32_t n = is_output ? program->plan->n_output : program->plan->n_input;
    const char **name = is_output ? program->out_name : program->in_name;
    if (n == 0)
        return;
    vf_text_printf(text, "        %s[] = {\n",
                   is_output ? "void *const out" : "const void *const in");
    for (int32_t i = 0; i < n; i++)
        vf_text_printf(text, "            [%s_%s_%s] = %s_%s,\n", program->upper,
                       is_output ? "OUT" : "IN", name[i], is_output ? "out" : "in", name[i]);
    vf_text_string(text, "        };\n");
}

/* A function that compiles and calls that of the model. */
static void print_example(const VfEmitProgram *program, VfText *text)
{
    const VfPlan *plan = program->plan;
    bool has_batch = vf_emit_has_batch(&program->whole), has_arena = program->arena_bytes > 0;
    vf_text_printf(text, "    #include \"%s.h\"\n\n", program->stem);
    if (has_arena)
        vf_text_printf(text, "    _Alignas(EXECUTOR_ALIGNMENT) static char "
                       "arena[%s_ARENA_BYTES];\n\n", program->upper);
    print_parameters(program, text);
    vf_text_string(text, "    {\n");
    print_pointers(program, false, text);
    print_pointers(program, true, text);
    vf_text_printf(text, "        return %s_run(%sweights, %s, %s, %s);\n    }\n\n",
                   program->stem, has_batch ? "batch, " : "",
                   has_arena ? "arena" : "NULL", plan->n_input > 0 ? "in" : "NULL",
                   plan->n_output > 0 ? "out" : "NULL");
}

static void print_weights(const VfEmitProgram *program, VfText *text)
{
    const char *stem = program->stem, *upper = program->upper;
    if (program->weights.bytes == 0)
        vf_text_string(text, "There are no weights: `weights` may be `NULL`.\n\n");
    else if (!vf_emit_has_weights_file(program))
        vf_text_printf(text, "`weights` is the array `%s_weights`.\n\n", stem);
    else if (program->weights.n_narrow > 0)
        vf_text_printf(text, "`weights` points at %s_WEIGHTS_BYTES bytes, aligned to 64: "
                       "`%s.widen` makes\nthem of the bytes of `%s.weights`, where they have a "
                       "smaller type.\n\n", upper, stem, stem);
    else
        vf_text_printf(text, "`weights` points at the bytes of `%s.weights`, mapped or read to an "
                       "address that is a multiple of\n64; `%s.weights_digest` is their FNV-1a "
                       "hash.\n\n", stem, stem);
}

static void print_call(const VfEmitProgram *program, VfText *text)
{
    bool has_batch = vf_emit_has_batch(&program->whole);
    vf_text_string(text, "## Calling it\n\n");
    print_example(program, text);
    vf_text_printf(text, "Types and shapes are in `%s.h`. The function neither allocates nor "
                   "keeps anything and may run in\n"
                   "several threads at once, each with an arena of its own.\n\n"
                   "It returns `EXECUTOR_OK`, or `EXECUTOR_BAD_INDEX` where an index that it reads "
                   "lies outside the axis\nthat it counts along: the outputs mean nothing then.%s",
                   program->stem, has_batch ? "\n" : "\n\n");
    if (has_batch)
        vf_text_printf(text, "Or `EXECUTOR_BAD_BATCH`, with nothing computed, where `batch` is not "
                       "in\n[`%s_MIN_BATCH`, `%s_MAX_BATCH`].\n\n", program->upper,
                       program->upper);
    print_weights(program, text);
}

/* --- all --- */

static bool has_blas(const VfEmitProgram *program, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = 0; k < program[i].n_kernel; k++)
            if (program[i].blas[k] != NULL)
                return true;
    return false;
}

static void print_facts(const VfEmitProgram *program, VfText *text)
{
    vf_text_printf(text, "`%s` was written by vitfold %s from the ONNX model with SHA-256\n`%s`.\n"
                   "It is %d calls of %d kernels and takes %zu bytes of weights and %zu bytes of "
                   "arena.\n\n", program->stem, program->options->version, program->model->sha256,
                   program->n_step, program->n_kernel, program->weights.bytes,
                   program->arena_bytes);
}

void vf_emit_readme(const VfEmitProgram *program, int32_t n, VfText *text)
{
    vf_text_string(text, n == 2 ? "# Two models as C\n\n" : "# A model as C\n\n");
    for (int32_t i = 0; i < n; i++)
        print_facts(&program[i], text);
    print_start(program, n, text);
    print_files(program, n, text);
    print_call(program, text);
    vf_text_string(text,
        "## Bits and speed\n\n"
        "The results are the same bits with every compiler and machine that computes IEEE "
        "floating point\n"
        "as it is written: the Makefile forbids fusing multiplications with additions. `make "
        "FMA=1`\n"
        "builds `executor-fma`, whose matrix products and polynomials fuse them, faster and with "
        "the bits of\n"
        "`vitfold run` on machines that can. Where a kernel calls\n"
        "a function of the C library beyond roots and rounding, such as `asin` or `pow`, its last "
        "bit is the\n"
        "library's. Old 32-bit x86 needs `CFLAGS='-O2 -msse2 -mfpmath=sse'`. `-O3\n"
        "-march=native` makes the matrix products use the widest vectors of the machine; the "
        "program may then\n"
        "not run on an older one.");
    if (has_blas(program, n))
        vf_text_string(text, " `make BLAS=1` builds `executor-blas`, which takes matrix products\n"
                             "from OpenBLAS; its results differ by rounding.");
    vf_text_char(text, '\n');
}
