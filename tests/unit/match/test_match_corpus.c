/* Site counts of the corpus of exporter graphs: VITFOLD_CORPUS/models/index.tsv says what each
 * model holds. Skipped where the corpus is absent.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/lower/lower.h"
#include "converter/onnx/import.h"
#include "passes/manager.h"
#include "passes/match/attention.h"
#include "passes/match/norm.h"
#include "tests/support/check_main.h"

enum { LINE_BYTES = 8192, N_COLUMN_MAX = 64, N_ROW_MAX = 512, PATH_BYTES = 2048 };

/* Columns of the index that this test reads. */
enum { NAME, SOFTMAX, POINTWISE, LINEAR, OTHER, LAYER_NORM, BATCH_NORM, REP_BN, N_KEY };

static const char *const key[N_KEY] = {
    "name",         "n_attn_softmax", "n_attn_pointwise", "n_attn_linear",
    "n_attn_other", "n_layernorm",    "n_batchnorm_ops",  "n_repbn"};

typedef struct Row {
    char name[256];
    int n[N_KEY];
} Row;

static char folder[PATH_BYTES / 2];
static Row row[N_ROW_MAX];
static int n_row;

static int split(char *line, char **column)
{
    int n = 0;
    line[strcspn(line, "\r\n")] = '\0';
    for (char *at = line; at != NULL && n < N_COLUMN_MAX;) {
        column[n++] = at;
        at = strchr(at, '\t');
        if (at != NULL)
            *at++ = '\0';
    }
    return n;
}

static bool read_index(FILE *file)
{
    static char line[LINE_BYTES];
    char *column[N_COLUMN_MAX];
    int at[N_KEY];
    int n = fgets(line, sizeof line, file) != NULL ? split(line, column) : 0;
    for (int k = 0; k < N_KEY; k++) {
        at[k] = -1;
        for (int i = 0; i < n; i++)
            at[k] = strcmp(column[i], key[k]) == 0 ? i : at[k];
        if (at[k] < 0)
            return false;
    }
    while (n_row < N_ROW_MAX && fgets(line, sizeof line, file) != NULL) {
        if (split(line, column) != n)
            return false;
        snprintf(row[n_row].name, sizeof row[n_row].name, "%s", column[at[NAME]]);
        for (int k = SOFTMAX; k < N_KEY; k++)
            row[n_row].n[k] = atoi(column[at[k]]);
        n_row++;
    }
    return n_row > 0;
}

/* Count the sites of the model after clean-up with `evaluator` (NULL: constants stay unfolded). */
static void count(const Row *r, const VfEvaluator *evaluator, int *n)
{
    char path[PATH_BYTES];
    VfErr err = {0};
    VfModel *model = NULL;
    VfAttentions found;
    VfNorms norms;
    VfArena *arena = vf_arena_new();
    snprintf(path, sizeof path, "%s/%s.onnx", folder, r->name);
    ck_assert_msg(vf_onnx_import(path, NULL, &model, &err) == VF_OK, "%s", err.text);
    VfStatus status = vf_normalize_model(model, evaluator, vf_journal_new(model), &err);
    ck_assert_msg(status == VF_OK, "%s: %s", r->name, err.text);
    ck_assert_msg(vf_find_attention(arena, model, &found, &err) == VF_OK, "%s", err.text);
    ck_assert_msg(vf_find_norms(arena, model, &norms, &err) == VF_OK, "%s", err.text);
    for (int32_t i = 0; i < found.n_site; i++)
        n[SOFTMAX + (int)found.site[i].kind]++;
    n[LAYER_NORM] = norms.n_layer;
    n[BATCH_NORM] = norms.n_batch;
    for (int32_t i = 0; i < norms.n_batch; i++)
        n[REP_BN] += norms.batch[i].is_rep;
    vf_arena_free(arena);
    vf_model_free(model);
}

static void compare(const Row *r, const int *n, bool with_layer_norm)
{
    for (int k = SOFTMAX; k < N_KEY; k++) {
        if (k != LAYER_NORM)
            ck_assert_msg(n[k] == r->n[k], "%s: %s is %d, found %d", r->name, key[k], r->n[k],
                          n[k]);
    }
    if (with_layer_norm)
        ck_assert_msg(n[LAYER_NORM] >= r->n[LAYER_NORM], "%s: %d layer norms, found %d", r->name,
                      r->n[LAYER_NORM], n[LAYER_NORM]);
}

START_TEST(model_has_its_sites)
{
    int folded[N_KEY] = {0}, unfolded[N_KEY] = {0};
    count(&row[_i], vf_evaluator(), folded);
    /* Folding may compute a norm of constants (a class token's) away. */
    compare(&row[_i], folded, false);
    count(&row[_i], NULL, unfolded);
    compare(&row[_i], unfolded, true);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("match_corpus");
    TCase *cases = tcase_create("corpus");
    tcase_set_timeout(cases, 60);
    tcase_add_loop_test(cases, model_has_its_sites, 0, n_row);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void)
{
    char path[PATH_BYTES];
    const char *corpus = getenv("VITFOLD_CORPUS");
    snprintf(folder, sizeof folder, "%.900s/models", corpus != NULL ? corpus : "../shared");
    snprintf(path, sizeof path, "%s/index.tsv", folder);
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        printf("skipped: no %s\n", path);
        return VF_TEST_SKIPPED;
    }
    bool is_read = read_index(file);
    fclose(file);
    if (!is_read) {
        printf("%s is no index\n", path);
        return EXIT_FAILURE;
    }
    SRunner *runner = srunner_create(make_suite());
    srunner_run_all(runner, CK_ENV);
    int n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
