#include "converter/data/array.h"

#include <math.h>
#include <string.h>

#include "runtime/base/size.h"
#include "runtime/base/text.h"

VfStatus vf_array_init(VfArray *array, VfArena *arena, VfDtype dtype, int32_t rank,
                       const int64_t *dims, const void *data, VfErr *err)
{
    size_t count;
    if (rank < 0 || rank > VF_ARRAY_MAX_RANK)
        return vf_fail(err, VF_INVALID, "an array has %d dimensions, at most %d are possible",
                       rank, VF_ARRAY_MAX_RANK);
    if (!vf_size_count(dims, (size_t)rank, &count))
        return vf_fail(err, VF_INVALID, "the size of an array overflows or is negative");
    size_t bytes = vf_dtype_bytes(dtype, count);
    if (bytes == SIZE_MAX)
        return vf_fail(err, VF_INVALID, "the size of an array overflows");
    int64_t *copy = VF_NEW_ARRAY(arena, int64_t, (size_t)rank);
    VF_TRY_ALLOC(copy, err);
    if (rank > 0)
        memcpy(copy, dims, (size_t)rank * sizeof *dims);
    *array = (VfArray){dtype, rank, copy, count, bytes, data};
    return VF_OK;
}

VfStatus vf_array_new(VfArray *array, VfArena *arena, VfDtype dtype, int32_t rank,
                      const int64_t *dims, void **data, VfErr *err)
{
    VF_TRY(vf_array_init(array, arena, dtype, rank, dims, NULL, err));
    *data = vf_arena_alloc(arena, array->bytes);
    VF_TRY_ALLOC(*data, err);
    array->data = *data;
    return VF_OK;
}

static double half_to_double(uint16_t bits)
{
    int exponent = (bits >> 10) & 31;
    double fraction = (double)(bits & 1023) / 1024.0;
    double magnitude;
    if (exponent == 31)
        magnitude = fraction > 0 ? (double)NAN : (double)INFINITY;
    else if (exponent == 0)
        magnitude = ldexp(fraction, -14);
    else
        magnitude = ldexp(1.0 + fraction, exponent - 15);
    return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

static double bfloat_to_double(uint16_t bits)
{
    uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, sizeof value);
    return (double)value;
}

/* Data may be unaligned in mapped files of other formats: always copied out. */
#define LOAD(type) \
    type value;    \
    memcpy(&value, (const char *)array->data + i * sizeof value, sizeof value)

#define GETTER(name, type)                                   \
    static double name(const VfArray *array, size_t i)       \
    {                                                        \
        LOAD(type);                                          \
        return (double)value;                                \
    }

GETTER(get_f32, float)
GETTER(get_f64, double)
GETTER(get_u8, uint8_t)
GETTER(get_i8, int8_t)
GETTER(get_u16, uint16_t)
GETTER(get_i16, int16_t)
GETTER(get_i32, int32_t)
GETTER(get_i64, int64_t)
GETTER(get_u32, uint32_t)
GETTER(get_u64, uint64_t)

static double get_f16(const VfArray *array, size_t i)
{
    LOAD(uint16_t);
    return half_to_double(value);
}

static double get_bf16(const VfArray *array, size_t i)
{
    LOAD(uint16_t);
    return bfloat_to_double(value);
}

typedef double GetFn(const VfArray *array, size_t i);

static GetFn *const getter[VF_DTYPE_COUNT] = {
    [VF_F32] = get_f32, [VF_F64] = get_f64, [VF_F16] = get_f16, [VF_BF16] = get_bf16,
    [VF_U8] = get_u8,   [VF_I8] = get_i8,   [VF_U16] = get_u16, [VF_I16] = get_i16,
    [VF_I32] = get_i32, [VF_I64] = get_i64, [VF_U32] = get_u32, [VF_U64] = get_u64,
    [VF_BOOL] = get_u8,
};

double vf_array_get_double(const VfArray *array, size_t i)
{
    GetFn *get = getter[array->dtype];
    return get == NULL ? (double)NAN : get(array, i);
}

const char *vf_array_text(VfArena *arena, const VfArray *array)
{
    VfText text;
    VfBytes done;
    vf_text_init(&text, arena);
    vf_text_printf(&text, "%s[", vf_dtype_info(array->dtype)->name);
    for (int32_t i = 0; i < array->rank; i++)
        vf_text_printf(&text, "%s%lld", i == 0 ? "" : ", ", (long long)array->dims[i]);
    vf_text_char(&text, ']');
    return vf_text_get(&text, &done, NULL) == VF_OK ? done.data : NULL;
}

const VfArray *vf_array_find(const VfNamedArray *array, size_t n_array, VfBytes name)
{
    for (size_t i = 0; i < n_array; i++)
        if (array[i].name.size == name.size &&
            (name.size == 0 || memcmp(array[i].name.data, name.data, name.size) == 0))
            return &array[i].array;
    return NULL;
}

/* splitmix64: a fixed sequence for a seed, good enough to fill test data. */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* 24 bits: exact in a float. */
static float next_float(uint64_t *state)
{
    return (float)(next_random(state) >> 40) / 8388608.0f - 1.0f;
}

/* A number of 11 bits in [-1, 1), exact in a half. */
static uint16_t next_half(uint64_t *state)
{
    uint64_t bits = next_random(state) >> 54;
    int exponent = 15;
    uint32_t fraction = (uint32_t)bits;
    if (fraction == 0)
        return 0;
    while ((fraction & 1024) == 0) {
        fraction <<= 1;
        exponent--;
    }
    uint32_t sign = (uint32_t)(next_random(state) & 1) << 15;
    return (uint16_t)(sign | (uint32_t)exponent << 10 | (fraction & 1023));
}

static void fill_integers(unsigned char *data, size_t count, size_t width, uint64_t mask,
                          uint64_t *state)
{
    for (size_t i = 0; i < count; i++)
        data[i * width] = (unsigned char)(next_random(state) >> 32 & mask);
}

VfStatus vf_array_random(VfArray *array, VfArena *arena, VfDtype dtype, int32_t rank,
                         const int64_t *dims, uint64_t seed, VfErr *err)
{
    const VfDtypeInfo *info = vf_dtype_info(dtype);
    if (getter[dtype] == NULL)
        return vf_fail(err, VF_UNSUPPORTED, "cannot make random data of dtype '%s'", info->name);
    void *data;
    VF_TRY(vf_array_new(array, arena, dtype, rank, dims, &data, err));
    uint64_t state = seed;
    for (size_t i = 0; i < array->count && info->is_float; i++) {
        if (dtype == VF_F64)
            ((double *)data)[i] = (double)next_float(&state);
        else if (dtype == VF_F32)
            ((float *)data)[i] = next_float(&state);
        else if (dtype == VF_F16)
            ((uint16_t *)data)[i] = next_half(&state);
        else {
            float value = next_float(&state);
            memcpy((uint16_t *)data + i, (const char *)&value + 2, sizeof(uint16_t));
        }
    }
    if (!info->is_float)
        fill_integers(data, array->count, info->bits / 8u, dtype == VF_BOOL ? 1 : 7, &state);
    return VF_OK;
}
