/* What cannot be lowered, and requests that do not fit the model: status and sentence. */
#include "tests/support/check_main.h"
#include "tests/unit/lower/lower_case.h"

typedef struct Refusal {
    const char *words; /* in the sentence */
    const char *text;
} Refusal;

static const Refusal refusal_table[] = {
    {"operator my.thing (opset 1, f32), node 'n0': the operator is not implemented",
     "model opset=17 opset my=1\n"
     "graph g (x: f32[2] = f32[2] {1, 2}) -> (y: f32[2]) { y = my::thing(x) @n0 }\n"},
    {"operator Relu (opset 29, f32), node 'r': newer than opset 28",
     "model opset=29\n"
     "graph g (x: f32[2] = f32[2] {1, 2}) -> (y: f32[2]) { y = Relu(x) @r }\n"},
    {"node 'pad': mode 'mirror'",
     "graph g (x: f32[2] = f32[2] {1, 2}) -> (y: f32[3]) {\n"
     "    p = const i64[2] {1, 0}\n"
     "    y = Pad(x, p) {mode=\"mirror\"} @pad\n"
     "}\n"},
    {"operand 1 is not known when the plan is made",
     "graph g (x: f32[2, 2] = f32[2, 2] iota, k: i64[] = i64[] {1}) -> (y: f32[2, 2]) {\n"
     "    y = Trilu(x, k)\n"
     "}\n"},
    {"depends on data",
     "graph g (x: f32[4] = f32[4] iota, s: i64[2] = i64[2] {2, 2}) -> (y: f32[?, ?]) {\n"
     "    y = Reshape(x, s)\n"
     "}\n"},
    {"the trip count is not known",
     "graph g (x: f32[1] = f32[1] {1}, n: i64[] = i64[] {2}) -> (y: f32[1]) {\n"
     "    y = Loop(n, _, x) {body=graph b (i: i64[], c: bool[], s: f32[1]) -> (c2, t) {\n"
     "        c2 = Identity(c)\n"
     "        t = Neg(s)\n"
     "    }}\n"
     "}\n"},
    {"no trip, and axis 0 of what one would give is not known",
     "graph g (x: f32[1] = f32[1] {1}) -> (z) {\n"
     "    n = const i64[] {0}\n"
     "    y, z = Loop(n, _, x) {body=graph b (i: i64[], c: bool[], s: f32[1])\n"
     "                         -> (d, t, u: f32[n]) {\n"
     "        d = Identity(c)\n"
     "        t = Neg(s)\n"
     "        u = Concat(s, s) {axis=0}\n"
     "    }}\n"
     "}\n"},
    {"trips give tensors of unlike dims",
     "graph g (x: f32[1] = f32[1] {1}) -> (z) {\n"
     "    n = const i64[] {2}\n"
     "    y, z = Loop(n, _, x) {body=graph b (i: i64[], c: bool[], s) -> (d, t, u) {\n"
     "        d = Identity(c)\n"
     "        t = Concat(s, s) {axis=0}\n"
     "        u = Neg(s)\n"
     "    }}\n"
     "}\n"},
    {"node 'n0': strings with reduction 'mul'",
     "graph g (x: f32[1] = f32[1] {1}) -> (y) {\n"
     "    s = Constant() {value_strings=[\"a\", \"b\"]}\n"
     "    u = Constant() {value_strings=[\"c\"]}\n"
     "    i = const i64[1, 1] {1}\n"
     "    r = ScatterND(s, i, u) {reduction=\"mul\"} @n0\n"
     "    y = Equal(r, s)\n"
     "}\n"},
    {"node 'n0': strings with extrapolation_value 7",
     "graph g (x: f32[1] = f32[1] {1}) -> (y) {\n"
     "    s = Constant() {value_strings=[\"a\", \"b\"]}\n"
     "    roi = const f32[2] {0, 2}\n    f = const f32[1] {1}\n"
     "    r = Resize(s, roi, f) {mode=\"nearest\", extrapolation_value=7.0, "
     "coordinate_transformation_mode=\"tf_crop_and_resize\"} @n0\n"
     "    y = Equal(r, s)\n"
     "}\n"},
    {"node 'n0': operand 1 is not known when the plan is made",
     "graph g (i: i64[1] = i64[1] {1}) -> (y) {\n"
     "    s = Constant() {value_strings=[\"a\", \"b\"]}\n"
     "    r = Gather(s, i) @n0\n"
     "    y = Equal(r, s)\n"
     "}\n"},
    {"node 'n0': operand 1 is not known when the plan is made", /* it need not be 4, 2 */
     "graph g (x: f32[4, 2] = f32[4, 2] iota, i: i64[2] = i64[2] {3, 2}) -> (y) {\n"
     "    y = Expand(x, i) @n0\n}\n"},
    {"node 'n0': operand 1 is not known when the plan is made", /* nor -1 or 8 */
     "graph g (x: f32[4, 2] = f32[4, 2] iota, i: i64[1] = i64[1] {7}) -> (y) {\n"
     "    y = Reshape(x, i) @n0\n}\n"},
    {"node 'n0': more than 524288 strings",
     "graph g (x: f32[1] = f32[1] {1}) -> (y) {\n"
     "    s = Constant() {value_strings=[\"a\", \"b\"]}\n"
     "    d = const i64[2] {1000000, 2}\n"
     "    r = Expand(s, d) @n0\n"
     "    y = Equal(r, s)\n"
     "}\n"},
    {"operand 2 is not known when the plan is made",
     "graph g (x: f32[2] = f32[2] {1, 2}, t: bool[] = bool[] {true}) -> (y: f32[2]) {\n"
     "    r = const f32[] {0.5}\n"
     "    y = Dropout(x, r, t)\n"
     "}\n"},
    {"operand 0 is not known when the plan is made",
     "graph g (x: f32[1, 1, 4] = f32[1, 1, 4] iota) -> (y) {\n"
     "    s = const f32[1, 1, 1] {1}\n"
     "    y = NonMaxSuppression(x, s)\n"
     "}\n"},
#define REGION(attrs) \
    "model opset=16\n" \
    "graph g (x: f32[1, 1, 2, 2] = f32[1, 1, 2, 2] iota, r: f32[1, 4] = f32[1, 4] iota, " \
    "i: i64[1] = i64[1] {0}) -> (y) { y = RoiAlign(x, r, i) {" attrs "} }\n"
    {"3 axes",
     "model opset=19\n"
     "graph g (x: f32[1, 1, 2] = f32[1, 1, 2] iota, w: f32[1, 1, 1] = f32[1, 1, 1] iota) -> (y) {\n"
     "    y = DeformConv(x, w, x)\n"
     "}\n"},
    {"mode 'mean'", REGION("mode=\"mean\"")},
    {"a sampling_ratio of 1025", REGION("sampling_ratio=1025")},
    {"center_point_box 2",
     "graph g (x: f32[1] = f32[1] {1}) -> (y) {\n"
     "    b = const f32[1, 1, 4] {0, 0, 1, 1}\n    s = const f32[1, 1, 1] {1}\n"
     "    y = NonMaxSuppression(b, s) {center_point_box=2}\n"
     "}\n"},
};

