/* What turns the sources into a program: executors.c, Makefile, README.md. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "converter/emit/program.h"
#include "converter/emit/spell.h"

enum { MAX_NUMBER = 32 };

void vf_emit_executors_c(const VfEmitProgram *program, int32_t n, VfText *text)
{
    vf_text_string(text, "/* The models of this program. */\n");
    for (int32_t i = 0; i < n; i++)
        vf_text_printf(text, "#include \"%s.h\"\n", program[i].stem);
    vf_text_string(text, "\nconst Executor *const executor_model[] = {");
    for (int32_t i = 0; i < n; i++)
        vf_text_printf(text, "%s&%s", i > 0 ? ", " : "", program[i].stem);
    vf_text_printf(text, "};\nconst int executor_count = %d;\n", n);
}

/* --- Makefile --- */

static bool ends_in(const char *path, const char *suffix)
{
    size_t n = strlen(path), m = strlen(suffix);
    return n >= m && strcmp(path + n - m, suffix) == 0;
}

static void print_sources(const VfEmitSet *kernels, bool is_blas, VfText *text)
{
    for (int i = 0; i < kernels->n; i++) {
        const char *path = vf_emit_source[i].path;
        if (kernels->has[i] && ends_in(path, ".c") && ends_in(path, "_blas.c") == is_blas)
            vf_text_printf(text, " \\\n    %s", path);
    }
}

static bool has_blas(const VfEmitSet *kernels)
{
    for (int i = 0; i < kernels->n; i++)
        if (kernels->has[i] && ends_in(vf_emit_source[i].path, "_blas.c"))
            return true;
    return false;
}

static const char makefile_head[] =
    "# make           builds ./executor\n"
    "%s"
    "# make CC=clang CFLAGS=-O2   another compiler, other flags\n"
    "#\n"
    "# Results are the same bits with any compiler that does IEEE arithmetic as written: FLOATS\n"
    "# keeps it from fusing multiplications with additions. FLOATS=-ffp-contract=fast is faster "
    "on\n"
    "# machines that can fuse; results then differ by rounding.\n"
    "CC = cc\n"
    "CFLAGS = -O3 -march=native $(JAM)\n"
    "FLOATS = -ffp-contract=off -fno-math-errno -fno-trapping-math\n"
    "# GCC's unroll-and-jam keeps plain loops from being vectorised.\n"
    "JAM := $(shell echo 'int x;' | $(CC) -Werror -fno-loop-unroll-and-jam -x c -c -o /dev/null - "
    "\\\n"
    "    2>/dev/null && echo -fno-loop-unroll-and-jam)\n\n";

static const char makefile_tail[] =
    "\nOBJECTS = $(SOURCES:%.c=$(BUILD)/%.o)\n\n"
    "$(PROGRAM): $(OBJECTS)\n"
    "\t$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(OBJECTS) $(LDLIBS)\n\n"
    "$(BUILD)/%.o: %.c\n"
    "\t@mkdir -p $(@D)\n"
    "\t$(CC) -std=c11 -I. $(CFLAGS) $(FLOATS) $(DEFINES) -MMD -c -o $@ $<\n\n"
    "-include $(OBJECTS:.o=.d)\n\n"
    "clean:\n"
    "\trm -rf build build-blas executor executor-blas\n\n"
    ".PHONY: clean\n";

void vf_emit_makefile(const VfEmitProgram *program, int32_t n, const VfEmitSet *kernels,
                      VfText *text)
{
    bool is_single = program->options->is_single_file;
    vf_text_printf(text, makefile_head,
                   has_blas(kernels) ? "# make BLAS=1    builds ./executor-blas, which takes "
                                       "matrix "
                                       "products from OpenBLAS\n" : "");
    vf_text_string(text, "SOURCES = main.c batch.c npy.c executors.c");
    for (int32_t i = 0; i < n; i++) {
        vf_text_printf(text, " %s.c", program[i].stem);
        if (program->options->weights_in_c && program[i].weights.bytes > 0)
            vf_text_printf(text, " %s_weights.c", program[i].stem);
    }
    if (!is_single)
        print_sources(kernels, false, text);
    vf_text_string(text, "\nPROGRAM = executor\nBUILD = build\nLDLIBS = -lm\n");
    if (has_blas(kernels)) {
        vf_text_string(text, "\nifdef BLAS\n");
        if (!is_single) {
            vf_text_string(text, "SOURCES +=");
            print_sources(kernels, true, text);
            vf_text_char(text, '\n');
        }
        vf_text_string(text,
            "PROGRAM = executor-blas\nBUILD = build-blas\n"
            "DEFINES = -DEXECUTOR_BLAS $(shell pkg-config --cflags openblas 2>/dev/null)\n"
            "LDLIBS = $(shell pkg-config --libs openblas 2>/dev/null || echo -lopenblas) -lm\n"
            "endif\n");
    }
    vf_text_string(text, makefile_tail);
}

/* --- README.md --- */

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

