/* Pages as markup: escaping, bounds of size, and which edits share a drawing. */
#include "converter/report/html/page_journal.h"
#include "converter/report/html/render.h"
#include "passes/rewrite/rewrite.h"
#include "tests/support/arena_case.h"
#include "tests/support/check_main.h"
#include "tests/unit/ir/vft_case.h"

/* --- markup --- */

static const struct {
    VfBytes text;
    const char *wanted;
} escape_row[] = {
    {{"a<b>&\"c", 7}, "a&lt;b&gt;&amp;&quot;c"},
    {{"\xff\xfe", 2}, "\\xff\\xfe"},
    {{"a\0b\x1b", 4}, "a\\x00b\\x1b"},
    {{"one\ntwo", 7}, "one\ntwo"},
    {{"\xef\xbf\xbe x \xef\xbf\xbf", 9}, "\\xef\\xbf\\xbe x \\xef\\xbf\\xbf"},
    {{"\xc3\xa9", 2}, "\xc3\xa9"},
};

START_TEST(text_is_escaped)
{
    VfErr err = {0};
    VfHtml html;
    VfBytes page;
    ck_assert_int_eq(vf_html_begin(&html, arena, &err), VF_OK);
    vf_html_open(&html, "p", "class", "x", "title", NULL, NULL);
    vf_html_bytes(&html, escape_row[_i].text);
    vf_html_close(&html);
    ck_assert_int_eq(vf_html_finish(&html, &page, &err), VF_OK);
    const char *wanted = vf_arena_printf(arena, "<!DOCTYPE html>\n<p class=\"x\">%s</p>\n",
                                         escape_row[_i].wanted);
    ck_assert_str_eq(page.data, wanted);
    vf_html_release(&html);
}
END_TEST

START_TEST(attributes_are_escaped)
{
    VfErr err = {0};
    VfHtml html;
    VfBytes page;
    ck_assert_int_eq(vf_html_begin(&html, arena, &err), VF_OK);
    vf_html_open(&html, "a", NULL);
    vf_html_attr(&html, "title", (VfBytes){"\"><b>\xff", 6});
    vf_html_close(&html);
    ck_assert_int_eq(vf_html_finish(&html, &page, &err), VF_OK);
    ck_assert_ptr_nonnull(strstr(page.data, "title=\"&quot;&gt;&lt;b&gt;\\xff\"></a>"));
    vf_html_release(&html);
}
END_TEST

START_TEST(an_open_element_is_a_fault)
{
    VfErr err = {0};
    VfHtml html;
    VfBytes page;
    ck_assert_int_eq(vf_html_begin(&html, arena, &err), VF_OK);
    vf_html_open(&html, "p", NULL);
    ck_assert_int_eq(vf_html_finish(&html, &page, &err), VF_INTERNAL);
    vf_html_release(&html);
}
END_TEST

START_TEST(long_lines_are_cut)
{
    VfErr err = {0};
    VfHtml html;
    VfBytes page;
    char *line = vf_arena_alloc(arena, 3 * VF_HTML_LINE_MAX);
    for (size_t i = 0; i < 3 * VF_HTML_LINE_MAX; i += 2)
        memcpy(line + i, "\xc3\xa9", 2);
    ck_assert_int_eq(vf_html_begin(&html, arena, &err), VF_OK);
    vf_html_element(&html, "p", (VfBytes){line, 3 * VF_HTML_LINE_MAX});
    ck_assert_int_eq(vf_html_finish(&html, &page, &err), VF_OK);
    ck_assert_uint_lt(page.size, VF_HTML_LINE_MAX + 64);
    ck_assert_ptr_nonnull(strstr(page.data, "\xc3\xa9\xe2\x80\xa6</p>"));
    vf_html_release(&html);
}
END_TEST

/* --- size --- */

