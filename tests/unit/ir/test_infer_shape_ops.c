#include "tests/support/check_main.h"
#include "tests/unit/ir/infer_case.h"

static const InferCase views[] = {
    {"Reshape", "", "f32[batch, 197, 192]; i64{0, 197, 3, 64}", "f32[batch, 197, 3, 64]"},
    {"Reshape", "", "f32[batch, 197, 192]; i64{0, 0, 3, -1}", "f32[batch, 197, 3, 64]"},
    {"Reshape", "", "f32[batch, 197, 192]; i64{-1, 192}", "f32[197*batch, 192]"},
    {"Reshape", "", "f32[batch, heads, n, 64]; i64{-1, n, 64}", "f32[batch*heads, n, 64]"},
    {"Reshape", "", "f32[12*batch, n, 64]; i64{batch, -1, n, 64}", "f32[batch, 12, n, 64]"},
    {"Reshape", "", "f32[batch, 197, 192]; i64{batch, 197, ?, 64}", "f32[batch, 197, 3, 64]"},
    {"Reshape", "", "f32[batch, 197, 192]; i64{?, ?, 192}", "f32[?, ?, 192]"},
    {"Reshape", "", "f32[batch, 197]; i64{?, -1}", "f32[?, ?]"},
    {"Reshape", "", "f32[2, 3]; i64{4, -1}", "invalid"},
    {"Reshape", "", "f32[2, 3]; i64{5}", "invalid"},
    {"Reshape", "", "f32[2, 3]; i64{-1, -1}", "invalid"},
    {"Reshape", "", "f32[2, 3]; i64{-2}", "invalid"},
    {"Reshape", "", "f32[2]; i64{2, 0}", "invalid"},
    {"Reshape", "allowzero=1", "f32[0, 3]; i64{3, 0}", "f32[3, 0]"},
    {"Reshape", "", "f32[0, 3]; i64{0, -1}", "f32[0, ?]"},
    {"Reshape", "", "f32[2, 3]; i64[3]", "f32[?, ?, ?]"},
    {"Reshape", "", "f32[2, 3]; i64[n]", "f32[...]"},
    {"Reshape", "", "f32[...]; i64{0, 3, -1}", "f32[?, 3, ?]"},
    {"Reshape", "", "i64(n); i64{1}", "i64[1]{n}"},
    {"Reshape", "", "i64{7}; i64{}", "i64[]{7}"},
    {"Flatten", "", "f32[batch, 3, 4]", "f32[batch, 12]"},
    {"Flatten", "axis=0", "f32[batch, 3]", "f32[1, 3*batch]"},
    {"Flatten", "axis=4", "f32[batch, 3]", "invalid"},
    {"Squeeze/11", "axes=[0,-1]", "f32[1, n, 1]", "f32[n]"},
    {"Squeeze/13", "", "f32[1, n, 1]; i64{0}", "f32[n, 1]"},
    {"Squeeze/13", "", "f32[1, 5, 1]", "f32[5]"},
    {"Squeeze/13", "", "f32[1, n, 1]", "f32[...]"},
    {"Squeeze/13", "", "f32[2, n]; i64{0}", "invalid"},
    {"Squeeze/13", "", "f32[1, n]; i64{5}", "invalid"},
    {"Squeeze/13", "", "i64{n}; i64{0}", "i64[]{n}"},
    {"Unsqueeze/11", "axes=[0,3]", "f32[a, b]", "f32[1, a, b, 1]"},
    {"Unsqueeze/13", "", "f32[a, b]; i64{-1}", "f32[a, b, 1]"},
    {"Unsqueeze/13", "", "f32[a]; i64{0, 0}", "invalid"},
    {"Unsqueeze/13", "", "f32[a]; i64[2]", "f32[?, ?, ?]"},
    {"Unsqueeze/13", "", "i64(n); i64{0}", "i64[1]{n}"},
    {"Transpose", "perm=[0,2,1,3]", "f32[b, n, h, 64]", "f32[b, h, n, 64]"},
    {"Transpose", "", "f32[a, b, 3]", "f32[3, b, a]"},
    {"Transpose", "perm=[0,0]", "f32[a, b]", "invalid"},
    {"Transpose", "perm=[0]", "f32[a, b]", "invalid"},
    {"Expand", "", "f32[1, 1, 192]; i64{batch, -1, 192}", "invalid"},
    {"Expand", "", "f32[1, 1, 192]; i64{batch, 1, 192}", "f32[batch, 1, 192]"},
    {"Expand", "", "f32[3, 1]; i64{2, 1, 6}", "f32[2, 3, 6]"},
    {"Expand", "", "i64(1); i64{3}", "i64[3]{1, 1, 1}"},
    {"Tile", "", "f32[1, n]; i64{batch, 2}", "f32[batch, 2*n]"},
    {"Tile", "", "f32[1, n]; i64{2}", "invalid"},
    {"Shape", "", "f32[batch, 3, 224]", "i64[3]{batch, 3, 224}"},
    {"Shape", "start=1 end=-1", "f32[batch, 3, 224]", "i64[1]{3}"},
    {"Shape", "", "f32[]", "i64[0]{}"},
    {"Shape", "", "f32[...]", "i64[?]"},
    {"Size", "", "f32[batch, 3, 4]", "i64[]{12*batch}"},
};

