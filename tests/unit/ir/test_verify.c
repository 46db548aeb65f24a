#include "passes/ir/verify.h"

#include "passes/ir/attr.h"
#include "passes/ir/attr_default.h"
#include "runtime/base/text.h"
#include "tests/support/check_main.h"
#include "tests/unit/ir/vft_case.h"

static void check_fault(const VfModel *model, const char *want)
{
    VfFaults faults;
    ck_assert_int_eq(vf_verify(model->arena, model, &faults, NULL), VF_OK);
    ck_assert_int_eq(vf_verify_all(model, NULL), faults.n > 0 ? VF_INVALID : VF_OK);
    if (want == NULL) {
        ck_assert_msg(faults.n == 0, "%s", faults.text[0]);
        return;
    }
    bool found = false;
    for (int32_t i = 0; i < faults.n; i++)
        found = found || strstr(faults.text[i], want) != NULL;
    ck_assert_msg(found, "'%s' lacks '%s'", faults.n > 0 ? faults.text[0] : "", want);
}

#define IN_GRAPH(body) "graph g (x: f32[2], c: bool[]) -> (x) {\n" body "\n}\n"

/* A model that can be written as text, and what is said of it (NULL: nothing). */
static const char *const text_case[][2] = {
    {IN_GRAPH("y = Relu(x)"), NULL},
    {IN_GRAPH("y = Add(x)"), "Add has 1 operands, takes 2"},
    {IN_GRAPH("y = Concat() {axis=0}"), "Concat has 0 operands, needs at least 1"},
    {IN_GRAPH("y, z = Relu(x)"), "Relu has 2 results"},
    {"model opset=10\n" IN_GRAPH("y = Clip(x, x)"), "Clip has 2 operands, takes 1"},
    {"model opset=17\n" IN_GRAPH("y = Pad(x, x, x, x)"), "Pad has 4 operands, takes 2 to 3"},
    {"model opset=18\n" IN_GRAPH("y = Pad(x, x, x, x)"), NULL},
    {IN_GRAPH("y = Add(_, x)"), "Add lacks operand 0"},
    {IN_GRAPH("y = Clip(x, _, x)"), NULL},
    {"model opset=10\n" IN_GRAPH("y = Clip(x, _, _)"), NULL},
    {IN_GRAPH("y = Relu(x, _)"), "Relu has 2 operands, takes 1"},
    {IN_GRAPH("y = Reshape(x)"), "Reshape has 1 operands, takes 2"},
    {IN_GRAPH("y = Reshape(x, _)"), "Reshape has 1 operands, takes 2"},
    {"model opset=10\n" IN_GRAPH("y = Slice(x, x)"), "Slice has 2 operands, takes 3 to 5"},
    {"model opset=10\n" IN_GRAPH("y = Slice(x, _, x, x)"), "Slice lacks operand 1"},
    {"model opset=10\n" IN_GRAPH("y, z = TopK(x)"), "TopK has 1 operands, takes 2"},
    {"model opset=9\n" IN_GRAPH("y = Gemm(x, x)"), "Gemm has 2 operands, takes 3"},
    {"model opset=11\n" IN_GRAPH("y = Gemm(x, x, _)"), NULL},
    {IN_GRAPH("y = Tile(x, x, x)"), "Tile has 3 operands, takes 2"},
    {"model opset=11\n" IN_GRAPH("y = Resize(x, _, x)"), NULL},
    {"model opset=11\n" IN_GRAPH("y = Resize(x, x)"), "Resize has 2 operands, takes 3 to 4"},
    {"model opset=7\n" IN_GRAPH("y, z = MaxPool(x) {kernel_shape=[1]}"),
     "MaxPool has 2 results, takes 1"},
    {"model opset=7\n" IN_GRAPH("y, _ = MaxPool(x) {kernel_shape=[1]}"), NULL},
    {"model opset=14\n" IN_GRAPH("a, b, d, e = BatchNormalization(x, x, x, x, x)"),
     "BatchNormalization has 4 results, takes 1 to 3"},
    {"model opset=13\n" IN_GRAPH("a, b, d, e = BatchNormalization(x, x, x, x, x)"), NULL},
    {IN_GRAPH("y = Loop(x, _) {body=graph b (i: i64[], d: bool[]) -> (e, f) {\n"
              "e = Not(d) f = Neg(i) }}"), NULL},
    {IN_GRAPH("y = Softmax(x) {axis=1.5}"),
     "attribute 'axis' of Softmax is of type float, not int"},
    {IN_GRAPH("y = Softmax(x) {axis=1, axis=1}"), "attribute 'axis' is given twice"},
    {IN_GRAPH("y = Softmax(x) {other=\"s\"}"), NULL},
    {IN_GRAPH("y = Odd(x) {a=undefined}"), "attribute 'a' has no type"},
    {"model opset=9\n" IN_GRAPH("y, i = TopK(x)"), "TopK lacks attribute 'k'"},
    {"model opset=12\n" IN_GRAPH("y = Unsqueeze(x)"), "Unsqueeze lacks attribute 'axes'"},
    {"model opset=13\n" IN_GRAPH("y = Unsqueeze(x, x)"), NULL},
    {"model opset=13\n" IN_GRAPH("y = MaxPool(x) {strides=[1]}"), "lacks attribute 'kernel_shape'"},
    {"model opset=9\n" IN_GRAPH("y = Slice(x) {starts=[0]}"), "Slice lacks attribute 'ends'"},
    {IN_GRAPH("y = If(c) {else_branch=graph b () -> (z) { z = Neg(x) }}"), "'then_branch'"},
    {IN_GRAPH("y = d::Odd(x)"), "domain 'd' of Odd is not imported"},
    {"model opset=17 opset d=1\n" IN_GRAPH("y = d::Odd(x)"), NULL},
    {"model opset=17 opset=18\n" IN_GRAPH(""), "imported twice"},
    {"model opset=19\n" IN_GRAPH("y = Gelu(x)"), "Gelu needs opset 20, the model imports 19"},
    {"model opset=13\n" IN_GRAPH("y = LayerNormalization(x, x) {axis=-1}"), NULL},
    {"graph g () -> (y: f32[3]) {\ny = const f32[2] {1, 2}\n}",
     "output 'y' is declared f32[3] but is f32[2]"},
    {"graph g (x: f32[2], z: f32[2]) -> (y = x, y = z) {}",
     "two outputs of graph 'g' are named 'y'"},
    {"graph g (x: f32[2], z: f32[2]) -> (y = x, z, y = x, z) {}", NULL},
    {"function l::F (x) -> (y) { y = Add(x) }\ngraph () -> () {}",
     "function 'F': node 'Add#2' (#2): Add has 1 operands"},
    {"graph g (n: f32[3] = f32[2] {1, 2}) -> (n) {}", "value 'n' has type f32[3]"},
    {"function l::F (x) -> (y) { y = l::F(x) }\ngraph () -> () {}", "calls itself"},
    {"function l::F (x) -> (y) { y = l::G(x) }\nfunction l::G (x) -> (y) {\n"
     "y = Other(x) {b=graph () -> (z) { z = l::F(x) }}}\ngraph () -> () {}",
     "calls itself"},
    {"function l::F (x) -> (y) { y = l::G(x) }\nfunction l::G (x) -> (y) { y = Relu(x) }\n"
     "graph (x: f32[]) -> (y) { y = l::F(x) }",
     NULL},
    {"function l::F (x) -> (x) {}\nfunction l::F (x) -> (x) {}\ngraph () -> () {}",
     "defined twice"},
    {"function l::F (x) -> (x) {}\ngraph (x: f32[]) -> (y) { y = l::F(x, x) }",
     "F has 2 operands, takes 0 to 1"},
    {IN_GRAPH("y = If(c) {then_branch=graph t () -> (a) { a = Neg(x) }, else_branch=graph "
              "() -> (b) { b = Relu(x) }}"),
     NULL},
};

