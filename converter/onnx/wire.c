#include "converter/onnx/wire.h"

VfWireFault vf_wire_varint(VfWire *wire, uint64_t *value)
{
    uint64_t result = 0;
    for (size_t i = 0; i < VF_WIRE_MAX_VARINT; i++) {
        if (wire->at + i >= wire->end)
            return VF_WIRE_CUT;
        uint64_t byte = wire->data[wire->at + i];
        if (i == VF_WIRE_MAX_VARINT - 1 && byte > 1)
            return VF_WIRE_VALUE;
        result |= (byte & 0x7F) << (7 * i);
        if (byte < 0x80) {
            wire->at += i + 1;
            *value = result;
            return VF_WIRE_OK;
        }
    }
    return VF_WIRE_VALUE;
}

uint32_t vf_wire_u32(const unsigned char *from)
{
    return (uint32_t)from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 |
           (uint32_t)from[3] << 24;
}

uint64_t vf_wire_u64(const unsigned char *from)
{
    return (uint64_t)vf_wire_u32(from) | (uint64_t)vf_wire_u32(from + 4) << 32;
}

static VfWireFault read_fixed(VfWire *wire, size_t bytes, VfWireField *field)
{
    if (wire->end - wire->at < bytes)
        return VF_WIRE_CUT;
    const unsigned char *from = wire->data + wire->at;
    field->value = bytes == 4 ? vf_wire_u32(from) : vf_wire_u64(from);
    wire->at += bytes;
    return VF_WIRE_OK;
}

static VfWireFault read_length(VfWire *wire, VfWireField *field)
{
    VfWireFault fault = vf_wire_varint(wire, &field->value);
    if (fault != VF_WIRE_OK)
        return fault;
    field->payload = wire->at;
    if (field->value > wire->end - wire->at)
        return VF_WIRE_CUT;
    wire->at += (size_t)field->value;
    return VF_WIRE_OK;
}

static VfWireFault read_value(VfWire *wire, VfWireField *field)
{
    switch (field->type) {
    case VF_WIRE_VARINT:
        return vf_wire_varint(wire, &field->value);
    case VF_WIRE_I64:
        return read_fixed(wire, 8, field);
    case VF_WIRE_I32:
        return read_fixed(wire, 4, field);
    case VF_WIRE_LEN:
        return read_length(wire, field);
    default:
        return VF_WIRE_KIND;
    }
}

VfWireFault vf_wire_field(VfWire *wire, VfWireField *field)
{
    uint64_t tag;
    size_t begin = wire->at;
    *field = (VfWireField){.begin = begin};
    VfWireFault fault = vf_wire_varint(wire, &tag);
    if (fault == VF_WIRE_OK && (tag >> 3 == 0 || tag >> 3 > VF_WIRE_MAX_FIELD))
        fault = VF_WIRE_VALUE;
    if (fault == VF_WIRE_OK) {
        field->number = (uint32_t)(tag >> 3);
        field->type = (VfWireType)(tag & 7);
        field->payload = wire->at;
        fault = read_value(wire, field);
    }
    if (fault != VF_WIRE_OK)
        wire->at = begin;
    field->end = wire->at;
    return fault;
}

const char *vf_wire_fault_text(VfWireFault fault)
{
    static const char *const text[] = {
        [VF_WIRE_OK] = "is whole",
        [VF_WIRE_CUT] = "is cut off",
        [VF_WIRE_VALUE] = "has a number out of range",
        [VF_WIRE_KIND] = "has a wire type that is not used",
    };
    return text[fault];
}

size_t vf_wire_varint_size(uint64_t value)
{
    size_t n = 1;
    for (; value >= 0x80; value >>= 7)
        n++;
    return n;
}

size_t vf_wire_put_varint(unsigned char *to, uint64_t value)
{
    size_t n = 0;
    for (; value >= 0x80; value >>= 7)
        to[n++] = (unsigned char)(value | 0x80);
    to[n++] = (unsigned char)value;
    return n;
}
