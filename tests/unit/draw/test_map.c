#include "converter/draw/map.h"

#include "tests/unit/draw/draw_case.h"

static VfModel *model;

static void close_model(void)
{
    vf_model_free(model);
    model = NULL;
    tear_down();
}

/* Every MatMul is a site, and every Softmax, which counts as attention. */
static VfDrawSheet map_of(const char *text)
{
    VfErr err = {.status = VF_OK};
    VfDrawSheet sheet;
    model = typed_model(text);
    size_t n = (size_t)model->n_node_id;
    int32_t *site_of = VF_NEW_ARRAY(arena, int32_t, n);
    VfMapSite *site = VF_NEW_ARRAY(arena, VfMapSite, n);
    VfBytes *line = VF_NEW_ARRAY(arena, VfBytes, 2);
    int32_t n_site = 0;
    line[0] = vf_bytes("linear");
    line[1] = vf_bytes("attention");
    for (size_t i = 0; i < n; i++)
        site_of[i] = -1;
    for (VfNode *node = model->graph->first_node; node != NULL; node = node->next) {
        bool is_attention = node->op == VF_OP_SOFTMAX;
        if (node->op != VF_OP_MATMUL && !is_attention)
            continue;
        site_of[node->id] = n_site;
        site[n_site++] = (VfMapSite){is_attention ? VF_TONE_SOFTMAX : VF_TONE_PRODUCT, 1,
                                     &line[is_attention], {NULL, 0}};
    }
    VfMapAsk ask = {.title = vf_bytes("map"), .graph = model->graph, .n_site = n_site,
                    .site = site, .site_of = site_of};
    ck_assert_msg(vf_map_sheet(arena, &ask, &sheet, &err) == VF_OK, "%s", err.text);
    return sheet;
}

static int32_t n_box(const VfDrawSheet *sheet)
{
    int32_t n = 0;
    for (int32_t i = 0; i < sheet->n_row; i++)
        n += sheet->row[i].drawing->n_box;
    return n;
}

static const char *row_label(const VfDrawSheet *sheet, int32_t i)
{
    return vf_arena_copy(arena, sheet->row[i].label.data, sheet->row[i].label.size);
}

/* One block of attention and two layers, from x<i> to x<i + 1>. */
static void put_block(VfText *text, int i, bool has_names)
{
    char name[4][64] = {"", "", "", ""};
    for (int k = 0; k < 4 && has_names; k++)
        snprintf(name[k], sizeof name[k], " @/blocks.%d/part%d/fc", i, k);
    vf_text_printf(text,
                   "  q%d = MatMul(x%d, w)%s\n  s%d = Softmax(q%d) {axis=-1}%s\n"
                   "  r%d = Reshape(s%d, to)\n  p%d = MatMul(r%d, w)%s\n  m%d = Add(x%d, p%d)\n",
                   i, i, name[0], i, i, name[1], i, i, i, i, name[2], i, i, i);
    vf_text_printf(text,
                   "  f%d = MatMul(m%d, w)%s\n  g%d = Relu(f%d)\n  h%d = MatMul(g%d, w)\n"
                   "  x%d = Add(m%d, h%d)\n", i, i, name[3], i, i, i, i, i + 1, i, i);
}

static const char *net(int n, bool has_names)
{
    VfText text;
    vf_text_init(&text, arena);
    vf_text_string(&text, "graph main (in: f32[1, 4, 8]) -> (out: f32[1, 4, 8]) {\n"
                          "  w = const f32[8, 8] random(1)\n"
                          "  to = const i64[3] {1, 4, 8}\n  x0 = MatMul(in, w) @/embed/fc\n");
    for (int i = 0; i < n; i++)
        put_block(&text, i, has_names);
    vf_text_printf(&text, "  out = MatMul(x%d, w) @/head/fc\n}\n", n);
    return text.data;
}

START_TEST(test_blocks)
{
    for (int has_names = 0; has_names < 2; has_names++) {
        VfDrawSheet sheet = map_of(net(3, has_names));
        ck_assert_int_eq(sheet.n_row, 5);
        ck_assert_str_eq(row_label(&sheet, 0), "stem");
        ck_assert_str_eq(row_label(&sheet, 2), has_names ? "blocks.1" : "block 1");
        ck_assert_str_eq(row_label(&sheet, 4), "head");
        /* entry, linear, attention, linear, +, linear, linear, + */
        ck_assert_int_eq(sheet.row[1].drawing->n_box, 8);
        VfText text;
        vf_text_init(&text, arena);
        VfSvgOptions options = {.is_document = true, .has_legend = true};
        ck_assert_int_eq(vf_sheet_svg(&sheet, &options, &text, NULL), VF_OK);
        const char *svg = well_formed(&text);
        ck_assert_int_eq(count(svg, "class=\"row\""), 5);
        ck_assert(has(svg, "id=\"d-n20\""));
        ck_assert(!has(svg, ">Reshape</text>"));
        vf_model_free(model);
        model = NULL;
    }
}
END_TEST