START_TEST(texts_are_judged)
{
    VfModel *model = read_vft(text_case[_i][0]);
    check_fault(model, text_case[_i][1]);
    vf_model_free(model);
}
END_TEST

#define BASE                                                                     \
    "graph g (x: f32[2], c: bool[]) -> (z) {\n"                                  \
    "w = const f32[2] {1, 2}\ny = Add(x, w) @add\nz = Mul(y, w) @mul\n"          \
    "v = Other(c) {b=graph t () -> (a) { a = Neg(y) @neg }} @if\n}"

/* Damage that no text can state. */

static void use_before_definition(VfModel *model)
{
    vf_node_set_in(find_def(model, "y"), 0, find_value(model, "z"));
}

static void use_itself(VfModel *model)
{
    vf_node_set_in(find_def(model, "y"), 0, find_value(model, "y"));
}

static void use_from_subgraph(VfModel *model)
{
    VfGraph *branch = find_def(model, "v")->first_attr->graph;
    VfValue *in[] = {branch->first_node->out[0]};
    VfBytes name = vf_bytes("u");
    vf_node_link(vf_node_new(model->graph, vf_bytes(""), vf_bytes("Neg"), 1, in, 1, &name), NULL);
}

static void use_dropped(VfModel *model)
{
    vf_value_drop(find_value(model, "w"));
}

