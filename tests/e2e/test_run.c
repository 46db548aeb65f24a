/* run: every way in and every way out gives the same numbers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/data/npy.h"
#include "converter/data/npz.h"
#include "converter/onnx/tensor_file.h"
#include "runtime/base/intern.h"
#include "tests/support/tool_case.h"
#include "tests/support/vft_file.h"

#define MODEL "%mnist/mnist_softmax_ln_op17.onnx"

static VfArena *arena;
static VfNamedArray image;
static VfErr err;

/* The same input in every form that run reads. */
static void set_up_image(void)
{
    static const int64_t dims[] = {2, 1, 28, 28};
    arena = vf_arena_new();
    set_up();
    image.name = vf_bytes("image");
    ck_assert_int_eq(vf_array_random(&image.array, arena, VF_F32, 4, dims, 5, &err), VF_OK);
    ck_assert_int_eq(vf_npy_write(vf_tool_path(folder, "@in.npy"), &image.array, &err), VF_OK);
    ck_assert_int_eq(vf_npz_write(vf_tool_path(folder, "@in.npz"), &image, 1, &err), VF_OK);
    ck_assert_int_eq(vf_file_write(vf_tool_path(folder, "@in.raw"), image.array.data,
                                   image.array.bytes, &err), VF_OK);
}

static void tear_down_image(void)
{
    tear_down();
    vf_arena_free(arena);
}

START_TEST(all_ways_in_agree)
{
    expect(0, "run " MODEL " --inputs @in.npz --outputs @a.npz");
    expect(0, "run " MODEL " --input image=@in.npy --outputs @b.npz --threads 1");
    expect(0, "run " MODEL " -i image=@in.raw:f32[2,1,28,28] --outputs @c.npz --threads 2");
    assert_same_file("@a.npz", "@b.npz");
    assert_same_file("@a.npz", "@c.npz");
}
END_TEST

START_TEST(all_ways_out_agree)
{
    expect(0, "run " MODEL " -i image=@in.npy --output-dir @npy");
    expect(0, "run " MODEL " -i image=@in.npy --output-dir @npz --output-format npz");
    expect(0, "run " MODEL " -i image=@in.npy --output-dir @pb --output-format pb");
    expect(0, "run " MODEL " -i image=@in.npy --outputs @a.npz");
    assert_same_file("@a.npz", "@npz/outputs.npz");
    /* What was written can be read again, and compares as equal. */
    expect(0, "compare " MODEL " --exact -i image=@in.npy --expect @a.npz");
    VfNamedArray *array;
    size_t n;
    ck_assert_int_eq(vf_npz_read(arena, vf_tool_path(folder, "@a.npz"), &array, &n, &err), VF_OK);
    ck_assert_uint_eq(n, 1);
    ck_assert_str_eq(vf_array_text(arena, &array[0].array), "f32[2, 10]");
    VfMapping file;
    VfArray logits;
    const char *path = vf_tool_path(folder, "@npy/logits.npy");
    ck_assert_int_eq(vf_file_map(path, &file, &err), VF_OK);
    ck_assert_int_eq(vf_npy_read(arena, file.data, file.size, path, &logits, &err), VF_OK);
    ck_assert_int_eq(memcmp(logits.data, array[0].array.data, logits.bytes), 0);
    vf_file_unmap(&file);
}
END_TEST

START_TEST(test_data_folders_are_read_and_written)
{
    VfTensor tensor = {VF_F32, 4, image.array.dims, image.array.count, image.array.bytes,
                       image.array.data, VF_STORAGE_LENT};
    ck_assert_int_eq(vf_folder_make(vf_tool_path(folder, "@set"), &err), VF_OK);
    ck_assert_int_eq(vf_onnx_write_tensor(vf_tool_path(folder, "@set/input_0.pb"), image.name,
                                          &tensor, &err), VF_OK);
    expect(0, "run " MODEL " --test-data-dir @set --output-dir @set");
    expect(0, "run " MODEL " -i image=@set/input_0.pb --output-dir @other");
    assert_same_file("@set/output_0.pb", "@other/output_0.pb");
    expect(0, "run " MODEL " --test-data-dir @set --outputs @a.npz");
    expect(0, "run " MODEL " -i image=@in.npy --outputs @b.npz");
    assert_same_file("@a.npz", "@b.npz");
    /* The folder's own outputs are what compare expects. */
    expect(0, "compare " MODEL " --exact --test-data-dir @set");
    expect(6, "run " MODEL " --test-data-dir @other");
    expect(6, "run " MODEL " --test-data-dir @none");
}
END_TEST

