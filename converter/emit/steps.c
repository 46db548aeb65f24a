/* The plan as C: one block for each step. */
#include <inttypes.h>
#include <string.h>

#include "converter/emit/derived.h"
#include "converter/emit/params.h"
#include "converter/emit/program.h"
#include "converter/emit/spell.h"

static VfBytes bytes_of(const char *string)
{
    return (VfBytes){string, strlen(string)};
}

/* One range being printed. */
typedef struct Steps {
    const VfEmitProgram *program;
    const VfEmitRange *range;
    int32_t number; /* of the range */
    VfText *text;
} Steps;

static const VfPlanStep *step_of(const Steps *cx, int32_t number)
{
    return &cx->range->high->step[number];
}

/* --- operands --- */

/* Behind a pointer to what `start` bytes are before: those and the place of the operand there. */
static void print_place(const Steps *cx, size_t start, VfPlanRef low, VfPlanRef high)
{
    const VfEmitRange *range = cx->range;
    int64_t at_low = (int64_t)start + vf_emit_place(range->low, low),
            at_high = (int64_t)start + vf_emit_place(range->high, high);
    if (at_low == 0 && at_high == 0)
        return;
    vf_text_string(cx->text, " + ");
    vf_emit_number(range, at_low, at_high, cx->text);
}

/* Bytes from the start of its space to the start of what `ref` is in. */
static size_t start_of(const Steps *cx, VfPlanRef ref)
{
    const VfEmitProgram *program = cx->program;
    if (ref.space == VF_SPACE_ARENA)
        return cx->range->high->buffer[ref.index].offset;
    return ref.space == VF_SPACE_WEIGHT ? vf_emit_weight(program, cx->number, ref.index)->offset
                                        : 0;
}

static void print_ref(const Steps *cx, VfPlanRef low, VfPlanRef high, bool is_written)
{
    static const char *const name[] = {[VF_SPACE_WEIGHT] = "w", [VF_SPACE_ARENA] = "a",
                                       [VF_SPACE_INPUT] = "in", [VF_SPACE_OUTPUT] = "out"};
    bool is_array = high.space == VF_SPACE_INPUT || high.space == VF_SPACE_OUTPUT;
    if (high.space == VF_SPACE_NONE) {
        vf_text_string(cx->text, "NULL");
        return;
    }
    if (is_array && high.offset > 0)
        vf_text_printf(cx->text, "(%schar *)", is_written ? "" : "const ");
    vf_text_string(cx->text, name[high.space]);
    if (is_array)
        vf_text_printf(cx->text, "[%d]", high.index);
    print_place(cx, start_of(cx, high), low, high);
}

/* What the operand is called in the model, if it is called anything. */
static void print_ref_name(const Steps *cx, VfPlanRef ref)
{
    const VfPlan *plan = cx->range->high;
    const VfPlanTensor *tensor = ref.space == VF_SPACE_WEIGHT   ? &plan->weight[ref.index]
                                 : ref.space == VF_SPACE_INPUT  ? &plan->input[ref.index]
                                 : ref.space == VF_SPACE_OUTPUT ? &plan->output[ref.index]
                                                                : NULL;
    if (tensor == NULL || tensor->name.size == 0)
        return;
    vf_text_string(cx->text, " /* ");
    vf_spell_comment(cx->text, tensor->name);
    vf_text_string(cx->text, " */");
}

static void print_refs(const Steps *cx, int32_t number, bool is_written)
{
    const VfPlanStep *low = &cx->range->low->step[number], *high = step_of(cx, number);
    int32_t n = is_written ? high->n_out : high->n_in;
    if (n == 0)
        return;
    vf_text_printf(cx->text, "        %s = {\n",
                   is_written ? "void *const y[]" : "const void *const x[]");
    for (int32_t i = 0; i < n; i++) {
        VfPlanRef ref = is_written ? high->out[i] : high->in[i];
        vf_text_string(cx->text, "            ");
        print_ref(cx, is_written ? low->out[i] : low->in[i], ref, is_written);
        vf_text_char(cx->text, ',');
        print_ref_name(cx, ref);
        vf_text_char(cx->text, '\n');
    }
    vf_text_string(cx->text, "        };\n");
}

/* --- steps --- */