/* Blocks that look alike are drawn once when all would be too many. */
START_TEST(test_many_blocks)
{
    VfDrawSheet sheet = map_of(net(200, true));
    ck_assert_int_eq(sheet.n_row, 3);
    ck_assert_msg(has(sheet.row[1].note.data, "200\xc3\x97, to blocks.199"), "%s",
                  sheet.row[1].note.data);
}
END_TEST

/* Of a graph without blocks, and of one of very many rows, there is a map too. */
START_TEST(test_no_blocks)
{
    enum { N = 2000 };
    VfText text;
    vf_text_init(&text, arena);
    vf_text_string(&text, "graph main (v0: f32[8, 8]) -> (y: f32[8, 8]) {\n"
                          "  w = const f32[8, 8] random(1)\n");
    for (int i = 0; i < N; i++)
        vf_text_printf(&text, i % 3 == 0 || i % 7 == 0 ? "  v%d = MatMul(v%d, w)\n"
                                                       : "  v%d = Softmax(v%d)\n", i + 1, i);
    vf_text_printf(&text, "  y = Neg(v%d)\n}\n", N);
    VfDrawSheet sheet = map_of(text.data);
    ck_assert_int_gt(sheet.n_row, 1);
    ck_assert_int_le(n_box(&sheet), VF_MAP_BOX_MAX);
}
END_TEST

START_TEST(test_stages)
{
    VfDrawSheet sheet = map_of(
        "graph main (x: f32[1, 16, 8]) -> (y: f32[1, 4, 8]) {\n"
        "  w = const f32[8, 8] random(1)\n  u = const f32[32, 8] random(2)\n"
        "  to = const i64[3] {1, 4, 32}\n"
        "  e = MatMul(x, w)\n  a = MatMul(e, w)\n  b = Add(e, a)\n"
        "  r = Reshape(b, to)\n  d = MatMul(r, u)\n"
        "  f = MatMul(d, w)\n  g = Add(d, f)\n  y = MatMul(g, w)\n}\n");
    ck_assert_int_eq(sheet.n_row, 5);
    ck_assert(has(sheet.row[1].heading.data, "stage 1 \xc2\xb7 16\xc3\x97" "8"));
    ck_assert_str_eq(row_label(&sheet, 2), "transition");
    ck_assert(has(sheet.row[2].heading.data, "stage 2 \xc2\xb7 4\xc3\x97" "8"));
    ck_assert_uint_eq(sheet.row[3].heading.size, 0);
}
END_TEST

/* Shapes worked out at run time are not drawn; rolls join what they roll. */
START_TEST(test_left_out)
{
    VfDrawSheet sheet = map_of(
        "graph main (x: f32[n, 4, 8]) -> (y: f32[n, 32]) {\n"
        "  w = const f32[8, 8] random(1)\n  m = const i64[1] {-1}\n  z = const i64[1] {0}\n"
        "  i = const i64[] {0}\n  lo = const i64[1] {1}\n  hi = const i64[1] {9}\n"
        "  one = const i64[1] {1}\n"
        "  a = MatMul(x, w)\n  s = Shape(a)\n  g = Gather(s, i)\n  us = Unsqueeze(g, z)\n"
        "  to = Concat(us, m) {axis=0}\n"
        "  p = Slice(a, lo, hi, one)\n  q = Slice(a, z, lo, one)\n  c = Concat(p, q) {axis=1}\n"
        "  y = Reshape(c, to)\n}\n");
    ck_assert_int_eq(sheet.n_row, 1);
    ck_assert_int_eq(sheet.row[0].drawing->n_box, 3); /* input, linear, output */
    ck_assert_int_eq(sheet.row[0].drawing->n_arrow, 2);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("draw/map");
    TCase *tcase = tcase_create("map");
    tcase_add_checked_fixture(tcase, set_up, close_model);
    tcase_add_test(tcase, test_blocks);
    tcase_add_test(tcase, test_many_blocks);
    tcase_add_test(tcase, test_no_blocks);
    tcase_add_test(tcase, test_stages);
    tcase_add_test(tcase, test_left_out);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
