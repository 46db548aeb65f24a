#include <string.h>

#include "passes/ir/vft_parse.h"
#include "passes/ir/vft_print.h"

/* --- values --- */

VfValue *vf_vft_find_value(const VfVftParse *p, VfBytes name, bool is_label)
{
    return vf_scope_find(is_label ? &p->label : &p->name, name);
}

VfStatus vf_vft_parse_def(VfVftParse *p, VfVftDef *def)
{
    *def = (VfVftDef){.is_omitted = vf_vft_is_word(&p->lex, "_"),
                      .is_label = p->lex.kind == VF_VFT_LABEL,
                      .type = {.rank = VF_RANK_UNKNOWN}};
    if (def->is_omitted)
        return vf_vft_next(&p->lex);
    if (def->is_label)
        VF_TRY(vf_vft_expect(&p->lex, VF_VFT_LABEL, "a name", &def->name));
    else
        VF_TRY(vf_vft_parse_name(p, "a name", &def->name));
    VF_TRY(vf_vft_accept_char(&p->lex, ':', &def->has_type));
    if (def->has_type)
        VF_TRY(vf_vft_parse_type(p, &def->type));
    return vf_vft_parse_fields(p, &def->fields);
}

VfStatus vf_vft_apply_def(VfVftParse *p, const VfVftDef *def, VfValue *value)
{
    VfValue *earlier = NULL;
    if (def->has_type)
        value->type = def->type;
    value->is_declared = def->has_type;
    value->doc = def->fields.doc;
    value->meta = def->fields.meta;
    value->raw_info = def->fields.info;
    value->raw_tensor = def->fields.tensor;
    VF_TRY(vf_scope_bind(def->is_label ? &p->label : &p->name, def->name, value, &earlier, p->err));
    if (earlier != NULL)
        return vf_vft_fail(&p->lex, "name '%s' is defined twice in one graph",
                           vf_value_label(value));
    return VF_OK;
}

/* The name a value is made with: none if it is a label. */
static VfBytes made_name(const VfVftDef *def)
{
    if (def->is_omitted)
        return (VfBytes){NULL, 0};
    return def->is_label ? (VfBytes){"", 0} : def->name;
}

static VfStatus parse_operand(VfVftParse *p, VfValue **value)
{
    bool is_omitted, is_label = p->lex.kind == VF_VFT_LABEL;
    VfVftLex at = p->lex;
    VfBytes name;
    VF_TRY(vf_vft_accept_word(&p->lex, "_", &is_omitted));
    *value = NULL;
    if (is_omitted)
        return VF_OK;
    VfVftKind kind = at.kind == VF_VFT_STRING || is_label ? at.kind : VF_VFT_WORD;
    VF_TRY(vf_vft_expect(&p->lex, kind, "an operand", &name));
    *value = vf_vft_find_value(p, name, is_label);
    if (*value == NULL)
        return vf_vft_fail(&at, "no value is named '%.*s' here", (int)name.size, name.data);
    return VF_OK;
}

static VfStatus parse_operands(VfVftParse *p)
{
    bool more;
    p->n_operand = 0;
    VF_TRY(vf_vft_expect_char(&p->lex, '('));
    VF_TRY(vf_vft_accept_char(&p->lex, ')', &more));
    for (more = !more; more;) {
        VF_TRY(VF_VFT_ROOM(p, operand));
        VF_TRY(parse_operand(p, &p->operand[p->n_operand++]));
        VF_TRY(vf_vft_accept_char(&p->lex, ',', &more));
        if (!more)
            VF_TRY(vf_vft_expect_char(&p->lex, ')'));
    }
    return VF_OK;
}

/* --- operators --- */

/* A word "domain::Type" in its two parts. */
static bool split_word(VfBytes word, VfBytes *domain, VfBytes *name)
{
    for (size_t i = word.size; i-- > 1;) {
        if (word.data[i] != ':')
            continue;
        *domain = (VfBytes){word.data, i - 1};
        *name = (VfBytes){word.data + i + 1, word.size - i - 1};
        return true;
    }
    return false;
}

VfStatus vf_vft_parse_operator(VfVftParse *p, VfBytes *domain, VfBytes *name, VfBytes *overload)
{
    bool is_word = p->lex.kind == VF_VFT_WORD, has_overload;
    VfBytes first;
    *domain = *overload = (VfBytes){"", 0};
    VF_TRY(vf_vft_expect(&p->lex, is_word ? VF_VFT_WORD : VF_VFT_STRING, "an operator", &first));
    if (p->lex.kind == VF_VFT_SCOPE) {
        VF_TRY(vf_vft_next(&p->lex));
        *domain = first;
        VF_TRY(vf_vft_parse_name(p, "an operator", name));
    } else if (!is_word || !split_word(first, domain, name)) {
        *name = first;
    }
    VF_TRY(vf_vft_accept_char(&p->lex, ':', &has_overload));
    return has_overload ? vf_vft_parse_name(p, "an overload", overload) : VF_OK;
}

