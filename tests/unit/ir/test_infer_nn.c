#include "tests/support/check_main.h"
#include "tests/unit/ir/infer_case.h"

static const InferCase products[] = {
    {"MatMul", "", "f32[b, h, n, 64]; f32[b, h, 64, n]", "f32[b, h, n, n]"},
    {"MatMul", "", "f32[b, n, 192]; f32[192, 576]", "f32[b, n, 576]"},
    {"MatMul", "", "f32[192]; f32[b, 192, 3]", "f32[b, 3]"},
    {"MatMul", "", "f32[b, 3, 192]; f32[192]", "f32[b, 3]"},
    {"MatMul", "", "f32[192]; f32[192]", "f32[]"},
    {"MatMul", "", "f32[2, 3]; f32[4, 5]", "invalid"},
    {"MatMul", "", "f32[]; f32[4, 5]", "invalid"},
    {"MatMul", "", "f32[2, 3]; f64[3, 5]", "invalid"},
    {"MatMul", "", "f32[...]; f32[3, 5]", "f32[...]"},
    {"MatMulInteger", "", "u8[2, 3]; u8[3, 5]", "i32[2, 5]"},
    {"Gemm", "transB=1", "f32[b, 192]; f32[10, 192]; f32[10]", "f32[b, 10]"},
    {"Gemm", "transA=1", "f32[192, b]; f32[192, 10]", "f32[b, 10]"},
    {"Gemm", "", "f32[b, 192]; f32[10, 192]", "invalid"},
    {"Gemm", "", "f32[b, 4]; f32[4, 10]; f32[9]", "invalid"},
    {"Gemm", "", "f32[4]; f32[4, 10]", "invalid"},
    {"Einsum", "equation='bhid,bhjd->bhij'", "f32[b, h, n, 64]; f32[b, h, m, 64]",
     "f32[b, h, n, m]"},
    {"Einsum", "equation='...id,...jd->...ij'", "f32[b, h, n, 64]; f32[b, h, m, 64]",
     "f32[b, h, n, m]"},
    {"Einsum", "equation='ij,jk'", "f32[2, 3]; f32[3, 4]", "f32[2, 4]"},
    {"Einsum", "equation='...ii->...i'", "f32[b, 3, 3]", "f32[b, 3]"},
    {"Einsum", "equation='ij->'", "f32[2, 3]", "f32[]"},
    {"Einsum", "equation='ij,jk->ik'", "f32[2, 3]; f32[4, 4]", "invalid"},
    {"Einsum", "equation='ij,jk->iz'", "f32[2, 3]; f32[3, 4]", "invalid"},
    {"Einsum", "equation='ij->ij->ij'", "f32[2, 3]", "invalid"},
    {"Einsum", "equation='ij'", "f32[2, 3]; f32[3]", "invalid"},
    {"Einsum", "equation='i.j'", "f32[2, 3]", "invalid"},
    {"Einsum", "equation='ijk'", "f32[2, 3]", "invalid"},
    {"Det", "", "f32[b, 3, 3]", "f32[b]"},
};