START_TEST(says_what_is_not_supported)
{
    LowerCase c;
    case_open(&c, refusal_table[_i].text);
    ck_assert_int_eq(case_lower(&c, (VfLowerOptions){0}, false), VF_UNSUPPORTED);
    ck_assert_ptr_null(c.plan);
    ck_assert_msg(strstr(c.err.text, refusal_table[_i].words) != NULL, "'%s' is not in '%s'",
                  refusal_table[_i].words, c.err.text);
    case_close(&c);
}
END_TEST

#define SCAN8(lengths, states, slices) \
    "model opset=8\n" \
    "graph g (x: f32[2, 3] = f32[2, 3] iota, s: f32[" states "] = f32[" states "] iota,\n" \
    "         a: f32[2, " slices "] = f32[2, " slices "] iota) -> (y) {\n" \
    "    l = const i64[2] " lengths "\n" \
    "    y = Scan(l, s, x, a) {num_scan_inputs=2,\n" \
    "                          body=graph b (p: f32[], q: f32[], r: f32[]) -> (t) {\n" \
    "        t = Sum(p, q, r)\n" \
    "    }} @n0\n" \
    "}\n"

#define BRANCH(name, body) \
    name "_branch=graph " name " () -> (" name "_z) { " name "_z = " body " }"

