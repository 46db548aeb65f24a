#include "converter/emit/program.h"

#include <string.h>

#include "converter/emit/spell.h"
#include "runtime/base/size.h"

enum { ALIGN = 64 };

static const char *const stem[VF_EMIT_MAX_MODELS + 1][2] = {
    {"model", "MODEL"}, {"original", "ORIGINAL"}, {"converted", "CONVERTED"}};

static const VfkKernel *find_blas(const VfkKernel *kernel)
{
    for (int32_t i = 0; i < vfk_kernel_count; i++)
        if (strcmp(vfk_kernel_table[i].variant, "blas") == 0 &&
            strcmp(vfk_kernel_table[i].name, kernel->name) == 0)
            return &vfk_kernel_table[i];
    return NULL;
}

static VfStatus find_kernels(VfEmitProgram *program, VfArena *arena, VfErr *err)
{
    const VfPlan *plan = program->plan;
    program->kernel = VF_NEW_ARRAY(arena, const VfkKernel *, (size_t)plan->n_step);
    program->blas = VF_NEW_ARRAY(arena, const VfkKernel *, (size_t)plan->n_step);
    if (program->kernel == NULL || program->blas == NULL)
        return vf_no_memory(err);
    for (int32_t i = 0; i < plan->n_step; i++) {
        const VfkKernel *kernel = plan->step[i].kernel;
        int32_t k = 0;
        while (k < program->n_kernel && program->kernel[k] != kernel)
            k++;
        if (k < program->n_kernel)
            continue;
        if (strcmp(kernel->variant, "ref") != 0)
            return vf_fail(err, VF_INTERNAL, "the plan has kernel '%s'", kernel->symbol);
        program->blas[k] = find_blas(kernel);
        program->kernel[program->n_kernel++] = kernel;
    }
    return VF_OK;
}

static VfStatus find_names(const VfPlanTensor *tensor, int32_t n, VfArena *arena,
                           const char ***identifier, VfErr *err)
{
    VfBytes *name = VF_NEW_ARRAY(arena, VfBytes, (size_t)n);
    *identifier = VF_NEW_ARRAY(arena, const char *, (size_t)n);
    if (name == NULL || *identifier == NULL)
        return vf_no_memory(err);
    for (int32_t i = 0; i < n; i++)
        name[i] = tensor[i].name;
    return vf_spell_identifiers(arena, (size_t)n, name, *identifier, err);
}

VfStatus vf_emit_program_init(VfEmitProgram *program, const VfEmitOptions *options, int32_t index,
                              VfArena *arena, VfErr *err)
{
    const VfEmitModel *model = &options->model[index];
    const VfPlan *plan = model->plan;
    const char *const *names = stem[options->n_model > 1 ? index + 1 : 0];
    *program = (VfEmitProgram){.options = options, .model = model, .plan = plan, .stem = names[0],
                               .upper = names[1]};
    if (plan->depends_on_values)
        return vf_fail(err, VF_INTERNAL, "the plan depends on the contents of inputs");
    if (!vf_size_align(plan->arena_bytes, ALIGN, &program->scratch_offset) ||
        !vf_size_add(program->scratch_offset, plan->scratch_bytes, &program->arena_bytes))
        return vf_fail(err, VF_UNSUPPORTED, "the arena is larger than the address space");
    VF_TRY(find_kernels(program, arena, err));
    VF_TRY(find_names(plan->input, plan->n_input, arena, &program->in_name, err));
    VF_TRY(find_names(plan->output, plan->n_output, arena, &program->out_name, err));
    return vf_emit_weights_init(&program->weights, plan, options->weights_dtype, arena, err);
}
