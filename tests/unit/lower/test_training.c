/* Losses, training mode, random numbers. Expected values were computed with NumPy. */
#include "tests/unit/lower/table_case.h"

#define SCORES "x: f32[2, 3] = f32[2, 3] {1, 2, -1, 0.5, -0.5, 0.25}"

/* What is tested, the model. */
static const char *const case_table[][2] = {
    {"a weighted mean of losses",
     "graph g (" SCORES ", t: i64[2] = i64[2] {2, 0}, w: f32[3] = f32[3] {1, 2, 4}) "
     "-> (y: f32[]) {\n"
     "    want_y = const f32[] {0.7}\n"
     "    y = NegativeLogLikelihoodLoss(x, t, w)\n"
     "}\n"},
    {"an ignored target out of range, which has no part in the mean",
     "graph g (" SCORES ", t: i64[2] = i64[2] {-100, 0}) -> (y: f32[], z: f32[2]) {\n"
     "    want_y = const f32[] {-0.5}\n"
     "    want_z = const f32[2] {0, -0.5}\n"
     "    y = NegativeLogLikelihoodLoss(x, t) {ignore_index=-100}\n"
     "    z = NegativeLogLikelihoodLoss(x, t) {ignore_index=-100, reduction=\"none\"}\n"
     "}\n"},
    {"cross entropy with its second result",
     "graph g (" SCORES ", t: i32[2] = i32[2] {2, 0}) -> (y: f32[2], p: f32[2, 3], s: f32[]) {\n"
     "    want_y = const f32[2] {3.3490121, 0.7639226}\n"
     "    want_p = const f32[2, 3] {-1.3490122, -0.3490122, -3.3490121, -0.7639226, -1.7639226, "
     "-1.0139226}\n"
     "    want_s = const f32[] {4.1129347}\n"
     "    y, p = SoftmaxCrossEntropyLoss(x, t) {reduction=\"none\"}\n"
     "    s = SoftmaxCrossEntropyLoss(x, t) {reduction=\"sum\"}\n"
     "}\n"},
    {"batch norm by its own statistics",
     "model opset=15\n"
     "graph g (x: f32[2, 2, 2] = f32[2, 2, 2] {1, 3, 0, 2, 5, 7, 4, 6}) "
     "-> (y: f32[2, 2, 2], m: f32[2], v: f32[2]) {\n"
     "    one = const f32[2] {1, 1}\n"
     "    two = const f32[2] {2, 2}\n"
     "    want_y = const f32[2, 2, 2] {-1.502173, 0.16594234, -1.502173, 0.16594234, 1.8340577, "
     "3.502173, 1.8340577, 3.502173}\n"
     "    want_m = const f32[2] {1.75, 1.5}\n"
     "    want_v = const f32[2] {2.75, 2.75}\n"
     "    y, m, v = BatchNormalization(x, two, one, one, two) "
     "{training_mode=1, momentum=0.75, epsilon=0.75}\n"
     "}\n"},
    {"dropout drops or scales, by one mask",
     "graph g (x: f32[4, 64] = f32[4, 64] iota) -> (worst: f32[], some: bool[]) {\n"
     "    want_worst = const f32[] {0}\n"
     "    want_some = const bool[] {true}\n"
     "    r = const f32[] {0.75}\n"
     "    t = const bool[] {true}\n"
     "    four = const f32[] {4}\n"
     "    low = const f32[] {30}\n"
     "    high = const f32[] {100}\n"
     "    y, keep = Dropout(x, r, t) {seed=3}\n"
     "    k = Cast(keep) {to=1}\n"
     "    scaled = Mul(x, four)\n"
     "    want = Mul(scaled, k)\n"
     "    d = Sub(y, want)\n"
     "    a = Abs(d)\n"
     "    worst = ReduceMax(a) {keepdims=0}\n"
     "    n = ReduceSum(k) {keepdims=0}\n"
     "    p = Less(low, n)\n"
     "    q = Less(n, high)\n"
     "    some = And(p, q)\n"
     "}\n"},
    {"a ratio of one drops all",
     "graph g (x: f32[4] = f32[4] {1, 2, 3, 4}) -> (y: f32[4]) {\n"
     "    want_y = const f32[4] {0, 0, 0, 0}\n"
     "    r = const f32[] {1}\n"
     "    t = const bool[] {true}\n"
     "    y = Dropout(x, r, t)\n"
     "}\n"},
    {"certain and impossible events",
     "graph g (x: f32[4] = f32[4] {1, 0, 1, 0}) -> (y: i32[4]) {\n"
     "    want_y = const i32[4] {1, 0, 1, 0}\n"
     "    y = Bernoulli(x) {dtype=6}\n"
     "}\n"},
    {"equal seeds give equal numbers, other nodes others",
     "graph g (x: f32[8] = f32[8] iota) -> (same: bool[], other: bool[]) {\n"
     "    want_same = const bool[] {true}\n"
     "    want_other = const bool[] {false}\n"
     "    a = RandomNormalLike(x) {seed=2.5}\n"
     "    b = RandomNormal() {seed=2.5, shape=[8]}\n"
     "    c = RandomNormalLike(x)\n"
     "    d = RandomNormalLike(x)\n"
     "    ab = Equal(a, b)\n"
     "    cd = Equal(c, d)\n"
     "    abn = Cast(ab) {to=6}\n"
     "    cdn = Cast(cd) {to=6}\n"
     "    abm = ReduceMin(abn) {keepdims=0}\n"
     "    cdm = ReduceMax(cdn) {keepdims=0}\n"
     "    same = Cast(abm) {to=9}\n"
     "    other = Cast(cdm) {to=9}\n"
     "}\n"},
    {"a quantized convolution with a bias and a scale for each channel",
     "graph g (x: u8[1, 1, 2, 2] = u8[1, 1, 2, 2] {130, 126, 128, 132}) "
     "-> (y: u8[1, 2, 1, 1]) {\n"
     "    want_y = const u8[1, 2, 1, 1] {15, 0}\n"
     "    w = const i8[2, 1, 2, 2] {1, 1, 1, 1, -2, 0, 0, -2}\n"
     "    sx = const f32[] {0.5}\n"
     "    zx = const u8[] {128}\n"
     "    sw = const f32[2] {1, 4}\n"
     "    zw = const i8[] {0}\n"
     "    sy = const f32[] {2}\n"
     "    zy = const u8[] {10}\n"
     "    b = const i32[2] {16, 2}\n"
     "    y = QLinearConv(x, sx, zx, w, sw, zw, sy, zy, b)\n"
     "}\n"},
};

CASE_TABLE_MAIN("lower/training")