static const InferCase layers[] = {
    {"Conv", "strides=[16,16]", "f32[b, 3, 224, 224]; f32[192, 3, 16, 16]; f32[192]",
     "f32[b, 192, 14, 14]"},
    {"Conv", "strides=[16,16]", "f32[b, 3, h, w]; f32[192, 3, 16, 16]", "f32[b, 192, h/16, w/16]"},
    {"Conv", "pads=[1,1,1,1]", "f32[b, 3, h, w]; f32[8, 3, 3, 3]", "f32[b, 8, h, w]"},
    {"Conv", "group=8 pads=[1,1,1,1]", "f32[b, 8, 7, 7]; f32[8, 1, 3, 3]", "f32[b, 8, 7, 7]"},
    {"Conv", "dilations=[2]", "f32[b, 3, 9]; f32[4, 3, 3]", "f32[b, 4, 5]"},
    {"Conv", "auto_pad='SAME_UPPER' strides=[2]", "f32[b, 3, 9]; f32[4, 3, 3]", "f32[b, 4, 5]"},
    {"Conv", "auto_pad='VALID' strides=[2]", "f32[b, 3, 9]; f32[4, 3, 3]", "f32[b, 4, 4]"},
    {"Conv", "", "f32[b, 3, 9]; f32[4, 5, 3]", "invalid"},
    {"Conv", "", "f32[b, 3, 2]; f32[4, 3, 3]", "invalid"},
    {"Conv", "group=0", "f32[b, 3, 9]; f32[4, 3, 3]", "invalid"},
    {"Conv", "strides=[0]", "f32[b, 3, 9]; f32[4, 3, 3]", "invalid"},
    {"Conv", "kernel_shape=[5]", "f32[b, 3, 9]; f32[4, 3, 3]", "invalid"},
    {"Conv", "", "f32[b, 3, 9]; f32[4, 3, 3]; f32[3]", "invalid"},
    {"ConvTranspose", "strides=[2,2]", "f32[b, 8, 7, 7]; f32[8, 4, 2, 2]", "f32[b, 4, 14, 14]"},
    {"ConvTranspose", "strides=[2] output_padding=[1]", "f32[b, 8, n]; f32[8, 4, 3]",
     "f32[b, 4, 2*(n+1)]"},
    {"MaxPool", "kernel_shape=[3,3] strides=[2,2] pads=[1,1,1,1]", "f32[b, 8, 9, 9]",
     "f32[b, 8, 5, 5]; i64[b, 8, 5, 5]"},
    {"AveragePool/11", "kernel_shape=[2] strides=[2] ceil_mode=1", "f32[b, 8, 9]", "f32[b, 8, 5]"},
    {"MaxPool/12", "kernel_shape=[1] strides=[2] ceil_mode=1", "f32[1, 1, 2]", "f32[1, 1, 1]"},
    {"MaxPool", "", "f32[b, 8, 9]", "f32[...]"},
    {"GlobalAveragePool", "", "f32[b, 8, h, w]", "f32[b, 8, 1, 1]"},
    {"BatchNormalization", "", "f32[b, 8, n]; f32[8]; f32[8]; f32[8]; f32[8]", "f32[b, 8, n]"},
    {"BatchNormalization", "", "f32[b, 8, n]; f32[8]; f32[8]; f32[9]; f32[8]", "invalid"},
    {"LayerNormalization", "", "f32[b, n, 192]; f32[192]; f32[192]",
     "f32[b, n, 192]; f32[b, n, 1]; f32[b, n, 1]"},
    {"LayerNormalization", "", "f32[b, n, 192]; f32[191]", "invalid"},
    {"LayerNormalization", "", "f32[1, 4]; f32[3, 4]", "invalid; invalid"},
    {"GroupNormalization/18", "num_groups=2", "f32[b, 4, n]; f32[2]; f32[2]", "f32[b, 4, n]"},
    {"GroupNormalization/18", "num_groups=2", "f32[b, 4, n]; f32[4]; f32[4]", "invalid"},
    {"GroupNormalization/21", "num_groups=2", "f32[b, 4, n]; f32[4]; f32[c]", "f32[b, 4, n]"},
    {"GroupNormalization/21", "num_groups=2", "f32[b, 4, n]; f32[4]; f32[2]", "invalid"},
    {"GroupNormalization/21", "num_groups=3", "f32[b, 4, n]; f32[4]; f32[4]", "invalid"},
    {"GroupNormalization/21", "num_groups=0", "f32[b, 4, n]; f32[4]; f32[4]", "invalid"},
    {"GroupNormalization/21", "num_groups=1", "f32[4]; f32[4]; f32[4]", "invalid"},
    {"GroupNormalization/21", "num_groups=3", "f32[b, c, n]; f32[d]; f32[4]", "f32[b, c, n]"},
    {"LayerNormalization", "", "f32[1, 4]; f32[4]; f32[3, 4]", "invalid"},
    {"RMSNormalization/23", "", "f32[b, n, 192]; f32[192]", "f32[b, n, 192]"},
    {"RMSNormalization/23", "", "f16[b, n, 192]; f32[192]", "f32[b, n, 192]"},
    {"RMSNormalization/23", "", "f32[b, n, 192]; i64[192]", "invalid"},
    {"RMSNormalization/23", "", "f32[1, 4]; f32[3, 4]", "invalid"},
    {"BatchNormalization/9", "", "f16[2, 8]; f32[8]; f32[8]; f32[8]; f32[8]", "invalid"},
    {"BatchNormalization", "", "f16[2, 8]; f32[8]; f32[8]; f64[8]; f64[8]", "f16[2, 8]"},
    {"QLinearConv", "",
     "u8[1, 1, 3]; f32[]; u8[]; i8[1, 1, 3]; f32[]; u8[]; f32[]; u8[]", "invalid"},
    {"LSTM", "hidden_size=20", "f32[s, b, 8]; f32[1, 80, 8]; f32[1, 80, 20]",
     "f32[s, 1, b, 20]; f32[1, b, 20]; f32[1, b, 20]"},
    {"GRU/14", "layout=1 direction='bidirectional'", "f32[b, s, 8]; f32[2, 60, 8]; f32[2, 60, 20]",
     "f32[b, s, 2, 20]; f32[b, 2, 20]"},
    {"Resize/11", "", "f32[1, 3, 7, h]; -; f32{1, 1, 2.5, 2}", "f32[1, 3, 17, 2*h]"},
    {"Resize/13", "", "f32[1, 3, 7, 7]; -; -; i64{1, 3, 14, n}", "f32[1, 3, 14, n]"},
    {"Resize/18", "axes=[2,3] keep_aspect_ratio_policy='not_larger'",
     "f32[1, 3, 10, 20]; -; -; i64{20, 30}", "f32[1, 3, 15, 30]"},
    {"Resize/10", "", "f32[1, 4]; f32{1, 0.5}", "f32[1, 2]"},
    {"Resize/13", "", "f32[1, 3]; -; f32{1, 2, 3}", "invalid"},
    {"Upsample/9", "", "f32[1, 3, 4]; f32{1, 1, 2}", "f32[1, 3, 8]"},
    {"GridSample", "", "f32[b, 3, 8, 8]; f32[b, 5, 6, 2]", "f32[b, 3, 5, 6]"},
    {"AffineGrid/20", "", "f32[b, 2, 3]; i64{b, 3, 5, 6}", "f32[b, 5, 6, 2]"},
    {"DeformConv/19", "pads=[1,1,1,1]", "f32[b, 3, 8, 8]; f32[5, 3, 3, 3]; f32[b, 18, 8, 8]",
     "f32[b, 5, 8, 8]"},
    {"RoiAlign", "", "f32[b, 3, 8, 8]; f32[r, 5]; i64[r]", "invalid"},
    {"RoiAlign", "", "f32[b, 3, 8, 8]; f32[4, 4]; i64[3]", "invalid"},
    {"MaxRoiPool", "pooled_shape=[7,5]", "f32[b, 3, 8, 8]; f32[r, 5]", "f32[r, 3, 7, 5]"},
    {"MaxRoiPool", "pooled_shape=[7,5]", "f32[b, 3, 8, 8]; f32[r, 4]", "invalid"},
    {"RoiAlign", "output_height=7 output_width=5", "f32[b, 3, 8, 8]; f32[r, 4]; i64[r]",
     "f32[r, 3, 7, 5]"},
    {"DFT", "axis=1 onesided=1", "f32[b, 9, 1]", "f32[b, 5, 2]"},
    {"Attention/23", "", "f32[b, 4, n, 16]; f32[b, 4, m, 16]; f32[b, 4, m, 8]", "f32[b, 4, n, 8]"},
    {"Attention/23", "q_num_heads=4 kv_num_heads=2", "f32[b, n, 64]; f32[b, m, 32]; f32[b, m, 32]",
     "f32[b, n, 64]; f32[b, 2, m, 16]; f32[b, 2, m, 16]; f32[b, 4, n, m]"},
    {"Attention/23", "",
     "f32[b, 4, n, 16]; f32[b, 4, m, 16]; f32[b, 4, m, 16]; -; f32[b, 4, p, 16]; f32[b, 4, p, 16]",
     "f32[b, 4, n, 16]; f32[b, 4, m+p, 16]"},
    {"Attention/23", "", "f32[b, n, 64]; f32[b, m, 32]; f32[b, m, 32]", "invalid"},
    {"Attention/23", "", "f32[1, 3, n, 8]; f32[1, 2, 5, 8]; f32[1, 2, 5, 8]", "invalid"},
    {"Attention/23", "", "f32[1, 4, n, 8]; f32[1, 2, 5, 8]; f32[1, 4, 5, 8]", "invalid"},
    {"Attention/23", "", "f32[1, 2, n, 8]; f32[1, 2, 5, 8]; f32[1, 2, 6, 8]", "invalid"},
    {"Attention/23", "", "f32[1, 2, n, 8]; f32[1, 2, 5, 6]; f32[1, 2, 5, 8]", "invalid"},
    {"Attention/23", "q_num_heads=4 kv_num_heads=2", "f32[b, n, 64]; f32[b, m, 30]; f32[b, m, 32]",
     "invalid"},
    {"Attention/23", "q_num_heads=4 kv_num_heads=3", "f32[b, n, 64]; f32[b, m, 48]; f32[b, m, 48]",
     "invalid"},
    {"Attention/23", "", "f32[b, 2, n, 8]; f32[b, 2, m, d]; f32[b, 2, 5, e]; -; f32[b, 2, 3, d]; "
     "f32[b, 2, 3, 6]", "f32[b, 2, n, 6]; f32[b, 2, 8, 8]; f32[b, 2, 8, 6]"},
    {"Attention/23", "", "f32[b, 2, n, 8]; f32[b, 2, 5, 8]; f32[b, 2, 5, 8]; -; f32[b, 2, 3, 8]; "
     "f32[b, 2, 4, 8]", "invalid"},
    {"Attention/23", "", "f32[b, 2, n, 8]; f32[b, 2, 5, 8]; f32[b, 2, 5, 8]; -; f32[b, 1, 3, 8]; "
     "f32[b, 1, 3, 8]", "invalid"},
    {"com.microsoft::GroupQueryAttention", "num_heads=4 kv_num_heads=2",
     "f32[b, n, 64]; f32[b, n, 32]; f32[b, n, 32]; -; -; i32[b]; i32[1]",
     "f32[b, n, 64]; f32[b, 2, n, 16]; f32[b, 2, n, 16]"},
    {"com.microsoft::GroupQueryAttention", "num_heads=4 kv_num_heads=2",
     "f32[b, n, 128]; -; -; f32[b, 2, 7, 16]; f32[b, 2, 7, 16]; i32[b]; i32{9}",
     "f32[b, n, 64]; f32[b, 2, 9, 16]; f32[b, 2, 9, 16]"},
    {"com.microsoft::GroupQueryAttention", "num_heads=4 kv_num_heads=2",
     "f32[b, n, 60]; f32[b, n, 32]; f32[b, n, 32]; f32[b, 2, p, 15]; f32[b, 2, p, 15]; i32[b]; "
     "i32[1]",
     "f32[b, n, 60]; f32[b, 2, ?, 15]"},
    {"com.microsoft::Attention", "num_heads=2 qkv_hidden_sizes=[8,8,12]",
     "f32[b, n, 6]; f32[6, 28]; f32[28]; -; f32[2, b, 2, p, 6]",
     "f32[b, n, 12]; f32[2, b, 2, n+p, 6]"},
    {"com.microsoft::MultiHeadAttention", "num_heads=2",
     "f32[b, n, 8]; f32[b, m, 8]; f32[b, m, 12]; -; -; -; f32[b, 2, p, 4]; f32[b, 2, p, 6]",
     "f32[b, n, 12]; f32[b, 2, m+p, 4]; f32[b, 2, m+p, 6]"},
    {"com.microsoft::MultiHeadAttention", "num_heads=2", "f32[b, n, 8]; f32[b, m, 2, 2, 4]",
     "f32[b, n, 8]; f32[b, 2, m, 4]; f32[b, 2, m, 4]"},
    {"com.microsoft::GroupQueryAttention", "num_heads=3 kv_num_heads=1",
     "f32[b, n, 64]; f32[b, n, 32]; f32[b, n, 32]; -; -; i32[b]; i32[1]", "invalid"},
    {"Attention/23", "", "f32[b, n]; f32[b, m, 32]; f32[b, m, 32]", "invalid"},
};

START_TEST(infers_products)
{
    infer_check(&products[_i]);
}
END_TEST

START_TEST(infers_layers)
{
    infer_check(&layers[_i]);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("infer_nn");
    TCase *tcase = tcase_create("tables");
    tcase_add_loop_test(tcase, infers_products, 0, sizeof products / sizeof products[0]);
    tcase_add_loop_test(tcase, infers_layers, 0, sizeof layers / sizeof layers[0]);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