static void lose_use(VfModel *model)
{
    find_value(model, "w")->n_use--;
}

static void break_use_list(VfModel *model)
{
    find_value(model, "w")->first_use->next = NULL;
}

static void move_use_silently(VfModel *model)
{
    find_def(model, "y")->in[0].value = find_value(model, "w");
}

static void forget_result(VfModel *model)
{
    find_def(model, "y")->out[0]->index = 1;
}

static void lose_node(VfModel *model)
{
    model->graph->n_node++;
}

static void turn_node(VfModel *model)
{
    find_def(model, "y")->prev = find_def(model, "z");
}

static void rename_twice(VfModel *model)
{
    ck_assert_int_eq(vf_value_rename(find_value(model, "y"), vf_bytes("x"), NULL), VF_OK);
}

static void rename_behind_its_back(VfModel *model)
{
    find_value(model, "y")->name = find_value(model, "x")->name;
}

static void hide_name(VfModel *model)
{
    VfType type = {VF_TYPE_TENSOR, VF_F32, VF_RANK_UNKNOWN, NULL};
    ck_assert_ptr_nonnull(
        vf_graph_add_input(find_def(model, "v")->first_attr->graph, vf_bytes("y"), type));
}

static void mistake_operator(VfModel *model)
{
    find_def(model, "y")->op = VF_OP_SUB;
}

static void lose_owner(VfModel *model)
{
    VfNode *node = find_def(model, "v");
    VfGraph *other = vf_graph_new(model, find_def(model, "y"), NULL);
    node->first_attr->graph = other;
}

static void lose_output(VfModel *model)
{
    vf_node_set_in(model->graph->ret, 0, NULL);
}

static VfTensor *damaged_tensor(VfModel *model)
{
    VfValue *value = find_value(model, "w");
    VfTensor *copy = VF_NEW(model->arena, VfTensor);
    *copy = *value->tensor;
    value->tensor = copy;
    return copy;
}

static void lose_bytes(VfModel *model)
{
    damaged_tensor(model)->bytes--;
}

static void lose_element(VfModel *model)
{
    damaged_tensor(model)->count--;
}

static void lose_data(VfModel *model)
{
    damaged_tensor(model)->data = NULL;
}

static void lose_dtype(VfModel *model)
{
    damaged_tensor(model)->dtype = VF_DTYPE_COUNT;
}

static void lose_tensor(VfModel *model)
{
    find_value(model, "w")->tensor = NULL;
}

static void lose_list(VfModel *model)
{
    VfNode *node = find_def(model, "y");
    VfAttr attr = {.name = vf_bytes("list"), .type = VF_ATTR_INTS, .n = 2};
    ck_assert_int_eq(vf_node_add_attr(node, &attr, NULL), VF_OK);
}

static void nothing(VfModel *model)
{
    (void)model;
}

