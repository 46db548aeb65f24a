/* Runs every tests/unit/match/cases/NAME.vft:
 *
 *     # free comment
 *     # normalize: yes                   clean-up passes first; default no
 *     model ir=8 opset=17 ...            the input
 *     ==== sites
 *     attention softmax at softmax       what the matcher finds, in order: attention, misses,
 *         scale 0.5 by scaled            layer norms, batch norms; see print_sites
 *
 * Matching must not change the graph. VF_BLESS=1 rewrites what is expected.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/lower/lower.h"
#include "passes/ir/vft.h"
#include "passes/manager.h"
#include "passes/match/attention.h"
#include "passes/match/norm.h"
#include "tests/support/case_files.h"
#include "tests/support/check_main.h"

static const char SITES[] = "==== sites\n";

static VfCaseFiles cases;

/* --- printing --- */

typedef struct Printer {
    VfText text;
    VfArena *arena;
    VfModel *model;
} Printer;

static const char *dim(const Printer *p, VfDim d)
{
    return vf_dim_text(p->arena, p->model->symbols, d);
}

static const char *type(const Printer *p, const VfValue *value)
{
    return value ? vf_type_text(p->arena, p->model->symbols, &value->type) : "none";
}

static void print_terms(Printer *p, const VfAttention *a)
{
    for (int32_t i = 0; i < a->n_term; i++) {
        const VfLogitTerm *term = &a->term[i];
        vf_text_printf(&p->text, "    %s %s at %s", term->is_mask ? "mask" : "term",
                       vf_value_label(term->value), vf_node_label(term->node));
        if (!isnan(term->lowest))
            vf_text_printf(&p->text, ", lowest %.4g", term->lowest);
        vf_text_char(&p->text, '\n');
    }
}

static void print_scale(Printer *p, const VfAttention *a)
{
    vf_text_printf(&p->text, "    scale %.4g", a->scale);
    if (a->scale_value != NULL)
        vf_text_printf(&p->text, " times %s", vf_value_label(a->scale_value));
    for (int32_t i = 0; i < a->n_scale_node; i++)
        vf_text_printf(&p->text, "%s%s", i == 0 ? " by " : ", ", vf_node_label(a->scale_node[i]));
    vf_text_char(&p->text, '\n');
}

static void print_shifts(Printer *p, const VfAttention *a)
{
    for (int32_t i = 0; i < a->n_shift; i++)
        vf_text_printf(&p->text, "    shift at %s\n", vf_node_label(a->shift[i].node));
    if (a->why_shift != NULL)
        vf_text_printf(&p->text, "    %s\n", a->why_shift);
    if (!(fabs(a->gain - 1.0) <= 0.0))
        vf_text_printf(&p->text, "    weights times %.4g\n", a->gain);
}

static void print_flags(Printer *p, const VfAttention *a)
{
    static const char *const mask[] = {"", " const-mask", " window-mask", " causal-mask",
                                       " runtime-mask"};
    bool has_grid = a->grid_h.sym != VF_SYM_UNKNOWN;
    vf_text_printf(&p->text, "    is%s%s%s%s%s", mask[a->mask], a->has_bias ? " biased" : "",
                   a->is_cross ? " cross" : "", a->is_causal ? " causal" : "",
                   a->is_window ? " window" : "");
    if (a->is_window)
        vf_text_printf(&p->text, ", %s windows", dim(p, a->windows));
    if (has_grid)
        vf_text_printf(&p->text, ", grid %s x %s after %s", dim(p, a->grid_h), dim(p, a->grid_w),
                       dim(p, a->prefix));
    vf_text_char(&p->text, '\n');
}

static void print_attention(Printer *p, const VfAttention *a)
{
    static const char *const kind[] = {"softmax", "pointwise", "linear", "other"};
    ck_assert_ptr_nonnull(a->norm_node);
    ck_assert(a->kind == VF_ATTENTION_OTHER ? a->why != NULL : a->why == NULL);
    vf_text_printf(&p->text, "attention %s at %s\n", kind[a->kind], a->label);
    if (a->act != NULL)
        vf_text_printf(&p->text, "    %s, alpha %.4g\n", a->act, a->alpha);
    vf_text_printf(&p->text, "    q %s, k %s, v %s\n", type(p, a->q), type(p, a->k), type(p, a->v));
    vf_text_printf(&p->text, "    scores %s, probs %s, values %s\n",
                   a->score_node ? vf_node_label(a->score_node) : "none",
                   a->probs ? vf_value_label(a->probs) : "none",
                   a->value_node ? vf_node_label(a->value_node) : "none");
    vf_text_printf(&p->text, "    heads %s, queries %s, keys %s (axis %d), d %s, d_v %s\n",
                   dim(p, a->heads), dim(p, a->n_q), dim(p, a->n_k), a->key_axis, dim(p, a->d),
                   dim(p, a->d_v));
    print_scale(p, a);
    print_terms(p, a);
    print_shifts(p, a);
    print_flags(p, a);
}

