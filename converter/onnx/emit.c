#include "converter/onnx/emit.h"

#include <string.h>

#include "converter/onnx/wire.h"

enum { LENT_BYTES = 512 }; /* from here on a reference is cheaper than a copy */

void vf_emit_init(VfEmit *emit, VfArena *arena)
{
    *emit = (VfEmit){.arena = arena};
}

static void add_piece(VfEmit *emit, VfEmitPiece piece)
{
    if (emit->failed || vf_arena_grow(emit->arena, (void **)&emit->piece, &emit->piece_capacity,
                                      emit->n_piece + 1, sizeof piece, NULL) != VF_OK) {
        emit->failed = true;
        return;
    }
    emit->piece[emit->n_piece++] = piece;
}

static void add_text(VfEmit *emit, const void *data, size_t size)
{
    if (emit->failed || size == 0)
        return;
    if (vf_arena_grow(emit->arena, (void **)&emit->text, &emit->text_capacity,
                      emit->n_text + size, 1, NULL) != VF_OK) {
        emit->failed = true;
        return;
    }
    memcpy(emit->text + emit->n_text, data, size);
    VfEmitPiece *last = emit->n_piece == 0 ? NULL : &emit->piece[emit->n_piece - 1];
    if (last != NULL && last->kind == VF_EMIT_TEXT)
        last->size += size;
    else
        add_piece(emit, (VfEmitPiece){VF_EMIT_TEXT, NULL, emit->n_text, size});
    emit->n_text += size;
    emit->total += size;
}

static void add_varint(VfEmit *emit, uint64_t value)
{
    unsigned char bytes[VF_WIRE_MAX_VARINT];
    add_text(emit, bytes, vf_wire_put_varint(bytes, value));
}

static void add_tag(VfEmit *emit, uint32_t field, VfWireType type)
{
    add_varint(emit, (uint64_t)field << 3 | (uint64_t)type);
}

VfEmitMark vf_emit_begin(VfEmit *emit, uint32_t field)
{
    add_tag(emit, field, VF_WIRE_LEN);
    VfEmitMark mark = {emit->n_piece, emit->total};
    add_piece(emit, (VfEmitPiece){VF_EMIT_LENGTH, NULL, 0, 0});
    return mark;
}

void vf_emit_end(VfEmit *emit, VfEmitMark mark)
{
    if (emit->failed)
        return;
    size_t size = emit->total - mark.total;
    emit->piece[mark.piece].size = size;
    emit->total += vf_wire_varint_size(size);
}

void vf_emit_int(VfEmit *emit, uint32_t field, int64_t value)
{
    add_tag(emit, field, VF_WIRE_VARINT);
    add_varint(emit, (uint64_t)value);
}

void vf_emit_float(VfEmit *emit, uint32_t field, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    unsigned char bytes[4];
    for (int i = 0; i < 4; i++)
        bytes[i] = (unsigned char)(bits >> (8 * i));
    add_tag(emit, field, VF_WIRE_I32);
    add_text(emit, bytes, sizeof bytes);
}

void vf_emit_bytes(VfEmit *emit, uint32_t field, VfBytes value)
{
    add_tag(emit, field, VF_WIRE_LEN);
    add_varint(emit, value.size);
    add_text(emit, value.data, value.size);
}

void vf_emit_some_int(VfEmit *emit, uint32_t field, int64_t value)
{
    if (value != 0)
        vf_emit_int(emit, field, value);
}

void vf_emit_some_bytes(VfEmit *emit, uint32_t field, VfBytes value)
{
    if (value.size > 0)
        vf_emit_bytes(emit, field, value);
}

void vf_emit_fields(VfEmit *emit, const void *data, size_t size)
{
    if (size < LENT_BYTES) {
        add_text(emit, data, size);
        return;
    }
    add_piece(emit, (VfEmitPiece){VF_EMIT_LENT, data, 0, size});
    emit->total += size;
}

void vf_emit_lent(VfEmit *emit, uint32_t field, const void *data, size_t size)
{
    add_tag(emit, field, VF_WIRE_LEN);
    add_varint(emit, size);
    vf_emit_fields(emit, data, size);
}

/* The bytes of a piece; `length` has room for a varint. */
static VfBytes piece_bytes(const VfEmit *emit, const VfEmitPiece *piece, unsigned char *length)
{
    switch (piece->kind) {
    case VF_EMIT_TEXT:
        return (VfBytes){(const char *)emit->text + piece->offset, piece->size};
    case VF_EMIT_LENGTH:
        return (VfBytes){(const char *)length, vf_wire_put_varint(length, piece->size)};
    default:
        return (VfBytes){piece->data, piece->size};
    }
}

VfStatus vf_emit_write(const VfEmit *emit, VfOutFile *out, VfErr *err)
{
    unsigned char length[VF_WIRE_MAX_VARINT];
    if (emit->failed)
        return vf_no_memory(err);
    for (size_t i = 0; i < emit->n_piece; i++) {
        VfBytes bytes = piece_bytes(emit, &emit->piece[i], length);
        VF_TRY(vf_out_write(out, bytes.data, bytes.size, err));
    }
    return VF_OK;
}

VfStatus vf_emit_flatten(const VfEmit *emit, VfArena *arena, VfBytes *out, VfErr *err)
{
    unsigned char length[VF_WIRE_MAX_VARINT];
    char *flat = emit->failed ? NULL : vf_arena_alloc(arena, emit->total);
    VF_TRY_ALLOC(flat, err);
    size_t n = 0;
    for (size_t i = 0; i < emit->n_piece; i++) {
        VfBytes bytes = piece_bytes(emit, &emit->piece[i], length);
        memcpy(flat + n, bytes.data, bytes.size);
        n += bytes.size;
    }
    *out = (VfBytes){flat, n};
    return VF_OK;
}
