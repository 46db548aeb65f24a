/* model.c and model.h around the steps. */
#include <inttypes.h>
#include <string.h>

#include "converter/emit/program.h"
#include "converter/emit/spell.h"

const char *vf_emit_npy_type(VfDtype dtype)
{
    static const char *const type[VF_DTYPE_COUNT] = {
        [VF_F32] = "<f4", [VF_F64] = "<f8", [VF_F16] = "<f2", [VF_BF16] = "<u2", [VF_BOOL] = "|b1",
        [VF_U8] = "|u1",  [VF_U16] = "<u2", [VF_U32] = "<u4", [VF_U64] = "<u8",  [VF_I8] = "|i1",
        [VF_I16] = "<i2", [VF_I32] = "<i4", [VF_I64] = "<i8", [VF_C64] = "<c8",  [VF_C128] = "<c16",
    };
    return (size_t)dtype < VF_DTYPE_COUNT && type[dtype] != NULL ? type[dtype] : "|u1";
}

/* An element of npy_type. */
static size_t element_bytes(VfDtype dtype)
{
    size_t bits = vf_dtype_info(dtype)->bits;
    return bits < 8 ? 1 : bits / 8;
}

void vf_emit_front_matter(const VfEmitProgram *program, const char *what, VfText *text)
{
    static const char *const dtype[] = {"f32", "f16", "bf16"};
    const VfEmitOptions *options = program->options;
    const VfEmitModel *model = program->model;
    vf_text_printf(text, "/* %s\n *\n * Written by vitfold %s", what, options->version);
    vf_text_string(text, " from \"");
    vf_spell_comment(text, model->file);
    vf_text_printf(text, "\",\n * SHA-256 %s.\n", model->sha256);
    vf_text_string(text, " * Opsets: ");
    vf_spell_comment(text, (VfBytes){model->opsets, strlen(model->opsets)});
    vf_text_printf(text, ". %d nodes, %d calls of %d kernels.\n", model->n_node,
                   program->plan->n_step, program->n_kernel);
    if (model->open[0] != '\0') {
        vf_text_string(text, " * Shapes are fixed here that the model leaves open: ");
        vf_spell_comment(text, (VfBytes){model->open, strlen(model->open)});
        vf_text_string(text, ".\n");
    }
    vf_text_printf(text, " * Options: weights in %s, stored as %s%s.\n */\n",
                   options->weights_in_c ? "C" : "a file", dtype[options->weights_dtype],
                   options->is_single_file ? ", kernels in one file" : "");
}

/* --- model.c --- */

/* Several elements in a byte: main.c takes the tensor for a list of its bytes. */
static bool is_packed(const VfPlanTensor *tensor)
{
    return vf_dtype_info(tensor->dtype)->bits < 8;
}

static void print_dims(const VfPlanTensor *tensor, const char *kind, int32_t i, VfText *text)
{
    bool packed = is_packed(tensor);
    if (tensor->rank == 0 && !packed)
        return;
    vf_text_printf(text, "static const int64_t dims_%s_%d[] = {", kind, i);
    if (packed)
        vf_spell_int(text, (int64_t)tensor->bytes);
    for (int32_t k = 0; k < tensor->rank && !packed; k++) {
        vf_text_string(text, k > 0 ? ", " : "");
        vf_spell_int(text, tensor->dims[k]);
    }
    vf_text_string(text, "};\n");
}

/* C11 compilers need not take literals of more than 4095 characters: longer names are arrays. */
static bool is_long(VfBytes name)
{
    return name.size > 4095;
}

static void print_long_name(VfBytes name, const char *kind, int32_t i, VfText *text)
{
    enum { N_IN_LINE = 8 };
    if (!is_long(name))
        return;
    vf_text_printf(text, "static const char name_%s_%d[] = {", kind, i);
    for (size_t k = 0; k < name.size; k++)
        vf_text_printf(text, "%s(char)%d,", k % N_IN_LINE == 0 ? "\n    " : " ",
                       (unsigned char)name.data[k]);
    vf_text_string(text, " 0};\n");
}

