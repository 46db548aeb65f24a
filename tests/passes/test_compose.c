/* How passes go together: a second run changes nothing, and two passes that may stand in either
 * order give the same function in both. Passes come from the table, so new ones are held to it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/api/handle.h"
#include "passes/order.h"
#include "tests/support/check_main.h"
#include "tests/support/temp_folder.h"
#include "tests/support/tool.h"

static char folder[256];

static void set_up(void)
{
    vf_temp_folder_make(folder, sizeof folder);
}

static void tear_down(void)
{
    vf_temp_folder_remove(folder);
}

/* Models of testdata ("%"), and of the corpus where there is one ("+"). */
static const char *const model_name[] = {
    "%mnist/mnist_softmax_ln_op17.onnx",
    "%mnist/mnist_softmax_prepbn_op17.onnx",
    "%onnx/full.onnx",
    "%onnx/plain.onnx",
    "%onnx/loop.onnx",
    "%onnx/patches.onnx",
    "+models/slab_deit_ln_op17_dyn.onnx",
    "+models/own_vit_repbn_op10_dyn.onnx",
    "+models/t09_swin_op11.onnx",
    "+models/luc_xt_gpt_causal_op14.onnx",
    "+models/own26_gpt_sdpa_op20.onnx",
};

enum { N_MODEL = sizeof model_name / sizeof *model_name };

/* Those with attention and norms, of which all pairs of passes are tried. */
static const int pair_model[] = {0, 1, 6, 7, 10};

/* The path of a model, or NULL if it is in a corpus that is not here. */
static const char *model_path(int i, char *path, size_t size)
{
    const char *corpus = getenv("VITFOLD_CORPUS");
    if (model_name[i][0] == '%')
        snprintf(path, size, "%s", vf_tool_path(folder, model_name[i]));
    else
        snprintf(path, size, "%s/%s", corpus == NULL ? "../shared" : corpus, model_name[i] + 1);
    return model_name[i][0] == '%' || vf_file_exists(path) ? path : NULL;
}

static VitfoldModel *load(const char *path)
{
    VitfoldModel *model = NULL;
    VfErr err = {0};
    ck_assert_msg(vitfold_model_load(path, NULL, &model, &err) == VITFOLD_OK, "%s", err.text);
    return model;
}

/* Run passes over the file `in` and write `out`. False if they cannot be run like this: a pass
 * wants data or an option that has no default, or cannot follow the other. */
static bool convert(const char *in, const char *out, const char *words, int32_t *n_edit)
{
    VitfoldPassOptions options = {.passes = words};
    VitfoldReport *report = NULL;
    VfErr err = {0};
    VitfoldModel *model = load(in);
    int status = vitfold_transform(model, &options, &report, &err);
    vitfold_report_free(report);
    if (status == VITFOLD_OK) {
        *n_edit = model->journal->n_edit;
        status = vitfold_model_save(model, vf_tool_path(folder, out), NULL, &err);
    }
    vitfold_model_free(model);
    bool is_asked_wrong = status == VITFOLD_USAGE || status == VITFOLD_UNSUPPORTED;
    ck_assert_msg(status == VITFOLD_OK || is_asked_wrong, "'%s' on '%s': %s", words, in, err.text);
    return status == VITFOLD_OK;
}

static void assert_same_file(const char *a, const char *b, const char *words, const char *model)
{
    size_t n_a = 0, n_b = 0;
    unsigned char *bytes_a = vf_tool_read(vf_tool_path(folder, a), &n_a);
    unsigned char *bytes_b = vf_tool_read(vf_tool_path(folder, b), &n_b);
    ck_assert(bytes_a != NULL && bytes_b != NULL);
    ck_assert_msg(n_a == n_b && memcmp(bytes_a, bytes_b, n_a) == 0,
                  "'%s' on '%s': the second file differs", words, model);
    free(bytes_a);
    free(bytes_b);
}

/* Passes that do not run by their name alone, with the options they need. */
static const char *words_of(const VfPass *pass)
{
    static const char *const with_options[] = {"insert-spa:tau=1", "ln-to-repbn:init=default",
                                               "transform-activation:n=24"};
    for (size_t i = 0; i < sizeof with_options / sizeof *with_options; i++) {
        size_t n = strcspn(with_options[i], ":");
        if (strlen(pass->name) == n && strncmp(pass->name, with_options[i], n) == 0)
            return with_options[i];
    }
    return pass->name;
}

/* --- a second run --- */

static void run_twice(const char *words)
{
    for (int i = 0; i < N_MODEL; i++) {
        char path[512];
        int32_t n_edit;
        if (model_path(i, path, sizeof path) == NULL || !convert(path, "@a.onnx", words, &n_edit))
            continue;
        ck_assert(convert(vf_tool_path(folder, "@a.onnx"), "@b.onnx", words, &n_edit));
        ck_assert_msg(n_edit == 0, "'%s' on '%s': %d edits in the second run", words,
                      model_name[i], (int)n_edit);
        assert_same_file("@a.onnx", "@b.onnx", words, model_name[i]);
    }
}

START_TEST(a_pass_settles_in_one_run)
{
    run_twice(words_of(vf_pass_table[_i]));
}
END_TEST

