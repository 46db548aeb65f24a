#include "runtime/kernels/variant.h"

/* 53 bits of a number whose bits have all been mixed (the finalizer of SplitMix64). */
static double uniform_at(uint64_t seed, uint64_t place)
{
    uint64_t z = (seed ^ UINT64_C(0xA0761D6478BD642F)) * UINT64_C(0xE7037ED1A0B428DB);
    z += (place + 1) * UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    z ^= z >> 31;
    return (double)(z >> 11) * 0x1p-53;
}

static double normal_at(uint64_t seed, uint64_t place)
{
    const double turn = 6.283185307179586 * uniform_at(seed, 2 * place + 1);
    return sqrt(-2 * log(1 - uniform_at(seed, 2 * place))) * cos(turn);
}

#define RANDOM(dtype, T) \
    void VFK_FN(random, dtype)(const VfkArgs *args) \
    { \
        const VfkRandomParams *params = args->params; \
        const uint64_t seed = (uint64_t)params->seed; \
        T *out = args->out[0]; \
        for (int64_t i = args->begin; i < args->end; i++) { \
            const double u = params->is_normal ? normal_at(seed, (uint64_t)i) \
                                               : uniform_at(seed, (uint64_t)i); \
            out[i] = (T)(params->offset + params->scale * u); \
        } \
    }

RANDOM(f32, float)
RANDOM(f64, double)
