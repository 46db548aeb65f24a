#include "converter/onnx/scan.h"

#include <string.h>

#include "onnx.pb-c.h"

enum {
    LENGTH_BYTES = 5, /* lengths in the skeleton have a fixed width, filled in afterwards */
    PLAIN = -1        /* a field that is copied to the skeleton and not noted */
};

/* One message being walked. */
typedef struct Frame {
    const ProtobufCMessageDescriptor *type;
    uint32_t depth;
    bool is_kept;    /* goes to the skeleton */
    bool is_carried; /* inside a field that is carried as it is */
    int32_t message, last_piece; /* number for its pieces and the last of them, or -1 */
    uint64_t seen;   /* single message fields met, by number */
} Frame;

/* What to do with a known field other than copying it to the skeleton. */
typedef struct Action {
    const ProtobufCMessageDescriptor *type;
    uint32_t field;
    VfPieceKind kind;
} Action;

static const Action action[] = {
    {&onnx__tensor_proto__descriptor, 4, VF_PIECE_DATA},
    {&onnx__tensor_proto__descriptor, 5, VF_PIECE_DATA},
    {&onnx__tensor_proto__descriptor, 6, VF_PIECE_DATA},
    {&onnx__tensor_proto__descriptor, 7, VF_PIECE_DATA},
    {&onnx__tensor_proto__descriptor, 8, VF_PIECE_NOTE}, /* name */
    {&onnx__tensor_proto__descriptor, 9, VF_PIECE_DATA},
    {&onnx__tensor_proto__descriptor, 10, VF_PIECE_DATA},
    {&onnx__tensor_proto__descriptor, 11, VF_PIECE_DATA},
    {&onnx__tensor_proto__descriptor, 12, VF_PIECE_RAW}, /* doc_string */
    {&onnx__tensor_proto__descriptor, 16, VF_PIECE_RAW}, /* metadata_props */
    {&onnx__value_info_proto__descriptor, 2, VF_PIECE_NOTE}, /* type */
    {&onnx__attribute_proto__descriptor, 14, VF_PIECE_RAW},  /* tp */
    {&onnx__attribute_proto__descriptor, 15, VF_PIECE_RAW},  /* type_protos */
    {&onnx__attribute_proto__descriptor, 22, VF_PIECE_RAW},  /* sparse_tensor */
    {&onnx__attribute_proto__descriptor, 23, VF_PIECE_RAW},  /* sparse_tensors */
    {&onnx__node_proto__descriptor, 10, VF_PIECE_RAW},       /* device_configurations */
    {&onnx__graph_proto__descriptor, 13, VF_PIECE_NOTE},     /* value_info */
    {&onnx__graph_proto__descriptor, 14, VF_PIECE_RAW},      /* quantization_annotation */
    {&onnx__graph_proto__descriptor, 15, VF_PIECE_NOTE},     /* sparse_initializer */
    {&onnx__function_proto__descriptor, 12, VF_PIECE_NOTE},  /* value_info */
    {&onnx__model_proto__descriptor, 20, VF_PIECE_RAW},      /* training_info */
    {&onnx__model_proto__descriptor, 26, VF_PIECE_RAW},      /* configuration */
};

static int action_of(const ProtobufCMessageDescriptor *type, uint32_t field)
{
    for (size_t i = 0; i < sizeof action / sizeof action[0]; i++) {
        if (action[i].type == type && action[i].field == field)
            return (int)action[i].kind;
    }
    return PLAIN;
}

static VfStatus fail_at(const Frame *frame, const char *name, size_t at, const char *what,
                        VfErr *err)
{
    return vf_fail(err, VF_INVALID, "byte %zu: field '%s' of %s %s", at, name,
                   frame->type->short_name, what);
}

static VfStatus append(VfScan *scan, const void *data, size_t size, VfErr *err)
{
    if (size > scan->limit.skeleton_bytes - scan->n_skeleton)
        return vf_fail(err, VF_UNSUPPORTED, "the graph without weights takes more than %zu bytes",
                       scan->limit.skeleton_bytes);
    VF_TRY(vf_arena_grow(scan->arena, (void **)&scan->skeleton, &scan->skeleton_capacity,
                         scan->n_skeleton + size, 1, err));
    memcpy(scan->skeleton + scan->n_skeleton, data, size);
    scan->n_skeleton += size;
    return VF_OK;
}

