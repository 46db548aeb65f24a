/* What If, Loop and Scan say about types that cannot be. */
#include "passes/ir/infer.h"
#include "tests/support/check_main.h"
#include "tests/unit/ir/vft_case.h"

#define CHOICE(condition, yes, no)                                        \
    "graph g (x: f32[2], c: bool[], d: bool[2], e: bool[1, 1]) -> (y) {\n" \
    "    y = If(" condition ") {then_branch=graph t () -> (p) { p = " yes " @p },\n" \
    "                       else_branch=graph f () -> (q) { q = " no " @q }} @n\n}\n"

#define LOOP(body)                                                                  \
    "graph g (x: f32[2], n: i64[]) -> (y) {\n"                                      \
    "    y = Loop(n, _, x) {body=graph b (i: i64[], c: bool[], s) -> (d, t) {\n"    \
    "        d = Identity(c)\n        t = " body "\n    }} @n\n}\n"

/* A model, and the one contradiction in it (NULL: none). */
static const char *const text_case[][2] = {
    {CHOICE("c", "Neg(x)", "Abs(x)"), NULL},
    {CHOICE("e", "Neg(x)", "Abs(x)"), NULL},
    {CHOICE("c", "Neg(x)", "Shape(x)"),
     "node 'n': result 0 is f32 in 'then_branch' but i64 in 'else_branch'"},
    {CHOICE("d", "Neg(x)", "Abs(x)"), "node 'n': the condition is bool[2], not one bool"},
    {CHOICE("x", "Neg(x)", "Abs(x)"), "node 'n': the condition is f32[2], not one bool"},
    {CHOICE("c", "Neg(x)", "Reshape(x)"), NULL}, /* the verifier's */
    {LOOP("Neg(s)"), NULL},
    {LOOP("Concat(s, s) {axis=0}"), NULL},
    {LOOP("Cast(s) {to=7}"), "node 'n': the body takes carried value 0 as f32 but gives i64"},
    {"graph g (x: f32[2], z: f32[3, 2]) -> (y) {\n"
     "    y = Scan(x, z) {num_scan_inputs=1, body=graph b (s, e) -> (t) {\n"
     "        t = Greater(s, e)\n    }} @n\n}\n",
     "node 'n': the body takes carried value 0 as f32 but gives bool"},
};

START_TEST(contradictions_are_found)
{
    VfModel *model = read_vft(text_case[_i][0]);
    const char *want = text_case[_i][1];
    VfFaults faults;
    VfErr err = {0};
    ck_assert_int_eq(vf_infer_check(model->graph, model->arena, &faults, &err), VF_OK);
    ck_assert_msg(faults.n == (want != NULL), "%d: %s", (int)faults.n,
                  faults.n > 0 ? faults.text[0] : "none");
    ck_assert_msg(want == NULL || strstr(faults.text[0], want) != NULL, "'%s' lacks '%s'",
                  faults.text[0], want);
    ck_assert_int_eq(vf_infer_graph(model->graph, NULL, &err), want ? VF_INVALID : VF_OK);
    vf_model_free(model);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("infer_control");
    TCase *tcase = tcase_create("cases");
    tcase_add_loop_test(tcase, contradictions_are_found, 0,
                        sizeof text_case / sizeof text_case[0]);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
