#include "passes/match/facts.h"

#include <math.h>
#include <stdio.h>

#include "passes/ir/infer.h"
#include "tests/support/check_main.h"
#include "tests/unit/match/body_case.h"

/* Columns: body that makes "y", number it holds (NaN: none). */
typedef struct Number {
    const char *body;
    double number;
} Number;

static const Number number[] = {
    {"y = const f32[] {2.5}", 2.5},
    {"y = const i64[1] {3}", 3.0},
    {"y = const f32[2, 2] splat 4", 4.0},
    {"y = const f32[2] {1, 2}", (double)NAN},
    {"y = const f32[0] {}", (double)NAN},
    {"a = const f64[] {2}; b = Cast(a) {to=1}; i = const i64[1] {0}; y = Unsqueeze(b, i)", 2.0},
    {"a = const f32[] {2}; s = const i64[1] {5}; y = Expand(a, s)", 2.0},
    {"y = Relu(x)", (double)NAN},
    {"a = const f32[] {2}; y = Sqrt(a)", (double)NAN},
};

START_TEST(scalar_is_read)
{
    VfModel *model = model_of("x: f32[2, 3]", number[_i].body);
    double found = (double)NAN;
    bool is_scalar = vf_scalar_of(find_value(model, "y"), &found);
    ck_assert_msg(is_scalar == !isnan(number[_i].number), "%s", number[_i].body);
    if (is_scalar)
        ck_assert_double_eq_tol(found, number[_i].number, 1e-12);
    vf_model_free(model);
}
END_TEST

/* Columns: body, number of reduced axes and the axes; -1: not known. */
typedef struct Reduce {
    const char *body;
    int32_t n;
    int64_t axis[3];
} Reduce;

static const Reduce reduce[] = {
    {"y = ReduceMean(x) {axes=[-1]}", 1, {2}},
    {"y = ReduceMean(x) {axes=[2, 0]}", 2, {0, 2}},
    {"y = ReduceMean(x)", 3, {0, 1, 2}},
    {"a = const i64[1] {1}; y = ReduceSum(x, a)", 1, {1}},
    {"y = ReduceSum(x, k)", -1, {0}},
    {"y = ReduceSum(x) {noop_with_empty_axes=1}", 0, {0}},
};

START_TEST(reduce_axes_are_read)
{
    VfModel *model = model_of("x: f32[2, 3, 4], k: i64[1]", reduce[_i].body);
    int64_t axis[VF_AXIS_MAX];
    int32_t n = vf_reduce_axes(find_def(model, "y"), axis);
    ck_assert_msg(n == reduce[_i].n, "%s: %d", reduce[_i].body, n);
    for (int32_t i = 0; i < n; i++)
        ck_assert_int_eq(axis[i], reduce[_i].axis[i]);
    vf_model_free(model);
}
END_TEST

/* Columns: body, swap of the last two axes? */
typedef struct Swap {
    const char *body;
    bool is_swap;
} Swap;

static const Swap swap[] = {
    {"y = Transpose(x) {perm=[0, 2, 1]}", true},
    {"y = Transpose(x) {perm=[2, 1, 0]}", false},
    {"y = Transpose(x)", false},
    {"y = Transpose(z)", true},
    {"y = Relu(x)", false},
};

START_TEST(swap_is_told)
{
    VfModel *model = model_of("x: f32[2, 3, 4], z: f32[3, 4]", swap[_i].body);
    ck_assert_msg(vf_is_swap_last_two(find_def(model, "y")) == swap[_i].is_swap, "%s",
                  swap[_i].body);
    vf_model_free(model);
}
END_TEST

/* Columns: body, operand scaled (-1: no scaling), factor (NaN: at run time). */
typedef struct Scale {
    const char *body;
    int32_t slot;
    double factor;
} Scale;

static const Scale scale[] = {
    {"c = const f32[] {4}; y = Mul(x, c)", 0, 4.0},
    {"c = const f32[] {4}; y = Mul(c, x)", 1, 4.0},
    {"c = const f32[1, 1] {4}; y = Div(x, c)", 0, 0.25},
    {"c = const f32[] {4}; y = Div(c, x)", -1, 0.0},
    {"c = const f32[4] {1, 2, 3, 4}; y = Mul(x, c)", -1, 0.0},
    {"y = Mul(x, k)", 0, (double)NAN},
    {"y = Mul(x, x)", -1, 0.0},
    {"c = const f32[] {4}; y = Add(x, c)", -1, 0.0},
};

START_TEST(scale_is_told)
{
    VfModel *model = model_of("x: f32[2, 4], k: f32[1]", scale[_i].body);
    int32_t slot = -1;
    double factor = 0.0;
    VfValue *by;
    bool is_scale = vf_is_scale(find_def(model, "y"), &slot, &factor, &by);
    ck_assert_msg(is_scale == (scale[_i].slot >= 0), "%s", scale[_i].body);
    if (is_scale) {
        ck_assert_int_eq(slot, scale[_i].slot);
        ck_assert(isnan(factor) ? isnan(scale[_i].factor) : factor == scale[_i].factor);
        ck_assert_ptr_eq(by, vf_other_in(find_def(model, "y"), slot));
    }
    vf_model_free(model);
}
END_TEST

START_TEST(walks_stop_at_the_right_node)
{
    VfModel *model =
        model_of("x: f32[2, 4]", "s = const i64[1] {8}; r = Relu(x); c = Cast(r) {to=10}; "
                                 "d = Cast(c) {to=1}; t = Transpose(d); y = Reshape(t, s)");
    VfValue *y = find_value(model, "y");
    ck_assert_ptr_eq(vf_skip_movers(y), find_value(model, "r"));
    ck_assert(!vf_is_fixed(y));
    ck_assert_ptr_null(vf_def_if(y, VF_OP_RELU));
    ck_assert_ptr_eq(vf_def_if(find_value(model, "r"), VF_OP_RELU), find_def(model, "r"));
    vf_model_free(model);
}
END_TEST

START_TEST(range_of_constants)
{
    VfModel *model = model_of("x: f32[2]", "a = const f32[3] {0, -inf, 2}; y = Relu(x)");
    double low, high;
    ck_assert(vf_const_range(find_value(model, "a"), &low, &high));
    ck_assert(isinf(low) && low < 0.0);
    ck_assert_double_eq(high, 2.0);
    ck_assert(!vf_const_range(find_value(model, "y"), &low, &high));
    vf_model_free(model);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("facts");
    TCase *cases = tcase_create("facts");
    tcase_add_loop_test(cases, scalar_is_read, 0, (int)(sizeof number / sizeof number[0]));
    tcase_add_loop_test(cases, reduce_axes_are_read, 0, (int)(sizeof reduce / sizeof reduce[0]));
    tcase_add_loop_test(cases, swap_is_told, 0, (int)(sizeof swap / sizeof swap[0]));
    tcase_add_loop_test(cases, scale_is_told, 0, (int)(sizeof scale / sizeof scale[0]));
    tcase_add_test(cases, walks_stop_at_the_right_node);
    tcase_add_test(cases, range_of_constants);
    suite_add_tcase(suite, cases);
    return suite;
}

VF_CHECK_MAIN(make_suite)
