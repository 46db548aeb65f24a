#include "converter/emit/batch.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "converter/emit/derived.h"
#include "converter/emit/params.h"
#include "converter/emit/spell.h"

/* Differences of numbers up to here do not overflow. Those beyond are marks ("to the end") and no
 * sizes: they must not differ at all. */
static const int64_t largest = INT64_MAX / 4;

/* A plan held against a range. */
typedef struct Check {
    const VfEmitRange *range;
    const VfPlan *plan;
    int64_t batch;
    VfErr *err;
} Check;

static bool is_on_line(const Check *cx, int64_t low, int64_t high, int64_t is)
{
    if (low == high)
        return is == low;
    int64_t n = cx->range->max - cx->range->min, rise = high - low;
    if (low < -largest || low > largest || high < -largest || high > largest)
        return false;
    return rise % n == 0 && is == low + rise / n * (cx->batch - cx->range->min);
}

/* --- what is wrong --- */

/* The step of `plan`, which has no counterpart in the other one. */
static VfStatus refuse_step(const Check *cx, const VfPlan *plan, int32_t step)
{
    const VfPlanNode *node = &plan->node[plan->step[step].node];
    return vf_fail(cx->err, VF_UNSUPPORTED, "node '%.*s' (%s): a batch of %" PRId64 " takes other "
                   "steps than a batch of %" PRId64, (int)node->name.size, node->name.data,
                   node->op, cx->batch, cx->range->max);
}

/* A number of the step, as it is at the low end, at the high one, and in the plan. */
static VfStatus refuse_number(const Check *cx, int32_t step, const char *what, int64_t low,
                              int64_t high, int64_t is)
{
    const VfPlan *plan = cx->range->high;
    const VfPlanNode *node = &plan->node[plan->step[step].node];
    char middle[64] = "";
    if (cx->batch != cx->range->min)
        snprintf(middle, sizeof middle, ", %" PRId64 " for %" PRId64, is, cx->batch);
    return vf_fail(cx->err, VF_UNSUPPORTED, "node '%.*s' (%s): %s is no linear function of the "
                   "batch: %" PRId64 " for a batch of %" PRId64 "%s, %" PRId64 " for %" PRId64,
                   (int)node->name.size, node->name.data, node->op, what, low, cx->range->min,
                   middle, high, cx->range->max);
}

/* --- shapes of a node, as text --- */

/* The number at `*at`, which moves behind it; false where there is none. */
static bool take_number(const char **at, int64_t *number)
{
    const char *start = *at;
    *number = 0;
    for (; **at >= '0' && **at <= '9'; (*at)++)
        *number = *number * 10 + (**at - '0');
    return *at != start;
}

/* Whether the step before belongs to the same node, whose shapes were checked then. */
static bool is_further_step(const VfPlan *const *plan, int32_t step)
{
    for (int i = 0; i < 3; i++)
        if (step == 0 || plan[i]->step[step].node != plan[i]->step[step - 1].node)
            return false;
    return true;
}

static VfStatus check_shapes(const Check *cx, int32_t step)
{
    const VfPlan *const plan[3] = {cx->range->low, cx->range->high, cx->plan};
    const char *at[3];
    int64_t number[3];
    if (is_further_step(plan, step))
        return VF_OK;
    for (int i = 0; i < 3; i++)
        at[i] = plan[i]->node[plan[i]->step[step].node].shapes;
    while (*at[0] != '\0' || *at[1] != '\0' || *at[2] != '\0') {
        int n_number = 0;
        for (int i = 0; i < 3; i++)
            n_number += take_number(&at[i], &number[i]);
        if (n_number == 3 && is_on_line(cx, number[0], number[1], number[2]))
            continue;
        if (n_number == 3)
            return refuse_number(cx, step, "a dimension", number[0], number[1], number[2]);
        if (n_number > 0 || *at[0] != *at[1] || *at[0] != *at[2])
            return refuse_step(cx, cx->plan, step);
        for (int i = 0; i < 3; i++)
            at[i]++;
    }
    return VF_OK;
}

/* One character, or the middle dot between operands, which is not ASCII. */
static const char *print_mark(const char *at, bool is_spaced, VfText *text)
{
    if (strncmp(at, " \xc2\xb7 ", 4) == 0) {
        vf_text_string(text, ", ");
        return at + 4;
    }
    if (is_spaced && *at == 'x')
        vf_text_string(text, " x ");
    else
        vf_spell_comment(text, (VfBytes){at, 1});
    return at + 1;
}

static void print_dim(const VfEmitRange *range, int64_t low, int64_t high, VfText *text)
{
    bool is_sum = low != high && (vf_emit_slope(range, low, high) != 1 || low != range->min);
    vf_text_string(text, is_sum ? "(" : "");
    vf_emit_number(range, low, high, text);
    vf_text_string(text, is_sum ? ")" : "");
}

