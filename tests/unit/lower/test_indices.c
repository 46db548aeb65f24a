/* Indices given when the model runs that lie outside their axis: the run fails and says which. */
#include "tests/support/check_main.h"
#include "tests/unit/lower/lower_case.h"

typedef struct Outside {
    const char *words; /* of the sentence; NULL: the run succeeds */
    const char *text;
} Outside;

#define IFS                                                            \
    "    y = If(c) {then_branch=graph t () -> (p: f32[1]) {\n"         \
    "        p = Gather(x, i) @then\n"                                 \
    "    }, else_branch=graph e () -> (q: f32[1]) {\n"                 \
    "        q = If(d) {then_branch=graph t2 () -> (r: f32[1]) {\n"    \
    "            r = GatherElements(x, k) @inner\n"                    \
    "        }, else_branch=graph e2 () -> (s: f32[1]) {\n"            \
    "            s = Slice(x, zero, one)\n"                            \
    "        }}\n"                                                     \
    "    }}\n"
#define CHOOSE(c, d, i, k, y)                                                               \
    "graph g (c: bool[] = bool[] {" c "}, d: bool[] = bool[] {" d "}, "                     \
    "x: f32[2] = f32[2] {5, 6}, i: i64[1] = i64[1] {" i "}, k: i64[1] = i64[1] {" k "}) "   \
    "-> (y: f32[1]) {\n    want_y = const f32[1] {" y "}\n"                                \
    "    zero = const i64[1] {0}\n    one = const i64[1] {1}\n" IFS "}\n"
#define KNOWN(c)                                                                            \
    "graph g (c: bool[] = bool[] {" c "}, x: f32[2] = f32[2] {5, 6}) -> (y: f32[1]) {\n"    \
    "    want_y = const f32[1] {2}\n    w = const f32[2] {1, 2}\n"                          \
    "    nine = const i64[1] {9}\n    one = const i64[1] {1}\n"                             \
    "    y = If(c) {then_branch=graph t () -> (p: f32[1]) {\n"                              \
    "        a = Gather(w, nine) @n\n        b = Gather(x, nine)\n        p = Add(a, b)\n"  \
    "    }, else_branch=graph e () -> (q: f32[1]) { q = Gather(w, one) }}\n}\n"
#define X "x: f32[2, 3] = f32[2, 3] iota, "

static const Outside outside_table[] = {
    {"node 'n': index 2 lies outside an axis of 2",
     "model opset=22\n"
     "graph g (x: f32[2, 1, 2, 2] = f32[2, 1, 2, 2] iota, r: f32[1, 4] = f32[1, 4] {0, 0, 2, 2}, "
     "i: i64[1] = i64[1] {2}) -> (y: f32[1, 1, 1, 1]) {\n    y = RoiAlign(x, r, i) @n\n}\n"},
    {"node 'n': index 9223372036854775807 lies outside an axis of 3",
     "model opset=22\n"
     "graph g (x: f32[1, 1, 3] = f32[1, 1, 3] iota, "
     "i: i64[1, 1, 3] = i64[1, 1, 3] {1, 9223372036854775807, 1}) -> (y: f32[1, 1, 3]) {\n"
     "    y = MaxUnpool(x, i) {kernel_shape=[1]} @n\n}\n"},
    {"node 'n': index 3 lies outside an axis of 3",
     "graph g (" X "i: i64[2] = i64[2] {-3, 3}) -> (y: f32[2, 2]) {\n"
     "    y = Gather(x, i) {axis=1} @n\n}\n"},
    {"node 'n': index -4 lies outside an axis of 3",
     "graph g (" X "i: i32[1, 1] = i32[1, 1] {-4}) -> (y: f32[1, 1]) {\n"
     "    y = GatherElements(x, i) {axis=1} @n\n}\n"},
    {"node 'n': index 5 lies outside an axis of 3",
     "graph g (" X "i: i64[2, 2] = i64[2, 2] {1, -3, 1, 5}) -> (y: f32[2]) {\n"
     "    y = GatherND(x, i) @n\n}\n"},
    {"node 'n': index 2 lies outside an axis of 2",
     "graph g (" X "i: i64[1, 1] = i64[1, 1] {2}, u: f32[1, 3] = f32[1, 3] iota) "
     "-> (y: f32[2, 3]) {\n    y = ScatterND(x, i, u) @n\n}\n"},
    {"node 'n': index 7 lies outside an axis of 2",
     "model opset=18\n"
     "graph g (" X "i: i64[1, 1] = i64[1, 1] {7}, u: f32[1, 1] = f32[1, 1] iota) "
     "-> (y: f32[2, 3]) {\n    y = ScatterElements(x, i, u) {reduction=\"add\"} @n\n}\n"},
    {"node 'n': index 2 lies outside an axis of 2",
     "model opset=23\n"
     "graph g (x: f32[1, 1, 2, 2] = f32[1, 1, 2, 2] iota, p: i64[1, 2] = i64[1, 2] {0, 2}) "
     "-> (y: f32[1, 1, 2, 2]) {\n"
     "    c = const f32[2, 1] {1, 1}\n"
     "    y = RotaryEmbedding(x, c, c, p) @n\n}\n"},
    {"node 'n': index 3 lies outside an axis of 3",
     "model opset=24\n"
     "graph g (x: f32[1, 3, 1] = f32[1, 3, 1] iota, u: f32[1, 2, 1] = f32[1, 2, 1] iota, "
     "w: i64[1] = i64[1] {2}) -> (y: f32[1, 3, 1]) {\n"
     "    y = TensorScatter(x, u, w) {axis=1} @n\n}\n"},
    {"node 'n': index 0 lies outside an axis of 0",
     "graph g (x: f32[0] = f32[0] {}, i: i64[1] = i64[1] {0}) -> (y: f32[1]) {\n"
     "    y = Gather(x, i) @n\n}\n"},
    {NULL, "graph g (" X "i: i64[4] = i64[4] {-3, 2, 0, -1}) -> (y: f32[2, 4]) {\n"
           "    want_y = const f32[2, 4] {0, 2, 0, 2, 3, 5, 3, 5}\n"
           "    y = Gather(x, i) {axis=1} @n\n}\n"},
    {NULL, "graph g (i: i64[3] = i64[3] {0, 3, -9}) -> (y: i64[3, 2]) {\n"
           "    want_y = const i64[3, 2] {1, 0, 0, 0, 0, 0}\n"
           "    d = const i64[1] {2}\n    v = const i64[2] {0, 1}\n    y = OneHot(i, d, v)\n}\n"},
    {"node 'then': index 2 lies outside an axis of 2", CHOOSE("true", "true", "2", "0", "0")},
    {"node 'inner': index 4 lies outside an axis of 2", CHOOSE("false", "true", "0", "4", "0")},
    {NULL, CHOOSE("true", "true", "1", "4", "6")},
    {NULL, CHOOSE("false", "true", "2", "0", "5")},
    {NULL, CHOOSE("false", "false", "2", "4", "5")},
    {"node 'n': index 9 lies outside an axis of 2", KNOWN("true")},
    {NULL, KNOWN("false")},
};

