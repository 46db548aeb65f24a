/* What turns the sources into a program: executors.c, Makefile. */
#include <string.h>

#include "converter/emit/program.h"

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
    "# make FMA=1     builds ./executor-fma, which fuses the additions of matrix products and of\n"
    "#                polynomials with their multiplications, as vitfold run does where the\n"
    "#                machine can\n"
    "# make CC=clang CFLAGS=-O2   another compiler, other flags\n"
    "#\n"
    "# Results are the same bits with any compiler that does IEEE arithmetic as written: FLOATS\n"
    "# keeps it from fusing multiplications with additions of its own accord.\n"
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
    "\trm -rf build build-blas build-fma build-blas-fma executor executor-*\n\n"
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
    vf_text_string(text, "\nifdef FMA\n"
                         "PROGRAM := $(PROGRAM)-fma\nBUILD := $(BUILD)-fma\n"
                         "DEFINES += -DVFK_FMA\nendif\n");
    vf_text_string(text, makefile_tail);
}