START_TEST(intermediates_are_saved)
{
    VfNamedArray *array;
    size_t n;
    expect(0, "run " MODEL " --inputs @in.npz --outputs @all.npz --save-all");
    expect(0, "run " MODEL " --inputs @in.npz --outputs @some.npz");
    ck_assert_int_eq(vf_npz_read(arena, vf_tool_path(folder, "@all.npz"), &array, &n, &err),
                     VF_OK);
    ck_assert_uint_gt(n, 50);
    expect(0, "compare " MODEL " --exact --inputs @in.npz --expect @some.npz");
}
END_TEST

/* One that is listed twice is written once, and stands twice in what is converted. */
START_TEST(an_output_may_be_listed_twice)
{
    VfNamedArray *array;
    size_t n;
    vf_vft_file(vf_tool_path(folder, "@twice.onnx"),
                "graph g (x: f32[2]) -> (y: f32[2], z: f32[2], y: f32[2]) {\n"
                "    y = Relu(x)\n    z = Neg(y)\n}\n");
    expect(0, "check @twice.onnx");
    expect(0, "run @twice.onnx --random 1 --outputs @a.npz");
    expect(0, "run @twice.onnx --random 1 --outputs @b.npz --save-all");
    assert_same_file("@a.npz", "@b.npz");
    ck_assert_int_eq(vf_npz_read(arena, vf_tool_path(folder, "@a.npz"), &array, &n, &err), VF_OK);
    ck_assert_uint_eq(n, 2);
    expect(0, "convert @twice.onnx @out.onnx --check");
    expect(0, "compare @twice.onnx @out.onnx --exact");
    expect(0, "diff @twice.onnx @out.onnx");
    expect(0, "emit-c @twice.onnx -o @c");
}
END_TEST

/* A body gives one value as two results. */
START_TEST(an_output_of_a_body_may_be_listed_twice)
{
    vf_vft_file(vf_tool_path(folder, "@loop.onnx"),
                "graph g (x: f32[2], n: i64[]) -> (y: f32[2], s: f32[k, 2]) {\n"
                "    y, s = Loop(n, _, x) {body=graph b (i: i64[], c: bool[], a: f32[2]) ->\n"
                "        (d: bool[], e: f32[2], e: f32[2]) { d = Identity(c) e = Add(a, a) }}\n"
                "}\n");
    expect(0, "check @loop.onnx");
    expect(0, "run @loop.onnx --random 1 --outputs @a.npz");
    expect(0, "convert @loop.onnx @out.onnx");
    expect(0, "compare @loop.onnx @out.onnx --exact");
}
END_TEST

/* Strings come out as what another model reads; as numpy arrays they are refused. */
START_TEST(strings_go_from_model_to_model)
{
    vf_vft_file(vf_tool_path(folder, "@turn.onnx"),
                "graph g (x: string[2]) -> (y: string[2]) {\n"
                "    i = const i64[2] {1, 0}\n    y = Gather(x, i)\n}\n");
    vf_vft_file(vf_tool_path(folder, "@make.onnx"),
                "graph g () -> (x: string[2]) {\n"
                "    n = const f32[2] {2.5, -7}\n    x = Cast(n) {to=8}\n}\n");
    vf_vft_file(vf_tool_path(folder, "@read.onnx"),
                "graph g (y: string[2]) -> (z: f32[2]) {\n"
                "    z = Cast(y) {to=1}\n}\n");
    expect(0, "run @make.onnx --output-dir @made --output-format pb");
    expect(0, "run @turn.onnx -i x=@made/output_0.pb --output-dir @turned");
    expect(0, "run @read.onnx -i y=@turned/output_0.pb --outputs @z.npz");
    VfNamedArray *z;
    size_t n;
    ck_assert_int_eq(vf_npz_read(arena, vf_tool_path(folder, "@z.npz"), &z, &n, &err), VF_OK);
    ck_assert_mem_eq(z->array.data, ((float[]){-7, 2.5f}), 2 * sizeof(float));
    expect(4, "run @make.onnx --outputs @x.npz");
    expect(4, "run @make.onnx --output-dir @npy --output-format npy");
    expect(4, "emit-c @make.onnx -o @c");
    expect(4, "compare @make.onnx @make.onnx --random 1");
}
END_TEST

