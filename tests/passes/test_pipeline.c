/* The words of --passes, the selection of sites, and what the manager counts. */
#include "passes/manager.h"

#include <string.h>

#include "converter/lower/lower.h"
#include "passes/ir/vft.h"
#include "tests/support/check_main.h"

/* --- parsing --- */

typedef struct Words {
    const char *text, *skip;
    const char *items; /* texts of the items joined by ' '; NULL: a mistake */
    const char *says;  /* part of the sentence of a mistake */
} Words;

static const Words words[] = {
    {"none", NULL, "", NULL},
    {"fold-bn", NULL, "fold-bn", NULL},
    {"fold-repbn,fold-bn", NULL, "fold-repbn fold-bn", NULL},
    {"fold-repbn;fold-bn", NULL, "fold-repbn fold-bn", NULL},
    {"fold-bn:sites=0-5", NULL, "fold-bn:sites=0-5", NULL},
    {"fold-bn:sites=0-5,9", NULL, "fold-bn:sites=0-5,9", NULL},
    {"fold-bn:sites=0-5,9,fold-repbn", NULL, "fold-bn:sites=0-5,9 fold-repbn", NULL},
    {"fold-bn:sites=blk.*/norm?,fold-repbn", NULL, "fold-bn:sites=blk.*/norm? fold-repbn", NULL},
    {"fold-bn,sites=windows-only", NULL, "fold-bn:sites=windows-only", NULL},
    {"fold-repbn,fold-bn", "fold-repbn", "fold-bn", NULL},
    {"fold-repbn,fold-bn", "fold-bn,fold-repbn", "", NULL},
    {"fold-bm", NULL, NULL, "unknown pass 'fold-bm', did you mean 'fold-bn'"},
    {"fold-bn,9", NULL, NULL, "has no option '9'"},
    {"fold-bn:depth=3", NULL, NULL, "pass 'fold-bn' has no option 'depth=3'"},
    {"fold-bn:sites=5-2", NULL, NULL, "sites '5-2' is neither a number nor a range"},
    {"fold-bn:sites=1-", NULL, NULL, "sites '1-' is neither"},
    {"fold-bn:sites=", NULL, NULL, "sites '' is neither a number nor a range like 0-5"},
    {"fold-bn:sites=,fold-repbn", NULL, NULL, "sites '' is neither a number"},
    {"softmax-to-relu:sites=,alpha=1", NULL, NULL, "sites '' is neither a number"},
    {"default:sites=", NULL, NULL, "'default' takes no options"},
    {"sofmax", NULL, NULL, "unknown pass 'sofmax', did you mean 'softmax-to-relu'"},
    {"sofmax-to-relu", NULL, NULL, "did you mean 'softmax-to-relu'"},
    {"linearise", NULL, NULL, "did you mean 'linearize-attention'"},
    {"fold-bn:sites=99999999999", NULL, NULL, "is neither a number"},
    {"fold-bn", "fold-b", NULL, "unknown pass 'fold-b'"},
    {"none,fold-bn", NULL, NULL, "'none' goes with no other pass"},
    {"default:sites=1", NULL, NULL, "'default' takes no options"},
    {"", NULL, NULL, "no pass is named"},
    {",;,", NULL, NULL, "no pass is named"},
    {"softmax-to-relu,linearize-attention", NULL, NULL,
     "'linearize-attention' cannot follow 'softmax-to-relu' on the same sites: "},
    {"linearize-attention,fold-bn,softmax-to-relu:sites=2", NULL, NULL, "'softmax-to-relu' cannot"},
    {"softmax-to-relu:sites=0-3,linearize-attention:sites=2,9", NULL, NULL, "cannot follow"},
    {"softmax-to-relu:sites=0-3,linearize-attention:sites=4-9", NULL,
     "softmax-to-relu:sites=0-3 linearize-attention:sites=4-9", NULL},
    {"softmax-to-relu:sites=windows-only,linearize-attention:sites=windows-only", NULL, NULL,
     "cannot follow"},
    {"softmax-to-relu:sites=windows-only,linearize-attention:sites=global-only", NULL,
     "softmax-to-relu:sites=windows-only linearize-attention:sites=global-only", NULL},
    {"softmax-to-relu:sites=a*,linearize-attention:sites=b*", NULL,
     "softmax-to-relu:sites=a* linearize-attention:sites=b*", NULL},
    {"softmax-to-relu,linearize-attention", "softmax-to-relu", "linearize-attention", NULL},
    {"softmax-to-relu,softmax-to-relu", NULL, "softmax-to-relu softmax-to-relu", NULL},
    {"softmax-to-relu,softmax-to-relu:alpha=0.5", NULL, NULL,
     "'softmax-to-relu' is named twice for the same sites with different 'alpha'"},
    {"softmax-to-relu:sites=1,softmax-to-relu:sites=0,alpha=0.5", NULL,
     "softmax-to-relu:sites=1 softmax-to-relu:alpha=0.5,sites=0", NULL},
};

