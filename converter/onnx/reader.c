#include "converter/onnx/reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "runtime/base/size.h"
#include "runtime/base/text.h"

enum { SHOWN_BYTES = 200 }; /* of a name in a message */

static VfStatus note_fault(VfReader *reader, const VfErr *fault)
{
    VfFaults *faults = reader->faults;
    if (faults->n >= VF_READER_MAX_FAULT)
        return vf_fail(reader->err, VF_INVALID, "more than %d faults", VF_READER_MAX_FAULT);
    void *items = faults->text;
    VF_TRY(vf_arena_grow(reader->fault_arena, &items, &reader->fault_capacity,
                         (size_t)faults->n + 1, sizeof *faults->text, reader->err));
    faults->text = items;
    bool is_named = reader->function == NULL ||
                    strncmp(fault->text, reader->function, strlen(reader->function)) == 0;
    const char *text = is_named ? vf_arena_string(reader->fault_arena, fault->text)
                                : vf_arena_printf(reader->fault_arena, "%s: %s", reader->function,
                                                  fault->text);
    VF_TRY_ALLOC(text, reader->err);
    faults->text[faults->n++] = text;
    return VF_OK;
}

static void put_sentence(VfErr *fault, const char *fmt, va_list args)
{
    if (vsnprintf(fault->text, sizeof fault->text, fmt, args) < 0)
        fault->text[0] = '\0';
}

VfStatus vf_reader_fault(VfReader *reader, VfStatus status, const char *fmt, ...)
{
    VfErr fault;
    va_list args;
    va_start(args, fmt);
    put_sentence(&fault, fmt, args);
    va_end(args);
    return reader->faults != NULL ? note_fault(reader, &fault)
                                  : vf_fail(reader->err, status, "%s", fault.text);
}

VfStatus vf_reader_remark(VfReader *reader, const char *fmt, ...)
{
    VfErr fault;
    va_list args;
    if (reader->faults == NULL)
        return VF_OK;
    va_start(args, fmt);
    put_sentence(&fault, fmt, args);
    va_end(args);
    reader->n_remark++;
    return note_fault(reader, &fault);
}

const char *vf_reader_show(VfReader *reader, ProtobufCBinaryData bytes)
{
    VfText text;
    VfBytes shown = vf_proto_bytes(bytes), out;
    vf_text_init(&text, reader->scratch);
    if (shown.size > SHOWN_BYTES)
        shown.size = SHOWN_BYTES;
    vf_text_visible(&text, shown);
    if (vf_text_get(&text, &out, NULL) != VF_OK || out.data == NULL)
        return "";
    return out.data;
}

VfStatus vf_reader_copy(VfReader *reader, ProtobufCBinaryData bytes, VfBytes *out)
{
    *out = (VfBytes){"", 0};
    return bytes.len == 0
               ? VF_OK
               : vf_model_copy_bytes(reader->model, vf_proto_bytes(bytes), out, reader->err);
}

VfStatus vf_reader_domain(VfReader *reader, ProtobufCBinaryData bytes, VfBytes *out)
{
    static const char standard[] = "ai.onnx";
    size_t n = sizeof standard - 1;
    if (bytes.len == n && memcmp(bytes.data, standard, n) == 0)
        bytes.len = 0;
    return vf_reader_copy(reader, bytes, out);
}

VfStatus vf_reader_metas(VfReader *reader, size_t n, Onnx__StringStringEntryProto **entry,
                         VfMeta **first)
{
    VfMeta **link = first;
    for (size_t i = 0; i < n; i++) {
        VfMeta *meta = VF_NEW(reader->arena, VfMeta);
        VF_TRY_ALLOC(meta, reader->err);
        VF_TRY(vf_reader_copy(reader, entry[i]->key, &meta->key));
        VF_TRY(vf_reader_copy(reader, entry[i]->value, &meta->value));
        *link = meta;
        link = &meta->next;
    }
    return VF_OK;
}

static bool is_wanted(const VfPiece *piece, uint32_t note)
{
    return piece->kind == VF_PIECE_RAW || (piece->kind == VF_PIECE_NOTE && piece->field == note);
}

/* Number and bytes of the pieces wanted, and the last of them. */
static size_t measure(const VfScan *scan, const VfPiece *piece, uint32_t note, size_t *bytes,
                      const VfPiece **last)
{
    size_t n = 0;
    for (; piece != NULL; piece = vf_scan_next(scan, piece)) {
        if (!is_wanted(piece, note))
            continue;
        n++;
        *bytes += piece->end - piece->begin;
        *last = piece;
    }
    return n;
}

VfStatus vf_reader_raw(VfReader *reader, const ProtobufCMessage *message, uint32_t note,
                       VfRaw *out)
{
    const VfScan *scan = &reader->scan;
    const VfPiece *first = vf_scan_first(scan, message), *last = NULL;
    size_t bytes = 0;
    size_t n = measure(scan, first, note, &bytes, &last);
    *out = (VfRaw){NULL, 0};
    if (n == 0)
        return VF_OK;
    *out = (VfRaw){scan->data + last->begin, bytes};
    if (n == 1)
        return VF_OK;
    unsigned char *copy = vf_arena_alloc(reader->arena, bytes);
    VF_TRY_ALLOC(copy, reader->err);
    size_t at = 0;
    for (const VfPiece *piece = first; piece != NULL; piece = vf_scan_next(scan, piece)) {
        if (!is_wanted(piece, note))
            continue;
        memcpy(copy + at, scan->data + piece->begin, piece->end - piece->begin);
        at += piece->end - piece->begin;
    }
    out->data = copy;
    return VF_OK;
}

VfStatus vf_reader_bind(VfReader *reader, VfValue *value, const char *owner)
{
    VfValue *earlier;
    VF_TRY(vf_scope_bind_id(&reader->scope, value->name_id, value, &earlier, reader->err));
    if (earlier == NULL)
        return VF_OK;
    /* After a collected fault: nobody knows which of them is meant. */
    if (earlier->tensor == NULL && value->tensor == NULL) {
        VF_TRY(vf_read_type(reader, NULL, "", &value->type));
        earlier->type = value->type;
    }
    ProtobufCBinaryData name = {value->name.size, (uint8_t *)(uintptr_t)value->name.data};
    return vf_reader_fault(reader, VF_INVALID, "%s: the name '%s' is defined twice", owner,
                           vf_reader_show(reader, name));
}

VfStatus vf_reader_stand_in(VfReader *reader, VfGraph *graph, VfValue **out)
{
    VfType unknown;
    VF_TRY(vf_read_type(reader, NULL, "", &unknown));
    *out = vf_graph_add_input(graph, (VfBytes){"", 0}, unknown);
    VF_TRY_ALLOC(*out, reader->err);
    return VF_OK;
}

VfValue *vf_reader_find(const VfReader *reader, ProtobufCBinaryData name)
{
    return vf_scope_find(&reader->scope, vf_proto_bytes(name));
}
