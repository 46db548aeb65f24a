#include "converter/emit/derived.h"

#include <string.h>

#include "converter/emit/params.h"
#include "runtime/kernels/linear.h"
#include "runtime/kernels/matmul.h"

static const char block_rows[] =
    "params.block_rows = vfk_matmul_block_rows(params.m, params.batch_rank, params.batch_dim);";
static const char units[] =
    "vfk_matmul_units(params.m, params.n, params.block_rows,\n"
    "            params.batch_rank, params.batch_dim)";

static int64_t get(const VfPlanStep *step, const char *name, int32_t i)
{
    const VfkKernel *kernel = step->kernel;
    for (int32_t f = 0; f < kernel->n_field; f++)
        if (strcmp(kernel->field[f].name, name) == 0)
            return vf_emit_get_int(step->params, &kernel->field[f], i);
    return -1;
}

static bool is_product_right(const VfPlanStep *step)
{
    int64_t dim[VFK_MAX_RANK], rank = get(step, "batch_rank", 0), m = get(step, "m", 0);
    for (int32_t i = 0; i < VFK_MAX_RANK; i++)
        dim[i] = get(step, "batch_dim", i);
    int64_t rows = vfk_matmul_block_rows(m, rank, dim);
    return rows == get(step, "block_rows", 0) &&
           vfk_matmul_units(m, get(step, "n", 0), rows, rank, dim) == step->units;
}

static bool is_linear_right(const VfPlanStep *step)
{
    return vfk_linear_units(step->params) == step->units;
}

static const VfEmitDerived table[] = {
    {"VfkMatmulParams", "block_rows", block_rows, units, is_product_right},
    {"VfkMatmulIntegerParams", "block_rows", block_rows, units, is_product_right},
    {"VfkLinearParams", NULL, NULL, "vfk_linear_units(&params)", is_linear_right},
};

const VfEmitDerived *vf_emit_derived(const VfkKernel *kernel)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (strcmp(table[i].params, kernel->params) == 0)
            return &table[i];
    return NULL;
}

bool vf_emit_is_derived(const VfkKernel *kernel, const VfkField *field)
{
    const VfEmitDerived *derived = vf_emit_derived(kernel);
    return derived != NULL && derived->field != NULL && strcmp(derived->field, field->name) == 0;
}

bool vf_emit_derived_is_right(const VfPlanStep *step)
{
    return vf_emit_derived(step->kernel)->is_right(step);
}