static const Refusal invalid_table[] = {
    {"node 'n0': operands of 5 and 2 sequences", SCAN8("{3, 3}", "5", "3")},
    {"node 'n0': scanned operands of 3 and 4 slices", SCAN8("{3, 3}", "2", "4")},
    {"node 'n0': a sequence of 4 slices of 3", SCAN8("{3, 4}", "2", "3")},
    {"node 'n0': a sequence of 0 slices of 3", SCAN8("{0, 3}", "2", "3")},
    {"node 'n0': TopK lacks attribute 'k'",
     "model opset=9\ngraph g (x: f32[2] = f32[2] iota) -> (y, z) { y, z = TopK(x) @n0 }\n"},
    {"node 'n0': MaxPool lacks attribute 'kernel_shape'",
     "graph g (x: f32[1, 1, 2] = f32[1, 1, 2] iota) -> (y) { y = MaxPool(x) @n0 }\n"},
#define UNPOOL(n, k, attrs) \
    "graph g (x: f32[1, 1, 2] = f32[1, 1, 2] iota, i: i64[1, 1, " n "] = i64[1, 1, " n "] iota)" \
    " -> (y) {\n    d = const i64[3] {1, 1, " k "}\n    y = MaxUnpool(x, i, d) {" attrs "} @n0\n}\n"
    {"node 'n0': 3 indices for 2 elements", UNPOOL("3", "4", "kernel_shape=[2]")},
    {"node 'n0': the output_shape is too small", UNPOOL("2", "2", "kernel_shape=[2]")},
    {"node 'n0': the window does not fit", UNPOOL("2", "4", "kernel_shape=[2], pads=[9, 9]")},
#define DEFORM(offset, bias, attrs) \
    "model opset=19\n" \
    "graph g (x: f32[1, 2, 2, 2] = f32[1, 2, 2, 2] iota) -> (y) {\n" \
    "    w = const f32[1, 2, 1, 1] {1, 1}\n" \
    "    o = const f32[" offset "] iota\n    b = const f32[" bias "] iota\n" \
    "    y = DeformConv(x, w, o, b) {" attrs "} @n0\n}\n"
    {"node 'n0': operand 2 does not fit", DEFORM("1, 2, 2, 1", "1", "")},
    {"node 'n0': operand 3 does not fit", DEFORM("1, 2, 2, 2", "2", "")},
    {"node 'n0': 3 groups of offsets for 2", DEFORM("1, 6, 2, 2", "1", "offset_group=3")},
    {"node 'n0': an iou_threshold of 1.5",
     "graph g (x: f32[1] = f32[1] {1}) -> (y) {\n"
     "    b = const f32[1, 1, 4] {0, 0, 1, 1}\n    s = const f32[1, 1, 1] {1}\n"
     "    t = const f32[] {1.5}\n    y = NonMaxSuppression(b, s, _, t) @n0\n}\n"},
    {"node 'n0': operand 2 has 2 elements",
     "graph g (x: f32[1] = f32[1] {1}) -> (y) {\n"
     "    b = const f32[1, 1, 4] {0, 0, 1, 1}\n    s = const f32[1, 1, 1] {1}\n"
     "    n = const i64[2] {1, 2}\n    y = NonMaxSuppression(b, s, n) @n0\n}\n"},
    {"node 'n0': ConcatFromSequence lacks attribute 'axis'",
     "graph g (x: f32[2] = f32[2] iota) -> (y) {\n"
     "    s = SequenceConstruct(x)\n    y = ConcatFromSequence(s) @n0\n}\n"},
    {"node 'n0': Clip lost attribute 'min' with opset 11, the model imports 17",
     "graph g (x: f32[2] = f32[2] iota) -> (y) { y = Clip(x) {min=0.5} @n0 }\n"},
    {"node 'n0': Unsqueeze lost attribute 'axes' with opset 13, the model imports 13",
     "model opset=13\ngraph g (x: f32[2] = f32[2] iota) -> (y) {\n"
     "    y = Unsqueeze(x) {axes=[0]} @n0\n}\n"},
    {"node 'n0': Add lost attribute 'broadcast' with opset 7, the model imports 7",
     "model opset=7 opset my=1\nfunction my::f opset=7 attr wide (x) -> (y) {\n"
     "    y = Add(x, x) {broadcast=ref int wide} @n0\n}\n"
     "graph g (x: f32[2] = f32[2] iota) -> (y) { y = my::f(x) {wide=1} }\n"},
    {"node 'n0': Reshape has 1 operands, takes 2",
     "graph g (x: f32[2] = f32[2] iota) -> (y) { y = Reshape(x, _) @n0 }\n"},
    {"node 'n0': MaxPool has 2 results, takes 1",
     "model opset=7\ngraph g (x: f32[1, 1, 2] = f32[1, 1, 2] iota) -> (y) {\n"
     "    y, z = MaxPool(x) {kernel_shape=[1]} @n0\n}\n"},
    {"node 'n0': f has 2 operands, takes 0 to 1",
     "model opset=17 opset my=1\nfunction my::f opset=17 (x) -> (y) { y = Neg(x) }\n"
     "graph g (x: f32[2] = f32[2] iota) -> (y) { y = my::f(x, x) @n0 }\n"},
    {"node 'n0': attribute 'axis' of Softmax is of type float, not int",
     "graph g (x: f32[2] = f32[2] iota) -> (y) { y = Softmax(x) {axis=0.0} @n0 }\n"},
    {"node 'n0': attribute 'alpha' of LeakyRelu is of type int, not float",
     "model opset=17 opset my=1\nfunction my::f opset=17 attr a (x) -> (y) {\n"
     "    y = LeakyRelu(x) {alpha=ref float a} @n0\n}\n"
     "graph g (x: f32[2] = f32[2] iota) -> (y) { y = my::f(x) {a=1} }\n"},
    {"node 'n0': the condition is not one bool",
     "graph g (x: f32[2] = f32[2] iota) -> (y) { y = If(x) {" BRANCH("then", "Neg(x)") ", "
     BRANCH("else", "Abs(x)") "} @n0 }\n"},
    {"node 'n0': result 0 is i64 in 'then_branch' but f32 in 'else_branch'",
     "graph g (x: f32[2] = f32[2] iota, c: bool[] = bool[] {true}) -> (y) {\n"
     "    y = If(c) {" BRANCH("then", "Cast(x) {to=7}") ", "
     BRANCH("else", "Abs(x)") "} @n0\n}\n"},
    {"node 'n0': result 0 is i64 in 'then_branch' but f32 in 'else_branch'",
     "graph g (x: f32[2] = f32[2] iota) -> (y) {\n    c = const bool[] {true}\n"
     "    y = If(c) {" BRANCH("then", "Cast(x) {to=7}") ", \n"
     "    else_branch=graph b () -> (z: f32[2]) {\n        z = Abs(x)\n    }} @n0\n}\n"},
    {"node 'n0': the body takes carried value 0 as f32 but gives i64",
     "graph g (x: f32[2] = f32[2] iota) -> (y) {\n    n = const i64[] {2}\n"
     "    y = Loop(n, _, x) {body=graph b (i: i64[], c: bool[], s) -> (d, t) {\n"
     "        d = Identity(c)\n        t = Cast(s) {to=7}\n    }} @n0\n}\n"},
    {"node 'n0': Resize of (f32[1, 1, 2], -, f32[3], i64[3]): both scales and sizes are given",
     "graph g (x: f32[1, 1, 2] = f32[1, 1, 2] iota) -> (y) {\n    a = const f32[3] {1, 1, 2}\n"
     "    b = const i64[3] {1, 1, 4}\n    y = Resize(x, _, a, b) @n0\n}\n"},
    {"node 'n0': Resize of (f32[1, 1, 2]): neither scales nor sizes are given",
     "graph g (x: f32[1, 1, 2] = f32[1, 1, 2] iota) -> (y) { y = Resize(x) @n0 }\n"},
    {"attribute 'num_outputs' is 3 for 2 results",
     "model opset=18\ngraph g (x: f32[6] = f32[6] iota) -> (y, z) {\n"
     "    y, z = Split(x) {num_outputs=3} @n0\n}\n"},
    {"node 'n0': Upsample ended with opset 10, the model imports 10",
     "model opset=10\ngraph g (x: f32[2] = f32[2] iota) -> (y) {\n"
     "    s = const f32[1] {2}\n    y = Upsample(x, s) @n0\n}\n"},
    {"node 'n0': Scatter ended with opset 11, the model imports 17",
     "graph g (x: f32[2] = f32[2] iota) -> (y) {\n"
     "    i = const i64[1] {0}\n    u = const f32[1] {7}\n    y = Scatter(x, i, u) @n0\n}\n"},
};

