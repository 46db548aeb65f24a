#include "passes/match/axis.h"

#include <stdio.h>

#include "passes/ir/infer.h"
#include "passes/match/facts.h"
#include "runtime/base/text.h"
#include "tests/support/check_main.h"
#include "tests/unit/match/body_case.h"

/* Axes as text: one bracket an axis, one length and its roles a factor (b batch, t token, c
 * channel, s stack, ? unknown), a token factor's grid behind it. */
static const char *axes_text(const VfAxes *axes, const VfValue *value)
{
    VfArena *arena = axes->arena;
    VfSymbols *symbols = axes->model->symbols;
    VfText text;
    VfBytes out;
    VfErr err = {0};
    vf_text_init(&text, arena);
    for (int32_t a = 0; a < value->type.rank; a++) {
        const VfAxis *axis = vf_axis_get(axes, value, a);
        vf_text_char(&text, '[');
        for (int32_t i = 0; axis != NULL && i < axis->n; i++) {
            const VfFactor *f = &axis->factor[i];
            vf_text_printf(&text, "%s%s%s%s%s%s%s", i > 0 ? " " : "",
                           vf_dim_text(arena, symbols, f->dim), f->role & VF_ROLE_BATCH ? "b" : "",
                           f->role & VF_ROLE_TOKEN ? "t" : "", f->role & VF_ROLE_CHANNEL ? "c" : "",
                           f->role & VF_ROLE_STACK ? "s" : "", f->role == 0 ? "?" : "");
            if (f->grid_h.sym != VF_SYM_UNKNOWN)
                vf_text_printf(&text, "(%sx%s+%s)", vf_dim_text(arena, symbols, f->grid_h),
                               vf_dim_text(arena, symbols, f->grid_w),
                               vf_dim_text(arena, symbols, f->prefix));
        }
        vf_text_char(&text, ']');
    }
    ck_assert_int_eq(vf_text_get(&text, &out, &err), VF_OK);
    return out.data;
}

/* Columns: graph inputs, body (statements separated by ';'), axes of value "y". */
typedef struct Row {
    const char *inputs, *body, *axes;
} Row;

static const Row row[] = {
    {"x: f32[n, 3, 8, 6]", "y = Relu(x)", "[nb][3c][8t][6t]"},
    {"x: f32[n, 7, 8]", "y = Relu(x)", "[nb][7t][8c]"},
    {"x: i64[n, 7]", "w = const f32[9, 4] splat 1; y = Gather(w, x)", "[nb][7t][4c]"},
    {"x: f32[n, 3, 8, 6]", "w = const f32[5, 3, 2, 2] splat 1; y = Conv(x, w) {strides=[2, 2]}",
     "[nb][5c][4t][3t]"},
    {"x: f32[2, 3, 8, 6]", "s = const i64[3] {0, 3, -1}; y = Reshape(x, s)",
     "[2b][3c][48t(8x6+0)]"},
    {"x: f32[2, 6, 8, 4]", "s = const i64[4] {0, 2, 3, -1}; y = Reshape(x, s)",
     "[2b][2c][3c][32t(8x4+0)]"},
    {"x: f32[2, 7, 12]", "s = const i64[5] {0, 0, 3, 2, 2}; y = Reshape(x, s)",
     "[2b][7t][3c][2c][2c]"},
    {"x: f32[2, 7, 12]",
     "s = const i64[4] {0, 0, 3, 4}; t = const i64[3] {6, 7, 4}; r = Reshape(x, s); "
     "p = Transpose(r) {perm=[0, 2, 1, 3]}; y = Reshape(p, t)",
     "[2b 3c][7t][4c]"},
    {"x: f32[n, 7, 12]",
     "s = const i64[4] {0, 0, 3, 4}; t = const i64[3] {-1, 7, 4}; u = const i64[4] {-1, 3, 7, 4}; "
     "r = Reshape(x, s); p = Transpose(r) {perm=[0, 2, 1, 3]}; q = Reshape(p, t); y = Reshape(q, "
     "u)",
     "[nb][3c][7t][4c]"},
    {"x: f32[2, 3, 4, 4]",
     "w = const i64[6] {0, 3, 2, 2, 2, 2}; v = const i64[3] {-1, 4, 3}; r = Reshape(x, w); "
     "t = Transpose(r) {perm=[0, 2, 4, 3, 5, 1]}; y = Reshape(t, v)",
     "[2b 4t(2x2+0)][4t(2x2+0)][3c]"},
    {"x: f32[2, 3, 4, 4]",
     "c = const f32[2, 1, 3] splat 1; s = const i64[3] {0, 3, -1}; r = Reshape(x, s); "
     "t = Transpose(r) {perm=[0, 2, 1]}; y = Concat(c, t) {axis=1}",
     "[2b][17t(4x4+1)][3c]"},
    {"x: f32[2, 3, 4, 4]",
     "c = const f32[2, 1, 3] splat 1; s = const i64[3] {0, 3, -1}; a = const i64[1] {1}; "
     "e = const i64[1] {17}; r = Reshape(x, s); t = Transpose(r) {perm=[0, 2, 1]}; "
     "k = Concat(c, t) {axis=1}; y = Slice(k, a, e, a)",
     "[2b][16t(4x4+0)][3c]"},
    {"x: f32[2, 7, 8]", "w = const f32[8, 5] splat 1; y = MatMul(x, w)", "[2b][7t][5c]"},
    {"x: f32[2, 7, 8]",
     "w = const f32[7, 5] splat 1; t = Transpose(x) {perm=[0, 2, 1]}; y = MatMul(t, w)",
     "[2b][8c][5t]"},
    {"x: f32[2, 7, 8]", "t = Transpose(x) {perm=[0, 2, 1]}; y = MatMul(x, t)", "[2b][7t][7t]"},
    {"x: f32[2, 7, 8]", "t = Transpose(x) {perm=[0, 2, 1]}; y = MatMul(t, x)", "[2b][8c][8c]"},
    {"x: f32[2, 7, 8]", "y = Einsum(x, x) {equation=\"bid,bjd->bij\"}", "[2b][7t][7t]"},
    {"x: f32[2, 7, 8]", "y = ReduceMean(x) {axes=[1], keepdims=0}", "[2b][8c]"},
    {"x: f32[2, 7, 8]", "y = ReduceMean(x) {axes=[1], keepdims=1}", "[2b][][8c]"},
    {"x: f32[2, 7, 8]",
     "o = const i64[1] {1}; a = Unsqueeze(x, o); b = Unsqueeze(x, o); y = Concat(a, b) {axis=1}",
     "[2b][2s][7t][8c]"},
    {"x: f32[2, 7, 8]", "p = const i64[2] {3, 5}; a, y = Split(x, p) {axis=2}", "[2b][7t][5c]"},
    {"x: f32[2, 7, 8]", "i = const i64[] {0}; y = Gather(x, i) {axis=1}", "[2b][8c]"},
    {"x: f32[2, 7, 8]", "c = const f32[2, 7, 8] splat 1; y = Add(c, x)", "[2b][7t][8c]"},
    {"x: f32[2, 1, 8]", "s = const i64[3] {2, 7, 8}; y = Expand(x, s)", "[2b][7?][8c]"},
    {"x: f32[2, ?, 8]", "s = const i64[4] {0, 0, 2, 4}; y = Reshape(x, s)", "[2b][?t][2c][4c]"},
};

