#include "converter/emit/emit_c.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "converter/emit/folder.h"
#include "converter/emit/program.h"

static const char executor_folder[] = "converter/emit/executor/";

struct VfEmission {
    const VfEmitOptions *options;
    VfArena *arena;
    VfEmitFolder folder;
    VfEmitProgram program[VF_EMIT_MAX_MODELS];
    VfEmitSet kernels; /* of all models */
};

static VfStatus add_text(VfEmission *cx, const char *path, const VfText *text, VfErr *err)
{
    VfBytes done;
    VF_TRY(vf_text_get(text, &done, err));
    return vf_emit_folder_add(&cx->folder, path, done.data, done.size, err);
}

/* --- sources --- */

static VfStatus find_sources(VfEmission *cx, VfErr *err)
{
    VF_TRY(vf_emit_set_init(&cx->kernels, cx->arena, err));
    for (int32_t m = 0; m < cx->options->n_model; m++) {
        const VfEmitProgram *program = &cx->program[m];
        for (int32_t i = 0; i < program->n_kernel; i++) {
            VF_TRY(vf_emit_set_add_kernel(&cx->kernels, program->kernel[i]->source, err));
            if (program->blas[i] == NULL)
                continue;
            VF_TRY(vf_emit_set_add_kernel(&cx->kernels, program->blas[i]->source, err));
            /* It holds what tells OpenBLAS to stay on one thread. */
            VF_TRY(vf_emit_set_add_kernel(&cx->kernels, "matmul_blas.c", err));
        }
        if (program->weights.n_narrow > 0)
            VF_TRY(vf_emit_set_add_kernel(&cx->kernels, "half.h", err));
    }
    return VF_OK;
}

static VfStatus add_sources(VfEmission *cx, VfErr *err)
{
    size_t skip = sizeof executor_folder - 1;
    for (int i = 0; i < cx->kernels.n; i++) {
        const VfEmitSource *source = &vf_emit_source[i];
        if (strncmp(source->path, executor_folder, skip) == 0)
            VF_TRY(vf_emit_folder_add(&cx->folder, source->path + skip, source->data, source->size,
                                      err));
        else if (cx->kernels.has[i] && !cx->options->is_single_file)
            VF_TRY(vf_emit_folder_add(&cx->folder, source->path, source->data, source->size, err));
    }
    return VF_OK;
}

/* --- models --- */

static VfStatus add_model_c(VfEmission *cx, const VfEmitProgram *program, VfErr *err)
{
    VfText text;
    vf_text_init(&text, cx->arena);
    vf_emit_front_matter(program, "The steps of a compiled model.", &text);
    vf_text_printf(&text, "#include \"%s.h\"\n\n", program->stem);
    if (cx->options->is_single_file)
        vf_emit_kernels(&cx->kernels, cx->arena, &text);
    else if (program->weights.n_narrow > 0)
        vf_text_string(&text, "#include \"runtime/kernels/half.h\"\n");
    if (!cx->options->is_single_file && program->n_kernel > 0)
        vf_text_string(&text, "#include \"runtime/kernels/variant.h\"\n\n");
    vf_emit_model_c(program, &text);
    return add_text(cx, vf_arena_printf(cx->arena, "%s.c", program->stem), &text, err);
}

static VfStatus add_model_h(VfEmission *cx, const VfEmitProgram *program, VfErr *err)
{
    VfText text;
    vf_text_init(&text, cx->arena);
    vf_emit_model_h(program, &text);
    return add_text(cx, vf_arena_printf(cx->arena, "%s.h", program->stem), &text, err);
}

static VfStatus add_weights_file(VfEmission *cx, const VfEmitProgram *program, VfErr *err)
{
    const char *path = vf_arena_printf(cx->arena, "%s.weights", program->stem);
    VF_TRY_ALLOC(path, err);
    VF_TRY(vf_emit_folder_begin(&cx->folder, path, err));
    VF_TRY(vf_emit_weights_file(&program->weights, vf_emit_folder_put, &cx->folder, err));
    return vf_emit_folder_end(&cx->folder, err);
}

/* Prints bytes as words of 32 bits, eight a line. */
typedef struct WordPrinter {
    VfEmitFolder *folder;
    unsigned char word[4];
    int n_byte, n_word;
} WordPrinter;

static VfStatus put_words(void *user, const void *data, size_t size, VfErr *err)
{
    WordPrinter *printer = user;
    char text[32];
    for (size_t i = 0; i < size; i++) {
        const unsigned char *w = printer->word;
        printer->word[printer->n_byte++] = ((const unsigned char *)data)[i];
        if (printer->n_byte < 4)
            continue;
        uint32_t value = w[0] | (uint32_t)w[1] << 8 | (uint32_t)w[2] << 16 | (uint32_t)w[3] << 24;
        printer->n_byte = 0;
        int n = snprintf(text, sizeof text, "0x%08" PRIx32 ",%s", value,
                         ++printer->n_word % 8 == 0 ? "\n" : "");
        VF_TRY(vf_emit_folder_put(printer->folder, text, (size_t)n, err));
    }
    return VF_OK;
}

