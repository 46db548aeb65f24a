/* Inputs and outputs that are no tensors of numbers: sequences, optionals, strings. */
#include "tests/support/check_main.h"
#include "tests/unit/lower/lower_case.h"

static const int64_t two[] = {2};
static const float ones[] = {1, 1}, twos[] = {2, 2}, threes[] = {3, 3};

#define ITEM {.dtype = VF_F32, .rank = 1, .dims = two}

static const VfBinding item[] = {ITEM, ITEM};
static const VfBinding sequence = {.kind = VF_BINDING_SEQUENCE, .n_item = 2, .item = item};
static const VfBinding none = {.kind = VF_BINDING_ABSENT};
static const VfBinding tensor = ITEM;

static VfBinding named(const char *name, VfBinding binding)
{
    binding.name = vf_bytes(name);
    return binding;
}

static const char append_text[] =
    "graph g (s: seq(f32[2]), e: f32[2]) -> (y: seq(f32[2]), n: i64[]) {\n"
    "    y = SequenceInsert(s, e)\n"
    "    n = SequenceLength(y)\n"
    "}\n";

START_TEST(sequences_pass_through)
{
    LowerCase c;
    const VfLowerOptions options = {.lists = true};
    const void *in[] = {ones, twos, threes};
    float out[3][2];
    int64_t n = 0;
    void *to[] = {out[0], out[1], out[2], &n};
    case_open(&c, append_text);
    VfBinding binding[] = {named("s", sequence), named("e", tensor)};
    ck_assert_msg(vf_lower(c.model, 2, binding, &options, c.arena, &c.plan, NULL, &c.err) == VF_OK,
                  "%s", c.err.text);
    ck_assert_int_eq(c.plan->n_input, 3);
    ck_assert_int_eq(c.plan->n_output, 4);
    ck_assert_int_eq(c.plan->n_result, 2);
    ck_assert_int_eq(c.plan->result[0].kind, VF_PLAN_SEQUENCE);
    ck_assert_int_eq(c.plan->result[0].n, 3);
    ck_assert_int_eq(c.plan->result[1].kind, VF_PLAN_TENSOR);
    ck_assert_int_eq(c.plan->result[1].first, 3);
    VfPool *pool = vf_pool_new(1);
    VfRun *run;
    ck_assert_int_eq(vf_run_new(c.plan, pool, &run, &c.err), VF_OK);
    ck_assert_int_eq(vf_run(run, in, to, NULL, &c.err), VF_OK);
    for (int i = 0; i < 3; i++)
        ck_assert_mem_eq(out[i], in[i], sizeof ones);
    ck_assert_int_eq(n, 3);
    vf_run_free(run);
    vf_pool_free(pool);
    case_close(&c);
}
END_TEST

typedef struct ListCase {
    const char *text, *words; /* words: of the message */
    const VfBinding *binding;
    VfLowerOptions options;
    VfStatus status;
} ListCase;

static const ListCase list_table[] = {
    {"graph g (x: seq(f32[2])) -> (y: seq(f32[2])) { y = Identity(x) }\n",
     "output 0, 'y', is no tensor of numbers", &sequence, {0}, VF_UNSUPPORTED},
    {"graph g (x: f32[2]) -> (y: f32[2]) { y = Neg(x) }\n",
     "input 'x' is a sequence, the model takes f32[2]", &sequence, {0}, VF_USAGE},
    {"graph g (x: seq(f32[2])) -> (y: i64[]) { y = SequenceLength(x) }\n",
     "input 'x' is a tensor, the model takes seq(f32[2])", &tensor, {0}, VF_USAGE},
    {"graph g (x: optional(f32[2])) -> (y: f32[2]) { y = OptionalGetElement(x) }\n",
     "an optional without a value", &none, {0}, VF_UNSUPPORTED},
    {"graph g (x: optional(f32[2])) -> (y: bool[]) { y = OptionalHasElement(x) }\n", "", &none,
     {0}, VF_OK},
    {"graph g (x: optional(f32[2])) -> (y: optional(f32[2])) { y = Identity(x) }\n", "", &none,
     {.lists = true}, VF_OK},
};

