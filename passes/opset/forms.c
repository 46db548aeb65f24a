#include "passes/opset/forms.h"

#include "passes/ir/attr.h"
#include "passes/ir/attr_default.h"
#include "passes/ir/infer.h"
#include "passes/match/facts.h"
#include "passes/opset/lower_limits.h"

/* One step: sets *reason or does its part. */
typedef VfStatus FormStep(VfForm *form, const char **reason);

/* --- attributes that became operands --- */

static void put(VfForm *form, int32_t slot, VfValue *value, const char *name)
{
    form->is_changed = true;
    form->drop[form->n_drop++] = name;
    if (form->rw == NULL)
        return;
    for (; form->n_in < slot; form->n_in++)
        vf_rewrite_set_in(form->rw, form->node, form->n_in, VF_NO_OPERAND);
    vf_rewrite_set_in(form->rw, form->node, slot, value);
    form->n_in = form->n_in > slot ? form->n_in : slot + 1;
}

/* The attribute if it is there; a reference to that of a function has no value to move. */
static const VfAttr *find(const VfForm *form, const char *name, const char **reason)
{
    const VfAttr *attr = vf_node_attr(form->node, name);
    if (attr == NULL || attr->ref.size == 0)
        return attr;
    *reason = vf_arena_printf(form->arena, "attribute '%s' is that of the function around it",
                              name);
    return NULL;
}

static VfStatus move_ints(VfForm *form, const char *name, int32_t slot, const char **reason)
{
    static const int64_t none[] = {0};
    const VfAttr *attr = find(form, name, reason);
    if (attr == NULL)
        return VF_OK;
    VfValue *value = NULL;
    if (form->rw != NULL && attr->type == VF_ATTR_INT)
        value = vf_rewrite_const_i64(form->rw, 1, &attr->i, name);
    else if (form->rw != NULL)
        value = vf_rewrite_const_i64(form->rw, attr->n, attr->n == 0 ? none : attr->ints, name);
    put(form, slot, value, name);
    return VF_OK;
}

/* A number of the dtype of operand 0. */
static VfStatus move_float(VfForm *form, const char *name, int32_t slot, const char **reason)
{
    const VfAttr *attr = find(form, name, reason);
    const VfValue *x = vf_node_in(form->node, 0);
    if (attr == NULL)
        return VF_OK;
    if (x == NULL || x->type.dtype == VF_UNDEFINED) {
        *reason = "the dtype of its operand is not known";
        return VF_OK;
    }
    VfValue *value = NULL;
    if (form->rw != NULL)
        value = vf_rewrite_scalar(form->rw, x->type.dtype, (double)attr->f, name);
    put(form, slot, value, name);
    return VF_OK;
}

static VfStatus axes_to_operand(VfForm *form, const char **reason)
{
    return move_ints(form, "axes", 1, reason);
}

static VfStatus split_to_operand(VfForm *form, const char **reason)
{
    return move_ints(form, "split", 1, reason);
}

static VfStatus k_to_operand(VfForm *form, const char **reason)
{
    return move_ints(form, "k", 1, reason);
}

static VfStatus slice_to_operands(VfForm *form, const char **reason)
{
    VF_TRY(move_ints(form, "starts", 1, reason));
    VF_TRY(move_ints(form, "ends", 2, reason));
    return move_ints(form, "axes", 3, reason);
}

static VfStatus limits_to_operands(VfForm *form, const char **reason)
{
    VF_TRY(move_float(form, "min", 1, reason));
    return move_float(form, "max", 2, reason);
}

/* The filling number of other modes is not read. */
static VfStatus pads_to_operands(VfForm *form, const char **reason)
{
    VF_TRY(move_ints(form, "pads", 1, reason));
    return move_float(form, "value", 2, reason);
}

/* --- defaults and meanings that changed --- */

static bool is_read(const VfNode *node, int32_t index)
{
    const VfValue *out = vf_node_out(node, index);
    return out != NULL && out->n_use > 0;
}

/* Before opset 13 everything from the axis on was one row. That is the same along the last axis,
 * and where all axes behind it are of length one. */
static VfStatus softmax_axis(VfForm *form, const char **reason)
{
    const VfValue *x = vf_node_in(form->node, 0);
    int32_t rank = x != NULL ? x->type.rank : -1;
    int32_t axis = rank > 0 ? vf_axis_of(vf_node_int(form->node, "axis"), rank) : -1;
    if (axis < 0)
        *reason = "the rank of its operand is not known";
    for (int32_t i = axis + 1; axis >= 0 && i < rank; i++)
        if (!vf_dim_is(x->type.dims[i], 1))
            *reason = "it goes over several axes at once";
    if (*reason != NULL || form->rw == NULL) {
        form->is_changed = true;
        return VF_OK;
    }
    return vf_node_set_int(form->node, "axis", axis, form->err);
}

static VfStatus dropout_mask(VfForm *form, const char **reason)
{
    if (is_read(form->node, 1))
        *reason = "its mask is read, whose dtype changed";
    return VF_OK;
}

