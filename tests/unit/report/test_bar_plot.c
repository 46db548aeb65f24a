#include "converter/report/bar_plot.h"

#include <math.h>
#include <string.h>

#include "tests/support/arena_case.h"

static const char *plot(const VfBar *bar, int32_t n)
{
    VfErr err = {0};
    VfText text;
    VfBytes done;
    vf_text_init(&text, arena);
    vf_bars_svg("a < b", bar, n, &text);
    ck_assert_int_eq(vf_text_get(&text, &done, &err), VF_OK);
    return done.data;
}

/* The axis is 340 wide from 290 on: -1 to 3 puts 0 at 375. */
START_TEST(test_places)
{
    static const VfBar bar[] = {{"up", 3}, {"down", -1}, {"none", 0}};
    const char *svg = plot(bar, 3);
    ck_assert_ptr_nonnull(strstr(svg, "<rect x=\"375.00\" y=\"40.00\" width=\"255.00\""));
    ck_assert_ptr_nonnull(strstr(svg, "<rect x=\"290.00\" y=\"62.00\" width=\"85.00\""));
    ck_assert_ptr_nonnull(strstr(svg, "<rect x=\"375.00\" y=\"84.00\" width=\"0.00\""));
    ck_assert_ptr_nonnull(strstr(svg, ">a &#60; b</text>"));
    ck_assert_ptr_nonnull(strstr(svg, ">-1</text>"));
}
END_TEST

START_TEST(test_labels)
{
    const VfBar bar[] = {{"<&>", 1}, {"beginning/of/a/very/long/path/of/a/node/called/end", 2},
                         {"x", (double)INFINITY}};
    const char *svg = plot(bar, 3);
    ck_assert_ptr_nonnull(strstr(svg, ">&#60;&#38;&#62;</text>"));
    ck_assert_ptr_nonnull(strstr(svg, ">...very/long/path/of/a/node/called/end</text>"));
    ck_assert_ptr_nonnull(strstr(svg, ">inf</text>"));
    ck_assert_ptr_null(strstr(svg, "width=\"inf\""));
    ck_assert_ptr_nonnull(strstr(plot(NULL, 0), "</svg>\n"));
}
END_TEST

/* Value, the largest value, the length of its bar of at most ten. */
static const struct {
    double value, most;
    size_t length;
} row[] = {
    {1, 1, 10}, {0.5, 1, 5}, {1e-9, 1, 1}, {0, 1, 0}, {-1, 1, 0}, {2, 1, 10},
    {(double)INFINITY, 1, 10}, {(double)NAN, 1, 0},
};

START_TEST(test_text)
{
    VfText text;
    vf_text_init(&text, arena);
    vf_bar_text(row[_i].value, row[_i].most, 10, &text);
    ck_assert_uint_eq(text.size, row[_i].length);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("report/bar_plot");
    TCase *tcase = tcase_create("bars");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, test_places);
    tcase_add_test(tcase, test_labels);
    tcase_add_loop_test(tcase, test_text, 0, (int)(sizeof row / sizeof row[0]));
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
