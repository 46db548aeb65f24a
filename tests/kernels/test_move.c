#include "tests/support/check_main.h"

#include <stdio.h>

#include "runtime/kernels/copy.h"
#include "runtime/kernels/fill.h"
#include "runtime/kernels/gather.h"
#include "runtime/kernels/where.h"
#include "runtime/kernels/scatter.h"
#include "tests/kernels/kernel_case.h"

/* Bytes 0, 1, 2, ... so that every element of any size differs from its neighbours. */
static uint8_t *numbered(size_t bytes)
{
    uint8_t *x = case_buffer(bytes);
    for (size_t i = 0; i < bytes; i++) {
        x[i] = (uint8_t)(i * 37 + i / 256);
    }
    return x;
}

static const struct Copy {
    VfkCopyParams params;
    int64_t units, n_in, n_out;
} copy[] = {
    {{0, {0}, {0}, {0}, 2, 0}, 1, 3, 1},
    {{1, {53}, {1}, {1}, 3, 0}, 1, 56, 53},
    {{1, {53}, {-1}, {1}, 52, 0}, 1, 53, 53},                    /* reversed */
    {{1, {9}, {0}, {1}, 0, 0}, 1, 1, 9},                         /* expanded */
    {{2, {37, 41}, {1, 37}, {41, 1}, 0, 0}, 37, 1517, 1517},     /* transposed */
    {{3, {3, 18, 35}, {630, 1, 18}, {630, 35, 1}, 0, 0}, 54, 1890, 1890},
    {{3, {5, 3, 7}, {7, 35, 1}, {21, 7, 1}, 0, 0}, 15, 105, 105}, /* heads */
    {{3, {2, 3, 4}, {1, 8, 2}, {12, 4, 1}, 0, 0}, 6, 24, 24},
    {{2, {3, 4}, {4, 1}, {1, 3}, 0, 0}, 3, 12, 12},              /* scattered rows */
    {{2, {3, 2}, {-4, 2}, {2, 1}, 9, 0}, 3, 12, 6},              /* sliced */
    {{2, {3, 0}, {0, 1}, {0, 1}, 0, 0}, 3, 1, 0},
};
static const char *const width[] = {"b1", "b2", "b4", "b8", "b16"};

START_TEST(test_copy)
{
    const struct Copy *k = &copy[_i];
    for (int w = 0; w < 5; w++) {
        size_t bytes = (size_t)1 << w;
        char name[32];
        snprintf(name, sizeof name, "copy_%s", width[w]);
        uint8_t *x = numbered((size_t)k->n_in * bytes);
        Case c = {name, &k->params, {x}, {(size_t)k->n_out * bytes}, k->units, 0};
        void *out[CASE_MAX_OUT];
        case_run(&c, out);
        for (int64_t i = 0; i < k->n_out; i++) {
            int64_t rest = i, from = k->params.src_offset, to = k->params.dst_offset;
            for (int64_t axis = k->params.rank - 1; axis >= 0; axis--) {
                from += rest % k->params.dim[axis] * k->params.src_stride[axis];
                to += rest % k->params.dim[axis] * k->params.dst_stride[axis];
                rest /= k->params.dim[axis];
            }
            ck_assert_mem_eq((uint8_t *)out[0] + (size_t)to * bytes, x + (size_t)from * bytes,
                             bytes);
        }
        case_free(out);
        free(x);
    }
}
END_TEST

START_TEST(test_index_copy)
{
    /* A 2 x 3 tensor reflected to 2 x 5, with one row of filling above. */
    int16_t x[] = {1, 2, 3, 4, 5, 6}, fill = 9;
    int64_t table[] = {1, 0, 1, 2, 1, VFK_INDEX_FILL, 0, 3};
    int16_t want[] = {9, 9, 9, 9, 9, 2, 1, 2, 3, 2, 5, 4, 5, 6, 5};
    VfkIndexCopyParams params = {2, {3, 5}};
    Case c = {"index_copy_b2", &params, {x, table, &fill}, {sizeof want}, 3, 0};
    void *out[CASE_MAX_OUT];
    case_run(&c, out);
    ck_assert_mem_eq(out[0], want, sizeof want);
    case_free(out);
    c.in[2] = NULL;
    memset(want, 0, 10);
    case_run(&c, out);
    ck_assert_mem_eq(out[0], want, sizeof want);
    case_free(out);
}
END_TEST

