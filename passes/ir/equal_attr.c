#include <string.h>

#include "passes/ir/equal_private.h"

bool vf_equal_raw(VfRaw a, VfRaw b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

bool vf_equal_meta(const VfMeta *a, const VfMeta *b)
{
    while (a != NULL && b != NULL && vf_bytes_is_equal(a->key, b->key) &&
           vf_bytes_is_equal(a->value, b->value)) {
        a = a->next;
        b = b->next;
    }
    return a == NULL && b == NULL;
}

/* --- types --- */

static bool is_dim_equal(const VfEqual *eq, VfDim a, VfDim b)
{
    if (a.k != b.k)
        return false;
    if (a.sym <= VF_SYM_ONE || b.sym <= VF_SYM_ONE)
        return a.sym == b.sym;
    return vf_bytes_is_equal(vf_symbol_text(eq->a->symbols, a.sym),
                             vf_symbol_text(eq->b->symbols, b.sym));
}

VfStatus vf_equal_type(const VfEqual *eq, const VfType *a, const VfType *b, const char *owner)
{
    bool same = a->kind == b->kind && a->dtype == b->dtype && a->rank == b->rank;
    for (int32_t i = 0; same && i < a->rank; i++)
        same = is_dim_equal(eq, a->dims[i], b->dims[i]);
    return same ? VF_OK : vf_fail(eq->why, VF_DIFFERS, "types of '%s' differ", owner);
}

/* --- attributes --- */

static bool is_raw_tensor_equal(const VfAttr *a, const VfAttr *b, int32_t i)
{
    VfRaw none = {NULL, 0};
    return vf_equal_raw(a->raw_tensor != NULL ? a->raw_tensor[i] : none,
                        b->raw_tensor != NULL ? b->raw_tensor[i] : none);
}

static bool is_tensor_equal(const VfTensor *a, const VfTensor *b)
{
    return a == NULL || b == NULL ? a == b : vf_tensor_is_equal(a, b);
}

/* Items of a list of floats are compared by bits: a NaN equals itself. */
static bool is_list_equal(const VfAttr *a, const VfAttr *b)
{
    size_t n = (size_t)a->n;
    if (a->n != b->n || n == 0)
        return a->n == b->n;
    if (a->type == VF_ATTR_FLOATS)
        return memcmp(a->floats, b->floats, n * sizeof *a->floats) == 0;
    if (a->type == VF_ATTR_INTS)
        return memcmp(a->ints, b->ints, n * sizeof *a->ints) == 0;
    for (int32_t i = 0; a->type == VF_ATTR_STRINGS && i < a->n; i++) {
        if (!vf_bytes_is_equal(a->strings[i], b->strings[i]))
            return false;
    }
    for (int32_t i = 0; a->type == VF_ATTR_TENSORS && i < a->n; i++) {
        if (!is_tensor_equal(a->tensors[i], b->tensors[i]) || !is_raw_tensor_equal(a, b, i))
            return false;
    }
    return true;
}

static bool is_payload_equal(const VfAttr *a, const VfAttr *b)
{
    switch (a->type) {
    case VF_ATTR_FLOAT:
        return memcmp(&a->f, &b->f, sizeof a->f) == 0;
    case VF_ATTR_INT:
        return a->i == b->i;
    case VF_ATTR_STRING:
        return vf_bytes_is_equal(a->s, b->s);
    case VF_ATTR_TENSOR:
        return is_tensor_equal(a->tensor, b->tensor) && is_raw_tensor_equal(a, b, 0);
    default:
        return is_list_equal(a, b);
    }
}

static VfStatus compare_graphs(const VfEqual *eq, const VfAttr *a, const VfAttr *b)
{
    if (a->type == VF_ATTR_GRAPH)
        return vf_equal_graph(eq, a->graph, b->graph);
    for (int32_t i = 0; a->type == VF_ATTR_GRAPHS && i < a->n; i++)
        VF_TRY(vf_equal_graph(eq, a->graphs[i], b->graphs[i]));
    return VF_OK;
}

VfStatus vf_equal_attrs(const VfEqual *eq, const VfAttr *a, const VfAttr *b, const char *owner)
{
    for (; a != NULL && b != NULL; a = a->next, b = b->next) {
        bool same = vf_bytes_is_equal(a->name, b->name) && a->type == b->type &&
                    vf_bytes_is_equal(a->ref, b->ref) && vf_bytes_is_equal(a->doc, b->doc) &&
                    vf_equal_raw(a->raw, b->raw);
        bool has_value = a->ref.size == 0;
        if (!same || (has_value && !is_payload_equal(a, b)))
            return vf_fail(eq->why, VF_DIFFERS, "attribute '%.*s' of '%s' differs",
                           (int)a->name.size, a->name.data, owner);
        if (has_value)
            VF_TRY(compare_graphs(eq, a, b));
    }
    if (a != NULL || b != NULL)
        return vf_fail(eq->why, VF_DIFFERS, "'%s' has more attributes on one side", owner);
    return VF_OK;
}
