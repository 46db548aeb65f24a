#include <string.h>

#include "runtime/base/option.h"
#include "tests/support/check_main.h"

typedef struct Target {
    bool flag;
    int64_t number, loud;
    size_t bytes;
    double real;
    const char *text;
    int choice;
    VfOptionList list;
    VfOptionMaybe json;
} Target;

static const VfOption table[] = {
    {"flag", "a flag", VF_OPTION_BOOL, offsetof(Target, flag), .letter = 'f'},
    {"number", "a number", VF_OPTION_INT, offsetof(Target, number), "3", -5, 5, .letter = 'n'},
    {"bytes", "a size", VF_OPTION_SIZE, offsetof(Target, bytes), "4k"},
    {"real", "a real", VF_OPTION_DOUBLE, offsetof(Target, real), "0.5", 0, 2},
    {"text", "a text", VF_OPTION_STRING, offsetof(Target, text)},
    {"choice", "a choice", VF_OPTION_CHOICE, offsetof(Target, choice), "two",
     .choices = "one|two|three"},
    {"list", "a list", VF_OPTION_LIST, offsetof(Target, list), .letter = 'l'},
    {"json", "a report", VF_OPTION_MAYBE, offsetof(Target, json), .choices = ".json"},
    {"verbose", "more", VF_OPTION_COUNT_UP, offsetof(Target, loud), .letter = 'v'},
    {0},
};

static VfArena *arena;
static Target target;
static VfOptionList operands;
static VfErr err;

static void set_up(void)
{
    arena = vf_arena_new();
    operands = (VfOptionList){0};
    ck_assert_int_eq(vf_option_defaults(table, &target, arena, NULL), VF_OK);
}

static void tear_down(void)
{
    vf_arena_free(arena);
}

/* All values in the order of the table, "|" between. */
static const char *spelled(void)
{
    VfText text;
    vf_text_init(&text, arena);
    for (const VfOption *row = table; row->name != NULL; row++) {
        vf_text_string(&text, row == table ? "" : "|");
        vf_option_print(row, &target, &text);
    }
    return text.data;
}

/* "key=value" text, values then or the sentence of the mistake. */
static const struct {
    const char *text, *values, *mistake;
} pair_row[] = {
    {"", "false|3|4096|0.5||two|||0", NULL},
    {"flag", "true|3|4096|0.5||two|||0", NULL},
    {"flag=no,number=-5", "false|-5|4096|0.5||two|||0", NULL},
    {"bytes=2M,real=1e-3,choice=three", "false|3|2097152|0.001||three|||0", NULL},
    {"list=0-5,9,flag", "true|3|4096|0.5||two|0-5,9||0", NULL},
    {"text=a,b,number=1", "false|1|4096|0.5|a,b|two|||0", NULL},
    {"list=,x", "false|3|4096|0.5||two|,x||0", NULL},
    {"number=6", NULL, "pass 'p': option 'number': 6 is not within -5 to 5"},
    {"number=x", NULL, "pass 'p': option 'number': 'x' is not an integer"},
    {"number=99999999999999999999", NULL,
     "pass 'p': option 'number': '99999999999999999999' is not an integer"},
    {"real=nan", NULL, "pass 'p': option 'real': 'nan' is not a number"},
    {"real=", NULL, "pass 'p': option 'real': '' is not a number"},
    {"bytes=-1", NULL, "pass 'p': option 'bytes': '-1' is not a size in bytes"},
    {"bytes=99999999999G", NULL, "pass 'p': option 'bytes': '99999999999G' is not a size in bytes"},
    {"choice=tw", NULL, "pass 'p': option 'choice': 'tw' is not one of one|two|three"},
    {"flag=maybe", NULL, "pass 'p': option 'flag': 'maybe' is neither true nor false"},
    {"nubmer=1", NULL, "pass 'p': unknown option 'nubmer', did you mean 'number'"},
    {"zzz=1", NULL, "pass 'p': unknown option 'zzz'"},
    {"number", NULL, "pass 'p': option 'number' needs a value"},
    {"number=1,2", NULL, "pass 'p': unknown option '2'"},
};

START_TEST(pairs)
{
    VfStatus status = vf_option_parse(table, (VfBytes){pair_row[_i].text,
                                      strlen(pair_row[_i].text)}, "pass 'p'", &target, arena, &err);
    ck_assert_int_eq(status, pair_row[_i].mistake == NULL ? VF_OK : VF_USAGE);
    if (pair_row[_i].mistake == NULL)
        ck_assert_str_eq(spelled(), pair_row[_i].values);
    else
        ck_assert_str_eq(err.text, pair_row[_i].mistake);
}
END_TEST

