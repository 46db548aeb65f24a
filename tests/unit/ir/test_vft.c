#include "passes/ir/vft.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "passes/ir/equal.h"
#include "passes/ir/verify.h"
#include "tests/support/check_main.h"
#include "tests/unit/ir/vft_case.h"

/* The text of a file of testdata/vft; the caller frees it. */
static char *read_file(const char *name)
{
    const char *root = getenv("VITFOLD_SOURCE");
    char path[4096];
    snprintf(path, sizeof path, "%s/testdata/vft/%s", root != NULL ? root : ".", name);
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "cannot open %s", path);
    char *text = calloc(1, 1 << 16);
    ck_assert_uint_gt(fread(text, 1, (1 << 16) - 1, file), 0);
    fclose(file);
    return text;
}

static void check_round_trip(const char *text)
{
    VfErr why = {.status = VF_OK};
    VfModel *a = read_vft(text);
    const char *first = write_vft(a);
    VfModel *b = read_vft(first);
    ck_assert_str_eq(first, write_vft(b));
    ck_assert_msg(vf_model_is_equal(a, b, &why), "%s", why.text);
    vf_model_free(a);
    vf_model_free(b);
}

START_TEST(all_forms_come_back)
{
    char *text = read_file("all_forms.vft");
    check_round_trip(text);
    free(text);
}
END_TEST

/* Texts in the form the printer gives them. */
static const char *const canonical_case[] = {
    "model ir=8 opset=17\n\ngraph (x: f32[2]) -> (y: f32[2]) {\n    y = Relu(x)\n}\n",
    "model ir=8 opset=17\n\ngraph () -> () {\n}\n",
    "model ir=8 opset=17\n\ngraph g () -> (c: f32[2]) {\n    c = const f32[2] {0.1, 1e-45}\n}\n",
    "model ir=3 opset=9 opset ml=2\n\ngraph (x: ?[...]) -> (x) {\n}\n",
    "model ir=8 opset=17\n\ngraph (x: f32[], n: f32[]) -> (z = _1) {\n    _1 = Add(x, n)\n}\n",
    "model ir=8 opset=17\n\ngraph (x: f32[\"1\", \"+\", a+b, \"a b\"]) -> (x) {\n}\n",
    "model ir=8 opset=17\n\ngraph (x: f32[]) -> (y) {\n    y, _ = Split(x) @\"a b\"\n}\n",
    "model ir=8 opset=17\n\ngraph (a-b: f32[], \"a->b\": f32[]) -> (a-b) {\n}\n",
};

START_TEST(canonical_text_stays)
{
    VfModel *model = read_vft(canonical_case[_i]);
    ck_assert_str_eq(write_vft(model), canonical_case[_i]);
    vf_model_free(model);
}
END_TEST

#define IN_GRAPH(body) "graph (x: f32[2]) -> (x) {\n" body "\n}\n"
#define IN_CONST(data) IN_GRAPH("c = const " data)

