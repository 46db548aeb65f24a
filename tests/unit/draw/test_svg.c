#include "converter/draw/svg.h"

#include <pthread.h>

#include "converter/draw/layout.h"
#include "tests/unit/draw/draw_case.h"

static VfDrawing *new_drawing(const char *title)
{
    VfDrawing *drawing = vf_drawing_new(arena, vf_bytes(title));
    ck_assert_ptr_nonnull(drawing);
    return drawing;
}

static void add_box(VfDrawing *drawing, VfBytes name, VfTone tone, int32_t group)
{
    VfErr err = {.status = VF_OK};
    VfDrawBox box = {.n_line = 1, .line = &name, .tip = name, .tone = tone, .group = group};
    ck_assert_int_eq(vf_drawing_add_box(drawing, &box, NULL, &err), VF_OK);
}

static void add_arrow(VfDrawing *drawing, int32_t from, int32_t to, const char *label)
{
    VfErr err = {.status = VF_OK};
    VfDrawArrow arrow = {.from = from, .to = to, .label = vf_bytes(label)};
    ck_assert_int_eq(vf_drawing_add_arrow(drawing, &arrow, &err), VF_OK);
}

/* Ten characters of 7.2 pixels and the padding: 92 wide; one line and the padding: 27 high. */
START_TEST(test_sizes)
{
    VfDrawing *drawing = new_drawing("one box");
    VfDrawLayout layout;
    VfErr err = {.status = VF_OK};
    add_box(drawing, vf_bytes("0123456789"), VF_TONE_PLAIN, -1);
    ck_assert_int_eq(vf_draw_layout(NULL, arena, drawing, &layout, &err), VF_OK);
    ck_assert_double_eq_tol(layout.box[0].width, 92, 0.1);
    ck_assert_double_eq_tol(layout.box[0].height, 27, 0.1);
    ck_assert(layout.width >= 92 && layout.width < 120);
}
END_TEST

START_TEST(test_structure)
{
    VfDrawing *drawing = new_drawing("a & b");
    int32_t group;
    ck_assert_int_eq(vf_drawing_add_group(drawing, vf_bytes("stage 1"), -1, &group, NULL), VF_OK);
    add_box(drawing, vf_bytes("from"), VF_TONE_ADDED, group);
    add_box(drawing, vf_bytes("to"), VF_TONE_REMOVED, -1);
    add_arrow(drawing, 0, 1, "1x2");
    const char *svg = svg_of(drawing, (VfSvgOptions){.prefix = "p7"});
    ck_assert(has(svg, "role=\"img\" aria-labelledby=\"p7-t\""));
    ck_assert(has(svg, "<title id=\"p7-t\">a &#38; b</title>"));
    ck_assert(has(svg, "<g class=\"box tone-added\" id=\"p7-n0\"><title>from</title>"));
    ck_assert(has(svg, "<g class=\"box tone-removed\" id=\"p7-n1\">"));
    ck_assert(has(svg, ">stage 1</text>"));
    ck_assert(has(svg, ">1x2</text>"));
    ck_assert_int_eq(count(svg, "class=\"tip\""), 1);
    ck_assert(!has(svg, "<style>"));
}
END_TEST

START_TEST(test_document)
{
    VfDrawing *drawing = new_drawing("doc");
    add_box(drawing, vf_bytes("x"), VF_TONE_NORM, -1);
    const char *svg = svg_of(drawing, (VfSvgOptions){.is_document = true, .has_legend = true});
    ck_assert(has(svg, "xmlns=\"http://www.w3.org/2000/svg\""));
    ck_assert(has(svg, "prefers-color-scheme:dark"));
    ck_assert(has(svg, ">layer norm</text>"));
    ck_assert(!has(svg, ">softmax attention</text>"));
}
END_TEST

/* Whatever bytes a name holds, the document is well-formed and shows them. */
START_TEST(test_hostile_words)
{
    static const char name[] = "<a>&\"'\x01\0\xff\xef\xbf\xbf\xed\xa0\x80\xe4\xb8\xad\\N%s";
    VfDrawing *drawing = vf_drawing_new(arena, (VfBytes){name, sizeof name - 1});
    ck_assert_ptr_nonnull(drawing);
    int32_t group;
    ck_assert_int_eq(vf_drawing_add_group(drawing, (VfBytes){name, sizeof name - 1}, -1, &group,
                                          NULL), VF_OK);
    add_box(drawing, (VfBytes){name, sizeof name - 1}, VF_TONE_PLAIN, group);
    add_arrow(drawing, 0, 0, name);
    const char *svg = svg_of(drawing, (VfSvgOptions){.is_document = true});
    ck_assert(has(svg, "&#60;a&#62;&#38;&#34;&#39;\\x01\\x00\\xff\\xef\\xbf\\xbf\\xed\\xa0\\x80"
                       "\xe4\xb8\xad\\N%s</text>"));
}
END_TEST

