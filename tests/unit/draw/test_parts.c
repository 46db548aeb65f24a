#include "converter/draw/parts.h"

#include "converter/draw/layout.h"
#include "tests/unit/draw/draw_case.h"

static VfModel *model;

static void close_model(void)
{
    vf_model_free(model);
    model = NULL;
    tear_down();
}

static const char block[] =
    "graph main (x: f32[batch, 197, 64]) -> (y: f32[batch, 197, 64]) {\n"
    "  w = const f32[64, 64] random(1)\n"
    "  b = const f32[64] random(2)\n"
    "  half = const f32[] {0.5}\n"
    "  n = Relu(x) @first\n"
    "  m = MatMul(n, w) @blocks.0/attn/qkv/MatMul\n"
    "  a = Add(m, b) @blocks.0/attn/qkv/Add\n"
    "  s = Mul(a, half) @scale\n"
    "  t = Transpose(s) {perm=[0, 1, 2]} @turn\n"
    "  y = Add(t, x) @skip\n"
    "}\n";

static VfDrawing *draw(const VfDrawPart *part)
{
    VfDrawing *drawing;
    VfErr err = {.status = VF_OK};
    ck_assert_msg(vf_drawing_of_part(arena, part, &drawing, &err) == VF_OK, "%s", err.text);
    return drawing;
}

/* A node, its constants as lines, its neighbours on either side. */
START_TEST(test_context)
{
    model = typed_model(block);
    const VfNode *node[] = {find_def(model, "m"), find_def(model, "a")};
    VfDrawPart part = {.title = vf_bytes("part"), .n_node = 2, .node = node,
                       .tone = VF_TONE_REMOVED, .n_context = 1};
    VfDrawing *drawing = draw(&part);
    ck_assert_int_eq(drawing->n_box, 4);
    ck_assert_int_eq(drawing->n_arrow, 3);
    const char *svg = svg_of(drawing, (VfSvgOptions){.prefix = "a"});
    ck_assert_int_eq(count(svg, "box tone-removed"), 2);
    ck_assert_int_eq(count(svg, "box tone-context"), 2);
    ck_assert(has(svg, ">W 64\xc3\x97" "64 f32</text>"));
    ck_assert(has(svg, ">64 f32</text>"));
    ck_assert(has(svg, ">blocks.0/attn/qkv/MatMul</text>"));
    ck_assert(has(svg, "batch\xc3\x97" "197\xc3\x97" "64 f32</text>"));
    ck_assert(has(svg, "m = MatMul(n, w) @blocks.0/attn/qkv/MatMul"));
    part.n_context = 0;
    ck_assert_int_eq(draw(&part)->n_box, 2);
}
END_TEST

START_TEST(test_ends)
{
    model = typed_model(block);
    const VfNode *node = find_def(model, "y");
    VfDrawPart part = {.n_node = 1, .node = &node, .n_context = 1};
    VfDrawing *drawing = draw(&part);
    ck_assert_int_eq(drawing->n_box, 4); /* the turn, the input, the output */
    const char *svg = svg_of(drawing, (VfSvgOptions){0});
    ck_assert(has(svg, ">input</text>"));
    ck_assert(has(svg, ">output</text>"));
}
END_TEST

START_TEST(test_tints)
{
    model = typed_model(block);
    const VfNode *node[] = {find_def(model, "s"), find_def(model, "t")};
    VfDrawTint tint[] = {{find_def(model, "a"), VF_TONE_CHANGED}};
    VfDrawEdgeTint edge[] = {{find_value(model, "s"), find_def(model, "t"), VF_TONE_MARKED}};
    VfDrawPart part = {.n_node = 2, .node = node, .tone = VF_TONE_SITE, .n_context = 1,
                       .n_tint = 1, .tint = tint, .n_edge_tint = 1, .edge_tint = edge};
    const char *svg = svg_of(draw(&part), (VfSvgOptions){0});
    ck_assert_int_eq(count(svg, "box tone-changed"), 1);
    ck_assert_int_eq(count(svg, "box tone-site"), 2);
    ck_assert_int_eq(count(svg, "arrow tone-marked"), 1);
    ck_assert(has(svg, ">perm 0 1 2</text>"));
    ck_assert(has(svg, ">0.5</text>"));
}
END_TEST

