/* Models of a few nodes for tests of the matcher. */
#ifndef VF_TESTS_BODY_CASE_H
#define VF_TESTS_BODY_CASE_H

#include <stdio.h>

#include "passes/ir/infer.h"
#include "tests/unit/ir/vft_case.h"

/* A graph with the result y, types inferred; `body` as in .vft, with ";" for the end of a line. */
static inline VfModel *model_of(const char *inputs, const char *body)
{
    char text[1024];
    snprintf(text, sizeof text, "model ir=8 opset=17\ngraph g (%s) -> (y) {\n%s\n}\n", inputs,
             body);
    for (char *c = text; *c != '\0'; c++) {
        if (*c == ';')
            *c = '\n';
    }
    VfModel *model = read_vft(text);
    VfErr err = {0};
    ck_assert_msg(vf_infer_graph(model->graph, NULL, &err) == VF_OK, "%s", err.text);
    return model;
}

#endif