START_TEST(test_empty)
{
    const char *svg = svg_of(new_drawing("nothing"), (VfSvgOptions){0});
    ck_assert(has(svg, "<title id=\"d-t\">nothing</title>"));
}
END_TEST

START_TEST(test_too_many)
{
    VfDrawing *drawing = new_drawing("large");
    VfErr err = {.status = VF_OK};
    VfText text;
    vf_text_init(&text, arena);
    for (int i = 0; i <= VF_DRAW_BOX_MAX; i++)
        add_box(drawing, vf_bytes("x"), VF_TONE_PLAIN, -1);
    ck_assert_int_eq(vf_drawing_svg(drawing, &(VfSvgOptions){0}, &text, &err), VF_UNSUPPORTED);
    ck_assert_str_eq(err.text, "cannot draw 601 boxes in one drawing: at most 600");
    ck_assert_uint_eq(text.size, 0);
}
END_TEST

/* A net with skips, groups and labels. */
static VfDrawing *make_net(VfArena *place)
{
    enum { N = 60 };
    VfDrawing *drawing = vf_drawing_new(place, vf_bytes("net"));
    VfBytes line = vf_bytes("MatMul");
    int32_t group = -1;
    VfStatus status = drawing == NULL ? VF_NO_MEMORY : VF_OK;
    for (int32_t i = 0; i < N && status == VF_OK; i++) {
        if (i % 10 == 0)
            status = vf_drawing_add_group(drawing, vf_bytes("block"), -1, &group, NULL);
        VfDrawBox box = {.n_line = 1, .line = &line, .group = group};
        status = status != VF_OK ? status : vf_drawing_add_box(drawing, &box, NULL, NULL);
        VfDrawArrow arrow = {.from = i == 0 ? 0 : i - 1, .to = i, .label = vf_bytes("1x2x3 f32")};
        status = status != VF_OK ? status : vf_drawing_add_arrow(drawing, &arrow, NULL);
        arrow.from = i < 7 ? 0 : i - 7;
        status = status != VF_OK ? status : vf_drawing_add_arrow(drawing, &arrow, NULL);
    }
    return status == VF_OK ? drawing : NULL;
}

/* `out`: the SVG, or NULL. In an arena of the thread's own. */
static void *draw_net(void *out)
{
    VfArena *own = vf_arena_new();
    VfText text;
    vf_text_init(&text, own);
    VfDrawing *drawing = make_net(own);
    VfSvgOptions options = {.prefix = "t"};
    if (drawing != NULL && vf_drawing_svg(drawing, &options, &text, NULL) == VF_OK)
        *(char **)out = strdup(text.data);
    vf_arena_free(own);
    return NULL;
}

/* What a sanitizer puts in place of malloc stays locked in a child process if another thread was in
 * it when the child was made; that of the C library does not. */
#ifdef VF_TEST_SANITIZED
enum { AT_ONCE = 1 };
#else
enum { AT_ONCE = 4 };
#endif

static void check_at_once(const char *expected)
{
    pthread_t thread[AT_ONCE];
    char *svg[AT_ONCE] = {NULL};
    for (int i = 0; i < AT_ONCE; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, draw_net, &svg[i]), 0);
    for (int i = 0; i < AT_ONCE; i++) {
        pthread_join(thread[i], NULL);
        ck_assert_ptr_nonnull(svg[i]);
        ck_assert(strcmp(svg[i], expected) == 0);
        free(svg[i]);
    }
}

/* Equal drawings give equal bytes, also when made in several threads at once. */
START_TEST(test_repeatable)
{
    const char *expected = svg_of(make_net(arena), (VfSvgOptions){.prefix = "t"});
    for (int i = 0; i < 4; i += AT_ONCE)
        check_at_once(expected);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("draw/svg");
    TCase *tcase = tcase_create("svg");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, test_sizes);
    tcase_add_test(tcase, test_structure);
    tcase_add_test(tcase, test_document);
    tcase_add_test(tcase, test_hostile_words);
    tcase_add_test(tcase, test_empty);
    tcase_add_test(tcase, test_too_many);
    tcase_add_test(tcase, test_repeatable);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
