/* ln-to-repbn on models of the corpus. The reference puts a x + c in place of each norm, with a and
 * c from sums in double over what a run of the model as it was gave.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/api/session.h"
#include "passes/match/facts.h"
#include "passes/match/norm.h"
#include "passes/rewrite/rewrite.h"
#include "runtime/base/file.h"
#include "tests/support/check_main.h"

enum { N_NORM_MAX = 64 };

static const char *const model_name[] = {
    "tv_vit_op17_static",  "tv_vit_op11_static", "t09_swin_op11", "t10_swin_op19",
    "t09_pvtv2_op11",      "luc_xt_vit_rms_glu_op17_dyn", "own_gqa_op14_dyn",
    "slab_deit_ln_op17_dyn", "t09_convnext_op13",
};
enum { N_MODEL = sizeof model_name / sizeof *model_name };

static bool path_of(const char *name, char *path, size_t size)
{
    const char *corpus = getenv("VITFOLD_CORPUS");
    snprintf(path, size, "%s/models/%s.onnx", corpus == NULL ? "../shared" : corpus, name);
    return vf_file_exists(path);
}

static VitfoldModel *load(const char *path)
{
    VitfoldModel *model = NULL;
    VfErr err = {0};
    ck_assert_msg(vitfold_model_load(path, NULL, &model, &err) == VITFOLD_OK, "%s", err.text);
    return model;
}

static void transform(VitfoldModel *model, const char *words, const VitfoldData *data)
{
    VitfoldPassOptions options = {.passes = words, .calibration = data};
    VitfoldReport *report = NULL;
    VfErr err = {0};
    ck_assert_msg(vitfold_transform(model, &options, &report, &err) == VITFOLD_OK, "%s", err.text);
    vitfold_report_free(report);
}

/* Random inputs; symbolic sizes are 3. */
static VitfoldData *inputs_of(const VitfoldModel *model, uint64_t seed)
{
    VitfoldDim dim[16];
    size_t n = 0;
    VitfoldData *data = vitfold_data_new();
    VfErr err = {0};
    const VfGraph *graph = model->ir->graph;
    for (int32_t i = 0; i < graph->n_input; i++)
        for (int32_t d = 0; d < graph->input[i]->type.rank; d++) {
            VfDim size = graph->input[i]->type.dims[d];
            VfBytes name = vf_symbol_text(model->ir->symbols, size.sym);
            ck_assert_uint_lt(n, 16);
            if (!vf_dim_is_known(size))
                dim[n++] = (VitfoldDim){vf_arena_copy(model->arena, name.data, name.size), 3};
        }
    ck_assert_msg(vitfold_data_add_random(data, model, seed, dim, n, &err) == VITFOLD_OK, "%s",
                  err.text);
    return data;
}

/* --- the reference --- */

/* a and c of the channels along the norm's axis, as constants that broadcast. */
static void fit(const VfLayerNorm *norm, const VfArray *x, const VfArray *y, VfArena *arena,
                VfTensor **a, VfTensor **c)
{
    int32_t axis = norm->axis[0], n_dim = x->rank - axis;
    int64_t dims[8] = {x->dims[axis], 1, 1, 1, 1, 1, 1, 1}, width = x->dims[axis];
    void *a_data, *c_data;
    size_t inner = 1, n = x->count / (size_t)width;
    for (int32_t i = axis + 1; i < x->rank; i++)
        inner *= (size_t)x->dims[i];
    ck_assert_int_eq(vf_tensor_new(arena, VF_F32, n_dim, dims, a, &a_data, NULL), VF_OK);
    ck_assert_int_eq(vf_tensor_new(arena, VF_F32, n_dim, dims, c, &c_data, NULL), VF_OK);
    for (size_t ch = 0; ch < (size_t)width; ch++) {
        double mx = 0, my = 0, xx = 0, xy = 0;
        for (int pass = 0; pass < 2; pass++)
            for (size_t i = 0; i < n; i++) {
                size_t at = (i / inner * (size_t)width + ch) * inner + i % inner;
                double vx = vf_array_get_double(x, at), vy = vf_array_get_double(y, at);
                mx += pass == 0 ? vx / (double)n : 0;
                my += pass == 0 ? vy / (double)n : 0;
                xx += pass == 1 ? (vx - mx) * (vx - mx) : 0;
                xy += pass == 1 ? (vx - mx) * (vy - my) : 0;
            }
        double slope = xx > 0 ? xy / xx : 0;
        vf_tensor_put_double(a_data, VF_F32, ch, slope);
        vf_tensor_put_double(c_data, VF_F32, ch, my - slope * mx);
    }
}

static void put_affine(VitfoldModel *model, const VfLayerNorm *norm, VfValue *x, VfTensor *a,
                       VfTensor *c, VfValue **made)
{
    VfErr err = {0};
    VfRewriteInfo info = {"test", "affine", norm->label, NULL};
    VfRewrite *rw = vf_rewrite_begin(model->journal, norm->last, info);
    VfValue *scaled = vf_rewrite_binary(rw, VF_OP_MUL, x, vf_rewrite_const(rw, a, "a"));
    *made = vf_rewrite_binary(rw, VF_OP_ADD, scaled, vf_rewrite_const(rw, c, "c"));
    vf_rewrite_replace(rw, norm->y, *made);
    ck_assert_msg(vf_rewrite_commit(rw, &err) == VF_OK, "%s", err.text);
}

