#include <jansson.h>
#include <math.h>
#include <string.h>

#include "converter/report/json.h"
#include "converter/report/table.h"
#include "tests/support/arena_case.h"

START_TEST(documents_have_one_form)
{
    VfJson json;
    VfBytes text;
    vf_json_begin(&json, arena, "test.1");
    vf_json_int(&json, "a", -3);
    vf_json_array_row(&json, "row");
    vf_json_bool(&json, NULL, true);
    vf_json_null(&json, NULL);
    vf_json_end(&json);
    vf_json_array(&json, "list");
    vf_json_object_row(&json, NULL);
    vf_json_string(&json, "s", "x\"y");
    vf_json_array(&json, "inner");
    vf_json_end(&json);
    vf_json_end(&json);
    vf_json_string(&json, NULL, NULL);
    vf_json_end(&json);
    vf_json_object(&json, "none");
    vf_json_end(&json);
    ck_assert_int_eq(vf_json_finish(&json, &text, NULL), VF_OK);
    ck_assert_str_eq(text.data, "{\n"
                                "  \"schema\": \"test.1\",\n"
                                "  \"a\": -3,\n"
                                "  \"row\": [true, null],\n"
                                "  \"list\": [\n"
                                "    {\"s\": \"x\\\"y\", \"inner\": []},\n"
                                "    null\n"
                                "  ],\n"
                                "  \"none\": {}\n"
                                "}\n");
}
END_TEST

START_TEST(any_number_and_any_bytes_are_valid)
{
    static const double value[] = {0.1, 1e300, -1.5, 0, 5e-324, 1.0 / 3};
    VfJson json;
    VfBytes text;
    json_error_t error;
    vf_json_begin(&json, arena, "test.1");
    vf_json_array(&json, "numbers");
    for (size_t i = 0; i < sizeof value / sizeof value[0]; i++)
        vf_json_double(&json, NULL, value[i]);
    vf_json_end(&json);
    vf_json_double(&json, "nan", (double)NAN);
    vf_json_double(&json, "inf", -(double)INFINITY);
    vf_json_bytes(&json, "bytes", (VfBytes){"\xff\0\n\xe2\x82\xac", 6});
    ck_assert_int_eq(vf_json_finish(&json, &text, NULL), VF_OK);
    json_t *document = json_loads(text.data, JSON_ALLOW_NUL, &error);
    ck_assert_msg(document != NULL, "%s", error.text);
    for (size_t i = 0; i < sizeof value / sizeof value[0]; i++) {
        json_t *row = json_array_get(json_object_get(document, "numbers"), i);
        ck_assert_double_eq(json_number_value(row), value[i]);
    }
    ck_assert_str_eq(json_string_value(json_object_get(document, "nan")), "nan");
    ck_assert_str_eq(json_string_value(json_object_get(document, "inf")), "-inf");
    json_t *bytes = json_object_get(document, "bytes");
    ck_assert_uint_eq(json_string_length(bytes), 9);
    ck_assert_int_eq(memcmp(json_string_value(bytes), "\\xff\0\n\xe2\x82\xac", 9), 0);
    json_decref(document);
}
END_TEST

START_TEST(an_open_document_is_a_fault)
{
    VfJson json;
    VfBytes text;
    vf_json_begin(&json, arena, "test.1");
    vf_json_array(&json, "list");
    ck_assert_int_eq(vf_json_finish(&json, &text, NULL), VF_INTERNAL);
}
END_TEST

START_TEST(tables_are_aligned)
{
    VfTable table;
    VfText text;
    vf_table_init(&table, arena, "lrl");
    static const char *const cell[] = {"name", "n", "x", "a\xc3\xa9", "10", "last", "longer", "9",
                                       "\x01"};
    for (size_t i = 0; i < sizeof cell / sizeof cell[0]; i++)
        vf_table_printf(&table, "%s", cell[i]);
    vf_text_init(&text, arena);
    vf_table_print(&table, 1, &text);
    ck_assert_str_eq(text.data, " name     n  x\n"
                                " a\xc3\xa9      10  last\n"
                                " longer   9  \\x01\n");
}
END_TEST

START_TEST(counts_are_scaled)
{
    static const struct {
        double value;
        const char *count, *bytes;
    } row[] = {{0, "0", "0 B"},
               {999, "999", "999 B"},
               {1024, "1.02 k", "1.00 KiB"},
               {23400000, "23.4 M", "22.3 MiB"},
               {1.5e12, "1.50 T", "1.36 TiB"}};
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        VfText text;
        vf_text_init(&text, arena);
        vf_text_count(&text, row[i].value);
        ck_assert_str_eq(text.data, row[i].count);
        vf_text_init(&text, arena);
        vf_text_bytes(&text, row[i].value);
        ck_assert_str_eq(text.data, row[i].bytes);
    }
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("json");
    TCase *tests = tcase_create("json");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, documents_have_one_form);
    tcase_add_test(tests, any_number_and_any_bytes_are_valid);
    tcase_add_test(tests, an_open_document_is_a_fault);
    tcase_add_test(tests, tables_are_aligned);
    tcase_add_test(tests, counts_are_scaled);
    suite_add_tcase(suite, tests);
    return suite;
}

VF_CHECK_MAIN(make_suite)