static void print_tensors(const VfPlanTensor *tensor, int32_t n, const char *kind, VfText *text)
{
    for (int32_t i = 0; i < n; i++) {
        print_dims(&tensor[i], kind, i, text);
        print_long_name(tensor[i].name, kind, i, text);
    }
    if (n == 0)
        return;
    vf_text_printf(text, "static const ExecutorTensor tensor_%s[] = {\n", kind);
    for (int32_t i = 0; i < n; i++) {
        vf_text_string(text, "    {");
        if (is_long(tensor[i].name))
            vf_text_printf(text, "name_%s_%d", kind, i);
        else
            vf_spell_string(text, tensor[i].name);
        vf_text_printf(text, ", \"%s\", %zu, %d, ", vf_emit_npy_type(tensor[i].dtype),
                       element_bytes(tensor[i].dtype), is_packed(&tensor[i]) ? 1 : tensor[i].rank);
        if (tensor[i].rank == 0 && !is_packed(&tensor[i]))
            vf_text_string(text, "NULL");
        else
            vf_text_printf(text, "dims_%s_%d", kind, i);
        vf_text_printf(text, ", %zu},\n", tensor[i].bytes);
    }
    vf_text_string(text, "};\n\n");
}

/* The function that makes float32 weights of the narrow ones in the file. */
static void print_widen(const VfEmitProgram *program, VfText *text)
{
    const VfEmitWeights *weights = &program->weights;
    bool is_f16 = weights->dtype == VF_EMIT_F16;
    vf_text_printf(text, "/* Where each weight is in the file and in memory, and its elements "
                         "(%s, to "
                   "be widened) or\n * bytes (as they are). */\n"
                   "static const struct {\n    size_t from, to, n;\n    int is_narrow;\n"
                   "} stored[] = {\n", is_f16 ? "float16" : "bfloat16");
    for (int32_t i = 0; i < weights->n; i++) {
        const VfEmitWeight *w = &weights->weight[i];
        if (w->same == i)
            vf_text_printf(text, "    {%zu, %zu, %zu, %d},\n", w->file_offset, w->offset,
                           w->is_narrow ? w->tensor->bytes / 4 : w->tensor->bytes, w->is_narrow);
    }
    vf_text_printf(text,
        "};\n\n"
        "static void widen(const void *file, void *weights)\n{\n"
        "    for (size_t i = 0; i < sizeof stored / sizeof stored[0]; i++) {\n"
        "        const char *from = (const char *)file + stored[i].from;\n"
        "        char *to = (char *)weights + stored[i].to;\n"
        "        if (!stored[i].is_narrow)\n"
        "            memcpy(to, from, stored[i].n);\n"
        "        for (size_t k = 0; stored[i].is_narrow && k < stored[i].n; k++) {\n"
        "            uint16_t narrow;\n"
        "            memcpy(&narrow, from + k * sizeof narrow, sizeof narrow);\n"
        "            float wide = %s(narrow);\n"
        "            memcpy(to + k * sizeof wide, &wide, sizeof wide);\n"
        "        }\n    }\n}\n\n", is_f16 ? "vfk_f16_to_f32" : "vfk_bf16_to_f32");
}

static void print_executor(const VfEmitProgram *program, VfText *text)
{
    const VfEmitWeights *weights = &program->weights;
    const VfPlan *plan = program->plan;
    bool has_file = vf_emit_has_weights_file(program);
    vf_text_printf(text, "const Executor %s = {\n    .name = \"%s\",\n", program->stem,
                   program->stem);
    vf_text_printf(text, "    .n_in = %d,\n    .n_out = %d,\n", plan->n_input, plan->n_output);
    vf_text_string(text, plan->n_input > 0 ? "    .in = tensor_in,\n" : "");
    vf_text_string(text, plan->n_output > 0 ? "    .out = tensor_out,\n" : "");
    vf_text_printf(text, "    .arena_bytes = %s_ARENA_BYTES,\n", program->upper);
    vf_text_printf(text, "    .weights_bytes = %s_WEIGHTS_BYTES,\n", program->upper);
    vf_text_printf(text, "    .weights_digest = UINT64_C(0x%016" PRIx64 "),\n", weights->digest);
    if (has_file)
        vf_text_printf(text, "    .weights_file = \"%s.weights\",\n    .file_bytes = %zu,\n",
                       program->stem, weights->file_bytes);
    else if (weights->bytes > 0)
        vf_text_printf(text, "    .weights = %s_weights,\n", program->stem);
    if (weights->n_narrow > 0)
        vf_text_string(text, "    .widen = widen,\n");
    vf_text_printf(text, "    .run = %s_run,\n};\n", program->stem);
}