static void print_layer_norm(Printer *p, const VfLayerNorm *n)
{
    vf_text_printf(&p->text, "%s %s to %s%s%s\n", n->is_rms ? "rms_norm" : "layer_norm",
                   vf_node_label(n->root), vf_node_label(n->last),
                   n->is_decomposed ? "" : " (operator)",
                   n->is_over_channels ? " over channels" : "");
    vf_text_printf(&p->text, "    x %s, y %s, width %s, epsilon %.4g, scale %s, shift %s, axes",
                   vf_value_label(n->x), vf_value_label(n->y), dim(p, n->width), n->epsilon,
                   n->scale ? vf_value_label(n->scale) : "none",
                   n->shift ? vf_value_label(n->shift) : "none");
    for (int32_t i = 0; i < n->n_axis; i++)
        vf_text_printf(&p->text, " %d", n->axis[i]);
    vf_text_char(&p->text, '\n');
}

static void print_batch_norm(Printer *p, const VfBatchNorm *n)
{
    vf_text_printf(&p->text, "batch_norm %s%s%s%s, %lld channels\n", n->label,
                   n->is_rep ? " rep to " : "", n->is_rep ? vf_node_label(n->last) : "",
                   n->n_back > 0 ? " behind a move" : "", (long long)n->channels);
    if (n->is_rep)
        vf_text_printf(&p->text, "    eta %s\n", n->eta ? vf_value_label(n->eta) : "1");
    if (n->why != NULL)
        vf_text_printf(&p->text, "    %s\n", n->why);
}

static VfBytes print_sites(VfArena *arena, VfModel *model)
{
    Printer p = {.arena = arena, .model = model};
    VfErr err = {0};
    VfAttentions found;
    VfNorms norms;
    VfBytes out;
    vf_text_init(&p.text, arena);
    ck_assert_msg(vf_find_attention(arena, model, &found, &err) == VF_OK, "%s", err.text);
    ck_assert_msg(vf_find_norms(arena, model, &norms, &err) == VF_OK, "%s", err.text);
    for (int32_t i = 0; i < found.n_site; i++)
        print_attention(&p, &found.site[i]);
    for (int32_t i = 0; i < found.n_miss; i++)
        vf_text_printf(&p.text, "miss %s\n", found.miss[i].reason);
    for (int32_t i = 0; i < norms.n_layer; i++)
        print_layer_norm(&p, &norms.layer[i]);
    for (int32_t i = 0; i < norms.n_batch; i++)
        print_batch_norm(&p, &norms.batch[i]);
    ck_assert_int_eq(vf_text_get(&p.text, &out, &err), VF_OK);
    return out;
}

static VfBytes print_model(VfArena *arena, const VfModel *model)
{
    VfText text;
    VfBytes out;
    VfErr err = {0};
    vf_text_init(&text, arena);
    ck_assert_int_eq(vf_vft_print(model, (VfVftStyle){.with_data = true}, &text, &err), VF_OK);
    ck_assert_int_eq(vf_text_get(&text, &out, &err), VF_OK);
    return out;
}

/* --- one case --- */

static void prepare(VfModel *model, const char *text)
{
    VfErr err = {0};
    VfStatus status = strstr(text, "# normalize: yes\n") != NULL
                          ? vf_normalize_model(model, vf_evaluator(), vf_journal_new(model), &err)
                          : vf_infer_graph(model->graph, NULL, &err);
    ck_assert_msg(status == VF_OK, "%s", err.text);
}

static void bless(const char *path, const char *input, size_t input_size, VfBytes sites)
{
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    fprintf(file, "%.*s%s%.*s", (int)input_size, input, SITES, (int)sites.size, sites.data);
    ck_assert_int_eq(fclose(file), 0);
}

START_TEST(case_matches)
{
    const char *path = cases.path[_i];
    VfArena *arena = vf_arena_new();
    char *text = vf_case_text(arena, path);
    const char *expected = strstr(text, SITES);
    size_t input_size = expected ? (size_t)(expected - text) : strlen(text);
    VfErr err = {0};
    VfModel *model = NULL;
    VfStatus status = vf_vft_parse((VfBytes){text, input_size}, path, &model, &err);
    ck_assert_msg(status == VF_OK, "%s", err.text);
    prepare(model, text);
    VfBytes before = print_model(arena, model);
    VfBytes sites = print_sites(arena, model);
    ck_assert_msg(vf_bytes_is_equal(before, print_model(arena, model)), "%s: matching changed it",
                  path);
    if (getenv("VF_BLESS") != NULL) {
        bless(path, text, input_size, sites);
    } else {
        ck_assert_msg(expected != NULL, "%s: no expected sites", path);
        ck_assert_msg(strcmp(expected + sizeof SITES - 1, sites.data) == 0, "%s: found\n%s", path,
                      sites.data);
    }
    vf_model_free(model);
    vf_arena_free(arena);
}
END_TEST

START_TEST(there_are_cases)
{
    ck_assert_int_gt(cases.n, 0);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("match_cases");
    TCase *tcase = tcase_create("cases");
    cases = vf_case_files("tests/unit/match/cases");
    tcase_add_test(tcase, there_are_cases);
    tcase_add_loop_test(tcase, case_matches, 0, cases.n);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
