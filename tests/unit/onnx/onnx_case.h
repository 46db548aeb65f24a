/* Small ONNX models made in a test, whole or broken on purpose. */
#ifndef VF_TESTS_ONNX_CASE_H
#define VF_TESTS_ONNX_CASE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/onnx/emit.h"
#include "converter/onnx/export.h"
#include "converter/onnx/import.h"
#include "runtime/base/file.h"
#include "runtime/base/intern.h"

/* A model of a graph written as text: names are separated by blanks. */
typedef struct GraphCase {
    const char *inputs, *outputs; /* inputs are f32, those named is_... bool */
    const char *nodes;        /* "Add x w>y Relu y>z": operator, operands, '>', results */
    const char *initializers; /* float scalars */
    const char *domain;       /* of the nodes, or NULL */
    int64_t ir, opset;        /* 0: 8 and 17; -1: left out */
} GraphCase;

/* The next word of `*text`, up to a blank or '>'; empty at its end. */
static inline VfBytes next_word(const char **text)
{
    const char *at = *text == NULL ? "" : *text;
    while (*at == ' ')
        at++;
    size_t n = strcspn(at, " >");
    *text = at + n;
    return (VfBytes){at, n};
}

static inline void emit_names(VfEmit *emit, uint32_t field, const char *names)
{
    for (VfBytes name = next_word(&names); name.size > 0; name = next_word(&names)) {
        VfEmitMark mark = vf_emit_begin(emit, field);
        vf_emit_bytes(emit, 1, name);
        vf_emit_end(emit, mark);
    }
}

static inline void emit_inputs(VfEmit *emit, const char *names)
{
    for (VfBytes name = next_word(&names); name.size > 0; name = next_word(&names)) {
        VfEmitMark mark = vf_emit_begin(emit, 11);
        vf_emit_bytes(emit, 1, name);
        VfEmitMark type = vf_emit_begin(emit, 2), tensor = vf_emit_begin(emit, 1);
        bool is_bool = name.size > 3 && memcmp(name.data, "is_", 3) == 0;
        vf_emit_int(emit, 1, is_bool ? VF_BOOL : VF_F32);
        vf_emit_end(emit, tensor);
        vf_emit_end(emit, type);
        vf_emit_end(emit, mark);
    }
}

/* Operands go until '>', results until a word that begins an operator (a capital letter). */
static inline void emit_nodes(VfEmit *emit, const GraphCase *graph)
{
    const char *at = graph->nodes;
    for (VfBytes op = next_word(&at); op.size > 0; op = next_word(&at)) {
        VfEmitMark mark = vf_emit_begin(emit, 1);
        while (*at != '>')
            vf_emit_bytes(emit, 1, next_word(&at));
        for (at++; *at != '\0' && !(at[strspn(at, " ")] >= 'A' && at[strspn(at, " ")] <= 'Z');)
            vf_emit_bytes(emit, 2, next_word(&at));
        vf_emit_bytes(emit, 4, op);
        if (graph->domain != NULL)
            vf_emit_bytes(emit, 7, vf_bytes(graph->domain));
        vf_emit_end(emit, mark);
    }
}

static inline void emit_scalars(VfEmit *emit, const char *names)
{
    for (VfBytes name = next_word(&names); name.size > 0; name = next_word(&names)) {
        VfEmitMark mark = vf_emit_begin(emit, 5);
        vf_emit_int(emit, 2, VF_F32);
        vf_emit_bytes(emit, 8, name);
        vf_emit_bytes(emit, 9, (VfBytes){"\0\0\200\77", 4});
        vf_emit_end(emit, mark);
    }
}

static inline void emit_opset(VfEmit *emit, const char *domain, int64_t version)
{
    VfEmitMark mark = vf_emit_begin(emit, 8);
    vf_emit_some_bytes(emit, 1, vf_bytes(domain));
    vf_emit_int(emit, 2, version);
    vf_emit_end(emit, mark);
}

/* The bytes of a model in `arena`; `more` are further fields of the graph. */
static inline VfBytes make_model(VfArena *arena, const GraphCase *graph, VfBytes more)
{
    VfEmit emit;
    VfBytes out = {NULL, 0};
    vf_emit_init(&emit, arena);
    if (graph->ir >= 0)
        vf_emit_int(&emit, 1, graph->ir == 0 ? 8 : graph->ir);
    VfEmitMark mark = vf_emit_begin(&emit, 7);
    emit_nodes(&emit, graph);
    emit_scalars(&emit, graph->initializers);
    emit_inputs(&emit, graph->inputs);
    emit_names(&emit, 12, graph->outputs);
    vf_emit_fields(&emit, more.data, more.size);
    vf_emit_end(&emit, mark);
    if (graph->opset >= 0)
        emit_opset(&emit, "", graph->opset == 0 ? 17 : graph->opset);
    vf_emit_flatten(&emit, arena, &out, NULL);
    return out;
}

/* PATH below the sources, or NAME in FOLDER. The result is overwritten by the next call. */
static inline const char *source_path(const char *path)
{
    static char text[4096];
    const char *root = getenv("VITFOLD_SOURCE");
    snprintf(text, sizeof text, "%s/%s", root == NULL ? "." : root, path);
    return text;
}

static inline bool has_text(const char *text, const char *part)
{
    return strstr(text, part) != NULL;
}

#endif
