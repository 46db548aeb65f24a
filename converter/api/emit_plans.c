#include "converter/api/emit_plans.h"

#include <inttypes.h>

enum {
    /* So many batches between the smallest and the largest are looked at; where there are no more,
     * all. */
    MAX_PROBES = 16
};

/* --- which inputs have the batch --- */

/* The axis from `from` on that is the symbol `name`, or the rank. */
static int32_t find_axis(const VfModel *ir, const VfType *type, const char *name, int32_t from)
{
    int32_t axis = from;
    while (axis < type->rank &&
           (type->dims[axis].sym <= VF_SYM_ONE ||
            !vf_bytes_is_equal(vf_symbol_text(ir->symbols, type->dims[axis].sym), vf_bytes(name))))
        axis++;
    return axis;
}

static VfStatus check_array(const VfValue *input, const VfArray *array, const VitfoldBatch *batch,
                            int64_t *given, VfErr *err)
{
    int64_t is = array->rank > 0 ? array->dims[0] : 0;
    if (is < batch->min || is > batch->max)
        return vf_fail(err, VF_USAGE, "input '%s': its data is a batch of %" PRId64 ", not of %"
                       PRId64 " to %" PRId64, vf_value_label(input), is, batch->min, batch->max);
    if (*given != 0 && *given != is)
        return vf_fail(err, VF_USAGE, "input '%s': its data is a batch of %" PRId64 ", that of "
                       "another input one of %" PRId64, vf_value_label(input), is, *given);
    *given = is;
    return VF_OK;
}

static VfStatus mark_inputs(const VfModel *ir, const VitfoldData *in, const VitfoldBatch *batch,
                            bool *has_batch, VfErr *err)
{
    int64_t given = 0;
    bool is_met = false;
    for (int32_t i = 0; i < ir->graph->n_input; i++) {
        const VfValue *input = ir->graph->input[i];
        int32_t rank = input->type.rank;
        bool is_first = rank > 0 && find_axis(ir, &input->type, batch->name, 0) == 0;
        int32_t axis = find_axis(ir, &input->type, batch->name, is_first ? 1 : 0);
        if (axis < rank)
            return vf_fail(err, VF_USAGE, "input '%s': '%s' is dimension %d of it; only a first "
                           "one can be a range", vf_value_label(input), batch->name, axis);
        int32_t k = is_first ? vf_data_index(in, input->name) : -1;
        is_met = is_met || is_first;
        if (k < 0)
            continue;
        VF_TRY(check_array(input, &in->array[k].array, batch, &given, err));
        has_batch[k] = true;
    }
    return is_met ? VF_OK
                  : vf_fail(err, VF_USAGE, "no input has a dimension '%s'", batch->name);
}

VfStatus vf_emit_shapes_init(VfEmitShapes *shapes, const VitfoldModel *model,
                             const VitfoldData *in, const VitfoldBatch *batch, VfArena *arena,
                             VfErr *err)
{
    bool *has_batch = VF_NEW_ARRAY(arena, bool, in->n_array);
    VF_TRY_ALLOC(has_batch, err);
    *shapes = (VfEmitShapes){.in = in, .has_batch = has_batch};
    if (batch == NULL)
        return VF_OK;
    if (batch->min < 1)
        return vf_fail(err, VF_USAGE, "dimension '%s': the smallest batch is 1, not %" PRId64,
                       batch->name, batch->min);
    if (batch->max < batch->min)
        return vf_fail(err, VF_USAGE, "dimension '%s': %" PRId64 " to %" PRId64 " is no range",
                       batch->name, batch->min, batch->max);
    shapes->min = batch->min;
    shapes->max = batch->max;
    return mark_inputs(model->ir, in, batch, has_batch, err);
}

/* --- plans --- */

typedef struct Making {
    const VitfoldModel *model;
    const VfEmitShapes *shapes;
    VfArena *arena;
} Making;

/* The data with another batch. Its bytes are not read. */
static VfStatus resize(const Making *cx, int64_t batch, VitfoldData *in, VfErr *err)
{
    const VitfoldData *from = cx->shapes->in;
    VfNamedArray *array = VF_NEW_ARRAY(cx->arena, VfNamedArray, from->n_array);
    VF_TRY_ALLOC(array, err);
    *in = *from;
    in->array = array;
    for (size_t i = 0; i < from->n_array; i++) {
        const VfArray *old = &from->array[i].array;
        int64_t dims[VF_ARRAY_MAX_RANK];
        array[i] = from->array[i];
        if (!cx->shapes->has_batch[i])
            continue;
        for (int32_t k = 0; k < old->rank; k++)
            dims[k] = k == 0 ? batch : old->dims[k];
        VfStatus status = vf_array_init(&array[i].array, cx->arena, old->dtype, old->rank, dims,
                                        old->data, err);
        if (status == VF_INVALID)
            return vf_fail(err, VF_USAGE, "input '%s': its size overflows with a batch of %" PRId64,
                           vf_show(cx->arena, array[i].name), batch);
        VF_TRY(status);
    }
    return VF_OK;
}