static VfStatus add_weights_c(VfEmission *cx, const VfEmitProgram *program, VfErr *err)
{
    static const char end[] = "};\n";
    WordPrinter printer = {.folder = &cx->folder};
    const char *path = vf_arena_printf(cx->arena, "%s_weights.c", program->stem);
    const char *head = vf_arena_printf(
        cx->arena, "/* The weights, little endian. */\n#include \"%s.h\"\n\n"
        "_Alignas(EXECUTOR_ALIGNMENT) const uint32_t %s_weights[%zu] = {\n", program->stem,
        program->stem, program->weights.bytes / 4);
    if (path == NULL || head == NULL)
        return vf_no_memory(err);
    VF_TRY(vf_emit_folder_begin(&cx->folder, path, err));
    VF_TRY(vf_emit_folder_put(&cx->folder, head, strlen(head), err));
    VF_TRY(vf_emit_weights_memory(&program->weights, put_words, &printer, err));
    VF_TRY(vf_emit_folder_put(&cx->folder, end, sizeof end - 1, err));
    return vf_emit_folder_end(&cx->folder, err);
}

static VfStatus add_program(VfEmission *cx, const VfEmitProgram *program, VfErr *err)
{
    VF_TRY(add_model_h(cx, program, err));
    VF_TRY(add_model_c(cx, program, err));
    if (vf_emit_has_weights_file(program))
        return add_weights_file(cx, program, err);
    return program->weights.bytes > 0 ? add_weights_c(cx, program, err) : VF_OK;
}

/* --- the rest --- */

static VfStatus add_project(VfEmission *cx, VfErr *err)
{
    VfText text;
    int32_t n = cx->options->n_model;
    vf_text_init(&text, cx->arena);
    vf_emit_executors_c(cx->program, n, &text);
    VF_TRY(add_text(cx, "executors.c", &text, err));
    vf_text_init(&text, cx->arena);
    vf_emit_makefile(cx->program, n, &cx->kernels, &text);
    VF_TRY(add_text(cx, "Makefile", &text, err));
    vf_text_init(&text, cx->arena);
    vf_emit_readme(cx->program, n, &text);
    return add_text(cx, "README.md", &text, err);
}

static VfStatus add_samples(VfEmission *cx, VfErr *err)
{
    const VfEmitModel *model = &cx->options->model[0];
    int32_t n[2] = {0, 0};
    for (int32_t i = 0; i < model->n_sample; i++) {
        const VfEmitSample *sample = &model->sample[i];
        const char *path = vf_arena_printf(cx->arena, "sample/%s_%d.npy",
                                           sample->is_output ? "out" : "in",
                                           n[sample->is_output]++);
        VF_TRY_ALLOC(path, err);
        VF_TRY(vf_emit_folder_begin(&cx->folder, path, err));
        VF_TRY(vf_emit_folder_put(&cx->folder, sample->npy.data, sample->npy.size, err));
        VF_TRY(vf_emit_folder_put(&cx->folder, sample->data, sample->bytes, err));
        VF_TRY(vf_emit_folder_end(&cx->folder, err));
    }
    return VF_OK;
}

static VfStatus add_all(VfEmission *cx, VfErr *err)
{
    VF_TRY(add_project(cx, err));
    for (int32_t i = 0; i < cx->options->n_model; i++)
        VF_TRY(add_program(cx, &cx->program[i], err));
    VF_TRY(add_sources(cx, err));
    return add_samples(cx, err);
}

static void tell(const VfEmission *cx, VfEmitted *emitted)
{
    *emitted = (VfEmitted){.file = cx->folder.file, .n_file = (int32_t)cx->folder.n_file,
                           .bytes = cx->folder.bytes};
    for (int32_t i = 0; i < cx->options->n_model; i++) {
        emitted->model[i].arena_bytes = cx->program[i].arena_bytes;
        emitted->model[i].scratch_bytes = cx->program[i].arena_bytes -
                                          cx->program[i].scratch_offset;
        emitted->model[i].n_step = cx->program[i].n_step;
        emitted->model[i].n_kernel = cx->program[i].n_kernel;
        emitted->model[i].weights = cx->program[i].weights;
    }
}

VfStatus vf_emit_prepare(const VfEmitOptions *options, const char *path, VfArena *arena,
                         VfEmission **emission, VfEmitted *emitted, VfErr *err)
{
    VfEmission *cx = VF_NEW(arena, VfEmission);
    VF_TRY_ALLOC(cx, err);
    cx->options = options;
    cx->arena = arena;
    for (int32_t i = 0; i < options->n_model; i++)
        VF_TRY(vf_emit_program_init(&cx->program[i], options, i, arena, err));
    VF_TRY(find_sources(cx, err));
    VfStatus status = vf_emit_folder_open(&cx->folder, path, arena, err);
    if (status == VF_OK)
        status = add_all(cx, err);
    if (status == VF_OK)
        status = vf_emit_folder_finish(&cx->folder, err);
    if (status != VF_OK) {
        vf_emit_folder_abandon(&cx->folder);
        return status;
    }
    tell(cx, emitted);
    *emission = cx;
    return VF_OK;
}

VfStatus vf_emission_commit(VfEmission *emission, VfErr *err)
{
    VfStatus status = vf_emit_folder_commit(&emission->folder, err);
    vf_emit_folder_abandon(&emission->folder);
    return status;
}

void vf_emission_abandon(VfEmission *emission)
{
    if (emission != NULL)
        vf_emit_folder_abandon(&emission->folder);
}