/* Each of the steps of a node tells its shapes. Those of a node of very many operands, which may
 * have a step for each, are cut. */
enum { MAX_SHAPES = 1024 };

void vf_emit_shapes(const VfEmitRange *range, const char *low, const char *high, VfText *text)
{
    bool varies = strncmp(low, high, MAX_SHAPES) != 0;
    const char *start = high;
    int64_t a, b;
    while (*high != '\0') {
        if (high - start >= MAX_SHAPES) {
            vf_text_string(text, "...");
            return;
        }
        if (take_number(&high, &b) && take_number(&low, &a)) {
            print_dim(range, a, b, text);
            continue;
        }
        const char *next = print_mark(high, varies, text);
        low += next - high;
        high = next;
    }
}

/* --- steps --- */

int64_t vf_emit_place(const VfPlan *plan, VfPlanRef ref)
{
    size_t start = ref.space == VF_SPACE_ARENA ? plan->buffer[ref.index].offset : 0;
    return (int64_t)(ref.offset - start);
}

static bool is_same_ref(const Check *cx, VfPlanRef a, VfPlanRef b)
{
    if (a.space != b.space || a.index != b.index)
        return false;
    /* The place of the largest batch has room for the others. */
    return a.space != VF_SPACE_ARENA ||
           cx->plan->buffer[a.index].bytes <= cx->range->high->buffer[b.index].bytes;
}

/* Weights that were computed with the batch may be shorter for a smaller one. */
static VfStatus check_weight(const Check *cx, int32_t step, int32_t index)
{
    const VfPlanTensor *part = &cx->plan->weight[index], *whole = &cx->range->high->weight[index];
    const VfPlanNode *node = &cx->plan->node[cx->plan->step[step].node];
    bool is_beginning = part->dtype == whole->dtype && part->bytes <= whole->bytes &&
                        (part->data == whole->data || part->bytes == 0 ||
                         memcmp(part->data, whole->data, part->bytes) == 0);
    if (is_beginning)
        return VF_OK;
    return vf_fail(cx->err, VF_UNSUPPORTED, "node '%.*s' (%s): a constant that it reads is for a "
                   "batch of %" PRId64 " not the beginning of what it is for one of %" PRId64,
                   (int)node->name.size, node->name.data, node->op, cx->batch, cx->range->max);
}

static VfStatus check_refs(const Check *cx, int32_t step, bool is_out)
{
    const VfPlanStep *is = &cx->plan->step[step], *low = &cx->range->low->step[step],
                     *high = &cx->range->high->step[step];
    for (int32_t i = 0; i < (is_out ? is->n_out : is->n_in); i++) {
        VfPlanRef a = is_out ? is->out[i] : is->in[i], b = is_out ? high->out[i] : high->in[i];
        if (!is_same_ref(cx, a, b))
            return refuse_step(cx, cx->plan, step);
        if (a.space == VF_SPACE_WEIGHT)
            VF_TRY(check_weight(cx, step, a.index));
        int64_t at_low = vf_emit_place(cx->range->low, is_out ? low->out[i] : low->in[i]),
                at_high = vf_emit_place(cx->range->high, b), at = vf_emit_place(cx->plan, a);
        if (!is_on_line(cx, at_low, at_high, at))
            return refuse_number(cx, step, "the place of an operand", at_low, at_high, at);
    }
    return VF_OK;
}

static VfStatus check_field(const Check *cx, int32_t step, const VfkField *field)
{
    const void *is = cx->plan->step[step].params, *low = cx->range->low->step[step].params,
               *high = cx->range->high->step[step].params;
    char what[128];
    snprintf(what, sizeof what, "'%s' of kernel %s", field->name,
             cx->plan->step[step].kernel->name);
    for (int32_t i = 0; i < field->count; i++) {
        if (vf_emit_is_floating(field)) {
            if (!vf_emit_is_same_float(is, high, field, i))
                return refuse_step(cx, cx->plan, step);
            continue;
        }
        int64_t at_low = vf_emit_get_int(low, field, i), at_high = vf_emit_get_int(high, field, i),
                at = vf_emit_get_int(is, field, i);
        if (!is_on_line(cx, at_low, at_high, at))
            return refuse_number(cx, step, what, at_low, at_high, at);
    }
    return VF_OK;
}

static bool is_same_step(const Check *cx, int32_t step)
{
    const VfPlanStep *is = &cx->plan->step[step], *high = &cx->range->high->step[step];
    const VfPlanNode *a = &cx->plan->node[is->node], *b = &cx->range->high->node[high->node];
    return is->kernel == high->kernel && is->n_in == high->n_in && is->n_out == high->n_out &&
           is->scratch_bytes <= cx->range->high->scratch_bytes &&
           a->name.size == b->name.size &&
           memcmp(a->name.data, b->name.data, a->name.size) == 0 && strcmp(a->op, b->op) == 0;
}

