/* Metrics, and trials that are stopped. */
#include "converter/api/trial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/check_main.h"

static const VfNumbers original = {.cosine = 1, .n_row = 10, .n_top1 = 10, .n_sample = 8,
                                   .n_hit = 6};
static const VfNumbers moved = {.max_abs = 0.5, .rel = 0.25, .cosine = 0.75, .ulp = 1000,
                                .n_row = 10, .n_top1 = 5, .n_sample = 8, .n_hit = 4};

/* Metric, its value and loss, a limit that is just kept, one that is just broken. */
static const struct {
    const char *name;
    double value, loss, kept, broken;
} metric_row[] = {
    {"max-abs", 0.5, 0.5, 0.5, 0.4999},   {"rel", 0.25, 0.25, 0.25, 0.2499},
    {"cosine", 0.75, 0.25, 0.75, 0.7501}, {"top1", 0.5, 0.5, 0.5, 0.5001},
    {"ulp", 1000, 1000, 1000, 999},       {"accuracy", 0.5, 0.25, 0.5, 0.5001},
};

static bool is_equal(double a, double b)
{
    return fabs(a - b) <= 0;
}

START_TEST(metrics)
{
    VfErr err = {0};
    VfMetric metric;
    VfNumbers odd = moved;
    ck_assert_int_eq(vf_metric_find(metric_row[_i].name, true, &metric, &err), VF_OK);
    ck_assert_str_eq(vf_metric_name(metric), metric_row[_i].name);
    ck_assert(is_equal(vf_metric_value(&moved, metric), metric_row[_i].value));
    ck_assert(is_equal(vf_metric_loss(&moved, &original, metric), metric_row[_i].loss));
    ck_assert(is_equal(vf_metric_loss(&original, &original, metric), 0));
    ck_assert(!vf_metric_breaks(&moved, metric, metric_row[_i].kept));
    ck_assert(vf_metric_breaks(&moved, metric, metric_row[_i].broken));
    odd.n_special = 1;
    ck_assert(vf_metric_breaks(&odd, metric, metric_row[_i].kept));
    ck_assert(isinf(vf_metric_loss(&odd, &original, metric)));
}
END_TEST

START_TEST(unknown_metrics)
{
    VfErr err = {0};
    VfMetric metric;
    ck_assert_int_eq(vf_metric_find("size", true, &metric, &err), VF_USAGE);
    ck_assert_int_eq(vf_metric_find("accuracy", false, &metric, &err), VF_USAGE);
    ck_assert_ptr_nonnull(strstr(err.text, "labelled"));
}
END_TEST

/* --- stopped --- */

static VitfoldModel *model;
static VitfoldData *in;

static void load(void)
{
    VfErr err = {0};
    char path[512];
    const char *source = getenv("VITFOLD_SOURCE");
    snprintf(path, sizeof path, "%s/testdata/mnist/mnist_softmax_ln_op17.onnx",
             source == NULL ? "." : source);
    ck_assert_msg(vitfold_model_load(path, NULL, &model, &err) == VITFOLD_OK, "%s", err.text);
    in = vitfold_data_new();
    ck_assert_int_eq(vitfold_data_add_random(in, model, 1, NULL, 0, &err), VITFOLD_OK);
}

static void unload(void)
{
    vitfold_data_free(in);
    vitfold_model_free(model);
}

/* Stops when it was asked `*user` times. */
static int count_down(void *user, const char *what, size_t done, size_t total)
{
    int *left = user;
    ck_assert_ptr_nonnull(what);
    ck_assert_uint_lt(done, total);
    return (*left)-- <= 0;
}

static void check_stopped(int status, VitfoldReport *report, const VfErr *err)
{
    size_t size;
    ck_assert_int_eq(status, VITFOLD_CANCELLED);
    ck_assert_ptr_nonnull(strstr(err->text, "interrupted"));
    ck_assert_ptr_nonnull(strstr(vitfold_report_text(report, &size), "interrupted"));
    ck_assert_ptr_nonnull(strstr(vitfold_report_json(report, &size), "\"complete\": false"));
    vitfold_report_free(report);
}

START_TEST(bisect_is_stopped)
{
    VfErr err = {0};
    int left = _i;
    VitfoldReport *report = NULL;
    VitfoldPassOptions passes = {.passes = "default,softmax-to-relu"};
    VitfoldTrialOptions trial = {.in = in, .progress = count_down, .progress_user = &left};
    VitfoldThreshold threshold = {"rel", 0.01};
    int status = vitfold_bisect(model, &passes, &trial, &threshold, 1, &report, &err);
    check_stopped(status, report, &err);
}
END_TEST

START_TEST(sensitivity_is_stopped)
{
    VfErr err = {0};
    int left = _i;
    char words[40];
    size_t size;
    VitfoldReport *report = NULL;
    VitfoldPassOptions pass = {.passes = "normalize-skip"};
    VitfoldTrialOptions trial = {.in = in, .progress = count_down, .progress_user = &left};
    VitfoldSensitivityOptions options = {.budget = 1e9, .has_budget = 1};
    int status = vitfold_sensitivity(model, &pass, &trial, &options, &report, &err);
    ck_assert_ptr_nonnull(report);
    snprintf(words, sizeof words, "%d of 8 sites were measured", _i < 2 ? 0 : _i < 10 ? _i - 1 : 8);
    if (_i > 0)
        ck_assert_msg(strstr(vitfold_report_text(report, &size), words) != NULL, "%s",
                      vitfold_report_text(report, &size));
    ck_assert_ptr_null(vitfold_report_recipe(report, &size));
    check_stopped(status, report, &err);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("api/trial");
    TCase *metric = tcase_create("metric"), *stop = tcase_create("stop");
    tcase_add_loop_test(metric, metrics, 0, VF_METRIC_COUNT);
    tcase_add_test(metric, unknown_metrics);
    tcase_add_checked_fixture(stop, load, unload);
    tcase_add_loop_test(stop, bisect_is_stopped, 0, 5);
    tcase_add_loop_test(stop, sensitivity_is_stopped, 0, 12);
    suite_add_tcase(suite, metric);
    suite_add_tcase(suite, stop);
    return suite;
}

VF_CHECK_MAIN(make_suite)
