#include "passes/ir/shape.h"

#include "passes/ir/symbols.h"
#include "runtime/base/text.h"

/* Operands of an operation in a text are put in brackets unless they are plain names. */
static bool is_plain(VfBytes text)
{
    for (size_t i = 0; i < text.size; i++) {
        char c = text.data[i];
        bool is_name = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!is_name && c != '_' && c != '.')
            return false;
    }
    return text.size != 0;
}

void vf_symbol_add_operand(VfText *text, VfBytes operand)
{
    bool plain = is_plain(operand);
    vf_text_string(text, plain ? "" : "(");
    vf_text_add(text, operand.data, operand.size);
    vf_text_string(text, plain ? "" : ")");
}

static bool is_product(const VfSymbols *symbols, int32_t sym)
{
    return vf_symbol_get(symbols, sym)->kind == VF_SYMBOL_PRODUCT;
}

static void add_dim(VfText *text, const VfSymbols *symbols, VfDim d)
{
    VfBytes name = vf_symbol_text(symbols, d.sym);
    if (vf_dim_is_known(d)) {
        vf_text_printf(text, "%lld", (long long)d.k);
    } else if (d.k == 1 || d.sym == VF_SYM_UNKNOWN) {
        vf_text_add(text, name.data, name.size);
    } else {
        vf_text_printf(text, "%lld*", (long long)d.k);
        if (is_product(symbols, d.sym))
            vf_text_add(text, name.data, name.size);
        else
            vf_symbol_add_operand(text, name);
    }
}

const char *vf_dim_text(VfArena *arena, const VfSymbols *symbols, VfDim d)
{
    VfText text;
    VfBytes out;
    vf_text_init(&text, arena);
    add_dim(&text, symbols, d);
    return vf_text_get(&text, &out, NULL) == VF_OK ? out.data : NULL;
}

static void add_tensor(VfText *text, const VfSymbols *symbols, const VfType *type)
{
    vf_text_string(text, type->dtype == VF_UNDEFINED ? "?" : vf_dtype_info(type->dtype)->name);
    if (type->rank == VF_RANK_UNKNOWN) {
        vf_text_string(text, "[...]");
        return;
    }
    vf_text_char(text, '[');
    for (int32_t i = 0; i < type->rank; i++) {
        if (i > 0)
            vf_text_string(text, ", ");
        add_dim(text, symbols, type->dims[i]);
    }
    vf_text_char(text, ']');
}

const char *vf_type_text(VfArena *arena, const VfSymbols *symbols, const VfType *type)
{
    VfText text;
    VfBytes out;
    vf_text_init(&text, arena);
    if (type->kind == VF_TYPE_OTHER) {
        vf_text_string(&text, "other");
    } else if (type->kind == VF_TYPE_TENSOR) {
        add_tensor(&text, symbols, type);
    } else {
        vf_text_string(&text, type->kind == VF_TYPE_SEQUENCE ? "seq(" : "optional(");
        add_tensor(&text, symbols, type);
        vf_text_char(&text, ')');
    }
    return vf_text_get(&text, &out, NULL) == VF_OK ? out.data : NULL;
}

static bool is_dim_compatible(VfDim a, VfDim b)
{
    return !vf_dim_is_known(a) || !vf_dim_is_known(b) || a.k == b.k;
}

static bool says_nothing(const VfType *type)
{
    return type->kind == VF_TYPE_TENSOR && type->dtype == VF_UNDEFINED &&
           type->rank == VF_RANK_UNKNOWN;
}

bool vf_type_is_compatible(const VfType *a, const VfType *b)
{
    if (says_nothing(a) || says_nothing(b))
        return true;
    if (a->kind != b->kind)
        return false;
    if (a->dtype != VF_UNDEFINED && b->dtype != VF_UNDEFINED && a->dtype != b->dtype)
        return false;
    if (a->rank == VF_RANK_UNKNOWN || b->rank == VF_RANK_UNKNOWN)
        return true;
    if (a->rank != b->rank)
        return false;
    for (int32_t i = 0; i < a->rank; i++) {
        if (!is_dim_compatible(a->dims[i], b->dims[i]))
            return false;
    }
    return true;
}

bool vf_type_is_equal(const VfType *a, const VfType *b)
{
    if (a->kind != b->kind || a->dtype != b->dtype || a->rank != b->rank)
        return false;
    for (int32_t i = 0; i < a->rank; i++)
        if (a->dims[i].k != b->dims[i].k || a->dims[i].sym != b->dims[i].sym)
            return false;
    return true;
}

bool vf_type_is_static(const VfType *type)
{
    if (type->rank == VF_RANK_UNKNOWN)
        return false;
    for (int32_t i = 0; i < type->rank; i++) {
        if (!vf_dim_is_known(type->dims[i]))
            return false;
    }
    return true;
}

bool vf_type_has_same_dims(const VfType *a, const VfType *b)
{
    if (a->rank < 0 || a->rank != b->rank)
        return false;
    for (int32_t i = 0; i < a->rank; i++) {
        if (!vf_dim_is_same(a->dims[i], b->dims[i]))
            return false;
    }
    return true;
}