START_TEST(pipeline_words)
{
    const Words *w = &words[_i];
    VfErr err = {0};
    VfPipeline pipeline;
    VfArena *arena = vf_arena_new();
    VfStatus status = vf_pipeline_parse(arena, w->text, w->skip, &pipeline, &err);
    if (w->items == NULL) {
        ck_assert_int_eq(status, VF_USAGE);
        ck_assert_msg(strstr(err.text, w->says) != NULL, "'%s' lacks '%s'", err.text, w->says);
    } else {
        char items[512] = "";
        ck_assert_msg(status == VF_OK, "%s", err.text);
        for (int32_t i = 0; i < pipeline.n_item; i++) {
            strcat(items, i > 0 ? " " : "");
            strcat(items, pipeline.item[i].text);
        }
        ck_assert_str_eq(items, w->items);
    }
    vf_arena_free(arena);
}
END_TEST

START_TEST(default_is_every_default_pass_in_order)
{
    VfErr err = {0};
    VfPipeline pipeline;
    VfArena *arena = vf_arena_new();
    ck_assert_int_eq(vf_pipeline_parse(arena, "default", "fold-bn", &pipeline, &err), VF_OK);
    int32_t at = 0;
    for (int32_t i = 0; i < vf_pass_count; i++) {
        const VfPass *pass = vf_pass_table[i];
        if (pass->is_default && strcmp(pass->name, "fold-bn") != 0)
            ck_assert_ptr_eq(pipeline.item[at++].pass, pass);
    }
    ck_assert_int_eq(at, pipeline.n_item);
    ck_assert_int_gt(at, 0);
    vf_arena_free(arena);
}
END_TEST

/* Every pass can be found by its name, and says what it is. */
START_TEST(the_table_is_whole)
{
    for (int32_t i = 0; i < vf_pass_count; i++) {
        const VfPass *pass = vf_pass_table[i];
        ck_assert_ptr_eq(vf_pass_find(pass->name), pass);
        ck_assert(pass->summary != NULL && pass->run != NULL);
        ck_assert((pass->option == NULL) == (pass->options_bytes == 0));
    }
    ck_assert_ptr_null(vf_pass_find("no-such-pass"));
}
END_TEST

/* --- sites --- */

typedef struct Selection {
    const char *spec;
    VfSiteFacts site;
    bool selected;
} Selection;

static const Selection selection[] = {
    {NULL, {0, "a", false}, true},          {"all", {7, "a", false}, true},
    {"0-5,9", {5, "a", false}, true},       {"0-5,9", {9, "a", false}, true},
    {"0-5,9", {6, "a", false}, false},      {"3", {3, "a", false}, true},
    {"3", {-1, "3", false}, false},         {"blk.*", {0, "blk.3/attn", false}, true},
    {"blk.*", {0, "head", false}, false},   {"head,blk.?", {0, "blk.3", false}, true},
    {"windows-only", {0, "a", true}, true}, {"windows-only", {0, "a", false}, false},
    {"global-only", {0, "a", true}, false}, {"global-only", {0, "a", false}, true},
};

START_TEST(sites)
{
    const Selection *s = &selection[_i];
    VfErr err = {0};
    VfSites spec = {s->spec};
    bool selected;
    ck_assert_int_eq(vf_sites_select(&spec, &s->site, &selected, &err), VF_OK);
    ck_assert_msg(selected == s->selected, "'%s' and site %d '%s'", s->spec != NULL ? s->spec : "",
                  (int)s->site.index, s->site.label);
}
END_TEST

/* --- running --- */

static const char TWO_NORMS[] =
    "model ir=8 opset=17\n\n"
    "graph g (x: f32[n, 2], z: f32[n, 2]) -> (y: f32[n, 2], u: f32[n, 2]) {\n"
    "    g = const f32[2] {2, -0.5}\n"
    "    v = const f32[2] {0.25, 4}\n"
    "    w = const f32[2, 2] {1, 2, 3, 4}\n"
    "    n = BatchNormalization(x, g, g, g, v) @bn\n"
    "    y = MatMul(n, w) @fc\n"
    "    k = BatchNormalization(z, g, g, g, v) @bn2\n"
    "    u = MatMul(k, w) @fc2\n"
    "}\n";

typedef struct Seen {
    int n;
    const VfPass *last;
} Seen;

static VfStatus after_pass(void *self, const VfPass *pass, const VfModel *model, VfErr *err)
{
    Seen *seen = self;
    (void)model, (void)err;
    seen->n++;
    seen->last = pass;
    return VF_OK;
}

