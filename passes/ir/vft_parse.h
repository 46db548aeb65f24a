/* What the files of the .vft parser share.
 *
 * What outlives parsing is made in the model's arena; lists being read are stacks in the
 * scratch arena, so nested graphs put theirs on top.
 */
#ifndef VF_IR_VFT_PARSE_H
#define VF_IR_VFT_PARSE_H

#include <locale.h>

#include "passes/ir/scope.h"
#include "passes/ir/vft.h"
#include "passes/ir/vft_lex.h"

/* The [doc=..., meta ..., raw=...] list of anything. */
typedef struct VfVftFields {
    VfBytes doc;
    VfMeta *meta;
    VfRaw raw, info, tensor;
    bool is_sparse; /* the word sparse_initializer */
} VfVftFields;

/* A value as its definition spells it. */
typedef struct VfVftDef {
    bool is_omitted; /* _ */
    bool is_label;   /* name is the digits of %N */
    VfBytes name;
    bool has_type;
    VfType type;
    VfVftFields fields;
} VfVftDef;

/* An output as the head of a graph spells it; the value is looked up when the body is read. */
typedef struct VfVftOut {
    VfBytes name, value;
    bool is_label;
    VfType type;
    VfVftFields fields;
    size_t start, line_start; /* where it stands, for messages */
    int32_t line;
} VfVftOut;

/* A number, with both readings; or a string. */
typedef struct VfVftItem {
    bool is_string, is_int;
    int64_t i;
    float f;
    VfBytes s;
} VfVftItem;

typedef struct VfVftParse {
    VfVftLex lex;
    VfModel *model;
    VfArena *scratch;
    VfScope name, label;
    locale_t locale;     /* "C": numbers do not depend on the caller's */
    size_t generated;    /* bytes made by splat and random */
    int depth;           /* of graphs */
    VfVftDef *def;
    VfVftOut *out;
    VfVftItem *item;
    VfValue **operand;
    VfDim *dim;
    size_t n_def, n_out, n_item, n_operand, n_dim;
    size_t def_capacity, out_capacity, item_capacity, operand_capacity, dim_capacity;
    VfErr *err;
} VfVftParse;

/* Make room for one more on the stack `p->what`. */
#define VF_VFT_ROOM(p, what)                                                                  \
    vf_arena_grow((p)->scratch, (void **)&(p)->what, &(p)->what##_capacity, (p)->n_##what + 1, \
                  sizeof *(p)->what, (p)->err)

/* --- data --- */
VfStatus vf_vft_parse_int(VfVftParse *p, int64_t *value);
/* A number at the token, as int if it looks like one and in any case as float. */
VfStatus vf_vft_parse_number(VfVftParse *p, VfVftItem *item);
VfStatus vf_vft_parse_type(VfVftParse *p, VfType *type);
VfStatus vf_vft_parse_tensor(VfVftParse *p, const VfTensor **tensor);
/* A word or string, copied. */
VfStatus vf_vft_parse_name(VfVftParse *p, const char *what, VfBytes *name);
/* The list in brackets if there is one. */
VfStatus vf_vft_parse_fields(VfVftParse *p, VfVftFields *fields);
/* Numbers of exact width, for tensors; `data` is filled at element `i`. */
VfStatus vf_vft_parse_element(VfVftParse *p, VfDtype dtype, void *data, size_t i);

/* --- nodes --- */
VfStatus vf_vft_parse_statement(VfVftParse *p, VfGraph *graph);
/* What follows "name = const". */
VfStatus vf_vft_parse_const(VfVftParse *p, VfGraph *graph, const VfVftDef *def);
/* Keep the raw fields of an attribute's `n` tensors, if there are any. */
VfStatus vf_vft_store_raw_tensor(VfVftParse *p, const VfRaw *raw, int32_t n, VfAttr *attr);
/* "name: type [...]" */
VfStatus vf_vft_parse_def(VfVftParse *p, VfVftDef *def);
/* Give a value made from `def` its type and fields, and bind its name. */
VfStatus vf_vft_apply_def(VfVftParse *p, const VfVftDef *def, VfValue *value);
VfStatus vf_vft_parse_attr_value(VfVftParse *p, VfNode *owner, VfAttr *attr);
/* The value of a name or label, or NULL. */
VfValue *vf_vft_find_value(const VfVftParse *p, VfBytes name, bool is_label);
/* "domain::Type:overload" */
VfStatus vf_vft_parse_operator(VfVftParse *p, VfBytes *domain, VfBytes *name, VfBytes *overload);

/* --- graphs --- */
/* Name if there is one, fields, and all the rest. */
VfStatus vf_vft_parse_graph(VfVftParse *p, VfGraph *graph);

#endif
