/* Small graphs from text and back, for tests of rewrites. */
#ifndef VF_TESTS_GRAPH_TEXT_H
#define VF_TESTS_GRAPH_TEXT_H

#include <check.h>
#include <string.h>

#include "passes/ir/infer.h"
#include "passes/ir/verify.h"
#include "passes/ir/vft.h"

/* Parse, infer and verify; fails the test otherwise. */
static inline VfModel *graph_of(const char *text)
{
    VfErr err = {0};
    VfModel *model = NULL;
    VfBytes bytes = {text, strlen(text)};
    ck_assert_msg(vf_vft_parse(bytes, "test", &model, &err) == VF_OK, "%s", err.text);
    ck_assert_msg(vf_infer_graph(model->graph, NULL, &err) == VF_OK, "%s", err.text);
    ck_assert_msg(vf_verify_all(model, &err) == VF_OK, "%s", err.text);
    return model;
}

/* The model as text, in its own arena. */
static inline const char *text_of(VfModel *model)
{
    VfErr err = {0};
    VfText text;
    VfBytes out;
    VfVftStyle style = {.with_data = true};
    vf_text_init(&text, model->arena);
    ck_assert_int_eq(vf_vft_print(model, style, &text, &err), VF_OK);
    ck_assert_int_eq(vf_text_get(&text, &out, &err), VF_OK);
    return out.data;
}

static inline VfNode *node_of(const VfModel *model, const char *name)
{
    VfNode *node = vf_graph_find_node(model->graph, vf_bytes(name));
    ck_assert_msg(node != NULL, "no node '%s'", name);
    return node;
}

static inline VfValue *value_of(const VfModel *model, const char *name)
{
    VfValue *value = vf_graph_find_value(model->graph, vf_bytes(name), false);
    ck_assert_msg(value != NULL, "no value '%s'", name);
    return value;
}

#endif
