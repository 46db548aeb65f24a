/* Models in which shapes depend on data that the network computes: run in segments. Each model
 * computes its outputs twice, with and without a shape that depends on data.
 */
#include <math.h>

#include "converter/data/npz.h"
#include "runtime/base/intern.h"
#include "tests/support/tool_case.h"
#include "tests/support/vft_file.h"

static VfArena *arena;
static VfErr err;

static void set_up_arena(void)
{
    arena = vf_arena_new();
    set_up();
}

static void tear_down_arena(void)
{
    tear_down();
    vf_arena_free(arena);
}

/* What is tested; y and z of a model must be equal. */
static const char *const equal_table[][2] = {
    {"elements picked by what is computed, and a second time by what became of them",
     "graph g (x: f32[40, 30]) -> (y: f32[], z: f32[]) {\n"
     "    half = const f32[] {0.5}\n    r = Sub(x, half)\n    p = Relu(r)\n"
     "    n = NonZero(p)\n    t = Transpose(n)\n    g = GatherND(r, t)\n"
     "    s = Sub(g, half)\n    h = const f32[] {-0.25}\n    c = Greater(s, h)\n"
     "    q = Compress(g, c)\n    y = ReduceSum(q) {keepdims=0}\n"
     "    quarter = const f32[] {0.25}\n    m = Greater(r, quarter)\n    zero = const f32[] {0}\n"
     "    w = Where(m, r, zero)\n    z = ReduceSum(w) {keepdims=0}\n}\n"},
    {"a loop that ends by what it computes",
     "graph g (x: f32[100]) -> (y: f32[], z: f32[]) {\n"
     "    one = const f32[] {1}\n    a = Add(x, one)\n    two = const f32[] {2}\n"
     "    most = const f32[] {1000}\n"
     "    s, k = Loop(_, _, a) {body=graph b (i: i64[], c: bool[], v: f32[100]) -> (d, w, e) {\n"
     "        w = Mul(v, two)\n        r = ReduceMax(w) {keepdims=0}\n        d = Less(r, most)\n"
     "        e = Identity(i)\n    }}\n"
     "    n = Size(k)\n    f = Cast(n) {to=1}\n    p = Pow(two, f)\n    back = Div(s, p)\n"
     "    y = ReduceSum(back) {keepdims=0}\n    z = ReduceSum(a) {keepdims=0}\n}\n"},
    {"a condition, and a value of outside that a branch picks from",
     "graph g (x: f32[100]) -> (y: f32[], z: f32[]) {\n"
     "    p = Relu(x)\n    s = ReduceSum(p) {keepdims=0}\n    one = const f32[] {1}\n"
     "    c = Greater(s, one)\n    some = const i64[1, 1] {0}\n"
     "    n = If(c) {then_branch=graph t () -> (o) { o = NonZero(p) },\n"
     "               else_branch=graph e () -> (o2) { o2 = Identity(some) }}\n"
     "    t = Transpose(n)\n    g = GatherND(p, t)\n    y = ReduceSum(g) {keepdims=0}\n"
     "    z = Identity(s)\n}\n"},
    {"a sequence of what is made before, and which of it is decided by data",
     "graph g (x: f32[100]) -> (y: f32[], z: f32[]) {\n"
     "    p = Relu(x)\n    q = SequenceConstruct(x, p)\n    n = NonZero(p)\n"
     "    k = Size(n)\n    zero = const i64[] {0}\n    m = Greater(k, zero)\n"
     "    i = Cast(m) {to=7}\n    e = SequenceAt(q, i)\n    t = Transpose(n)\n"
     "    g = GatherND(e, t)\n    y = ReduceSum(g) {keepdims=0}\n"
     "    z = ReduceSum(p) {keepdims=0}\n}\n"},
    {"a loop whose trips pick from what they make",
     "graph g (x: f32[100]) -> (y: f32[], z: f32[]) {\n"
     "    p = Relu(x)\n    two = const i64[] {2}\n    one = const f32[] {1}\n"
     "    s, k = Loop(two, _, p) {body=graph b (i: i64[], c: bool[], v: f32[?]) -> (d, w, e) {\n"
     "        q = NonZero(v)\n        t = Transpose(q)\n        w = GatherND(v, t)\n"
     "        m = Greater(w, one)\n        h = Compress(w, m)\n        n = Size(h)\n"
     "        zero = const i64[] {0}\n        d = Greater(n, zero)\n"
     "        e = ReduceSum(w) {keepdims=0}\n    }}\n"
     "    u = ReduceSum(s) {keepdims=0}\n    first = const i64[] {0}\n"
     "    y = Gather(k, first)\n    z = ReduceSum(p) {keepdims=0}\n}\n"},
    {"what a scan stacks, slices and repeats, of which a branch picks",
     "graph g (x: f32[40]) -> (y: f32[], z: f32[]) {\n"
     "    p = Relu(x)\n    s = ReduceSum(p) {keepdims=0}\n    zero = const f32[] {0}\n"
     "    c = Greater(s, zero)\n"
     "    y = If(c) {then_branch=graph t () -> (o) {\n"
     "        _, k = Scan(zero, p) {num_scan_inputs=1,\n"
     "                              body=graph b (a: f32[], e: f32[]) -> (f, l) {\n"
     "            f = Add(a, e)\n            l = Identity(e)\n        }}\n"
     "        from = const i64[1] {0}\n        to = const i64[1] {40}\n"
     "        u = Slice(k, from, to)\n        m = Greater(u, zero)\n        h = Compress(u, m)\n"
     "        r = const f32[1] {1}\n        n = Shape(h)\n        q = Expand(r, n)\n"
     "        i = NonZero(q)\n        j = Transpose(i)\n        v = GatherND(h, j)\n"
     "        o = ReduceSum(v) {keepdims=0}\n    }, else_branch=graph e () -> (o2) {\n"
     "        big = const f32[2] {1, 2}\n        o2 = Identity(big)\n    }}\n"
     "    z = Identity(s)\n}\n"},
    {"a branch that is wrong is not taken",
     "graph g (x: f32[100]) -> (y: f32[], z: f32[]) {\n"
     "    p = Relu(x)\n    z = ReduceSum(p) {keepdims=0}\n    zero = const f32[] {0}\n"
     "    c = Greater(z, zero)\n"
     "    y = If(c) {then_branch=graph t () -> (o) { o = Identity(z) },\n"
     "               else_branch=graph e () -> (o2) {\n"
     "        two = const f32[2] {1, 2}\n        one = const f32[1, 1] {1}\n"
     "        q = SequenceConstruct(two, one)\n        o3 = ConcatFromSequence(q) {axis=0}\n"
     "        o2 = ReduceSum(o3) {keepdims=0}\n    }}\n}\n"},
    {"what is not 0 in each slice of a scan",
     "graph g (x: f32[40, 30]) -> (y: f32[], z: f32[]) {\n"
     "    p = Relu(x)\n    none = const i64[] {0}\n"
     "    n, c = Scan(none, p) {num_scan_inputs=1, body=graph b (a: i64[], r: f32[30])\n"
     "        -> (s, t) {\n"
     "        k = NonZero(r)\n        t = Size(k)\n        s = Add(a, t)\n    }}\n"
     "    y = Cast(n) {to=1}\n    m = Sign(p)\n    z = ReduceSum(m) {keepdims=0}\n}\n"},
    {"strings from one segment to the next",
     "graph g (x: f32[100]) -> (y: f32[], z: f32[]) {\n"
     "    p = Relu(x)\n    n = NonZero(p)\n    k = Size(n)\n    w = Cast(k) {to=8}\n"
     "    half = const f32[] {0.5}\n    h = Sub(p, half)\n    zero = const f32[] {0}\n"
     "    c = Greater(h, zero)\n    g = Compress(p, c)\n    s = ReduceSum(g) {keepdims=0}\n"
     "    v = Cast(w) {to=1}\n    y = Add(v, s)\n"
     "    f = Cast(k) {to=1}\n    r = Where(c, p, zero)\n    t = ReduceSum(r) {keepdims=0}\n"
     "    z = Add(f, t)\n}\n"},
};

