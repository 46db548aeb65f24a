/* The plan as C: one block for each step. */
#include <math.h>
#include <string.h>

#include "converter/emit/program.h"
#include "converter/emit/spell.h"

static VfBytes bytes_of(const char *string)
{
    return (VfBytes){string, strlen(string)};
}

/* --- params --- */

static double get_double(const void *params, const VfkField *field, int32_t i)
{
    const char *at = (const char *)params + field->offset;
    float f;
    double d;
    if (field->type == VFK_FIELD_F32) {
        memcpy(&f, at + (size_t)i * sizeof f, sizeof f);
        return (double)f;
    }
    memcpy(&d, at + (size_t)i * sizeof d, sizeof d);
    return d;
}

static int64_t get_int(const void *params, const VfkField *field, int32_t i)
{
    const char *at = (const char *)params + field->offset;
    int32_t small;
    int64_t large;
    if (field->type == VFK_FIELD_I32) {
        memcpy(&small, at + (size_t)i * sizeof small, sizeof small);
        return small;
    }
    memcpy(&large, at + (size_t)i * sizeof large, sizeof large);
    return large;
}

static bool is_floating(const VfkField *field)
{
    return field->type == VFK_FIELD_F32 || field->type == VFK_FIELD_F64;
}

/* Whether leaving the element out of an initializer gives the same bits. */
static bool is_zero(const void *params, const VfkField *field, int32_t i)
{
    if (!is_floating(field))
        return get_int(params, field, i) == 0;
    double x = get_double(params, field, i);
    return x == 0 && !signbit(x);
}

static void print_element(const void *params, const VfkField *field, int32_t i, VfText *text)
{
    if (is_floating(field))
        vf_spell_double(text, get_double(params, field, i),
                       field->type == VFK_FIELD_F32 ? "f" : "");
    else
        vf_spell_int(text, get_int(params, field, i));
}

/* False when the field is all zeros and is left out. */
static bool print_field(const void *params, const VfkField *field, VfText *text)
{
    int32_t n = field->count;
    while (n > 0 && is_zero(params, field, n - 1))
        n--;
    if (n == 0)
        return false;
    vf_text_printf(text, "\n    .%s = %s", field->name, field->count > 1 ? "{" : "");
    for (int32_t i = 0; i < n; i++) {
        vf_text_string(text, i > 0 ? ", " : "");
        print_element(params, field, i, text);
    }
    vf_text_string(text, field->count > 1 ? "}," : ",");
    return true;
}

static void print_params(const VfPlanStep *step, int32_t number, VfText *text)
{
    const VfkKernel *kernel = step->kernel;
    bool has_field = false;
    vf_text_printf(text, "static const %s step_%d = {", kernel->params, number);
    for (int32_t i = 0; i < kernel->n_field; i++)
        has_field |= print_field(step->params, &kernel->field[i], text);
    vf_text_string(text, has_field ? "\n};\n\n" : "0};\n\n");
}

/* --- operands --- */

static void print_offset(size_t offset, VfText *text)
{
    if (offset > 0)
        vf_text_printf(text, " + %zu", offset);
}

static void print_ref(const VfEmitProgram *program, VfPlanRef ref, bool is_written, VfText *text)
{
    const char *constant = is_written ? "" : "const ";
    switch (ref.space) {
    case VF_SPACE_NONE:
        vf_text_string(text, "NULL");
        return;
    case VF_SPACE_WEIGHT:
        vf_text_string(text, "w");
        print_offset(program->weights.weight[ref.index].offset + ref.offset, text);
        return;
    case VF_SPACE_ARENA:
        vf_text_string(text, "a");
        print_offset(ref.offset, text);
        return;
    case VF_SPACE_INPUT:
    case VF_SPACE_OUTPUT:
        if (ref.offset > 0)
            vf_text_printf(text, "(%schar *)", constant);
        vf_text_printf(text, "%s[%d]", ref.space == VF_SPACE_INPUT ? "in" : "out", ref.index);
        print_offset(ref.offset, text);
        return;
    }
}

