/* 16-bit floats by integer arithmetic, without branches. Internal to runtime/kernels. */
#ifndef VFK_HALF_H
#define VFK_HALF_H

#include "runtime/kernels/vecmath.h"

/* binary16: 1, 5, 10 bits. */
static inline float vfk_f16_to_f32(uint16_t h)
{
    uint32_t magnitude = (uint32_t)(h & 0x7fffu) << 13;
    uint32_t normal = magnitude + (112u << 23);
    normal += magnitude >= 0x0f800000u ? 112u << 23 : 0u;
    float tiny = vfk_from_bits(magnitude + (113u << 23)) - vfk_from_bits(113u << 23);
    uint32_t bits = magnitude < 0x00800000u ? vfk_bits(tiny) : normal;
    return vfk_from_bits(bits | (uint32_t)(h & 0x8000u) << 16);
}

/* Below 2^-14 the sum with 1/2, whose last place is that of binary16's subnormals, rounds. */
static inline uint16_t vfk_f32_to_f16(float x)
{
    uint32_t bits = vfk_bits(x);
    uint32_t magnitude = bits & 0x7fffffffu;
    uint32_t normal = (magnitude + 0xfffu + ((magnitude >> 13) & 1u) - (112u << 23)) >> 13;
    uint32_t tiny = vfk_bits(vfk_from_bits(magnitude) + 0.5f) - 0x3f000000u;
    uint32_t half = magnitude < 0x38800000u ? tiny : normal;
    half = magnitude >= 0x47800000u ? 0x7c00u : half;
    half = magnitude > 0x7f800000u ? 0x7e00u : half;
    return (uint16_t)(half | (bits >> 16 & 0x8000u));
}

static inline float vfk_bf16_to_f32(uint16_t h)
{
    return vfk_from_bits((uint32_t)h << 16);
}

static inline uint16_t vfk_f32_to_bf16(float x)
{
    uint32_t bits = vfk_bits(x);
    uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    uint32_t nan = bits >> 16 | 0x40u;
    return (uint16_t)((bits & 0x7fffffffu) > 0x7f800000u ? nan : rounded);
}

/* To float with the last bit set if inexact: a second rounding to fewer bits is then right. */
static inline float vfk_f64_to_f32_odd(double x)
{
    float nearest = (float)x;
    uint32_t bits = vfk_bits(nearest);
    double back = (double)nearest;
    if (back == x || back != back || (bits & 1u)) {
        return nearest;
    }
    return vfk_from_bits(fabs(back) > fabs(x) ? bits - 1u : bits + 1u);
}

#endif