/* text, what the message must hold */
static const char *const fault_case[][2] = {
    {"graph (a-b: f32[], a->b: f32[]) -> (a-b) {}", "case:1:21: expected ')', found '->'"},
    {"", "case:1:1: expected model, function or graph"},
    {"graph", "case:1:6: expected '(', found the end"},
    {"graph (x: f32[2]) -> (y) {\n}", "case:1:23: output 'y' is no value of the graph"},
    {"graph (x) -> (x) {} graph", "case:1:21: expected the end"},
    {"graph (x, x) -> (x) {}", "defined twice"},
    {"graph (x: f33[2]) -> (x) {}", "case:1:11: expected a type"},
    {"graph (x: f32[-2]) -> (x) {}", "negative"},
    {"graph (x: f32[2x]) -> (x) {}", "expected an integer"},
    {"graph (x: f32[\"\"]) -> (x) {}", "must not be empty"},
    {"graph (x: f32[99999999999999999999]) -> (x) {}", "does not fit 64 bits"},
    {"graph (_) -> (x) {}", "an input needs a name"},
    {"graph (x) -> (y = _) {}", "an output must be a value"},
    {"model ir=x graph () -> () {}", "case:1:10: expected an integer, found 'x'"},
    {IN_GRAPH("y = Relu(z)"), "case:2:10: no value is named 'z' here"},
    {IN_GRAPH("y = Relu(y)"), "no value is named 'y' here"},
    {IN_GRAPH("y = Relu(%7)"), "no value is named '7' here"},
    {IN_GRAPH("x = Relu(x)"), "name 'x' is defined twice"},
    {IN_GRAPH("y = Relu(x"), "expected ')'"},
    {IN_GRAPH("y = Relu(x) {a=}"), "expected a number"},
    {IN_GRAPH("y = Relu(x) {a=[]}"), "an empty list needs its type"},
    {IN_GRAPH("y = Relu(x) {a=[1, \"b\"]}"), "different types"},
    {IN_GRAPH("y = Relu(x) {a=ints [1.5]}"), "different types"},
    {IN_GRAPH("y = Relu(x) {a=int 1.5}"), "not of type int"},
    {IN_GRAPH("y = Relu(x) {a=ref thing b}"), "expected the type of an attribute"},
    {IN_GRAPH("y = Relu(x) [note=1]"), "expected doc, meta, raw, info or tensor"},
    {IN_GRAPH("y = Relu(x) [raw=0x0]"), "expected bytes"},
    {IN_GRAPH("y = Relu(x) [raw=0xgg]"), "no hexadecimal digit"},
    {IN_GRAPH("y = Relu(x) @"), "expected the name of a node"},
    {IN_GRAPH("a, b = const f32[] {1}"), "a constant needs one name"},
    {IN_GRAPH("_ = const f32[] {1}"), "a constant needs one name"},
    {IN_GRAPH("y = \"abc"), "a string is not closed"},
    {IN_GRAPH("y = \"a\\q\"(x)"), "an escape"},
    {IN_GRAPH("y = Relu(x) \x01"), "byte 0x01"},
    {IN_GRAPH("% = Relu(x)"), "no number follows %"},
    {IN_CONST("f32[2] {1}"), "expected ','"},
    {IN_CONST("f32[1] {1, 2}"), "expected '}'"},
    {IN_CONST("f32[n] {1}"), "plain numbers for its shape"},
    {IN_CONST("f32[1] {abc}"), "expected a number, found 'abc'"},
    {IN_CONST("f32[1] {1.5.5}"), "expected a number, found '1.5.5'"},
    {IN_CONST("f32[1] {nan:0x1}"), "no nan"},
    {IN_CONST("i8[1] {128}"), "128 does not fit i8"},
    {IN_CONST("u8[1] {-1}"), "-1 does not fit u8"},
    {IN_CONST("u64[1] {-1}"), "expected an unsigned integer"},
    {IN_CONST("i64[1] {9223372036854775808}"), "does not fit 64 bits"},
    {IN_CONST("f8e4m3fn[1] {inf}"), "f8e4m3fn has no infinity"},
    {IN_CONST("bool[1] {2}"), "expected true or false"},
    {IN_CONST("string[1] {1}"), "expected a string"},
    {IN_CONST("f32[2] hex 0000000000"), "hex data has 10 digits, the type needs 16"},
    {IN_CONST("u8[1] hex 0g"), "no hexadecimal digit"},
    {IN_CONST("c64[1] {1}"), "complex numbers need hex data"},
    {IN_CONST("f32[4000000000] {1}"), "more than follow"},
    {IN_CONST("f32[4000000000] splat 1"), "too large to be generated"},
    {IN_CONST("f32[4000000000, 4000000000, 4000000000] {1}"), "does not fit"},
    {IN_CONST("f32[0] splat 1"), "splat needs numbers"},
    {IN_CONST("string[1] random(1)"), "random needs numbers"},
    {IN_CONST("(values) f32[] {1}"), "no attribute a constant is read from"},
    {IN_CONST("(value_int) f32[] {1}"), "does not fit attribute value_int"},
    {"function f attr g=graph () -> () {} () -> () {} graph () -> () {}", "cannot be a graph"},
};

START_TEST(faults_name_their_place)
{
    VfErr err = {.status = VF_OK};
    VfModel *model = NULL;
    VfStatus status = vf_vft_parse(vf_bytes(fault_case[_i][0]), "case", &model, &err);
    ck_assert_msg(status == VF_INVALID, "accepted: %s", fault_case[_i][0]);
    ck_assert_ptr_null(model);
    ck_assert_msg(strstr(err.text, fault_case[_i][1]) != NULL, "'%s' lacks '%s'", err.text,
                  fault_case[_i][1]);
    ck_assert(strncmp(err.text, "case:", 5) == 0);
}
END_TEST

