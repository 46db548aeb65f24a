/* The wire form of protobuf messages: tags, varints and lengths.
 *
 * A field is a tag (number and wire type) and a value. Reading never goes past `end`; a
 * failed read leaves the position at the start of what could not be read.
 */
#ifndef VF_ONNX_WIRE_H
#define VF_ONNX_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum VfWireType {
    VF_WIRE_VARINT = 0,
    VF_WIRE_I64 = 1, /* 8 bytes, little endian */
    VF_WIRE_LEN = 2, /* a varint length and as many bytes */
    VF_WIRE_I32 = 5  /* 4 bytes, little endian */
} VfWireType;

enum {
    VF_WIRE_MAX_VARINT = 10,           /* bytes of the longest varint */
    VF_WIRE_MAX_FIELD = (1 << 29) - 1  /* the largest field number */
};

typedef enum VfWireFault {
    VF_WIRE_OK,
    VF_WIRE_CUT,    /* the bytes end before the field does */
    VF_WIRE_VALUE,  /* a varint of more than ten bytes, or a field number out of range */
    VF_WIRE_KIND    /* a group, or a wire type that does not exist */
} VfWireFault;

/* A run of bytes being read; positions count from `data`. */
typedef struct VfWire {
    const unsigned char *data;
    size_t at, end;
} VfWire;

/* One field. Bytes [begin, end) are the whole of it; [payload, end) its value, for LEN
 * without the length. */
typedef struct VfWireField {
    uint32_t number;
    VfWireType type;
    size_t begin, payload, end;
    uint64_t value; /* of VARINT, I32 and I64; the length of LEN */
} VfWireField;

VfWireFault vf_wire_varint(VfWire *wire, uint64_t *value);
VfWireFault vf_wire_field(VfWire *wire, VfWireField *field);

/* The words for a fault: "ends before its value does", ... */
const char *vf_wire_fault_text(VfWireFault fault);

/* Bytes that `value` takes as a varint. */
size_t vf_wire_varint_size(uint64_t value);

/* Write `value`; `to` has room for VF_WIRE_MAX_VARINT bytes. Returns the bytes written. */
size_t vf_wire_put_varint(unsigned char *to, uint64_t value);

/* Little endian numbers at any address. */
uint32_t vf_wire_u32(const unsigned char *from);
uint64_t vf_wire_u64(const unsigned char *from);

#endif
