/* Runs every tests/passes/NAME.vft:
 *
 *     # passes: fold-bn                     the pipeline, as --passes spells it
 *     # cleanup: yes                        with the clean-up passes around it; default no
 *     # run: no                             the input cannot be executed: compare no numbers
 *     # free comment
 *     model ir=8 opset=17 ...               the input
 *     ==== edits
 *     fold-bn bn-into-next at bn (a: 1 to 2, c: 0 to 1)
 *         - BatchNormalization bn           nodes removed and added, constants replaced
 *     fold-bn refuses bn: reason
 *     ==== graph
 *     model ir=8 opset=17 ...               the result
 *
 * A second run of the pipeline must make no edit. If all passes are exact or rounding, input and
 * result are also run and compared. VF_BLESS=1 rewrites what is expected.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/lower/lower.h"
#include "passes/ir/vft.h"
#include "passes/manager.h"
#include "tests/support/case_files.h"
#include "tests/support/check_main.h"
#include "tests/support/run_model.h"

static const char EDITS[] = "==== edits\n", GRAPH[] = "==== graph\n";
static const double TOLERANCE = 2e-5;

static VfCaseFiles cases;

/* The value of "# key: value" at the start of a case, or NULL. */
static const char *option_of(VfArena *arena, const char *text, const char *key)
{
    size_t size = strlen(key);
    for (const char *line = text; line[0] == '#'; line = strchr(line, '\n') + 1) {
        if (strncmp(line + 2, key, size) == 0 && line[2 + size] == ':') {
            const char *value = line + 2 + size + 1 + strspn(line + 2 + size + 1, " ");
            return vf_arena_copy(arena, value, strcspn(value, "\n"));
        }
        if (strchr(line, '\n') == NULL)
            break;
    }
    return NULL;
}

/* --- one case --- */

typedef struct Case {
    VfArena *arena;
    const char *path, *passes;
    VfBytes input;
    bool cleanup, is_run;
    VfModel *model;
    VfJournal *journal;
    VfPipeline pipeline;
} Case;

static VfModel *parse(const Case *c)
{
    VfErr err = {0};
    VfModel *model = NULL;
    ck_assert_msg(vf_vft_parse(c->input, c->path, &model, &err) == VF_OK, "%s", err.text);
    return model;
}

static void run_pipeline(Case *c)
{
    VfErr err = {0};
    VfPipelineOptions options = {
        .evaluator = vf_evaluator(), .stop_after = -1, .cleanup = c->cleanup};
    VfStatus status =
        vf_pipeline_run(c->model, &c->pipeline, &options, c->journal, NULL, NULL, &err);
    ck_assert_msg(status == VF_OK, "%s: %s", c->path, err.text);
}

static void print_nodes(VfText *text, char sign, int32_t n, const VfNode *const *node)
{
    for (int32_t i = 0; i < n; i++)
        vf_text_printf(text, "    %c %.*s %s\n", sign, (int)node[i]->op_type.size,
                       node[i]->op_type.data, vf_node_label(node[i]));
}

static void print_journal(const VfJournal *journal, VfText *text)
{
    for (int32_t i = 0; i < journal->n_edit; i++) {
        const VfEdit *edit = &journal->edit[i];
        vf_text_printf(text, "%s %s at %s", edit->pass, edit->rule, edit->site);
        if (edit->note != NULL)
            vf_text_printf(text, " (%s)", edit->note);
        vf_text_char(text, '\n');
        print_nodes(text, '-', edit->n_before, edit->before);
        print_nodes(text, '+', edit->n_after, edit->after);
        for (int32_t k = 0; k < edit->n_weight; k++)
            vf_text_printf(text, "    ~ %s -> %s\n", vf_value_label(edit->weight[k].from),
                           vf_value_label(edit->weight[k].to));
    }
    for (int32_t i = 0; i < journal->n_refusal; i++) {
        const VfRefusal *refusal = &journal->refusal[i];
        vf_text_printf(text, "%s refuses %s: %s\n", refusal->pass, refusal->site, refusal->reason);
    }
}

static const char *print_result(const Case *c)
{
    VfErr err = {0};
    VfText text;
    VfBytes out;
    vf_text_init(&text, c->arena);
    vf_text_string(&text, EDITS);
    print_journal(c->journal, &text);
    vf_text_string(&text, GRAPH);
    VfVftStyle style = {.with_data = true};
    ck_assert_int_eq(vf_vft_print(c->model, style, &text, &err), VF_OK);
    ck_assert_int_eq(vf_text_get(&text, &out, &err), VF_OK);
    return out.data;
}