static VfStatus check_step(const Check *cx, int32_t step)
{
    const VfkKernel *kernel = cx->plan->step[step].kernel;
    int64_t low = cx->range->low->step[step].units, high = cx->range->high->step[step].units;
    if (!is_same_step(cx, step))
        return refuse_step(cx, cx->plan, step);
    VF_TRY(check_shapes(cx, step));
    VF_TRY(check_refs(cx, step, false));
    VF_TRY(check_refs(cx, step, true));
    for (int32_t i = 0; i < kernel->n_field; i++)
        if (!vf_emit_is_derived(kernel, &kernel->field[i]))
            VF_TRY(check_field(cx, step, &kernel->field[i]));
    if (vf_emit_derived(kernel) != NULL)
        return vf_emit_derived_is_right(&cx->plan->step[step]) ? VF_OK
                                                               : refuse_step(cx, cx->plan, step);
    if (!is_on_line(cx, low, high, cx->plan->step[step].units))
        return refuse_number(cx, step, "its work", low, high, cx->plan->step[step].units);
    return VF_OK;
}

/* --- all --- */

VfStatus vf_emit_range_check(const VfEmitRange *range, const VfPlan *plan, int64_t batch,
                             VfErr *err)
{
    Check cx = {range, plan, batch, err};
    const VfPlan *longer = plan->n_step > range->high->n_step ? plan : range->high;
    int32_t n = longer == plan ? range->high->n_step : plan->n_step;
    for (int32_t i = 0; i < n; i++)
        VF_TRY(check_step(&cx, i));
    if (longer->n_step != n)
        return refuse_step(&cx, longer, n);
    return VF_OK;
}

/* --- inputs and outputs --- */

static VfStatus check_tensor(const Check *cx, const VfPlanTensor *low, const VfPlanTensor *high,
                             const VfPlanTensor *is)
{
    bool is_same = low->rank == high->rank && is->rank == high->rank &&
                   low->dtype == high->dtype && is->dtype == high->dtype &&
                   is_on_line(cx, (int64_t)low->bytes, (int64_t)high->bytes, (int64_t)is->bytes);
    for (int32_t i = 0; is_same && i < high->rank; i++)
        is_same = is_on_line(cx, low->dims[i], high->dims[i], is->dims[i]);
    if (is_same)
        return VF_OK;
    return vf_fail(cx->err, VF_UNSUPPORTED, "input or output '%.*s': its shape is no linear "
                   "function of the batch",
                   (int)high->name.size, high->name.data);
}

VfStatus vf_emit_range_check_tensors(const VfEmitRange *range, const VfPlan *plan, int64_t batch,
                                     VfErr *err)
{
    Check cx = {range, plan, batch, err};
    const VfPlan *low = range->low, *high = range->high;
    for (int32_t i = 0; i < plan->n_input; i++)
        VF_TRY(check_tensor(&cx, &low->input[i], &high->input[i], &plan->input[i]));
    for (int32_t i = 0; i < plan->n_output; i++)
        VF_TRY(check_tensor(&cx, &low->output[i], &high->output[i], &plan->output[i]));
    return VF_OK;
}

/* --- printing --- */

bool vf_emit_step_varies(const VfEmitRange *range, int32_t step)
{
    const VfPlan *a = range->low, *b = range->high;
    const VfPlanStep *low = &a->step[step], *high = &b->step[step];
    bool varies = low->units != high->units || vf_emit_params_vary(range, step);
    for (int32_t i = 0; i < high->n_in; i++)
        varies = varies || vf_emit_place(a, low->in[i]) != vf_emit_place(b, high->in[i]);
    for (int32_t i = 0; i < high->n_out; i++)
        varies = varies || vf_emit_place(a, low->out[i]) != vf_emit_place(b, high->out[i]);
    return varies;
}

int64_t vf_emit_slope(const VfEmitRange *range, int64_t low, int64_t high)
{
    return low == high ? 0 : (high - low) / (range->max - range->min);
}

void vf_emit_number(const VfEmitRange *range, int64_t low, int64_t high, VfText *text)
{
    int64_t rise = vf_emit_slope(range, low, high), start = low - rise * range->min;
    if (low == high || start != 0)
        vf_spell_int(text, start);
    if (low == high)
        return;
    vf_text_string(text, start != 0 ? " + " : "");
    if (rise != 1) {
        vf_spell_int(text, rise);
        vf_text_string(text, " * ");
    }
    vf_text_string(text, "batch");
}
