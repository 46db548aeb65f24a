/* Opset and IR versions: the new form of each operator that has one, and what is refused. */
#include "passes/opset/opset.h"

#include <stdio.h>
#include <string.h>

#include "passes/ir/vft.h"
#include "passes/ir/vft_print.h"
#include "passes/opset/forms.h"
#include "tests/support/check_main.h"

/* Nodes, the opsets, a part of the printed result or of the sentence of a refusal. Inputs: x, and
 * u of unknown rank. */
typedef struct Case {
    const char *nodes;
    int from, to;
    const char *graph, *refusal;
} Case;

static const Case cases[] = {
    {"y = Relu(x) @y", 7, 27, "y = Relu(x) @y", NULL},
    {"y = Relu(x) @y", 27, 7, "y = Relu(x) @y", NULL},
    {"y = Squeeze(x) {axes=[1]} @y", 11, 13, "y = Squeeze(x, y/axes) @y", NULL},
    {"y = Squeeze(x) @y", 11, 13, "y = Squeeze(x) @y", NULL},
    {"y = Squeeze(x) {axes=[0.5]} @y", 11, 13, NULL, "attribute 'axes' of Squeeze is of type"},
    {"y = Clip(x) {max=6} @y", 10, 11, NULL, "attribute 'max' of Clip is of type"},
    {"y = ReduceSum(x) {axes=ints []} @y", 11, 13, "y = ReduceSum(x, y/axes) @y", NULL},
    {"y = Unsqueeze(x) {axes=[0]} @y", 12, 21, "y = Unsqueeze(x, y/axes) @y", NULL},
    {"y = ReduceSum(x) {axes=[2], keepdims=0} @y", 12, 13, "y = ReduceSum(x, y/axes) {keepdims=0}",
     NULL},
    {"y = ReduceMean(x) {axes=[2]} @y", 13, 17, "y = ReduceMean(x) {axes=[2]} @y", NULL},
    {"y = ReduceMean(x) {axes=[2]} @y", 13, 18, "y = ReduceMean(x, y/axes) @y", NULL},
    {"y = ReduceMax(x) {axes=[2]} @y", 9, 18, "y = ReduceMax(x, y/axes) @y", NULL},
    {"y = Slice(x) {ends=[2], starts=[0]} @y", 9, 10, "y = Slice(x, y/starts, y/ends) @y", NULL},
    {"y = Slice(x) {axes=[2], ends=[2], starts=[0]} @y", 9, 13,
     "y = Slice(x, y/starts, y/ends, y/axes)", NULL},
    {"y = Clip(x) {max=6.0, min=0.0} @y", 10, 11, "y = Clip(x, y/min, y/max) @y", NULL},
    {"y = Clip(x) {max=6.0} @y", 10, 11, "y = Clip(x, _, y/max) @y", NULL},
    {"y = Clip(x) @y", 10, 11, "y = Clip(x) @y", NULL},
    {"y = Pad(x) {pads=[0, 0, 1, 0, 0, 1], value=2.0} @y", 10, 18, "y = Pad(x, y/pads, y/value) @y",
     NULL},
    {"y, i = TopK(x) {k=2} @y", 9, 11, "y, i = TopK(x, y/k) @y", NULL},
    {"y, z = Split(x) {axis=2, split=[1, 3]} @y", 12, 18, "y, z = Split(x, y/split) {axis=2} @y",
     NULL},
    {"y, z = Split(x) {axis=2} @y", 12, 17, "y, z = Split(x) {axis=2} @y", NULL},
    {"y, z = Split(x) {axis=2} @y", 12, 18, "y, z = Split(x) {axis=2, num_outputs=2} @y", NULL},
    {"y = Softmax(x) {axis=2} @y", 11, 13, "y = Softmax(x) {axis=2} @y", NULL},
    {"y = Softmax(x) {axis=-1} @y", 11, 13, "y = Softmax(x) {axis=2} @y", NULL},
    {"y = Softmax(x) @y", 11, 13, NULL, "'y' (Softmax): it goes over several axes at once"},
    {"y = Softmax(u) @y", 11, 13, NULL, "'y' (Softmax): the rank of its operand is not known"},
    {"y = Softmax(x) @y", 13, 12, "y = Softmax(x) {axis=2} @y", NULL},
    {"y = Softmax(x) {axis=1} @y", 17, 12, NULL, "it goes over several axes at once"},
    {"y = Dropout(x) {ratio=0.5} @y", 11, 13, "y = Dropout(x, y/ratio) @y", NULL},
    {"y, m = Dropout(x) @y\n    z = Identity(m) @z", 9, 13, NULL, "its mask is read"},
    {"y = Resize(x, s) {mode=\"nearest\"} @y", 10, 13,
     "y = Resize(x, y/roi, s) {mode=\"nearest\", coordinate_transformation_mode=\"asymmetric\", "
     "nearest_mode=\"floor\"} @y", NULL},
    {"q = const f32[3] {1, 1, 0.5}\n    y = Resize(x, q) {mode=\"nearest\"} @y", 10, 11,
     "nearest_mode=\"ceil\"} @y", NULL},
    {"q = const f32[3] {1, 2, 0.5}\n    y = Resize(x, q) {mode=\"nearest\"} @y", 10, 11, NULL,
     "it rounds otherwise where it shrinks than where it grows"},
    {"q = Neg(s)\n    y = Resize(x, q) {mode=\"nearest\"} @y", 10, 11, NULL,
     "its scales are not known"},
    {"y = Resize(x, _, s) {mode=\"linear\"} @y", 13, 12, NULL, "it omits an operand"},
    {"v = Reshape(x, t)\n    y = Gemm(v, v) {transB=1} @y", 13, 10, NULL, "it omits an operand"},
    {"q = Cast(x) {to=11}\n    y = Pow(x, q) @y", 13, 11, NULL,
     "'y' (Pow): it did not take operands of these dtypes there"},
    {"y = Mod(x, x) @y", 28, 27, NULL, "it takes no floats there without fmod"},
    {"y = Upsample(x, s) @y", 9, 13, NULL, "'y' (Upsample): it has quite another form there"},
    {"y = Gelu(x) @y", 20, 19, NULL, "'y' (Gelu): it came with opset 20"},
    {"y = Add(x, x) @y", 27, 7, "y = Add(x, x) @y", NULL},
    {"y = Equal(x, x) @y", 13, 7, NULL, "'y' (Equal): it did not take this dtype there"},
    {"y = Reshape(x, t) {allowzero=0} @y", 14, 13, "y = Reshape(x, t) @y", NULL},
    {"y = Reshape(x, t) {allowzero=1} @y", 14, 13, NULL, "'allowzero' came with opset 14"},
    {"y = Squeeze(x) @y", 13, 12, NULL, "'y' (Squeeze): it had another form before opset 13"},
    {"y = Mystery(x) @y", 13, 14, NULL, "the operator is not known"},
    {"y = other::Mystery(x) @y", 13, 14, "y = other::Mystery(x) @y", NULL},
    {"y = Relu(x) @y", 13, 28, NULL, "opset 28 is not within 7 to 27"},
    {"y = Relu(x) @y", 13, 6, NULL, "opset 6 is not within 7 to 27"},
};

