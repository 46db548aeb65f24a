#include "passes/match/product.h"

#include <stdio.h>

#include "passes/ir/infer.h"
#include "tests/support/check_main.h"
#include "tests/unit/ir/vft_case.h"

/* Columns: inputs a and b (and c), node that makes "y", equation found; NULL: none. Letters are
 * shown in the order of their first appearance. */
typedef struct Row {
    const char *inputs, *node, *equation;
} Row;

static const Row row[] = {
    {"a: f32[2, 3], b: f32[3, 4]", "MatMul(a, b)", "AB,BC->AC"},
    {"a: f32[5, 2, 3], b: f32[5, 3, 4]", "MatMul(a, b)", "ABC,ACD->ABD"},
    {"a: f32[6, 5, 2, 3], b: f32[5, 3, 4]", "MatMul(a, b)", "ABCD,BDE->ABCE"},
    {"a: f32[2, 3], b: f32[5, 3, 4]", "MatMul(a, b)", "AB,CBD->CAD"},
    {"a: f32[3], b: f32[5, 3, 4]", "MatMul(a, b)", "A,BAC->BC"},
    {"a: f32[5, 2, 3], b: f32[3]", "MatMul(a, b)", "ABC,C->AB"},
    {"a: f32[3], b: f32[3]", "MatMul(a, b)", "A,A->"},
    {"a: f32[3, 2], b: f32[4, 3]", "Gemm(a, b) {transA=1, transB=1}", "AB,CA->BC"},
    {"a: f32[5, 2, 3], b: f32[5, 4, 3]", "com.microsoft::FusedMatMul(a, b) {transB=1}",
     "ABC,ADC->ABD"},
    {"a: f32[2, 5, 6, 3], b: f32[4, 5, 6, 3]",
     "com.microsoft::FusedMatMul(a, b) {transBatchA=1, transBatchB=1, transB=1}",
     "ABCD,EBCD->BCAE"},
    {"a: f32[3, 5, 2], b: f32[5, 3, 4]",
     "com.microsoft::FusedMatMul(a, b) {transBatchA=1, transA=1}", "ABC,BAD->BCD"},
    {"a: f32[2, 3], b: f32[3, 4]", "Einsum(a, b) {equation=\"ij, jk -> ik\"}", "AB,BC->AC"},
    {"a: f32[2, 3], b: f32[3, 4]", "Einsum(a, b) {equation=\"ij,jk\"}", "AB,BC->AC"},
    {"a: f32[7, 2, 3], b: f32[7, 4, 3]", "Einsum(a, b) {equation=\"...ij,...kj->...ik\"}",
     "ABC,ADC->ABD"},
    {"a: f32[2, 3], b: f32[2, 4], c: f32[2]", "Einsum(a, b, c) {equation=\"bi,bj,b->bij\"}",
     "AB,AC,A->ABC"},
    {"a: f32[2, 3], b: f32[2]", "Relu(a)", NULL},
    {"a: f32[1, 1, 1, 1, 1, 1, 1, 1, 1], b: f32[1]", "MatMul(a, b)", NULL},
};

static VfModel *model_of(const Row *r)
{
    char text[512];
    snprintf(text, sizeof text,
             "model ir=8 opset=17 opset com.microsoft=1\ngraph g (%s) -> (y) {\ny = %s\n}\n",
             r->inputs, r->node);
    VfModel *model = read_vft(text);
    VfErr err = {0};
    ck_assert_msg(vf_infer_graph(model->graph, NULL, &err) == VF_OK, "%s", err.text);
    return model;
}

static char *add_letters(char *to, const int8_t *letter, int32_t n, char *name, char *next)
{
    for (int32_t i = 0; i < n; i++) {
        char *shown = &name[letter[i]];
        if (*shown == '\0')
            *shown = (*next)++;
        *to++ = *shown;
    }
    return to;
}

static void equation_of(const VfProduct *p, char *to)
{
    char name[128] = {0}, next = 'A';
    for (int32_t i = 0; i < p->n_in; i++) {
        if (i > 0)
            *to++ = ',';
        to = add_letters(to, p->letter[i], p->rank[i], name, &next);
    }
    *to++ = '-';
    *to++ = '>';
    *add_letters(to, p->out_letter, p->out_rank, name, &next) = '\0';
}

START_TEST(row_has_equation)
{
    VfModel *model = model_of(&row[_i]);
    VfProduct p;
    char text[64];
    bool is_product = vf_product_of(find_def(model, "y"), &p);
    ck_assert_msg(is_product == (row[_i].equation != NULL), "%s", row[_i].node);
    if (is_product) {
        equation_of(&p, text);
        ck_assert_msg(strcmp(text, row[_i].equation) == 0, "%s: %s", row[_i].node, text);
    }
    vf_model_free(model);
}
END_TEST

START_TEST(letters_are_found)
{
    VfModel *model = model_of(&row[1]);
    VfProduct p;
    ck_assert(vf_product_of(find_def(model, "y"), &p));
    int8_t summed = p.letter[0][2];
    ck_assert(vf_product_is_contracted(&p, summed));
    ck_assert(!vf_product_is_contracted(&p, p.letter[0][1]));
    ck_assert_int_eq(vf_product_axis(&p, 1, summed), 1);
    ck_assert_int_eq(vf_product_out_axis(&p, summed), -1);
    ck_assert_int_eq(vf_product_owner(&p, p.out_letter[2]), 1);
    ck_assert_int_eq(vf_product_n_runtime(&p), 2);
    vf_model_free(model);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("product");
    TCase *cases = tcase_create("product");
    tcase_add_loop_test(cases, row_has_equation, 0, (int)(sizeof row / sizeof row[0]));
    tcase_add_test(cases, letters_are_found);
    suite_add_tcase(suite, cases);
    return suite;
}

VF_CHECK_MAIN(make_suite)