static const InferCase pieces[] = {
    {"Slice/9", "starts=[1] ends=[9223372036854775807] axes=[1]", "f32[b, n, 4]", "f32[b, n-1, 4]"},
    {"Slice", "", "f32[b, 197]; i64{1}; i64{9223372036854775807}; i64{1}", "f32[b, 196]"},
    {"Slice", "", "f32[b, 10]; i64{0}; i64{-1}; i64{1}", "f32[b, 9]"},
    {"Slice", "", "f32[b, 10]; i64{-3}; i64{100}; i64{1}; i64{2}", "f32[b, 2]"},
    {"Slice", "", "f32[b, 10]; i64{9}; i64{-100}; i64{1}; i64{-3}", "f32[b, 4]"},
    {"Slice", "", "f32[n]; i64{-1}; i64{-9223372036854775807}; i64{0}; i64{-1}", "f32[n]"},
    {"Slice", "", "f32[b, 10]; i64{5}; i64{2}; i64{1}", "f32[b, 0]"},
    {"Slice", "", "f32[b, n]; i64{0}; i64{n}; i64{1}", "f32[b, n]"},
    {"Slice", "", "f32[b, 16]; i64{0}; i64{n}; i64{1}", "f32[b, ?]"},
    {"Slice", "", "f32[b, 16]; i64{0}; i64{2}; i64{1}; i64{0}", "invalid"},
    {"Slice", "", "f32[b, 16]; i64{0}; i64{2}; i64{7}", "invalid"},
    {"Slice", "", "f32[b, 16]; i64{0, 1}; i64{2}", "invalid"},
    {"Slice", "", "f32[b, 16]; i64[n]; i64[n]", "f32[?, ?]"},
    {"Slice", "", "i64{a, b, 3}; i64{1}; i64{3}; i64{0}", "i64[2]{b, 3}"},
    {"Slice", "", "i64{a, b, 3}; i64{-1}; i64{-4}; i64{0}; i64{-2}", "i64[2]{3, a}"},
    {"Concat", "axis=1", "f32[b, 1, 8]; f32[b, n, 8]", "f32[b, n+1, 8]"},
    {"Concat", "axis=-1", "f32[2, 3]; f32[2, 5]", "f32[2, 8]"},
    {"Concat", "", "f32[2, 3]; f32[4, 3]", "f32[...]"},
    {"Concat/1", "", "f32[2, 3]; f32[2, 5]", "f32[2, 8]"},
    {"Concat", "axis=0", "f32[2, 3]; f32[2, 5]", "invalid"},
    {"Concat", "axis=0", "f32[2, 3]; f32[...]", "f32[?, 3]"},
    {"Concat", "axis=0", "i64{b}; i64{-1, 192}", "i64[3]{b, -1, 192}"},
    {"Concat", "axis=0", "i64{b}; i64[1]; i64{3}", "i64[3]{b, ?, 3}"},
    {"Split/13", "axis=1", "f32[b, 9]; i64{3, 6}", "f32[b, 3]; f32[b, 6]"},
    {"Split/11", "axis=1 split=[4,5]", "f32[b, 9]", "f32[b, 4]; f32[b, 5]"},
    {"Split/13", "axis=-1", "f32[b, 9]", "f32[b, 3]; f32[b, 3]; f32[b, 3]"},
    {"Split/18", "num_outputs=2", "f32[9]", "f32[5]; f32[4]"},
    {"Split/18", "num_outputs=3", "f32[9]", "invalid; invalid"},
    {"Split/18", "num_outputs=3", "f32[...]; i64[2]", "invalid; invalid"},
    {"Split/13", "", "f32[9]", "invalid; invalid"},
    {"Split/13", "axis=1", "f32[b, 9]; i64{3, 5}", "invalid; invalid"},
    {"Split/13", "", "i64{a, b, 3}; i64{1, 2}", "i64[1]{a}; i64[2]{b, 3}"},
    {"Pad/11", "", "f32[b, 3, h]; i64{0, 0, 1, 0, 0, 2}", "f32[b, 3, h+3]"},
    {"Pad/9", "pads=[0,1,0,1]", "f32[b, 3]", "f32[b, 5]"},
    {"Pad/18", "", "f32[b, 3, 8]; i64{1, 2}; -; i64{-1}", "f32[b, 3, 11]"},
    {"Pad/11", "", "f32[3]; i64{-2, -2}", "invalid"},
    {"Pad/11", "", "f32[b, 3]; i64{1, 2}", "invalid"},
};

START_TEST(infers_views)
{
    infer_check(&views[_i]);
}
END_TEST

START_TEST(infers_pieces)
{
    infer_check(&pieces[_i]);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("infer_shape_ops");
    TCase *tcase = tcase_create("tables");
    tcase_add_loop_test(tcase, infers_views, 0, sizeof views / sizeof views[0]);
    tcase_add_loop_test(tcase, infers_pieces, 0, sizeof pieces / sizeof pieces[0]);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
