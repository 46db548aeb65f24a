/* Functions, branches, loops and sequences are followed by the walk. */
#include "tests/unit/lower/table_case.h"

/* What is tested, the model. */
static const char *const case_table[][2] = {
    {"an attribute of the call, and its default",
     "model opset=17 opset my=1\n"
     "function my::leak opset=17 attr slope=0.5 (x) -> (y) {\n"
     "    y = LeakyRelu(x) {alpha=ref float slope}\n"
     "}\n"
     "graph g (x: f32[2] = f32[2] {-4, 4}) -> (a: f32[2], b: f32[2]) {\n"
     "    want_a = const f32[2] {-1, 4}\n"
     "    want_b = const f32[2] {-2, 4}\n"
     "    a = my::leak(x) {slope=0.25}\n"
     "    b = my::leak(x)\n"
     "}\n"},
    {"an attribute handed through two calls",
     "model opset=17 opset my=1\n"
     "function my::outer opset=17 opset my=1 attr s (x) -> (y) {\n"
     "    y = my::inner(x) {slope=ref float s}\n"
     "}\n"
     "function my::inner opset=17 attr slope (x) -> (y) {\n"
     "    y = LeakyRelu(x) {alpha=ref float slope}\n"
     "}\n"
     "graph g (x: f32[2] = f32[2] {-4, 4}) -> (y: f32[2]) {\n"
     "    want_y = const f32[2] {-3, 4}\n"
     "    y = my::outer(x) {s=0.75}\n"
     "}\n"},
    {"a call inside another of the same function",
     "model opset=17 opset my=1\n"
     "function my::twice opset=17 (x) -> (y) {\n"
     "    y = Add(x, x)\n"
     "}\n"
     "graph g (x: f32[2] = f32[2] {1, 2}) -> (y: f32[2]) {\n"
     "    want_y = const f32[2] {6, 12}\n"
     "    a = my::twice(x)\n"
     "    b = my::twice(a)\n"
     "    y = Add(a, b)\n"
     "}\n"},
    {"a known condition takes one branch",
     "graph g (x: f32[2] = f32[2] {1, 2}) -> (y: f32[1]) {\n"
     "    want_y = const f32[1] {1}\n"
     "    zero = const i64[1] {0}\n"
     "    one = const i64[1] {1}\n"
     "    s = Shape(x)\n"
     "    c = Greater(s, one)\n"
     "    y = If(c) {then_branch=graph t () -> (o) { o = Slice(x, zero, one) },\n"
     "               else_branch=graph e () -> (o) { o = Concat(x, x) {axis=0} }}\n"
     "}\n"},
    {"a condition of the run chooses between like results",
     "graph g (x: f32[2] = f32[2] {1, 2}, c: bool[] = bool[] {false}) -> (y: f32[2]) {\n"
     "    want_y = const f32[2] {-1, -2}\n"
     "    y = If(c) {then_branch=graph t () -> (o) { o = Identity(x) },\n"
     "               else_branch=graph e () -> (o) { o = Neg(x) }}\n"
     "}\n"},
    {"a loop with a state and a list of results",
     "graph g (x: f32[2] = f32[2] {1, 2}) -> (y: f32[2], z: f32[3, 2]) {\n"
     "    want_y = const f32[2] {8, 16}\n"
     "    want_z = const f32[3, 2] {1, 2, 2, 4, 4, 8}\n"
     "    n = const i64[] {3}\n"
     "    y, z = Loop(n, _, x) {body=graph b (i: i64[], c: bool[], s: f32[2]) -> (d, t, u) {\n"
     "        d = Identity(c)\n"
     "        t = Add(s, s)\n"
     "        u = Identity(s)\n"
     "    }}\n"
     "}\n"},
    {"a loop that ends by its condition",
     "graph g (x: f32[2] = f32[2] {1, 2}) -> (y: f32[2]) {\n"
     "    want_y = const f32[2] {4, 8}\n"
     "    two = const i64[] {1}\n"
     "    yes = const bool[] {true}\n"
     "    y = Loop(_, yes, x) {body=graph b (i: i64[], c: bool[], s: f32[2]) -> (d, t) {\n"
     "        d = Less(i, two)\n"
     "        t = Add(s, s)\n"
     "    }}\n"
     "}\n"},
    {"a loop without a trip",
     "graph g (x: f32[2] = f32[2] {1, 2}) -> (y: f32[2], z: f32[0, 2]) {\n"
     "    want_y = const f32[2] {1, 2}\n"
     "    want_z = const f32[0, 2] {}\n"
     "    n = const i64[] {0}\n"
     "    y, z = Loop(n, _, x) {body=graph b (i: i64[], c: bool[], s: f32[2])\n"
     "                         -> (d: bool[], t: f32[2], u: f32[2]) {\n"
     "        d = Identity(c)\n"
     "        t = Add(s, s)\n"
     "        u = Identity(s)\n"
     "    }}\n"
     "}\n"},
    {"a scan of nothing, gathered along the last axis",
     "graph g (x: f32[0, 3] = f32[0, 3] {}, s: f32[3] = f32[3] {1, 2, 3})\n"
     "    -> (y: f32[3], z: f32[3, 0]) {\n"
     "    want_y = const f32[3] {1, 2, 3}\n"
     "    want_z = const f32[3, 0] {}\n"
     "    y, z = Scan(s, x) {num_scan_inputs=1, scan_output_axes=[-1],\n"
     "                       body=graph b (a: f32[3], e: f32[3]) -> (t: f32[3], u: f32[3]) {\n"
     "        t = Add(a, e)\n"
     "        u = Identity(t)\n"
     "    }}\n"
     "}\n"},
    {"opset 8: a batch of sequences of several lengths",
     "model opset=8\n"
     "graph g (x: f32[2, 3, 1] = f32[2, 3, 1] {1, 2, 4, 8, 16, 32},\n"
     "         s: f32[2, 1] = f32[2, 1] {100, 200}) -> (y: f32[2, 1], z: f32[2, 3, 1]) {\n"
     "    want_y = const f32[2, 1] {107, 224}\n"
     "    want_z = const f32[2, 3, 1] {101, 103, 107, 208, 224, 0}\n"
     "    l = const i64[2] {3, 2}\n"
     "    y, z = Scan(l, s, x) {num_scan_inputs=1,\n"
     "                          body=graph b (a: f32[1], e: f32[1]) -> (t, u) {\n"
     "        t = Add(a, e)\n"
     "        u = Identity(t)\n"
     "    }}\n"
     "}\n"},
    {"opset 8: a batch backwards",
     "model opset=8\n"
     "graph g (x: f32[2, 3, 1] = f32[2, 3, 1] {1, 2, 4, 8, 16, 32},\n"
     "         s: f32[2, 1] = f32[2, 1] {100, 200}) -> (y: f32[2, 1], z: f32[2, 3, 1]) {\n"
     "    want_y = const f32[2, 1] {107, 256}\n"
     "    want_z = const f32[2, 3, 1] {104, 106, 107, 232, 248, 256}\n"
     "    y, z = Scan(_, s, x) {num_scan_inputs=1, directions=[1],\n"
     "                          body=graph b (a: f32[1], e: f32[1]) -> (t, u) {\n"
     "        t = Add(a, e)\n"
     "        u = Identity(t)\n"
     "    }}\n"
     "}\n"},
    {"a scan backwards",
     "graph g (x: f32[3, 1] = f32[3, 1] {1, 2, 4}) -> (y: f32[1], z: f32[3, 1]) {\n"
     "    want_y = const f32[1] {7}\n"
     "    want_z = const f32[3, 1] {4, 6, 7}\n"
     "    zero = const f32[1] {0}\n"
     "    y, z = Scan(zero, x) {num_scan_inputs=1, scan_input_directions=[1],\n"
     "                          body=graph b (s: f32[1], e: f32[1]) -> (t, u) {\n"
     "        t = Add(s, e)\n"
     "        u = Identity(t)\n"
     "    }}\n"
     "}\n"},
    {"one piece of more than there is",
     "graph g (x: f32[2] = f32[2] {1, 2}) -> (y: f32[2], n: i64[]) {\n"
     "    want_y = const f32[2] {1, 2}\n"
     "    want_n = const i64[] {1}\n"
     "    size = const i64[] {9223372036854775807}\n"
     "    s = SplitToSequence(x, size)\n"
     "    n = SequenceLength(s)\n"
     "    y = ConcatFromSequence(s) {axis=0}\n"
     "}\n"},
    {"sequences are lists of the walk",
     "graph g (x: f32[4] = f32[4] {1, 2, 3, 4}) -> (y: f32[5], n: i64[]) {\n"
     "    want_y = const f32[5] {9, 3, 1, 2, 4}\n"
     "    want_n = const i64[] {4}\n"
     "    zero = const i64[] {0}\n"
     "    last = const i64[] {-1}\n"
     "    size = const i64[3] {2, 1, 1}\n"
     "    nine = const f32[1] {9}\n"
     "    s = SplitToSequence(x, size)\n"
     "    a = SequenceAt(s, last)\n"
     "    t = SequenceErase(s, last)\n"
     "    b = SequenceInsert(t, a)\n"
     "    c = SequenceInsert(b, nine, zero)\n"
     "    n = SequenceLength(c)\n"
     "    two = const i64[] {2}\n"
     "    d = SequenceAt(c, two)\n"
     "    e = SequenceErase(c, two)\n"
     "    one = const i64[] {1}\n"
     "    f = SequenceInsert(e, d, one)\n"
     "    y = ConcatFromSequence(f) {axis=0}\n"
     "}\n"},
};

CASE_TABLE_MAIN("lower/control")
