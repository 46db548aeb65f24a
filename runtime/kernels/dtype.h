/* Element types. The numbers are those of ONNX's TensorProto.DataType.
 *
 * This header is shared by the kernels, generated code and the graph; it includes nothing
 * of either.
 */
#ifndef VFK_DTYPE_H
#define VFK_DTYPE_H

#include <stddef.h>
#include <stdint.h>

typedef enum VfDtype {
    VF_UNDEFINED = 0,
    VF_F32 = 1,
    VF_U8 = 2,
    VF_I8 = 3,
    VF_U16 = 4,
    VF_I16 = 5,
    VF_I32 = 6,
    VF_I64 = 7,
    VF_STRING = 8,
    VF_BOOL = 9, /* one byte, 0 or 1 */
    VF_F16 = 10, /* IEEE binary16, kept as uint16_t */
    VF_F64 = 11,
    VF_U32 = 12,
    VF_U64 = 13,
    VF_C64 = 14,
    VF_C128 = 15,
    VF_BF16 = 16, /* upper half of a binary32, kept as uint16_t */
    VF_F8E4M3FN = 17,
    VF_F8E4M3FNUZ = 18,
    VF_F8E5M2 = 19,
    VF_F8E5M2FNUZ = 20,
    VF_U4 = 21, /* two elements a byte, the first in the low half */
    VF_I4 = 22,
    VF_F4E2M1 = 23,
    VF_F8E8M0 = 24,
    VF_U2 = 25, /* four elements a byte, the first in the lowest bits */
    VF_I2 = 26,
    VF_DTYPE_COUNT = 27
} VfDtype;

/* Facts of one dtype. */
typedef struct VfDtypeInfo {
    const char *name;  /* as .vft and messages spell it: "f32", "i64", "bool", ... */
    const char *onnx;  /* as ONNX spells it: "float", "int64", ... */
    uint8_t bits;      /* bits of an element; 0 for strings and undefined */
    uint8_t is_float;  /* binary floating point of any width */
    uint8_t is_signed; /* can hold negative numbers */
} VfDtypeInfo;

/* The row of `dtype`; the row of VF_UNDEFINED for numbers outside the table. Never NULL. */
const VfDtypeInfo *vf_dtype_info(VfDtype dtype);

/* The dtype of a vft or ONNX spelling, or VF_UNDEFINED. */
VfDtype vf_dtype_from_name(const char *name);

/* Bytes of `count` elements, sub-byte dtypes rounded up; SIZE_MAX on overflow, 0 for strings. */
size_t vf_dtype_bytes(VfDtype dtype, size_t count);

#endif