static const struct {
    void (*damage)(VfModel *model);
    const char *fault;
} damage_case[] = {
    {nothing, NULL},
    {use_before_definition, "node 'add' (#1): operand 0 'z' is used before it is defined"},
    {use_itself, "operand 0 'y' is used before it is defined"},
    {use_from_subgraph, "operand 0 'a' is a value of a graph it cannot see"},
    {use_dropped, "operand 1 'w' is no value of the graph or of those around it"},
    {lose_use, "the use list of value 'w' does not agree with its 2 uses"},
    {break_use_list, "the use list of value 'w'"},
    {move_use_silently, "the use list of value 'x' does not agree with its 0 uses"},
    {forget_result, "value 'y' does not belong to the graph that lists it"},
    {lose_node, "graph 'g' counts 4 nodes but lists 3"},
    {turn_node, "the list of nodes of graph 'g' is broken at node 'add' (#1)"},
    {rename_twice, "of graph 'g' are both named 'x'"},
    {rename_behind_its_back, "value 'x' has the number of another name"},
    {hide_name, "node 'neg' (#5): the name of operand 0 'y' means another value here"},
    {mistake_operator, "operator Add is recorded as another"},
    {lose_owner, "node 'if' (#3): a subgraph does not name it as its owner"},
    {lose_output, "output 0 of graph 'g' is not defined"},
    {lose_bytes, "data of 'w' has 7 bytes"},
    {lose_element, "data of 'w' counts 1 elements"},
    {lose_data, "data of 'w' is missing"},
    {lose_dtype, "data of 'w' is of unknown dtype 27"},
    {lose_tensor, "constant 'w' has no data"},
    {lose_list, "attribute 'list' has no value"},
};

START_TEST(damage_is_found)
{
    VfModel *model = read_vft(BASE);
    damage_case[_i].damage(model);
    check_fault(model, damage_case[_i].fault);
    vf_model_free(model);
}
END_TEST

START_TEST(all_faults_are_collected)
{
    VfModel *model = read_vft(IN_GRAPH("a = Add(x)\nb = Relu(x, x)\nd = Neg(x)\ne = d::O(x)"));
    VfFaults faults;
    VfErr err = {.status = VF_OK};
    ck_assert_int_eq(vf_verify(model->arena, model, &faults, &err), VF_OK);
    ck_assert_int_eq(faults.n, 3);
    ck_assert_ptr_nonnull(strstr(faults.text[2], "domain 'd'"));
    ck_assert_int_eq(vf_verify_all(model, &err), VF_INVALID);
    ck_assert_ptr_nonnull(strstr(err.text, "(the first of 3 faults)"));
    vf_model_free(model);
}
END_TEST

static const struct {
    VfOp op;
    const char *name;
    int32_t since;
} needed[] = {
#define VF_DEF_INT(op, name, since, value)
#define VF_DEF_FLOAT(op, name, since, value)
#define VF_DEF_STRING(op, name, since, value)
#define VF_DEF_NONE(op, name, since, type)
#define VF_DEF_NEED(op, name, since, type) {VF_OP_##op, name, since},
#include "passes/ir/attr_defaults.def"
};

static void write_operands(VfText *text, const char *word, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        vf_text_printf(text, "%s%s", i == 0 ? "" : ", ", word);
}

/* A node without any attribute lacks one, whatever the operator. */
START_TEST(every_attribute_that_must_be_is_missed)
{
    const VfOpInfo *info = vf_op_info(needed[_i].op);
    VfArena *arena = vf_arena_new();
    VfText text;
    VfBytes bytes;
    vf_text_init(&text, arena);
    vf_text_printf(&text, "model opset=%d opset com.microsoft=1\n"
                          "graph g (x: f32[2]) -> (x) {\n    ",
                   info->domain[0] == '\0' ? (int)needed[_i].since : 17);
    for (int32_t i = 0; i < info->min_out || i == 0; i++)
        vf_text_printf(&text, "%sy%d", i == 0 ? "" : ", ", (int)i);
    vf_text_printf(&text, " = %s%s%s(", info->domain, info->domain[0] == '\0' ? "" : "::",
                   info->name);
    write_operands(&text, "x", info->min_in);
    vf_text_string(&text, ")\n}\n");
    ck_assert_int_eq(vf_text_get(&text, &bytes, NULL), VF_OK);
    VfModel *model = read_vft(bytes.data);
    const char *lacking = vf_attr_lacking(model->graph->first_node, needed[_i].since);
    ck_assert_ptr_nonnull(lacking);
    check_fault(model, lacking);
    vf_model_free(model);
    vf_arena_free(arena);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("verify");
    TCase *tcase = tcase_create("verify");
    tcase_add_loop_test(tcase, texts_are_judged, 0, sizeof text_case / sizeof text_case[0]);
    tcase_add_loop_test(tcase, damage_is_found, 0, sizeof damage_case / sizeof damage_case[0]);
    tcase_add_test(tcase, all_faults_are_collected);
    tcase_add_loop_test(tcase, every_attribute_that_must_be_is_missed, 0,
                        sizeof needed / sizeof needed[0]);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