static void bless(const Case *c, const char *result)
{
    FILE *file = fopen(c->path, "wb");
    ck_assert_msg(file != NULL, "cannot write %s", c->path);
    fwrite(c->input.data, 1, c->input.size, file);
    fputs(result, file);
    ck_assert_int_eq(fclose(file), 0);
}

static bool keeps_function(const Case *c)
{
    for (int32_t i = 0; i < c->pipeline.n_item; i++) {
        if (c->pipeline.item[i].pass->exactness == VF_RETRAINED)
            return false;
    }
    return true;
}

/* The result computes what the input computed, and still does when written and read again. */
static void check_numbers(const Case *c, const char *graph)
{
    VfErr err = {0};
    VfTestOutputs before, after, again;
    VfModel *old = parse(c), *reread = NULL;
    VfBytes text = {graph, strlen(graph)};
    ck_assert_msg(vf_vft_parse(text, "result", &reread, &err) == VF_OK, "%s", err.text);
    ck_assert_msg(vf_test_run(old, 1, c->arena, &before, &err) == VF_OK, "%s: %s", c->path,
                  err.text);
    ck_assert_msg(vf_test_run(c->model, 1, c->arena, &after, &err) == VF_OK, "%s: %s", c->path,
                  err.text);
    ck_assert_msg(vf_test_run(reread, 1, c->arena, &again, &err) == VF_OK, "%s: %s", c->path,
                  err.text);
    double distance = vf_test_distance(&before, &after);
    ck_assert_msg(distance <= TOLERANCE, "%s: outputs moved by %g", c->path, distance);
    ck_assert_msg(vf_test_distance(&after, &again) <= 0.0, "%s: reads back differently", c->path);
    vf_model_free(old);
    vf_model_free(reread);
}

static void check_second_run(Case *c)
{
    int32_t n_edit = c->journal->n_edit;
    run_pipeline(c);
    ck_assert_msg(c->journal->n_edit == n_edit, "%s: the second run edits, first '%s' at '%s'",
                  c->path, c->journal->edit[n_edit].rule, c->journal->edit[n_edit].site);
}

static Case read_case(const char *path)
{
    Case c = {.arena = vf_arena_new(), .path = path};
    VfErr err = {0};
    char *text = vf_case_text(c.arena, path);
    char *expected = strstr(text, EDITS);
    c.passes = option_of(c.arena, text, "passes");
    ck_assert_msg(c.passes != NULL, "%s: no '# passes: ...'", path);
    c.cleanup = option_of(c.arena, text, "cleanup") != NULL;
    c.is_run = option_of(c.arena, text, "run") == NULL;
    c.input = (VfBytes){text, expected != NULL ? (size_t)(expected - text) : strlen(text)};
    VfStatus status = vf_pipeline_parse(c.arena, c.passes, NULL, &c.pipeline, &err);
    ck_assert_msg(status == VF_OK, "%s: %s", path, err.text);
    c.model = parse(&c);
    c.journal = vf_journal_new(c.model);
    ck_assert_ptr_nonnull(c.journal);
    return c;
}

START_TEST(vft_case)
{
    Case c = read_case(cases.path[_i]);
    const char *expected = c.input.data + c.input.size;
    run_pipeline(&c);
    const char *result = print_result(&c);
    if (getenv("VF_BLESS") != NULL)
        bless(&c, result);
    else
        ck_assert_msg(strcmp(expected, result) == 0, "%s\n---- expected\n%s\n---- got\n%s", c.path,
                      expected, result);
    if (c.is_run && keeps_function(&c))
        check_numbers(&c, strstr(result, GRAPH) + strlen(GRAPH));
    check_second_run(&c);
    vf_model_free(c.model);
    vf_arena_free(c.arena);
}
END_TEST

START_TEST(there_are_cases)
{
    ck_assert_int_gt(cases.n, 0);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("vft cases");
    TCase *tcase = tcase_create("cases");
    cases = vf_case_files("tests/passes");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, there_are_cases);
    tcase_add_loop_test(tcase, vft_case, 0, cases.n);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
