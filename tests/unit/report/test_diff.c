/* What diffs of small pairs say, and that a diff after a pass is what the journal says. */
#include "converter/report/diff.h"

#include <stdio.h>

#include "converter/lower/lower.h"
#include "converter/onnx/import.h"
#include "passes/manager.h"
#include "tests/support/check_main.h"
#include "tests/unit/ir/vft_case.h"

#define HEAD "model ir=8 opset=17\ngraph g (x: f32[2]) -> (z: f32[2]) {\n"
#define BASE HEAD \
    "w = const f32[2] {1, 2}\na = Mul(x, w)\nb = Relu(a)\nc = Sigmoid(a)\nd = Add(b, c)\n" \
    "e = Neg(d)\nz = Softmax(e) {axis=-1}\n}\n"

/* Second model; nodes changed, removed, added; constants that differ; notes; a part of the text. */
static const struct {
    const char *a, *b;
    size_t changed, removed, added, weights, notes;
    const char *text;
} row[] = {
    {BASE, BASE, 0, 0, 0, 0, 0, NULL},
    /* Everything renamed. */
    {BASE,
     HEAD "v = const f32[2] {1, 2}\nk = Mul(x, v)\nl = Relu(k)\nm = Sigmoid(k)\nn = Add(l, m)\n"
          "o = Neg(n)\nz = Softmax(o) {axis=-1}\n}\n",
     0, 0, 0, 0, 6, "name of value: 6 differ"},
    /* Renamed, and other weights. */
    {BASE,
     HEAD "v = const f32[2] {1, 3}\nk = Mul(x, v)\nl = Relu(k)\nm = Sigmoid(k)\nn = Add(l, m)\n"
          "o = Neg(n)\nz = Softmax(o) {axis=-1}\n}\n",
     0, 0, 0, 1, 6, "~ w: f32[2] {1, 2} -> f32[2] {1, 3}"},
    /* A node more. */
    {BASE,
     HEAD "w = const f32[2] {1, 2}\na = Mul(x, w)\nb = Relu(a)\nc = Sigmoid(a)\nd = Add(b, c)\n"
          "i = Abs(d)\ne = Neg(i)\nz = Softmax(e) {axis=-1}\n}\n",
     1, 0, 1, 0, 0, "+ i = Abs(d)"},
    /* A node more where nothing keeps its name. */
    {BASE,
     HEAD "v = const f32[2] {1, 2}\nk = Mul(x, v)\nl = Relu(k)\nm = Sigmoid(k)\nn = Add(l, m)\n"
          "i = Abs(n)\no = Neg(i)\nz = Softmax(o) {axis=-1}\n}\n",
     1, 0, 1, 0, 6, "operand 0: d -> i"},
    /* An operator in place of another, under the same name. */
    {BASE,
     HEAD "w = const f32[2] {1, 2}\na = Mul(x, w)\nb = Tanh(a)\nc = Sigmoid(a)\nd = Add(b, c)\n"
          "e = Neg(d)\nz = Softmax(e) {axis=-1}\n}\n",
     0, 1, 1, 0, 0, "- b = Relu(a)"},
    {BASE,
     HEAD "w = const f32[2] {1, 2}\na = Mul(x, w)\nb = Relu(a)\nc = Sigmoid(a)\nd = Add(b, c)\n"
          "e = Neg(d)\nz = Softmax(e) {axis=0}\n}\n",
     1, 0, 0, 0, 0, "attribute axis: -1 -> 0"},
    /* A default that is left out, and operands that changed places. */
    {BASE,
     HEAD "w = const f32[2] {1, 2}\na = Mul(x, w)\nb = Relu(a)\nc = Sigmoid(a)\nd = Add(c, b)\n"
          "e = Neg(d)\nz = Softmax(e)\n}\n",
     1, 0, 0, 0, 1, "first operand: b -> c"},
    /* Another order of the nodes is a difference, though of nothing else. */
    {BASE,
     HEAD "w = const f32[2] {1, 2}\na = Mul(x, w)\nc = Sigmoid(a)\nb = Relu(a)\nd = Add(b, c)\n"
          "e = Neg(d)\nz = Softmax(e) {axis=-1}\n}\n",
     0, 0, 0, 0, 0, "~ other"},
    /* Equal subtrees, one of them gone; one weight read twice. */
    {HEAD "w = const f32[2] {1, 2}\na = Mul(x, w)\nb = Mul(x, w)\nc = Relu(a)\nd = Relu(b)\n"
          "z = Add(c, d)\n}\n",
     HEAD "v = const f32[2] {1, 2}\nk = Mul(x, v)\nl = Relu(k)\nz = Add(l, l)\n}\n",
     1, 2, 0, 0, 3, "operand 1"},
};

