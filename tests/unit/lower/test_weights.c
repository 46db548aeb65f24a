/* Weights that the model's file does not align: packed from where they are, copied only where a
 * kernel reads them as they are, and their pages given back once they were read.
 */
#include "runtime/base/file.h"
#include "tests/support/check_main.h"
#include "tests/support/resident.h"
#include "tests/support/temp_folder.h"
#include "tests/unit/lower/lower_case.h"

enum { SIDE = 512, BYTES = SIDE * SIDE * 4 };

static const char product[] =
    "graph g (x: f32[3, 512] = f32[3, 512] random(1)) -> (y: f32[3, 512]) {\n"
    "    w = const f32[512, 512] random(3)\n"
    "    y = MatMul(x, w)\n"
    "}\n";

/* The matrix is packed in a loop's body, and read as it is before and after it. */
static const char shared[] =
    "graph g (x: f32[512, 512] = f32[512, 512] random(1)) -> (y: f32[512, 512]) {\n"
    "    w = const f32[512, 512] random(3)\n"
    "    n = const i64[] {2}\n"
    "    a = Add(x, w)\n"
    "    b = Loop(n, _, a) {body=graph body (i: i64[], go: bool[], s: f32[512, 512]) -> (d, t) {\n"
    "        d = Identity(go)\n"
    "        p = MatMul(s, w)\n"
    "        t = Tanh(p)\n"
    "    }}\n"
    "    y = Sub(w, b)\n"
    "}\n";

static void lower_case(LowerCase *c, const char *text, bool is_moved, bool no_fuse)
{
    case_open(c, text);
    if (is_moved)
        case_misalign(c);
    VfStatus status = case_lower(c, (VfLowerOptions){.no_fuse = no_fuse}, false);
    ck_assert_msg(status == VF_OK, "%s", c->err.text);
}

static void assert_same_outputs(LowerCase *a, LowerCase *b)
{
    case_run(a, 1);
    case_run(b, 1);
    ck_assert_mem_eq(a->out[0], b->out[0], a->plan->output[0].bytes);
}

START_TEST(packing_needs_no_copy)
{
    LowerCase plain, moved;
    lower_case(&plain, product, false, false);
    lower_case(&moved, product, true, false);
    ck_assert_int_eq(moved.plan->n_weight, 1);
    ck_assert_uint_eq(vf_arena_used(moved.plan->arena), vf_arena_used(plain.plan->arena));
    assert_same_outputs(&plain, &moved);
    case_close(&plain);
    case_close(&moved);
}
END_TEST

START_TEST(kernels_read_aligned_copies)
{
    LowerCase plain, moved;
    lower_case(&plain, product, false, true);
    lower_case(&moved, product, true, true);
    ck_assert(moved.plan->weight[0].is_made);
    ck_assert_uint_eq((uintptr_t)moved.plan->weight[0].data % 4, 0);
    ck_assert_uint_ge(vf_arena_used(moved.plan->arena),
                      vf_arena_used(plain.plan->arena) + BYTES);
    assert_same_outputs(&plain, &moved);
    case_close(&plain);
    case_close(&moved);
}
END_TEST

START_TEST(a_body_may_share_a_weight)
{
    LowerCase plain, moved;
    lower_case(&plain, shared, false, _i != 0);
    lower_case(&moved, shared, true, _i != 0);
    ck_assert_int_eq(moved.plan->n_weight, _i != 0 ? 1 : 2);
    assert_same_outputs(&plain, &moved);
    case_close(&plain);
    case_close(&moved);
}
END_TEST

/* Put the matrix of the model into a file, one byte behind its begin, and map that. */
static VfTensor *map_matrix(LowerCase *c, VfMapping *file)
{
    VfValue *w = vf_graph_find_value(c->model->graph, vf_bytes("w"), false);
    VfTensor *mapped = VF_NEW(c->arena, VfTensor);
    char folder[256], path[300], *bytes = vf_arena_alloc(c->arena, BYTES + 1);
    ck_assert_uint_eq(w->tensor->bytes, BYTES);
    memcpy(bytes + 1, w->tensor->data, BYTES);
    vf_temp_folder_make(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/w", folder);
    ck_assert_int_eq(vf_file_write(path, bytes, BYTES + 1, &c->err), VF_OK);
    ck_assert_int_eq(vf_file_map(path, file, &c->err), VF_OK);
    vf_temp_folder_remove(folder);
    *mapped = *w->tensor;
    mapped->data = file->data + 1;
    mapped->storage = VF_STORAGE_FILE;
    w->tensor = mapped;
    return mapped;
}

/* Packed and copied weights leave no more than the pages around them; lent memory is left alone. */
START_TEST(pages_of_the_file_are_given_back)
{
    VfMapping file;
    LowerCase plain, mapped;
    lower_case(&plain, product, false, _i != 0);
    case_open(&mapped, product);
    VfTensor *matrix = map_matrix(&mapped, &file);
    VfLowerOptions options = {.no_fuse = _i != 0};
    ck_assert_int_eq(case_lower(&mapped, options, false), VF_OK);
    ck_assert_uint_le(vf_test_resident(file.data), BYTES / 8);
    assert_same_outputs(&plain, &mapped);
    vf_plan_free(mapped.plan);
    matrix->storage = VF_STORAGE_LENT;
    ck_assert_int_eq(case_lower(&mapped, options, false), VF_OK);
    ck_assert_uint_ge(vf_test_resident(file.data), BYTES);
    case_close(&plain);
    case_close(&mapped);
    vf_file_unmap(&file);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("lower/weights");
    TCase *tcase = tcase_create("weights");
    tcase_add_test(tcase, packing_needs_no_copy);
    tcase_add_test(tcase, kernels_read_aligned_copies);
    tcase_add_loop_test(tcase, a_body_may_share_a_weight, 0, 2);
    tcase_add_loop_test(tcase, pages_of_the_file_are_given_back, 0, 2);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
