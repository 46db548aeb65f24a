/* Models changed as messages are messages again, of another content most of the time. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "onnx.pb-c.h"
#include "tests/support/check_main.h"
#include "tests/support/mutate_message.h"

enum { BYTES_MAX = 1 << 16, N_SEED = 3000 };

static size_t read_model(uint8_t *data)
{
    char path[1000];
    const char *source = getenv("VITFOLD_SOURCE");
    snprintf(path, sizeof path, "%s/tests/fuzz/seeds/onnx/loop.onnx", source ? source : ".");
    FILE *file = fopen(path, "rb");
    ck_assert_ptr_nonnull(file);
    size_t size = fread(data, 1, BYTES_MAX, file);
    fclose(file);
    return size;
}

static bool is_model(size_t size, const uint8_t *data)
{
    Onnx__ModelProto *model = onnx__model_proto__unpack(NULL, size, data);
    bool is_one = model != NULL;
    if (is_one)
        onnx__model_proto__free_unpacked(model, NULL);
    return is_one;
}

START_TEST(test_stays_a_model)
{
    static uint8_t model[BYTES_MAX], data[BYTES_MAX];
    size_t size = read_model(model);
    int n_changed = 0, n_done = 0;
    for (unsigned seed = 0; seed < N_SEED; seed++) {
        memcpy(data, model, size);
        size_t n = vf_mutate_message(&onnx__model_proto__descriptor, data, size, BYTES_MAX, seed);
        n_done += n > 0;
        n_changed += n > 0 && (n != size || memcmp(data, model, size) != 0);
        ck_assert_msg(n == 0 || is_model(n, data), "seed %u makes no model", seed);
    }
    ck_assert_int_gt(n_done, N_SEED * 9 / 10);
    ck_assert_int_gt(n_changed, N_SEED / 2);
}
END_TEST

/* One after the other, in little room: whatever comes, it is a model or nothing. */
START_TEST(test_wanders)
{
    static uint8_t data[BYTES_MAX];
    size_t size = read_model(data), room = 2 * size;
    for (unsigned seed = 0; seed < N_SEED; seed++) {
        size_t n = vf_mutate_message(&onnx__model_proto__descriptor, data, size, room, seed);
        ck_assert(n <= room);
        if (n > 0)
            size = n;
        ck_assert_msg(is_model(size, data), "seed %u makes no model", seed);
    }
}
END_TEST

START_TEST(test_no_model)
{
    uint8_t data[] = {0xff, 0xff, 0xff};
    ck_assert_uint_eq(vf_mutate_message(&onnx__model_proto__descriptor, data, 3, 3, 1), 0);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("fuzz/mutate");
    TCase *tcase = tcase_create("mutate");
    tcase_add_test(tcase, test_stays_a_model);
    tcase_add_test(tcase, test_wanders);
    tcase_add_test(tcase, test_no_model);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
