#include "converter/draw/parts.h"

#include <stdio.h>
#include <string.h>

#include "converter/draw/words.h"
#include "passes/ir/vft.h"

enum { NAME_COLUMNS = 30, LINE_MAX = 10, CONST_MAX = 5, SHORT_CONST = 6, ATTR_COLUMNS = 34 };

static const char times[] = "\xc3\x97", more[] = "\xe2\x80\xa6";

/* Letters for the constants of operators that have well-known ones, by operand. */
static const struct {
    const char *op;
    const char *letter[5];
} letters[] = {
    {"MatMul", {"W", "W"}},
    {"Gemm", {"A", "W", "b"}},
    {"Conv", {"x", "W", "b"}},
    {"ConvTranspose", {"x", "W", "b"}},
    {"LayerNormalization", {"x", "scale", "b"}},
    {"RMSNormalization", {"x", "scale"}},
    {"GroupNormalization", {"x", "scale", "b"}},
    {"InstanceNormalization", {"x", "scale", "b"}},
    {"BatchNormalization", {"x", "scale", "b", "mean", "var"}},
    {"Gather", {"table", "at"}},
    {"Reshape", {"x", "to"}},
    {"Expand", {"x", "to"}},
};

/* Attributes worth a line. */
static const char *const told[] = {"perm", "axis", "axes", "kernel_shape", "strides",
                                   "num_heads", "q_num_heads", "equation", "direction"};

VfStatus vf_draw_name(VfArena *arena, VfBytes name, VfBytes *out, VfErr *err)
{
    return vf_draw_short(arena, name, NAME_COLUMNS, out, err);
}

VfStatus vf_draw_type(VfArena *arena, const VfSymbols *symbols, const VfType *type, VfBytes *out,
                      VfErr *err)
{
    enum { DIM_COLUMNS = 16 };
    VfText text;
    vf_text_init(&text, arena);
    if (type->kind != VF_TYPE_TENSOR) {
        const char *whole = vf_type_text(arena, symbols, type);
        VF_TRY_ALLOC(whole, err);
        *out = (VfBytes){whole, strlen(whole)};
        return VF_OK;
    }
    if (type->rank < 0 && type->dtype == VF_UNDEFINED) {
        *out = (VfBytes){"", 0};
        return VF_OK;
    }
    for (int32_t i = 0; i < type->rank; i++) {
        const char *dim = vf_dim_text(arena, symbols, type->dims[i]);
        VfBytes cut;
        VF_TRY_ALLOC(dim, err);
        VF_TRY(vf_draw_short(arena, (VfBytes){dim, strlen(dim)}, DIM_COLUMNS, &cut, err));
        vf_text_string(&text, i == 0 ? "" : times);
        vf_text_add(&text, cut.data, cut.size);
    }
    vf_text_string(&text, type->rank < 0 ? more : type->rank == 0 ? "scalar" : "");
    if (type->dtype != VF_UNDEFINED)
        vf_text_printf(&text, " %s", vf_dtype_info(type->dtype)->name);
    return vf_text_get(&text, out, err);
}

static void put_values(VfText *text, const VfTensor *tensor)
{
    for (size_t i = 0; i < tensor->count; i++) {
        vf_text_string(text, i == 0 ? "" : " ");
        if (vf_dtype_info(tensor->dtype)->is_float)
            vf_text_printf(text, "%.6g", vf_tensor_get_double(tensor, i));
        else
            vf_text_printf(text, "%lld", (long long)vf_tensor_get_i64(tensor, i));
    }
}

static bool has_short_values(const VfTensor *tensor)
{
    const VfDtypeInfo *info = vf_dtype_info(tensor->dtype);
    bool is_number = info->bits > 0 && tensor->dtype != VF_C64 && tensor->dtype != VF_C128;
    size_t most = info->is_float ? 1 : SHORT_CONST;
    return is_number && tensor->count > 0 && tensor->count <= most;
}

static void put_letter(VfText *text, const VfNode *node, int32_t slot)
{
    for (size_t i = 0; i < sizeof letters / sizeof letters[0]; i++) {
        bool is_it = strlen(letters[i].op) == node->op_type.size && node->domain.size == 0 &&
                     memcmp(letters[i].op, node->op_type.data, node->op_type.size) == 0;
        if (is_it && slot < 5 && letters[i].letter[slot] != NULL) {
            vf_text_printf(text, "%s ", letters[i].letter[slot]);
            return;
        }
    }
}

static VfStatus const_line(VfArena *arena, const VfNode *node, int32_t slot,
                           const VfTensor *tensor, VfBytes *out, VfErr *err)
{
    VfText text;
    vf_text_init(&text, arena);
    put_letter(&text, node, slot);
    if (has_short_values(tensor)) {
        put_values(&text, tensor);
        return vf_text_get(&text, out, err);
    }
    for (int32_t i = 0; i < tensor->rank; i++)
        vf_text_printf(&text, "%s%lld", i == 0 ? "" : times, (long long)tensor->dims[i]);
    vf_text_printf(&text, "%s%s", tensor->rank == 0 ? "scalar " : " ",
                   vf_dtype_info(tensor->dtype)->name);
    return vf_text_get(&text, out, err);
}