/* A removed node still shows what read its result. */
START_TEST(test_removed)
{
    model = typed_model(block);
    VfNode *old = find_def(model, "s");
    vf_value_replace_uses(find_value(model, "s"), find_value(model, "a"));
    vf_node_unlink(old);
    VfDrawSwap swap = {old->out[0], find_value(model, "a")};
    const VfNode *node = old;
    VfDrawPart part = {.n_node = 1, .node = &node, .tone = VF_TONE_REMOVED, .n_context = 1,
                       .n_swap = 1, .swap = &swap};
    VfDrawing *drawing = draw(&part);
    ck_assert_int_eq(drawing->n_box, 3);
    ck_assert_int_eq(drawing->n_arrow, 2);
}
END_TEST

START_TEST(test_many_users)
{
    VfText text;
    vf_text_init(&text, arena);
    vf_text_string(&text, "graph main (x: f32[2]) -> (y: f32[2]) {\n  h = Relu(x) @hub\n");
    for (int i = 0; i < 20; i++)
        vf_text_printf(&text, "  r%d = Abs(h)\n", i);
    vf_text_string(&text, "  y = Neg(r1)\n}\n");
    model = typed_model(text.data);
    const VfNode *node = find_def(model, "h");
    VfDrawPart part = {.n_node = 1, .node = &node, .n_context = 1};
    const char *svg = svg_of(draw(&part), (VfSvgOptions){0});
    ck_assert(has(svg, ">and 14 more users</text>"));
    ck_assert_int_eq(count(svg, ">Abs</text>"), VF_DRAW_USERS_MAX);
}
END_TEST

START_TEST(test_too_many)
{
    model = typed_model(block);
    const VfNode *node[VF_DRAW_BOX_MAX + 1] = {find_def(model, "y")};
    VfDrawPart part = {.n_node = VF_DRAW_BOX_MAX + 1, .node = node};
    VfDrawing *drawing;
    VfErr err = {.status = VF_OK};
    ck_assert_int_eq(vf_drawing_of_part(arena, &part, &drawing, &err), VF_UNSUPPORTED);
    ck_assert_str_eq(err.text, "cannot draw 601 nodes in one drawing: at most 600");
}
END_TEST

START_TEST(test_whole)
{
    model = typed_model(
        "graph main (c: bool[], x: f32[2]) -> (y: f32[2]) {\n"
        "  y = If(c) {then_branch=graph() -> (t: f32[2]) { t = Relu(x) @inner },\n"
        "             else_branch=graph() -> (e: f32[2]) { e = Neg(x) }} @choose\n"
        "}\n");
    VfDrawing *drawing;
    ck_assert_int_eq(vf_drawing_of_model(arena, model, &drawing, NULL), VF_OK);
    ck_assert_int_eq(drawing->n_group, 2);
    ck_assert_int_eq(drawing->n_box, 8); /* two inputs, three nodes, three outputs */
    ck_assert_int_eq(drawing->n_arrow, 6);
    const char *svg = svg_of(drawing, (VfSvgOptions){.is_document = true});
    ck_assert(has(svg, "choose: then_branch"));
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("draw/parts");
    TCase *tcase = tcase_create("parts");
    tcase_add_checked_fixture(tcase, set_up, close_model);
    tcase_add_test(tcase, test_context);
    tcase_add_test(tcase, test_ends);
    tcase_add_test(tcase, test_tints);
    tcase_add_test(tcase, test_removed);
    tcase_add_test(tcase, test_many_users);
    tcase_add_test(tcase, test_too_many);
    tcase_add_test(tcase, test_whole);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
