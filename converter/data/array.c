#include "converter/data/array.h"

#include <math.h>
#include <string.h>

#include "runtime/base/size.h"
#include "runtime/base/text.h"
#include "runtime/kernels/number.h"

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

double vf_array_get_double(const VfArray *array, size_t i)
{
    bool is_real = array->dtype != VF_C64 && array->dtype != VF_C128 &&
                   vf_dtype_info(array->dtype)->bits > 0;
    return is_real ? vf_number_at(array->data, array->dtype, i) : (double)NAN;
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

/* The floats of at least 32 bits are `next_float` itself. */
static void fill_floats(void *data, VfDtype dtype, size_t count, uint64_t *state)
{
    for (size_t i = 0; i < count; i++) {
        if (dtype == VF_F64)
            ((double *)data)[i] = (double)next_float(state);
        else if (dtype == VF_F32)
            ((float *)data)[i] = next_float(state);
        else if (dtype == VF_F16)
            ((uint16_t *)data)[i] = next_half(state);
        else if (dtype == VF_BF16) { /* cut, not rounded: below 1 */
            float value = next_float(state);
            memcpy((uint16_t *)data + i, (const char *)&value + 2, sizeof(uint16_t));
        } else { /* e8m0 has no sign */
            double value = (double)next_float(state);
            value = dtype == VF_F8E8M0 ? fabs(value) : value;
            vf_number_put_bits(data, dtype, i, vf_number_encode(dtype, value));
        }
    }
}

static void fill_integers(void *data, VfDtype dtype, size_t count, uint64_t *state)
{
    uint64_t mask = dtype == VF_BOOL ? 1 : 7;
    for (size_t i = 0; i < count; i++)
        vf_number_put_bits(data, dtype, i, next_random(state) >> 32 & mask);
}

VfStatus vf_array_random(VfArray *array, VfArena *arena, VfDtype dtype, int32_t rank,
                         const int64_t *dims, uint64_t seed, VfErr *err)
{
    const VfDtypeInfo *info = vf_dtype_info(dtype);
    bool is_complex = dtype == VF_C64 || dtype == VF_C128;
    if (info->bits == 0)
        return vf_fail(err, VF_UNSUPPORTED, "cannot make random data of dtype '%s'", info->name);
    void *data;
    VF_TRY(vf_array_new(array, arena, dtype, rank, dims, &data, err));
    uint64_t state = seed;
    if (is_complex)
        fill_floats(data, dtype == VF_C64 ? VF_F32 : VF_F64, 2 * array->count, &state);
    else if (info->is_float)
        fill_floats(data, dtype, array->count, &state);
    else
        fill_integers(data, dtype, array->count, &state);
    return VF_OK;
}
