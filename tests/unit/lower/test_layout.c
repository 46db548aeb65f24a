/* Images whose channels lie last: which kernels they reach, and that the layouts agree. */
#include "tests/support/check_main.h"

#include "tests/unit/lower/lower_case.h"

/* The same image as tokens and as planes. */
#define TOKENS \
    "{0.5, -1.75, 0.25, 0.75, -1.25, -0.75, -0.75, -2, 0, 0, -0.25, 1.25, -2, 1.5, " \
    "-0.75, -0.75, 0.5, -1.75, 1.5, 2, 0.75, 0.5, -1.75, -1.75, 0.25, -0.25, -1.75, " \
    "-1.5, 0.5, 0.75, 0.5, -1, -0.5, -1.75, 0.75, 0, -2, 1.75, -1, 1, 1, 2, -1.25, 2, " \
    "-0.25, -0.75, 2, 0.5, 1.5, 1.5, 2, 2, -1.5, -2, -2, -1, -1.5, -2, 2, 0}"
#define PLANES \
    "{0.5, -1.25, 0, -2, 0.5, 0.75, 0.25, 0.5, -0.5, -2, 1, -0.25, 1.5, -1.5, -1.5, " \
    "-1.75, -0.75, 0, 1.5, -1.75, 0.5, -0.25, 0.75, -1.75, 1.75, 2, -0.75, 1.5, -2, " \
    "-2, 0.25, -0.75, -0.25, -0.75, 1.5, -1.75, -1.75, 0.5, 0.75, -1, -1.25, 2, 2, " \
    "-2, 2, 0.75, -2, 1.25, -0.75, 2, -1.75, -1.5, -1, 0, 1, 2, 0.5, 2, -1, 0}"
#define WEIGHT \
    "{-1.25, 1.5, 1.75, -0.5, 2, 0.25, 0, -1, -0.25, 2, 2, -0.25, 1, 1.75, -0.25, 2, " \
    "1, 1.25, 0.75, -1.75, 1.75, 0.25, 0.5, 0.25, 0.25, -1.75, -0.25, 2, 1.5, -0.75, " \
    "-2, 2, -1, 1.5, -1, 0.25, -1.5, -1, -0.5, 0.25, -0.25, -1, 1, 1.25, 0.75, 0.75, " \
    "-1.25, -1.75, -1.25, 1.5, -1.75, -0.25, 2, 1.5, 0.25, -0.5, 1.75, 2, -0.75, " \
    "-1.5, 1.25, 1.25, 0.75, 0}"

static const char depthwise[] =
    "model opset=17\n"
    "graph g (t: f32[1, 15, 4] = f32[1, 15, 4] " TOKENS ", x: f32[1, 4, 3, 5] = f32[1, 4, 3, 5] "
    PLANES ") -> (y: f32[1, 15, 4], z: f32[1, 4, 3, 5]) {\n"
    "    to_image = const i64[4] {1, 4, 3, 5}\n"
    "    to_rows = const i64[3] {1, 4, 15}\n"
    "    w = const f32[4, 1, 3, 3] {-0.25, -2, 2, 0.25, -1.75, 1.75, 0.75, 0.5, 2, 2, 1, -1, "
    "1, 1, 2, -1.5, -0.25, -1.75, -1.25, 1.25, -1.75, -1.5, -1.25, 0.75, -0.25, -1.75, "
    "0.75, -2, 2, 0.75, 0, 0, 1.5, 1, -1, 0.25}\n"
    "    b = const f32[4] {-0.75, 0.25, 0.5, 0.25}\n"
    "    rows = Transpose(t) {perm=[0, 2, 1]}\n"
    "    image = Reshape(rows, to_image)\n"
    "    d = Conv(image, w, b) {group=4, pads=[1, 1, 1, 1], strides=[1, 1]}\n"
    "    back = Reshape(d, to_rows)\n"
    "    y = Transpose(back) {perm=[0, 2, 1]}\n"
    "    z = Conv(x, w, b) {group=4, pads=[1, 1, 1, 1], strides=[1, 1]}\n"
    "}\n";

/* Steps of the plan whose kernel's name begins with `prefix`. */
static int count_steps(const VfPlan *plan, const char *prefix)
{
    int n = 0;
    for (int32_t i = 0; i < plan->n_step; i++)
        n += strncmp(plan->step[i].kernel->name, prefix, strlen(prefix)) == 0;
    return n;
}

