/* One row of an inference test: operator, attributes, operands, results, all as text.
 *
 *   op     "Reshape" (opset 17), "Softmax/11", "com.microsoft::Gelu" (opset 1)
 *   attrs  "axis=1 perm=[0,2,1] mode='wrap' alpha=0.5"
 *   in     operands joined by "; ": "f32[batch, 197, 192]" a type, "f32[...]" unknown rank, "-"
 * omitted, "i64{0, -1, heads}" a vector of known contents, "i64(3)" a scalar; "seq(f32[2])" a
 * sequence out    results in the same form, as vf_type_text writes types, with contents after them:
 *          "i64[3]{batch, 3, 224}"; "invalid" for each result when VF_INVALID
 */
#ifndef VF_TESTS_UNIT_IR_INFER_CASE_H
#define VF_TESTS_UNIT_IR_INFER_CASE_H

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "passes/ir/attr.h"
#include "passes/ir/infer.h"
#include "runtime/base/text.h"

typedef struct InferCase {
    const char *op, *attrs, *in, *out;
} InferCase;

enum { INFER_CASE_MAX = 16, INFER_LIST_MAX = 70 };

static inline VfBytes infer_trim(const char *begin, const char *end)
{
    while (begin < end && *begin == ' ')
        begin++;
    while (end > begin && end[-1] == ' ')
        end--;
    return (VfBytes){begin, (size_t)(end - begin)};
}

static inline VfDim infer_dim(VfModel *model, VfBytes text)
{
    char *word = vf_arena_copy(model->arena, text.data, text.size), *rest;
    long long n = strtoll(word, &rest, 10);
    if (*rest == '\0')
        return vf_dim(n);
    return strcmp(word, "?") == 0 ? vf_dim_unknown() : vf_dim_from_text(model->symbols, text);
}

/* Comma-separated dims between brackets. */
static inline int32_t infer_dims(VfModel *model, const char *begin, const char *end, VfDim *dims)
{
    int32_t n = 0;
    while (begin < end) {
        const char *comma = memchr(begin, ',', (size_t)(end - begin));
        const char *stop = comma ? comma : end;
        dims[n++] = infer_dim(model, infer_trim(begin, stop));
        begin = stop + 1;
    }
    return n;
}

static inline void infer_contents(VfModel *model, VfFact *fact, VfBytes body, bool is_scalar)
{
    VfDim *dims = VF_NEW_ARRAY(model->arena, VfDim, INFER_LIST_MAX);
    int64_t length;
    void *data;
    VfTensor *tensor;
    if (vf_dtype_info(fact->type.dtype)->is_float) {
        double value[INFER_LIST_MAX];
        int32_t n = 0;
        char *at = vf_arena_copy(model->arena, body.data, body.size);
        for (char *next; *at != '\0'; at = *next == ',' ? next + 1 : next)
            value[n++] = strtod(at, &next);
        length = n;
        vf_tensor_new(model->arena, fact->type.dtype, is_scalar ? 0 : 1, &length, &tensor, &data,
                      NULL);
        for (int32_t i = 0; i < n; i++)
            vf_tensor_put_double(data, fact->type.dtype, (size_t)i, value[i]);
        fact->tensor = tensor;
    } else {
        fact->n_content = infer_dims(model, body.data, body.data + body.size, dims);
        fact->content = dims;
        length = fact->n_content;
    }
    VfDim *shape = VF_NEW(model->arena, VfDim);
    *shape = vf_dim(length);
    fact->type.rank = is_scalar ? 0 : 1;
    fact->type.dims = is_scalar ? NULL : shape;
}

/* NULL for "-". */
static inline VfFact *infer_fact(VfModel *model, VfBytes text)
{
    VfFact *fact = VF_NEW(model->arena, VfFact);
    if (text.size == 1 && text.data[0] == '-')
        return NULL;
    fact->type.rank = VF_RANK_UNKNOWN;
    if (text.size > 4 && memcmp(text.data, "seq(", 4) == 0) {
        fact->type.kind = VF_TYPE_SEQUENCE;
        text = (VfBytes){text.data + 4, text.size - 5};
    }
    const char *end = text.data + text.size;
    size_t size = 0;
    while (size < text.size && strchr("[{(", text.data[size]) == NULL)
        size++;
    const char *name = vf_arena_copy(model->arena, text.data, size);
    fact->type.dtype = strcmp(name, "?") == 0 ? VF_UNDEFINED : vf_dtype_from_name(name);
    VfBytes body = infer_trim(text.data + size + 1, end - 1);
    if (text.data[size] == '[' && !(body.size == 3 && memcmp(body.data, "...", 3) == 0)) {
        VfDim *dims = VF_NEW_ARRAY(model->arena, VfDim, INFER_LIST_MAX);
        fact->type.rank = infer_dims(model, body.data, body.data + body.size, dims);
        fact->type.dims = fact->type.rank > 0 ? dims : NULL;
    } else if (text.data[size] != '[') {
        infer_contents(model, fact, body, text.data[size] == '(');
    }
    return fact;
}

