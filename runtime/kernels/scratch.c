#include "runtime/kernels/gemm_size.h"
#include "runtime/kernels/variant.h"

/* Scratch and block sizes that lowering asks for. This file is built once: they must not
 * depend on the instruction set. */

/* Bytes of a product of up to m rows with k steps. Its terms are bounded by the block sizes. */
static size_t gemm_bytes(int64_t m, int64_t k, size_t element_bytes)
{
    return (size_t)(gemm_b_elements(k, (int64_t)element_bytes) + gemm_a_elements(m)) *
           element_bytes;
}

/* A larger m never needs less, though its units may have fewer rows. */
size_t vfk_matmul_scratch_bytes(const VfkMatmulParams *params, size_t element_bytes)
{
    return gemm_bytes(params->m, params->k, element_bytes);
}

/* Terms of one output element. */
static int64_t conv_depth(const VfkConvParams *params)
{
    return params->in_channels * params->kernel[0] * params->kernel[1] * params->kernel[2];
}

size_t vfk_conv_scratch_bytes(const VfkConvParams *params, size_t element_bytes)
{
    int64_t depth = conv_depth(params);
    size_t unfolded;
    if (__builtin_mul_overflow((size_t)depth, (size_t)params->block_cols, &unfolded) ||
        __builtin_mul_overflow(unfolded, element_bytes, &unfolded)) {
        return SIZE_MAX;
    }
    size_t product = gemm_bytes(params->out_channels, depth, element_bytes);
    return unfolded > SIZE_MAX - product - 64 ? SIZE_MAX : (unfolded + 63) / 64 * 64 + product;
}

/* Unfolded columns should stay within half a megabyte, in whole cache lines; a block is not
 * worth less than 64 columns. */
int64_t vfk_conv_block_cols(const VfkConvParams *params, size_t element_bytes)
{
    int64_t pixels = params->out_dim[0] * params->out_dim[1] * params->out_dim[2];
    int64_t line = vfk_max_i64(1, conv_depth(params)) * (int64_t)element_bytes;
    int64_t cols = vfk_max_i64(64, (512 * 1024 / line) / 32 * 32);
    return vfk_max_i64(1, vfk_min_i64(cols, pixels));
}

int64_t vfk_depthwise_units(const VfkConvParams *params)
{
    int64_t channels = params->groups * params->out_channels;
    return params->batch *
           (params->channels_last ? params->out_dim[0] * params->out_dim[1] : channels);
}