/* y, tokens of 4 channels, must hold the bits of z, 4 planes. */
static void check_layouts_agree(const float *y, const float *z, size_t pixels)
{
    for (size_t p = 0; p < pixels; p++)
        for (size_t k = 0; k < 4; k++)
            ck_assert_mem_eq(&y[p * 4 + k], &z[k * pixels + p], sizeof *y);
}

START_TEST(tokens_are_convolved_where_they_lie)
{
    LowerCase c;
    case_open(&c, depthwise);
    ck_assert_int_eq(case_lower(&c, (VfLowerOptions){0}, false), VF_OK);
    ck_assert_int_eq(count_steps(c.plan, "depthwise"), 2);
    ck_assert_int_eq(c.plan->n_step, 2);
    case_run(&c, 2);
    check_layouts_agree(c.out[0], c.out[1], 15);
    case_close(&c);
}
END_TEST

/* Layouts that BatchNormalization meets: rows of channels and planes. */
static const char norm[] =
    "model opset=17\n"
    "graph g (t: f32[1, 3, 2] = f32[1, 3, 2] {1, -2, 0.5, 4, -1, 3}) -> (y: f32[1, 3, 2]) {\n"
    "    scale = const f32[2] {2, 3}\n"
    "    bias = const f32[2] {0.5, -1}\n"
    "    mean = const f32[2] {1, 2}\n"
    "    var = const f32[2] {4, 0.25}\n"
    "    want_y = const f32[1, 3, 2] {0.5, -25, 0, 11, -1.5, 5}\n"
    "    rows = Transpose(t) {perm=[0, 2, 1]}\n"
    "    n = BatchNormalization(rows, scale, bias, mean, var) {epsilon=1e-30}\n"
    "    y = Transpose(n) {perm=[0, 2, 1]}\n"
    "}\n";

START_TEST(tokens_are_normalised_where_they_lie)
{
    LowerCase c;
    case_open(&c, norm);
    ck_assert_int_eq(case_lower(&c, (VfLowerOptions){0}, false), VF_OK);
    ck_assert_int_eq(c.plan->n_step, 1);
    case_run(&c, 2);
    case_compare(&c, "batch norm of tokens");
    case_close(&c);
}
END_TEST

/* Convolutions of the same image as tokens and as planes: windows beside each other, windows that
 * overlap and reach outside, and single elements. Quarters are summed exactly in any order. */
static const char windows[] =
    "model opset=17\n"
    "graph g (t: f32[1, 15, 4] = f32[1, 15, 4] " TOKENS ", x: f32[1, 4, 3, 5] = f32[1, 4, 3, 5] "
    PLANES ", v: f32[4, 4, 2, 2] = f32[4, 4, 2, 2] " WEIGHT ") -> (a: f32[1, 2, 4], b: "
    "f32[1, 4, 1, 2], c: f32[1, 6, 4], d: f32[1, 4, 2, 3], e: f32[1, 15, 4], f: f32[1, 4, 3, 5], "
    "h: f32[1, 4, 2, 3]) {\n"
    "    to_image = const i64[4] {1, 4, 3, 5}\n"
    "    to_rows = const i64[3] {1, 4, -1}\n"
    "    w = const f32[4, 4, 2, 2] " WEIGHT "\n"
    "    one = const f32[4, 4, 1, 1] {1, 0.5, -1, 2, 0, 3, 1, 1, -1, -2, 0.25, 1, 2, 2, 1, 0}\n"
    "    s = const f32[4] {-0.75, 0.25, 0.5, 0.25}\n"
    "    rows = Transpose(t) {perm=[0, 2, 1]}\n"
    "    image = Reshape(rows, to_image)\n"
    "    a1 = Conv(image, w, s) {strides=[2, 2]}\n"
    "    a2 = Reshape(a1, to_rows)\n"
    "    a = Transpose(a2) {perm=[0, 2, 1]}\n"
    "    b = Conv(x, w, s) {strides=[2, 2]}\n"
    "    c1 = Conv(image, w, s) {strides=[2, 2], pads=[1, 1, 0, 0]}\n"
    "    c2 = Reshape(c1, to_rows)\n"
    "    c = Transpose(c2) {perm=[0, 2, 1]}\n"
    "    d = Conv(x, w, s) {strides=[2, 2], pads=[1, 1, 0, 0]}\n"
    "    e1 = Conv(image, one)\n"
    "    e2 = Reshape(e1, to_rows)\n"
    "    e = Transpose(e2) {perm=[0, 2, 1]}\n"
    "    f = Conv(x, one)\n"
    "    h = Conv(x, v, s) {strides=[2, 2], pads=[1, 1, 0, 0]}\n"
    "}\n";

