/* Activations of the rows of a tile. Internal to runtime/kernels. */
#ifndef VFK_ACT_H
#define VFK_ACT_H

#include "runtime/kernels/linear.h"
#include "runtime/kernels/variant.h"
#include "runtime/kernels/vecmath.h"

/* Row i of y, at y_at[i], is f of row i of x: `height` rows of `width` elements. Rows of x are
 * VFK_GROUP apart; y is not in x. */
typedef void VfkActFn(const float *restrict x, int64_t height, int64_t width, float alpha,
                      float *restrict y, const int64_t *y_at);

/* Each expression is that of the map kernel of the same name, in terms of v and a. Rows of whole
 * groups are loops of a constant length. */
#define VFK_ACT_FN(name, expr) \
    static void act_##name(const float *restrict x, int64_t height, int64_t width, float a, \
                           float *restrict y, const int64_t *y_at) \
    { \
        (void)a; \
        for (int64_t i = 0; i < height; i++, x += VFK_GROUP) { \
            float *restrict to = y + y_at[i]; \
            if (width == VFK_GROUP) { \
                for (int64_t j = 0; j < VFK_GROUP; j++) { \
                    const float v = x[j]; \
                    to[j] = (expr); \
                } \
                continue; \
            } \
            for (int64_t j = 0; j < width; j++) { \
                const float v = x[j]; \
                to[j] = (expr); \
            } \
        } \
    }

VFK_ACT_FN(relu, v < 0.0f ? 0.0f : v)
VFK_ACT_FN(gelu, vfk_gelu(v))
VFK_ACT_FN(gelu_tanh, vfk_gelu_tanh(v))
VFK_ACT_FN(silu, v * vfk_sigmoid(a * v))
VFK_ACT_FN(sigmoid, vfk_sigmoid(v))
VFK_ACT_FN(tanh, vfk_tanh(v))
VFK_ACT_FN(hard_swish, v * vfk_clamp01(v * (1.0f / 6.0f) + 0.5f))
VFK_ACT_FN(mish, vfk_mish(v))

/* By VfkAct; NULL for none. */
static VfkActFn *const vfk_act_table[VFK_ACT_COUNT] = {
    [VFK_ACT_RELU] = act_relu,       [VFK_ACT_GELU] = act_gelu,
    [VFK_ACT_GELU_TANH] = act_gelu_tanh, [VFK_ACT_SILU] = act_silu,
    [VFK_ACT_SIGMOID] = act_sigmoid, [VFK_ACT_TANH] = act_tanh,
    [VFK_ACT_HARD_SWISH] = act_hard_swish, [VFK_ACT_MISH] = act_mish,
};

#endif