START_TEST(says_what_a_node_lacks)
{
    LowerCase c;
    case_open(&c, invalid_table[_i].text);
    ck_assert_int_eq(case_lower(&c, (VfLowerOptions){0}, false), VF_INVALID);
    ck_assert_msg(strstr(c.err.text, invalid_table[_i].words) != NULL, "'%s' is not in '%s'",
                  invalid_table[_i].words, c.err.text);
    case_close(&c);
}
END_TEST

START_TEST(lists_every_node_once)
{
    LowerCase c;
    VfBinding binding[16];
    VfUnsupported all = {0};
    case_open(&c, "model opset=17 opset my=1\n"
                  "graph g (x: f32[2] = f32[2] {1, 2}) -> (y: f32[2], z: f32[2]) {\n"
                  "    a = my::thing(x) @first\n"
                  "    b = Relu(a)\n"
                  "    y = my::other(b) @second\n"
                  "    z = Neg(x)\n"
                  "}\n");
    int32_t n = case_bind(&c, binding, false);
    VfStatus status = vf_lower(c.model, n, binding, NULL, c.arena, &c.plan, &all, &c.err);
    ck_assert_int_eq(status, VF_UNSUPPORTED);
    ck_assert_int_eq(all.n, 2);
    ck_assert_ptr_nonnull(strstr(all.text[0], "my.thing"));
    ck_assert_ptr_nonnull(strstr(all.text[1], "my.other"));
    ck_assert_ptr_nonnull(strstr(c.err.text, "(and 1 more)"));
    case_close(&c);
}
END_TEST