static VfStatus append_tag(VfScan *scan, uint32_t number, VfWireType wire, VfErr *err)
{
    unsigned char tag[VF_WIRE_MAX_VARINT];
    size_t n = vf_wire_put_varint(tag, (uint64_t)number << 3 | (uint64_t)wire);
    return append(scan, tag, n, err);
}

/* Fill in the fixed-width length that stands before `start`. */
static void patch_length(VfScan *scan, size_t start)
{
    size_t length = scan->n_skeleton - start;
    unsigned char *to = scan->skeleton + start - LENGTH_BYTES;
    for (int i = 0; i < LENGTH_BYTES; i++, length >>= 7)
        to[i] = (unsigned char)((length & 0x7F) | (i < LENGTH_BYTES - 1 ? 0x80 : 0));
}

/* The number under which the pieces of a message are found. */
static VfStatus number_message(VfScan *scan, Frame *frame, VfErr *err)
{
    if (frame->message >= 0)
        return VF_OK;
    VF_TRY(vf_arena_grow(scan->arena, (void **)&scan->first_piece, &scan->message_capacity,
                         scan->n_message + 1, sizeof *scan->first_piece, err));
    frame->message = (int32_t)scan->n_message;
    scan->first_piece[scan->n_message++] = -1;
    return VF_OK;
}

/* Lengthen the last piece when the new field follows it in the file and is of its kind. */
static bool extend(VfScan *scan, const Frame *frame, const VfPiece *add)
{
    if (frame->last_piece < 0)
        return false;
    VfPiece *last = &scan->piece[frame->last_piece];
    bool is_alike = last->kind == add->kind && last->end == add->begin;
    bool is_run = last->is_run && add->is_run && last->field == add->field &&
                  last->wire == add->wire;
    if (!is_alike || !(add->kind == VF_PIECE_RAW || is_run))
        return false;
    last->end = add->end;
    return true;
}

static VfStatus add_piece(VfScan *scan, Frame *frame, const VfPiece *add, VfErr *err)
{
    if (extend(scan, frame, add))
        return VF_OK;
    VF_TRY(number_message(scan, frame, err));
    VF_TRY(vf_arena_grow(scan->arena, (void **)&scan->piece, &scan->piece_capacity,
                         scan->n_piece + 1, sizeof *scan->piece, err));
    int32_t at = (int32_t)scan->n_piece++;
    scan->piece[at] = *add;
    scan->piece[at].next = -1;
    if (frame->last_piece < 0)
        scan->first_piece[frame->message] = at;
    else
        scan->piece[frame->last_piece].next = at;
    frame->last_piece = at;
    return VF_OK;
}

static VfWireType wire_of(ProtobufCType type)
{
    switch (type) {
    case PROTOBUF_C_TYPE_FLOAT:
        return VF_WIRE_I32;
    case PROTOBUF_C_TYPE_DOUBLE:
        return VF_WIRE_I64;
    case PROTOBUF_C_TYPE_BYTES:
    case PROTOBUF_C_TYPE_MESSAGE:
        return VF_WIRE_LEN;
    default: /* the schema has no other types than integers */
        return VF_WIRE_VARINT;
    }
}

/* Numbers packed in one field: whole ones only. */
static bool is_packed_well(const VfScan *scan, VfWireType wire, const VfWireField *field)
{
    size_t size = field->end - field->payload;
    if (wire == VF_WIRE_I32 || wire == VF_WIRE_I64)
        return size % (wire == VF_WIRE_I32 ? 4 : 8) == 0;
    VfWire packed = {scan->data, field->payload, field->end};
    uint64_t value;
    while (packed.at < packed.end) {
        if (vf_wire_varint(&packed, &value) != VF_WIRE_OK)
            return false;
    }
    return true;
}

/* The field has the wire type its declaration asks for, and a single message comes once:
 * merging two is legal in protobuf, but no writer of ONNX does it. */
