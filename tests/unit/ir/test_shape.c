#include "passes/ir/shape.h"

#include <string.h>

#include "runtime/base/intern.h"
#include "tests/support/check_main.h"

static VfArena *arena;
static VfSymbols *symbols;

static void set_up(void)
{
    arena = vf_arena_new();
    symbols = vf_symbols_new(arena);
    ck_assert_ptr_nonnull(symbols);
}

static void tear_down(void)
{
    vf_arena_free(arena);
}

static VfDim sym(const char *name)
{
    return (VfDim){1, vf_symbol_intern(symbols, vf_bytes(name))};
}

/* An expression in prefix form: operators + - * /, names of one letter, numbers, ? unknown. */
static VfDim evaluate(const char **at)
{
    while (**at == ' ')
        (*at)++;
    char c = *(*at)++;
    if (strchr("+-*/", c) != NULL) {
        VfDim a = evaluate(at), b = evaluate(at);
        return c == '+'   ? vf_dim_add(symbols, a, b)
               : c == '-' ? vf_dim_sub(symbols, a, b)
               : c == '*' ? vf_dim_mul(symbols, a, b)
                          : vf_dim_div(symbols, a, b);
    }
    if (c == '?')
        return vf_dim_unknown();
    if (c < '0' || c > '9')
        return sym((char[]){c, '\0'});
    int64_t k = c - '0';
    while (**at >= '0' && **at <= '9')
        k = k * 10 + (*(*at)++ - '0');
    return vf_dim(k);
}

/* expression, its text */
static const char *const expression_case[][2] = {
    {"+ 3 4", "7"},
    {"- 3 4", "-1"},
    {"/ 7 2", "3"},
    {"/ - 0 7 2", "-4"},
    {"+ h 0", "h"},
    {"* h 1", "h"},
    {"* h 0", "0"},
    {"* 0 ?", "0"},
    {"* 12 b", "12*b"},
    {"* b 12", "12*b"},
    {"* b h", "b*h"},
    {"* h b", "h*b"},
    {"+ h h", "2*h"},
    {"- h h", "0"},
    {"- + h w h", "w"},
    {"+ h 31", "h+31"},
    {"- h 1", "h-1"},
    {"- + h 31 30", "h+1"},
    {"/ + h 31 32", "(h+31)/32"},
    {"* 2 / + h 31 32", "2*((h+31)/32)"},
    {"/ * 32 h 32", "h"},
    {"/ * 12 h 8", "(3*h)/2"},
    {"/ * b h h", "b"},
    {"/ * b h * h b", "1"},
    {"/ + * 32 h 5 32", "h"},
    {"/ + * 32 h 37 32", "h+1"},
    {"/ / h 2 3", "h/6"},
    {"+ * 2 h * 2 w", "2*(h+w)"},
    {"- * 2 + h w * 2 w", "2*h"},
    {"/ h 0", "?"},
    {"/ h w", "h/w"},
    {"+ ? 1", "?"},
    {"- ? ?", "?"},
    {"* 9223372036854775807 * 2 h", "?"},
    {"+ 9223372036854775807 1", "?"},
    {"* - 0 1 h", "-1*h"},
};

START_TEST(expressions_have_one_text)
{
    const char *at = expression_case[_i][0];
    VfDim dim = evaluate(&at);
    ck_assert_str_eq(vf_dim_text(arena, symbols, dim), expression_case[_i][1]);
}
END_TEST

/* Expressions that must be the same dim. */
static const char *const same_case[][2] = {
    {"* b h", "* h b"},
    {"+ h w", "+ w h"},
    {"* * a b c", "* c * a b"},
    {"+ + a b c", "+ c + b a"},
    {"* 2 + a b", "+ * 2 a * 2 b"},
    {"/ + h 31 32", "/ + 31 h 32"},
    {"- + h 1 1", "h"},
    {"* / * 4 h 2 3", "* 6 h"},
};

START_TEST(equal_expressions_are_one_symbol)
{
    (void)sym("a");
    (void)sym("b");
    const char *x = same_case[_i][0], *y = same_case[_i][1];
    ck_assert(vf_dim_is_same(evaluate(&x), evaluate(&y)));
}
END_TEST

START_TEST(unknown_equals_nothing)
{
    ck_assert(!vf_dim_is_same(vf_dim_unknown(), vf_dim_unknown()));
    ck_assert(!vf_dim_is_same(vf_dim(1), vf_dim_unknown()));
    ck_assert(vf_dim_is_same(vf_dim(0), (VfDim){0, VF_SYM_UNKNOWN}));
    ck_assert(!vf_dim_is_same(sym("h"), sym("w")));
}
END_TEST

