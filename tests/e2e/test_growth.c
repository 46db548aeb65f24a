/* Time grows with the number of nodes, not with its square: check and convert on a chain of nodes,
 * ten times as long. Processor time is taken, so that other work on the machine counts little. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "converter/api/vitfold.h"
#include "converter/onnx/emit.h"
#include "runtime/base/intern.h"
#include "tests/support/check_main.h"
#include "tests/support/temp_folder.h"

enum { SHORT = 2000, TIMES = 10 };
static const double SLOWER = 3; /* than TIMES, for memory that no longer lies in caches */

static void name_of(char *text, size_t size, const char *stem, int i)
{
    snprintf(text, size, "%s%d", stem, i);
}

static void put_node(VfEmit *emit, int i)
{
    static const char *const op[] = {"Add", "Relu", "MatMul"};
    char in[24], out[24], weight[24];
    VfEmitMark node = vf_emit_begin(emit, 1);
    name_of(in, sizeof in, "v", i);
    name_of(out, sizeof out, "v", i + 1);
    name_of(weight, sizeof weight, "w", i);
    vf_emit_bytes(emit, 1, vf_bytes(in));
    if (i % 3 != 1)
        vf_emit_bytes(emit, 1, vf_bytes(weight));
    vf_emit_bytes(emit, 2, vf_bytes(out));
    vf_emit_bytes(emit, 4, vf_bytes(op[i % 3]));
    vf_emit_end(emit, node);
}

static void put_weight(VfEmit *emit, int i)
{
    static const float number[4] = {1, 0, 0, 1};
    char name[24];
    VfEmitMark tensor = vf_emit_begin(emit, 5);
    name_of(name, sizeof name, "w", i);
    vf_emit_int(emit, 1, 2);
    vf_emit_int(emit, 1, 2);
    vf_emit_int(emit, 2, 1);
    vf_emit_bytes(emit, 8, vf_bytes(name));
    vf_emit_bytes(emit, 9, (VfBytes){(const char *)number, sizeof number});
    vf_emit_end(emit, tensor);
}

/* f32[2, 2] called v`i`, as an input (11) or an output (12). */
static void put_value(VfEmit *emit, uint32_t field, int i)
{
    char name[24];
    VfEmitMark mark[5];
    name_of(name, sizeof name, "v", i);
    mark[0] = vf_emit_begin(emit, field);
    vf_emit_bytes(emit, 1, vf_bytes(name));
    mark[1] = vf_emit_begin(emit, 2);
    mark[2] = vf_emit_begin(emit, 1);
    vf_emit_int(emit, 1, 1);
    mark[3] = vf_emit_begin(emit, 2);
    for (int k = 0; k < 2; k++) {
        mark[4] = vf_emit_begin(emit, 1);
        vf_emit_int(emit, 1, 2);
        vf_emit_end(emit, mark[4]);
    }
    for (int k = 3; k >= 0; k--)
        vf_emit_end(emit, mark[k]);
}

static void write_chain(const char *path, int n)
{
    VfArena *arena = vf_arena_new();
    VfEmit emit;
    VfOutFile *file;
    vf_emit_init(&emit, arena);
    vf_emit_int(&emit, 1, 8);
    VfEmitMark graph = vf_emit_begin(&emit, 7);
    for (int i = 0; i < n; i++)
        put_node(&emit, i);
    for (int i = 0; i < n; i++)
        if (i % 3 != 1)
            put_weight(&emit, i);
    put_value(&emit, 11, 0);
    put_value(&emit, 12, n);
    vf_emit_end(&emit, graph);
    VfEmitMark opset = vf_emit_begin(&emit, 8);
    vf_emit_int(&emit, 2, 17);
    vf_emit_end(&emit, opset);
    ck_assert_int_eq(vf_out_open(path, &file, NULL), VF_OK);
    ck_assert_int_eq(vf_emit_write(&emit, file, NULL), VF_OK);
    ck_assert_int_eq(vf_out_commit(file, NULL), VF_OK);
    vf_arena_free(arena);
}

typedef int Work(const char *path, VitfoldError *err);

static int check(const char *path, VitfoldError *err)
{
    VitfoldReport *report = NULL;
    int status = vitfold_check(path, NULL, &report, err);
    vitfold_report_free(report);
    return status;
}

static int inspect(const char *path, VitfoldError *err)
{
    VitfoldReport *report = NULL;
    VitfoldModel *model;
    int status = vitfold_model_load(path, NULL, &model, err);
    if (status != VITFOLD_OK)
        return status;
    status = vitfold_inspect(&model, 1, NULL, 0, &report, err);
    vitfold_report_free(report);
    vitfold_model_free(model);
    return status;
}

static int transform(const char *path, VitfoldError *err)
{
    VitfoldModel *model;
    VitfoldReport *report = NULL;
    const VitfoldPassOptions options = {0};
    int status = vitfold_model_load(path, NULL, &model, err);
    if (status != VITFOLD_OK)
        return status;
    status = vitfold_transform(model, &options, NULL, err);
    if (status == VITFOLD_OK)
        status = vitfold_summarize(model, NULL, &report, err);
    vitfold_report_free(report);
    if (status == VITFOLD_OK)
        status = vitfold_model_save(model, path, NULL, err);
    vitfold_model_free(model);
    return status;
}

static Work *const work[] = {check, inspect, transform};

static double seconds_of(Work *run, const char *path, int n)
{
    VitfoldError err = {0};
    write_chain(path, n);
    clock_t start = clock();
    int status = run(path, &err);
    ck_assert_msg(status == VITFOLD_OK, "%s", err.text);
    return (double)(clock() - start) / CLOCKS_PER_SEC;
}

START_TEST(time_grows_with_the_nodes)
{
    char folder[256], path[300];
    vf_temp_folder_make(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/chain.onnx", folder);
    seconds_of(work[_i], path, SHORT); /* the first run pays for pages and tables */
    double few = seconds_of(work[_i], path, SHORT);
    double many = seconds_of(work[_i], path, SHORT * TIMES);
    ck_assert_msg(many <= TIMES * SLOWER * few + 0.1, "%d nodes take %g s, %d take %g s", SHORT,
                  few, SHORT * TIMES, many);
    vf_temp_folder_remove(folder);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("growth");
    TCase *tcase = tcase_create("time");
    tcase_set_timeout(tcase, 300);
    tcase_add_loop_test(tcase, time_grows_with_the_nodes, 0,
                        (int)(sizeof work / sizeof work[0]));
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
