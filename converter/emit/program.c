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

static VfStatus add_kernel(VfEmitProgram *program, const VfkKernel *kernel, VfErr *err)
{
    for (int32_t k = 0; k < program->n_kernel; k++)
        if (program->kernel[k] == kernel)
            return VF_OK;
    if (strcmp(kernel->variant, "ref") != 0)
        return vf_fail(err, VF_INTERNAL, "the plan has kernel '%s'", kernel->symbol);
    program->blas[program->n_kernel] = find_blas(kernel);
    program->kernel[program->n_kernel++] = kernel;
    return VF_OK;
}

static VfStatus find_kernels(VfEmitProgram *program, VfArena *arena, VfErr *err)
{
    program->kernel = VF_NEW_ARRAY(arena, const VfkKernel *, (size_t)program->n_step);
    program->blas = VF_NEW_ARRAY(arena, const VfkKernel *, (size_t)program->n_step);
    if (program->kernel == NULL || program->blas == NULL)
        return vf_no_memory(err);
    for (int32_t r = 0; r < program->model->n_range; r++) {
        const VfPlan *plan = program->model->range[r].high;
        for (int32_t i = 0; i < plan->n_step; i++)
            VF_TRY(add_kernel(program, plan->step[i].kernel, err));
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

/* The arena of every plan, and behind all of them the scratch. */
static VfStatus measure(VfEmitProgram *program, VfErr *err)
{
    size_t arena = 0, scratch = 0;
    for (int32_t r = 0; r < program->model->n_range; r++) {
        const VfPlan *plan = program->model->range[r].high;
        if (plan->depends_on_values)
            return vf_fail(err, VF_INTERNAL, "the plan depends on the contents of inputs");
        arena = plan->arena_bytes > arena ? plan->arena_bytes : arena;
        scratch = plan->scratch_bytes > scratch ? plan->scratch_bytes : scratch;
        program->n_step += plan->n_step;
    }
    if (!vf_size_align(arena, ALIGN, &program->scratch_offset) ||
        !vf_size_add(program->scratch_offset, scratch, &program->arena_bytes))
        return vf_fail(err, VF_UNSUPPORTED, "the arena is larger than the address space");
    return VF_OK;
}

const VfEmitWeight *vf_emit_weight(const VfEmitProgram *program, int32_t range, int32_t index)
{
    for (int32_t r = 0; r < range; r++)
        index += program->model->range[r].high->n_weight;
    return &program->weights.weight[index];
}

static VfStatus find_weights(VfEmitProgram *program, VfArena *arena, VfErr *err)
{
    const VfEmitModel *model = program->model;
    int32_t n = 0;
    for (int32_t r = 0; r < model->n_range; r++)
        n += model->range[r].high->n_weight;
    VfPlanTensor *tensor = VF_NEW_ARRAY(arena, VfPlanTensor, (size_t)n);
    VF_TRY_ALLOC(tensor, err);
    n = 0;
    for (int32_t r = 0; r < model->n_range; r++)
        for (int32_t i = 0; i < model->range[r].high->n_weight; i++)
            tensor[n++] = model->range[r].high->weight[i];
    return vf_emit_weights_init(&program->weights, tensor, n, program->options->weights_dtype,
                                arena, err);
}

VfStatus vf_emit_program_init(VfEmitProgram *program, const VfEmitOptions *options, int32_t index,
                              VfArena *arena, VfErr *err)
{
    const VfEmitModel *model = &options->model[index];
    const VfEmitRange *first = &model->range[0], *last = &model->range[model->n_range - 1];
    const char *const *names = stem[options->n_model > 1 ? index + 1 : 0];
    *program = (VfEmitProgram){.options = options, .model = model, .plan = last->high,
                               .whole = {first->min, last->max, first->low, last->high},
                               .stem = names[0], .upper = names[1]};
    VF_TRY(measure(program, err));
    VF_TRY(find_kernels(program, arena, err));
    VF_TRY(find_names(program->plan->input, program->plan->n_input, arena, &program->in_name, err));
    VF_TRY(find_names(program->plan->output, program->plan->n_output, arena, &program->out_name,
                      err));
    return find_weights(program, arena, err);
}
