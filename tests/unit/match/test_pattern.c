#include "passes/match/pattern.h"

#include <stdio.h>

#include "tests/support/check_main.h"
#include "tests/unit/ir/vft_case.h"

static const VfPattern relu = VF_PAT_OP1(RELU, VF_PAT_ANY(1));
static const VfPattern relu_open = {
    .kind = VF_PATTERN_OP, .op = VF_OP_RELU, .is_open = true, .n_in = 1, .in = {VF_PAT_ANY(1)}};
static const VfPattern scaled = VF_PAT_OP2(MUL, &relu, VF_PAT_SCALAR(2));
static const VfPattern doubled = VF_PAT_OP2(MUL, &relu, VF_PAT_NUMBER(2.0));
static const VfPattern halved = VF_PAT_OP2(DIV, &relu, VF_PAT_NUMBER(2.0));
static const VfPattern by_const = VF_PAT_OP2(MUL, &relu, VF_PAT_CONST(2));
static const VfPattern squared = VF_PAT_OP2(MUL, &relu, &relu);
static const VfPattern with_x = VF_PAT_OP2(MUL, &relu, VF_PAT_ANY(1));
static const VfPattern open_scaled = VF_PAT_OP2(MUL, &relu_open, VF_PAT_SCALAR(2));
static const VfPattern either = {
    .kind = VF_PATTERN_ALT, .choice = 3, .n_in = 3, .in = {&doubled, &halved, &squared}};
static const VfPattern clip_one = {.kind = VF_PATTERN_OP,
                                   .op = VF_OP_CLIP,
                                   .is_exact = true,
                                   .n_in = 2,
                                   .in = {VF_PAT_ANY(1), VF_PAT_ANY(2)}};
static const VfPattern clip_three = {
    .kind = VF_PATTERN_OP, .op = VF_OP_CLIP, .n_in = 3, .in = {VF_PAT_ANY(1), NULL, VF_PAT_ANY(3)}};
static const VfPattern second = {
    .kind = VF_PATTERN_OP, .op = VF_OP_SPLIT, .index = 1, .n_in = 1, .in = {VF_PAT_ANY(1)}};

/* Columns: graph body, pattern tried at value "y", the nearest miss. */
typedef struct Row {
    const char *body;
    const VfPattern *pattern;
    const char *miss; /* NULL: matches */
} Row;

static const Row row[] = {
    {"k = const f32[] {2}; r = Relu(x) @r; y = Mul(r, k) @m", &scaled, NULL},
    {"k = const f32[] {2}; r = Relu(x) @r; y = Mul(k, r) @m", &scaled, NULL},
    {"k = const f32[2] {2, 2}; r = Relu(x) @r; y = Mul(r, k) @m", &scaled, NULL},
    {"k = const f32[2] {2, 3}; r = Relu(x) @r; y = Mul(r, k) @m", &scaled,
     "operand 'k' of 'm' is not one number"},
    {"k = const f32[2] {2, 3}; r = Relu(x) @r; y = Mul(k, r) @m", &by_const, NULL},
    {"k = Abs(x) @k; r = Relu(x) @r; y = Mul(k, r) @m", &by_const,
     "operand 'k' of 'm' is not constant"},
    {"k = const f32[] {2}; r = Relu(x) @r; y = Mul(k, r) @m", &doubled, NULL},
    {"k = const f32[] {3}; r = Relu(x) @r; y = Mul(k, r) @m", &doubled,
     "operand 'k' of 'm' is not 2"},
    {"k = const f32[] {2}; r = Relu(x) @r; y = Div(k, r) @m", &halved,
     "'m' wants a Relu where 'k' is no node's result"},
    {"k = const f32[] {2}; r = Abs(x) @r; y = Mul(k, r) @m", &doubled,
     "'m' wants a Relu where 'k' is no node's result"},
    {"k = const f32[] {2}; r = Abs(x) @r; y = Mul(r, k) @m", &doubled,
     "'m' wants a Relu where 'r' is made by 'r'"},
    {"r = Relu(x) @r; y = Mul(r, r) @m", &squared, NULL},
    {"r = Relu(x) @r; s = Relu(x) @s; y = Mul(r, s) @m", &squared,
     "'m' reads 's', another value than the rest of the site"},
    {"r = Relu(x) @r; y = Mul(r, x) @m", &with_x, NULL},
    {"r = Relu(x) @r; y = Mul(x, r) @m", &with_x, NULL},
    {"a = Abs(x) @a; r = Relu(x) @r; y = Mul(r, a) @m", &with_x,
     "'m' reads 'a', another value than the rest of the site"},
    {"k = const f32[] {2}; r = Relu(x) @r; y = Mul(r, k) @m; z = Abs(r) @z", &scaled,
     "'r' inside the site is also used outside of it"},
    {"k = const f32[] {2}; r = Relu(x) @r; y = Mul(r, k) @m; z = Abs(r) @z", &open_scaled, NULL},
    {"k = const f32[] {2}; z = Relu(x) @r; y = Mul(z, k) @m", &scaled,
     "'z' inside the site is also used outside of it"},
    {"k = const f32[] {0}; y = Clip(x, k) @c", &clip_one, NULL},
    {"k = const f32[] {0}; y = Clip(x, k, k) @c", &clip_one,
     "'c' has another number of operands than expected"},
    {"k = const f32[] {0}; y = Clip(x, _, k) @c", &clip_three, NULL},
    {"k = const f32[] {0}; y = Clip(x, k) @c", &clip_three,
     "'c' has another number of operands than expected"},
    {"p = const i64[2] {1, 1}; a, y = Split(x, p) @s", &second, NULL},
    {"p = const i64[2] {1, 1}; y, a = Split(x, p) @s", &second,
     "'s' wants a Split where 'y' is made by 's'"},
};

