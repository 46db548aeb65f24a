/* linearize-attention on attention that is one operator, against the quadratic form of its
 * definition in double: removed keys are left out of both sums. */
#include <string.h>

#include "tests/passes/fused_attention.h"
#include "tests/support/run_model.h"
#include "tests/support/run_pass.h"

static const double eps = 1e-6;

/* Convolution: none, or one that adds the values. */
static const char *const words_of[] = {"dwc=off", "dwc=off,order=quadratic", "dwc=off,order=linear",
                                       "dwc=identity,kernel=3,grid=2x2", "dwc=off,key-position=on"};
enum { N_WORDS = sizeof words_of / sizeof words_of[0] };

/* --- reference --- */

static double feature(const Spelling *s, int32_t part, int32_t b, int32_t i, int32_t column)
{
    return fmax(projected(s, part, b, i, column), 0);
}

static double attended(const Spelling *s, const char *words, int32_t b, int32_t i, int32_t column)
{
    double above = 0, below = eps;
    bool adds_values = strstr(words, "identity") != NULL;
    for (int32_t j = 0; j < N; j++) {
        double weight = 0;
        for (int32_t c = column / D * D; c < column / D * D + D; c++)
            weight += feature(s, 0, b, i, c) * feature(s, 1, b, j, c);
        if (!is_kept(s->mask, b, i, j))
            continue;
        above += weight * projected(s, 2, b, j, column);
        below += weight;
    }
    return above / below + (adds_values ? projected(s, 2, b, i, column) : 0);
}

static double output(const Spelling *s, const char *words, int32_t b, int32_t i, int32_t column)
{
    double sum = 0;
    for (int32_t c = 0; c < C; c++)
        sum += attended(s, words, b, i, c) * weight_of(3, c, column);
    return sum;
}

/* --- the pass --- */

static VfJournal *run_pass(VfModel *model, const char *words)
{
    char text[128];
    snprintf(text, sizeof text, "linearize-attention:%s", words);
    return vf_test_passes(model, text);
}

static void check_outputs(VfModel *model, const Spelling *s, const char *words)
{
    VfErr err = {0};
    VfTestOutputs outputs;
    model->graph->input[0]->tensor = input_tensor(model->arena);
    VfStatus status = vf_test_run(model, 1, model->arena, &outputs, &err);
    ck_assert_msg(status == VF_OK, "%s", err.text);
    for (int32_t i = 0; i < B * N * C; i++) {
        double y = vf_tensor_get_double(outputs.tensor[0], (size_t)i);
        double want = output(s, words, i / (N * C), i / C % N, i % C);
        ck_assert_msg(fabs(y - want) < 2e-5, "%s%s: [%d] is %g, not %g", s->text, words, (int)i, y,
                      want);
    }
}

/* Why the pass has to leave it alone, or NULL. */
static const char *refusal_of(const Spelling *s, const char *words)
{
    bool is_causal = s->mask == MASK_CAUSAL || s->mask == MASK_WINDOW;
    if (is_causal && strstr(words, "order=quadratic") == NULL)
        return "a causal mask needs running sums over the tokens, not two products: only "
               "order=quadratic multiplies it";
    if (s->mask == MASK_PAIRS && strstr(words, "order=linear") != NULL)
        return "a mask of queries and keys can only be multiplied in the quadratic form";
    return NULL;
}

START_TEST(pass_gives_the_reference)
{
    const Spelling *s = &spelling[_i / N_WORDS];
    const char *words = words_of[_i % N_WORDS], *why = refusal_of(s, words);
    VfModel *model = make_model(s);
    VfJournal *journal = run_pass(model, words);
    if (why != NULL) {
        ck_assert_int_eq(journal->n_edit, 0);
        ck_assert_str_eq(journal->refusal[0].reason, why);
    } else {
        ck_assert_int_eq(journal->n_edit, 1);
        journal = run_pass(model, words);
        ck_assert_msg(journal->n_edit + journal->n_refusal == 0, "%s%s: not told linear", s->text,
                      words);
        check_outputs(model, s, words);
    }
    vf_model_free(model);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("linear attention of fused operators");
    TCase *tcase = tcase_create("cases");
    tcase_add_loop_test(tcase, pass_gives_the_reference, 0, N_SPELLING * N_WORDS);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
