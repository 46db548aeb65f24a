#include "runtime/kernels/kernel.h"

#include "runtime/kernels/variant.h"

/* Fields of the params structs. */
#define VFK_PARAMS(type) static const VfkField field_##type[] = {
#define VFK_I64(type, name) {#name, offsetof(type, name), VFK_FIELD_I64, 1},
#define VFK_F64(type, name) {#name, offsetof(type, name), VFK_FIELD_F64, 1},
#define VFK_I64S(type, name, count) {#name, offsetof(type, name), VFK_FIELD_I64, count},
#define VFK_PARAMS_END(type) };
#include "runtime/kernels/params.def"

#define N_FIELD(type) (int32_t)(sizeof field_##type / sizeof field_##type[0])

/* Prototypes of the variants; those of ref and blas are in variant.h, whose default ref is. */
#define VFK_ROW_ONCE(op, dtype, source, params, flags)
#define VFK_ROW_BLAS(op, dtype, source, params, flags)
#define VFK_ROW_FMA(op, dtype, source, params, flags) \
    VfkFn VFK_PASTE(op, dtype, fma3), VFK_PASTE(op, dtype, fma4), VFK_PASTE(op, dtype, neon);
#define VFK_ROW(op, dtype, source, params, flags) \
    VfkFn VFK_PASTE(op, dtype, v3), VFK_PASTE(op, dtype, v4);
#include "runtime/kernels/kernels.def"

#define ENTRY(op, dtype, variant, source, params, flags) \
    {#op "_" #dtype, #variant, "vfk_" #op "_" #dtype "_" #variant, source, #params, \
     sizeof(params), field_##params, N_FIELD(params), flags, VFK_PASTE(op, dtype, variant)},

#ifdef VFK_HAVE_V3
#define ENTRY_V3(...) ENTRY(__VA_ARGS__)
#else
#define ENTRY_V3(...)
#endif
#ifdef VFK_HAVE_NEON
#define ENTRY_NEON(...) ENTRY(__VA_ARGS__)
#else
#define ENTRY_NEON(...)
#endif
#ifdef VFK_HAVE_V4
#define ENTRY_V4(...) ENTRY(__VA_ARGS__)
#else
#define ENTRY_V4(...)
#endif

static const VfkKernel kernel[] = {
#define VFK_ROW_ONCE(op, dtype, source, params, flags) ENTRY(op, dtype, ref, source, params, flags)
#define VFK_ROW(op, dtype, source, params, flags) \
    ENTRY(op, dtype, ref, source, params, flags) \
    ENTRY_V3(op, dtype, v3, source, params, flags) \
    ENTRY_V4(op, dtype, v4, source, params, flags)
#define VFK_ROW_FMA(op, dtype, source, params, flags) \
    ENTRY_V3(op, dtype, fma3, source, params, flags) \
    ENTRY_V4(op, dtype, fma4, source, params, flags) \
    ENTRY_NEON(op, dtype, neon, source, params, flags)
#ifdef VFK_HAVE_BLAS
#define VFK_ROW_BLAS(op, dtype, source, params, flags) ENTRY(op, dtype, blas, source, params, flags)
#else
#define VFK_ROW_BLAS(op, dtype, source, params, flags)
#endif
#include "runtime/kernels/kernels.def"
};

const VfkKernel *const vfk_kernel_table = kernel;
const int32_t vfk_kernel_count = (int32_t)(sizeof kernel / sizeof kernel[0]);

#if defined(VFK_HAVE_V3) || defined(VFK_HAVE_V4)
/* The features that tell x86-64-v3 and v4 machines; every machine with these has the rest. */
static int has_v3(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}

static int has_v4(void)
{
    return has_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
}
#else
static int has_v3(void)
{
    return 0;
}

static int has_v4(void)
{
    return 0;
}
#endif

/* How much a variant is wanted on this machine; 0 if it cannot run. The fused loops here were
 * measured level with OpenBLAS or ahead of it, so it comes first only where they cannot run. */
static int variant_rank(const char *variant)
{
    const int v3 = has_v3(), v4 = has_v4();
    const struct {
        const char *name;
        int rank;
    } all[] = {{"ref", 1},           {"v3", v3 ? 2 : 0},   {"v4", v4 ? 3 : 0},
               {"fma3", v3 ? 5 : 0}, {"fma4", v4 ? 6 : 0}, {"neon", 5},          {"blas", 4}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (strcmp(variant, all[i].name) == 0) {
            return all[i].rank;
        }
    }
    return 0;
}

static int is_allowed(const VfkKernel *one, int choice)
{
    return choice == VFK_BEST || strcmp(one->variant, "ref") == 0 ||
           (choice == VFK_WIDE && strcmp(one->variant, "blas") != 0);
}

const VfkKernel *vfk_kernel_find(const char *name, int choice)
{
    const VfkKernel *best = NULL;
    int best_rank = 0;
    for (int32_t i = 0; i < vfk_kernel_count; i++) {
        if (strcmp(kernel[i].name, name) != 0) {
            continue;
        }
        int rank = variant_rank(kernel[i].variant);
        if (rank > best_rank && is_allowed(&kernel[i], choice)) {
            best = &kernel[i];
            best_rank = rank;
        }
    }
    return best;
}

#ifndef VFK_HAVE_BLAS
void vfk_blas_single_thread(void)
{
}
#endif
