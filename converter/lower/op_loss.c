/* Losses of class probabilities: composed of gathers, products and sums. */
#include "converter/lower/ops.h"

#include "passes/ir/attr.h"

enum { MAX_AXES = 64 };

typedef struct Loss {
    VfLowValue *each;   /* of every element of the target */
    VfLowValue *weight; /* that it has in the mean; NULL: 1 */
} Loss;

/* The target under the dims of x, with one class: B 1 d1 d2 ... */
static VfStatus class_axis(VfLower *cx, const VfLowValue *x, VfLowValue *target, VfLowValue **out,
                           VfErr *err)
{
    int64_t dims[MAX_AXES];
    if (x->rank < 2 || x->rank > MAX_AXES || target->rank != x->rank - 1)
        return vf_low_refuse(err, "%d axes and a target of %d", x->rank, target->rank);
    for (int32_t i = 0; i < x->rank; i++)
        dims[i] = i == 1 ? 1 : x->dims[i];
    if (target->count != x->count / (size_t)(x->dims[1] > 0 ? x->dims[1] : 1))
        return vf_low_refuse(err, "a target that does not fit");
    return vf_low_reshape(cx, target, x->rank, dims, out, err);
}

/* Elements that the attribute ignore_index takes out, or NULL; they then point at class 0. */
static VfStatus ignored(VfLower *cx, const VfLowCall *call, VfLowValue **target,
                        VfLowValue **mask, VfErr *err)
{
    VfLowValue *number, *zero;
    *mask = NULL;
    if (vf_node_attr(call->node, "ignore_index") == NULL)
        return VF_OK;
    VF_TRY(vf_low_scalar(cx, (*target)->dtype,
                         (double)vf_node_int(call->node, "ignore_index"), &number, err));
    VF_TRY(vf_low_scalar(cx, (*target)->dtype, 0, &zero, err));
    VF_TRY(vf_low_binary(cx, "equal", *target, number, mask, err));
    return vf_low_where(cx, *mask, zero, *target, target, err);
}

/* Minus the log probability of each target, times its class's weight; 0 where ignored. */
static VfStatus loss_of_each(VfLower *cx, const VfLowCall *call, VfLowValue *x, Loss *loss,
                             VfErr *err)
{
    VfLowValue *target, *mask, *zero, *w = vf_low_in(call, 2);
    VF_TRY(class_axis(cx, x, call->in[1], &target, err));
    VF_TRY(ignored(cx, call, &target, &mask, err));
    VF_TRY(vf_low_gather_elements(cx, call, x, target, 1, &loss->each, err));
    VF_TRY(vf_low_map(cx, "neg", loss->each, 0, 0, &loss->each, err));
    VF_TRY(vf_low_scalar(cx, x->dtype, 0, &zero, err));
    loss->weight = NULL;
    if (w != NULL) {
        VF_TRY(vf_low_gather_axis(cx, w, target, 0, &loss->weight, err));
        VF_TRY(vf_low_binary(cx, "mul", loss->each, loss->weight, &loss->each, err));
    } else if (mask != NULL) {
        VF_TRY(vf_low_scalar(cx, x->dtype, 1, &loss->weight, err));
    }
    if (mask == NULL)
        return VF_OK;
    VF_TRY(vf_low_where(cx, mask, zero, loss->weight, &loss->weight, err));
    return vf_low_where(cx, mask, zero, loss->each, &loss->each, err);
}

static VfStatus nll_loss(VfLower *cx, VfLowCall *call, VfLowValue *x, VfErr *err)
{
    static const uint64_t all = ~UINT64_C(0);
    VfBytes form = vf_node_string(call->node, "reduction");
    bool is_mean = vf_bytes_is_equal(form, vf_bytes("mean"));
    bool is_sum = vf_bytes_is_equal(form, vf_bytes("sum"));
    Loss loss;
    VF_TRY(loss_of_each(cx, call, x, &loss, err));
    if (!is_mean && !is_sum && !vf_bytes_is_equal(form, vf_bytes("none")))
        return vf_low_refuse_word("reduction", form, err);
    if (is_mean && loss.weight == NULL)
        VF_TRY(vf_low_reduce(cx, "reduce_mean", loss.each, all, &loss.each, err));
    else if (is_mean || is_sum)
        VF_TRY(vf_low_reduce(cx, "reduce_sum", loss.each, all, &loss.each, err));
    if (is_mean && loss.weight != NULL) {
        VF_TRY(vf_low_reduce(cx, "reduce_sum", loss.weight, all, &loss.weight, err));
        VF_TRY(vf_low_binary(cx, "div", loss.each, loss.weight, &loss.each, err));
    }
    return vf_low_reshape_to(cx, call, 0, loss.each, err);
}

VfStatus vf_lower_nll_loss(VfLower *cx, VfLowCall *call, VfErr *err)
{
    return nll_loss(cx, call, call->in[0], err);
}

VfStatus vf_lower_cross_entropy(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowValue *x = call->in[0], *log_prob;
    if (x->rank < 2)
        return vf_low_refuse(err, "%d axes", x->rank);
    VF_TRY(vf_low_softmax(cx, "log_softmax", x, 1, &log_prob, err));
    if (vf_low_has_out(call, 1))
        call->out[1] = log_prob;
    return nll_loss(cx, call, log_prob, err);
}