/* Lines, rows and drawings of 100 MB each. */
START_TEST(no_page_is_larger_than_20_mb)
{
    enum { N = 1000, BYTES = 100000 };
    static const char *const head[] = {"a"};
    VfErr err = {0};
    VfBytes out;
    VfPage page = {.arena = arena, .title = "t", .maker = "m", .parts_title = "p",
                   .from = {"f", 1}, .to = {"", 0}, .note = {"", 0}};
    VfPageGroup *group = VF_NEW_ARRAY(arena, VfPageGroup, N);
    VfPagePlace *place = VF_NEW_ARRAY(arena, VfPagePlace, N);
    VfPagePart part = {.id = "x", .title = "x", .group = group, .n_group = N};
    char *line = vf_arena_alloc(arena, BYTES);
    memset(line, '<', BYTES);
    for (size_t i = 0; i < BYTES; i += 1000)
        line[i] = '\n';
    char *markup = vf_arena_alloc(arena, BYTES);
    memset(markup, '.', BYTES);
    vf_page_table_init(&page.index, arena, "l", head);
    for (size_t i = 0; i < N; i++) {
        place[i] = (VfPagePlace){.number = (int32_t)i, .label = {line, BYTES}, .note = {"", 0},
                                 .lines = {line, BYTES}};
        group[i] = (VfPageGroup){.title = {"g", 1}, .change = {"", 0}, .before = {markup, BYTES},
                                 .place = &place[i], .n_place = 1};
        for (int k = 0; k < 20; k++)
            ck_assert_int_eq(vf_page_code(&page.index, (VfBytes){line, BYTES}, &err), VF_OK);
    }
    page.part = &part;
    page.n_part = 1;
    ck_assert_msg(vf_page_render(&page, &out, &err) == VF_OK, "%s", err.text);
    ck_assert_uint_lt(out.size, 20000000);
    ck_assert_ptr_nonnull(strstr(out.data, "Not drawn, to keep the page small."));
    ck_assert_ptr_nonnull(strstr(out.data, "small: lines of edits (1)."));
    ck_assert_ptr_nonnull(strstr(out.data, "small: rows ("));
    ck_assert_ptr_nonnull(strstr(out.data, "</html>\n"));
}
END_TEST

/* --- edits --- */

static const char TWINS[] =
    "model ir=8 opset=17\n\ngraph g (x: f32[3], w: f32[4]) -> (c: f32[3], f: f32[3], i: f32[4]) {\n"
    "    a = Abs(x) @one\n"
    "    b = Identity(a) @two\n"
    "    c = Relu(b) @three\n"
    "    d = Abs(x) @four\n"
    "    e = Identity(d) @five\n"
    "    f = Relu(e) @six\n"
    "    g = Neg(w) @seven\n"
    "    h = Identity(g) @eight\n"
    "    i = Relu(h) @nine\n"
    "}\n";

static void skip(VfJournal *journal, const char *name)
{
    VfErr err = {0};
    VfNode *node = vf_graph_find_node(journal->model->graph, vf_bytes(name));
    VfRewriteInfo info = {"test", "skip", name, NULL};
    VfRewrite *rw = vf_rewrite_begin(journal, node, info);
    ck_assert_ptr_nonnull(rw);
    vf_rewrite_replace(rw, vf_node_out(node, 0), vf_node_in(node, 0));
    ck_assert_msg(vf_rewrite_commit(rw, &err) == VF_OK, "%s", err.text);
}

/* The first two edits differ by names, the third by an operator beside it. */
START_TEST(edits_alike_are_drawn_once)
{
    static const VfPagePass pass = {"test", "a test", "exact", false};
    VfErr err = {0};
    VfModel *model = read_vft(TWINS);
    VfJournal *journal = vf_journal_new(model);
    VfPage page = {.arena = arena, .title = "t", .maker = "m", .from = {"f", 1}, .to = {"", 0},
                   .note = {"", 0}};
    VfBytes out;
    skip(journal, "two");
    skip(journal, "five");
    skip(journal, "eight");
    VfRefusal refusal = {"test", "a site", NULL, "no <reason>", false};
    ck_assert_int_eq(vf_journal_refuse(journal, &refusal, &err), VF_OK);
    ck_assert_msg(vf_page_add_journal(&page, journal, &pass, 1, &err) == VF_OK, "%s", err.text);
    ck_assert_uint_eq(page.n_part, 1);
    ck_assert_uint_eq(page.part[0].n_edit, 3);
    ck_assert_uint_eq(page.part[0].n_group, 2);
    ck_assert_uint_eq(page.part[0].group[0].n_place, 2);
    ck_assert_uint_eq(page.part[0].group[1].n_place, 1);
    ck_assert_uint_eq(page.part[0].n_refusal, 1);
    ck_assert_uint_eq(vf_page_table_rows(&page.index), 6);
    ck_assert_msg(vf_page_render(&page, &out, &err) == VF_OK, "%s", err.text);
    ck_assert_ptr_nonnull(strstr(out.data, "1 node removed"));
    ck_assert_ptr_nonnull(strstr(out.data, "no &lt;reason&gt;"));
    ck_assert_ptr_nonnull(strstr(out.data, "tone-removed"));
    vf_model_free(model);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("page");
    TCase *tcase = tcase_create("markup");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, text_is_escaped, 0,
                        (int)(sizeof escape_row / sizeof escape_row[0]));
    tcase_add_test(tcase, attributes_are_escaped);
    tcase_add_test(tcase, an_open_element_is_a_fault);
    tcase_add_test(tcase, long_lines_are_cut);
    tcase_add_test(tcase, no_page_is_larger_than_20_mb);
    tcase_add_test(tcase, edits_alike_are_drawn_once);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