START_TEST(every_prefix_is_refused_or_read)
{
    char *text = read_file("all_forms.vft");
    size_t size = strlen(text), n_read = 0;
    for (size_t n = 0; n < size; n++) {
        VfErr err = {.status = VF_OK};
        VfModel *model = NULL;
        char *cut = malloc(n + 1); /* of its own size, so that reading past it is seen */
        memcpy(cut, text, n);
        VfStatus status = vf_vft_parse((VfBytes){cut, n}, "case", &model, &err);
        ck_assert(status == VF_OK || status == VF_INVALID);
        n_read += status == VF_OK;
        vf_model_free(model);
        free(cut);
    }
    ck_assert_uint_le(n_read, 1);
    free(text);
}
END_TEST

START_TEST(damaged_text_is_refused_or_read)
{
    char *text = read_file("all_forms.vft");
    size_t size = strlen(text);
    uint32_t state = 1;
    for (int i = 0; i < 4000; i++) {
        VfErr err = {.status = VF_OK};
        VfModel *model = NULL;
        state = state * 1664525u + 1013904223u;
        size_t at = state % size;
        char kept = text[at];
        text[at] = (char)(state >> 24);
        VfStatus status = vf_vft_parse((VfBytes){text, size}, "case", &model, &err);
        ck_assert(status == VF_OK || status == VF_INVALID);
        if (model != NULL)
            (void)write_vft(model);
        vf_model_free(model);
        text[at] = kept;
    }
    free(text);
}
END_TEST

/* `n` Ifs, each in a branch of the one before. */
static char *nested(int n)
{
    char *text = calloc(1, 4096 + (size_t)n * 64);
    strcpy(text, "graph (c: bool[]) -> () {\n");
    for (int i = 0; i < n; i++)
        strcat(text, "() = If(c) {b=graph () -> () {");
    for (int i = 0; i < n; i++)
        strcat(text, "}}");
    strcat(text, "}");
    return text;
}

START_TEST(nesting_is_bounded)
{
    VfErr err = {.status = VF_OK};
    VfModel *model = NULL;
    char *text = nested(VF_GRAPH_DEPTH_MAX - 1);
    ck_assert_int_eq(vf_vft_parse(vf_bytes(text), "case", &model, &err), VF_OK);
    vf_model_free(model);
    free(text);
    text = nested(5000);
    ck_assert_int_eq(vf_vft_parse(vf_bytes(text), "case", &model, &err), VF_INVALID);
    ck_assert_ptr_nonnull(strstr(err.text, "nested more than"));
    free(text);
}
END_TEST

/* Any bits: numbers of all sizes, infinities, NaNs with payloads. */
START_TEST(floats_keep_their_bits)
{
    static const VfDtype dtype[] = {VF_F32, VF_F64, VF_F16, VF_BF16, VF_F8E5M2, VF_F8E4M3FNUZ};
    static const int64_t dims[] = {64};
    uint32_t state = 12345;
    for (int i = 0; i < 300; i++) {
        VfModel *model = read_vft("graph () -> () {\n c = const f32[1] {0}\n}");
        VfTensor *tensor;
        void *data;
        ck_assert_int_eq(vf_tensor_new(model->arena, dtype[_i], 1, dims, &tensor, &data, NULL),
                         VF_OK);
        for (size_t k = 0; k < tensor->bytes; k++) {
            state = state * 1664525u + 1013904223u;
            ((unsigned char *)data)[k] = (unsigned char)(state >> 24);
        }
        find_value(model, "c")->tensor = tensor;
        const char *text = write_vft(model);
        ck_assert_ptr_null(strstr(text, "hex"));
        VfModel *again = read_vft(text);
        ck_assert(vf_tensor_is_equal(find_value(again, "c")->tensor, tensor));
        vf_model_free(again);
        vf_model_free(model);
    }
}
END_TEST

