/* model.c around the steps. */
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
                   program->n_step, program->n_kernel);
    if (vf_emit_has_batch(&program->whole))
        vf_text_printf(text, " * Batches of %" PRId64 " to %" PRId64 ".\n", program->whole.min,
                       program->whole.max);
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

/* An input or output at both ends of the batch. */
typedef struct Tensor {
    const VfEmitRange *range;
    const VfPlanTensor *low, *high;
    const char *kind;
    int32_t number;
} Tensor;

static Tensor tensor_of(const VfEmitProgram *program, bool is_output, int32_t i)
{
    const VfPlan *low = program->whole.low, *high = program->whole.high;
    return (Tensor){&program->whole, is_output ? &low->output[i] : &low->input[i],
                    is_output ? &high->output[i] : &high->input[i], is_output ? "out" : "in", i};
}

static int32_t rank_of(const Tensor *tensor)
{
    return is_packed(tensor->high) ? 1 : tensor->high->rank;
}

static int64_t dim_of(const Tensor *tensor, const VfPlanTensor *end, int32_t k)
{
    return is_packed(tensor->high) ? (int64_t)end->bytes : end->dims[k];
}

static void print_dims(const Tensor *tensor, bool is_slope, VfText *text)
{
    if (rank_of(tensor) == 0)
        return;
    vf_text_printf(text, "static const int64_t %s_%s_%d[] = {", is_slope ? "per_batch" : "dims",
                   tensor->kind, tensor->number);
    for (int32_t k = 0; k < rank_of(tensor); k++) {
        int64_t low = dim_of(tensor, tensor->low, k), high = dim_of(tensor, tensor->high, k);
        vf_text_string(text, k > 0 ? ", " : "");
        vf_spell_int(text, is_slope ? vf_emit_slope(tensor->range, low, high) : high);
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

static void print_tensor(const Tensor *tensor, VfText *text)
{
    const VfPlanTensor *high = tensor->high;
    bool has_dims = rank_of(tensor) > 0, has_batch = vf_emit_has_batch(tensor->range);
    vf_text_string(text, "    {");
    if (is_long(high->name))
        vf_text_printf(text, "name_%s_%d", tensor->kind, tensor->number);
    else
        vf_spell_string(text, high->name);
    vf_text_printf(text, ", \"%s\", %zu, %d", vf_emit_npy_type(high->dtype),
                   element_bytes(high->dtype), rank_of(tensor));
    if (has_dims)
        vf_text_printf(text, ", dims_%s_%d", tensor->kind, tensor->number);
    else
        vf_text_string(text, ", NULL");
    if (has_dims && has_batch)
        vf_text_printf(text, ", per_batch_%s_%d", tensor->kind, tensor->number);
    else
        vf_text_string(text, ", NULL");
    vf_text_printf(text, ", %zu},\n", high->bytes);
}

static void print_tensors(const VfEmitProgram *program, bool is_output, VfText *text)
{
    int32_t n = is_output ? program->plan->n_output : program->plan->n_input;
    for (int32_t i = 0; i < n; i++) {
        Tensor tensor = tensor_of(program, is_output, i);
        print_dims(&tensor, false, text);
        if (vf_emit_has_batch(&program->whole))
            print_dims(&tensor, true, text);
        print_long_name(tensor.high->name, tensor.kind, i, text);
    }
    if (n == 0)
        return;
    vf_text_printf(text, "static const ExecutorTensor tensor_%s[] = {\n",
                   is_output ? "out" : "in");
    for (int32_t i = 0; i < n; i++) {
        Tensor tensor = tensor_of(program, is_output, i);
        print_tensor(&tensor, text);
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
    if (vf_emit_has_batch(&program->whole))
        vf_text_printf(text, "    .min_batch = %s_MIN_BATCH,\n    .max_batch = %s_MAX_BATCH,\n"
                       "    .run_batch = %s_run,\n};\n", program->upper, program->upper,
                       program->stem);
    else
        vf_text_printf(text, "    .run = %s_run,\n};\n", program->stem);
}

void vf_emit_model_c(const VfEmitProgram *program, VfText *text)
{
    print_tensors(program, false, text);
    print_tensors(program, true, text);
    if (program->weights.n_narrow > 0)
        print_widen(program, text);
    vf_emit_steps(program, text);
    print_executor(program, text);
}
