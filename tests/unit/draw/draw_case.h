/* What the tests of drawings share. */
#ifndef VF_TESTS_DRAW_CASE_H
#define VF_TESTS_DRAW_CASE_H

#include <libxml/parser.h>
#include <string.h>

#include "converter/draw/svg.h"
#include "passes/ir/infer.h"
#include "tests/support/arena_case.h"
#include "tests/unit/ir/vft_case.h"

/* A model with types; free it. */
static inline VfModel *typed_model(const char *text)
{
    VfErr err = {.status = VF_OK};
    VfModel *model = read_vft(text);
    ck_assert_msg(vf_infer_graph(model->graph, NULL, &err) == VF_OK, "%s", err.text);
    return model;
}

/* The finished text; the test fails if it is not well-formed XML. */
static inline const char *well_formed(const VfText *text)
{
    VfBytes out;
    VfErr err = {.status = VF_OK};
    ck_assert_int_eq(vf_text_get(text, &out, &err), VF_OK);
    xmlDoc *doc = xmlReadMemory(out.data, (int)out.size, "drawing", "UTF-8", XML_PARSE_NONET);
    ck_assert_msg(doc != NULL, "not well-formed:\n%s", out.data);
    xmlFreeDoc(doc);
    return out.data;
}

static inline const char *svg_of(const VfDrawing *drawing, VfSvgOptions options)
{
    VfText text;
    VfErr err = {.status = VF_OK};
    vf_text_init(&text, arena);
    ck_assert_msg(vf_drawing_svg(drawing, &options, &text, &err) == VF_OK, "%s", err.text);
    return well_formed(&text);
}

/* How often `word` occurs. */
static inline int count(const char *text, const char *word)
{
    int n = 0;
    for (const char *at = strstr(text, word); at != NULL; at = strstr(at + 1, word))
        n++;
    return n;
}

static inline bool has(const char *text, const char *word)
{
    return strstr(text, word) != NULL;
}

#endif