static VfStatus check_field(const VfScan *scan, Frame *frame, const VfWireField *field,
                            const ProtobufCFieldDescriptor *known, VfErr *err)
{
    VfWireType wanted = wire_of(known->type);
    bool is_list = known->label == PROTOBUF_C_LABEL_REPEATED;
    if (field->type == VF_WIRE_LEN && wanted != VF_WIRE_LEN && is_list) {
        if (!is_packed_well(scan, wanted, field))
            return fail_at(frame, known->name, field->begin, "ends inside a number", err);
    } else if (field->type != wanted) {
        return fail_at(frame, known->name, field->begin, "has the wrong wire type", err);
    }
    bool is_data = frame->type == &onnx__tensor_proto__descriptor && known->id == 9;
    if (!is_list && known->id < 64 && (known->type == PROTOBUF_C_TYPE_MESSAGE || is_data)) {
        if ((frame->seen >> known->id & 1) != 0)
            return fail_at(frame, known->name, field->begin, "occurs twice", err);
        frame->seen |= (uint64_t)1 << known->id;
    }
    return VF_OK;
}

/* Fields that the schema does not have. Two kinds of message have no place to carry any. */
static VfStatus take_unknown(VfScan *scan, Frame *frame, const VfWireField *field, VfErr *err)
{
    bool has_no_place = frame->type == &onnx__string_string_entry_proto__descriptor ||
                        frame->type == &onnx__operator_set_id_proto__descriptor;
    if (!frame->is_kept || frame->is_carried)
        return VF_OK;
    if (has_no_place)
        return vf_fail(err, VF_UNSUPPORTED, "byte %zu: field %u of %s is not known", field->begin,
                       field->number, frame->type->short_name);
    VfPiece piece = {.kind = VF_PIECE_RAW, .field = field->number, .wire = field->type,
                     .begin = field->begin, .end = field->end};
    return add_piece(scan, frame, &piece, err);
}

static VfStatus walk(VfScan *scan, Frame *frame, size_t begin, size_t end, VfErr *err);

static VfStatus take_message(VfScan *scan, Frame *frame, const VfWireField *field,
                             const ProtobufCFieldDescriptor *known, int kind, VfErr *err)
{
    Frame inner = {.type = known->descriptor, .depth = frame->depth + 1,
                   .is_kept = frame->is_kept && kind != VF_PIECE_RAW,
                   .is_carried = frame->is_carried || kind == VF_PIECE_RAW ||
                                 known->descriptor == &onnx__sparse_tensor_proto__descriptor ||
                                 known->descriptor == &onnx__type_proto__descriptor,
                   .message = -1, .last_piece = -1};
    static const unsigned char room[LENGTH_BYTES];
    if (inner.is_kept) {
        VF_TRY(append_tag(scan, field->number, VF_WIRE_LEN, err));
        VF_TRY(append(scan, room, sizeof room, err));
    }
    size_t start = scan->n_skeleton;
    VF_TRY(walk(scan, &inner, field->payload, field->end, err));
    if (inner.is_kept)
        patch_length(scan, start);
    return VF_OK;
}

static VfStatus take_known(VfScan *scan, Frame *frame, const VfWireField *field,
                           const ProtobufCFieldDescriptor *known, VfErr *err)
{
    VF_TRY(check_field(scan, frame, field, known, err));
    bool is_tensor = frame->type == &onnx__tensor_proto__descriptor;
    if (frame->is_carried && is_tensor && known->id == 14 && field->value != 0)
        return vf_fail(err, VF_UNSUPPORTED, "byte %zu: a tensor inside a field that is carried "
                       "unread (training information or sparse data) is kept in another file",
                       field->begin);
    int kind = action_of(frame->type, known->id);
    if (frame->is_kept && !frame->is_carried && kind != PLAIN) {
        bool is_run = kind == VF_PIECE_DATA && known->id != 9 &&
                      (known->id == 6 || field->type != VF_WIRE_LEN);
        VfPiece piece = {.kind = (VfPieceKind)kind, .is_run = is_run, .field = known->id,
                         .wire = field->type, .begin = field->begin, .end = field->end};
        if (kind == VF_PIECE_DATA && !is_run)
            piece.begin = field->payload;
        VF_TRY(add_piece(scan, frame, &piece, err));
    }
    if (known->type == PROTOBUF_C_TYPE_MESSAGE)
        return take_message(scan, frame, field, known, kind, err);
    bool is_copied = frame->is_kept && (kind == PLAIN || kind == VF_PIECE_NOTE);
    return is_copied ? append(scan, scan->data + field->begin, field->end - field->begin, err)
                     : VF_OK;
}

