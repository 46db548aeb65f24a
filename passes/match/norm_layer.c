/* LayerNorm and RMSNorm, as operators and written out. */
#include "passes/match/norm_parts.h"

#include <math.h>
#include <string.h>

#include "passes/ir/attr.h"
#include "passes/match/facts.h"
#include "passes/match/pattern.h"

/* Slots of the patterns below. */
enum {
    SLOT_X = 1,
    SLOT_MEAN,
    SLOT_VAR,
    SLOT_EPSILON,
    SLOT_GAMMA,
    SLOT_BETA,
    SLOT_WIDTH,      /* the number of elements normalised over */
    SLOT_SHARE,      /* one over it */
    SLOT_LESS,       /* one less */
    SLOT_ROOT,       /* its root */
    SLOT_ROOT_SHARE, /* one over that */
    SLOT_MEAN_WIDTH, /* the numbers of the mean, and of one taken again */
    SLOT_MEAN_SHARE,
    SLOT_AGAIN_WIDTH,
    SLOT_AGAIN_SHARE,
};

/* --- a mean of squares, also by their sum: `operand` is squared, `square` is it by an operator ---
 */

#define REDUCED(op_, operand_)                                                             \
    {                                                                                      \
        .kind = VF_PATTERN_OP, .op = VF_OP_##op_, .slot = SLOT_VAR, .n_in = 1, .in = {     \
            operand_                                                                       \
        }                                                                                  \
    }

#define MEAN_FORMS(name, operand, square)                                                        \
    static const VfPattern name##_mean = REDUCED(REDUCE_MEAN, square);                           \
    static const VfPattern name##_sum = REDUCED(REDUCE_SUM, square);                             \
    static const VfPattern name##_sum_square = REDUCED(REDUCE_SUM_SQUARE, operand);              \
    static const VfPattern name##_total = VF_PAT_ALT2(&name##_sum, &name##_sum_square);          \
    static const VfPattern name##_div = VF_PAT_OP2(DIV, &name##_total, VF_PAT_SCALAR(SLOT_WIDTH)); \
    static const VfPattern name##_mul = VF_PAT_OP2(MUL, &name##_total, VF_PAT_SCALAR(SLOT_SHARE)); \
    static const VfPattern name = VF_PAT_ALT3(&name##_mean, &name##_div, &name##_mul)

/* A mean of x, also by its sum. */
#define REDUCED_X(op_, slot_)                                                       \
    {                                                                               \
        .kind = VF_PATTERN_OP, .op = VF_OP_##op_, .slot = slot_, .n_in = 1, .in = { \
            VF_PAT_ANY(SLOT_X)                                                      \
        }                                                                           \
    }

