/* RNN, GRU and LSTM. Expected values are those of ONNX Runtime. */
#include "tests/unit/lower/table_case.h"

/* What is tested, the model. */
static const char *const case_table[][2] = {
    {"LSTM both ways, sequences of unlike lengths, peepholes, first states",
     "model opset=14\n"
     "graph g (x: f32[3, 2, 1] = f32[3, 2, 1] {0.375, 0.625, -1, 0.625, -0.125, "
     "0}) -> (y: f32[3, 2, 2, 1], h: f32[2, 2, 1], c: f32[2, 2, 1]) {\n"
     "    want_y = const f32[3, 2, 2, 1] {0.074206606, 0.17261873, 0.16707075, 0.13460982, "
     "0.22638465, 0.028914362, 0.26637655, 0.22797906, 0.13793683, 0, 0.16678824, 0}\n"
     "    want_h = const f32[2, 2, 1] {0.13793683, 0.028914362, 0.16707075, 0.13460982}\n"
     "    want_c = const f32[2, 2, 1] {0.28968146, 0.063111052, 0.25256264, 0.20660354}\n"
     "    w = const f32[2, 4, 1] {0.25, -0.5, 1, -1, -0.5, -0.25, 0.125, -0.25}\n"
     "    r = const f32[2, 4, 1] {-0.75, -1, -1, -1, -0.75, 1, -0.625, 0.375}\n"
     "    b = const f32[2, 8] {0.5, -0.625, -0.5, -0.125, -0.5, 1, -0.625, 0.875, 0.625, 0.75, "
     "-0.875, -0.25, 0.25, 0, 0.375, 0.375}\n"
     "    l = const i32[2] {3, 2}\n"
     "    h0 = const f32[2, 2, 1] {0.375, -0.875, 1, 0.125}\n"
     "    c0 = const f32[2, 2, 1] {0.875, -0.5, -0.25, 0.75}\n"
     "    p = const f32[2, 3] {-0.625, -0.875, -0.25, 0.375, -0.75, 0.75}\n"
     "    y, h, c = LSTM(x, w, r, b, l, h0, c0, p) {hidden_size=1, direction=\"bidirectional\"}\n"
     "}\n"},
    {"GRU backwards that resets late",
     "model opset=14\n"
     "graph g (x: f32[3, 2, 1] = f32[3, 2, 1] {-0.375, -0.625, 0.125, 0.875, 0.875, "
     "0.75}) -> (y: f32[3, 1, 2, 1], h: f32[1, 2, 1]) {\n"
     "    want_y = const f32[3, 1, 2, 1] {-0.58507359, -0.61866593, -0.46075743, -0.060904346, "
     "-0.11322819, -0.18782029}\n"
     "    want_h = const f32[1, 2, 1] {-0.58507359, -0.61866593}\n"
     "    w = const f32[1, 3, 1] {-0.375, -1, 0.625}\n"
     "    r = const f32[1, 3, 1] {0.5, 0.625, -1}\n"
     "    b = const f32[1, 6] {-1, 0, -0.375, -0.125, 0.875, -0.625}\n"
     "    y, h = GRU(x, w, r, b) {hidden_size=1, direction=\"reverse\", linear_before_reset=1}\n"
     "}\n"},
    {"GRU that resets early",
     "model opset=14\n"
     "graph g (x: f32[3, 2, 1] = f32[3, 2, 1] {0, -0.375, -0.375, 0.625, -0.75, "
     "-0.375}) -> (y: f32[3, 1, 2, 1], h: f32[1, 2, 1]) {\n"
     "    want_y = const f32[3, 1, 2, 1] {0.19037524, 0.2983349, 0.34026325, -0.012550525, "
     "0.46550277, 0.29575932}\n"
     "    want_h = const f32[1, 2, 1] {0.46550277, 0.29575932}\n"
     "    w = const f32[1, 3, 1] {-0.75, -0.75, -0.5}\n"
     "    r = const f32[1, 3, 1] {0.375, 0.125, -0.125}\n"
     "    b = const f32[1, 6] {-0.75, 0.625, 0.625, -0.5, -0.875, -0.375}\n"
     "    y, h = GRU(x, w, r, b) {hidden_size=1, direction=\"forward\"}\n"
     "}\n"},
    {"RNN without biases",
     "model opset=14\n"
     "graph g (x: f32[3, 2, 1] = f32[3, 2, 1] {-0.75, 0.625, 0, 0, -0.5, 0}) -> (y: f32[3, 1, "
     "2, 1], h: f32[1, 2, 1]) {\n"
     "    want_y = const f32[3, 1, 2, 1] {-0.635149, 0.55459976, 0.30731225, -0.27040422, "
     "-0.57412612, 0.13438427}\n"
     "    want_h = const f32[1, 2, 1] {-0.57412612, 0.13438427}\n"
     "    w = const f32[1, 1, 1] {1}\n"
     "    r = const f32[1, 1, 1] {-0.5}\n"
     "    y, h = RNN(x, w, r) {hidden_size=1, direction=\"forward\"}\n"
     "}\n"},
    {"the batch first",
     "model opset=14\n"
     "graph g (x: f32[1, 2, 1] = f32[1, 2, 1] {1, 2}) -> (y: f32[1, 2, 1, 1], h: f32[1, 1, 1]) {\n"
     "    want_y = const f32[1, 2, 1, 1] {3, 9}\n"
     "    want_h = const f32[1, 1, 1] {9}\n"
     "    w = const f32[1, 1, 1] {3}\n"
     "    r = const f32[1, 1, 1] {1}\n"
     "    y, h = RNN(x, w, r) {hidden_size=1, layout=1, activations=[\"Relu\"]}\n"
     "}\n"},
};

CASE_TABLE_MAIN("lower/recurrent")
