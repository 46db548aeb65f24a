/* Key positions that linearize-attention is given in the layout of SLAB, [1, N, heads d]: the same
 * function as the table added to the keys of the old graph before their heads are split. */
#include <stdio.h>
#include <string.h>

#include "converter/lower/lower.h"
#include "passes/ir/vft.h"
#include "passes/manager.h"
#include "tests/support/check_main.h"
#include "tests/support/run_model.h"
#include "tests/support/run_pass.h"

enum { N = 4, C = 6 };

#define MODEL                                                                                      \
    "model ir=10 opset=23\n\n"                                                                     \
    "graph g (q: f32[2, 4, 6], x: f32[2, 4, 6], v: f32[2, 4, 6]) -> (y) {\n"                       \
    "    p = const f32[1, 4, 6] {%s}\n"                                                            \
    "    four = const i64[4] {0, 0, 2, 3}\n"                                                       \
    "    flat = const i64[3] {-1, 4, 3}\n"                                                         \
    "    k = Add(x, p) @k\n"
#define SPLIT(x)                                                                                   \
    "    " x "r = Reshape(" x ", four) @" x "r\n"                                                  \
    "    " x "h = Transpose(" x "r) {perm=[0, 2, 1, 3]} @" x "h\n"
#define FOLD(x) SPLIT(x) "    " x "f = Reshape(" x "h, flat) @" x "f\n"

/* Heads on an axis, folded into the batch, side by side in one operator. */
static const char *const layout[] = {
    MODEL SPLIT("q") SPLIT("k") SPLIT("v")
        "    kt = Transpose(kh) {perm=[0, 1, 3, 2]} @kt\n    s = MatMul(qh, kt) @s\n"
        "    w = Softmax(s) {axis=-1} @softmax\n    y = MatMul(w, vh) @o\n}\n",
    MODEL FOLD("q") FOLD("k") FOLD("v")
        "    kt = Transpose(kf) {perm=[0, 2, 1]} @kt\n    s = MatMul(qf, kt) @s\n"
        "    w = Softmax(s) {axis=-1} @softmax\n    y = MatMul(w, vf) @o\n}\n",
    MODEL "    y = Attention(q, k, v) {q_num_heads=2, kv_num_heads=2} @o\n}\n",
};
enum { N_LAYOUT = sizeof layout / sizeof layout[0] };

static double position(int32_t i)
{
    return (i * 7 % 11 - 5) / 8.0;
}

static VfModel *make_model(const char *format, bool has_positions)
{
    char numbers[512] = "", text[2048];
    size_t at = 0;
    VfModel *model = NULL;
    VfErr err = {0};
    for (int32_t i = 0; i < N * C; i++)
        at += (size_t)snprintf(numbers + at, sizeof numbers - at, "%s%g", i > 0 ? ", " : "",
                               has_positions ? position(i) : 0);
    const char *hole = strstr(format, "%s");
    snprintf(text, sizeof text, "%.*s%s%s", (int)(hole - format), format, numbers, hole + 2);
    ck_assert_msg(vf_vft_parse(vf_bytes(text), "text", &model, &err) == VF_OK, "%s", err.text);
    return model;
}

/* "ok.npz" holds the table, "turned.npz" heads before tokens, "other.npz" none for this site. */
static VfStatus read_arrays(const VfArrayReader *self, VfArena *arena, const char *path,
                            VfArrayFile *file, VfErr *err)
{
    bool is_turned = strcmp(path, "turned.npz") == 0, is_other = strcmp(path, "other.npz") == 0;
    const int64_t dims[] = {1, is_turned ? C : N, is_turned ? N : C};
    VfTensor *tensor;
    void *data;
    (void)self;
    VF_TRY(vf_tensor_new(arena, VF_F32, 3, dims, &tensor, &data, err));
    for (int32_t i = 0; i < N * C; i++)
        vf_tensor_put_double(data, VF_F32, (size_t)i, position(i));
    *file = (VfArrayFile){1, VF_NEW_ARRAY(arena, const char *, 1),
                          VF_NEW_ARRAY(arena, const VfTensor *, 1)};
    file->name[0] = is_other ? "7.position" : "0.position";
    file->tensor[0] = tensor;
    return VF_OK;
}