/* Words, operands, values then or the mistake. */
static const struct {
    const char *word[6];
    const char *operands, *values, *mistake;
} word_row[] = {
    {{"a", "--flag", "b"}, "a b", "true|3|4096|0.5||two|||0", NULL},
    {{"--number", "-2", "a"}, "a", "false|-2|4096|0.5||two|||0", NULL},
    {{"--number=2", "--", "--flag"}, "--flag", "false|2|4096|0.5||two|||0", NULL},
    {{"-fvv", "-n4", "-v"}, "", "true|4|4096|0.5||two|||3", NULL},
    {{"-l", "x", "--list=y,z", "-"}, "-", "false|3|4096|0.5||two|x,y,z||0", NULL},
    {{"--json", "m.onnx"}, "m.onnx", "false|3|4096|0.5||two|||0", NULL},
    {{"--json", "m.json", "x"}, "x", "false|3|4096|0.5||two||m.json|0", NULL},
    {{"--json=m.txt"}, "", "false|3|4096|0.5||two||m.txt|0", NULL},
    {{"--json", "-"}, "", "false|3|4096|0.5||two||-|0", NULL},
    {{"--flag=no"}, "", "false|3|4096|0.5||two|||0", NULL},
    {{"--number"}, NULL, NULL, "option '--number' needs a value"},
    {{"--nunber=1"}, NULL, NULL, "unknown option '--nunber', did you mean '--number'"},
    {{"-x"}, NULL, NULL, "unknown option '-x'"},
    {{"--real", "3"}, NULL, NULL, "option 'real': 3 is not within 0 to 2"},
};

START_TEST(words)
{
    char *word[6];
    int n = 0;
    for (; n < 6 && word_row[_i].word[n] != NULL; n++)
        word[n] = vf_arena_string(arena, word_row[_i].word[n]);
    VfStatus status = vf_option_parse_words(table, n, word, &target, &operands, arena, &err);
    ck_assert_int_eq(status, word_row[_i].mistake == NULL ? VF_OK : VF_USAGE);
    if (word_row[_i].mistake != NULL) {
        ck_assert_str_eq(err.text, word_row[_i].mistake);
        return;
    }
    ck_assert_str_eq(spelled(), word_row[_i].values);
    VfText joined;
    vf_text_init(&joined, arena);
    vf_text_string(&joined, "");
    for (size_t i = 0; i < operands.n_item; i++)
        vf_text_printf(&joined, "%s%s", i == 0 ? "" : " ", operands.item[i]);
    ck_assert_str_eq(joined.data, word_row[_i].operands);
}
END_TEST

START_TEST(maybe_knows_that_it_was_given)
{
    ck_assert(!target.json.is_given);
    char *word[] = {vf_arena_string(arena, "--json")};
    ck_assert_int_eq(vf_option_parse_words(table, 1, word, &target, &operands, arena, NULL), VF_OK);
    ck_assert(target.json.is_given);
    ck_assert_ptr_null(target.json.value);
}
END_TEST

START_TEST(help_has_every_row)
{
    VfText text;
    vf_text_init(&text, arena);
    vf_option_help(table, true, &text);
    ck_assert_ptr_nonnull(strstr(text.data, "  -f, --flag\n      a flag\n"));
    ck_assert_ptr_nonnull(strstr(text.data, "  -n, --number N\n      a number (default 3)\n"));
    ck_assert_ptr_nonnull(strstr(text.data, "  --choice one|two|three\n"));
    ck_assert_ptr_nonnull(strstr(text.data, "  --json[=FILE]\n"));
    vf_text_init(&text, arena);
    vf_option_help(table, false, &text);
    ck_assert_ptr_nonnull(strstr(text.data, "  number=N\n"));
}
END_TEST

START_TEST(a_default_that_breaks_its_row_is_our_fault)
{
    static const VfOption broken[] = {
        {"number", "", VF_OPTION_INT, offsetof(Target, number), "9", 0, 5},
        {0},
    };
    ck_assert_int_eq(vf_option_defaults(broken, &target, arena, &err), VF_INTERNAL);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("option");
    TCase *tests = tcase_create("option");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_loop_test(tests, pairs, 0, (int)(sizeof pair_row / sizeof pair_row[0]));
    tcase_add_loop_test(tests, words, 0, (int)(sizeof word_row / sizeof word_row[0]));
    tcase_add_test(tests, maybe_knows_that_it_was_given);
    tcase_add_test(tests, help_has_every_row);
    tcase_add_test(tests, a_default_that_breaks_its_row_is_our_fault);
    suite_add_tcase(suite, tests);
    return suite;
}

VF_CHECK_MAIN(make_suite)
