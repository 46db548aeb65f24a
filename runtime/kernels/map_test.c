#include <float.h>

#include "runtime/kernels/variant.h"

#define TEST(op, dtype, T, expr) \
    void VFK_FN(op, dtype)(const VfkArgs *args) \
    { \
        const VfkMapParams *params = args->params; \
        const int low = params->alpha != 0, high = params->beta != 0; \
        const T *x = args->in[0]; \
        uint8_t *y = args->out[0]; \
        (void)low; \
        (void)high; \
        for (int64_t i = args->begin; i < args->end; i++) { \
            const T v = x[i]; \
            y[i] = (uint8_t)(expr); \
        } \
    }

TEST(isnan, f32, float, v != v)
TEST(isnan, f64, double, v != v)
TEST(isinf, f32, float, (high && v > FLT_MAX) || (low && v < -FLT_MAX))
TEST(isinf, f64, double, (high && v > DBL_MAX) || (low && v < -DBL_MAX))
TEST(not, bool, uint8_t, v == 0)