/* The graph of statements separated by ';'; "z" is an output too if there is one. */
static VfModel *model_of(const char *body)
{
    char text[1024];
    const char *z = strstr(body, "z = ") != NULL ? ", z" : "";
    snprintf(text, sizeof text, "model ir=8 opset=17\ngraph g (x: f32[2]) -> (y%s) {\n", z);
    char *to = text + strlen(text);
    for (const char *from = body; *from != '\0'; from++)
        *to++ = *from == ';' ? '\n' : *from;
    memcpy(to, "\n}\n", 4);
    return read_vft(text);
}

START_TEST(row_matches)
{
    VfModel *model = model_of(row[_i].body);
    VfMatch match;
    bool is_match = vf_pattern_match(row[_i].pattern, find_value(model, "y"), &match);
    const char *miss = vf_match_miss(model->arena, &match);
    ck_assert_msg(is_match == (row[_i].miss == NULL), "%s: %s", row[_i].body,
                  miss ? miss : "matches");
    if (row[_i].miss != NULL)
        ck_assert_msg(strcmp(miss, row[_i].miss) == 0, "%s: %s", row[_i].body, miss);
    else
        ck_assert_ptr_null(miss);
    vf_model_free(model);
}
END_TEST

START_TEST(binds_slots_choice_and_nodes)
{
    VfModel *model = model_of("k = const f32[] {2}; r = Relu(x) @r; y = Div(r, k) @m");
    VfMatch match;
    ck_assert(vf_pattern_match(&either, find_value(model, "y"), &match));
    ck_assert_int_eq(match.choice[3], 1);
    ck_assert_ptr_eq(match.slot[1], find_value(model, "x"));
    ck_assert_ptr_eq(vf_match_node(&match, &relu), find_def(model, "r"));
    ck_assert_ptr_null(vf_match_node(&match, &doubled));
    ck_assert_ptr_eq(match.node[0], find_def(model, "y"));
    ck_assert_int_eq(match.n_node, 2);
    vf_model_free(model);
}
END_TEST

START_TEST(failed_attempts_leave_no_bindings)
{
    VfModel *model = model_of("r = Relu(x) @r; y = Mul(r, r) @m");
    VfMatch match;
    ck_assert(vf_pattern_match(&either, find_value(model, "y"), &match));
    ck_assert_int_eq(match.choice[3], 2);
    ck_assert_int_eq(match.n_node, 2);
    ck_assert_ptr_null(match.slot[2]);
    vf_model_free(model);
}
END_TEST

START_TEST(open_match_allows_readers)
{
    VfModel *model =
        model_of("k = const f32[] {2}; r = Relu(x) @r; y = Mul(r, k) @m; z = Abs(r) @z");
    VfMatch match;
    ck_assert(!vf_pattern_match(&scaled, find_value(model, "y"), &match));
    ck_assert(vf_pattern_match_open(&scaled, find_value(model, "y"), &match));
    vf_model_free(model);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("pattern");
    TCase *cases = tcase_create("pattern");
    tcase_add_loop_test(cases, row_matches, 0, (int)(sizeof row / sizeof row[0]));
    tcase_add_test(cases, binds_slots_choice_and_nodes);
    tcase_add_test(cases, failed_attempts_leave_no_bindings);
    tcase_add_test(cases, open_match_allows_readers);
    suite_add_tcase(suite, cases);
    return suite;
}

VF_CHECK_MAIN(make_suite)