static const char *const pipeline[] = {
    "default",
    "none",
    "softmax-to-relu,default",
    "default,softmax-to-relu",
    "linearize-attention,default",
    "default,linearize-attention",
    "softmax-to-relu:sites=0;linearize-attention:sites=1;default",
    "softmax-to-relu:qk-norm=on,default",
    "softmax-to-relu:act=gelu,L=valid,gain=auto,default",
    "fold-bn,fold-repbn",
    "softmax-to-relu;insert-spa:tau=1",
    "softmax-to-relu;insert-spa:tau=1,form=split",
    "insert-spa:tau=1,kernel=u,fold=on;default",
    "ln-to-repbn:init=default;softmax-to-relu;insert-spa:tau=0.5;normalize-skip;default",
};

START_TEST(a_pipeline_settles_in_one_run)
{
    run_twice(pipeline[_i]);
}
END_TEST

/* --- two orders --- */

/* Both files on the same data, within 1e-4 of the largest output. */
static void assert_same_function(const char *a, const char *b, const char *words)
{
    VfErr err = {0};
    VitfoldReport *report = NULL;
    VitfoldData *in = vitfold_data_new();
    VitfoldModel *model_a = load(vf_tool_path(folder, a)), *model_b = load(vf_tool_path(folder, b));
    ck_assert_int_eq(vitfold_data_add_random(in, model_a, 7, NULL, 0, &err), VITFOLD_OK);
    int status = vitfold_compare(model_a, model_b, in, NULL, NULL, &report, &err);
    size_t size;
    ck_assert_msg(status == VITFOLD_OK, "'%s' and the other order differ: %s", words,
                  report != NULL ? vitfold_report_text(report, &size) : err.text);
    vitfold_report_free(report);
    vitfold_data_free(in);
    vitfold_model_free(model_a);
    vitfold_model_free(model_b);
}

/* Without data ln-to-repbn forgets a scale and shift that were not folded before. */
static bool is_other_start(const char *one, const char *other)
{
    return strcmp(one, "fold-ln-affine") == 0 && strncmp(other, "ln-to-repbn", 11) == 0;
}

START_TEST(allowed_orders_give_one_function)
{
    for (int32_t k = 0; k < _i; k++) {
        const char *one = words_of(vf_pass_table[_i]), *other = words_of(vf_pass_table[k]);
        if (is_other_start(one, other))
            continue;
        char words[256], swapped[256], path[512];
        snprintf(words, sizeof words, "%s;%s", one, other);
        snprintf(swapped, sizeof swapped, "%s;%s", other, one);
        for (size_t i = 0; i < sizeof pair_model / sizeof *pair_model; i++) {
            int32_t n_edit;
            if (model_path(pair_model[i], path, sizeof path) == NULL)
                continue;
            if (convert(path, "@a.onnx", words, &n_edit) &&
                convert(path, "@b.onnx", swapped, &n_edit))
                assert_same_function("@a.onnx", "@b.onnx", words);
        }
    }
}
END_TEST

/* --- the table --- */

START_TEST(every_row_is_refused)
{
    const VfOrderRow *row = &vf_order_table[_i];
    VfErr err = {0};
    VfPipeline pair;
    const VfPass *first = vf_pass_find(row->first), *then = vf_pass_find(row->then);
    if (first == NULL || then == NULL)
        return; /* rows may be there before their passes */
    VfArena *arena = vf_arena_new();
    char words[256];
    snprintf(words, sizeof words, "%s;fold-bn;%s", row->first, row->then);
    ck_assert_int_eq(vf_pipeline_parse(arena, words, NULL, &pair, &err), VF_USAGE);
    ck_assert_msg(strstr(err.text, row->why) != NULL, "'%s'", err.text);
    snprintf(words, sizeof words, "%s:sites=0-1;%s:sites=2", row->first, row->then);
    ck_assert_msg(vf_pipeline_parse(arena, words, NULL, &pair, &err) == VF_OK, "%s", err.text);
    vf_arena_free(arena);
}
END_TEST

/* Where neither one command line nor the selections tell, the site does: in a later run, and by
 * names that meet. */
START_TEST(what_insert_spa_made_is_known)
{
    static const char *const after[] = {"softmax-to-relu", "linearize-attention:dwc=off"};
    const char *path = vf_tool_path(folder, model_name[0]);
    int32_t n_alone, n_edit;
    char words[256];
    ck_assert(convert(path, "@a.onnx", "insert-spa:tau=1", &n_alone));
    for (size_t i = 0; i < sizeof after / sizeof *after; i++) {
        ck_assert(convert(vf_tool_path(folder, "@a.onnx"), "@b.onnx", after[i], &n_edit));
        ck_assert_int_eq(n_edit, 0);
        snprintf(words, sizeof words, "insert-spa:tau=1,sites=*Soft*;%s%csites=*max*", after[i],
                 strchr(after[i], ':') == NULL ? ':' : ',');
        ck_assert(convert(path, "@b.onnx", words, &n_edit));
        ck_assert_int_eq(n_edit, n_alone);
    }
}
END_TEST

#define LOOP(tcase, test, rows) \
    tcase_add_loop_test(tcase, test, 0, (int)(sizeof rows / sizeof rows[0]))

static Suite *make_suite(void)
{
    Suite *suite = suite_create("compose");
    TCase *tests = tcase_create("compose");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_set_timeout(tests, 300);
    tcase_add_loop_test(tests, a_pass_settles_in_one_run, 0, vf_pass_count);
    LOOP(tests, a_pipeline_settles_in_one_run, pipeline);
    tcase_add_loop_test(tests, allowed_orders_give_one_function, 0, vf_pass_count);
    tcase_add_test(tests, what_insert_spa_made_is_known);
    tcase_add_loop_test(tests, every_row_is_refused, 0, vf_order_count);
    suite_add_tcase(suite, tests);
    return suite;
}

VF_CHECK_MAIN(make_suite)