START_TEST(kinds_are_checked)
{
    const ListCase *row = &list_table[_i];
    LowerCase c;
    case_open(&c, row->text);
    VfBinding binding = named("x", *row->binding);
    VfStatus status = vf_lower(c.model, 1, &binding, &row->options, c.arena, &c.plan, NULL, &c.err);
    ck_assert_msg(status == row->status, "row %d: status %d, %s", _i, (int)status, c.err.text);
    ck_assert_msg(status == VF_OK || strstr(c.err.text, row->words) != NULL, "row %d: %s", _i,
                  c.err.text);
    case_close(&c);
}
END_TEST

typedef struct StringCase {
    const char *text;
    VfBytes word[2];
    VfStatus status;
    float want[2]; /* output 0 as f32 */
} StringCase;

#define CAST "graph g (x: string[2]) -> (y: f32[2]) { y = Cast(x) {to=1} }\n"

static const StringCase string_table[] = {
    {CAST, {{"1.5", 3}, {"-INF", 4}}, VF_OK, {1.5f, -INFINITY}},
    {CAST, {{"+2e-1", 5}, {"16777217", 8}}, VF_OK, {0.2f, 16777216}},
    {CAST, {{"1", 1}, {"0x10", 4}}, VF_INVALID, {0}},
    {CAST, {{"1", 1}, {" 2", 2}}, VF_INVALID, {0}},
    {CAST, {{"1", 1}, {"", 0}}, VF_INVALID, {0}},
    {CAST, {{"1", 1}, {"1\0002", 3}}, VF_INVALID, {0}},
    {"graph g (x: string[2]) -> (y: f32[2, 2]) {\n"
     "    a = const i64[1] {1}\n    c = Unsqueeze(x, a)\n"
     "    e = Equal(c, x)\n"
     "    y = Cast(e) {to=1}\n"
     "}\n",
     {{"a", 1}, {"b", 1}}, VF_OK, {1, 0}},
    {"graph g (x: string[2]) -> (y: string[2]) { y = Identity(x) }\n", {{"a", 1}, {"b", 1}},
     VF_UNSUPPORTED, {0}},
    {"graph g (x: string[2]) -> (y: string[2]) { y = Add(x, x) }\n", {{"a", 1}, {"b", 1}},
     VF_INVALID, {0}},
};

START_TEST(strings_are_known_to_the_plan)
{
    const StringCase *row = &string_table[_i];
    LowerCase c;
    float out[4] = {0};
    void *to[] = {out};
    const VfTensor value = {VF_STRING, 1, two, 2, 0, row->word, VF_STORAGE_LENT};
    VfBinding binding = {.name = vf_bytes("x"), .dtype = VF_STRING, .rank = 1, .dims = two,
                         .value = &value};
    case_open(&c, row->text);
    VfStatus status = vf_lower(c.model, 1, &binding, NULL, c.arena, &c.plan, NULL, &c.err);
    ck_assert_msg(status == row->status, "row %d: status %d, %s", _i, (int)status, c.err.text);
    if (status == VF_OK) {
        VfPool *pool = vf_pool_new(1);
        VfRun *run;
        ck_assert(c.plan->depends_on_values);
        ck_assert_int_eq(c.plan->n_input, 0);
        ck_assert_int_eq(vf_run_new(c.plan, pool, &run, &c.err), VF_OK);
        ck_assert_int_eq(vf_run(run, NULL, to, NULL, &c.err), VF_OK);
        ck_assert_mem_eq(out, row->want, sizeof row->want);
        vf_run_free(run);
        vf_pool_free(pool);
    }
    case_close(&c);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("lower/lists");
    TCase *tcase = tcase_create("lists");
    tcase_add_test(tcase, sequences_pass_through);
    tcase_add_loop_test(tcase, kinds_are_checked, 0,
                        (int)(sizeof list_table / sizeof *list_table));
    tcase_add_loop_test(tcase, strings_are_known_to_the_plan, 0,
                        (int)(sizeof string_table / sizeof *string_table));
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
