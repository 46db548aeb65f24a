#include "converter/report/line_plot.h"

#include <math.h>
#include <string.h>

#include "tests/support/arena_case.h"

static const char *plot(const VfPlotLine *line, int32_t n_line, const char *x_label)
{
    VfErr err = {0};
    VfText text;
    VfBytes done;
    VfPlotPanel panel = {.title = "a < b", .low = 0, .high = 2, .n_line = n_line, .line = line};
    vf_text_init(&text, arena);
    vf_plot_svg(&panel, 1, x_label, &text);
    ck_assert_int_eq(vf_text_get(&text, &done, &err), VF_OK);
    return done.data;
}

/* The frame is 620 x 200 at (64, 40): x = 0, 1, 2 stand at 64, 374 and 684; 0 is at 240. */
START_TEST(test_places)
{
    static const double y[] = {0, 1, 2};
    VfPlotLine line = {"rises", 0, false, 3, y};
    const char *svg = plot(&line, 1, "layer");
    ck_assert_ptr_nonnull(strstr(svg, "d=\"M64.00 240.00h0L374.00 140.00L684.00 40.00\""));
    ck_assert_ptr_nonnull(strstr(svg, ">rises</text>"));
    ck_assert_ptr_nonnull(strstr(svg, ">layer</text>"));
}
END_TEST

START_TEST(test_gap)
{
    const double y[] = {0, (double)NAN, 2, (double)INFINITY};
    VfPlotLine line = {NULL, 0, true, 4, y};
    const char *svg = plot(&line, 1, "x");
    ck_assert_ptr_nonnull(strstr(svg, "d=\"M64.00 240.00h0M477.33 40.00h0\""));
    ck_assert_ptr_nonnull(strstr(svg, "stroke-dasharray"));
    ck_assert_ptr_null(strstr(svg, "nan"));
    ck_assert_ptr_null(strstr(svg, "inf"));
}
END_TEST

/* Four decades on 200 pixels; what is not above 0 is no point. */
START_TEST(test_decades)
{
    static const double y[] = {1e-4, 0, 1e-2, 1};
    VfErr err = {0};
    VfText text;
    VfBytes done;
    VfPlotLine line = {"falls", 0, false, 4, y};
    VfPlotPanel panel = {.title = "t", .low = 1e-4, .high = 1, .is_log = true, .n_line = 1,
                         .line = &line};
    vf_text_init(&text, arena);
    vf_plot_svg(&panel, 1, "x", &text);
    ck_assert_int_eq(vf_text_get(&text, &done, &err), VF_OK);
    ck_assert_ptr_nonnull(strstr(done.data,
                                 "d=\"M64.00 240.00h0M477.33 140.00h0L684.00 40.00\""));
    ck_assert_ptr_nonnull(strstr(done.data, ">1e-03</text>"));
    ck_assert_ptr_null(strstr(done.data, "inf"));
}
END_TEST

/* Values beyond the axis stay in the frame; one value alone stands in the middle. */
START_TEST(test_bounds)
{
    static const double y[] = {7};
    VfPlotLine line = {"a", 9, false, 1, y};
    ck_assert_ptr_nonnull(strstr(plot(&line, 1, "x"), "d=\"M374.00 40.00h0\""));
    ck_assert_ptr_nonnull(strstr(plot(NULL, 0, "x"), "</svg>\n"));
}
END_TEST

START_TEST(test_escapes)
{
    static const double y[] = {1};
    VfPlotLine line = {"<b>\"&'\x01\xff", 0, false, 1, y};
    const char *svg = plot(&line, 1, "x");
    ck_assert_ptr_nonnull(strstr(svg, ">a &#60; b</text>"));
    ck_assert_ptr_nonnull(strstr(svg, ">&#60;b&#62;&#34;&#38;&#39;\\x01\\xff</text>"));
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("report/line_plot");
    TCase *tcase = tcase_create("plot");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, test_places);
    tcase_add_test(tcase, test_gap);
    tcase_add_test(tcase, test_decades);
    tcase_add_test(tcase, test_bounds);
    tcase_add_test(tcase, test_escapes);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