typedef struct Pair {
    uint64_t half[2];
} Pair;

/* Elements of 16 bytes are moved as wholes. */
START_TEST(test_pairs)
{
    static const Pair a = {{1, 2}}, b = {{3, 4}}, none = {{0, 0}};
    const Pair x[2] = {a, b}, pick[2] = {b, a};
    const int64_t index[2] = {1, 0}, table[3] = {1, VFK_INDEX_FILL, 0};
    const uint8_t mask[2] = {0, 1};
    VfkFillParams fill = {2};
    VfkGatherParams gather = {1, 2, 2, 1, 8};
    VfkGatherElementsParams elements = {1, {2}, {1}, 0, 2, 8};
    VfkGatherNdParams nd = {1, 2, 2, 1, {2}, {1}, 1, 8};
    VfkScatterNdParams scatter = {2, 2, 1, {2}, {1}, 1, 8, VFK_SCATTER_SET};
    VfkScatterElementsParams along = {2, 1, {2}, {1}, 0, 2, 8, VFK_SCATTER_SET};
    VfkIndexCopyParams by_table = {1, {3}};
    VfkWhereParams where = {1, {2}, {1}, {0}, {1}};
    VfkTriangleParams lower = {1, 1, 2, 0, 0};
    VfkOneHotParams hot = {1, 2, 1, 8};
    const struct {
        Case c;
        Pair want[3];
    } row[] = {
        {{"fill_b16", &fill, {&b}, {32}, 2, 0}, {b, b}},
        {{"fill_b16", &fill, {NULL}, {32}, 2, 0}, {none, none}},
        {{"gather_b16", &gather, {x, index}, {32}, 2, 0}, {b, a}},
        {{"gather_elements_b16", &elements, {x, index}, {32}, 2, 0}, {b, a}},
        {{"gather_nd_b16", &nd, {x, index}, {32}, 2, 0}, {b, a}},
        {{"scatter_nd_b16", &scatter, {x, index, x}, {32}, 1, 0}, {b, a}},
        {{"scatter_elements_b16", &along, {x, index, x}, {32}, 1, 0}, {b, a}},
        {{"index_copy_b16", &by_table, {x, table, NULL}, {48}, 1, 0}, {b, none, a}},
        {{"where_b16", &where, {mask, &x[1], pick}, {32}, 2, 0}, {b, b}},
        {{"trilu_b16", &lower, {x}, {32}, 1, 0}, {a, none}},
        {{"one_hot_b16", &hot, {index, x}, {32}, 1, 0}, {a, b}},
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        void *out[CASE_MAX_OUT];
        case_run(&row[i].c, out);
        ck_assert_msg(memcmp(out[0], row[i].want, row[i].c.out_bytes[0]) == 0, "%s",
                      row[i].c.name);
        case_free(out);
    }
}
END_TEST

START_TEST(test_made_tensors)
{
    void *out[CASE_MAX_OUT];
    int32_t value = -7, sevens[5] = {-7, -7, -7, -7, -7};
    VfkFillParams five = {5};
    Case fill = {"fill_b4", &five, {&value}, {20}, 5, 0};
    case_run(&fill, out);
    ck_assert_mem_eq(out[0], sevens, 20);
    case_free(out);
    int64_t start = 10, delta = -3, steps[5] = {10, 7, 4, 1, -2};
    Case range = {"range_i64", &five, {&start, &delta}, {40}, 5, 0};
    case_run(&range, out);
    ck_assert_mem_eq(out[0], steps, 40);
    case_free(out);
    float eye[6] = {0, 1, 0, 0, 0, 1};
    VfkTriangleParams above = {1, 2, 3, 1, 1};
    Case eyelike = {"eyelike_f32", &above, {NULL}, {24}, 2, 0};
    case_run(&eyelike, out);
    ck_assert_mem_eq(out[0], eye, 24);
    case_free(out);
    int32_t index[3] = {0, -1, 5}, onoff[2] = {1, 8};
    int32_t hot[9] = {8, 1, 1, 1, 1, 8, 1, 1, 1};
    VfkOneHotParams one_hot = {3, 3, 1, 4};
    Case hots = {"one_hot_b4", &one_hot, {index, onoff}, {36}, 3, 0};
    case_run(&hots, out);
    ck_assert_mem_eq(out[0], hot, 36);
    case_free(out);
}
END_TEST

