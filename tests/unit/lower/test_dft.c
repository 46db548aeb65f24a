/* Fourier transforms. Expected values were computed with NumPy. */
#include "tests/unit/lower/table_case.h"

#define SIGNAL "x: f32[1, 4, 1] = f32[1, 4, 1] {1, 2, 4, 8}"

/* What is tested, the model. */
static const char *const case_table[][2] = {
    {"a real signal, whole and half",
     "model opset=20\n"
     "graph g (" SIGNAL ") -> (y: f32[1, 4, 2], h: f32[1, 3, 2]) {\n"
     "    want_y = const f32[1, 4, 2] {15, 0, -3, 6, -5, 0, -3, -6}\n"
     "    want_h = const f32[1, 3, 2] {15, 0, -3, 6, -5, 0}\n"
     "    y = DFT(x)\n"
     "    h = DFT(x) {onesided=1}\n"
     "}\n"},
    {"there and back, and back from the half",
     "model opset=20\n"
     "graph g (" SIGNAL ") -> (y: f32[1, 4, 2], r: f32[1, 4, 1]) {\n"
     "    want_y = const f32[1, 4, 2] {1, 0, 2, 0, 4, 0, 8, 0}\n"
     "    want_r = const f32[1, 4, 1] {1, 2, 4, 8}\n"
     "    f = DFT(x)\n"
     "    y = DFT(f) {inverse=1}\n"
     "    h = DFT(x) {onesided=1}\n"
     "    r = DFT(h) {inverse=1, onesided=1}\n"
     "}\n"},
    {"cut, filled up, and along another axis",
     "model opset=20\n"
     "graph g (" SIGNAL ", z: f32[2, 2, 1] = f32[2, 2, 1] {1, 2, 3, 5}) "
     "-> (c: f32[1, 2, 2], l: f32[1, 8, 2], a: f32[2, 2, 2]) {\n"
     "    want_c = const f32[1, 2, 2] {3, 0, -1, 0}\n"
     "    want_l = const f32[1, 8, 2] {15, 0, -3.242641, -11.07107, -3, 6, 5.242641, -3.071068, "
     "-5, 0, 5.242641, 3.071068, -3, -6, -3.242641, 11.07107}\n"
     "    want_a = const f32[2, 2, 2] {4, 0, 7, 0, -2, 0, -3, 0}\n"
     "    two = const i64[] {2}\n"
     "    first = const i64[] {0}\n"
     "    c = DFT(x, two)\n"
     "    a = DFT(z, _, first)\n"
     "    eight = const i64[] {8}\n"
     "    l = DFT(x, eight)\n"
     "}\n"},
    {"frames that overlap, with a window",
     "model opset=17\n"
     "graph g (x: f32[1, 5, 1] = f32[1, 5, 1] {1, 2, 3, 4, 5}) -> (y: f32[1, 3, 2, 2]) {\n"
     "    want_y = const f32[1, 3, 2, 2] {5, 0, -3, 0, 8, 0, -4, 0, 0, 0, 0, 0}\n"
     "    w = const f32[2] {1, 2}\n"
     "    s = const i64[] {1}\n"
     "    n = const i64[] {2}\n"
     "    all = STFT(x, s, w, n)\n"
     "    b = const i64[1] {0}\n"
     "    e = const i64[1] {2}\n"
     "    ax = const i64[1] {1}\n"
     "    some = Slice(all, b, e, ax)\n"
     "    p = const i64[8] {0, 0, 0, 0, 0, 1, 0, 0}\n"
     "    y = Pad(some, p)\n"
     "}\n"},
};

CASE_TABLE_MAIN("lower/dft")