static const VfNamedArray *arrays_of(const char *file, size_t *n)
{
    VfNamedArray *array;
    VfStatus status = vf_npz_read(arena, vf_tool_path(folder, file), &array, n, &err);
    ck_assert_msg(status == VF_OK, "%s", err.text);
    return array;
}

START_TEST(both_ways_are_equal)
{
    static const char *const words[] = {"run @m.onnx --random 3 --outputs @a.npz",
                                        "run @m.onnx --random 3 --outputs @a.npz --threads 1",
                                        "run @m.onnx --random 3 --outputs @a.npz --reference"};
    vf_vft_file(vf_tool_path(folder, "@m.onnx"), equal_table[_i][1]);
    for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
        size_t n;
        expect(0, words[k]);
        const VfNamedArray *array = arrays_of("@a.npz", &n);
        const VfArray *y = vf_array_find(array, n, vf_bytes("y"));
        const VfArray *z = vf_array_find(array, n, vf_bytes("z"));
        double a = vf_array_get_double(y, 0), b = vf_array_get_double(z, 0);
        ck_assert_msg(fabs(b) > 1 && fabs(a - b) < 1e-5 * fabs(b), "%s: %g, %g",
                      equal_table[_i][0], a, b);
    }
}
END_TEST

START_TEST(what_lies_before_is_saved_too)
{
    static const char *const name[] = {"p", "n", "t", "g", "q", "w"};
    size_t n;
    vf_vft_file(vf_tool_path(folder, "@m.onnx"), equal_table[0][1]);
    expect(0, "run @m.onnx --random 3 --outputs @a.npz --save-all");
    const VfNamedArray *array = arrays_of("@a.npz", &n);
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        ck_assert_msg(vf_array_find(array, n, vf_bytes(name[i])) != NULL, "no '%s'", name[i]);
    expect(0, "compare @m.onnx @m.onnx --random 3 --exact");
    expect(4, "bench @m.onnx");
    expect(4, "emit-c @m.onnx -o @c");
}
END_TEST

