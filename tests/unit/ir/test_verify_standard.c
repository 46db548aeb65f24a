/* What `check` alone finds, and what it finds behind faults of reading. */
#include "passes/ir/verify.h"

#include "passes/ir/attr_default.h"
#include "passes/ir/judge.h"
#include "tests/support/check_main.h"
#include "tests/unit/ir/vft_case.h"

#define IN_GRAPH(body) "graph g (x: f32[2], c: bool[], n: i64[]) -> (x) {\n" body "\n}\n"
#define ONE "graph b () -> (z) { z = Neg(x) }"
#define TWO "graph b () -> (z, x) { z = Neg(x) }"
#define TURN "graph b (i: i64[], d: bool[], s: f32[2]) -> (d2, s2) { d2 = Not(d) s2 = Neg(s) }"

/* A model, and what is said of it (NULL: nothing). */
static const char *const text_case[][2] = {
    {IN_GRAPH("y = Relu(x)"), NULL},
    {IN_GRAPH("y = Reluu(x) @n"), "node 'n' (#1): there is no operator Reluu"},
    {"model opset=29\n" IN_GRAPH("y = Reluu(x)"), NULL},
    {"model opset=17 opset d=1\n" IN_GRAPH("y = d::Odd(x) {a=1}"), NULL},
    {"function Own (x) -> (y) { y = Relu(x) }\n" IN_GRAPH("y = Own(x)"), NULL},
    {"function l::F (x) -> (y) { y = Odd(x) }\ngraph () -> () {}",
     "function 'F': node 'Odd#2' (#2): there is no operator Odd"},
    {IN_GRAPH("y = Relu(x) {slope=1.5}"), "Relu has no attribute 'slope'"},
    {IN_GRAPH("y = Relu(x) {__note=1}"), NULL},
    {IN_GRAPH("y = If(c) {else_branch=" ONE ", then_branch=graph t () -> (z) {\n"
              "z = Neg(x) {slope=1} }}"), "Neg has no attribute 'slope'"},
    {"model opset=13\n" IN_GRAPH("y = Shape(x) {start=1}"),
     "attribute 'start' of Shape came with opset 15, the model imports 13"},
    {"model opset=15\n" IN_GRAPH("y = Shape(x) {start=1}"), NULL},
    {"model opset=13\n" IN_GRAPH("y = Unsqueeze(x, n) {axes=[0]} @n"),
     "node 'n' (#1): Unsqueeze lost attribute 'axes' with opset 13, the model imports 13"},
    {"model opset=12\n" IN_GRAPH("y = Unsqueeze(x) {axes=[0]}"), NULL},
    {"model opset=17\n" IN_GRAPH("y = Relu(x) {consumed_inputs=[0]}"), NULL},
    {"model opset=17\n" IN_GRAPH("y = Upsample(x, x)"),
     "Upsample ended with opset 10, the model imports 17"},
    {"model opset=9\n" IN_GRAPH("y = Upsample(x, x) {mode=\"linear\"}"), NULL},
    {"model opset=11\n" IN_GRAPH("y = Scatter(x, n, x)"), "Scatter ended with opset 11"},
    {"model opset=10\n" IN_GRAPH("y = Scatter(x, n, x)"), NULL},
    {"model opset=18\n" IN_GRAPH("y = GroupNormalization(x, x, x) {num_groups=1}"), NULL},
    {"model opset=19\n" IN_GRAPH("y = Pad(x, n) {mode=\"wrap\"}"), NULL},
    {"model opset=18\n" IN_GRAPH("y = Pad(x, n) {mode=\"wrap\"}"),
     "attribute 'mode' of Pad is 'wrap', not one of constant, reflect, edge"},
    {IN_GRAPH("y = Pad(x, n) {mode=\"\"}"), "attribute 'mode' of Pad is ''"},
    {IN_GRAPH("y = Pad(x, n) {mode=\"edge, reflect\"}"), "attribute 'mode' of Pad is 'edge, refl"},
    {"model opset=20\n" IN_GRAPH("y = Gelu(x) {approximate=\"tan\"}"),
     "attribute 'approximate' of Gelu is 'tan', not one of none, tanh"},
    {"function l::F attr m (x, n) -> (y) { y = Pad(x, n) {mode=ref string m} }\n"
     IN_GRAPH(""), NULL},
    {IN_GRAPH("y = Constant() {value_int=1, value_float=2.0}"), "Constant has 2 values, needs one"},
    {IN_GRAPH("y = If(c) {then_branch=" ONE ", else_branch=graph b (\"\") -> (z) { z = Neg(x) }}"),
     NULL},
    {IN_GRAPH("y = Constant()"), "Constant has 0 values, needs one"},
    {IN_GRAPH("y = If(c) {else_branch=" ONE ", then_branch=" ONE "}"), NULL},
    {IN_GRAPH("y = If(c) {else_branch=" ONE ", then_branch=" TWO "}"),
     "graph 'then_branch' has 2 outputs, needs 1"},
    {IN_GRAPH("y = Loop(n, _, x) {body=" TURN "}"), NULL},
    {IN_GRAPH("y, z = Loop(n, _, x) {body=" TURN "}"), "graph 'body' has 2 outputs, needs 3"},
    {IN_GRAPH("y = Loop(n, _, x, x) {body=" TURN "}"), "graph 'body' has 3 inputs, needs 4"},
    {IN_GRAPH("y = Scan(x) {num_scan_inputs=1, body=graph b (e: f32[]) -> (e) {}}"), NULL},
    {IN_GRAPH("y = Scan(x, x) {num_scan_inputs=1, body=graph b (e: f32[]) -> (e) {}}"),
     "graph 'body' has 1 inputs, needs 2"},
    {"model opset=8\n"
     IN_GRAPH("y = Scan(_, x) {num_scan_inputs=1, body=graph b (e: f32[]) -> (e) {}}"), NULL},
};