#define MEANS(name, slot, width, share)                                             \
    static const VfPattern name##_reduced = REDUCED_X(REDUCE_MEAN, slot);           \
    static const VfPattern name##_sum = REDUCED_X(REDUCE_SUM, slot);                \
    static const VfPattern name##_over =                                            \
        VF_PAT_OP2(DIV, &name##_sum, VF_PAT_SCALAR(width));                         \
    static const VfPattern name##_times =                                           \
        VF_PAT_OP2(MUL, &name##_sum, VF_PAT_SCALAR(share));                         \
    static const VfPattern name = VF_PAT_ALT3(&name##_reduced, &name##_over, &name##_times)

/* --- LayerNorm: (x - mean) / sqrt(var + eps) --- */

MEANS(mean, SLOT_MEAN, SLOT_MEAN_WIDTH, SLOT_MEAN_SHARE);
static const VfPattern centred = VF_PAT_OP2(SUB, VF_PAT_ANY(SLOT_X), &mean);
static const VfPattern centred_cast = VF_PAT_OP1(CAST, &centred);
static const VfPattern centred_any = VF_PAT_ALT2(&centred, &centred_cast);
static const VfPattern square_pow = VF_PAT_OP2(POW, &centred_any, VF_PAT_NUMBER(2.0));
static const VfPattern square_mul = VF_PAT_OP2(MUL, &centred_any, &centred_any);
static const VfPattern square = VF_PAT_ALT2(&square_pow, &square_mul);
MEAN_FORMS(var_mean, &centred_any, &square);
static const VfPattern var_times = VF_PAT_OP2(MUL, &var_mean_mean, VF_PAT_SCALAR(SLOT_WIDTH));
static const VfPattern var_sample = VF_PAT_OP2(DIV, &var_times, VF_PAT_SCALAR(SLOT_LESS));

/* The centred value divided may be another node than the one squared. */
MEANS(mean_again, 0, SLOT_AGAIN_WIDTH, SLOT_AGAIN_SHARE);
static const VfPattern centred_again = VF_PAT_OP2(SUB, VF_PAT_ANY(SLOT_X), &mean_again);
static const VfPattern again_cast = VF_PAT_OP1(CAST, &centred_again);
static const VfPattern centred_out = VF_PAT_ALT2(&centred_again, &again_cast);

/* var = mean(x^2) - mean(x)^2 */
static const VfPattern x_pow = VF_PAT_OP2(POW, VF_PAT_ANY(SLOT_X), VF_PAT_NUMBER(2.0));
static const VfPattern x_mul = VF_PAT_OP2(MUL, VF_PAT_ANY(SLOT_X), VF_PAT_ANY(SLOT_X));
static const VfPattern x_square = VF_PAT_ALT2(&x_pow, &x_mul);
MEAN_FORMS(mean_square, VF_PAT_ANY(SLOT_X), &x_square);
static const VfPattern mean_pow = VF_PAT_OP2(POW, &mean, VF_PAT_NUMBER(2.0));
static const VfPattern mean_mul = VF_PAT_OP2(MUL, &mean, &mean);
static const VfPattern squared_mean = VF_PAT_ALT2(&mean_pow, &mean_mul);
static const VfPattern var_difference = VF_PAT_OP2(SUB, &mean_square, &squared_mean);
static const VfPattern var_clamped = VF_PAT_OP2(MAX, &var_difference, VF_PAT_NUMBER(0.0));
static const VfPattern var_relu = VF_PAT_OP1(RELU, &var_difference);
static const VfPattern var = {
    .kind = VF_PATTERN_ALT,
    .n_in = 5,
    .in = {&var_mean, &var_sample, &var_difference, &var_clamped, &var_relu}};

static const VfPattern var_eps = VF_PAT_OP2(ADD, &var, VF_PAT_SCALAR(SLOT_EPSILON));

/* --- the division, over a variance or a mean square plus epsilon ("floor") --- */

#define ROOT_FORMS(name, floor)                                                                 \
    static const VfPattern name##_sqrt = VF_PAT_OP1(SQRT, &floor);                              \
    static const VfPattern name##_half = VF_PAT_OP2(POW, &floor, VF_PAT_NUMBER(0.5));           \
    static const VfPattern name##_root = VF_PAT_ALT2(&name##_sqrt, &name##_half);               \
    static const VfPattern name##_reciprocal = VF_PAT_OP1(RECIPROCAL, &name##_root);            \
    static const VfPattern name##_one_over = VF_PAT_OP2(DIV, VF_PAT_NUMBER(1.0), &name##_root); \
    static const VfPattern name##_minus_half = VF_PAT_OP2(POW, &floor, VF_PAT_NUMBER(-0.5));    \
    static const VfPattern name##_inverse =                                                     \
        VF_PAT_ALT3(&name##_reciprocal, &name##_one_over, &name##_minus_half)

/* The same with epsilon outside of the root: another function, near zero only. */
#define DEVIATION_FORMS(name, power)                                                            \
    static const VfPattern name##_sqrt = VF_PAT_OP1(SQRT, &power);                              \
    static const VfPattern name##_half = VF_PAT_OP2(POW, &power, VF_PAT_NUMBER(0.5));           \
    static const VfPattern name##_root = VF_PAT_ALT2(&name##_sqrt, &name##_half);               \
    static const VfPattern name = VF_PAT_OP2(ADD, &name##_root, VF_PAT_SCALAR(SLOT_EPSILON));   \
    static const VfPattern name##_reciprocal = VF_PAT_OP1(RECIPROCAL, &name);                   \
    static const VfPattern name##_one_over = VF_PAT_OP2(DIV, VF_PAT_NUMBER(1.0), &name);        \
    static const VfPattern name##_inverse = VF_PAT_ALT2(&name##_reciprocal, &name##_one_over)

ROOT_FORMS(layer, var_eps);
static const VfPattern layer_div = VF_PAT_OP2(DIV, &centred_out, &layer_root);
static const VfPattern layer_mul = VF_PAT_OP2(MUL, &centred_out, &layer_inverse);
static const VfPattern layer = VF_PAT_ALT2(&layer_div, &layer_mul);
DEVIATION_FORMS(layer_dev, var);
static const VfPattern layer_by_dev = VF_PAT_OP2(DIV, &centred_out, &layer_dev);
static const VfPattern layer_by_dev_inverse = VF_PAT_OP2(MUL, &centred_out, &layer_dev_inverse);

/* The scale first: scale * (x - mean) / root. */
static const VfPattern centred_scaled = VF_PAT_OP2(MUL, VF_PAT_CONST(SLOT_GAMMA), &centred_out);
static const VfPattern any_root = VF_PAT_ALT2(&layer_root, &layer_dev);
static const VfPattern layer_early = VF_PAT_OP2(DIV, &centred_scaled, &any_root);

/* The scale multiplied into the inverse root: (x - mean) * (inverse * scale), or
 * x * (inverse * scale) + (shift - mean * (inverse * scale)), as TensorFlow has it. */
static const VfPattern layer_scaled = VF_PAT_OP2(MUL, &layer_inverse, VF_PAT_CONST(SLOT_GAMMA));
static const VfPattern layer_late = VF_PAT_OP2(MUL, &centred_out, &layer_scaled);
static const VfPattern layer_factor = VF_PAT_ALT2(&layer_scaled, &layer_inverse);
static const VfPattern x_part = VF_PAT_OP2(MUL, VF_PAT_ANY(SLOT_X), &layer_factor);
static const VfPattern mean_part = VF_PAT_OP2(MUL, &mean_again, &layer_factor);
static const VfPattern shift_part = VF_PAT_OP2(SUB, VF_PAT_CONST(SLOT_BETA), &mean_part);
static const VfPattern layer_spread = VF_PAT_OP2(ADD, &x_part, &shift_part);
static const VfPattern layer_any = {
    .kind = VF_PATTERN_ALT,
    .n_in = 6,
    .in = {&layer, &layer_late, &layer_spread, &layer_by_dev, &layer_by_dev_inverse, &layer_early}};

/* --- RMSNorm: x / sqrt(mean(x^2) + eps) --- */

static const VfPattern square_eps = VF_PAT_OP2(ADD, &mean_square, VF_PAT_SCALAR(SLOT_EPSILON));
ROOT_FORMS(rms, square_eps);
static const VfPattern rms_div = VF_PAT_OP2(DIV, VF_PAT_ANY(SLOT_X), &rms_root);
static const VfPattern rms_mul = VF_PAT_OP2(MUL, VF_PAT_ANY(SLOT_X), &rms_inverse);
DEVIATION_FORMS(rms_dev, mean_square);
static const VfPattern rms_by_dev = VF_PAT_OP2(DIV, VF_PAT_ANY(SLOT_X), &rms_dev);
static const VfPattern rms_by_dev_inverse = VF_PAT_OP2(MUL, VF_PAT_ANY(SLOT_X), &rms_dev_inverse);

/* x / sqrt(var + eps), the mean left in: neither of the two, but a norm, as some libraries have
 * had RMSNorm. */
static const VfPattern uncentred_div = VF_PAT_OP2(DIV, VF_PAT_ANY(SLOT_X), &layer_root);
static const VfPattern uncentred_mul = VF_PAT_OP2(MUL, VF_PAT_ANY(SLOT_X), &layer_inverse);
static const VfPattern uncentred = VF_PAT_ALT2(&uncentred_div, &uncentred_mul);

/* --- RMSNorm by the Euclidean norm: x / max(|x|, eps), a factor sqrt(width) behind it --- */

static const VfPattern norm2 = {.kind = VF_PATTERN_OP,
                                .op = VF_OP_REDUCE_L2,
                                .slot = SLOT_VAR,
                                .n_in = 1,
                                .in = {VF_PAT_ANY(SLOT_X)}};
static const VfPattern norm2_clip = VF_PAT_OP1(CLIP, &norm2);
static const VfPattern norm2_max = VF_PAT_OP2(MAX, &norm2, VF_PAT_SCALAR(SLOT_EPSILON));
static const VfPattern norm2_add = VF_PAT_OP2(ADD, &norm2, VF_PAT_SCALAR(SLOT_EPSILON));
static const VfPattern norm2_floor = {
    .kind = VF_PATTERN_ALT, .n_in = 4, .in = {&norm2_clip, &norm2_max, &norm2_add, &norm2}};
static const VfPattern norm2_expand = VF_PAT_OP1(EXPAND, &norm2_floor);
static const VfPattern norm2_wide = VF_PAT_ALT2(&norm2_expand, &norm2_floor);
static const VfPattern unit = VF_PAT_OP2(DIV, VF_PAT_ANY(SLOT_X), &norm2_wide);

/* The factor inside: x / (|x| / sqrt(width) + eps). */
static const VfPattern norm2_div = VF_PAT_OP2(DIV, &norm2, VF_PAT_SCALAR(SLOT_ROOT));
static const VfPattern norm2_mul = VF_PAT_OP2(MUL, &norm2, VF_PAT_SCALAR(SLOT_ROOT_SHARE));
static const VfPattern norm2_share = VF_PAT_ALT2(&norm2_div, &norm2_mul);
static const VfPattern share_max = VF_PAT_OP2(MAX, &norm2_share, VF_PAT_SCALAR(SLOT_EPSILON));
static const VfPattern share_add = VF_PAT_OP2(ADD, &norm2_share, VF_PAT_SCALAR(SLOT_EPSILON));
static const VfPattern share_floor = VF_PAT_ALT3(&share_max, &share_add, &norm2_share);
static const VfPattern rms_by_norm2 = VF_PAT_OP2(DIV, VF_PAT_ANY(SLOT_X), &share_floor);
static const VfPattern rms = {
    .kind = VF_PATTERN_ALT,
    .n_in = 6,
    .in = {&rms_div, &rms_mul, &rms_by_dev, &rms_by_dev_inverse, &rms_by_norm2, &uncentred}};

/* --- facts --- */

/* Does `reduce` (may be NULL) keep dims and reduce just these axes? */
static bool has_axes(const VfNode *reduce, int32_t n, const int64_t *axis)
{
    int64_t other[VF_AXIS_MAX];
    if (reduce == NULL)
        return true;
    if (vf_node_int(reduce, "keepdims") == 0 || vf_reduce_axes(reduce, other) != n)
        return false;
    return memcmp(other, axis, sizeof(*axis) * (size_t)n) == 0;
}

/* The axes of the reductions: kept, constant, and the same in all. */
static bool set_axes(VfSymbols *symbols, const VfMatch *match, VfLayerNorm *norm)
{
    const VfNode *var_node = match->slot[SLOT_VAR]->def;
    const VfNode *mean_node = match->slot[SLOT_MEAN] ? match->slot[SLOT_MEAN]->def : NULL;
    int64_t axis[VF_AXIS_MAX];
    int32_t n = vf_reduce_axes(var_node, axis);
    if (n < 1 || !has_axes(var_node, n, axis) || !has_axes(mean_node, n, axis) ||
        !has_axes(vf_match_node(match, &mean_again_reduced), n, axis) ||
        !has_axes(vf_match_node(match, &mean_again_sum), n, axis))
        return false;
    norm->width = vf_dim(1);
    for (int32_t i = 0; i < n; i++) {
        norm->axis[i] = (int32_t)axis[i];
        norm->width = vf_dim_mul(symbols, norm->width, vf_dim_at(norm->x, (int32_t)axis[i]));
    }
    norm->n_axis = n;
    return true;
}

/* Is the number that the pattern bound to `slot` (if any) near what it has to be? */
static bool is_number(const VfMatch *match, int32_t slot, double wanted)
{
    double number;
    return match->slot[slot] == NULL || (vf_scalar_of(match->slot[slot], &number) &&
                                         fabs(number - wanted) <= 1e-6 * fabs(wanted));
}

/* The numbers by which a sum becomes a mean. `is_sample`: divided by one less. */
static bool has_width_numbers(const VfMatch *match, const VfLayerNorm *norm, bool *is_sample)
{
    static const int32_t bound[] = {SLOT_WIDTH,       SLOT_SHARE,       SLOT_LESS,
                                    SLOT_ROOT,        SLOT_ROOT_SHARE,  SLOT_MEAN_WIDTH,
                                    SLOT_MEAN_SHARE,  SLOT_AGAIN_WIDTH, SLOT_AGAIN_SHARE};
    bool is_bound = false;
    for (size_t i = 0; i < sizeof bound / sizeof bound[0]; i++)
        is_bound = is_bound || match->slot[bound[i]] != NULL;
    *is_sample = match->slot[SLOT_LESS] != NULL;
    if (!is_bound)
        return true;
    double n = vf_dim_is_known(norm->width) ? (double)norm->width.k : 0.0;
    if (n < 1.0 || !is_number(match, SLOT_SHARE, 1.0 / n) ||
        !is_number(match, SLOT_LESS, n - 1.0) || !is_number(match, SLOT_ROOT, sqrt(n)) ||
        !is_number(match, SLOT_ROOT_SHARE, 1.0 / sqrt(n)) ||
        !is_number(match, SLOT_MEAN_WIDTH, n) || !is_number(match, SLOT_MEAN_SHARE, 1.0 / n) ||
        !is_number(match, SLOT_AGAIN_WIDTH, n) || !is_number(match, SLOT_AGAIN_SHARE, 1.0 / n))
        return false;
    bool is_sum = vf_match_node(match, &var_mean_div) != NULL;
    if (is_sum && n > 1.0 && !is_number(match, SLOT_WIDTH, n)) {
        *is_sample = true;
        return is_number(match, SLOT_WIDTH, n - 1.0);
    }
    return is_number(match, SLOT_WIDTH, n);
}

static bool is_uncentred(const VfMatch *match)
{
    return match->node[0] != NULL && (match->pattern[0] == &uncentred_div ||
                                      match->pattern[0] == &uncentred_mul);
}

/* Is the divisor or inverse root read by this node alone? Else x times it may be a part of a
 * LayerNorm that takes the mean away behind it. */
static bool has_own_divisor(const VfMatch *match, const VfNode *node)
{
    for (int32_t i = 0; i < node->n_in; i++)
        if (vf_node_in(node, i) != match->slot[SLOT_X] && vf_node_in(node, i)->n_use > 1)
            return false;
    return true;
}

/* Why this is not the function of the operators; NULL: it is. */
static const char *differs_by(const VfMatch *match, bool is_sample)
{
    if (match->slot[SLOT_VAR]->def->op == VF_OP_REDUCE_L2)
        return "a Euclidean norm with a floor is another function near zero";
    if (is_uncentred(match))
        return "it divides by the deviation from the mean but leaves the mean in: neither "
               "LayerNorm nor RMSNorm";
    if (is_sample)
        return "its variance is that of a sample, divided by one less than the width";
    if (vf_match_node(match, &layer_dev) != NULL || vf_match_node(match, &rms_dev) != NULL)
        return "its epsilon is added to the deviation and not to the variance";
    return NULL;
}

/* A constant of one element, or one that varies only along normalised axes. */
static bool is_affine_part(const VfLayerNorm *norm, const VfValue *value)
{
    const VfTensor *t = vf_value_const(value);
    int32_t rank = norm->x->type.rank;
    if (t == NULL || rank < 0 || t->rank > rank)
        return false;
    for (int32_t i = 0; i < t->rank; i++) {
        bool is_norm_axis = false;
        for (int32_t k = 0; k < norm->n_axis; k++)
            is_norm_axis = is_norm_axis || norm->axis[k] == i + rank - t->rank;
        if (!is_norm_axis && t->dims[i] != 1)
            return false;
    }
    return t->count > 1 || vf_dim_is(norm->width, 1);
}

/* The only reader of norm->y if it is `op` by a constant that fits. */
static VfValue *take_affine(VfLayerNorm *norm, VfOp op)
{
    VfNode *user = vf_value_single_user(norm->y);
    if (user == NULL || user->op != op)
        return NULL;
    VfValue *other = vf_other_in(user, norm->y->first_use->slot);
    if (other == norm->y || !is_affine_part(norm, other))
        return NULL;
    norm->last = user;
    norm->y = vf_node_out(user, 0);
    return other;
}

/* Carriers between the division and the scale belong to the norm when a scale follows. */
static void take_scale_shift(VfLayerNorm *norm)
{
    VfLayerNorm before = *norm;
    VfNode *user = vf_value_single_user(norm->y);
    if (user != NULL && vf_is_carrier(user))
        norm->y = vf_node_out(user, 0);
    norm->scale = norm->y ? take_affine(norm, VF_OP_MUL) : NULL;
    if (norm->scale == NULL)
        *norm = before;
    norm->shift = norm->is_rms ? NULL : take_affine(norm, VF_OP_ADD);
}

/* Over axis 1 of an image or sequence, or over the last axis that a Transpose brought there from
 * axis 1. */
static bool is_over_channels(const VfLayerNorm *norm)
{
    int32_t rank = norm->x->type.rank, perm[VF_AXIS_MAX];
    if (norm->n_axis != 1 || rank < 3)
        return false;
    if (norm->axis[0] == 1 && rank > 3)
        return true;
    const VfNode *before = vf_def_if(norm->x, VF_OP_TRANSPOSE);
    return before != NULL && vf_transpose_perm(before, perm) == rank && norm->axis[0] == rank - 1 &&
           perm[rank - 1] == 1;
}

/* Nodes further away than this belong to no norm as exporters write them. */
enum { SITE_SPAN_MAX = 512 };

/* The matched node that comes first in graph order. */
static VfNode *first_in_order(const VfMatch *match)
{
    VfNode *first = match->node[0];
    int32_t n_found = 0, n_step = 0;
    for (VfNode *node = first; node != NULL && n_step < SITE_SPAN_MAX;
         node = node->prev, n_step++) {
        if (!vf_match_has(match, node))
            continue;
        first = node;
        if (++n_found == match->n_node)
            break;
    }
    return first;
}

/* Is it the root of a width that is told at run time? */
static bool is_root_of_width(const VfLayerNorm *norm, const VfValue *value)
{
    const VfNode *root = vf_def_if(value, VF_OP_SQRT);
    const VfNode *cast = root != NULL ? vf_def_if(vf_node_in(root, 0), VF_OP_CAST) : NULL;
    const VfValue *width = cast != NULL ? vf_node_in(cast, 0) : NULL;
    return width != NULL && width->content != NULL && width->n_content == 1 &&
           vf_dim_is_same(width->content[0], norm->width);
}

/* sqrt(width), or a vector of width elements that absorbed it. */
static bool has_width_factor(VfLayerNorm *norm)
{
    VfNode *user = vf_value_single_user(norm->y);
    double number;
    if (user == NULL || user->op != VF_OP_MUL)
        return false;
    const VfValue *other = vf_other_in(user, norm->y->first_use->slot);
    bool is_number = vf_scalar_of(other, &number);
    if (is_number || is_root_of_width(norm, other)) {
        double width = vf_dim_is_known(norm->width) ? (double)norm->width.k : 0.0;
        if (is_number && (fabs(number - sqrt(width)) > 1e-3 * sqrt(width) || width < 2.0))
            return false;
        norm->last = user;
        norm->y = vf_node_out(user, 0);
        return true;
    }
    return is_affine_part(norm, other);
}

/* Epsilon of a unit vector's floor when it is a Clip. */
static void set_clip_epsilon(const VfMatch *match, VfLayerNorm *norm)
{
    const VfNode *clip = vf_match_node(match, &norm2_clip);
    if (clip != NULL && !vf_scalar_of(vf_node_in(clip, 1), &norm->epsilon))
        norm->epsilon = vf_node_attr(clip, "min") ? vf_node_float(clip, "min") : 0.0;
}

/* The scale and shift that are part of the pattern; false if they vary along other axes. */
static bool set_bound_affine(const VfMatch *match, VfLayerNorm *norm)
{
    norm->scale = match->slot[SLOT_GAMMA];
    norm->shift = match->slot[SLOT_BETA];
    return (norm->scale == NULL || is_affine_part(norm, norm->scale)) &&
           (norm->shift == NULL || is_affine_part(norm, norm->shift));
}

static bool find_pattern(VfValue *out, VfMatch *match, VfLayerNorm *norm, bool *is_unit)
{
    *is_unit = false;
    if (vf_pattern_match_open(&layer_any, out, match))
        return true;
    norm->is_rms = true;
    if (vf_pattern_match_open(&rms, out, match))
        return true;
    *is_unit = true;
    return vf_pattern_match_open(&unit, out, match);
}

static bool written_out_of(VfSymbols *symbols, VfNode *node, VfLayerNorm *norm)
{
    VfMatch match;
    VfValue *out = vf_node_out(node, 0);
    bool is_unit, is_sample;
    bool is_root = node->op == VF_OP_DIV || node->op == VF_OP_MUL || node->op == VF_OP_ADD;
    if (!is_root || out == NULL || !find_pattern(out, &match, norm, &is_unit))
        return false;
    norm->x = match.slot[SLOT_X];
    norm->y = out;
    norm->last = node;
    norm->is_decomposed = true;
    if (is_uncentred(&match) && !has_own_divisor(&match, node))
        return false;
    if (!set_axes(symbols, &match, norm) || !has_width_numbers(&match, norm, &is_sample) ||
        !set_bound_affine(&match, norm))
        return false;
    norm->differs = differs_by(&match, is_sample);
    if (match.slot[SLOT_EPSILON] != NULL)
        vf_scalar_of(match.slot[SLOT_EPSILON], &norm->epsilon);
    if (is_unit)
        set_clip_epsilon(&match, norm);
    if (is_unit && !has_width_factor(norm))
        return false;
    norm->root = first_in_order(&match);
    if (norm->scale == NULL && norm->shift == NULL)
        take_scale_shift(norm);
    else if (norm->shift == NULL)
        norm->shift = take_affine(norm, VF_OP_ADD);
    return true;
}

static bool operator_of(VfSymbols *symbols, VfNode *node, VfLayerNorm *norm)
{
    bool is_rms =
        node->op == VF_OP_RMS_NORMALIZATION || node->op == VF_OP_SIMPLIFIED_LAYER_NORMALIZATION;
    bool is_layer =
        node->op == VF_OP_LAYER_NORMALIZATION || node->op == VF_OP_MS_LAYER_NORMALIZATION;
    norm->x = vf_node_in(node, 0);
    norm->y = vf_node_out(node, 0);
    if ((!is_rms && !is_layer) || norm->x == NULL || norm->y == NULL)
        return false;
    norm->root = norm->last = node;
    norm->is_rms = is_rms;
    norm->scale = vf_node_in(node, 1);
    norm->shift = is_rms ? NULL : vf_node_in(node, 2);
    norm->epsilon = vf_node_float(node, "epsilon");
    int32_t rank = norm->x->type.rank, first = vf_axis_of(vf_node_int(node, "axis"), rank);
    norm->width = first < 0 ? vf_dim_unknown() : vf_dim(1);
    for (int32_t a = first; first >= 0 && a < rank && norm->n_axis < VF_AXIS_MAX; a++) {
        norm->axis[norm->n_axis++] = a;
        norm->width = vf_dim_mul(symbols, norm->width, norm->x->type.dims[a]);
    }
    return true;
}

bool vf_layer_norm_of(VfSymbols *symbols, VfNode *node, VfLayerNorm *norm)
{
    *norm = (VfLayerNorm){.epsilon = 0.0};
    if (!operator_of(symbols, node, norm)) {
        *norm = (VfLayerNorm){.epsilon = 0.0};
        if (!written_out_of(symbols, node, norm))
            return false;
    }
    norm->is_over_channels = is_over_channels(norm);
    return true;
}