/* 40 x 30 numbers are handed from one segment to the next, and their places. */
START_TEST(what_is_handed_on_counts)
{
    vf_vft_file(vf_tool_path(folder, "@m.onnx"), equal_table[0][1]);
    const VfToolResult *result = expect(6, "run @m.onnx --random 3 --max-memory 8k");
    ck_assert_ptr_nonnull(strstr(result->message, "allowed are 8192"));
    expect(0, "run @m.onnx --random 3 --max-memory 1M");
}
END_TEST

/* Each trip decides whether there is another, so all of them are computed as the plan is made. */
START_TEST(what_is_computed_for_a_plan_counts)
{
    vf_vft_file(vf_tool_path(folder, "@m.onnx"),
                "graph g (x: f32[4000]) -> (y: f32[4000]) {\n"
                "    two = const f32[] {2}\n    most = const f32[] {1000}\n"
                "    y = Loop(_, _, x) {body=graph b (i: i64[], c: bool[], v: f32[4000])\n"
                "        -> (d, w) {\n        w = Mul(v, two)\n"
                "        r = ReduceMax(w) {keepdims=0}\n"
                "        d = Less(r, most)\n    }}\n}\n");
    const VfToolResult *result = expect(6, "run @m.onnx --random 3 --max-memory 64k");
    ck_assert_ptr_nonnull(strstr(result->message, "more than the 65536 bytes of memory"));
    expect(0, "run @m.onnx --random 3 --max-memory 1M");
}
END_TEST

/* A node that contents of operands do not help is named. */
START_TEST(what_does_not_help)
{
    vf_vft_file(vf_tool_path(folder, "@m.onnx"),
                "model opset=17 opset my=1\n"
                "graph g (x: f32[100]) -> (y) {\n"
                "    n = NonZero(x)\n    y = my::Thing(n) @thing\n}\n");
    const VfToolResult *result = expect(4, "run @m.onnx --random 3 --outputs @a.npz");
    ck_assert_ptr_nonnull(strstr(result->message, "node 'thing'"));
    ck_assert_ptr_null(strstr(result->message, "NonZero"));
    ck_assert_ptr_null(strstr(result->message, "more)"));
}
END_TEST

