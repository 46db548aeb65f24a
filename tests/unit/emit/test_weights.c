#include <math.h>
#include <string.h>

#include "converter/emit/weights.h"
#include "tests/support/arena_case.h"

static const float plain[3] = {1.0f, 0.1f, -2.5f}, same[3] = {1.0f, 0.1f, -2.5f},
                   large[2] = {3e38f, 1.0f}, special[2] = {-INFINITY, 0.5f};
static const int64_t numbers[2] = {7, -1};

#define WEIGHT(label, type, array) \
    {.name = {label, sizeof label - 1}, .dtype = type, .bytes = sizeof array, .data = array}

static VfPlanTensor weight[] = {
    WEIGHT("plain", VF_F32, plain), WEIGHT("large", VF_F32, large), WEIGHT("same", VF_F32, same),
    WEIGHT("numbers", VF_I64, numbers), WEIGHT("special", VF_F32, special),
    {.name = {"empty", 5}, .dtype = VF_F32, .bytes = 0, .data = ""},
};

enum { N = sizeof weight / sizeof weight[0] };

static VfEmitWeights lay_out(VfEmitDtype dtype)
{
    VfEmitWeights weights;
    ck_assert_int_eq(vf_emit_weights_init(&weights, weight, N, dtype, arena, NULL), VF_OK);
    return weights;
}

typedef struct Image {
    unsigned char data[1024];
    size_t size;
} Image;

static VfStatus put(void *user, const void *data, size_t size, VfErr *err)
{
    Image *image = user;
    (void)err;
    ck_assert_uint_le(image->size + size, sizeof image->data);
    memcpy(image->data + image->size, data, size);
    image->size += size;
    return VF_OK;
}

/* Aligned, stored once, and the bytes of the tensors. */
START_TEST(memory_holds_the_tensors)
{
    VfEmitWeights weights = lay_out(VF_EMIT_F32);
    Image memory = {{0}, 0}, file = {{0}, 0};
    ck_assert_int_eq(vf_emit_weights_memory(&weights, put, &memory, NULL), VF_OK);
    ck_assert_int_eq(vf_emit_weights_file(&weights, put, &file, NULL), VF_OK);
    ck_assert_uint_eq(memory.size, weights.bytes);
    ck_assert_uint_eq(file.size, memory.size);
    ck_assert_mem_eq(file.data, memory.data, file.size);
    ck_assert_int_eq(weights.weight[2].same, 0);
    ck_assert_uint_eq(weights.weight[2].offset, weights.weight[0].offset);
    ck_assert_int_eq(weights.n_stored, N - 1);
    for (int i = 0; i < N; i++) {
        ck_assert_uint_eq(weights.weight[i].offset % 64, 0);
        ck_assert(weight[i].bytes == 0 ||
                  memcmp(memory.data + weights.weight[i].offset, weight[i].data,
                         weight[i].bytes) == 0);
    }
}
END_TEST

static uint64_t fnv(const Image *image)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < image->size; i++)
        hash = (hash ^ image->data[i]) * 0x100000001b3u;
    return hash;
}

/* Narrow ones: half the bytes in the file, widened in memory; what does not fit stays. */
START_TEST(narrow_weights_are_rounded)
{
    static const VfEmitDtype dtype[] = {VF_EMIT_F16, VF_EMIT_BF16};
    static const float rounded[] = {0x1.998p-4f, 0x1.9ap-4f};
    VfEmitWeights weights = lay_out(dtype[_i]);
    Image memory = {{0}, 0}, file = {{0}, 0};
    ck_assert_int_eq(vf_emit_weights_memory(&weights, put, &memory, NULL), VF_OK);
    ck_assert_int_eq(vf_emit_weights_file(&weights, put, &file, NULL), VF_OK);
    ck_assert_uint_eq(file.size, weights.file_bytes);
    ck_assert_uint_eq(memory.size, weights.bytes);
    ck_assert_uint_eq(fnv(&memory), weights.digest);
    float first[3];
    memcpy(first, memory.data + weights.weight[0].offset, sizeof first);
    ck_assert(first[0] == 1.0f && first[1] == rounded[_i] && first[2] == -2.5f);
    ck_assert(weights.weight[0].is_narrow && !weights.weight[3].is_narrow);
    ck_assert(weights.weight[4].is_narrow);
    ck_assert_int_eq(weights.weight[1].is_narrow, dtype[_i] == VF_EMIT_BF16);
    ck_assert(weights.error >= fabs(0.1 - (double)rounded[_i]) * 0.99);
    ck_assert(weights.relative_error > 0);
}
END_TEST

START_TEST(no_weights_need_no_bytes)
{
    VfEmitWeights weights;
    ck_assert_int_eq(vf_emit_weights_init(&weights, NULL, 0, VF_EMIT_F32, arena, NULL), VF_OK);
    ck_assert_uint_eq(weights.bytes, 0);
    ck_assert_uint_eq(weights.digest, 0xcbf29ce484222325u);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("weights");
    TCase *tests = tcase_create("weights");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, memory_holds_the_tensors);
    tcase_add_loop_test(tests, narrow_weights_are_rounded, 0, 2);
    tcase_add_test(tests, no_weights_need_no_bytes);
    suite_add_tcase(suite, tests);
    return suite;
}

VF_CHECK_MAIN(make_suite)