START_TEST(generators_give_the_same_numbers_everywhere)
{
    VfModel *model = read_vft("graph () -> () {\n"
                              "a = const f32[3] random(7)\nb = const f64[1000] random(7, 2, 3)\n"
                              "c = const i32[3] iota\n}");
    const VfTensor *a = find_value(model, "a")->tensor, *b = find_value(model, "b")->tensor;
    double mean = 0;
    for (size_t i = 0; i < b->count; i++) {
        double value = vf_tensor_get_double(b, i);
        ck_assert(value >= 2.0 && value < 3.0);
        mean += value / 1000.0;
    }
    ck_assert_double_eq_tol(mean, 2.5, 0.05);
    ck_assert_double_eq_tol(vf_tensor_get_double(a, 0), 2 * (vf_tensor_get_double(b, 0) - 2) - 1,
                            1e-6);
    ck_assert_int_eq(vf_tensor_get_i64(find_value(model, "c")->tensor, 2), 2);
    vf_model_free(model);
}
END_TEST

START_TEST(subgraphs_see_outer_names_and_hide_them)
{
    VfModel *model = read_vft("graph (c: bool[], x: f32[]) -> (y) {\n"
                              "y = If(c) {a=graph () -> (z) { z = Neg(x) }, b=graph (x: f32[]) -> "
                              "(w) { w = Neg(x) }}\n}");
    const VfNode *node = find_def(model, "y");
    const VfGraph *a = node->first_attr->graph, *b = node->first_attr->next->graph;
    ck_assert_ptr_eq(vf_node_in(a->first_node, 0), find_value(model, "x"));
    ck_assert_ptr_eq(vf_node_in(b->first_node, 0), b->input[0]);
    ck_assert_int_eq(find_value(model, "x")->n_use, 1);
    vf_model_free(model);
}
END_TEST

START_TEST(a_node_is_printed_on_one_line)
{
    VfModel *model =
        read_vft("graph (c: bool[], x: f32[]) -> (y) {\n"
                 "w = const f32[64] splat 1\n"
                 "t: f32[2] = Op(x, _, w) {v=tensor f32[64] splat 1, a=1} @n [doc=\"d\"]\n"
                 "y = If(c) {b=graph g () -> (z) { z = Neg(t) }}\n}");
    const char *const want[] = {"t = Op(x, _, w) {v=tensor f32[64] digest ", ", a=1} @n"};
    VfText text;
    vf_text_init(&text, model->arena);
    ck_assert_int_eq(vf_vft_print_node(find_def(model, "t"), &text, NULL), VF_OK);
    ck_assert_ptr_eq(strstr(text.data, want[0]), text.data);
    ck_assert_ptr_nonnull(strstr(text.data, want[1]));
    vf_text_init(&text, model->arena);
    ck_assert_int_eq(vf_vft_print_node(find_def(model, "y"), &text, NULL), VF_OK);
    ck_assert_str_eq(text.data, "y = If(c) {b=graph {1 nodes}}");
    vf_model_free(model);
}
END_TEST

START_TEST(functions_may_call_later_ones)
{
    VfModel *model = read_vft("function l::F (x) -> (y) { y = l::Relu(x) }\n"
                              "function l::Relu (x) -> (y) { y = Relu(x) }\n"
                              "graph (x: f32[]) -> (y) { y = l::F(x) }");
    const VfNode *call = model->first_function->body->first_node;
    ck_assert_int_eq(call->op, VF_OP_OTHER);
    ck_assert_ptr_eq(vf_node_function(call), model->first_function->next);
    ck_assert_ptr_eq(vf_node_function(find_def(model, "y")), model->first_function);
    vf_model_free(model);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("vft");
    TCase *tcase = tcase_create("vft");
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, all_forms_come_back);
    tcase_add_loop_test(tcase, canonical_text_stays, 0,
                        sizeof canonical_case / sizeof canonical_case[0]);
    tcase_add_loop_test(tcase, faults_name_their_place, 0,
                        sizeof fault_case / sizeof fault_case[0]);
    tcase_add_test(tcase, every_prefix_is_refused_or_read);
    tcase_add_test(tcase, damaged_text_is_refused_or_read);
    tcase_add_test(tcase, nesting_is_bounded);
    tcase_add_loop_test(tcase, floats_keep_their_bits, 0, 6);
    tcase_add_test(tcase, generators_give_the_same_numbers_everywhere);
    tcase_add_test(tcase, subgraphs_see_outer_names_and_hide_them);
    tcase_add_test(tcase, a_node_is_printed_on_one_line);
    tcase_add_test(tcase, functions_may_call_later_ones);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