/* What a body makes of chance cannot be known before it runs. */
START_TEST(what_no_segment_gives)
{
    vf_vft_file(vf_tool_path(folder, "@m.onnx"),
                "graph g (x: f32[100]) -> (y, z) {\n    n = const i64[] {2}\n"
                "    _, y = Loop(n, _, x) {body=graph b (i: i64[], c: bool[], s) -> (d, t, u) {\n"
                "        d = Identity(c)\n        t = Identity(s)\n"
                "        r = RandomUniformLike(s) {seed=1.0}\n        k = Relu(r)\n"
                "        u = NonZero(k) @inner\n    }} @outer\n"
                "    z = NonZero(y) @later\n}\n");
    const VfToolResult *result = expect(4, "run @m.onnx --random 3 --outputs @a.npz");
    ck_assert_ptr_nonnull(strstr(result->message, "node 'inner': operand 0 is not known"));
    ck_assert_ptr_nonnull(strstr(result->message, "node 'outer' around it cannot be run in parts"));
    ck_assert_ptr_null(strstr(result->message, "later"));
}
END_TEST

/* No contents of x decide how many elements there are. */
START_TEST(nothing_depends_on_no_elements)
{
    vf_vft_file(vf_tool_path(folder, "@m.onnx"),
                "graph g (x: f32[0], p: i64[0]) -> (y, z) {\n"
                "    y = NonZero(x)\n    z = Unique(p)\n}\n");
    expect(0, "emit-c @m.onnx -o @c");
}
END_TEST

/* How many elements are positive decides the sign of the scores: a plan for one sample is wrong for
 * the other. */
START_TEST(each_batch_has_a_plan_of_its_own)
{
    static const int64_t dims[] = {2, 4}, one[] = {2};
    float x[] = {-4, -3, -2, -1, 1, 2, 3, 4};
    int64_t label[] = {3, 0};
    VfNamedArray array[2] = {{.name = vf_bytes("x")}, {.name = vf_bytes("y")}};
    vf_vft_file(vf_tool_path(folder, "@m.onnx"),
                "graph g (x: f32[n, 4]) -> (y: f32[n, 4]) {\n"
                "    r = Relu(x)\n    k = NonZero(r)\n    s = Size(k)\n    f = Cast(s) {to=1}\n"
                "    e = const f32[] {4}\n    t = Sub(e, f)\n    y = Mul(x, t)\n}\n");
    ck_assert_int_eq(vf_array_init(&array[0].array, arena, VF_F32, 2, dims, x, &err), VF_OK);
    ck_assert_int_eq(vf_array_init(&array[1].array, arena, VF_I64, 1, one, label, &err), VF_OK);
    ck_assert_int_eq(vf_npz_write(vf_tool_path(folder, "@l.npz"), array, 2, &err), VF_OK);
    json_t *document = document_of("eval @m.onnx --data @l.npz --batch 1 --json");
    char *text = json_dumps(document, JSON_COMPACT);
    ck_assert_msg(strstr(text, "\"top1_hits\":2") != NULL, "%s", text);
    free(text);
    json_decref(document);
}
END_TEST

static Suite *make_suite(void)
{
    vf_tool_need();
    Suite *suite = suite_create("segments");
    TCase *tests = tcase_create("segments");
    tcase_add_checked_fixture(tests, set_up_arena, tear_down_arena);
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, both_ways_are_equal, 0,
                        (int)(sizeof equal_table / sizeof *equal_table));
    tcase_add_test(tests, what_lies_before_is_saved_too);
    tcase_add_test(tests, what_is_handed_on_counts);
    tcase_add_test(tests, what_is_computed_for_a_plan_counts);
    tcase_add_test(tests, what_does_not_help);
    tcase_add_test(tests, what_no_segment_gives);
    tcase_add_test(tests, nothing_depends_on_no_elements);
    tcase_add_test(tests, each_batch_has_a_plan_of_its_own);
    suite_add_tcase(suite, tests);
    return suite;
}

VF_CHECK_MAIN(make_suite)