/* Returns how many norms there were. */
static int32_t make_reference(VitfoldModel *model, const VitfoldData *data)
{
    VfNorms found;
    VfErr err = {0};
    VfSession session;
    VfValue *value[2 * N_NORM_MAX], *made[N_NORM_MAX];
    transform(model, "normalize", NULL);
    ck_assert_int_eq(vf_find_norms(model->arena, model->ir, &found, &err), VF_OK);
    int32_t n = found.n_layer;
    ck_assert(n > 0 && n <= N_NORM_MAX);
    for (int32_t i = 0; i < n; i++) {
        value[2 * i] = found.layer[i].x;
        value[2 * i + 1] = found.layer[i].y;
    }
    ck_assert_msg(vf_session_open_keeping(model, data, NULL, 2 * n, value, &session, &err) == VF_OK,
                  "%s", err.text);
    ck_assert_int_eq(vf_session_run(&session, NULL, &err), VF_OK);
    int32_t n_own = session.plan->n_output - 2 * n;
    for (int32_t i = 0; i < n; i++) {
        VfArray x, y;
        VfTensor *a, *c;
        VfValue *source = found.layer[i].x;
        ck_assert_int_eq(vf_session_output(&session, n_own + 2 * i, &x, &err), VF_OK);
        ck_assert_int_eq(vf_session_output(&session, n_own + 2 * i + 1, &y, &err), VF_OK);
        fit(&found.layer[i], &x, &y, model->ir->arena, &a, &c);
        for (int32_t k = 0; k < i; k++)
            source = source == found.layer[k].y ? made[k] : source;
        put_affine(model, &found.layer[i], source, a, c, &made[i]);
    }
    vf_session_close(&session);
    return n;
}

/* --- comparing --- */

static void compare(const VitfoldModel *got_model, const VitfoldModel *want_model,
                    const VitfoldData *in, const char *what)
{
    VitfoldData *got = vitfold_data_new(), *want = vitfold_data_new();
    VfErr err = {0};
    ck_assert_msg(vitfold_run(got_model, in, got, NULL, &err) == VITFOLD_OK, "%s", err.text);
    ck_assert_msg(vitfold_run(want_model, in, want, NULL, &err) == VITFOLD_OK, "%s", err.text);
    ck_assert_uint_eq(got->n_array, want->n_array);
    for (size_t i = 0; i < want->n_array; i++) {
        const VfArray *g = &got->array[i].array, *w = &want->array[i].array;
        double low = INFINITY, high = -INFINITY, worst = 0;
        ck_assert_uint_eq(g->count, w->count);
        for (size_t k = 0; k < w->count; k++) {
            double v = vf_array_get_double(w, k);
            low = fmin(low, v);
            high = fmax(high, v);
            worst = fmax(worst, fabs(v - vf_array_get_double(g, k)));
        }
        ck_assert_msg(worst <= 1e-4 * (high - low), "%s, output %zu: off by %g, range %g", what, i,
                      worst, high - low);
    }
    vitfold_data_free(got);
    vitfold_data_free(want);
}

static int32_t n_edit_of(const VitfoldModel *model, const char *pass)
{
    int32_t n = 0;
    for (int32_t i = 0; i < model->n_stats; i++)
        n += strcmp(model->stats[i].pass->name, pass) == 0 ? model->stats[i].n_edit : 0;
    return n;
}

START_TEST(least_squares)
{
    char path[512];
    if (!path_of(model_name[_i], path, sizeof path))
        return; /* main says when there is no corpus at all */
    VitfoldModel *changed = load(path), *folded = load(path), *reference = load(path);
    VitfoldData *samples = inputs_of(changed, 3), *in = inputs_of(changed, 4);
    int32_t n = make_reference(reference, samples);
    transform(changed, "ln-to-repbn", samples);
    ck_assert_int_eq(n_edit_of(changed, "ln-to-repbn"), n);
    ck_assert_uint_eq(vitfold_model_n_refusal(changed), 0);
    compare(changed, reference, in, model_name[_i]);
    transform(folded, "progressive-norm", samples);
    transform(folded, "progressive-norm:finish=repbn,fold-repbn,fold-bn", NULL);
    compare(folded, reference, in, model_name[_i]);
    vitfold_data_free(samples);
    vitfold_data_free(in);
    vitfold_model_free(changed);
    vitfold_model_free(folded);
    vitfold_model_free(reference);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("norms of the corpus");
    TCase *tcase = tcase_create("norms of the corpus");
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, least_squares, 0, N_MODEL);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    char path[512];
    if (!path_of(model_name[0], path, sizeof path)) {
        printf("no corpus at '%s'\n", path);
        return VF_TEST_SKIPPED;
    }
    SRunner *runner = srunner_create(make_suite());
    srunner_run_all(runner, CK_ENV);
    int n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
