#include "passes/ir/equal.h"

#include "tests/support/check_main.h"
#include "tests/unit/ir/vft_case.h"

#define BASE \
    "model ir=8 opset=17 opset d=1 producer=\"p\" producer_version=\"1\" version=2\n" \
    "function l::F [doc=\"fd\"] opset=17 attr a attr b=2 (x) -> (y) { y = Relu(x) }\n" \
    "graph g [doc=\"gd\", meta \"k\"=\"v\", raw=0x01] (x: f32[n, 2] [doc=\"xd\"], " \
    "e: f32[] = f32[] {1}) -> (z: f32[n] [doc=\"od\"]) {\n" \
    "w [tensor=0x02] = const f32[2] {0, 1}\nk = const(value_int) i64[] {3} @kn\n" \
    "y: f32[n, 2] [meta \"a\"=\"b\"] = Add(x, w) {i=1, f=0.0, s=\"t\", is=[1, 2], " \
    "fs=[1.0], ss=[\"u\"], t=tensor f32[1] {1}, ts=tensors [f32[1] {2} [tensor=0x03]], " \
    "r=ref int q, g=graph () -> (o) { o = Neg(x) }} @add [doc=\"nd\", raw=0x04]\n" \
    "z, _ = d::O(y, _, e) @o\n}\n"

/* Part of BASE, what stands in its place, what is said. */
static const char *const change_case[][3] = {
    {"ir=8", "ir=9", "IR versions"},
    {"opset=17 opset d", "opset=18 opset d", "imported opsets"},
    {"opset d=1", "opset d=2", "imported opsets"},
    {" opset d=1", "", "numbers of imported opsets"},
    {"producer=\"p\"", "producer=\"q\"", "producers"},
    {"version=2", "version=3", "model versions"},
    {"l::F", "l::G", "function"},
    {"\"fd\"", "\"fe\"", "carried fields of function 'F'"},
    {"attr a ", "attr c ", "attributes of function"},
    {"attr b=2", "attr b=3", "attribute 'b' of 'F'"},
    {"y = Relu(x)", "y = Neg(x)", "operator of node"},
    {"graph g", "graph h", "names of graphs"},
    {"\"gd\"", "\"ge\"", "of graph 'g'"},
    {"\"k\"=\"v\"", "\"k\"=\"w\"", "of graph 'g'"},
    {"raw=0x01", "raw=0x05", "of graph 'g'"},
    {"x: f32[n, 2]", "x: f32[m, 2]", "types of 'x'"},
    {"x: f32[n, 2]", "x: f32[2*n, 2]", "types of 'x'"},
    {"\"xd\"", "\"xe\"", "documentation of 'x'"},
    {"f32[] {1}", "f32[] {2}", "data of 'e'"},
    {" = f32[] {1}", "", "value 'e' has data on one side only"},
    {"z: f32[n]", "z: f32[]", "types of"},
    {"\"od\"", "\"oe\"", "of output 0"},
    {"(z: f32", "(q = z: f32", "output 0 is named otherwise"},
    {"tensor=0x02", "tensor=0x06", "carried fields of 'w'"},
    {"{0, 1}", "{-0, 1}", "data of 'w'"},
    {"const(value_int) i64[] {3} @kn", "const i64[] {3}",
     "constant 'k' is a node on one side only"},
    {"@kn", "@ko", "Constant nodes of 'k'"},
    {"y: f32[n, 2]", "y", "value 'y' is declared on one side only"},
    {"\"a\"=\"b\"", "\"a\"=\"c\"", "metadata of 'y'"},
    {"Add(x, w)", "Add(w, x)", "operand 0 of 'add'"},
    {"i=1", "i=2", "attribute 'i' of 'add'"},
    {"i=1", "i=1.0", "attribute 'i' of 'add'"},
    {"f=0.0", "f=-0.0", "attribute 'f' of 'add'"},
    {"\"t\"", "\"T\"", "attribute 's' of 'add'"},
    {"is=[1, 2]", "is=[1, 3]", "attribute 'is' of 'add'"},
    {"is=[1, 2]", "is=[1]", "attribute 'is' of 'add'"},
    {"fs=[1.0]", "fs=[2.0]", "attribute 'fs' of 'add'"},
    {"[\"u\"]", "[\"v\"]", "attribute 'ss' of 'add'"},
    {"f32[1] {1}", "f32[1] {3}", "attribute 't' of 'add'"},
    {"tensor=0x03", "tensor=0x07", "attribute 'ts' of 'add'"},
    {"ref int q", "ref int p", "attribute 'r' of 'add'"},
    {"Neg(x)", "Neg(w)", "operand 0 of"},
    {", r=ref int q", "", "attribute 'r' of 'add'"},
    {"@add", "@sub", "node 'add' is named 'sub'"},
    {"\"nd\"", "\"ne\"", "documentation of node 'add'"},
    {"raw=0x04", "raw=0x08", "carried fields of node 'add'"},
    {"O(y, _, e)", "O(y, e, _)", "operand 1 of 'o'"},
    {"O(y, _, e)", "O(y, _)", "operands against"},
    {"z, _ =", "z, u =", "result 1 of 'o'"},
    {"z, _ =", "z =", "results against"},
    {"\nz, _ = d::O(y, _, e) @o", "\nz, _ = d::O(y, _, e) @o\nr = Neg(z)", "nodes against"},
};

static char *changed(const char *from, const char *to)
{
    const char *at = strstr(BASE, from);
    ck_assert_msg(at != NULL, "no '%s' in the text", from);
    size_t before = (size_t)(at - BASE), size = strlen(BASE) + strlen(to) + 1;
    char *text = calloc(1, size);
    memcpy(text, BASE, before);
    strcat(text, to);
    strcat(text, at + strlen(from));
    return text;
}

START_TEST(each_change_is_seen)
{
    VfErr why = {.status = VF_OK};
    char *text = changed(change_case[_i][0], change_case[_i][1]);
    VfModel *a = read_vft(BASE), *b = read_vft(text);
    ck_assert(!vf_model_is_equal(a, b, &why));
    ck_assert_int_eq(why.status, VF_DIFFERS);
    ck_assert_msg(strstr(why.text, change_case[_i][2]) != NULL, "'%s' lacks '%s'", why.text,
                  change_case[_i][2]);
    ck_assert(!vf_model_is_equal(b, a, NULL));
    vf_model_free(a);
    vf_model_free(b);
    free(text);
}
END_TEST

START_TEST(a_model_equals_its_copy)
{
    VfErr why = {.status = VF_OK};
    VfModel *a = read_vft(BASE), *b = read_vft(BASE);
    ck_assert_int_ge(vf_symbol_intern(b->symbols, vf_bytes("more")), 0);
    ck_assert_msg(vf_model_is_equal(a, b, &why), "%s", why.text);
    vf_model_free(a);
    vf_model_free(b);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("equal");
    TCase *tcase = tcase_create("equal");
    tcase_add_loop_test(tcase, each_change_is_seen, 0, sizeof change_case / sizeof change_case[0]);
    tcase_add_test(tcase, a_model_equals_its_copy);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
