/* Element by element. Expected values were computed with NumPy. */
#include "tests/unit/lower/table_case.h"

/* What is tested, the model. */
static const char *const case_table[][2] = {
    {"operands broadcast each other",
     "model opset=17 opset com.microsoft=1\n"
     "graph g (a: f32[2, 1, 3] = f32[2, 1, 3] {-1.75, -0.75, -0.25, 0.5, 0, -1}, b: "
     "f32[4, 1] = f32[4, 1] {-1.5, 0.75, 1, -2}) -> (y: f32[2, 4, 3]) {\n"
     "    want_y = const f32[2, 4, 3] {-0.25, 0.75, 1.25, -2.5, -1.5, -1, -2.75, -1.75, "
     "-1.25, 0.25, 1.25, 1.75, 2, 1.5, 0.5, -0.25, -0.75, -1.75, -0.5, -1, -2, 2.5, 2, 1}\n"
     "    y = Sub(a, b)\n"
     "}\n"},
    {"operands swap where that is allowed",
     "model opset=17 opset com.microsoft=1\n"
     "graph g (a: f32[3] = f32[3] {1.5, 0.25, -2}, b: f32[2, 3] = f32[2, 3] {1.25, -1.75, "
     "-1.25, -1, -1.25, 1.25}) -> (y: f32[2, 3]) {\n"
     "    want_y = const f32[2, 3] {2.75, -1.5, -3.25, 0.5, -1, -0.75}\n"
     "    y = Add(a, b)\n"
     "}\n"},
    {"a transposed operand",
     "model opset=17 opset com.microsoft=1\n"
     "graph g (a: f32[3, 2] = f32[3, 2] {-1.75, -0.25, -0.5, 1.75, 0, -0.25}, b: f32[2, "
     "3] = f32[2, 3] {1.25, -1.75, -1.25, -1, -1.25, 1.25}) -> (y: f32[2, 3]) {\n"
     "    want_y = const f32[2, 3] {-2.1875, 0.875, -0, 0.25, -2.1875, -0.3125}\n"
     "    t = Transpose(a) {perm=[1, 0]}\n"
     "    y = Mul(t, b)\n"
     "}\n"},
    {"a value with itself",
     "model opset=17 opset com.microsoft=1\n"
     "graph g (x: f32[2, 3] = f32[2, 3] {1.25, -1.75, -1.25, -1, -1.25, 1.25}) -> (y: "
     "f32[2, 3]) {\n"
     "    want_y = const f32[2, 3] {1.5625, 3.0625, 1.5625, 1, 1.5625, 1.5625}\n"
     "    y = Mul(x, x)\n"
     "}\n"},
    {"in place on the left, not on the right",
     "model opset=17 opset com.microsoft=1\n"
     "graph g (x: f32[2, 3] = f32[2, 3] {1.25, -1.75, -1.25, -1, -1.25, 1.25}, b: f32[3] "
     "= f32[3] {1.5, 0.25, -2}) -> (y: f32[2, 3]) {\n"
     "    want_y = const f32[2, 3] {0.25, 0.25, -2, 1.5, 0.25, -3.25}\n"
     "    r = Relu(x)\n"
     "    y = Sub(b, r)\n"
     "}\n"},
    {"an operand that is still read later",
     "model opset=17 opset com.microsoft=1\n"
     "graph g (x: f32[2, 3] = f32[2, 3] {1.25, -1.75, -1.25, -1, -1.25, 1.25}) -> (y: "
     "f32[2, 3]) {\n"
     "    want_y = const f32[2, 3] {4.740343, 1, 1, 1, 1, 4.740343}\n"
     "    r = Relu(x)\n"
     "    e = Exp(r)\n"
     "    y = Add(r, e)\n"
     "}\n"},
    {"integer division and remainders",
     "model opset=17 opset com.microsoft=1\n"
     "graph g (n: i64[4] = i64[4] {7, -7, 7, -7}, m: i64[4] = i64[4] {3, 3, -3, -3}) -> "
     "(q: i64[4], r: i64[4], s: i64[4]) {\n"
     "    want_q = const i64[4] {2, -2, -2, 2}\n"
     "    want_r = const i64[4] {1, 2, -2, -1}\n"
     "    want_s = const i64[4] {1, -1, 1, -1}\n"
     "    q = Div(n, m)\n"
     "    r = Mod(n, m)\n"
     "    s = Mod(n, m) {fmod=1}\n"
     "}\n"},
    {"an integer to a float power",
     "model opset=17 opset com.microsoft=1\n"
     "graph g (n: i32[3] = i32[3] {2, 3, 9}, p: f32[3] = f32[3] {3, 2, 0.5}) -> (y: "
     "i32[3]) {\n"
     "    want_y = const i32[3] {8, 9, 3}\n"
     "    y = Pow(n, p)\n"
     "}\n"},
    {"comparisons and logic",
     "model opset=17 opset com.microsoft=1\n"
     "graph g (a: f32[2, 3] = f32[2, 3] {1.25, -1.75, -1.25, -1, -1.25, 1.25}, b: f32[3] "
     "= f32[3] {1.5, 0.25, -2}) -> (y: bool[2, 3]) {\n"
     "    want_y = const bool[2, 3] {true, true, false, true, true, false}\n"
     "    l = Less(a, b)\n"
     "    g = GreaterOrEqual(a, b)\n"
     "    n = Not(g)\n"
     "    y = Or(l, n)\n"
     "}\n"},
    {"where with three shapes",
     "model opset=17 opset com.microsoft=1\n"
     "graph g (c: bool[2, 1] = bool[2, 1] {true, false}, a: f32[2, 3] = f32[2, 3] {1.25, "
     "-1.75, -1.25, -1, -1.25, 1.25}, b: f32[3] = f32[3] {1.5, 0.25, -2}) -> (y: f32[2, "
     "3]) {\n"
     "    want_y = const f32[2, 3] {1.25, -1.75, -1.25, 1.5, 0.25, -2}\n"
     "    y = Where(c, a, b)\n"
     "}\n"},
    {"half floats through f32",
     "model opset=17 opset com.microsoft=1\n"
     "graph g (h: f16[2, 3] = f16[2, 3] {-0.25, 0.75, 0.25, -1.5, 1, 1}) -> (y: f16[2, "
     "3]) {\n"
     "    want_y = const f16[2, 3] {-0.25, 1.5, 0.5, -1.5, 2, 2}\n"
     "    r = Relu(h)\n"
     "    y = Add(r, h)\n"
     "}\n"},
    {"clip by operands, one of them omitted",
     "model opset=17 opset com.microsoft=1\n"
     "graph g (x: f32[2, 3] = f32[2, 3] {1.25, -1.75, -1.25, -1, -1.25, 1.25}) -> (y: "
     "f32[2, 3]) {\n"
     "    m = const f32[] {0.5}\n"
     "    want_y = const f32[2, 3] {0.5, -1.75, -1.25, -1, -1.25, 0.5}\n"
     "    y = Clip(x, _, m)\n"
     "}\n"},
    {"clip by attributes of opset 6",
     "model opset=6 opset com.microsoft=1\n"
     "graph g (x: f32[2, 3] = f32[2, 3] {1.25, -1.75, -1.25, -1, -1.25, 1.25}) -> (y: "
     "f32[2, 3]) {\n"
     "    want_y = const f32[2, 3] {1, -1, -1, -1, -1, 1}\n"
     "    y = Clip(x) {min=-1.0, max=1.0}\n"
     "}\n"},
    {"a mean of three",
     "model opset=17 opset com.microsoft=1\n"
     "graph g (a: f32[2, 3] = f32[2, 3] {1.25, -1.75, -1.25, -1, -1.25, 1.25}, b: f32[2, "
     "3] = f32[2, 3] {2.5, -3.5, -2.5, -2, -2.5, 2.5}, c: f32[3] = f32[3] {1.5, 0.25, "
     "-2}) -> (y: f32[2, 3]) {\n"
     "    want_y = const f32[2, 3] {1.75, -1.6666666, -1.9166666, -0.5, -1.1666666, "
     "0.5833333}\n"
     "    y = Mean(a, b, c)\n"
     "}\n"},
};

CASE_TABLE_MAIN("lower/elementwise")