static inline int32_t infer_operands(VfModel *model, const char *text, const VfFact **in)
{
    int32_t n = 0;
    while (*text != '\0') {
        const char *stop = strchr(text, ';');
        const char *end = stop ? stop : text + strlen(text);
        in[n++] = infer_fact(model, infer_trim(text, end));
        text = stop ? stop + 1 : end;
    }
    return n;
}

static inline void infer_set_attr(VfNode *node, const char *name, const char *value)
{
    char *rest;
    if (value[0] == '\'') {
        char *text = vf_arena_copy(node->graph->model->arena, value + 1, strlen(value) - 2);
        ck_assert_int_eq(vf_node_set_string(node, name, text, NULL), VF_OK);
    } else if (value[0] == '[') {
        int64_t list[INFER_LIST_MAX];
        int32_t n = 0;
        for (const char *at = value + 1; *at != '\0' && *at != ']';
             at = *rest == ',' ? rest + 1 : rest)
            list[n++] = strtoll(at, &rest, 10);
        ck_assert_int_eq(vf_node_set_ints(node, name, n, list, NULL), VF_OK);
    } else if (strchr(value, '.') != NULL) {
        ck_assert_int_eq(vf_node_set_float(node, name, strtof(value, NULL), NULL), VF_OK);
    } else {
        ck_assert_int_eq(vf_node_set_int(node, name, strtoll(value, NULL, 10), NULL), VF_OK);
    }
}

static inline void infer_set_attrs(VfNode *node, const char *attrs)
{
    char *copy = vf_arena_string(node->graph->model->arena, attrs), *state;
    for (char *word = strtok_r(copy, " ", &state); word; word = strtok_r(NULL, " ", &state)) {
        char *value = strchr(word, '=');
        ck_assert_ptr_nonnull(value);
        *value = '\0';
        infer_set_attr(node, word, value + 1);
    }
}

static inline void infer_print(VfModel *model, VfText *text, const VfFact *fact)
{
    vf_text_string(text, vf_type_text(model->arena, model->symbols, &fact->type));
    for (int32_t i = 0; fact->content && i < fact->n_content; i++)
        vf_text_printf(text, "%s%s", i == 0 ? "{" : ", ",
                       vf_dim_text(model->arena, model->symbols, fact->content[i]));
    if (fact->content)
        vf_text_string(text, fact->n_content == 0 ? "{}" : "}");
}

static inline int32_t infer_count_results(const char *out)
{
    int32_t n = 1;
    for (; *out != '\0'; out++)
        n += *out == ';';
    return n;
}

static inline VfNode *infer_node(VfModel *model, const InferCase *row, int32_t n_in,
                                 const VfFact *const *in)
{
    VfValue *operand[INFER_CASE_MAX] = {NULL};
    VfBytes names[INFER_CASE_MAX];
    for (int32_t i = 0; i < n_in; i++)
        if (in[i])
            operand[i] = vf_graph_add_input(model->graph, vf_bytes(""), in[i]->type);
    for (int32_t i = 0; i < INFER_CASE_MAX; i++)
        names[i] = vf_bytes("r");
    const char *colons = strstr(row->op, "::"), *name = colons ? colons + 2 : row->op;
    VfBytes domain = {row->op, colons ? (size_t)(colons - row->op) : 0};
    const char *slash = strchr(name, '/');
    VfOpset *opset = VF_NEW(model->arena, VfOpset);
    *opset = (VfOpset){domain, slash ? atoi(slash + 1) : colons ? 1 : 17};
    model->opset = opset;
    model->n_opset = 1;
    VfBytes op = {name, slash ? (size_t)(slash - name) : strlen(name)};
    VfNode *node = vf_node_new(model->graph, domain, op, n_in, operand,
                               infer_count_results(row->out), names);
    ck_assert_ptr_nonnull(node);
    infer_set_attrs(node, row->attrs);
    return node;
}

static inline void infer_check(const InferCase *row)
{
    VfModel *model = vf_model_new();
    const VfFact *in[INFER_CASE_MAX];
    VfFact out[INFER_CASE_MAX];
    VfErr err = {0};
    VfText text;
    int32_t n_in = infer_operands(model, row->in, in);
    VfNode *node = infer_node(model, row, n_in, in);
    VfStatus status = vf_infer_node(model->arena, model->symbols, node, in, out, &err);
    vf_text_init(&text, model->arena);
    if (status == VF_INVALID) {
        for (int32_t i = 0; i < node->n_out; i++)
            vf_text_string(&text, i > 0 ? "; invalid" : "invalid");
        ck_assert_msg(strstr(err.text, vf_node_label(node)) != NULL, "no node in '%s'", err.text);
    } else {
        ck_assert_int_eq(status, VF_OK);
        for (int32_t i = 0; i < node->n_out; i++) {
            vf_text_string(&text, i > 0 ? "; " : "");
            infer_print(model, &text, &out[i]);
        }
    }
    ck_assert_msg(strcmp(text.data, row->out) == 0, "%s %s (%s): got %s (%s), not %s", row->op,
                  row->attrs, row->in, text.data, err.text, row->out);
    vf_model_free(model);
}

#endif
