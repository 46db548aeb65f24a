/* New weights and biases for layers that take up a scale and shift.
 *
 * All is computed in double from the old constants and rounded once, when the new tensor is
 * made. Memory is the arena's that is passed in; tensors meant for the graph lie in the model's.
 */
#ifndef VF_FOLD_LAYER_H
#define VF_FOLD_LAYER_H

#include "passes/fold/walk.h"
#include "passes/match/product.h"

enum { VF_SPATIAL_MAX = VF_FIELD_RANK_MAX - 2 };

/* The one axis of operand `slot` that Einsum sums over with its constant weights, and the axis of
 * the weights; each letter once in an operand. False: another equation, or no weights. */
bool vf_einsum_sum_axes(const VfNode *node, int32_t slot, VfProduct *product, int32_t *axis,
                        int32_t *w_axis);

/* The operand of an Einsum of two that is constant weights; -1: none, or one has a letter twice. */
int32_t vf_einsum_weights(const VfNode *node, VfProduct *product);

/* Where the taps of a convolution meet the elements of a static image: along axis i,
 * Conv: element q = out*stride + tap*dilation - begin; ConvTranspose: out = q*stride + tap*dilation
 * - begin. */
typedef struct VfConvFrame {
    int32_t n; /* spatial axes */
    bool is_transpose;
    int64_t in[VF_SPATIAL_MAX], out[VF_SPATIAL_MAX], kernel[VF_SPATIAL_MAX];
    int64_t stride[VF_SPATIAL_MAX], dilation[VF_SPATIAL_MAX], begin[VF_SPATIAL_MAX];
} VfConvFrame;

/* May some results of the layer see fewer taps than others? */
bool vf_conv_has_border(const VfNode *node);

/* False when a spatial extent or parameter is no plain number. */
bool vf_conv_frame(const VfNode *node, VfConvFrame *frame);

/* Elements of axes `from` to before `to`. */
size_t vf_weights_count(const VfTensor *w, int32_t from, int32_t to);

/* VF_DIFFERS with its sentence. */
VfStatus vf_weights_not_finite(VfErr *err);

/* Weights times a scale along one of their axes, and what a shift adds. */
typedef struct VfWeightFold {
    VfArena *keep, *scratch; /* of the new weights; of the rest */
    const VfTensor *w;
    int32_t axis, field_axis; /* of the weights; the only one that the fields vary along */
    const VfField *scale;
    const VfField *shift;   /* NULL: no sum is wanted */
    const VfTensor *scaled; /* result: each element times the scale of its place on `axis` */
    VfField sum;            /* result: over `axis`, of w times the shift; its extent there is 1 */
} VfWeightFold;

/* VF_DIFFERS when a weight overflows. */
VfStatus vf_weights_fold(VfWeightFold *job, VfErr *err);

/* w with each element times the factor of its channel, on axis 1 of `factor`; a grouped layer
 * counts channels on axis 1 of its weights, group by group along axis 0. */
VfStatus vf_weights_scale_group(VfArena *arena, const VfTensor *w, int64_t group,
                                const VfField *factor, const VfTensor **out, VfErr *err);

/* The sum with weights of two axes for a shift that varies along other axes too: a field like the
 * shift, on `shift_axis` the other axis of w. VF_UNSUPPORTED when that is too large. */
VfStatus vf_weights_contract_map(VfArena *arena, const VfTensor *w, int32_t axis,
                                 const VfField *shift, int32_t shift_axis, VfField *out,
                                 VfErr *err);

/* What a Conv or ConvTranspose makes of the shift: a field [1, O, 1, ...], or [1, O, out...] when
 * `frame` is given and the border or the shift differs by place. A shift that differs needs the
 * frame. VF_UNSUPPORTED when the map is too large. */
VfStatus vf_conv_shift(VfArena *arena, const VfNode *node, const VfTensor *w, const VfField *shift,
                       const VfConvFrame *frame, VfField *out, VfErr *err);

/* A tensor of the field, its extents those of `dims`. VF_DIFFERS when an element is not finite in
 * `dtype`. */
VfStatus vf_field_tensor(VfArena *arena, const VfField *field, VfDtype dtype, int32_t rank,
                         const int64_t *dims, const VfTensor **out, VfErr *err);

#endif