static void print_heading(const Steps *cx, int32_t number)
{
    VfText *text = cx->text;
    int32_t of_low = cx->range->low->step[number].node;
    const VfPlanNode *node = &cx->range->high->node[step_of(cx, number)->node];
    vf_text_printf(text, "    /* %d: ", number);
    vf_spell_comment(text, bytes_of(node->op));
    if (node->name.size > 0) {
        vf_text_string(text, " \"");
        vf_spell_comment(text, node->name);
        vf_text_char(text, '"');
    }
    if (node->shapes != NULL) {
        vf_text_string(text, ", ");
        vf_emit_shapes(cx->range, cx->range->low->node[of_low].shapes, node->shapes, text);
    }
    if (node->pass != NULL) {
        vf_text_string(text, ", made by ");
        vf_spell_comment(text, bytes_of(node->pass));
    }
    vf_text_string(text, " */\n");
}

static const VfkKernel *blas_of(const VfEmitProgram *program, const VfkKernel *kernel)
{
    for (int32_t i = 0; i < program->n_kernel; i++)
        if (program->kernel[i] == kernel)
            return program->blas[i];
    return NULL;
}

/* What the params of steps are called: those of the smallest batch, where it has steps of its own,
 * do not meet those of the others. */
static const char *params_prefix(const Steps *cx)
{
    return cx->number + 1 < cx->program->model->n_range ? "first" : "step";
}

static void print_static_params(const Steps *cx, int32_t number)
{
    if (vf_emit_params_vary(cx->range, number))
        return;
    vf_text_printf(cx->text, "static const %s %s_%d = ", step_of(cx, number)->kernel->params,
                   params_prefix(cx), number);
    vf_emit_params(cx->range, number, "", cx->text);
    vf_text_string(cx->text, ";\n\n");
}

static void print_local_params(const Steps *cx, int32_t number)
{
    const VfkKernel *kernel = step_of(cx, number)->kernel;
    const VfEmitDerived *derived = vf_emit_derived(kernel);
    bool has_code = derived != NULL && derived->code != NULL;
    vf_text_printf(cx->text, "        %s%s params = ", has_code ? "" : "const ",
                   kernel->params);
    vf_emit_params(cx->range, number, "        ", cx->text);
    vf_text_string(cx->text, ";\n");
    if (has_code)
        vf_text_printf(cx->text, "        %s\n", derived->code);
}

static void print_args(const Steps *cx, int32_t number)
{
    const VfPlanStep *step = step_of(cx, number);
    const VfEmitDerived *derived = vf_emit_derived(step->kernel);
    bool varies = vf_emit_params_vary(cx->range, number);
    VfText *text = cx->text;
    if (step->may_fail)
        vf_text_string(text, "        VfkFault fault = {0, 0, 0};\n");
    vf_text_printf(text, "        const VfkArgs args = {%s, %s, ", step->n_in > 0 ? "x" : "NULL",
                   step->n_out > 0 ? "y" : "NULL");
    vf_text_string(text, step->scratch_bytes > 0 ? "a" : "NULL");
    if (step->scratch_bytes > 0 && cx->program->scratch_offset > 0)
        vf_text_printf(text, " + %zu", cx->program->scratch_offset);
    if (varies)
        vf_text_string(text, ", &params, 0, ");
    else
        vf_text_printf(text, ", &%s_%d, 0, ", params_prefix(cx), number);
    if (varies && derived != NULL)
        vf_text_string(text, derived->units);
    else
        vf_emit_number(cx->range, cx->range->low->step[number].units, step->units, text);
    vf_text_string(text, step->may_fail ? ", &fault};\n" : ", NULL};\n");
}

static void print_failure(const Steps *cx, const VfPlanStep *step)
{
    vf_text_string(cx->text, "        if (fault.is_set");
    if (step->has_guard)
        vf_text_printf(cx->text, " && *(const uint8_t *)x[%d]", step->n_in - 1);
    vf_text_string(cx->text, ")\n            return EXECUTOR_BAD_INDEX;\n");
}

static void print_step(const Steps *cx, int32_t number)
{
    const VfPlanStep *step = step_of(cx, number);
    const VfkKernel *kernel = step->kernel;
    bool has_blas = blas_of(cx->program, kernel) != NULL && vfk_fits_int(kernel, step->params);
    print_heading(cx, number);
    vf_text_string(cx->text, "    {\n");
    if (vf_emit_params_vary(cx->range, number))
        print_local_params(cx, number);
    print_refs(cx, number, false);
    print_refs(cx, number, true);
    print_args(cx, number);
    vf_text_printf(cx->text, "        %s%s(&args);\n", has_blas ? "call_" : "",
                   has_blas ? kernel->name : kernel->symbol);
    if (step->may_fail)
        print_failure(cx, step);
    vf_text_string(cx->text, "    }\n");
}