void vf_emit_model_c(const VfEmitProgram *program, VfText *text)
{
    const VfPlan *plan = program->plan;
    print_tensors(plan->input, plan->n_input, "in", text);
    print_tensors(plan->output, plan->n_output, "out", text);
    if (program->weights.n_narrow > 0)
        print_widen(program, text);
    vf_emit_steps(program, text);
    print_executor(program, text);
}

/* --- model.h --- */

static void print_indexes(const VfEmitProgram *program, bool is_output, VfText *text)
{
    const VfPlan *plan = program->plan;
    const VfPlanTensor *tensor = is_output ? plan->output : plan->input;
    const char **name = is_output ? program->out_name : program->in_name;
    const char *kind = is_output ? "OUT" : "IN";
    int32_t n = is_output ? plan->n_output : plan->n_input;
    vf_text_printf(text, "/* Indexes of `%s`. */\nenum {\n", is_output ? "out" : "in");
    for (int32_t i = 0; i < n; i++) {
        vf_text_printf(text, "    %s_%s_%s = %d, /* \"", program->upper, kind, name[i], i);
        vf_spell_comment(text, tensor[i].name);
        vf_text_printf(text, "\", %s [", vf_dtype_info(tensor[i].dtype)->onnx);
        for (int32_t k = 0; k < tensor[i].rank; k++)
            vf_text_printf(text, "%s%" PRId64, k > 0 ? ", " : "", tensor[i].dims[k]);
        vf_text_printf(text, "], %zu bytes */\n", tensor[i].bytes);
    }
    vf_text_printf(text, "    %s_N_%s = %d\n};\n\n", program->upper, kind, n);
}

static void print_sizes(const VfEmitProgram *program, VfText *text)
{
    const VfPlan *plan = program->plan;
    vf_text_printf(text,
        "/* Bytes of memory, both aligned to EXECUTOR_ALIGNMENT. The arena holds intermediate "
        "results\n"
        " * (all of them together have %zu bytes, at most %zu of them at once) and %zu bytes of\n"
        " * scratch; its contents mean nothing between calls. */\n"
        "#define %s_ARENA_BYTES ((size_t)%zu)\n#define %s_WEIGHTS_BYTES ((size_t)%zu)\n\n",
        plan->total_bytes, plan->live_bytes, plan->scratch_bytes, program->upper,
        program->arena_bytes, program->upper, program->weights.bytes);
}

void vf_emit_model_h(const VfEmitProgram *program, VfText *text)
{
    const char *stem = program->stem, *upper = program->upper;
    vf_emit_front_matter(program, "A compiled model.", text);
    vf_text_printf(text, "#ifndef %s_H\n#define %s_H\n\n#include \"executor.h\"\n\n", upper, upper);
    print_indexes(program, false, text);
    print_indexes(program, true, text);
    print_sizes(program, text);
    if (program->weights.bytes > 0 && !vf_emit_has_weights_file(program))
        vf_text_printf(text, "extern const uint32_t %s_weights[];\n\n", stem);
    vf_text_printf(text,
        "/* Compute the outputs: in[i] and out[i] point at the bytes that the lists above tell, "
        "in C\n"
        " * order, aligned for their type. Outputs and arena overlap nothing else. No memory is\n"
        " * allocated, no state is kept, nothing is read or written but what is passed in. "
        "Threads may\n"
        " * call at the same time with the same weights and inputs, each with its own arena and\n"
        " * outputs. */\n"
        "void %s_run(const void *weights, void *arena, const void *const *in, void *const "
        "*out);\n\n"
        "/* The same with all that main.c needs to know. */\n"
        "extern const Executor %s;\n\n#endif\n", stem, stem);
}
