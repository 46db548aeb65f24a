/* A first walk over a mapped message: checks it and takes the weights out.
 *
 * protobuf-c copies every bytes field, and it follows nested messages as deep as a file
 * says. So it never sees the file itself. The scan walks the wire form by the same
 * descriptors, bounds depth and sizes, and makes a skeleton: the message without tensor
 * data and without what is carried as it is. Only the skeleton is unpacked. What was left
 * out is noted as pieces, ranges of the file, in file order for each message; a message that
 * has any holds, in the skeleton, one field of a reserved number that says which.
 *
 * All memory is in the scratch arena given; pieces are offsets into the scanned bytes.
 */
#ifndef VF_ONNX_SCAN_H
#define VF_ONNX_SCAN_H

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "converter/onnx/wire.h"
#include "runtime/base/arena.h"
#include "runtime/base/status.h"

typedef enum VfPieceKind {
    VF_PIECE_RAW,  /* whole fields, not in the skeleton, to be carried as they are */
    VF_PIECE_DATA, /* data of a tensor, not in the skeleton */
    VF_PIECE_NOTE  /* a whole field that is in the skeleton too */
} VfPieceKind;

typedef struct VfPiece {
    VfPieceKind kind;
    bool is_run;     /* DATA: fields of one number with their tags; else one payload */
    uint32_t field;  /* number; of RAW the first one's */
    VfWireType wire; /* of the field as the file has it */
    size_t begin, end;
    int32_t next;    /* next piece of the message, or -1 */
} VfPiece;

/* Bounds against files made to exhaust memory; 0 means the default. */
typedef struct VfScanLimits {
    uint32_t depth;         /* nested messages; 100, as in other readers of protobuf */
    size_t fields;          /* fields in the skeleton; 16 million */
    size_t skeleton_bytes;  /* 512 MiB */
} VfScanLimits;

typedef struct VfScan {
    VfArena *arena;
    const unsigned char *data;
    size_t size;
    VfScanLimits limit;
    size_t n_field;
    unsigned char *skeleton;
    size_t n_skeleton, skeleton_capacity;
    VfPiece *piece;
    size_t n_piece, piece_capacity;
    int32_t *first_piece; /* by the number kept in the message */
    size_t n_message, message_capacity;
} VfScan;

/* Scan `size` bytes at `data` as a message of `type` and unpack the skeleton. The message is
 * in `arena`; it must not be given to protobuf-c to free. VF_INVALID names the byte where the
 * fault is; VF_UNSUPPORTED: over a limit, or unknown fields where none can be carried. */
VfStatus vf_scan_unpack(VfScan *scan, VfArena *arena, const unsigned char *data, size_t size,
                        const ProtobufCMessageDescriptor *type, ProtobufCMessage **message,
                        VfErr *err);

/* The first piece of a message of the skeleton, or NULL. A reader may turn a NOTE into RAW. */
VfPiece *vf_scan_first(const VfScan *scan, const ProtobufCMessage *message);
VfPiece *vf_scan_next(const VfScan *scan, const VfPiece *piece);

/* The first NOTE of number `field` at or after `piece`, or NULL. */
VfPiece *vf_scan_noted(const VfScan *scan, VfPiece *piece, uint32_t field);

/* The number of the reserved field: the largest a field can have. */
enum { VF_SCAN_MARK = VF_WIRE_MAX_FIELD };

#endif