/* Contents of x would help the first, and perhaps the branch of z, none the second. */
START_TEST(tells_apart_who_waits_for_contents)
{
    LowerCase c;
    VfBinding binding[16];
    VfUnsupported all = {0};
    case_open(&c, "model opset=17 opset my=1\n"
                  "graph g (x: f32[2] = f32[2] {1, 2}, c: bool[] = bool[] {true}) -> (y, z, n) {\n"
                  "    n = NonZero(x) @waits\n"
                  "    y = my::thing(x) @real\n"
                  "    z = If(c) {then_branch=graph t () -> (o) { o = Neg(x) },\n"
                  "               else_branch=graph e () -> (p) { p = my::thing(x) @branch }}\n"
                  "}\n");
    int32_t n = case_bind(&c, binding, false);
    VfStatus status = vf_lower(c.model, n, binding, NULL, c.arena, &c.plan, &all, &c.err);
    ck_assert_int_eq(status, VF_UNSUPPORTED);
    ck_assert_int_eq(all.n_real, 1);
    ck_assert_int_gt(all.n, 2);
    ck_assert_ptr_nonnull(strstr(all.text[0], "'real'"));
    ck_assert_ptr_nonnull(strstr(all.text[1], "'waits'"));
    ck_assert_ptr_nonnull(strstr(all.text[2], "'branch'"));
    ck_assert_ptr_nonnull(strstr(c.err.text, "'real'"));
    case_close(&c);
}
END_TEST