START_TEST(test_trilu)
{
    uint8_t x[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    static const struct {
        int64_t k, upper;
        uint8_t want[12];
    } want[] = {
        {0, 1, {1, 2, 3, 0, 5, 6, 7, 8, 9, 0, 11, 12}},
        {1, 1, {0, 2, 3, 0, 0, 6, 0, 8, 9, 0, 0, 12}},
        {0, 0, {1, 0, 0, 4, 5, 0, 7, 0, 0, 10, 11, 0}},
        {-1, 0, {0, 0, 0, 4, 0, 0, 0, 0, 0, 10, 0, 0}},
        {-9, 1, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}},
    };
    VfkTriangleParams params = {2, 2, 3, want[_i].k, want[_i].upper};
    Case c = {"trilu_b1", &params, {x}, {12}, 4, 0};
    void *out[CASE_MAX_OUT];
    case_run(&c, out);
    ck_assert_mem_eq(out[0], want[_i].want, 12);
    case_in_place(&c, out[0]);
    case_free(out);
}
END_TEST

/* Indices out of range give zeros, negative ones count from the end. */
START_TEST(test_gather)
{
    int32_t x[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    int64_t wide[] = {2, -1, 0, 99, -99};
    int32_t narrow[] = {2, -1, 0, 99, -99};
    int32_t want[] = {4, 5, 4, 5, 0, 1, 0, 0, 0, 0, 10, 11, 10, 11, 6, 7, 0, 0, 0, 0};
    VfkGatherParams params = {2, 3, 5, 2, _i ? 8 : 4};
    Case c = {"gather_b4", &params, {x, _i ? (void *)wide : narrow}, {sizeof want}, 10, 0};
    void *out[CASE_MAX_OUT];
    case_run(&c, out);
    ck_assert_mem_eq(out[0], want, sizeof want);
    case_free(out);
}
END_TEST

START_TEST(test_gather_others)
{
    int32_t x[] = {0, 1, 2, 3, 4, 5};
    int64_t index[] = {1, 0, -1, 1, 0, 0};
    int32_t elements[] = {3, 1, 5, 3, 1, 2}; /* along axis 0 of 2 x 3 */
    VfkGatherElementsParams along = {2, {2, 3}, {3, 1}, 0, 2, 8};
    Case c = {"gather_elements_b4", &along, {x, index}, {24}, 6, 0};
    void *out[CASE_MAX_OUT];
    case_run(&c, out);
    ck_assert_mem_eq(out[0], elements, 24);
    case_free(out);
    int32_t tuples[] = {4, 2, 1}; /* (1,1) (0,-1) (0,1) */
    int64_t at[] = {1, 1, 0, -1, 0, 1};
    VfkGatherNdParams nd = {1, 6, 3, 2, {2, 3}, {3, 1}, 1, 8};
    Case d = {"gather_nd_b4", &nd, {x, at}, {12}, 3, 0};
    case_run(&d, out);
    ck_assert_mem_eq(out[0], tuples, 12);
    case_free(out);
    VfkGatherParams empty = {1, 0, 2, 3, 8}; /* an axis without elements */
    uint8_t zero[6] = {0};
    Case e = {"gather_b1", &empty, {x, index}, {6}, 2, 0};
    case_run(&e, out);
    ck_assert_mem_eq(out[0], zero, 6);
    case_free(out);
}
END_TEST

static const struct Scatter {
    int64_t reduction;
    float want[4];
} scatter[] = {
    {VFK_SCATTER_SET, {20, 2, 3, 30}},  {VFK_SCATTER_ADD, {31, 2, 3, 34}},
    {VFK_SCATTER_MUL, {200, 2, 3, 120}}, {VFK_SCATTER_MAX, {20, 2, 3, 30}},
    {VFK_SCATTER_MIN, {1, 2, 3, 4}},
};

/* Indices 0, 0, -1 and one outside, which is skipped. */
START_TEST(test_scatter)
{
    const struct Scatter *s = &scatter[_i];
    float data[] = {1, 2, 3, 4}, update[] = {10, 20, 30, 40};
    int64_t index[] = {0, 0, -1, 4};
    VfkScatterElementsParams elements = {4, 1, {4}, {1}, 0, 4, 8, s->reduction};
    Case c = {"scatter_elements_f32", &elements, {data, index, update}, {16}, 1, 0};
    void *out[CASE_MAX_OUT];
    case_run(&c, out);
    ck_assert_mem_eq(out[0], s->want, 16);
    case_in_place(&c, out[0]);
    case_free(out);
    VfkScatterNdParams nd = {4, 4, 1, {4}, {1}, 1, 8, s->reduction};
    Case d = {"scatter_nd_f32", &nd, {data, index, update}, {16}, 1, 0};
    case_run(&d, out);
    ck_assert_mem_eq(out[0], s->want, 16);
    case_free(out);
}
END_TEST

START_TEST(test_scatter_rows)
{
    uint16_t data[6] = {1, 2, 3, 4, 5, 6}, update[2] = {9, 8}, want[6] = {1, 2, 3, 4, 9, 8};
    int32_t index = -1;
    VfkScatterNdParams nd = {6, 1, 1, {3}, {2}, 2, 4, VFK_SCATTER_SET};
    Case c = {"scatter_nd_b2", &nd, {data, &index, update}, {12}, 1, 0};
    void *out[CASE_MAX_OUT];
    case_run(&c, out);
    ck_assert_mem_eq(out[0], want, 12);
    case_free(out);
}
END_TEST

/* What each kernel makes of 2 indices into an axis of 3, the second one outside. */
static const VfkGatherParams gather_rows = {1, 3, 2, 1, 8};
static const VfkGatherElementsParams gather_along = {1, {2}, {1}, 0, 3, 8};
static const VfkGatherNdParams gather_tuples = {1, 3, 2, 1, {3}, {1}, 1, 8};
static const VfkScatterElementsParams scatter_along = {3, 1, {2}, {1}, 0, 3, 8, VFK_SCATTER_SET};
static const VfkScatterNdParams scatter_tuples = {3, 2, 1, {3}, {1}, 1, 8, VFK_SCATTER_SET};
static const struct Outside {
    const char *name;
    const void *params;
    int64_t units;
    int32_t want[3]; /* what data 5, 6, 7 and updates 1, 2 give */
} outside[] = {
    {"gather_b4", &gather_rows, 2, {6, 0, 9}},
    {"gather_elements_b4", &gather_along, 2, {6, 0, 9}},
    {"gather_nd_b4", &gather_tuples, 2, {6, 0, 9}},
    {"scatter_elements_b4", &scatter_along, 1, {5, 1, 7}},
    {"scatter_elements_i32", &scatter_along, 1, {5, 1, 7}},
    {"scatter_nd_b4", &scatter_tuples, 1, {5, 1, 7}},
    {"scatter_nd_i32", &scatter_tuples, 1, {5, 1, 7}},
};

START_TEST(test_outside)
{
    static const int64_t bad[] = {3, -4, INT64_MAX, INT64_MIN};
    const struct Outside *row = &outside[_i];
    const VfkKernel *kernel = vfk_kernel_find(row->name, VFK_REFERENCE);
    ck_assert_uint_ne(kernel->flags & VFK_INDEXED, 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int32_t data[] = {5, 6, 7}, update[] = {1, 2}, out[] = {9, 9, 9};
        int64_t index[] = {1, bad[i]};
        VfkFault fault = {0};
        VfkArgs args = {(const void *[]){data, index, update}, (void *[]){out}, NULL, row->params,
                        0, row->units, &fault};
        kernel->fn(&args);
        ck_assert_mem_eq(out, row->want, sizeof out);
        ck_assert_int_eq(fault.is_set, 1);
        ck_assert_int_eq(fault.index, bad[i]);
        ck_assert_int_eq(fault.dim, 3);
        index[1] = -3;
        fault.is_set = 0;
        kernel->fn(&args);
        ck_assert_int_eq(fault.is_set, 0);
    }
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("kernels/move");
    case_add(suite, "copy", test_copy, (int)(sizeof copy / sizeof copy[0]));
    case_add(suite, "index copy", test_index_copy, 1);
    case_add(suite, "made", test_made_tensors, 1);
    case_add(suite, "pairs", test_pairs, 1);
    case_add(suite, "trilu", test_trilu, 5);
    case_add(suite, "gather", test_gather, 2);
    case_add(suite, "gather others", test_gather_others, 1);
    case_add(suite, "scatter", test_scatter, (int)(sizeof scatter / sizeof scatter[0]));
    case_add(suite, "scatter rows", test_scatter_rows, 1);
    case_add(suite, "outside", test_outside, (int)(sizeof outside / sizeof outside[0]));
    return suite;
}

VF_CHECK_MAIN(make_suite)