static VfStatus dropout_ratio(VfForm *form, const char **reason)
{
    return move_float(form, "ratio", 1, reason);
}

static VfStatus norm_spatial(VfForm *form, const char **reason)
{
    const VfAttr *attr = find(form, "spatial", reason);
    if (attr == NULL)
        return VF_OK;
    if (attr->i == 0)
        *reason = "it normalises each position for itself (spatial=0)";
    form->is_changed = true;
    form->drop[form->n_drop++] = "spatial";
    return VF_OK;
}

static VfStatus norm_outputs(VfForm *form, const char **reason)
{
    for (int32_t i = 1; i < form->node->n_out; i++)
        if (vf_node_out(form->node, i) != NULL)
            *reason = "it gives out its statistics, as in training";
    return VF_OK;
}

static VfStatus set_word(VfForm *form, const char *name, const char *word)
{
    form->is_changed = true;
    return form->rw == NULL ? VF_OK : vf_node_set_string(form->node, name, word, form->err);
}

/* The rounding that opset 10 implied: up where an axis shrinks, down where it grows. */
static const char *old_nearest(const VfValue *scales, const char **reason)
{
    const VfTensor *t = scales != NULL ? scales->tensor : NULL;
    bool shrinks = false, grows = false;
    if (t == NULL)
        *reason = "its scales are not known";
    for (size_t i = 0; t != NULL && i < t->count; i++) {
        shrinks = shrinks || vf_tensor_get_double(t, i) < 1;
        grows = grows || vf_tensor_get_double(t, i) > 1;
    }
    if (shrinks && grows)
        *reason = "it rounds otherwise where it shrinks than where it grows";
    return shrinks ? "ceil" : "floor";
}

/* Positions were x / scale. The region of interest, which is not read then, may be left out from
 * opset 13 on. */
static VfStatus resize_coordinates(VfForm *form, const char **reason)
{
    static const int64_t none[] = {0};
    VfValue *scales = vf_node_in(form->node, 1);
    VfTensor *region;
    void *data;
    bool is_nearest = vf_bytes_is_equal(vf_node_string(form->node, "mode"), vf_bytes("nearest"));
    const char *rounding = is_nearest ? old_nearest(scales, reason) : NULL;
    if (*reason != NULL)
        return VF_OK;
    form->is_changed = true;
    if (form->rw != NULL && scales != NULL) {
        VF_TRY(vf_tensor_new(form->node->graph->model->arena, VF_F32, 1, none, &region, &data,
                             form->err));
        vf_rewrite_set_in(form->rw, form->node, 1, vf_rewrite_const(form->rw, region, "roi"));
        vf_rewrite_set_in(form->rw, form->node, 2, scales);
    }
    VF_TRY(set_word(form, "coordinate_transformation_mode", "asymmetric"));
    return is_nearest ? set_word(form, "nearest_mode", rounding) : VF_OK;
}

static VfStatus roi_coordinates(VfForm *form, const char **reason)
{
    (void)reason;
    return set_word(form, "coordinate_transformation_mode", "output_half_pixel");
}

static VfStatus sample_mode(VfForm *form, const char **reason)
{
    VfBytes mode = vf_node_string(form->node, "mode");
    (void)reason;
    if (vf_bytes_is_equal(mode, vf_bytes("bilinear")))
        return set_word(form, "mode", "linear");
    return vf_bytes_is_equal(mode, vf_bytes("bicubic")) ? set_word(form, "mode", "cubic") : VF_OK;
}

/* The number of parts has to be said where their sizes are not. */
static VfStatus split_count(VfForm *form, const char **reason)
{
    (void)reason;
    if (vf_node_in(form->node, 1) != NULL || vf_node_attr(form->node, "split") != NULL)
        return VF_OK;
    form->is_changed = true;
    return form->rw == NULL
               ? VF_OK
               : vf_node_set_int(form->node, "num_outputs", form->node->n_out, form->err);
}

static VfStatus range_dtype(VfForm *form, const char **reason)
{
    const VfValue *x = vf_node_in(form->node, 0);
    VfDtype dtype = x != NULL ? x->type.dtype : VF_UNDEFINED;
    if (dtype == VF_UNDEFINED || dtype == VF_F16 || dtype == VF_BF16 || dtype == VF_F64)
        *reason = "it is no longer computed in the dtype of its operands";
    return VF_OK;
}

static VfStatus no_way(VfForm *form, const char **reason)
{
    (void)form;
    *reason = "it has quite another form there";
    return VF_OK;
}

/* Changes that newer readers of an older form would not see as what it was: operator, first opset
 * with the new form, what to do, whether that serves for lowering too. Other
 * changes only add dtypes, optional attributes and operands. Rows of one operator in order. */
