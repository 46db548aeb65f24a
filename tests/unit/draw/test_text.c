#include "converter/draw/text.h"

#include <graphviz/cgraph.h>

#include "converter/draw/parts.h"
#include "tests/unit/draw/draw_case.h"

static VfModel *model;

static void close_model(void)
{
    vf_model_free(model);
    model = NULL;
    tear_down();
}

static const char net[] =
    "graph main (c: bool[], x: f32[2, 3]) -> (y: f32[3, 2]) {\n"
    "  z = If(c) {then_branch=graph() -> (t: f32[2, 3]) { t = Relu(x) @inner },\n"
    "             else_branch=graph() -> (e: f32[2, 3]) { e = Neg(x) }} @choose\n"
    "  y = Transpose(z) {perm=[1, 0]} @\"t<&\\\"\\\\\\xff\"\n"
    "}\n";

static VfDrawing *whole(const char *text)
{
    VfDrawing *drawing;
    VfErr err = {.status = VF_OK};
    model = typed_model(text);
    ck_assert_msg(vf_drawing_of_model(arena, model, &drawing, &err) == VF_OK, "%s", err.text);
    return drawing;
}

START_TEST(test_dot)
{
    VfText text;
    VfBytes out;
    vf_text_init(&text, arena);
    ck_assert_int_eq(vf_drawing_dot(whole(net), &text, NULL), VF_OK);
    ck_assert_int_eq(vf_text_get(&text, &out, NULL), VF_OK);
    ck_assert(has(out.data, "op=\"Transpose\" name=\"t<&amp;\\\"\\\\\\\\xff\" "
                            "attributes=\"perm=[1, 0]\""));
    ck_assert(has(out.data, "label=\"choose: then_branch\";"));
    ck_assert(has(out.data, "label=\"2\xc3\x97" "3 f32\" value=\"z\""));
    ck_assert_int_eq(count(out.data, " -> "), 7);
    Agraph_t *graph = agmemread(out.data); /* Graphviz reads it */
    ck_assert_ptr_nonnull(graph);
    ck_assert_int_eq(agnnodes(graph), 9);
    ck_assert_int_eq(agnedges(graph), 7);
    Agnode_t *node = agnode(graph, (char *)"n7", 0);
    ck_assert_ptr_nonnull(node);
    agclose(graph);
}
END_TEST

START_TEST(test_graphml)
{
    VfText text;
    vf_text_init(&text, arena);
    ck_assert_int_eq(vf_drawing_graphml(whole(net), &text, NULL), VF_OK);
    const char *xml = well_formed(&text);
    ck_assert(has(xml, "<data key=\"name\">t&#60;&#38;&#34;\\\\xff</data>"));
    ck_assert(has(xml, "<data key=\"attributes\">perm=[1, 0]</data>"));
    ck_assert(has(xml, "<data key=\"type\">2\xc3\x97" "3 f32</data>"));
    ck_assert_int_eq(count(xml, "<data key=\"kind\">group</data>"), 2);
    ck_assert_int_eq(count(xml, "<data key=\"kind\">node</data>"), 4);
    ck_assert_int_eq(count(xml, "<edge "), 7);
}
END_TEST

/* Time in proportion to the size, and no limit: nothing is laid out. */
START_TEST(test_long)
{
    enum { N = 3000 };
    VfText text, dot, xml;
    vf_text_init(&text, arena);
    vf_text_init(&dot, arena);
    vf_text_init(&xml, arena);
    vf_text_string(&text, "graph main (v0: f32[2]) -> (y: f32[2]) {\n");
    for (int i = 0; i < N; i++)
        vf_text_printf(&text, "  v%d = Relu(v%d)\n", i + 1, i);
    vf_text_printf(&text, "  y = Neg(v%d)\n}\n", N);
    VfDrawing *drawing = whole(text.data);
    ck_assert_int_eq(vf_drawing_dot(drawing, &dot, NULL), VF_OK);
    ck_assert_int_eq(vf_drawing_graphml(drawing, &xml, NULL), VF_OK);
    ck_assert_int_eq(count(dot.data, " -> "), N + 2);
    ck_assert_int_eq(count(well_formed(&xml), "<edge "), N + 2);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("draw/text");
    TCase *tcase = tcase_create("text");
    tcase_add_checked_fixture(tcase, set_up, close_model);
    tcase_add_test(tcase, test_dot);
    tcase_add_test(tcase, test_graphml);
    tcase_add_test(tcase, test_long);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