static VfStatus run_given(VfModel *model, const char *options, VfJournal **journal, VfErr *err)
{
    char text[128];
    VfPipeline pipeline;
    VfArrayReader reader = {read_arrays};
    VfPipelineOptions run = {
        .evaluator = vf_evaluator(), .stop_after = -1, .arrays = &reader};
    *journal = vf_journal_new(model);
    snprintf(text, sizeof text, "linearize-attention:dwc=off,%s", options);
    VF_TRY(vf_pipeline_parse(model->arena, text, NULL, &pipeline, err));
    return vf_pipeline_run(model, &pipeline, &run, *journal, NULL, NULL, err);
}

START_TEST(given_table_is_the_sum_before_the_split)
{
    static const char *const order[] = {"linear", "quadratic"};
    char words[64], given[96];
    VfErr err = {0};
    VfJournal *journal;
    VfTestOutputs outputs[2];
    VfModel *model[] = {make_model(layout[_i / 2], true), make_model(layout[_i / 2], false)};
    snprintf(words, sizeof words, "linearize-attention:dwc=off,order=%s", order[_i % 2]);
    snprintf(given, sizeof given, "order=%s,key-position=npz,position-file=ok.npz", order[_i % 2]);
    ck_assert_int_eq(vf_test_passes(model[0], words)->n_edit, 1);
    ck_assert_msg(run_given(model[1], given, &journal, &err) == VF_OK, "%s", err.text);
    ck_assert_int_eq(journal->n_edit, 1);
    for (int i = 0; i < 2; i++) {
        journal = vf_test_passes(model[i], words);
        ck_assert_msg(journal->n_edit + journal->n_refusal == 0, "%d is not told linear", i);
        ck_assert_msg(vf_test_run(model[i], 3, model[i]->arena, &outputs[i], &err) == VF_OK, "%s",
                      err.text);
    }
    ck_assert_double_lt(vf_test_distance(&outputs[0], &outputs[1]), 1e-6);
    vf_model_free(model[0]);
    vf_model_free(model[1]);
}
END_TEST

static const struct {
    const char *options;
    VfStatus status;
    const char *says; /* the error, or the refusal under VF_OK */
} bad[] = {
    {"key-position=npz", VF_USAGE, "npz needs position-file"},
    {"key-position=on,position-file=ok.npz", VF_USAGE, "key-position=npz only"},
    {"key-position=npz,position-file=turned.npz", VF_USAGE,
     "option 'position-file': array '0.position' is not [1, 4, 6] of numbers"},
    {"key-position=npz,position-file=other.npz", VF_OK, "no array of position-file"},
};

START_TEST(what_is_missing_is_told)
{
    VfErr err = {0};
    VfJournal *journal;
    VfModel *model = make_model(layout[0], false);
    VfStatus status = run_given(model, bad[_i].options, &journal, &err);
    ck_assert_msg(status == bad[_i].status, "%s: %s", bad[_i].options, err.text);
    ck_assert_int_eq(journal->n_edit, 0);
    const char *text = status == VF_OK ? journal->refusal[0].reason : err.text;
    ck_assert_msg(strstr(text, bad[_i].says) != NULL, "%s: %s", bad[_i].options, text);
    vf_model_free(model);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("key positions");
    TCase *tcase = tcase_create("cases");
    tcase_add_loop_test(tcase, given_table_is_the_sum_before_the_split, 0, 2 * N_LAYOUT);
    tcase_add_loop_test(tcase, what_is_missing_is_told, 0, sizeof bad / sizeof bad[0]);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
