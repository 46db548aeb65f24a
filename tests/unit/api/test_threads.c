/* One loaded model run from many threads at once, and runs on any number of threads: the same bits
 * as alone. Built with ThreadSanitizer (preset `threads`) it also shows that nothing races.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "converter/api/vitfold.h"
#include "tests/support/check_main.h"

enum { N_THREAD = 8, N_TURN = 4 };

static char path_text[512];
static VitfoldModel *model;
static VitfoldData *in, *expected;

static const char *source_path(const char *file)
{
    const char *source = getenv("VITFOLD_SOURCE");
    snprintf(path_text, sizeof path_text, "%s/%s", source == NULL ? "." : source, file);
    return path_text;
}

static VitfoldData *run(int n_thread, int is_reference)
{
    VitfoldRunOptions options = {.n_thread = n_thread, .reference = is_reference};
    VitfoldError *error = vitfold_error_new();
    VitfoldData *out = vitfold_data_new();
    int status = vitfold_run(model, in, out, &options, error);
    ck_assert_msg(status == VITFOLD_OK, "%s", vitfold_error_text(error));
    vitfold_error_free(error);
    return out;
}

static bool is_equal(const VitfoldData *a, const VitfoldData *b)
{
    bool same = vitfold_data_count(a) == vitfold_data_count(b);
    for (size_t i = 0; same && i < vitfold_data_count(a); i++) {
        VitfoldTensor x = vitfold_data_at(a, i), y = vitfold_data_at(b, i);
        same = x.bytes == y.bytes && memcmp(x.data, y.data, x.bytes) == 0;
    }
    return same;
}

static void set_up(void)
{
    VitfoldError *error = vitfold_error_new();
    VitfoldDim batch = {"batch", 3};
    const char *path = source_path("testdata/mnist/mnist_softmax_prepbn_op17.onnx");
    ck_assert_int_eq(vitfold_model_load(path, NULL, &model, error), VITFOLD_OK);
    in = vitfold_data_new();
    ck_assert_int_eq(vitfold_data_add_random(in, model, 1, &batch, 1, error), VITFOLD_OK);
    vitfold_error_free(error);
}

static void tear_down(void)
{
    vitfold_data_free(expected);
    vitfold_data_free(in);
    vitfold_model_free(model);
    expected = NULL;
}

/* Whether every turn of one thread gave the expected bits. */
static void *run_turns(void *result)
{
    bool *is_same = result;
    *is_same = true;
    for (int i = 0; i < N_TURN; i++) {
        VitfoldData *out = run(1 + i % 2, i % 2);
        *is_same = *is_same && (i % 2 == 1 || is_equal(out, expected));
        vitfold_data_free(out);
    }
    return NULL;
}

START_TEST(one_model_runs_from_many_threads)
{
    pthread_t thread[N_THREAD];
    bool is_same[N_THREAD];
    expected = run(1, 0);
    for (int i = 0; i < N_THREAD; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, run_turns, &is_same[i]), 0);
    for (int i = 0; i < N_THREAD; i++) {
        ck_assert_int_eq(pthread_join(thread[i], NULL), 0);
        ck_assert_msg(is_same[i], "thread %d got other bits", i);
    }
}
END_TEST

START_TEST(results_do_not_depend_on_the_number_of_threads)
{
    static const int n_thread[] = {2, 3, 4, 7, 16, 0};
    expected = run(1, _i);
    for (size_t i = 0; i < sizeof n_thread / sizeof n_thread[0]; i++) {
        VitfoldData *out = run(n_thread[i], _i);
        ck_assert_msg(is_equal(out, expected), "%d threads gave other bits", n_thread[i]);
        vitfold_data_free(out);
    }
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("threads");
    TCase *tcase = tcase_create("runs");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, one_model_runs_from_many_threads);
    tcase_add_loop_test(tcase, results_do_not_depend_on_the_number_of_threads, 0, 2);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