START_TEST(windows_are_multiplied_where_they_lie)
{
    LowerCase c;
    case_open(&c, windows);
    ck_assert_int_eq(case_lower(&c, (VfLowerOptions){0}, false), VF_OK);
    ck_assert_int_eq(count_steps(c.plan, "unfold"), 4);
    case_run(&c, 2);
    check_layouts_agree(c.out[0], c.out[1], 2);
    check_layouts_agree(c.out[2], c.out[3], 6);
    check_layouts_agree(c.out[4], c.out[5], 15);
    ck_assert_mem_eq(c.out[3], c.out[6], 24 * sizeof(float));
    case_close(&c);
}
END_TEST

/* What is done element by element leaves its result in the order of its operands. */
static const char chain[] =
    "model opset=17\n"
    "graph g (t: f32[1, 15, 4] = f32[1, 15, 4] " TOKENS ", x: f32[1, 4, 3, 5] = f32[1, 4, 3, 5] "
    PLANES ") -> (y: f32[1, 15, 4], z: f32[1, 4, 3, 5]) {\n"
    "    to_image = const i64[4] {1, 4, 3, 5}\n"
    "    to_rows = const i64[3] {1, 4, 15}\n"
    "    each = const f32[4, 1, 1] {1, -2, 0.5, 3}\n"
    "    half = const f32[1] {0.5}\n"
    "    rows = Transpose(t) {perm=[0, 2, 1]}\n"
    "    i0 = Reshape(rows, to_image)\n"
    "    i1 = LeakyRelu(i0) {alpha=0.5}\n"
    "    i2 = Mul(each, i1)\n"
    "    i3 = Sub(half, i2)\n"
    "    i4 = Add(i3, i0)\n"
    "    i5 = Reshape(i4, to_rows)\n"
    "    y = Transpose(i5) {perm=[0, 2, 1]}\n"
    "    x1 = LeakyRelu(x) {alpha=0.5}\n"
    "    x2 = Mul(each, x1)\n"
    "    x3 = Sub(half, x2)\n"
    "    z = Add(x3, x)\n"
    "}\n";

START_TEST(elements_are_computed_where_they_lie)
{
    LowerCase c;
    case_open(&c, chain);
    ck_assert_int_eq(case_lower(&c, (VfLowerOptions){0}, false), VF_OK);
    ck_assert_int_eq(c.plan->n_step, 8);
    case_run(&c, 2);
    check_layouts_agree(c.out[0], c.out[1], 15);
    case_close(&c);
}
END_TEST

/* Exporters pad to whole windows also where nothing is missing. */
START_TEST(a_pad_of_nothing_is_no_step)
{
    LowerCase c;
    case_open(&c, "model opset=17\n"
                  "graph g (x: f32[1, 2, 3] = f32[1, 2, 3] {1, 2, 3, 4, 5, 6}) -> "
                  "(y: f32[1, 2, 3]) {\n"
                  "    none = const i64[6] {0, 0, 0, 0, 0, 0}\n"
                  "    want_y = const f32[1, 2, 3] {-1, -2, -3, -4, -5, -6}\n"
                  "    p = Pad(x, none)\n"
                  "    y = Neg(p)\n"
                  "}\n");
    ck_assert_int_eq(case_lower(&c, (VfLowerOptions){0}, false), VF_OK);
    ck_assert_int_eq(c.plan->n_step, 1);
    case_run(&c, 1);
    case_compare(&c, "a pad of nothing");
    case_close(&c);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("lower/layout");
    TCase *tcase = tcase_create("layouts");
    tcase_add_test(tcase, tokens_are_convolved_where_they_lie);
    tcase_add_test(tcase, tokens_are_normalised_where_they_lie);
    tcase_add_test(tcase, windows_are_multiplied_where_they_lie);
    tcase_add_test(tcase, a_pad_of_nothing_is_no_step);
    tcase_add_test(tcase, elements_are_computed_where_they_lie);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