static VfModel *parse(const char *text)
{
    VfErr err = {0};
    VfModel *model = NULL;
    VfStatus status = vf_vft_parse(vf_bytes(text), "test", &model, &err);
    ck_assert_msg(status == VF_OK, "%s\n%s", err.text, text);
    return model;
}

static const char *print(const VfModel *model)
{
    VfErr err = {0};
    VfText text;
    VfBytes done;
    vf_text_init(&text, model->arena);
    ck_assert_msg(vf_vft_print(model, (VfVftStyle){0}, &text, &err) == VF_OK, "%s", err.text);
    ck_assert_int_eq(vf_text_get(&text, &done, &err), VF_OK);
    return done.data;
}

START_TEST(forms)
{
    const Case *c = &cases[_i];
    VfErr err = {0};
    char text[1024], opset[32];
    snprintf(text, sizeof text,
             "model ir=8 opset=%d opset other=1\n\n"
             "graph g (x: f32[2, 1, 4], u: f32[...]) -> (y) {\n"
             "    t = const i64[2] {2, 4}\n    s = const f32[3] {1, 1, 2}\n    %s\n}\n",
             c->from, c->nodes);
    VfModel *model = parse(text);
    const char *before = print(model);
    VfJournal *journal = vf_journal_new(model);
    VfStatus status = vf_opset_change(model, c->to, NULL, journal, &err);
    const char *after = print(model);
    if (c->graph == NULL) {
        ck_assert_msg(status != VF_OK && status != VF_INTERNAL, "'%s': %d", c->nodes, status);
        ck_assert_msg(strstr(err.text, c->refusal) != NULL, "'%s' in '%s'", c->refusal, err.text);
        ck_assert_str_eq(before, after);
    } else {
        ck_assert_msg(status == VF_OK, "'%s': %s", c->nodes, err.text);
        ck_assert_msg(strstr(after, c->graph) != NULL, "lacks '%s':\n%s", c->graph, after);
        snprintf(opset, sizeof opset, "opset=%d", c->to);
        ck_assert_msg(strstr(after, opset) != NULL, "%s", after);
    }
    vf_model_free(model);
}
END_TEST