/* text of a dim_param, factor, symbol */
static const struct {
    const char *text;
    int64_t k;
    const char *symbol;
} text_case[] = {
    {"batch", 1, "batch"},       {"12*batch", 12, "batch"}, {"2*(h+w)", 2, "h+w"},
    {"1*batch", 1, "1*batch"},   {"012*b", 1, "012*b"},     {"12*", 1, "12*"},
    {"*b", 1, "*b"},             {"7", 1, "7"},             {"99999999999999999999*b", 1,
                                                             "99999999999999999999*b"},
};

START_TEST(texts_of_files_become_dims)
{
    VfDim dim = vf_dim_from_text(symbols, vf_bytes(text_case[_i].text));
    ck_assert_int_eq(dim.k, text_case[_i].k);
    ck_assert_str_eq(vf_symbol_text(symbols, dim.sym).data, text_case[_i].symbol);
    ck_assert_str_eq(vf_dim_text(arena, symbols, dim), text_case[_i].text);
}
END_TEST

START_TEST(a_name_of_a_file_takes_part_in_arithmetic)
{
    VfDim from_file = sym("h+31");
    ck_assert(vf_dim_is_same(from_file, vf_dim_add(symbols, sym("h"), vf_dim(31))));
    ck_assert(vf_dim_is_same(vf_dim_sub(symbols, from_file, vf_dim(31)), sym("h")));
    ck_assert_int_eq(vf_symbol_intern(symbols, vf_bytes("")), VF_SYM_UNKNOWN);
}
END_TEST

START_TEST(expressions_that_grow_too_long_are_unknown)
{
    VfDim sum = vf_dim(0), product = vf_dim(1);
    for (int i = 0; i < 40; i++) {
        char name[] = {(char)('A' + i % 26), (char)('a' + i / 26), '\0'};
        sum = vf_dim_add(symbols, sum, sym(name));
        product = vf_dim_mul(symbols, product, sym(name));
    }
    ck_assert_int_eq(sum.sym, VF_SYM_UNKNOWN);
    ck_assert_int_eq(product.sym, VF_SYM_UNKNOWN);
}
END_TEST

START_TEST(types_have_a_text)
{
    VfDim dims[] = {sym("batch"), vf_dim(3), vf_dim_unknown()};
    VfType type = {VF_TYPE_TENSOR, VF_F32, 3, dims};
    ck_assert_str_eq(vf_type_text(arena, symbols, &type), "f32[batch, 3, ?]");
    type.kind = VF_TYPE_SEQUENCE;
    type.rank = VF_RANK_UNKNOWN;
    ck_assert_str_eq(vf_type_text(arena, symbols, &type), "seq(f32[...])");
}
END_TEST

START_TEST(types_contradict_only_where_provable)
{
    VfDim a[] = {sym("batch"), vf_dim(3)}, b[] = {vf_dim(2), vf_dim(3)},
          c[] = {vf_dim(2), vf_dim(4)};
    VfType x = {VF_TYPE_TENSOR, VF_F32, 2, a}, y = {VF_TYPE_TENSOR, VF_F32, 2, b};
    VfType z = {VF_TYPE_TENSOR, VF_F32, 2, c}, w = {VF_TYPE_TENSOR, VF_F64, 2, b};
    VfType open = {VF_TYPE_TENSOR, VF_UNDEFINED, VF_RANK_UNKNOWN, NULL};
    VfType vector = {VF_TYPE_TENSOR, VF_F32, 1, b};
    ck_assert(vf_type_is_compatible(&x, &y));
    ck_assert(!vf_type_is_compatible(&x, &z));
    ck_assert(!vf_type_is_compatible(&y, &w));
    ck_assert(!vf_type_is_compatible(&y, &vector));
    ck_assert(vf_type_is_compatible(&open, &w));
    ck_assert(vf_type_is_static(&y) && !vf_type_is_static(&x) && !vf_type_is_static(&open));
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("shape");
    TCase *tcase = tcase_create("shape");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, expressions_have_one_text, 0,
                        sizeof expression_case / sizeof expression_case[0]);
    tcase_add_loop_test(tcase, equal_expressions_are_one_symbol, 0,
                        sizeof same_case / sizeof same_case[0]);
    tcase_add_test(tcase, unknown_equals_nothing);
    tcase_add_loop_test(tcase, texts_of_files_become_dims, 0,
                        sizeof text_case / sizeof text_case[0]);
    tcase_add_test(tcase, a_name_of_a_file_takes_part_in_arithmetic);
    tcase_add_test(tcase, expressions_that_grow_too_long_are_unknown);
    tcase_add_test(tcase, types_have_a_text);
    tcase_add_test(tcase, types_contradict_only_where_provable);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