START_TEST(values_of_inputs_are_used_only_at_need)
{
    LowerCase c;
    static const int64_t none[] = {0};
    const VfBinding nothing = {.name = {"x", 1}, .dtype = VF_F32, .rank = 1, .dims = none};
    case_open(&c, "graph g (x: f32[0]) -> (y: i64[1, 0]) { y = NonZero(x) }\n");
    ck_assert_int_eq(vf_lower(c.model, 1, &nothing, NULL, NULL, &c.plan, NULL, &c.err), VF_OK);
    ck_assert(!c.plan->depends_on_values);
    case_close(&c);
    case_open(&c, "graph g (x: f32[4] = f32[4] {1, 2, 3, 4}, s: i64[2] = i64[2] {2, 2})\n"
                  "    -> (y: f32[?, ?]) {\n"
                  "    want_y = const f32[2, 2] {1, 2, 3, 4}\n"
                  "    y = Reshape(x, s)\n"
                  "}\n");
    ck_assert_int_eq(case_lower(&c, (VfLowerOptions){0}, true), VF_OK);
    ck_assert(c.plan->depends_on_values);
    case_run(&c, 1);
    case_compare(&c, "reshape");
    case_close(&c);
    case_open(&c, "graph g (x: i64[2] = i64[2] {1, 2}) -> (y: i64[2]) { y = Neg(x) }\n");
    ck_assert_int_eq(case_lower(&c, (VfLowerOptions){0}, true), VF_OK);
    ck_assert(!c.plan->depends_on_values);
    ck_assert_int_eq(c.plan->n_step, 1);
    case_close(&c);
}
END_TEST

static const int64_t two_by_three[] = {2, 3}, three[] = {3}, negative[] = {-1, 3};

typedef struct WrongBinding {
    const char *words;
    int32_t n;
    VfBinding binding[2];
} WrongBinding;

static const WrongBinding wrong_table[] = {
    {"input 'x' is missing", 0, {{{NULL, 0}, VF_F32, 0, NULL, NULL}}},
    {"the model has no input 'z'", 1, {{{"z", 1}, VF_F32, 2, two_by_three, NULL}}},
    {"input 'x' is f32[3], the model takes f32[n, 3]", 1, {{{"x", 1}, VF_F32, 1, three, NULL}}},
    {"input 'x' is i64[2, 3]", 1, {{{"x", 1}, VF_I64, 2, two_by_three, NULL}}},
    {"input 'x' has a negative dim", 1, {{{"x", 1}, VF_F32, 2, negative, NULL}}},
    {"input 'x' is given twice",
     2,
     {{{"x", 1}, VF_F32, 2, two_by_three, NULL}, {{"x", 1}, VF_F32, 2, two_by_three, NULL}}},
};

START_TEST(names_the_input_that_does_not_fit)
{
    const WrongBinding *w = &wrong_table[_i];
    LowerCase c;
    case_open(&c, "graph g (x: f32[n, 3], k: f32[3] = f32[3] {1, 2, 3}) -> (y: f32[n, 3]) {\n"
                  "    y = Add(x, k)\n"
                  "}\n");
    VfStatus status = vf_lower(c.model, w->n, w->binding, NULL, c.arena, &c.plan, NULL, &c.err);
    ck_assert_int_eq(status, VF_USAGE);
    ck_assert_msg(strstr(c.err.text, w->words) != NULL, "'%s' is not in '%s'", w->words,
                  c.err.text);
    case_close(&c);
}
END_TEST

START_TEST(an_arena_over_the_limit_is_refused)
{
    LowerCase c;
    case_open(&c, "graph g (x: f32[64, 64] = f32[64, 64] splat 1) -> (y: f32[64, 64]) {\n"
                  "    a = Exp(x)\n"
                  "    b = Softmax(a) {axis=0}\n"
                  "    y = Add(a, b)\n"
                  "}\n");
    VfStatus status = case_lower(&c, (VfLowerOptions){.max_arena_bytes = 1000}, false);
    ck_assert_int_eq(status, VF_NO_MEMORY);
    case_close(&c);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("lower/refuse");
    TCase *tcase = tcase_create("cases");
    int n_refusal = (int)(sizeof refusal_table / sizeof *refusal_table);
    int n_wrong = (int)(sizeof wrong_table / sizeof *wrong_table);
    tcase_add_loop_test(tcase, says_what_is_not_supported, 0, n_refusal);
    tcase_add_loop_test(tcase, says_what_a_node_lacks, 0,
                        sizeof invalid_table / sizeof invalid_table[0]);
    tcase_add_loop_test(tcase, names_the_input_that_does_not_fit, 0, n_wrong);
    tcase_add_test(tcase, lists_every_node_once);
    tcase_add_test(tcase, tells_apart_who_waits_for_contents);
    tcase_add_test(tcase, values_of_inputs_are_used_only_at_need);
    tcase_add_test(tcase, an_arena_over_the_limit_is_refused);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