static void expect(const VfFaults *faults, const char *want)
{
    ck_assert_msg(faults->n == (want != NULL), "%d faults, '%s'", (int)faults->n,
                  faults->n > 0 ? faults->text[0] : "");
    ck_assert_msg(want == NULL || strstr(faults->text[0], want) != NULL, "'%s' lacks '%s'",
                  faults->text[0], want);
}

START_TEST(texts_are_judged)
{
    VfModel *model = read_vft(text_case[_i][0]);
    VfFaults faults;
    ck_assert_int_eq(vf_verify_standard(model->arena, model, &faults, NULL), VF_OK);
    expect(&faults, text_case[_i][1]);
    vf_model_free(model);
}
END_TEST

static const struct {
    VfOp op;
    const char *name;
    int32_t until;
} lost[] = {
#define VF_ATTR_UNTIL(op, name, until) {VF_OP_##op, name, until},
#include "passes/ir/attr_until.def"
};

static VfStatus count(void *n_fault, const char *fault)
{
    (void)fault;
    ++*(int *)n_fault;
    return VF_OK;
}

/* In the opset that no longer has it, and not in the one before. */
START_TEST(every_attribute_that_ended_is_found)
{
    VfModel *model = read_vft(IN_GRAPH(""));
    VfNode node = {.op = lost[_i].op, .graph = model->graph};
    VfAttr attr = {.name = vf_bytes(lost[_i].name), .type = VF_ATTR_INT};
    int n_fault = 0;
    node.first_attr = &attr;
    ck_assert_int_eq(vf_judge_ended(&node, lost[_i].until - 1, count, &n_fault), VF_OK);
    ck_assert_int_eq(n_fault, 0);
    ck_assert_int_eq(vf_judge_ended(&node, lost[_i].until, count, &n_fault), VF_OK);
    ck_assert_int_eq(n_fault, 1);
    ck_assert_ptr_nonnull(vf_attr_default_find(node.op, attr.name, 1));
    vf_model_free(model);
}
END_TEST

static const struct {
    VfOp op;
    const char *name;
    int32_t since;
} words[] = {
#define VF_ATTR_WORDS(op, name, since, words) {VF_OP_##op, name, since},
#include "passes/ir/attr_words.def"
};

/* Each row is of a string attribute, whose default is one of its words and of which "?" is none. */
START_TEST(every_word_row_is_of_an_attribute)
{
    VfModel *model = read_vft(IN_GRAPH(""));
    VfNode node = {.op = words[_i].op, .graph = model->graph};
    VfAttr attr = {.name = vf_bytes(words[_i].name), .type = VF_ATTR_STRING, .s = vf_bytes("?")};
    const VfAttrDefault *row = vf_attr_default_find(node.op, attr.name, words[_i].since);
    int n_fault = 0;
    node.first_attr = &attr;
    ck_assert_ptr_nonnull(row);
    ck_assert_int_eq(row->type, VF_ATTR_STRING);
    ck_assert_int_eq(vf_judge_words(&node, words[_i].since, count, &n_fault), VF_OK);
    ck_assert_int_eq(n_fault, 1);
    attr.s = vf_bytes(row->has_value ? row->s : "?");
    ck_assert_int_eq(vf_judge_words(&node, words[_i].since, count, &n_fault), VF_OK);
    ck_assert_int_eq(n_fault, row->has_value ? 1 : 2);
    vf_model_free(model);
}
END_TEST

/* Also when the reader found faults, and nodes alone are looked at. */
START_TEST(recursion_is_found_among_nodes)
{
    VfModel *model = read_vft("function l::F (x) -> (y) { y = l::F(x) }\ngraph () -> () {}");
    VfFaults faults;
    ck_assert_int_eq(vf_verify_nodes(model->arena, model, &faults, NULL), VF_OK);
    expect(&faults, "function 'F' calls itself");
    vf_model_free(model);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("verify/standard");
    TCase *tcase = tcase_create("cases");
    tcase_add_loop_test(tcase, texts_are_judged, 0, sizeof text_case / sizeof text_case[0]);
    tcase_add_loop_test(tcase, every_attribute_that_ended_is_found, 0,
                        sizeof lost / sizeof lost[0]);
    tcase_add_loop_test(tcase, every_word_row_is_of_an_attribute, 0,
                        sizeof words / sizeof words[0]);
    tcase_add_test(tcase, recursion_is_found_among_nodes);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