/* Every node that is in the way is told, not only the first. */
START_TEST(all_reasons_are_told)
{
    VfErr err = {0};
    VfModel *model = parse("model ir=8 opset=20\n\ngraph g (x: f32[2, 4]) -> (y) {\n"
                           "    a = Gelu(x) @a\n    b = Relu(a) @b\n    y = Mish(b) @y\n}\n");
    ck_assert_int_eq(vf_opset_change(model, 13, NULL, vf_journal_new(model), &err), VF_UNSUPPORTED);
    ck_assert_str_eq(err.text, "opset 20 cannot become 13 for 2 of the nodes: 'a' (Gelu): it came "
                               "with opset 20; 'y' (Mish): it came with opset 18");
    vf_model_free(model);
}
END_TEST

START_TEST(subgraphs_and_functions_follow)
{
    VfErr err = {0};
    VfModel *model = parse(
        "model ir=8 opset=12 opset my=1\n\n"
        "function my::f opset=12 (a) -> (b) {\n    b = Squeeze(a) {axes=[0]} @in_function\n}\n\n"
        "graph g (c: bool[], x: f32[1, 4]) -> (y) {\n    z = my::f(x) @z\n"
        "    y = If(c) {else_branch=graph e () -> (r) {\n"
        "        r = ReduceSum(x) {axes=[1]} @in_branch\n    }, then_branch=graph t () -> (q) {\n"
        "        q = Softmax(x) {axis=1} @q\n    }} @y\n}\n");
    VfStatus status = vf_opset_change(model, 13, NULL, vf_journal_new(model), &err);
    ck_assert_msg(status == VF_OK, "%s", err.text);
    const char *text = print(model);
    ck_assert_ptr_nonnull(strstr(text, "function my::f opset=13"));
    ck_assert_msg(strstr(text, "b = Squeeze(a, ") != NULL, "%s", text);
    ck_assert_msg(strstr(text, "r = ReduceSum(x, ") != NULL, "%s", text);
    vf_model_free(model);
}
END_TEST

/* Model, IR version asked for, part of the sentence of a refusal or NULL. */
static const struct {
    const char *text;
    int to;
    const char *refusal;
} ir[] = {
    {"model ir=8 opset=13\n\ngraph g (x: f32[2]) -> (y) {\n    y = Relu(x) @y\n}\n", 3, NULL},
    {"model ir=3 opset=13\n\ngraph g (x: f32[2]) -> (y) {\n    y = Relu(x) @y\n}\n", 13, NULL},
    {"model ir=8 opset=13\n\ngraph g (x: f32[2]) -> (y) {\n    y = Relu(x) @y\n}\n", 2,
     "IR version 2 is not within 3 to 13"},
    {"model ir=8 opset=13\n\ngraph g (x: f32[2]) -> (y) {\n    y = Relu(x) @y\n}\n", 14,
     "not within"},
    {"model ir=8 opset=13\n\ngraph g (x: bf16[2]) -> (y) {\n    y = Relu(x) @y\n}\n", 3,
     "IR version 3 cannot hold bfloat16: that needs 4"},
    {"model ir=8 opset=13 opset my=1\n\nfunction my::f opset=13 (a) -> (b) {\n"
     "    b = Relu(a) @b\n}\n\ngraph g (x: f32[2]) -> (y) {\n    y = my::f(x) @y\n}\n", 7,
     "IR version 7 cannot hold a function: that needs 8"},
};

START_TEST(ir_versions)
{
    VfErr err = {0};
    VfModel *model = parse(ir[_i].text);
    int64_t old = model->ir_version;
    VfStatus status = vf_ir_version_change(model, ir[_i].to, &err);
    ck_assert_msg((status == VF_OK) == (ir[_i].refusal == NULL), "row %d: %s", _i, err.text);
    if (ir[_i].refusal != NULL)
        ck_assert_msg(strstr(err.text, ir[_i].refusal) != NULL, "%s", err.text);
    ck_assert_int_eq(model->ir_version, status == VF_OK ? ir[_i].to : old);
    vf_model_free(model);
}
END_TEST

#define LOOP(tcase, test, rows) \
    tcase_add_loop_test(tcase, test, 0, (int)(sizeof rows / sizeof rows[0]))

static Suite *make_suite(void)
{
    Suite *suite = suite_create("opset");
    TCase *tests = tcase_create("opset");
    LOOP(tests, forms, cases);
    LOOP(tests, ir_versions, ir);
    tcase_add_test(tests, all_reasons_are_told);
    tcase_add_test(tests, subgraphs_and_functions_follow);
    suite_add_tcase(suite, tests);
    return suite;
}

VF_CHECK_MAIN(make_suite)