static const struct {
    VfOp op;
    int32_t since;
    FormStep *step;
    bool is_either_way; /* the step leaves what an older opset reads the same way, too */
} change[] = {
    {VF_OP_BATCH_NORMALIZATION, 9, norm_spatial, true},
    {VF_OP_BATCH_NORMALIZATION, 14, norm_outputs, true},
    {VF_OP_CLIP, 11, limits_to_operands},
    {VF_OP_DFT, 20, no_way},
    {VF_OP_DROPOUT, 10, dropout_mask, true},
    {VF_OP_DROPOUT, 12, dropout_ratio},
    {VF_OP_GRID_SAMPLE, 20, sample_mode},
    {VF_OP_GROUP_NORMALIZATION, 21, no_way},
    {VF_OP_HARDMAX, 13, softmax_axis, true},
    {VF_OP_LOG_SOFTMAX, 13, softmax_axis, true},
    {VF_OP_PAD, 11, pads_to_operands},
    {VF_OP_RANGE, 27, range_dtype, true},
    {VF_OP_REDUCE_L1, 18, axes_to_operand},
    {VF_OP_REDUCE_L2, 18, axes_to_operand},
    {VF_OP_REDUCE_LOG_SUM, 18, axes_to_operand},
    {VF_OP_REDUCE_LOG_SUM_EXP, 18, axes_to_operand},
    {VF_OP_REDUCE_MAX, 18, axes_to_operand},
    {VF_OP_REDUCE_MEAN, 18, axes_to_operand},
    {VF_OP_REDUCE_MIN, 18, axes_to_operand},
    {VF_OP_REDUCE_PROD, 18, axes_to_operand},
    {VF_OP_REDUCE_SUM, 13, axes_to_operand},
    {VF_OP_REDUCE_SUM_SQUARE, 18, axes_to_operand},
    {VF_OP_RESIZE, 11, resize_coordinates},
    {VF_OP_ROI_ALIGN, 16, roi_coordinates},
    {VF_OP_SCAN, 9, no_way},
    {VF_OP_SCATTER, 11, no_way},
    {VF_OP_SLICE, 10, slice_to_operands},
    {VF_OP_SOFTMAX, 13, softmax_axis, true},
    {VF_OP_SPLIT, 13, split_to_operand},
    {VF_OP_SPLIT, 18, split_count, true},
    {VF_OP_SQUEEZE, 13, axes_to_operand},
    {VF_OP_TOP_K, 10, k_to_operand},
    {VF_OP_UNSQUEEZE, 13, axes_to_operand},
    {VF_OP_UPSAMPLE, 9, no_way},
    {VF_OP_UPSAMPLE, 10, no_way},
};

enum { N_CHANGE = sizeof change / sizeof *change };

VfStatus vf_form_change(VfForm *form, const char **reason)
{
    *reason = form->node->op == VF_OP_OTHER ? "the operator is not known" : NULL;
    for (int32_t i = 0; i < N_CHANGE && *reason == NULL; i++) {
        if (change[i].op == form->node->op && change[i].since > form->from &&
            change[i].since <= form->to)
            VF_TRY(change[i].step(form, reason));
    }
    return VF_OK;
}

/* --- lowering --- */

static VfStatus step_down(VfForm *form, int32_t row, const char **reason)
{
    if (change[row].is_either_way)
        return change[row].step(form, reason);
    *reason = vf_arena_printf(form->arena, "it had another form before opset %d",
                              (int)change[row].since);
    return *reason == NULL ? vf_no_memory(form->err) : VF_OK;
}

/* An attribute that the older form lacks may go if it says what holds without it. */
static VfStatus keep_attrs(VfForm *form, const char **reason)
{
    for (const VfAttr *attr = form->node->first_attr; attr != NULL; attr = attr->next) {
        const VfAttrDefault *row = vf_attr_default_find(form->node->op, attr->name, form->to);
        if (row == NULL || row->since <= form->to)
            continue;
        if (vf_attr_says_default(attr, row) && form->n_drop < VF_FORM_DROP_MAX) {
            form->is_changed = true;
            form->drop[form->n_drop++] = row->name;
            continue;
        }
        *reason = vf_arena_printf(form->arena, "attribute '%s' came with opset %d", row->name,
                                  (int)row->since);
        return *reason == NULL ? vf_no_memory(form->err) : VF_OK;
    }
    return VF_OK;
}

VfStatus vf_form_keep(VfForm *form, const char **reason)
{
    const VfOpInfo *info = vf_op_info(form->node->op);
    *reason = form->node->op == VF_OP_OTHER ? "the operator is not known" : NULL;
    if (*reason == NULL && info->since > form->to) {
        *reason = vf_arena_printf(form->arena, "it came with opset %d", (int)info->since);
        return *reason == NULL ? vf_no_memory(form->err) : VF_OK;
    }
    for (int32_t i = 0; i < N_CHANGE && *reason == NULL; i++) {
        if (change[i].op == form->node->op && change[i].since > form->to &&
            change[i].since <= form->from)
            VF_TRY(step_down(form, i, reason));
    }
    if (*reason == NULL)
        VF_TRY(keep_attrs(form, reason));
    if (*reason == NULL)
        *reason = vf_lower_limit(form->node, form->to);
    if (*reason != NULL)
        return VF_OK;
    bool takes;
    VF_TRY(vf_infer_takes_dtypes(form->arena, form->node, form->to, &takes, form->err));
    if (!takes)
        *reason = "it did not take operands of these dtypes there";
    return VF_OK;
}
