#include "converter/onnx/scan.h"

#include "onnx.pb-c.h"
#include "tests/support/check_main.h"
#include "tests/unit/onnx/onnx_case.h"

static const struct {
    const char *what, *bytes;
    size_t size;
    VfStatus status;
    const char *text; /* in the sentence */
} bad[] = {
    {"cut varint", "\x08", 1, VF_INVALID, "byte 0: field 'ir_version' of ModelProto is cut off"},
    {"cut message", "\x08\x08\x3A\x05\x12\x01g", 7, VF_INVALID,
     "byte 2: field 'graph' of ModelProto is cut off"},
    {"cut inside", "\x3A\x02\x12\x05", 4, VF_INVALID, "of GraphProto is cut off"},
    {"wrong wire type", "\x38\x01", 2, VF_INVALID, "'graph' of ModelProto has the wrong wire"},
    {"text as number", "\x10\x01", 2, VF_INVALID, "'producer_name'"},
    {"two graphs", "\x3A\x00\x3A\x00", 4, VF_INVALID, "'graph' of ModelProto occurs twice"},
    {"a group", "\x3B\x3C", 2, VF_INVALID, "wire type"},
    {"cut packed numbers", "\x3A\x06\x2A\x04\x0A\x02\x80\x80", 8, VF_INVALID,
     "'dims' of TensorProto ends inside a number"},
    {"cut packed floats", "\x3A\x07\x2A\x05\x22\x03\x00\x00\x00", 9, VF_INVALID,
     "'float_data' of TensorProto ends inside a number"},
    {"two raw data", "\x3A\x08\x2A\x06\x4A\x01x\x4A\x01y", 10, VF_INVALID, "'raw_data'"},
    {"unknown in metadata", "\x72\x02\x18\x01", 4, VF_UNSUPPORTED, "StringStringEntryProto"},
    {"unknown in opset", "\x42\x02\x18\x01", 4, VF_UNSUPPORTED, "OperatorSetIdProto"},
};

START_TEST(test_bad)
{
    VfArena *arena = vf_arena_new();
    VfScan scan = {0};
    VfErr err;
    ProtobufCMessage *message;
    VfStatus status = vf_scan_unpack(&scan, arena, (const unsigned char *)bad[_i].bytes,
                                     bad[_i].size, &onnx__model_proto__descriptor, &message,
                                     &err);
    ck_assert_msg(status == bad[_i].status, "%s: status %d", bad[_i].what, (int)status);
    ck_assert_msg(has_text(err.text, bad[_i].text), "%s: '%s'", bad[_i].what, err.text);
    vf_arena_free(arena);
}
END_TEST

/* Weights are left out, names stay, unknown fields are noted. */
START_TEST(test_pieces)
{
    VfArena *arena = vf_arena_new();
    VfEmit emit;
    VfBytes flat;
    VfScan scan = {0};
    ProtobufCMessage *message;
    static const char weights[3000];
    vf_emit_init(&emit, arena);
    vf_emit_bytes(&emit, 8, vf_bytes("w"));
    vf_emit_int(&emit, 99, 1);
    vf_emit_int(&emit, 98, 1);
    vf_emit_lent(&emit, 9, weights, sizeof weights);
    vf_emit_int(&emit, 99, 1);
    vf_emit_flatten(&emit, arena, &flat, NULL);
    ck_assert_int_eq(vf_scan_unpack(&scan, arena, (const unsigned char *)flat.data, flat.size,
                                    &onnx__tensor_proto__descriptor, &message, NULL), VF_OK);
    ck_assert_uint_lt(scan.n_skeleton, 20);
    const Onnx__TensorProto *tensor = (const Onnx__TensorProto *)message;
    ck_assert_uint_eq(tensor->name.len, 1);
    static const VfPieceKind wanted[] = {VF_PIECE_NOTE, VF_PIECE_RAW, VF_PIECE_DATA, VF_PIECE_RAW};
    const VfPiece *piece = vf_scan_first(&scan, message);
    for (size_t i = 0; i < 4; i++, piece = vf_scan_next(&scan, piece)) {
        ck_assert_ptr_nonnull(piece);
        ck_assert_int_eq(piece->kind, wanted[i]);
        if (piece->kind == VF_PIECE_DATA)
            ck_assert_uint_eq(piece->end - piece->begin, sizeof weights);
        if (i == 1) /* two unknown fields side by side are one piece */
            ck_assert_uint_eq(piece->end - piece->begin, 6);
    }
    ck_assert_ptr_null(piece);
    vf_arena_free(arena);
}
END_TEST

/* If in If in If: each level is a node, an attribute and a graph. */
static VfBytes nest(VfArena *arena, int levels)
{
    VfEmit emit;
    VfBytes flat;
    VfEmitMark mark[400];
    vf_emit_init(&emit, arena);
    mark[0] = vf_emit_begin(&emit, 7);
    for (int i = 1; i < levels; i++)
        mark[i] = vf_emit_begin(&emit, i % 3 == 1 ? 1 : i % 3 == 2 ? 5 : 6);
    for (int i = levels - 1; i >= 0; i--)
        vf_emit_end(&emit, mark[i]);
    vf_emit_flatten(&emit, arena, &flat, NULL);
    return flat;
}

START_TEST(test_limits)
{
    static const struct {
        int levels;
        VfScanLimits limit;
        VfStatus status;
    } row[] = {
        {100, {0}, VF_OK},
        {101, {0}, VF_INVALID},
        {399, {0}, VF_INVALID},
        {10, {.depth = 9}, VF_INVALID},
        {10, {.fields = 10}, VF_OK},
        {10, {.fields = 9}, VF_UNSUPPORTED},
        {10, {.skeleton_bytes = 59}, VF_UNSUPPORTED},
        {10, {.skeleton_bytes = 60}, VF_OK},
    };
    VfArena *arena = vf_arena_new();
    VfScan scan = {.limit = row[_i].limit};
    ProtobufCMessage *message;
    VfBytes model = nest(arena, row[_i].levels);
    ck_assert_int_eq(vf_scan_unpack(&scan, arena, (const unsigned char *)model.data, model.size,
                                    &onnx__model_proto__descriptor, &message, NULL),
                     row[_i].status);
    vf_arena_free(arena);
}
END_TEST

/* A hostile field of the reserved number is carried as any unknown one. */
START_TEST(test_reserved_number)
{
    VfArena *arena = vf_arena_new();
    VfEmit emit;
    VfBytes flat;
    VfScan scan = {0};
    ProtobufCMessage *message;
    vf_emit_init(&emit, arena);
    vf_emit_int(&emit, VF_SCAN_MARK, 12345678);
    vf_emit_flatten(&emit, arena, &flat, NULL);
    ck_assert_int_eq(vf_scan_unpack(&scan, arena, (const unsigned char *)flat.data, flat.size,
                                    &onnx__model_proto__descriptor, &message, NULL), VF_OK);
    const VfPiece *piece = vf_scan_first(&scan, message);
    ck_assert_ptr_nonnull(piece);
    ck_assert_uint_eq(piece->end - piece->begin, flat.size);
    vf_arena_free(arena);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("onnx/scan");
    TCase *tcase = tcase_create("scan");
    tcase_add_loop_test(tcase, test_bad, 0, (int)(sizeof bad / sizeof bad[0]));
    tcase_add_test(tcase, test_pieces);
    tcase_add_loop_test(tcase, test_limits, 0, 8);
    tcase_add_test(tcase, test_reserved_number);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