static VfStatus take(VfScan *scan, Frame *frame, VfWire *wire, VfErr *err)
{
    VfWireField field;
    VfWireFault fault = vf_wire_field(wire, &field);
    const ProtobufCFieldDescriptor *known =
        protobuf_c_message_descriptor_get_field(frame->type, field.number);
    if (fault != VF_WIRE_OK)
        return fail_at(frame, known == NULL ? "?" : known->name, field.begin,
                       vf_wire_fault_text(fault), err);
    if (frame->is_kept && ++scan->n_field > scan->limit.fields)
        return vf_fail(err, VF_UNSUPPORTED, "byte %zu: more than %zu fields", field.begin,
                       scan->limit.fields);
    if (known == NULL)
        return take_unknown(scan, frame, &field, err);
    return take_known(scan, frame, &field, known, err);
}

/* Walk the fields of one message in bytes [begin, end). */
static VfStatus walk(VfScan *scan, Frame *frame, size_t begin, size_t end, VfErr *err)
{
    if (frame->depth > scan->limit.depth)
        return vf_fail(err, VF_INVALID, "byte %zu: more than %u nested messages", begin,
                       scan->limit.depth);
    VfWire wire = {scan->data, begin, end};
    while (wire.at < wire.end)
        VF_TRY(take(scan, frame, &wire, err));
    if (frame->message < 0)
        return VF_OK;
    unsigned char number[VF_WIRE_MAX_VARINT];
    size_t n = vf_wire_put_varint(number, (uint64_t)frame->message);
    VF_TRY(append_tag(scan, VF_SCAN_MARK, VF_WIRE_VARINT, err));
    return append(scan, number, n, err);
}

static void *allocate(void *data, size_t size)
{
    return vf_arena_alloc(data, size);
}

static void release(void *data, void *pointer)
{
    (void)data;
    (void)pointer;
}

VfStatus vf_scan_unpack(VfScan *scan, VfArena *arena, const unsigned char *data, size_t size,
                        const ProtobufCMessageDescriptor *type, ProtobufCMessage **message,
                        VfErr *err)
{
    static const VfScanLimits usual = {100, 16000000, (size_t)512 << 20};
    scan->arena = arena;
    scan->data = data;
    scan->size = size;
    if (scan->limit.depth == 0)
        scan->limit.depth = usual.depth;
    if (scan->limit.fields == 0)
        scan->limit.fields = usual.fields;
    if (scan->limit.skeleton_bytes == 0 || scan->limit.skeleton_bytes > usual.skeleton_bytes)
        scan->limit.skeleton_bytes = usual.skeleton_bytes;
    Frame root = {.type = type, .is_kept = true, .message = -1, .last_piece = -1};
    VF_TRY(walk(scan, &root, 0, size, err));
    ProtobufCAllocator allocator = {allocate, release, arena};
    /* An empty message is valid, but protobuf-c must not get a null pointer. */
    const unsigned char *skeleton =
        scan->n_skeleton == 0 ? (const unsigned char *)"" : scan->skeleton;
    *message = protobuf_c_message_unpack(type, &allocator, scan->n_skeleton, skeleton);
    /* The scan accepted it, so only memory can be missing. */
    return *message == NULL ? vf_no_memory(err) : VF_OK;
}

VfPiece *vf_scan_first(const VfScan *scan, const ProtobufCMessage *message)
{
    if (message->n_unknown_fields == 0)
        return NULL;
    const ProtobufCMessageUnknownField *mark = &message->unknown_fields[0];
    VfWire wire = {mark->data, 0, mark->len};
    uint64_t number;
    if (mark->tag != VF_SCAN_MARK || vf_wire_varint(&wire, &number) != VF_WIRE_OK)
        return NULL;
    int32_t first = scan->first_piece[number];
    return first < 0 ? NULL : &scan->piece[first];
}

VfPiece *vf_scan_next(const VfScan *scan, const VfPiece *piece)
{
    return piece->next < 0 ? NULL : &scan->piece[piece->next];
}

VfPiece *vf_scan_noted(const VfScan *scan, VfPiece *piece, uint32_t field)
{
    while (piece != NULL && !(piece->kind == VF_PIECE_NOTE && piece->field == field))
        piece = vf_scan_next(scan, piece);
    return piece;
}
