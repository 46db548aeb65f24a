#include "converter/onnx/wire.h"

#include "tests/support/check_main.h"

static const struct {
    uint64_t value;
    size_t n;
    unsigned char bytes[VF_WIRE_MAX_VARINT];
} number[] = {
    {0, 1, {0}},
    {127, 1, {0x7F}},
    {128, 2, {0x80, 0x01}},
    {300, 2, {0xAC, 0x02}},
    {UINT64_MAX, 10, {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01}},
};

START_TEST(test_numbers)
{
    unsigned char bytes[VF_WIRE_MAX_VARINT];
    uint64_t value;
    ck_assert_uint_eq(vf_wire_varint_size(number[_i].value), number[_i].n);
    ck_assert_uint_eq(vf_wire_put_varint(bytes, number[_i].value), number[_i].n);
    ck_assert_mem_eq(bytes, number[_i].bytes, number[_i].n);
    VfWire wire = {bytes, 0, number[_i].n};
    ck_assert_int_eq(vf_wire_varint(&wire, &value), VF_WIRE_OK);
    ck_assert(value == number[_i].value);
    ck_assert_uint_eq(wire.at, number[_i].n);
    wire = (VfWire){bytes, 0, number[_i].n - 1};
    ck_assert_int_eq(vf_wire_varint(&wire, &value), VF_WIRE_CUT);
    ck_assert_uint_eq(wire.at, 0);
}
END_TEST

static const struct {
    const char *bytes;
    size_t size;
    VfWireFault fault;
    uint32_t field;
    size_t payload, end;
} field_case[] = {
    {"\x08\x05", 2, VF_WIRE_OK, 1, 1, 2},
    {"\x0A\x02hi", 4, VF_WIRE_OK, 1, 2, 4},
    {"\x0D\x01\x02\x03\x04", 5, VF_WIRE_OK, 1, 1, 5},
    {"\x09\x01\x02\x03\x04\x05\x06\x07\x08", 9, VF_WIRE_OK, 1, 1, 9},
    {"\x0A\x03hi", 4, VF_WIRE_CUT, 0, 0, 0},
    {"\x0D\x01\x02\x03", 4, VF_WIRE_CUT, 0, 0, 0},
    {"\x09\x01", 2, VF_WIRE_CUT, 0, 0, 0},
    {"\x08", 1, VF_WIRE_CUT, 0, 0, 0},
    {"\x80", 1, VF_WIRE_CUT, 0, 0, 0},
    {"\x00\x01", 2, VF_WIRE_VALUE, 0, 0, 0},                     /* field 0 */
    {"\x80\x80\x80\x80\x20\x01", 6, VF_WIRE_VALUE, 0, 0, 0},     /* field 2^30 */
    {"\x0B\x0C", 2, VF_WIRE_KIND, 0, 0, 0},                      /* a group */
    {"\x0E", 1, VF_WIRE_KIND, 0, 0, 0},
    {"\x0A\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", 11, VF_WIRE_CUT, 0, 0, 0},
    {"\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x02", 11, VF_WIRE_VALUE, 0, 0, 0},
    {"\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", 12, VF_WIRE_VALUE, 0, 0, 0},
};

START_TEST(test_fields)
{
    VfWire wire = {(const unsigned char *)field_case[_i].bytes, 0, field_case[_i].size};
    VfWireField field;
    ck_assert_int_eq(vf_wire_field(&wire, &field), field_case[_i].fault);
    ck_assert_uint_eq(wire.at, field_case[_i].end);
    ck_assert_str_ne(vf_wire_fault_text(field_case[_i].fault), "");
    if (field_case[_i].fault != VF_WIRE_OK)
        return;
    ck_assert_uint_eq(field.number, field_case[_i].field);
    ck_assert_uint_eq(field.payload, field_case[_i].payload);
    ck_assert_uint_eq(field.end, field_case[_i].end);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("onnx/wire");
    TCase *tcase = tcase_create("wire");
    tcase_add_loop_test(tcase, test_numbers, 0, (int)(sizeof number / sizeof number[0]));
    tcase_add_loop_test(tcase, test_fields, 0, (int)(sizeof field_case / sizeof field_case[0]));
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
