/* Models for tests, written as .vft. */
#ifndef VF_TESTS_VFT_CASE_H
#define VF_TESTS_VFT_CASE_H

#include <check.h>
#include <string.h>

#include "passes/ir/vft.h"

/* The model of a text that must be right. */
static inline VfModel *read_vft(const char *text)
{
    VfErr err = {.status = VF_OK};
    VfModel *model = NULL;
    VfStatus status = vf_vft_parse(vf_bytes(text), "case", &model, &err);
    ck_assert_msg(status == VF_OK, "%s in\n%s", err.text, text);
    return model;
}

/* The text of a model; lies in its arena. */
static inline const char *write_vft(const VfModel *model)
{
    VfErr err = {.status = VF_OK};
    VfVftStyle style = {.with_data = true};
    VfText text;
    VfBytes out;
    vf_text_init(&text, model->arena);
    ck_assert_int_eq(vf_vft_print(model, style, &text, &err), VF_OK);
    ck_assert_int_eq(vf_text_get(&text, &out, &err), VF_OK);
    ck_assert_uint_eq(strlen(out.data), out.size);
    return out.data;
}

static inline VfValue *find_value(const VfModel *model, const char *name)
{
    VfValue *value = vf_graph_find_value(model->graph, vf_bytes(name), false);
    ck_assert_msg(value != NULL, "no value '%s'", name);
    return value;
}

/* The node that makes the value. */
static inline VfNode *find_def(const VfModel *model, const char *name)
{
    VfNode *node = find_value(model, name)->def;
    ck_assert_msg(node != NULL, "no node makes '%s'", name);
    return node;
}

#endif
