/* Attention operators of com.microsoft. Expected values were computed with NumPy and agree with
 * ONNX Runtime 1.32. */
#include <stdio.h>

#include "tests/unit/lower/lower_case.h"
#include "tests/support/check_main.h"

/* What is tested, the model. */
static const char *const case_table[][2] = {
    {"masks of integers are added, short ones hide the keys behind them",
     "model opset=23\n"
     "graph g (q: f32[1, 1, 1, 1] = f32[1, 1, 1, 1] {0}, m: i64[2] = i64[2] {0, 1}, "
     "n: u8[1, 2] = u8[1, 2] {2, 3}, h: f16[1, 1, 1, 1] = f16[1, 1, 1, 1] {0}, "
     "d: f64[1, 1, 1, 1] = f64[1, 1, 1, 1] {0}, w: f16[2] = f16[2] {0, 1}) "
     "-> (y: f32[1, 1, 1, 1], z: f32[1, 1, 1, 1], u: f16[1, 1, 1, 1], e: f64[1, 1, 1, 1]) {\n"
     "    want_y = const f32[1, 1, 1, 1] {0.26894143}\n"
     "    want_z = const f32[1, 1, 1, 1] {0.7310586}\n"
     "    want_u = const f16[1, 1, 1, 1] {0.269}\n"
     "    want_e = const f64[1, 1, 1, 1] {0.2689414213699951}\n"
     "    k = const f32[1, 1, 2, 1] {3, 4}\n"
     "    v = const f32[1, 1, 2, 1] {1, 0}\n"
     "    k3 = const f32[1, 1, 3, 1] {3, 4, 5}\n"
     "    v3 = const f32[1, 1, 3, 1] {0, 1, 7}\n"
     "    kh = Cast(k) {to=10}\n"
     "    vh = Cast(v) {to=10}\n"
     "    kd = Cast(k) {to=11}\n"
     "    vd = Cast(v) {to=11}\n"
     "    y = Attention(q, k, v, m)\n"
     "    z = Attention(q, k3, v3, n)\n"
     "    u = Attention(h, kh, vh, m)\n"
     "    e = Attention(d, kd, vd, w)\n"
     "}\n"},
    {"grouped heads of a prompt, packed, at rotary positions",
     "model opset=17 opset com.microsoft=1\n"
     "graph g (q: f32[1, 3, 16] = f32[1, 3, 16] {2, -2.5, 0.5, -0.5, -0.5, -0.25, -2, "
     "-0.25, -0.75, 3.25, 0.25, -0.25, -0.25, -0.75, -1, -0.5, 0.5, -0.25, 1, -0.25, 0, "
     "1.5, 0.5, -0.5, -0.25, 0.5, 2, -0.25, -0.25, 1, -1, -0.25, 1, 0.5, 0, 0.75, -2.75, "
     "1, -1, -1.75, 0.25, 0.75, -0.5, -1, 0, -0, 1.5, 0.75}, n: i32[1] = i32[1] {2}, cos: "
     "f32[4, 2] = f32[4, 2] {1, 1, 0.5, 1, -0.5, 0.75, -1, 0.5}, sin: f32[4, 2] = f32[4, "
     "2] {0, 0, 0.75, 0.25, 1, 0.5, 0.25, 0.75}) -> (y: f32[1, 3, 8], ck: f32[1, 1, 3, 4], "
     "cv: f32[1, 1, 3, 4]) {\n"
     "    total = const i32[1] {3}\n"
     "    want_y = const f32[1, 3, 8] {-0.25, -0.75, -1, -0.5, -0.25, -0.75, -1, -0.5, -0.25, "
     "0.38754038, -1, -0.33749423, -0.25, -0.23085505, -1, -0.42583644, -0.20760137, "
     "-0.36190858, -0.57601367, -0.25073605, -0.05617099, 0.22173906, 0.9382901, "
     "0.52489534}\n"
     "    want_ck = const f32[1, 1, 3, 4] {-0.75, 3.25, 0.25, -0.25, -0.5, 0.0625, 2.0625, "
     "0.25, -0.875, -0.125, 0.125, -1}\n"
     "    want_cv = const f32[1, 1, 3, 4] {-0.25, -0.75, -1, -0.5, -0.25, 1, -1, -0.25, 0, -0, "
     "1.5, 0.75}\n"
     "    y, ck, cv = com.microsoft::GroupQueryAttention(q, _, _, _, _, n, total, cos, sin) "
     "{do_rotary=1, kv_num_heads=1, num_heads=2, rotary_interleaved=1}\n"
     "}\n"},
    {"grouped heads of a prompt whose image is shorter",
     "model opset=17 opset com.microsoft=1\n"
     "graph g (q: f32[2, 2, 4] = f32[2, 2, 4] {0.25, 1, -0.25, -1, 0.5, 0.5, -0.25, -0.75, "
     "0.25, -2.5, 0.75, 0.5, -1.75, 0, -1, 0.75}, k: f32[2, 2, 2] = f32[2, 2, 2] {-2, -1, "
     "0.75, 1.25, -2.25, -0.5, 0.25, -0.5}, v: f32[2, 2, 2] = f32[2, 2, 2] {1.5, -1.25, "
     "0.25, -1, 1.5, -0, -0.25, -1.75}, n: i32[2] = i32[2] {0, 1}) -> (y: f32[2, 2, 4], "
     "ck: f32[2, 1, 2, 2], cv: f32[2, 1, 2, 2]) {\n"
     "    total = const i32[1] {2}\n"
     "    want_y = const f32[2, 2, 4] {1.5, -1.25, 1.5, -1.25, 1.5, -1.25, 1.5, -1.25, "
     "0.48938311, -1.0106169, 0.24245981, -1.2575402, 1.3234624, -0.17653759, 1.1102748, "
     "-0.38972524}\n"
     "    want_ck = const f32[2, 1, 2, 2] {-2, -1, 0.75, 1.25, -2.25, -0.5, 0.25, -0.5}\n"
     "    want_cv = const f32[2, 1, 2, 2] {1.5, -1.25, 0.25, -1, 1.5, -0, -0.25, -1.75}\n"
     "    y, ck, cv = com.microsoft::GroupQueryAttention(q, k, v, _, _, n, total) {causal=0, "
     "kv_num_heads=1, num_heads=2, scale=0.5}\n"
     "}\n"},
    {"grouped heads, one query behind caches of different length",
     "model opset=17 opset com.microsoft=1\n"
     "graph g (q: f32[2, 1, 4] = f32[2, 1, 4] {1.75, 0.75, 0.75, 1.25, 0.25, -0.75, -0.75, "
     "-0.75}, k: f32[2, 1, 2] = f32[2, 1, 2] {1.25, -1.5, -0.5, -0.25}, v: f32[2, 1, 2] = "
     "f32[2, 1, 2] {0.25, 0.5, -1.25, -1.75}, pk: f32[2, 1, 5, 2] = f32[2, 1, 5, 2] {-0, "
     "1.25, 0.75, 0.25, -0.25, 0.25, -0.25, 0.75, -0.75, 0.25, -0, 0.5, 0.25, 2.5, 1.5, "
     "1.5, -2, -0.25, -0.5, 0.5}, pv: f32[2, 1, 5, 2] = f32[2, 1, 5, 2] {-2.25, 1.25, 1, "
     "-1.25, -1, -0.75, 0, 0.75, 2, -0.25, 0.75, 0.25, 1.75, 0.75, 1.25, -1, -0.25, -0.75, "
     "1.5, 0.75}, n: i32[2] = i32[2] {2, 3}, cos: f32[6, 1] = f32[6, 1] {1, 0.5, -0.5, -1, "
     "-0.75, 0.25}, sin: f32[6, 1] = f32[6, 1] {0, 0.75, 1, 0.25, -0.75, -1}, bias: f32[1, "
     "2, 1, 4] = f32[1, 2, 1, 4] {-0.25, -0.5, 0.5, -0.75, -1, 0.5, 2.5, -0.25}, sink: "
     "f32[2] = f32[2] {-0.5, -1.25}) -> (y: f32[2, 1, 4], ck: f32[2, 1, 5, 2], cv: f32[2, "
     "1, 5, 2]) {\n"
     "    total = const i32[1] {4}\n"
     "    want_y = const f32[2, 1, 4] {-0.50986046, 0.60212866, 0.17761556, 0.33584254, "
     "1.0807832, -0.45650425, 1.2254515, -0.84499498}\n"
     "    want_ck = const f32[2, 1, 5, 2] {-0, 1.25, 0.75, 0.25, 0.875, 2, 0, 0, 0, 0, -0, "
     "0.5, 0.25, 2.5, 1.5, 1.5, 0.5625, 0.125, 0, 0}\n"
     "    want_cv = const f32[2, 1, 5, 2] {-2.25, 1.25, 1, -1.25, 0.25, 0.5, 0, 0, 0, 0, 0.75, "
     "0.25, 1.75, 0.75, 1.25, -1, -1.25, -1.75, 0, 0}\n"
     "    y, ck, cv = com.microsoft::GroupQueryAttention(q, k, v, pk, pv, n, total, cos, sin, "
     "_, bias, sink) {do_rotary=1, kv_num_heads=1, local_window_size=3, num_heads=2, "
     "softcap=1.5}\n"
     "}\n"},
    {"grouped heads, two queries behind a cache that grows",
     "model opset=17 opset com.microsoft=1\n"
     "graph g (q: f32[1, 2, 4] = f32[1, 2, 4] {-1.25, 0.5, 0.75, 0, 0.25, 0, 0.25, -1.5}, "
     "k: f32[1, 2, 4] = f32[1, 2, 4] {-0.5, 0, -0.75, -0.5, -0.75, -0.25, 0.75, -0.5}, v: "
     "f32[1, 2, 4] = f32[1, 2, 4] {-0.25, 0.75, 0.75, 1.75, -2, 0.75, -0.5, 0.25}, pk: "
     "f32[1, 2, 2, 2] = f32[1, 2, 2, 2] {0.75, 1, 1, 0.25, 1.5, -0.25, -0.25, 0.75}, pv: "
     "f32[1, 2, 2, 2] = f32[1, 2, 2, 2] {-0.5, 2.25, 1, 2.25, -0, -0.5, 0.25, 0.75}, n: "
     "i32[1] = i32[1] {3}) -> (y: f32[1, 2, 4], ck: f32[1, 2, 4, 2], cv: f32[1, 2, 4, 2]) "
     "{\n"
     "    total = const i32[1] {4}\n"
     "    want_y = const f32[1, 2, 4] {-0.081403937, 1.0247694, 0.15175331, 0.15216859, "
     "-0.26491137, 1.2869696, 0.038732478, 0.3908492}\n"
     "    want_ck = const f32[1, 2, 4, 2] {0.75, 1, 1, 0.25, -0.5, 0, -0.75, -0.25, 1.5, "
     "-0.25, -0.25, 0.75, -0.75, -0.5, 0.75, -0.5}\n"
     "    want_cv = const f32[1, 2, 4, 2] {-0.5, 2.25, 1, 2.25, -0.25, 0.75, -2, 0.75, -0, "
     "-0.5, 0.25, 0.75, 0.75, 1.75, -0.5, 0.25}\n"
     "    y, ck, cv = com.microsoft::GroupQueryAttention(q, k, v, pk, pv, n, total) "
     "{kv_num_heads=2, num_heads=2, smooth_softmax=1}\n"
     "}\n"},
    {"grouped heads, a prompt that begins a cache",
     "model opset=17 opset com.microsoft=1\n"
     "graph g (q: f32[1, 2, 4] = f32[1, 2, 4] {-0.5, 0.5, -0, 1.5, -0.75, 1, -0.75, -1}, "
     "k: f32[1, 2, 2] = f32[1, 2, 2] {-0.75, -1.25, 0.25, 1}, v: f32[1, 2, 2] = f32[1, 2, "
     "2] {0.25, 0.5, 1.75, 0.25}, pk: f32[1, 1, 3, 2] = f32[1, 1, 3, 2] {0.25, -0.25, "
     "-1.5, 0.75, -1.75, 0.75}, pv: f32[1, 1, 3, 2] = f32[1, 1, 3, 2] {-0, 1.25, -0, "
     "-0.75, 0.25, -0.5}, n: i32[1] = i32[1] {1}) -> (y: f32[1, 2, 4], ck: f32[1, 1, 3, "
     "2], cv: f32[1, 1, 3, 2]) {\n"
     "    total = const i32[1] {2}\n"
     "    want_y = const f32[1, 2, 4] {0.25, 0.5, 0.25, 0.5, 1.364225, 0.31429583, 0.4105627, "
     "0.47323955}\n"
     "    want_ck = const f32[1, 1, 3, 2] {-0.75, -1.25, 0.25, 1, 0, 0}\n"
     "    want_cv = const f32[1, 1, 3, 2] {0.25, 0.5, 1.75, 0.25, 0, 0}\n"
     "    y, ck, cv = com.microsoft::GroupQueryAttention(q, k, v, pk, pv, n, total) "
     "{kv_num_heads=1, num_heads=2}\n"
     "}\n"},
    {"heads behind earlier keys, causal, with a mask",
     "model opset=17 opset com.microsoft=1\n"
     "graph g (q: f32[1, 2, 4] = f32[1, 2, 4] {-0.75, -1.25, -0.25, 0.5, 1.25, 0, -0.5, "
     "-0.75}, k: f32[1, 2, 4] = f32[1, 2, 4] {0.75, 1.75, 0.25, -1.25, -1, 1.5, 0.25, "
     "-1.75}, v: f32[1, 2, 4] = f32[1, 2, 4] {-0, -1.25, -0.75, -0.5, -0.75, 0.5, -0, "
     "-0.5}, b: f32[12] = f32[12] {0.5, 0.75, -1.75, -0.25, -1, -0.25, -1.25, 0, -0, "
     "-0.25, -1, -0.5}, m: i32[1, 3] = i32[1, 3] {1, 0, 1}, pk: f32[1, 2, 1, 2] = f32[1, "
     "2, 1, 2] {-1, -1.25, 0.25, -1}, pv: f32[1, 2, 1, 2] = f32[1, 2, 1, 2] {1.25, 0.75, "
     "-2, 0.25}) -> (y: f32[1, 2, 4], ck: f32[1, 2, 3, 2], cv: f32[1, 2, 3, 2]) {\n"
     "    want_y = const f32[1, 2, 4] {1.25, 0.75, -2, 0.25, 0.20583458, 0.48895864, "
     "-1.0745322, -0.90683473}\n"
     "    want_ck = const f32[1, 2, 3, 2] {-1, -1.25, -0.25, 1.5, -2, 1.25, 0.25, -1, -1, "
     "-1.25, -1, -1.75}\n"
     "    want_cv = const f32[1, 2, 3, 2] {1.25, 0.75, -0, -1.5, -0.75, 0.25, -2, 0.25, -1.75, "
     "-1, -1, -1}\n"
     "    y, ck, cv = com.microsoft::MultiHeadAttention(q, k, v, b, m, _, pk, pv) "
     "{num_heads=2, unidirectional=1}\n"
     "}\n"},
    {"heads, causal, of more queries than keys",
     "model opset=17 opset com.microsoft=1\n"
     "graph g (q: f32[1, 3, 4] = f32[1, 3, 4] {-1, 0, 0, -2, -0.25, -0.25, 1, -1.25, 0.75, "
     "-1, -0.25, -0.75}, k: f32[1, 2, 4] = f32[1, 2, 4] {1.5, 0.5, 2.5, 0.75, 0.75, 0.75, "
     "-0.5, -0}, v: f32[1, 2, 4] = f32[1, 2, 4] {1.25, -0.5, 0.25, -0, 0.5, -0.25, -0.25, "
     "0.25}) -> (y: f32[1, 3, 4]) {\n"
     "    want_y = const f32[1, 3, 4] {1.25, -0.5, 0.25, 0, 0.85843797, -0.36947932, "
     "0.15564451, 0.047177745, 0.97985485, -0.40995162, -0.10834256, 0.17917128}\n"
     "    y = com.microsoft::MultiHeadAttention(q, k, v) {num_heads=2, unidirectional=1}\n"
     "}\n"},
    {"projected heads behind earlier keys",
     "model opset=17 opset com.microsoft=1\n"
     "graph g (x: f32[1, 2, 3] = f32[1, 2, 3] {0, -0.75, 1, -1.25, -1.25, -1.25}, p: "
     "f32[2, 1, 2, 1, 2] = f32[2, 1, 2, 1, 2] {-0.75, -1, 0, 1, -0.25, 0.5, 2, -1.25}) -> "
     "(y: f32[1, 2, 4], c: f32[2, 1, 2, 3, 2]) {\n"
     "    w = const f32[3, 12] {1, -0.25, -1, -1.25, 0.5, -1, -1.25, 0.5, -1.25, -0.25, -0, "
     "-0.5, -0, 1.25, -0.5, -1.25, -1.75, -0.25, -0.25, 0.25, -0.5, -0.5, -0.75, -0.5, "
     "0.25, -0.5, 0, 2, 0.5, -1.5, 1.75, 0.25, -1, 1, 0, -0.5}\n"
     "    want_y = const f32[1, 2, 4] {-0.50637191, 1.0982011, 1.7232146, -1.0333853, "
     "-0.1994863, 0.53808743, 0.71746686, -0.1894598}\n"
     "    want_c = const f32[2, 1, 2, 3, 2] {-0.75, -1, 1.8125, -1.3125, 0.9375, 3.4375, 0, 1, "
     "1.9375, 0.0625, -0.3125, -1.25, -0.25, 0.5, -0.625, 1.375, 3.4375, -0.3125, 2, "
     "-1.25, 0.5625, -0.125, 0.9375, 1.875}\n"
     "    y, c = com.microsoft::Attention(x, w, _, _, p) {num_heads=2, unidirectional=1}\n"
     "}\n"},
};

