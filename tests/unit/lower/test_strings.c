/* Strings are computed when the plan is made: operators that move or compare them, and numbers as
 * strings. Only whether the strings are the wanted ones is seen in the run.
 */
#include "tests/unit/lower/table_case.h"

#define STRINGS(name, ...) "    " name " = Constant() {value_strings=[" #__VA_ARGS__ "]}\n"
#define ALL(n, nodes, ...)                                                                   \
    "graph g (x: f32[1] = f32[1] {0}) -> (y: bool[" n "]) {\n"                               \
    "    want_y = const bool[" n "] {" __VA_ARGS__ "}\n" nodes "    y = Equal(r, w)\n}\n"

/* Strings as small floats, and what these are as f32. */
#define NARROW(opset, dtype, attrs, strings, ...)                                              \
    "model opset=" opset "\ngraph g (x: f32[1] = f32[1] {0}) -> (y: f32[3]) {\n"               \
    "    want_y = const f32[3] {" __VA_ARGS__ "}\n" strings                                    \
    "    r = Cast(s) {to=" dtype ", " attrs "}\n    y = Cast(r) {to=1}\n}\n"

/* What is tested, the model. */
static const char *const case_table[][2] = {
    {"gathered",
     ALL("2", STRINGS("s", "a", "b", "c") STRINGS("w", "c", "a")
         "    i = const i64[2] {2, 0}\n    r = Gather(s, i)\n", "true, true")},
    {"joined, and one is not the wanted one",
     ALL("3", STRINGS("s", "a") STRINGS("t", "b", "c") STRINGS("w", "a", "x", "c")
         "    r = Concat(s, t) {axis=0}\n", "true, false, true")},
    {"turned and cut",
     ALL("2", STRINGS("s", "a", "b", "c", "d") STRINGS("w", "b", "d")
         "    d = const i64[2] {2, 2}\n    one = const i64[1] {1}\n    two = const i64[1] {2}\n"
         "    m = Reshape(s, d)\n    t = Transpose(m)\n    u = Slice(t, one, two)\n"
         "    r = Reshape(u, two)\n", "true, true")},
    {"filled with empty ones",
     ALL("3", STRINGS("s", "a", "b") STRINGS("w", "a", "b", "")
         "    p = const i64[2] {0, 1}\n    r = Pad(s, p)\n", "true, true, true")},
    {"filled with a given one",
     ALL("3", STRINGS("s", "a", "b") STRINGS("w", "z", "a", "b")
         "    p = const i64[2] {1, 0}\n    z = Constant() {value_string=\"z\"}\n"
         "    r = Pad(s, p, z)\n", "true, true, true")},
    {"chosen",
     ALL("2", STRINGS("s", "a", "b") STRINGS("t", "c") STRINGS("w", "a", "c")
         "    c = const bool[2] {true, false}\n    r = Where(c, s, t)\n", "true, true")},
    {"put behind what stands in their places, in order",
     "model opset=18\n"
     ALL("4", STRINGS("s", "a", "b", "", "d") STRINGS("t", "x", "y", "z")
         STRINGS("w", "a", "bxz", "", "dy")
         "    i = const i64[3, 1] {1, -1, 1}\n    r = ScatterND(s, i, t) {reduction=\"add\"}\n",
         "true, true, true, true")},
    {"rows put behind a row",
     "model opset=18\n"
     ALL("2, 2", STRINGS("s", "a", "b", "c", "d") STRINGS("t", "x", "y")
         STRINGS("u", "a", "b", "cx", "dy")
         "    d = const i64[2] {2, 2}\n    e = const i64[2] {1, 2}\n    m = Reshape(s, d)\n"
         "    n = Reshape(t, e)\n    w = Reshape(u, d)\n    i = const i64[1, 1] {1}\n"
         "    r = ScatterND(m, i, n) {reduction=\"add\"}\n", "true, true, true, true")},
    {"put behind along an axis",
     "model opset=18\n"
     ALL("2, 2", STRINGS("s", "a", "b", "c", "d") STRINGS("t", "x", "y")
         STRINGS("u", "a", "by", "cx", "d")
         "    d = const i64[2] {2, 2}\n    e = const i64[2] {1, 2}\n    m = Reshape(s, d)\n"
         "    n = Reshape(t, e)\n    w = Reshape(u, d)\n    i = const i64[1, 2] {1, -2}\n"
         "    r = ScatterElements(m, i, n) {axis=0, reduction=\"add\"}\n",
         "true, true, true, true")},
    {"put in their places",
     ALL("3", STRINGS("s", "a", "b", "c") STRINGS("t", "z") STRINGS("w", "a", "z", "c")
         "    i = const i64[1, 1] {1}\n    r = ScatterND(s, i, t)\n", "true, true, true")},
    {"unlike ones",
     ALL("3", STRINGS("s", "b", "", "ab", "b", "") STRINGS("w", "", "ab", "b")
         "    r = Unique(s)\n", "true, true, true")},
    {"unlike rows, as they stand",
     ALL("2, 2", STRINGS("s", "b", "c", "a", "c", "b", "c") STRINGS("u", "b", "c", "a", "c")
         "    d = const i64[2] {3, 2}\n    e = const i64[2] {2, 2}\n    w = Reshape(u, e)\n"
         "    m = Reshape(s, d)\n    r = Unique(m) {axis=0, sorted=0}\n",
         "true, true, true, true")},
    {"on and off",
     ALL("3", STRINGS("s", "off", "on") STRINGS("w", "off", "on", "off")
         "    i = const i64[] {1}\n    n = const i64[] {3}\n    r = OneHot(i, n, s)\n",
         "true, true, true")},
    {"the nearest",
     ALL("4", STRINGS("s", "a", "b") STRINGS("w", "a", "a", "b", "b")
         "    f = const f32[1] {2}\n    r = Resize(s, _, f) {mode=\"nearest\"}\n",
         "true, true, true, true")},
    {"floats",
     ALL("8", "    v = const f32[8] {3, -0.1, 1e20, 1.5e-5, 0.0001, 123456.5, nan, -inf}\n"
         STRINGS("w", "3.0", "-0.1", "1e+20", "1.5e-05", "0.0001", "123456.5", "nan", "-inf")
         "    r = Cast(v) {to=8}\n", "true, true, true, true, true, true, true, true")},
    {"the shortest of a small type",
     ALL("2", "    v = const f16[2] {0.1, 65504}\n" STRINGS("w", "0.1", "65500.0")
         "    r = Cast(v) {to=8}\n", "true, true")},
    {"doubles",
     ALL("3", "    v = const f64[3] {0.1, 1e16, 0.30000000000000004}\n"
         STRINGS("w", "0.1", "1e+16", "0.30000000000000004") "    r = Cast(v) {to=8}\n",
         "true, true, true")},
    {"integers",
     ALL("2", "    v = const i64[2] {-9223372036854775808, 7}\n"
         STRINGS("w", "-9223372036854775808", "7") "    r = Cast(v) {to=8}\n", "true, true")},
    {"integers above what is signed",
     ALL("2", "    v = const u64[2] {18446744073709551615, 9223372036854775808}\n"
         STRINGS("w", "18446744073709551615", "9223372036854775808") "    r = Cast(v) {to=8}\n",
         "true, true")},
    {"stacked by the trips of a loop",
     ALL("4", STRINGS("s", "a", "b") STRINGS("w", "a", "b", "a", "b")
         "    n = const i64[] {2}\n    zero = const f32[] {0}\n"
         "    k, q = Loop(n, _, zero) {body=graph b (i: i64[], c: bool[], v: f32[]) "
         "-> (d, e, t: string[2]) {\n"
         "        d = Identity(c)\n        e = Identity(v)\n        t = Identity(s)\n    }}\n"
         "    m = const i64[1] {4}\n    r = Reshape(q, m)\n", "true, true, true, true")},
    {"truth",
     ALL("2", "    v = const bool[2] {true, false}\n" STRINGS("w", "True", "False")
         "    r = Cast(v) {to=8}\n", "true, true")},
    {"to small floats, saturated",
     NARROW("19", "17", "saturate=1", STRINGS("s", "INF", "-1e6", "0.3"), "448, -448, 0.3125")},
    {"to small floats, not saturated",
     NARROW("19", "19", "saturate=0", STRINGS("s", "INF", "-1e6", "0.3"), "inf, -inf, 0.3125")},
    {"to powers of two, down",
     NARROW("24", "24", "round_mode=\"down\"", STRINGS("s", "3.5", "1.5", "4"), "2, 1, 4")},
};

CASE_TABLE_MAIN("lower/strings")