/* `batch` 0: the data as it is. */
static VfStatus lower(const Making *cx, int64_t batch, VfPlan **plan, VfErr *err)
{
    const VfLowerOptions options = {.reference = true, .no_fuse = cx->shapes->no_fuse,
                                    .max_arena_bytes = cx->model->max_memory};
    VitfoldData resized;
    if (batch == 0)
        return vf_session_plan(cx->model, cx->shapes->in, &options, cx->arena, plan, err);
    VF_TRY(resize(cx, batch, &resized, err));
    if (vf_session_plan(cx->model, &resized, &options, cx->arena, plan, err) == VF_OK)
        return VF_OK;
    return vf_context(err, "with a batch of %" PRId64, batch);
}

static VfStatus lower_into(const Making *cx, int64_t batch, VfEmitPlans *plans,
                           const VfPlan **plan, VfErr *err)
{
    VfPlan **own = &plans->plan[plans->n_plan];
    VF_TRY(lower(cx, batch, own, err));
    plans->n_plan++;
    *plan = *own;
    return VF_OK;
}

/* Hold one plan between the ends against them. */
static VfStatus probe(const Making *cx, const VfEmitRange *range, const VfEmitRange *whole,
                      int64_t batch, VfErr *err)
{
    VfPlan *plan = NULL;
    VF_TRY(lower(cx, batch, &plan, err));
    VfStatus status = vf_emit_range_check(range, plan, batch, err);
    if (status == VF_OK)
        status = vf_emit_range_check_tensors(whole, plan, batch, err);
    vf_plan_free(plan);
    return status;
}

static VfStatus probe_all(const Making *cx, const VfEmitPlans *plans, VfErr *err)
{
    const VfEmitRange *first = &plans->range[0], *last = &plans->range[plans->n_range - 1];
    VfEmitRange whole = {first->min, last->max, first->low, last->high};
    int64_t n_between = last->max - last->min - 1;
    int64_t n = n_between < MAX_PROBES ? n_between : MAX_PROBES;
    for (int64_t i = 1; i <= n; i++)
        VF_TRY(probe(cx, last, &whole, last->min + (int64_t)((double)i * (double)(n_between + 1) /
                                                             (double)(n + 1)), err));
    VF_TRY(vf_emit_range_check_tensors(&whole, whole.low, whole.min, err));
    return vf_emit_range_check_tensors(&whole, last->low, last->min, err);
}

/* Whether one range does for all: the smallest batch and the next lie on the lines through the
 * ends. The next, too: a number that is the same for all batches but the smallest may lie on a line
 * by chance at both ends. `next` is NULL where no batch lies between them. */
static bool is_one_range(const VfEmitRange *range, const VfPlan *next)
{
    VfErr ignored;
    return vf_emit_range_check(range, range->low, range->min, &ignored) == VF_OK &&
           (next == NULL || vf_emit_range_check(range, next, range->min + 1, &ignored) == VF_OK);
}

/* Where the smallest batch has other steps than the others (copies fall away with a single
 * sample), it becomes a range of its own. */
static VfStatus split(const Making *cx, VfEmitPlans *plans, VfErr *err)
{
    VfEmitRange *first = &plans->range[0], *last = &plans->range[1];
    const VfPlan *next = NULL;
    if (first->min + 1 < first->max)
        VF_TRY(lower_into(cx, first->min + 1, plans, &next, err));
    if (is_one_range(first, next))
        return VF_OK;
    const VfPlan *low = next != NULL ? next : first->high;
    *last = (VfEmitRange){first->min + 1, first->max, low, first->high};
    *first = (VfEmitRange){first->min, first->min, first->low, first->low};
    plans->n_range = 2;
    return vf_emit_range_check(last, low, last->min, err);
}

VfStatus vf_emit_plans_init(VfEmitPlans *plans, const VitfoldModel *model,
                            const VfEmitShapes *shapes, VfArena *arena, VfErr *err)
{
    Making cx = {model, shapes, arena};
    const VfPlan *low, *high;
    *plans = (VfEmitPlans){.n_range = 1};
    VF_TRY(lower_into(&cx, shapes->max, plans, &high, err));
    low = high;
    if (shapes->min < shapes->max)
        VF_TRY(lower_into(&cx, shapes->min, plans, &low, err));
    plans->range[0] = (VfEmitRange){shapes->min, shapes->max, low, high};
    if (shapes->max == 0)
        return VF_OK;
    VF_TRY(split(&cx, plans, err));
    return probe_all(&cx, plans, err);
}

void vf_emit_plans_release(VfEmitPlans *plans)
{
    for (int32_t i = 0; i < plans->n_plan; i++)
        vf_plan_free(plans->plan[i]);
    *plans = (VfEmitPlans){0};
}