/* Many indices, for several threads: the first one outside is told, whoever meets it. */
static const char many[] =
    "graph g (x: f32[900] = f32[900] iota, i: i64[100000] = i64[100000] iota) -> (y: f32[100000]) "
    "{\n    y = Gather(x, i) @n\n}\n";

static VfStatus run(LowerCase *c, int32_t n_thread)
{
    const void *in[16];
    void *out[1];
    VfPool *pool = vf_pool_new(n_thread);
    VfRun *run;
    ck_assert_int_eq(vf_run_new(c->plan, pool, &run, &c->err), VF_OK);
    for (int32_t i = 0; i < c->plan->n_input; i++)
        in[i] = vf_graph_find_value(c->model->graph, c->plan->input[i].name, false)->tensor->data;
    in[0] = in[0] == NULL ? "" : in[0];
    out[0] = vf_arena_alloc(c->arena, c->plan->output[0].bytes);
    VfStatus status = vf_run(run, in, out, NULL, &c->err);
    vf_run_free(run);
    vf_pool_free(pool);
    return status;
}

static void check_outside(const char *text, const char *words)
{
    for (int32_t n_thread = 1; n_thread < 4; n_thread++) {
        LowerCase c;
        case_open(&c, text);
        VfStatus status = case_lower(&c, (VfLowerOptions){.save_all = n_thread == 2}, false);
        ck_assert_msg(status == VF_OK, "%s", c.err.text);
        ck_assert_int_eq(run(&c, n_thread), VF_INVALID);
        ck_assert_str_eq(c.err.text, words);
        ck_assert_int_eq(run(&c, n_thread), VF_INVALID); /* nothing is left of the first time */
        case_close(&c);
    }
}

START_TEST(the_run_fails_where_an_index_is_outside)
{
    const Outside *row = &outside_table[_i];
    if (row->words != NULL)
        check_outside(row->text, row->words);
    else
        case_check("inside", row->text);
}
END_TEST

START_TEST(the_first_of_many_is_told)
{
    check_outside(many, "node 'n': index 900 lies outside an axis of 900");
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("lower/indices");
    TCase *tcase = tcase_create("cases");
    tcase_add_loop_test(tcase, the_run_fails_where_an_index_is_outside, 0,
                        (int)(sizeof outside_table / sizeof *outside_table));
    tcase_add_test(tcase, the_first_of_many_is_told);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