static const char how_to_use[] =
    "`./executor --list` prints the names and shapes of inputs and outputs. `--in NAME=FILE.npy` "
    "gives\n"
    "an input (those not given are zero), `--out NAME=FILE.npy` writes an output, `--expect\n"
    "NAME=FILE.npy` compares one (within `--rtol` and `--atol`, or to the bit) and ends with "
    "status 1\n"
    "where it differs, `--repeats N` times N runs. The top of `main.c` has all options.\n\n";

static void print_start(const VfEmitProgram *program, int32_t n, VfText *text)
{
    const VfEmitModel *model = program->model;
    bool has_sample = model->n_sample > 0;
    vf_text_string(text, "    make\n    ./executor");
    print_samples(model, false, text);
    print_samples(model, true, text);
    if (!has_sample)
        vf_text_string(text, " --repeats 10");
    vf_text_string(text, has_sample
        ? "\n\nbuilds the program and runs it on the sample in `sample/`. It should say of each "
          "output that it\n"
          "is equal to the bit to what vitfold computed for that sample. "
        : "\n\nbuilds the program and times it on zeros. ");
    vf_text_string(text, "A C11 compiler and make are all it needs.\n\n");
    vf_text_string(text, how_to_use);
    if (vf_emit_has_batch(&program->whole))
        vf_text_printf(text, "The batch may be %" PRId64 " to %" PRId64 ": it is the first "
                       "dimension of the inputs' files, or, where none is\ngiven, that of "
                       "`--batch N`.\n\n", program->whole.min, program->whole.max);
    if (n == 2)
        vf_text_string(text, "There are two models in the program: `--which 0` is `original`, "
                             "`--which "
                       "1` is `converted`, and\n\n    ./executor --compare");
    if (n == 2)
        print_samples(model, false, text);
    if (n == 2)
        vf_text_string(text, "\n\nruns both on the same input and prints how far their outputs "
                       "differ.\n\n");
}

static void print_call(const VfEmitProgram *program, VfText *text)
{
    const char *stem = program->stem, *upper = program->upper;
    vf_text_printf(text,
        "## Calling it\n\n"
        "    #include \"%s.h\"\n\n"
        "    /* arena: %s_ARENA_BYTES, weights: %s_WEIGHTS_BYTES, both aligned to 64 bytes */\n",
        stem, upper, upper);
    if (vf_emit_has_batch(&program->whole))
        vf_text_printf(text,
            "    /* batch: %s_MIN_BATCH to %s_MAX_BATCH */\n"
            "    int status = %s_run(batch, weights, arena, in, out);\n"
            "    /* EXECUTOR_BAD_BATCH: it is another one, and nothing was computed */\n\n", upper,
            upper, stem);
    else
        vf_text_printf(text, "    %s_run(weights, arena, in, out);\n\n", stem);
    vf_text_printf(text,
        "`in` and `out` are arrays of pointers in the order of the enums of `%s.h`. The function "
        "neither\n"
        "allocates nor keeps anything and may run in several threads at once, each with an arena "
        "of its\n"
        "own. ", stem);
    if (vf_emit_has_weights_file(program))
        vf_text_printf(text, program->weights.n_narrow > 0
            ? "`%s.weights` holds the weights in a smaller type; `%s.widen` makes `weights` of "
              "it.\n\n"
            : "`weights` are the bytes of `%s.weights`, read or mapped; `%s.weights_digest` is "
              "their\n"
              "FNV-1a hash.\n\n", stem, stem);
    else if (program->weights.bytes > 0)
        vf_text_printf(text, "`weights` is the array `%s_weights`.\n\n", stem);
    else
        vf_text_string(text, "There are no weights.\n\n");
}

void vf_emit_readme(const VfEmitProgram *program, int32_t n, VfText *text)
{
    vf_text_string(text, n == 2 ? "# Two models as C\n\n" : "# A model as C\n\n");
    for (int32_t i = 0; i < n; i++) {
        vf_text_printf(text, "`%s` was written by vitfold %s from the ONNX model with SHA-256\n"
                       "%s: %d calls of %d kernels, %zu bytes of weights and %zu of\narena.\n\n",
                       program[i].stem, program->options->version, program[i].model->sha256,
                       program[i].n_step, program[i].n_kernel, program[i].weights.bytes,
                       program[i].arena_bytes);
    }
    print_start(program, n, text);
    print_files(program, n, text);
    print_call(program, text);
    vf_text_string(text,
        "## Bits and speed\n\n"
        "The results are the same bits with every compiler and machine that computes IEEE "
        "floating point\n"
        "as it is written: the Makefile forbids fusing multiplications with additions. `-O3\n"
        "-march=native` makes the matrix products use the widest vectors of the machine.");
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = 0; k < program[i].n_kernel; k++)
            if (program[i].blas[k] != NULL) {
                vf_text_string(text, " `make BLAS=1`\nbuilds `executor-blas`, which takes matrix "
                               "products from OpenBLAS; its results differ by rounding.");
                i = n - 1;
                break;
            }
    vf_text_char(text, '\n');
}