START_TEST(row_has_axes)
{
    VfModel *model = model_of(row[_i].inputs, row[_i].body);
    VfArena *arena = vf_arena_new();
    VfAxes *axes;
    ck_assert_int_eq(vf_axes_new(arena, model, &axes, NULL), VF_OK);
    const char *text = axes_text(axes, find_value(model, "y"));
    ck_assert_msg(strcmp(text, row[_i].axes) == 0, "%s: %s", row[_i].body, text);
    vf_arena_free(arena);
    vf_model_free(model);
}
END_TEST

/* Columns: body, node that makes "y" from "x": operand axis and the result axis it becomes. */
typedef struct Step {
    const char *body;
    int32_t in, out;
} Step;

static const Step step[] = {
    {"y = Relu(x)", 2, 2},
    {"y = Transpose(x) {perm=[2, 0, 1]}", 2, 0},
    {"s = const i64[4] {2, 7, 4, 2}; y = Reshape(x, s)", 1, 1},
    {"s = const i64[4] {2, 7, 4, 2}; y = Reshape(x, s)", 2, -1},
    {"s = const i64[2] {14, 8}; y = Reshape(x, s)", 2, 1},
    {"s = const i64[2] {14, 8}; y = Reshape(x, s)", 0, -1},
    {"c = const f32[3, 1, 1, 1] splat 1; y = Add(x, c)", 1, 2},
    {"w = const f32[8, 5] splat 1; y = MatMul(x, w)", 1, 1},
    {"w = const f32[8, 5] splat 1; y = MatMul(x, w)", 2, -1},
    {"y = Softmax(x) {axis=-1}", 2, 2},
    {"a = const i64[1] {0}; e = const i64[1] {3}; b = const i64[1] {2}; y = Slice(x, a, e, b)", 1,
     1},
    {"a = const i64[1] {0}; e = const i64[1] {3}; b = const i64[1] {2}; y = Slice(x, a, e, b)", 2,
     -1},
    {"y = ReduceMean(x) {axes=[2]}", 1, -1},
};

START_TEST(axis_follows_step)
{
    VfModel *model = model_of("x: f32[2, 7, 8]", step[_i].body);
    VfArena *arena = vf_arena_new();
    VfAxes *axes;
    ck_assert_int_eq(vf_axes_new(arena, model, &axes, NULL), VF_OK);
    const VfNode *node = find_def(model, "y");
    ck_assert_int_eq(vf_axis_down(axes, node, 0, step[_i].in), step[_i].out);
    if (step[_i].out >= 0)
        ck_assert_int_eq(vf_axis_up(axes, node, 0, step[_i].out), step[_i].in);
    ck_assert_int_eq(vf_axis_down(axes, node, 0, 9), -1);
    ck_assert_int_eq(vf_axis_up(axes, node, 0, -1), -1);
    vf_arena_free(arena);
    vf_model_free(model);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("axis");
    TCase *cases = tcase_create("axis");
    tcase_add_loop_test(cases, row_has_axes, 0, (int)(sizeof row / sizeof row[0]));
    tcase_add_loop_test(cases, axis_follows_step, 0, (int)(sizeof step / sizeof step[0]));
    suite_add_tcase(suite, cases);
    return suite;
}

VF_CHECK_MAIN(make_suite)