/* What the operand is called in the model, if it is called anything. */
static void print_ref_name(const VfEmitProgram *program, VfPlanRef ref, VfText *text)
{
    const VfPlan *plan = program->plan;
    const VfPlanTensor *tensor = ref.space == VF_SPACE_WEIGHT   ? &plan->weight[ref.index]
                                 : ref.space == VF_SPACE_INPUT  ? &plan->input[ref.index]
                                 : ref.space == VF_SPACE_OUTPUT ? &plan->output[ref.index]
                                                                : NULL;
    if (tensor == NULL || tensor->name.size == 0)
        return;
    vf_text_string(text, " /* ");
    vf_spell_comment(text, tensor->name);
    vf_text_string(text, " */");
}

static void print_refs(const VfEmitProgram *program, const VfPlanRef *ref, int32_t n,
                       bool is_written, VfText *text)
{
    vf_text_printf(text, "        %s = {\n",
                   is_written ? "void *const y[]" : "const void *const x[]");
    for (int32_t i = 0; i < n; i++) {
        vf_text_string(text, "            ");
        print_ref(program, ref[i], is_written, text);
        vf_text_char(text, ',');
        print_ref_name(program, ref[i], text);
        vf_text_char(text, '\n');
    }
    vf_text_string(text, "        };\n");
}

/* --- steps --- */

/* Shapes are printed with a middle dot between operands, which is not ASCII. */
static void print_shapes(const char *shapes, VfText *text)
{
    for (const char *at = shapes; *at != '\0'; at++) {
        if (strncmp(at, " \xc2\xb7 ", 4) == 0) {
            vf_text_string(text, ", ");
            at += 3;
        } else {
            vf_spell_comment(text, (VfBytes){at, 1});
        }
    }
}

static void print_heading(const VfPlanNode *node, int32_t number, VfText *text)
{
    vf_text_printf(text, "    /* %d: ", number);
    vf_spell_comment(text, bytes_of(node->op));
    if (node->name.size > 0) {
        vf_text_string(text, " \"");
        vf_spell_comment(text, node->name);
        vf_text_char(text, '"');
    }
    if (node->shapes != NULL) {
        vf_text_string(text, ", ");
        print_shapes(node->shapes, text);
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

static void print_step(const VfEmitProgram *program, int32_t number, VfText *text)
{
    const VfPlanStep *step = &program->plan->step[number];
    bool has_blas =
        blas_of(program, step->kernel) != NULL && vfk_fits_int(step->kernel, step->params);
    print_heading(&program->plan->node[step->node], number, text);
    vf_text_string(text, "    {\n");
    if (step->n_in > 0)
        print_refs(program, step->in, step->n_in, false, text);
    if (step->n_out > 0)
        print_refs(program, step->out, step->n_out, true, text);
    vf_text_printf(text, "        const VfkArgs args = {%s, %s, ", step->n_in > 0 ? "x" : "NULL",
                   step->n_out > 0 ? "y" : "NULL");
    if (step->scratch_bytes > 0) {
        vf_text_string(text, "a");
        print_offset(program->scratch_offset, text);
    } else {
        vf_text_string(text, "NULL");
    }
    vf_text_printf(text, ", &step_%d, 0, ", number);
    vf_spell_int(text, step->units);
    vf_text_printf(text, "};\n        %s%s(&args);\n    }\n", has_blas ? "call_" : "",
                   has_blas ? step->kernel->name : step->kernel->symbol);
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

static void print_locals(const VfPlan *plan, VfText *text)
{
    vf_text_string(text, uses(plan, VF_SPACE_WEIGHT) ? "    const char *const w = weights;\n"
                                                     : "    (void)weights;\n");
    vf_text_string(text, uses(plan, VF_SPACE_ARENA) ? "    char *const a = arena;\n"
                                                    : "    (void)arena;\n");
    vf_text_string(text, uses(plan, VF_SPACE_INPUT) ? "" : "    (void)in;\n");
    vf_text_string(text, uses(plan, VF_SPACE_OUTPUT) ? "" : "    (void)out;\n");
}

void vf_emit_steps(const VfEmitProgram *program, VfText *text)
{
    const VfPlan *plan = program->plan;
    print_variants(program, text);
    for (int32_t i = 0; i < plan->n_step; i++)
        print_params(&plan->step[i], i, text);
    vf_text_printf(text, "void %s_run(const void *weights, void *arena, const void *const *in, "
                   "void *const *out)\n{\n", program->stem);
    print_locals(plan, text);
    for (int32_t i = 0; i < plan->n_step; i++)
        print_step(program, i, text);
    vf_text_string(text, "}\n\n");
}
