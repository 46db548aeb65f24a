/* Names are looked up, not searched for: twice as many of one thing take about twice as many
 * comparisons of bytes, which are counted here.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "converter/api/vitfold.h"
#include "converter/api/vitfold_report.h"
#include "converter/emit/spell.h"
#include "runtime/base/intern.h"
#include "runtime/base/text.h"
#include "tests/support/check_main.h"
#include "tests/support/temp_folder.h"
#include "tests/support/vft_file.h"

enum { FEW = 500 };

/* --- counting --- */

static size_t n_compared;

/* Twice as many take twice as many and far less than a list walked for each: that takes half the
 * square of FEW more, whatever is compared for each one besides. */
static bool is_linear(size_t few, size_t many)
{
    return many < 2 * few + FEW * FEW / 8;
}

#ifndef VF_TEST_SANITIZED
static int compare(const unsigned char *a, const unsigned char *b, size_t n)
{
    __atomic_fetch_add(&n_compared, 1, __ATOMIC_RELAXED); /* other threads compare, too */
    for (size_t i = 0; i < n; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

/* In place of those of the C library. */
int memcmp(const void *a, const void *b, size_t n)
{
    return compare(a, b, n);
}

int bcmp(const void *a, const void *b, size_t n);
int bcmp(const void *a, const void *b, size_t n)
{
    return compare(a, b, n);
}

int strcmp(const char *a, const char *b)
{
    size_t n = 0;
    while (a[n] != '\0' && a[n] == b[n])
        n++;
    return compare((const unsigned char *)a + n, (const unsigned char *)b + n, 1);
}
#endif

/* --- models of n --- */

static VfArena *arena;
static char folder[256];

static void set_up(void)
{
    arena = vf_arena_new();
    vf_temp_folder_make(folder, sizeof folder);
}

static void tear_down(void)
{
    vf_temp_folder_remove(folder);
    vf_arena_free(arena);
}

/* `one` n times: '#' in it is the number of the one, '<' that of the one before. */
static void list(VfText *text, size_t n, const char *between, const char *one)
{
    for (size_t i = 0; i < n; i++) {
        vf_text_string(text, i == 0 ? "" : between);
        for (const char *at = one; *at != '\0'; at++)
            if (*at == '#')
                vf_text_printf(text, "%zu", 100000 + i);
            else if (*at == '<')
                vf_text_printf(text, "%zu", 99999 + i);
            else
                vf_text_char(text, *at);
    }
}

/* A model with parts that are there once for each of n. */
typedef struct Parts {
    const char *head, *meta, *inputs, *outputs, *nodes, *attrs;
} Parts;

static void write_model(const char *path, const Parts *parts, size_t n)
{
    VfText text;
    VfBytes done;
    vf_text_init(&text, arena);
    vf_text_string(&text, "model ir=9 opset=18 opset own=1");
    list(&text, parts->head != NULL ? n : 0, "", parts->head);
    vf_text_string(&text, parts->meta != NULL ? " [" : "");
    list(&text, parts->meta != NULL ? n : 0, ", ", parts->meta);
    vf_text_string(&text, parts->meta != NULL ? "]" : "");
    vf_text_string(&text, "\ngraph main (v99999: f32[2]");
    list(&text, parts->inputs != NULL ? n : 0, "", parts->inputs);
    vf_text_string(&text, ") -> (y: f32[2]");
    list(&text, parts->outputs != NULL ? n : 0, "", parts->outputs);
    vf_text_string(&text, ") {\n");
    list(&text, parts->nodes != NULL ? n : 0, "\n", parts->nodes);
    vf_text_string(&text, "\ny = Relu(v99999)");
    if (parts->attrs != NULL) {
        vf_text_string(&text, "\nz = own::Many(v99999) {");
        list(&text, n, ", ", parts->attrs);
        vf_text_char(&text, '}');
    }
    vf_text_string(&text, "\n}\n");
    ck_assert_int_eq(vf_text_get(&text, &done, NULL), VF_OK);
    vf_vft_file(path, done.data);
}

/* --- what is done with them --- */

static VitfoldError *error;

static void check_status(int status)
{
    ck_assert_msg(status == VITFOLD_OK, "%s", vitfold_error_text(error));
}

static VitfoldData *random_data(const VitfoldModel *model)
{
    VitfoldData *data = vitfold_data_new();
    check_status(vitfold_data_add_random(data, model, 1, NULL, 0, error));
    return data;
}

static void run_all(VitfoldModel *model)
{
    VitfoldRunOptions options = {.n_thread = 1, .save_all = 1};
    VitfoldData *in = random_data(model), *out = vitfold_data_new();
    check_status(vitfold_run(model, in, out, &options, error));
    vitfold_data_free(in);
    vitfold_data_free(out);
}

static void compare_nodes(VitfoldModel *model)
{
    VitfoldCompareOptions options = {.run = {.n_thread = 1}, .per_node = 1};
    VitfoldReport *report;
    VitfoldData *in = random_data(model);
    check_status(vitfold_compare(model, model, in, NULL, &options, &report, error));
    vitfold_report_free(report);
    vitfold_data_free(in);
}

static void inspect(VitfoldModel *model)
{
    VitfoldReport *report;
    check_status(vitfold_inspect(&model, 1, NULL, 0, &report, error));
    vitfold_report_free(report);
}

static void diff(VitfoldModel *model)
{
    VitfoldReport *report;
    check_status(vitfold_diff(model, model, NULL, &report, error));
    vitfold_report_free(report);
}

static void save_folder(VitfoldModel *model)
{
    VitfoldData *in = random_data(model);
    check_status(vitfold_data_save_folder(in, vf_arena_printf(arena, "%s/in", folder),
                                          VITFOLD_FORMAT_NPY, error));
    vitfold_data_free(in);
}

typedef struct Case {
    const char *what;
    void (*use)(VitfoldModel *model);
    Parts parts;
} Case;

static const Case cases[] = {
    {"inputs, run", run_all, {.inputs = ", in#: f32[2]"}},
    {"inputs, saved", save_folder, {.inputs = ", in#: f32[2]"}},
    {"symbols, inspect", inspect, {.inputs = ", in#: f32[d#]"}},
    {"outputs, run", run_all, {.outputs = ", v#: f32[2]", .nodes = "v# = Relu(v<)"}},
    {"outputs, compare", compare_nodes, {.outputs = ", v#: f32[2]", .nodes = "v# = Relu(v<)"}},
    {"nodes, compare", compare_nodes, {.nodes = "v# = Relu(v<) @n#"}},
    {"nodes with passes, run", run_all,
     {.nodes = "v# = Relu(v<) @n#", .meta = "meta \"vitfold.pass:n#\"=\"p\""}},
    {"opsets, diff", diff, {.head = " opset d#=1"}},
    {"attributes, diff", diff, {.attrs = "a#=1"}},
    {"subgraphs, diff", diff,
     {.attrs = "a#=graph g# () -> (w: f32[2]) { w = Relu(v99999) }"}},
};

static size_t count(const Case *one, size_t n)
{
    VitfoldModel *model;
    const char *path = vf_arena_printf(arena, "%s/%zu.onnx", folder, n);
    write_model(path, &one->parts, n);
    n_compared = 0;
    check_status(vitfold_model_load(path, NULL, &model, error));
    one->use(model);
    vitfold_model_free(model);
    return n_compared;
}

START_TEST(comparisons_grow_with_the_model)
{
    const Case *one = &cases[_i];
    error = vitfold_error_new();
    size_t few = count(one, FEW), many = count(one, 2 * FEW);
    ck_assert_msg(is_linear(few, many), "%s: %zu comparisons of %d, %zu of %d", one->what, few,
                  FEW, many, 2 * FEW);
    vitfold_error_free(error);
}
END_TEST

/* --- words of C --- */

static size_t count_words(size_t n)
{
    VfBytes *name = VF_NEW_ARRAY(arena, VfBytes, n);
    const char **word = VF_NEW_ARRAY(arena, const char *, n);
    for (size_t i = 0; i < n; i++)
        name[i] = vf_bytes(i % 2 == 0 ? "?" : vf_arena_printf(arena, "w%zu", 100000 + i));
    n_compared = 0;
    ck_assert_int_eq(vf_spell_identifiers(arena, n, name, word, NULL), VF_OK);
    size_t result = n_compared;
    ck_assert_str_eq(word[0], "_");
    ck_assert_str_eq(word[2], "__2");
    ck_assert_str_eq(word[n - 2], vf_arena_printf(arena, "__%zu", n / 2));
    return result;
}

START_TEST(words_for_one_name_are_counted_on)
{
    size_t few = count_words(FEW), many = count_words(2 * FEW);
    ck_assert_msg(is_linear(few, many), "%zu comparisons, %zu of twice as many", few, many);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("e2e/breadth");
    TCase *tcase = tcase_create("breadth");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, comparisons_grow_with_the_model, 0,
                        (int)(sizeof cases / sizeof *cases));
    tcase_add_test(tcase, words_for_one_name_are_counted_on);
    suite_add_tcase(suite, tcase);
    return suite;
}

#ifdef VF_TEST_SANITIZED
int main(void)
{
    (void)make_suite;
    puts("comparisons are not counted where sanitizers watch them");
    return VF_TEST_SKIPPED;
}
#else
VF_CHECK_MAIN(make_suite)
#endif