static VfStatus add_constants(VfArena *arena, const VfNode *node, VfBytes *line, int32_t *n,
                              VfErr *err)
{
    int32_t n_const = 0, room = LINE_MAX - 1 - *n;
    int32_t most = room < CONST_MAX ? room : CONST_MAX;
    for (int32_t i = 0; i < node->n_in; i++) {
        const VfValue *value = node->in[i].value;
        if (value == NULL || value->tensor == NULL || value->kind == VF_VALUE_RESULT)
            continue;
        if (n_const++ < most)
            VF_TRY(const_line(arena, node, i, value->tensor, &line[(*n)++], err));
    }
    if (n_const > most) {
        const char *rest = vf_arena_printf(arena, "and %d more", n_const - most);
        VF_TRY_ALLOC(rest, err);
        line[(*n)++] = (VfBytes){rest, strlen(rest)};
    }
    return VF_OK;
}

/* False: nothing short to say. */
static bool put_attr(VfText *text, const VfAttr *attr)
{
    enum { INTS_MAX = 8 };
    vf_text_add(text, attr->name.data, attr->name.size);
    if (attr->type == VF_ATTR_INT)
        vf_text_printf(text, " %lld", (long long)attr->i);
    else if (attr->type == VF_ATTR_INTS && attr->n <= INTS_MAX)
        for (int32_t i = 0; i < attr->n; i++)
            vf_text_printf(text, " %lld", (long long)attr->ints[i]);
    else if (attr->type == VF_ATTR_STRING) {
        vf_text_char(text, ' ');
        vf_text_add(text, attr->s.data, attr->s.size);
    } else
        return false;
    return attr->ref.size == 0;
}

static VfStatus add_attrs(VfArena *arena, const VfNode *node, VfBytes *line, int32_t *n,
                          VfErr *err)
{
    enum { ATTR_MAX = 2 };
    int32_t n_attr = 0;
    for (const VfAttr *attr = node->first_attr; attr != NULL && n_attr < ATTR_MAX;
         attr = attr->next) {
        VfText text;
        VfBytes whole;
        bool is_told = false;
        for (size_t i = 0; i < sizeof told / sizeof told[0]; i++)
            is_told |= attr->name.size == strlen(told[i]) &&
                       memcmp(attr->name.data, told[i], attr->name.size) == 0;
        vf_text_init(&text, arena);
        if (!is_told || !put_attr(&text, attr))
            continue;
        VF_TRY(vf_text_get(&text, &whole, err));
        VF_TRY(vf_draw_short(arena, whole, ATTR_COLUMNS, &line[(*n)++], err));
        n_attr++;
    }
    return VF_OK;
}

static VfStatus operator_line(VfArena *arena, const VfNode *node, VfBytes *out, VfErr *err)
{
    VfText text;
    VfBytes whole;
    vf_text_init(&text, arena);
    if (node->domain.size > 0) {
        vf_text_add(&text, node->domain.data, node->domain.size);
        vf_text_char(&text, '.');
    }
    vf_text_add(&text, node->op_type.data, node->op_type.size);
    VF_TRY(vf_text_get(&text, &whole, err));
    return vf_draw_short(arena, whole, ATTR_COLUMNS, out, err);
}

/* The node's line in the text form; very long ones are cut. */
static VfStatus tip_of(VfArena *arena, const VfNode *node, VfBytes *out, VfErr *err)
{
    enum { TIP_BYTES = 600 };
    VfText text;
    vf_text_init(&text, arena);
    VF_TRY(vf_vft_print_node(node, &text, err));
    VF_TRY(vf_text_get(&text, out, err));
    if (out->size <= TIP_BYTES)
        return VF_OK;
    VfText cut;
    vf_text_init(&cut, arena);
    for (size_t i = 0, length; i < TIP_BYTES; i += length == 0 ? 1 : length) {
        length = vf_utf8_length(out->data + i, out->size - i);
        vf_text_add(&cut, out->data + i, length == 0 ? 1 : length);
    }
    vf_text_string(&cut, more);
    return vf_text_get(&cut, out, err);
}

VfStatus vf_draw_node_box(VfArena *arena, const VfNode *node, bool in_full, VfDrawBox *box,
                          VfErr *err)
{
    VfBytes *line = VF_NEW_ARRAY(arena, VfBytes, LINE_MAX);
    int32_t n = 1;
    VF_TRY_ALLOC(line, err);
    VF_TRY(operator_line(arena, node, &line[0], err));
    if (node->name.size > 0)
        VF_TRY(vf_draw_name(arena, node->name, &line[n++], err));
    if (in_full) {
        VF_TRY(add_attrs(arena, node, line, &n, err));
        VF_TRY(add_constants(arena, node, line, &n, err));
    }
    *box = (VfDrawBox){.n_line = n, .line = line, .tone = VF_TONE_PLAIN, .group = -1,
                       .node = node};
    return tip_of(arena, node, &box->tip, err);
}

VfStatus vf_draw_end_box(VfArena *arena, const VfModel *model, bool is_input, VfBytes name,
                         const VfType *type, VfDrawBox *box, VfErr *err)
{
    VfBytes *line = VF_NEW_ARRAY(arena, VfBytes, 3);
    int32_t n = 2;
    VF_TRY_ALLOC(line, err);
    const char *word = is_input ? "input" : "output";
    line[0] = (VfBytes){word, strlen(word)};
    VF_TRY(vf_draw_name(arena, name, &line[1], err));
    VF_TRY(vf_draw_type(arena, model->symbols, type, &line[2], err));
    n += line[2].size > 0;
    *box = (VfDrawBox){.n_line = n, .line = line, .tip = name, .tone = VF_TONE_PLAIN,
                       .group = -1, .is_end = true};
    return VF_OK;
}