/* Names for the kernels that OpenBLAS can stand in for. */
static void print_variants(const VfEmitProgram *program, VfText *text)
{
    for (int32_t i = 0; i < program->n_kernel; i++) {
        const VfkKernel *kernel = program->kernel[i], *blas = program->blas[i];
        if (blas != NULL)
            vf_text_printf(text, "#ifdef EXECUTOR_BLAS\n#define call_%s %s\n#else\n"
                           "#define call_%s %s\n#endif\n\n", kernel->name, blas->symbol,
                           kernel->name, kernel->symbol);
    }
}

static bool uses(const VfPlan *plan, VfSpace space)
{
    for (int32_t i = 0; i < plan->n_step; i++) {
        const VfPlanStep *step = &plan->step[i];
        if (space == VF_SPACE_ARENA && step->scratch_bytes > 0)
            return true;
        for (int32_t k = 0; k < step->n_in; k++)
            if (step->in[k].space == space)
                return true;
        for (int32_t k = 0; k < step->n_out; k++)
            if (step->out[k].space == space)
                return true;
    }
    return false;
}

/* Whether a step reads the batch. */
static bool uses_batch(const VfEmitRange *range)
{
    for (int32_t i = 0; i < range->high->n_step; i++)
        if (vf_emit_step_varies(range, i))
            return true;
    return false;
}

static void print_locals(const Steps *cx)
{
    const VfPlan *plan = cx->range->high;
    VfText *text = cx->text;
    vf_text_string(text, uses(plan, VF_SPACE_WEIGHT) ? "    const char *const w = weights;\n"
                                                     : "    (void)weights;\n");
    vf_text_string(text, uses(plan, VF_SPACE_ARENA) ? "    char *const a = arena;\n"
                                                    : "    (void)arena;\n");
    vf_text_string(text, uses(plan, VF_SPACE_INPUT) ? "" : "    (void)in;\n");
    vf_text_string(text, uses(plan, VF_SPACE_OUTPUT) ? "" : "    (void)out;\n");
    if (vf_emit_has_batch(cx->range) && !uses_batch(cx->range))
        vf_text_string(text, "    (void)batch;\n");
}

static const char memory_words[] =
    "const void *weights, void *arena, const void *const *in, void *const *out)\n{\n";

/* The function of a range; where the shapes are fixed it is that of the model. */
static void print_range(const Steps *cx)
{
    const VfEmitProgram *program = cx->program;
    const VfEmitRange *range = cx->range;
    for (int32_t i = 0; i < range->high->n_step; i++)
        print_static_params(cx, i);
    if (vf_emit_has_batch(range))
        vf_text_printf(cx->text, "/* Batches of %" PRId64 " to %" PRId64 ". */\n"
                       "static int run_%" PRId64 "_to_%" PRId64 "(int64_t batch, %s", range->min,
                       range->max, range->min, range->max, memory_words);
    else
        vf_text_printf(cx->text, "int %s_run(%s", program->stem, memory_words);
    print_locals(cx);
    for (int32_t i = 0; i < range->high->n_step; i++)
        print_step(cx, i);
    vf_text_string(cx->text, "    return EXECUTOR_OK;\n}\n\n");
}

/* The function of the model, which chooses that of a range. */
static void print_choice(const VfEmitProgram *program, VfText *text)
{
    const VfEmitModel *model = program->model;
    vf_text_printf(text, "int %s_run(int64_t batch, %s"
                   "    if (batch < %s_MIN_BATCH || batch > %s_MAX_BATCH)\n"
                   "        return EXECUTOR_BAD_BATCH;\n", program->stem, memory_words,
                   program->upper, program->upper);
    for (int32_t i = 0; i < model->n_range; i++) {
        const VfEmitRange *range = &model->range[i];
        if (i + 1 < model->n_range)
            vf_text_printf(text, "    if (batch <= %" PRId64 ")\n    ", range->max);
        vf_text_printf(text, "    return run_%" PRId64 "_to_%" PRId64 "(batch, weights, arena, in, "
                       "out);\n", range->min, range->max);
    }
    vf_text_string(text, "}\n\n");
}

void vf_emit_steps(const VfEmitProgram *program, VfText *text)
{
    const VfEmitModel *model = program->model;
    print_variants(program, text);
    for (int32_t i = 0; i < model->n_range; i++) {
        Steps cx = {program, &model->range[i], i, text};
        print_range(&cx);
    }
    if (vf_emit_has_batch(model->range))
        print_choice(program, text);
}