/* The sentence, the node between operands q, p and c. */
static const char *const refusal_table[][2] = {
    {"9 tokens in all, of 1 queries and 2 earlier keys",
     "GroupQueryAttention(q, q, q, c, c, n, nine) {kv_num_heads=2, num_heads=2}"},
    {"a cache of another form than the new keys or values",
     "GroupQueryAttention(q, q, q, p, p, n, three) {kv_num_heads=2, num_heads=2}"},
    {"attribute sliding_window_cache",
     "GroupQueryAttention(q, q, q, c, c, n, three) {kv_num_heads=2, num_heads=2, "
     "sliding_window_cache=1}"},
    {"a cache of another form than the new keys or values",
     "MultiHeadAttention(q, q, q, _, _, _, p, p) {num_heads=2}"},
    {"causal attention of 1 queries and 2 keys",
     "MultiHeadAttention(q, two, two) {num_heads=2, unidirectional=1}"},
};

START_TEST(names_what_it_cannot_do)
{
    char text[1024];
    LowerCase c;
    VfBinding binding[16];
    snprintf(text, sizeof text,
             "model opset=17 opset com.microsoft=1\n"
             "graph g (q: f32[2, 1, 8] = f32[2, 1, 8] splat 1,\n"
             "    c: f32[2, 2, 2, 4] = f32[2, 2, 2, 4] splat 1,\n"
             "    p: f32[1, 2, 2, 4] = f32[1, 2, 2, 4] splat 1,\n"
             "    two: f32[2, 2, 8] = f32[2, 2, 8] splat 1) -> (y) {\n"
             "    n = const i32[2] {2, 2}\n    nine = const i32[] {9}\n"
             "    three = const i32[] {3}\n    y = com.microsoft::%s @here\n}\n",
             refusal_table[_i][1]);
    case_open(&c, text);
    int32_t n = case_bind(&c, binding, false);
    VfStatus status = vf_lower(c.model, n, binding, NULL, c.arena, &c.plan, NULL, &c.err);
    ck_assert_int_eq(status, VF_UNSUPPORTED);
    ck_assert_msg(strstr(c.err.text, refusal_table[_i][0]) != NULL, "%s", c.err.text);
    ck_assert_ptr_nonnull(strstr(c.err.text, "'here'"));
    case_close(&c);
}
END_TEST

START_TEST(gives_the_expected_values)
{
    case_check(case_table[_i][0], case_table[_i][1]);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("lower/attention");
    TCase *tcase = tcase_create("cases");
    int n = (int)(sizeof case_table / sizeof *case_table);
    tcase_add_loop_test(tcase, gives_the_expected_values, 0, n);
    n = (int)(sizeof refusal_table / sizeof *refusal_table);
    tcase_add_loop_test(tcase, names_what_it_cannot_do, 0, n);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
