/* Values of a graph on samples: how they are cut into runs, and what does not fit. */
#include "converter/api/calibration.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/check_main.h"
#include "tests/support/temp_folder.h"
#include "tests/unit/ir/vft_case.h"

static VfArena *arena;
static VitfoldData *data;
static VitfoldModel handle;
static char note[256];

static void take_line(void *user, VfLogLevel level, const char *line)
{
    (void)user;
    (void)level;
    snprintf(note, sizeof note, "%s", line);
}

static void set_up(void)
{
    arena = vf_arena_new();
    data = vitfold_data_new();
    ck_assert(arena != NULL && data != NULL);
    note[0] = 0;
    handle = (VitfoldModel){.arena = arena, .path = "m",
                            .log = {.level = VF_LOG_NOTE, .sink = take_line}};
}

static void tear_down(void)
{
    vf_model_free(handle.ir);
    vitfold_data_free(data);
    vf_arena_free(arena);
}

/* f32[n, 2] with elements 0, 1, 2, ... */
static void add(const char *name, int64_t n)
{
    static float x[256];
    for (int i = 0; i < 256; i++)
        x[i] = (float)i;
    int64_t dims[2] = {n, 2};
    VitfoldTensor t = {name, strlen(name), VF_F32, 2, dims, x, 0};
    VfErr err = {0};
    ck_assert_msg(vitfold_data_add(data, &t, &err) == VITFOLD_OK, "%s", err.text);
}

/* All elements of the values seen, one after the other, and the calls. */
typedef struct Seen {
    float at[4][256];
    size_t n[4];
    int n_value, n_call;
} Seen;

static VfStatus see(void *user, const VfTensor *const *tensor, VfErr *err)
{
    (void)err;
    Seen *seen = user;
    seen->n_call++;
    for (int i = 0; i < seen->n_value; i++)
        for (size_t k = 0; k < tensor[i]->count; k++)
            seen->at[i][seen->n[i]++] = (float)vf_tensor_get_double(tensor[i], k);
    return VF_OK;
}

static VfStatus measure(int n, const char *const *name, Seen *seen, VfErr *err)
{
    const VfCalibration *calibration;
    VfValue *value[4];
    for (int i = 0; i < n; i++) {
        value[i] = vf_graph_find_value(handle.ir->graph, vf_bytes(name[i]), false);
        ck_assert_ptr_nonnull(value[i]);
    }
    *seen = (Seen){.n_value = n};
    VF_TRY(vf_calibration_check(arena, &handle, data, err));
    VF_TRY(vf_calibration_new(arena, &handle, data, &calibration, err));
    return calibration->measure(calibration, handle.ir, n, value, see, seen, err);
}

#define PRODUCT(batch)                                                      \
    "model ir=8 opset=17\ngraph g (in: f32[" batch ", 2]) -> (y) {\n"       \
    "w = const f32[2, 2] {1, 1, 0, 1}\nb = const f32[2] {10, 20}\n"          \
    "p = MatMul(in, w)\nq = Add(p, b)\ny = Neg(q)\n}\n"

/* Samples (a, b): p = (a, a + b), q = p + (10, 20). */
static const struct {
    const char *model, *array;
    int64_t n;
    int n_call;
    size_t n_seen;
    bool has_note;
} cut_table[] = {
    {PRODUCT("n"), "x", 40, 3, 40, false},     /* a handful, and what is left */
    {PRODUCT("n"), "in", 3, 1, 3, false},
    {PRODUCT("1"), "in", 5, 5, 5, false},
    {PRODUCT("4"), "x", 11, 2, 8, true},
};

START_TEST(cuts)
{
    static const char *const name[] = {"p", "in", "b", "q"};
    Seen seen;
    VfErr err = {0};
    handle.ir = read_vft(cut_table[_i].model);
    add(cut_table[_i].array, cut_table[_i].n);
    ck_assert_msg(measure(4, name, &seen, &err) == VF_OK, "%s", err.text);
    ck_assert_int_eq(seen.n_call, cut_table[_i].n_call);
    ck_assert_uint_eq(seen.n[0], 2 * cut_table[_i].n_seen);
    ck_assert_uint_eq(seen.n[2], 2 * (size_t)seen.n_call);
    ck_assert_int_eq(note[0] != 0, cut_table[_i].has_note);
    for (size_t i = 0; i < cut_table[_i].n_seen; i++) {
        float a = (float)(2 * i), both = (float)(4 * i + 1);
        ck_assert(seen.at[1][2 * i] == a);
        ck_assert(seen.at[0][2 * i] == a && seen.at[0][2 * i + 1] == both);
        ck_assert(seen.at[3][2 * i] == a + 10 && seen.at[3][2 * i + 1] == both + 20);
    }
}
END_TEST

#define TWO                                                                    \
    "model ir=8 opset=17\ngraph g (a: f32[n, 2], b: f32[1, 2]) -> (y) {\n"     \
    "y = Add(a, b)\n}\n"

START_TEST(shared_between_runs)
{
    static const char *const name[] = {"y"};
    Seen seen;
    VfErr err = {0};
    handle.ir = read_vft(TWO);
    add("a", 3);
    add("b", 1);
    ck_assert_msg(measure(1, name, &seen, &err) == VF_OK, "%s", err.text);
    static const float want[] = {0, 2, 2, 4, 4, 6};
    ck_assert_uint_eq(seen.n[0], 6);
    for (int i = 0; i < 6; i++)
        ck_assert(seen.at[0][i] == want[i]);
}
END_TEST