/* What the expectation is off by is not counted as noise of the model. */
START_TEST(an_expectation_is_off)
{
    static const int64_t dims[] = {4};
    float x[] = {1, 2, 3, 4}, want[] = {-1, -2, -3, -4.0002f};
    VfNamedArray in = {.name = vf_bytes("x")}, out = {.name = vf_bytes("y")};
    vf_vft_file(vf_tool_path(folder, "@neg.onnx"),
                "graph g (x: f32[4]) -> (y: f32[4]) { y = Neg(x) }\n");
    ck_assert_int_eq(vf_array_init(&in.array, arena, VF_F32, 1, dims, x, &err), VF_OK);
    ck_assert_int_eq(vf_array_init(&out.array, arena, VF_F32, 1, dims, want, &err), VF_OK);
    ck_assert_int_eq(vf_npz_write(vf_tool_path(folder, "@x.npz"), &in, 1, &err), VF_OK);
    ck_assert_int_eq(vf_npz_write(vf_tool_path(folder, "@y.npz"), &out, 1, &err), VF_OK);
    json_t *document = document_of("compare @neg.onnx --inputs @x.npz --expect @y.npz --json");
    json_t *row = json_array_get(json_object_get(document, "outputs"), 0);
    ck_assert_str_eq(json_string_value(json_object_get(row, "verdict")), "close");
    ck_assert(json_number_value(json_object_get(row, "noise_max_abs")) == 0);
    json_decref(document);
}
END_TEST

START_TEST(wrong_data_is_refused)
{
    expect(3, "run " MODEL " -i image=@in.raw:f32[3,1,28,28]");
    expect(2, "run " MODEL " -i image=@in.raw:f33[2,1,28,28]");
    expect(2, "run " MODEL " -i image=@in.raw");
    expect(2, "run " MODEL " -i nothing=@in.npy");
    expect(2, "run " MODEL " -i image=@in.raw:f64[1,1,28,28]");
    expect(2, "run " MODEL " -i image=@in.raw:f32[2,28,28]");
}
END_TEST

START_TEST(a_failed_delivery_leaves_nothing)
{
    size_t before = vf_temp_folder_count(folder);
    expect(6, "run " MODEL " --inputs @in.npz --outputs @no/such/a.npz");
    expect(6, "run " MODEL " --inputs @in.npz --output-dir @in.npy");
    ck_assert_uint_eq(vf_temp_folder_count(folder), before);
}
END_TEST

static Suite *make_suite(void)
{
    vf_tool_need();
    Suite *suite = suite_create("run");
    TCase *tests = tcase_create("run");
    tcase_add_checked_fixture(tests, set_up_image, tear_down_image);
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, all_ways_in_agree);
    tcase_add_test(tests, all_ways_out_agree);
    tcase_add_test(tests, test_data_folders_are_read_and_written);
    tcase_add_test(tests, intermediates_are_saved);
    tcase_add_test(tests, strings_go_from_model_to_model);
    tcase_add_test(tests, an_output_may_be_listed_twice);
    tcase_add_test(tests, an_output_of_a_body_may_be_listed_twice);
    tcase_add_test(tests, an_expectation_is_off);
    tcase_add_test(tests, wrong_data_is_refused);
    tcase_add_test(tests, a_failed_delivery_leaves_nothing);
    suite_add_tcase(suite, tests);
    return suite;
}

VF_CHECK_MAIN(make_suite)