/* --- statements --- */

/* The definitions before '=', on the stack from `*first`. */
static VfStatus parse_results(VfVftParse *p)
{
    bool more, is_none;
    VF_TRY(vf_vft_accept_char(&p->lex, '(', &is_none));
    if (is_none)
        VF_TRY(vf_vft_expect_char(&p->lex, ')'));
    for (more = !is_none; more;) {
        VfVftDef def;
        VF_TRY(vf_vft_parse_def(p, &def));
        VF_TRY(VF_VFT_ROOM(p, def));
        p->def[p->n_def++] = def;
        VF_TRY(vf_vft_accept_char(&p->lex, ',', &more));
    }
    return vf_vft_expect_char(&p->lex, '=');
}

static VfStatus parse_attrs(VfVftParse *p, VfNode *node)
{
    bool more;
    VfAttr **end = &node->first_attr;
    VF_TRY(vf_vft_accept_char(&p->lex, '{', &more));
    if (!more)
        return VF_OK;
    VF_TRY(vf_vft_accept_char(&p->lex, '}', &more));
    for (more = !more; more;) {
        VfAttr *attr = VF_NEW(p->model->arena, VfAttr);
        VF_TRY_ALLOC(attr, p->err);
        VF_TRY(vf_vft_parse_name(p, "an attribute", &attr->name));
        VF_TRY(vf_vft_expect_char(&p->lex, '='));
        VF_TRY(vf_vft_parse_attr_value(p, node, attr));
        *end = attr;
        end = &attr->next;
        VF_TRY(vf_vft_accept_char(&p->lex, ',', &more));
        if (!more)
            VF_TRY(vf_vft_expect_char(&p->lex, '}'));
    }
    return VF_OK;
}

static VfStatus parse_tail(VfVftParse *p, VfNode *node)
{
    VfVftFields fields;
    bool found;
    VF_TRY(parse_attrs(p, node));
    VF_TRY(vf_vft_accept_char(&p->lex, '@', &found));
    if (found)
        VF_TRY(vf_vft_parse_name(p, "the name of a node", &node->name));
    VF_TRY(vf_vft_parse_fields(p, &fields));
    node->doc = fields.doc;
    node->meta = fields.meta;
    node->raw = fields.raw;
    node->is_sparse_initializer = fields.is_sparse;
    return VF_OK;
}

/* A node with the operands on the stack and results for the definitions from `first`. */
static VfStatus make_node(VfVftParse *p, VfGraph *graph, size_t first, VfNode **node)
{
    VfBytes domain, name, overload;
    size_t n = p->n_def - first;
    VfBytes *out_name = VF_NEW_ARRAY(p->scratch, VfBytes, n);
    VF_TRY_ALLOC(out_name, p->err);
    for (size_t i = 0; i < n; i++)
        out_name[i] = made_name(&p->def[first + i]);
    VF_TRY(vf_vft_parse_operator(p, &domain, &name, &overload));
    VF_TRY(parse_operands(p));
    *node =
        vf_node_new(graph, domain, name, (int32_t)p->n_operand, p->operand, (int32_t)n, out_name);
    VF_TRY_ALLOC(*node, p->err);
    return overload.size != 0 ? vf_node_set_overload(*node, overload, p->err) : VF_OK;
}

static VfStatus parse_node(VfVftParse *p, VfGraph *graph, size_t first)
{
    VfNode *node = NULL;
    VF_TRY(make_node(p, graph, first, &node));
    VF_TRY(parse_tail(p, node));
    vf_node_link(node, NULL);
    for (int32_t i = 0; i < node->n_out; i++) {
        if (node->out[i] != NULL)
            VF_TRY(vf_vft_apply_def(p, &p->def[first + (size_t)i], node->out[i]));
    }
    return VF_OK;
}

VfStatus vf_vft_parse_statement(VfVftParse *p, VfGraph *graph)
{
    size_t first = p->n_def;
    bool is_const;
    VF_TRY(parse_results(p));
    VF_TRY(vf_vft_accept_word(&p->lex, "const", &is_const));
    if (!is_const)
        VF_TRY(parse_node(p, graph, first));
    else if (p->n_def == first + 1 && !p->def[first].is_omitted)
        VF_TRY(vf_vft_parse_const(p, graph, &p->def[first]));
    else
        return vf_vft_fail(&p->lex, "a constant needs one name");
    p->n_def = first;
    return VF_OK;
}