static const struct {
    const char *model, *array, *second, *reason;
    int64_t n, n_second;
} refusal_table[] = {
    {PRODUCT("n"), "z", NULL, "no data for input 'in'", 4, 0},
    {PRODUCT("8"), "x", NULL, "an array f32[4, 2] does not fit input 'in', f32[8, 2]", 4, 0},
    {"model ir=8 opset=17\ngraph g (in: f32[n, 3]) -> (y) {\ny = Neg(in)\n}\n", "x", NULL,
     "an array f32[4, 2] does not fit input 'in', f32[n, 3]", 4, 0},
    {"model ir=8 opset=17\ngraph g (in: f64[n, 2]) -> (y) {\ny = Neg(in)\n}\n", "x", NULL,
     "an array f32[4, 2] does not fit input 'in', f64[n, 2]", 4, 0},
    {TWO, "a", "b", "inputs have 4 and 3 samples", 4, 3},
};

START_TEST(refusals)
{
    VfErr err = {0};
    handle.ir = read_vft(refusal_table[_i].model);
    add(refusal_table[_i].array, refusal_table[_i].n);
    if (refusal_table[_i].second != NULL)
        add(refusal_table[_i].second, refusal_table[_i].n_second);
    ck_assert_int_eq(vf_calibration_check(arena, &handle, data, &err), VF_USAGE);
    ck_assert_str_eq(err.text, refusal_table[_i].reason);
}
END_TEST

/* A value of a subgraph, and one that is no tensor of numbers. */
START_TEST(not_of_the_main_graph)
{
    Seen seen = {.n_value = 1};
    VfErr err = {0};
    const VfCalibration *calibration;
    handle.ir = read_vft("model ir=8 opset=17\ngraph g (in: f32[n, 2], c: bool[]) -> (y) {\n"
                         "y = If(c) {then_branch=graph t () -> (u) {\nu = Neg(in)\n}, "
                         "else_branch=graph f () -> (v) {\nv = Abs(in)\n}}\n}\n");
    VfNode *node = find_def(handle.ir, "y");
    const VfAttr *body = node->first_attr;
    VfValue *inner = body->graph->first_node->out[0];
    bool yes = true;
    VitfoldTensor t = {"c", 1, VF_BOOL, 0, NULL, &yes, 0};
    ck_assert_int_eq(vitfold_data_add(data, &t, &err), VITFOLD_OK);
    add("in", 4);
    ck_assert_int_eq(vf_calibration_new(arena, &handle, data, &calibration, &err), VF_OK);
    VfStatus status = calibration->measure(calibration, handle.ir, 1, &inner, see, &seen, &err);
    ck_assert_int_eq(status, VF_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(err.text, "is not one of the main graph"));
    ck_assert_int_eq(seen.n_call, 0);
}
END_TEST

/* The status of a visit ends the measurement. */
static VfStatus stop(void *user, const VfTensor *const *tensor, VfErr *err)
{
    (void)tensor;
    ++*(int *)user;
    return vf_fail(err, VF_INVALID, "enough");
}

START_TEST(visit_ends_it)
{
    VfErr err = {0};
    const VfCalibration *calibration;
    int n_call = 0;
    handle.ir = read_vft(PRODUCT("1"));
    add("x", 5);
    VfValue *value = find_value(handle.ir, "p");
    ck_assert_int_eq(vf_calibration_new(arena, &handle, data, &calibration, &err), VF_OK);
    ck_assert_int_eq(calibration->measure(calibration, handle.ir, 1, &value, stop, &n_call, &err),
                     VF_INVALID);
    ck_assert_int_eq(n_call, 1);
}
END_TEST

START_TEST(arrays_of_a_file)
{
    char folder[256], path[300];
    VfArrayFile file = {0};
    VfErr err = {0};
    const VfArrayReader *reader = vf_array_reader();
    vf_temp_folder_make(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/a.npz", folder);
    ck_assert_int_eq(reader->read(reader, arena, path, &file, &err), VF_IO);
    add("first", 2);
    add("second", 3);
    ck_assert_int_eq(vitfold_data_save_npz(data, path, &err), VITFOLD_OK);
    ck_assert_msg(reader->read(reader, arena, path, &file, &err) == VF_OK, "%s", err.text);
    ck_assert_int_eq(file.n, 2);
    ck_assert_str_eq(file.name[1], "second");
    ck_assert(file.tensor[1]->rank == 2 && file.tensor[1]->dims[0] == 3);
    ck_assert(vf_tensor_get_double(file.tensor[1], 5) == 5.0);
    vf_temp_folder_remove(folder);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("calibration");
    TCase *tcase = tcase_create("calibration");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, cuts, 0, (int)(sizeof cut_table / sizeof *cut_table));
    tcase_add_test(tcase, shared_between_runs);
    tcase_add_loop_test(tcase, refusals, 0,
                        (int)(sizeof refusal_table / sizeof *refusal_table));
    tcase_add_test(tcase, not_of_the_main_graph);
    tcase_add_test(tcase, visit_ends_it);
    tcase_add_test(tcase, arrays_of_a_file);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