typedef struct Stop {
    int32_t stop_after, n_edit;
} Stop;

static const Stop stop[] = {{-1, 2}, {0, 0}, {1, 1}, {2, 2}, {INT32_MAX, 2}};

START_TEST(stops_after_edits)
{
    VfErr err = {0};
    VfModel *model = NULL;
    VfPipeline pipeline;
    VfArena *arena = vf_arena_new();
    VfBytes text = {TWO_NORMS, sizeof TWO_NORMS - 1};
    ck_assert_msg(vf_vft_parse(text, "test", &model, &err) == VF_OK, "%s", err.text);
    ck_assert_int_eq(vf_pipeline_parse(arena, "fold-repbn,fold-bn", NULL, &pipeline, &err), VF_OK);
    Seen seen = {0};
    VfPipelineOptions options = {
        .stop_after = stop[_i].stop_after, .after_pass = after_pass, .after_pass_self = &seen};
    VfPassStats *stats = VF_NEW_ARRAY(arena, VfPassStats, (size_t)vf_pipeline_stats_max(&pipeline));
    int32_t n_stats = 0;
    VfJournal *journal = vf_journal_new(model);
    VfStatus status = vf_pipeline_run(model, &pipeline, &options, journal, stats, &n_stats, &err);
    ck_assert_msg(status == VF_OK, "%s", err.text);
    ck_assert_int_eq(journal->n_edit, stop[_i].n_edit);
    ck_assert_int_eq(n_stats, 2);
    ck_assert_int_eq(stats[1].n_edit, stop[_i].n_edit);
    ck_assert_int_eq(seen.n, 2);
    ck_assert_str_eq(seen.last->name, "fold-bn");
    vf_model_free(model);
    vf_arena_free(arena);
}
END_TEST

/* Causal attention in one operator: what softmax-to-relu writes out has its mask as nodes. */
static const char FUSED[] =
    "model ir=11 opset=23\n\n"
    "graph g (x: f32[1, 3, 4]) -> (y: f32[1, 3, 4]) {\n"
    "    w = const f32[4, 4] {1, 0.25, -0.5, 0.75, 0, 1, 0.5, 0, 0.25, -1, 1, 0, 0, 0, 0.5, 1}\n"
    "    q = MatMul(x, w) @q\n"
    "    v = MatMul(x, w) @v\n"
    "    y = Attention(q, x, v) {is_causal=1, q_num_heads=2, kv_num_heads=2} @attention\n"
    "}\n";

/* form=split is refused where a mask is no constant. */
START_TEST(the_next_pass_sees_a_clean_graph)
{
    VfErr err = {0};
    VfModel *model = NULL;
    VfPipeline pipeline;
    VfArena *arena = vf_arena_new();
    ck_assert_msg(vf_vft_parse(vf_bytes(FUSED), "test", &model, &err) == VF_OK, "%s", err.text);
    ck_assert_int_eq(vf_pipeline_parse(arena, "softmax-to-relu;insert-spa:tau=1,form=split", NULL,
                                       &pipeline, &err),
                     VF_OK);
    VfPipelineOptions options = {.evaluator = vf_evaluator(), .stop_after = -1, .cleanup = true};
    VfPassStats *stats = VF_NEW_ARRAY(arena, VfPassStats, (size_t)vf_pipeline_stats_max(&pipeline));
    int32_t n_stats = 0, n_edit = 0;
    VfJournal *journal = vf_journal_new(model);
    VfStatus status = vf_pipeline_run(model, &pipeline, &options, journal, stats, &n_stats, &err);
    ck_assert_msg(status == VF_OK, "%s", err.text);
    ck_assert_int_le(n_stats, vf_pipeline_stats_max(&pipeline));
    for (int32_t i = 0; i < n_stats; i++)
        n_edit += stats[i].is_item ? stats[i].n_edit : 0;
    ck_assert_int_eq(n_edit, 2);
    ck_assert_int_eq(journal->n_refusal, 0);
    vf_model_free(model);
    vf_arena_free(arena);
}
END_TEST

#define LOOP(tcase, test, rows)                                                                    \
    tcase_add_loop_test(tcase, test, 0, (int)(sizeof rows / sizeof rows[0]))

static Suite *make_suite(void)
{
    Suite *suite = suite_create("pipeline");
    TCase *tcase = tcase_create("pipeline");
    LOOP(tcase, pipeline_words, words);
    LOOP(tcase, sites, selection);
    LOOP(tcase, stops_after_edits, stop);
    tcase_add_test(tcase, the_next_pass_sees_a_clean_graph);
    tcase_add_test(tcase, default_is_every_default_pass_in_order);
    tcase_add_test(tcase, the_table_is_whole);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