static VfDiff *diff_of(const VfModel *a, const VfModel *b)
{
    VfErr err = {0};
    VfDiff *diff = NULL;
    VfStatus status = vf_diff_models(a->arena, a, b, &diff, &err);
    ck_assert_msg(status == VF_OK, "%s", err.text);
    return diff;
}

START_TEST(pairs)
{
    VfErr err = {0};
    VfModel *a = read_vft(row[_i].a), *b = read_vft(row[_i].b);
    VfDiff *diff = diff_of(a, b);
    VfDiffStyle style = {.context = 1};
    VfText text;
    VfBytes out;
    size_t n[3] = {0};
    for (size_t i = 0; i < diff->n_node; i++)
        n[diff->node[i].kind]++;
    vf_text_init(&text, a->arena);
    vf_text_string(&text, "");
    vf_text_char(&text, '\n');
    ck_assert_int_eq(vf_diff_text(diff, &style, &text, &err), VF_OK);
    ck_assert_int_eq(vf_text_get(&text, &out, &err), VF_OK);
    ck_assert_msg(n[VF_DIFF_CHANGED] == row[_i].changed && n[VF_DIFF_REMOVED] == row[_i].removed &&
                  n[VF_DIFF_ADDED] == row[_i].added, "%s", out.data);
    ck_assert_msg(diff->n_weight == row[_i].weights && diff->notes.n == row[_i].notes, "%s",
                  out.data);
    ck_assert_msg(vf_diff_is_empty(diff) == (row[_i].text == NULL), "%s", out.data);
    if (row[_i].text != NULL)
        ck_assert_msg(strstr(out.data, row[_i].text) != NULL, "%s", out.data);
    vf_model_free(a);
    vf_model_free(b);
}
END_TEST

/* --- journals --- */

static const char *const model[] = {
    "%s/models/t09_deit_tiny_op13_dyn.onnx", "%s/models/slab_swin_repbn_op13_dyn.onnx",
    "%s/models/own_gpt_fill_op13.onnx", "%s/models/t10_deit_tiny_op17_nofold.onnx"};

enum { N_MODEL = sizeof model / sizeof model[0] };

static VfStatus run_pass(VfModel *ir, const VfPass *pass)
{
    VfPipeline pipeline;
    VfPipelineOptions options = {.evaluator = vf_evaluator(), .stop_after = -1};
    VfJournal *journal = vf_journal_new(ir);
    int32_t n;
    VF_TRY(vf_pipeline_parse(ir->arena, pass->name, NULL, &pipeline, NULL));
    VfPassStats *stats = VF_NEW_ARRAY(ir->arena, VfPassStats,
                                      (size_t)vf_pipeline_stats_max(&pipeline));
    return vf_pipeline_run(ir, &pipeline, &options, journal, stats, &n, NULL);
}

/* Nodes of the file keep their ids: those that stayed must be twins, all others are edits. */
static void check_edits(const VfModel *a, const VfModel *b, const char *name)
{
    VfDiff *diff = diff_of(a, b);
    bool *stayed = VF_NEW_ARRAY(a->arena, bool, (size_t)b->n_node_id);
    ck_assert_ptr_nonnull(stayed);
    for (const VfNode *node = b->graph->first_node; node != NULL; node = node->next) {
        stayed[node->id] = node->id < a->n_node_id;
        const VfNode *twin = diff->align->node_a[node->id];
        if (stayed[node->id])
            ck_assert_msg(twin != NULL && twin->id == node->id, "%s: '%s' stayed", name,
                          vf_node_label(node));
    }
    for (const VfNode *node = a->graph->first_node; node != NULL; node = node->next) {
        const VfNode *twin = diff->align->node_b[node->id];
        ck_assert_msg(stayed[node->id] || twin == NULL || twin->id >= a->n_node_id,
                      "%s: '%s' went", name, vf_node_label(node));
    }
}

START_TEST(passes_are_told)
{
    const char *corpus = getenv("VITFOLD_CORPUS");
    char path[600];
    snprintf(path, sizeof path, model[_i], corpus == NULL ? "../shared" : corpus);
    for (int32_t i = 0; i < vf_pass_count; i++) {
        VfModel *a = NULL, *b = NULL;
        if (vf_onnx_import(path, NULL, &a, NULL) != VF_OK)
            return;
        ck_assert_int_eq(vf_onnx_import(path, NULL, &b, NULL), VF_OK);
        if (run_pass(b, vf_pass_table[i]) == VF_OK)
            check_edits(a, b, vf_pass_table[i]->name);
        vf_model_free(a);
        vf_model_free(b);
    }
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("diff");
    TCase *tcase = tcase_create("diff");
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, pairs, 0, sizeof row / sizeof row[0]);
    tcase_add_loop_test(tcase, passes_are_told, 0, N_MODEL);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
