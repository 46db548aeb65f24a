/* A protobuf message being put together, weights by reference.
 *
 * The message is a list of pieces: short text kept here, lengths of nested messages, and
 * bytes that stay where they are (a mapped file, an arena). Lengths are filled in when a
 * message ends, so one walk over the graph suffices and the total is known before the first
 * byte is written. A failed allocation is remembered: later calls do nothing and
 * vf_emit_write says so.
 */
#ifndef VF_ONNX_EMIT_H
#define VF_ONNX_EMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/arena.h"
#include "runtime/base/bytes.h"
#include "runtime/base/file.h"
#include "runtime/base/status.h"

typedef enum VfEmitKind { VF_EMIT_TEXT, VF_EMIT_LENGTH, VF_EMIT_LENT } VfEmitKind;

typedef struct VfEmitPiece {
    VfEmitKind kind;
    const void *data; /* LENT */
    size_t offset;    /* TEXT: in the text buffer */
    size_t size;      /* bytes; LENGTH: the number */
} VfEmitPiece;

typedef struct VfEmit {
    VfArena *arena;
    VfEmitPiece *piece;
    size_t n_piece, piece_capacity;
    unsigned char *text;
    size_t n_text, text_capacity;
    size_t total; /* bytes of all that was added */
    bool failed;
} VfEmit;

/* A nested message that was begun. */
typedef struct VfEmitMark {
    size_t piece, total;
} VfEmitMark;

/* An empty message; its memory is in `arena`. */
void vf_emit_init(VfEmit *emit, VfArena *arena);

VfEmitMark vf_emit_begin(VfEmit *emit, uint32_t field);
void vf_emit_end(VfEmit *emit, VfEmitMark mark);

void vf_emit_int(VfEmit *emit, uint32_t field, int64_t value);
void vf_emit_float(VfEmit *emit, uint32_t field, float value);
void vf_emit_bytes(VfEmit *emit, uint32_t field, VfBytes value);

/* The same unless the value is empty or zero, which then is the default. */
void vf_emit_some_int(VfEmit *emit, uint32_t field, int64_t value);
void vf_emit_some_bytes(VfEmit *emit, uint32_t field, VfBytes value);

/* A bytes field whose value is referenced when it is long: it must outlive the message. */
void vf_emit_lent(VfEmit *emit, uint32_t field, const void *data, size_t size);

/* Whole fields with their tags, referenced when long. */
void vf_emit_fields(VfEmit *emit, const void *data, size_t size);

/* Append the message to a file. */
VfStatus vf_emit_write(const VfEmit *emit, VfOutFile *out, VfErr *err);

/* The message as one run of bytes in `arena`. */
VfStatus vf_emit_flatten(const VfEmit *emit, VfArena *arena, VfBytes *out, VfErr *err);

#endif
