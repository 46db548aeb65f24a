/* Random transformers through the exact and the rounding passes: what they compute stays, to the
 * bit for exact passes, and a second run changes nothing.
 */
#include <string.h>

#include "converter/lower/lower.h"
#include "passes/ir/vft.h"
#include "passes/manager.h"
#include "tests/support/check_main.h"
#include "tests/support/random_network.h"
#include "tests/support/run_model.h"

#ifdef VF_TEST_SANITIZED
enum { N_NETWORK = 1000 };
#else
enum { N_NETWORK = 10000 };
#endif
enum { CHUNK = 250, INPUT_SEED = 7 };

/* Check takes no messages longer than 4 KiB. */
#define NETWORK "%.3000s"

static const double TOLERANCE = 1e-4;

static VfModel *parse(const char *text, uint64_t seed)
{
    VfErr err = {0};
    VfModel *model = NULL;
    VfStatus status = vf_vft_parse((VfBytes){text, strlen(text)}, "random", &model, &err);
    ck_assert_msg(status == VF_OK, "seed %d: %s\n" NETWORK, (int)seed, err.text, text);
    return model;
}

/* Run passes over the model; how many edits that took. */
static int32_t transform(VfArena *arena, VfModel *model, const char *words, uint64_t seed)
{
    VfErr err = {0};
    VfPipeline pipeline;
    VfPipelineOptions options = {.evaluator = vf_evaluator(), .stop_after = -1, .cleanup = true};
    VfJournal *journal = vf_journal_new(model);
    ck_assert_ptr_nonnull(journal);
    ck_assert_int_eq(vf_pipeline_parse(arena, words, NULL, &pipeline, &err), VF_OK);
    VfStatus status = vf_pipeline_run(model, &pipeline, &options, journal, NULL, NULL, &err);
    ck_assert_msg(status == VF_OK, "seed %d: %s", (int)seed, err.text);
    return journal->n_edit;
}

static void run(const VfModel *model, bool is_exact, VfArena *arena, VfTestOutputs *outputs,
                uint64_t seed)
{
    VfErr err = {0};
    VfStatus status = is_exact ? vf_test_run_reference(model, INPUT_SEED, arena, outputs, &err)
                               : vf_test_run(model, INPUT_SEED, arena, outputs, &err);
    ck_assert_msg(status == VF_OK, "seed %d: %s\n" NETWORK, (int)seed, err.text,
                  vf_random_network(arena, seed));
}

static bool has_same_bits(const VfTestOutputs *a, const VfTestOutputs *b)
{
    bool is_same = a->n == b->n;
    for (int32_t i = 0; is_same && i < a->n; i++)
        is_same = a->tensor[i]->bytes == b->tensor[i]->bytes &&
                  memcmp(a->tensor[i]->data, b->tensor[i]->data, a->tensor[i]->bytes) == 0;
    return is_same;
}

/* One network through one pipeline. */
static int32_t check_network(VfArena *arena, uint64_t seed, const char *words, bool is_exact)
{
    VfTestOutputs before, after;
    const char *text = vf_random_network(arena, seed);
    VfModel *old = parse(text, seed), *new = parse(text, seed);
    run(old, is_exact, arena, &before, seed);
    int32_t n_edit = transform(arena, new, words, seed);
    run(new, is_exact, arena, &after, seed);
    double distance = vf_test_distance(&before, &after);
    ck_assert_msg(distance <= TOLERANCE, "seed %d: '%s' moved outputs by %g\n" NETWORK, (int)seed,
                  words, distance, text);
    ck_assert_msg(!is_exact || has_same_bits(&before, &after),
                  "seed %d: '%s' changed bits, by %g\n" NETWORK, (int)seed, words, distance, text);
    ck_assert_msg(transform(arena, new, words, seed) == 0,
                  "seed %d: a second run of '%s' edits\n" NETWORK, (int)seed, words, text);
    vf_model_free(old);
    vf_model_free(new);
    return n_edit;
}

static void check_chunk(int chunk, const char *words, bool is_exact)
{
    int64_t n_edit = 0;
    for (int i = chunk * CHUNK; i < (chunk + 1) * CHUNK; i++) {
        VfArena *arena = vf_arena_new();
        n_edit += check_network(arena, (uint64_t)i, words, is_exact);
        vf_arena_free(arena);
    }
    ck_assert_msg(n_edit >= CHUNK / 10, "only %d edits: the generator is blunt", (int)n_edit);
}

START_TEST(rounding_passes_keep_the_function)
{
    check_chunk(_i, "default", false);
}
END_TEST

START_TEST(exact_passes_keep_the_bits)
{
    check_chunk(_i, "normalize,fold-constants,remove-dead", true);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("random networks");
    TCase *tcase = tcase_create("random");
    tcase_set_timeout(tcase, 600);
    tcase_add_loop_test(tcase, rounding_passes_keep_the_function, 0, N_NETWORK / CHUNK);
    tcase_add_loop_test(tcase, exact_passes_keep_the_bits, 0, N_NETWORK / CHUNK);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
