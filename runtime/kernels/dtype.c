#include "runtime/kernels/dtype.h"

#include <string.h>

/* name, onnx name, bits, is_float, is_signed */
static const VfDtypeInfo info[VF_DTYPE_COUNT] = {
    [VF_UNDEFINED] = {"undefined", "undefined", 0, 0, 0},
    [VF_F32] = {"f32", "float", 32, 1, 1},
    [VF_U8] = {"u8", "uint8", 8, 0, 0},
    [VF_I8] = {"i8", "int8", 8, 0, 1},
    [VF_U16] = {"u16", "uint16", 16, 0, 0},
    [VF_I16] = {"i16", "int16", 16, 0, 1},
    [VF_I32] = {"i32", "int32", 32, 0, 1},
    [VF_I64] = {"i64", "int64", 64, 0, 1},
    [VF_STRING] = {"string", "string", 0, 0, 0},
    [VF_BOOL] = {"bool", "bool", 8, 0, 0},
    [VF_F16] = {"f16", "float16", 16, 1, 1},
    [VF_F64] = {"f64", "double", 64, 1, 1},
    [VF_U32] = {"u32", "uint32", 32, 0, 0},
    [VF_U64] = {"u64", "uint64", 64, 0, 0},
    [VF_C64] = {"c64", "complex64", 64, 0, 1},
    [VF_C128] = {"c128", "complex128", 128, 0, 1},
    [VF_BF16] = {"bf16", "bfloat16", 16, 1, 1},
    [VF_F8E4M3FN] = {"f8e4m3fn", "float8e4m3fn", 8, 1, 1},
    [VF_F8E4M3FNUZ] = {"f8e4m3fnuz", "float8e4m3fnuz", 8, 1, 1},
    [VF_F8E5M2] = {"f8e5m2", "float8e5m2", 8, 1, 1},
    [VF_F8E5M2FNUZ] = {"f8e5m2fnuz", "float8e5m2fnuz", 8, 1, 1},
    [VF_U4] = {"u4", "uint4", 4, 0, 0},
    [VF_I4] = {"i4", "int4", 4, 0, 1},
    [VF_F4E2M1] = {"f4e2m1", "float4e2m1", 4, 1, 1},
    [VF_F8E8M0] = {"f8e8m0", "float8e8m0", 8, 1, 0},
    [VF_U2] = {"u2", "uint2", 2, 0, 0},
    [VF_I2] = {"i2", "int2", 2, 0, 1},
};

const VfDtypeInfo *vf_dtype_info(VfDtype dtype)
{
    unsigned number = (unsigned)dtype;
    return &info[number < VF_DTYPE_COUNT ? number : VF_UNDEFINED];
}

VfDtype vf_dtype_from_name(const char *name)
{
    for (unsigned i = 1; i < VF_DTYPE_COUNT; i++) {
        if (strcmp(info[i].name, name) == 0 || strcmp(info[i].onnx, name) == 0) {
            return (VfDtype)i;
        }
    }
    return VF_UNDEFINED;
}

size_t vf_dtype_bytes(VfDtype dtype, size_t count)
{
    size_t bits = vf_dtype_info(dtype)->bits;
    if (bits < 8) {
        return bits == 0 ? 0 : count / (8 / bits) + (count % (8 / bits) != 0);
    }
    size_t bytes;
    return __builtin_mul_overflow(count, bits / 8, &bytes) ? SIZE_MAX : bytes;
}
