#include <string.h>

#include "passes/ir/vft_parse.h"

/* --- graphs --- */

static VfStatus parse_input(VfVftParse *p, VfGraph *graph)
{
    VfVftDef def;
    bool has_default;
    VF_TRY(vf_vft_parse_def(p, &def));
    if (def.is_omitted)
        return vf_vft_fail(&p->lex, "an input needs a name");
    VfValue *value =
        vf_graph_add_input(graph, def.is_label ? (VfBytes){"", 0} : def.name, def.type);
    VF_TRY_ALLOC(value, p->err);
    VF_TRY(vf_vft_apply_def(p, &def, value));
    VF_TRY(vf_vft_accept_char(&p->lex, '=', &has_default));
    return has_default ? vf_vft_parse_tensor(p, &value->tensor) : VF_OK;
}

static VfStatus parse_inputs(VfVftParse *p, VfGraph *graph)
{
    bool more;
    VF_TRY(vf_vft_expect_char(&p->lex, '('));
    VF_TRY(vf_vft_accept_char(&p->lex, ')', &more));
    for (more = !more; more;) {
        VF_TRY(parse_input(p, graph));
        VF_TRY(vf_vft_accept_char(&p->lex, ',', &more));
        if (!more)
            VF_TRY(vf_vft_expect_char(&p->lex, ')'));
    }
    return VF_OK;
}

/* "name = value: type"; without "= value" the value has the name of the output. */
static VfStatus parse_output(VfVftParse *p, VfVftOut *out)
{
    bool found;
    *out = (VfVftOut){.type = {.rank = VF_RANK_UNKNOWN}, .start = p->lex.start,
                      .line_start = p->lex.line_start, .line = p->lex.line};
    VF_TRY(vf_vft_parse_name(p, "the name of an output", &out->name));
    out->value = out->name;
    VF_TRY(vf_vft_accept_char(&p->lex, '=', &found));
    out->is_label = found && p->lex.kind == VF_VFT_LABEL;
    if (out->is_label)
        VF_TRY(vf_vft_expect(&p->lex, VF_VFT_LABEL, "a value", &out->value));
    else if (found && vf_vft_is_word(&p->lex, "_"))
        return vf_vft_fail(&p->lex, "an output must be a value");
    else if (found)
        VF_TRY(vf_vft_parse_name(p, "a value", &out->value));
    VF_TRY(vf_vft_accept_char(&p->lex, ':', &found));
    if (found)
        VF_TRY(vf_vft_parse_type(p, &out->type));
    return vf_vft_parse_fields(p, &out->fields);
}

static VfStatus parse_outputs(VfVftParse *p)
{
    bool more;
    VF_TRY(vf_vft_expect(&p->lex, VF_VFT_ARROW, "'->'", NULL));
    VF_TRY(vf_vft_expect_char(&p->lex, '('));
    VF_TRY(vf_vft_accept_char(&p->lex, ')', &more));
    for (more = !more; more;) {
        VfVftOut out;
        VF_TRY(parse_output(p, &out));
        VF_TRY(VF_VFT_ROOM(p, out));
        p->out[p->n_out++] = out;
        VF_TRY(vf_vft_accept_char(&p->lex, ',', &more));
        if (!more)
            VF_TRY(vf_vft_expect_char(&p->lex, ')'));
    }
    return VF_OK;
}

/* The list of outputs declares a value of the same name that has no type of its own. */
static void declare(const VfGraph *graph, const VfVftOut *out, VfValue *value)
{
    bool is_known = out->type.kind != VF_TYPE_TENSOR || out->type.dtype != VF_UNDEFINED ||
                    out->type.rank != VF_RANK_UNKNOWN;
    if (!is_known || value->is_declared || value->graph != graph ||
        !vf_bytes_is_equal(value->name, out->name))
        return;
    value->is_declared = true;
    if (value->kind != VF_VALUE_CONST)
        value->type = out->type;
}

static VfStatus find_output(VfVftParse *p, const VfGraph *graph, const VfVftOut *out,
                            VfValue **value)
{
    VfVftLex at = p->lex;
    at.start = out->start;
    at.line_start = out->line_start;
    at.line = out->line;
    *value = vf_vft_find_value(p, out->value, out->is_label);
    if (*value == NULL)
        return vf_vft_fail(&at, "output '%.*s' is no value of the graph", (int)out->value.size,
                           out->value.data);
    declare(graph, out, *value);
    return VF_OK;
}

static VfStatus set_output_info(VfVftParse *p, VfGraph *graph, size_t first)
{
    size_t n = p->n_out - first;
    bool has_any = false;
    VfOutputInfo *info = VF_NEW_ARRAY(p->model->arena, VfOutputInfo, n);
    VF_TRY_ALLOC(info, p->err);
    for (size_t i = 0; i < n; i++) {
        const VfVftFields *fields = &p->out[first + i].fields;
        info[i] = (VfOutputInfo){fields->doc, fields->meta, fields->info};
        has_any =
            has_any || fields->doc.size != 0 || fields->meta != NULL || fields->info.size != 0;
    }
    graph->output_info = has_any ? info : NULL;
    return VF_OK;
}

static VfStatus set_outputs(VfVftParse *p, VfGraph *graph, size_t first)
{
    size_t n = p->n_out - first;
    VfValue **value = VF_NEW_ARRAY(p->scratch, VfValue *, n);
    VfBytes *name = VF_NEW_ARRAY(p->scratch, VfBytes, n);
    VfType *type = VF_NEW_ARRAY(p->scratch, VfType, n);
    VF_TRY_ALLOC(value, p->err);
    VF_TRY_ALLOC(name, p->err);
    VF_TRY_ALLOC(type, p->err);
    for (size_t i = 0; i < n; i++) {
        const VfVftOut *out = &p->out[first + i];
        VF_TRY(find_output(p, graph, out, &value[i]));
        name[i] = out->name;
        type[i] = out->type;
    }
    VF_TRY(vf_graph_set_outputs(graph, (int32_t)n, value, name, type, p->err));
    return set_output_info(p, graph, first);
}

static VfStatus parse_rest(VfVftParse *p, VfGraph *graph)
{
    size_t first = p->n_out;
    bool is_end;
    VF_TRY(parse_inputs(p, graph));
    VF_TRY(parse_outputs(p));
    VF_TRY(vf_vft_expect_char(&p->lex, '{'));
    VF_TRY(vf_vft_accept_char(&p->lex, '}', &is_end));
    while (!is_end) {
        VF_TRY(vf_vft_parse_statement(p, graph));
        VF_TRY(vf_vft_accept_char(&p->lex, '}', &is_end));
    }
    VF_TRY(set_outputs(p, graph, first));
    p->n_out = first;
    return VF_OK;
}

static VfStatus parse_scoped(VfVftParse *p, VfGraph *graph)
{
    if (++p->depth > VF_GRAPH_DEPTH_MAX)
        return vf_vft_fail(&p->lex, "graphs are nested more than %d deep", (int)VF_GRAPH_DEPTH_MAX);
    size_t name = vf_scope_enter(&p->name), label = vf_scope_enter(&p->label);
    VF_TRY(parse_rest(p, graph));
    vf_scope_leave(&p->name, name);
    vf_scope_leave(&p->label, label);
    p->depth--;
    return VF_OK;
}

VfStatus vf_vft_parse_graph(VfVftParse *p, VfGraph *graph)
{
    VfVftFields fields;
    graph->name = (VfBytes){"", 0};
    if (p->lex.kind == VF_VFT_WORD || p->lex.kind == VF_VFT_STRING)
        VF_TRY(vf_vft_parse_name(p, "the name of a graph", &graph->name));
    VF_TRY(vf_vft_parse_fields(p, &fields));
    graph->doc = fields.doc;
    graph->meta = fields.meta;
    graph->raw = fields.raw;
    return parse_scoped(p, graph);
}

/* --- functions --- */

/* What is read one by one; copied once its number is known. */
typedef struct Growing {
    VfOpset *opset;
    VfBytes *attr;
    size_t n_opset, opset_capacity, n_attr, attr_capacity;
} Growing;

/* "=17" or "com.microsoft=1"; the token is after "opset". */
static VfStatus parse_opset(VfVftParse *p, Growing *list)
{
    VfOpset opset = {{"", 0}, 0};
    if (!vf_vft_is_char(&p->lex, '='))
        VF_TRY(vf_vft_parse_name(p, "a domain", &opset.domain));
    VF_TRY(vf_vft_expect_char(&p->lex, '='));
    VF_TRY(vf_vft_parse_int(p, &opset.version));
    VF_TRY(vf_arena_grow(p->model->arena, (void **)&list->opset, &list->opset_capacity,
                         list->n_opset + 1, sizeof opset, p->err));
    list->opset[list->n_opset++] = opset;
    return VF_OK;
}

/* "alpha" or "alpha=1.0"; the token is after "attr". */
static VfStatus parse_formal_attr(VfVftParse *p, Growing *list, VfAttr ***end)
{
    VfBytes name;
    bool has_default;
    VF_TRY(vf_vft_parse_name(p, "an attribute", &name));
    VF_TRY(vf_vft_accept_char(&p->lex, '=', &has_default));
    if (has_default) {
        VfAttr *attr = VF_NEW(p->model->arena, VfAttr);
        VF_TRY_ALLOC(attr, p->err);
        attr->name = name;
        **end = attr;
        *end = &attr->next;
        return vf_vft_parse_attr_value(p, NULL, attr);
    }
    VF_TRY(vf_arena_grow(p->model->arena, (void **)&list->attr, &list->attr_capacity,
                         list->n_attr + 1, sizeof name, p->err));
    list->attr[list->n_attr++] = name;
    return VF_OK;
}

static VfStatus parse_function_items(VfVftParse *p, VfFunction *function)
{
    Growing list = {.n_opset = 0};
    VfAttr **end = &function->first_attr_default;
    bool is_opset, is_attr;
    do {
        VF_TRY(vf_vft_accept_word(&p->lex, "opset", &is_opset));
        if (is_opset)
            VF_TRY(parse_opset(p, &list));
        VF_TRY(vf_vft_accept_word(&p->lex, "attr", &is_attr));
        if (is_attr)
            VF_TRY(parse_formal_attr(p, &list, &end));
    } while (is_opset || is_attr);
    function->opset = list.opset;
    function->n_opset = (int32_t)list.n_opset;
    function->attr_name = list.attr;
    function->n_attr_name = (int32_t)list.n_attr;
    return VF_OK;
}

static VfStatus parse_function(VfVftParse *p)
{
    VfBytes domain, name, overload;
    VfVftFields fields;
    VF_TRY(vf_vft_parse_operator(p, &domain, &name, &overload));
    VfFunction *function = vf_function_new(p->model, domain, name, overload);
    VF_TRY_ALLOC(function, p->err);
    VF_TRY(vf_vft_parse_fields(p, &fields));
    VF_TRY(parse_function_items(p, function));
    function->doc = fields.doc;
    function->meta = fields.meta;
    function->raw = fields.raw;
    return parse_scoped(p, function->body);
}

/* --- models --- */

static VfStatus parse_header_field(VfVftParse *p, bool *found)
{
    VfModel *model = p->model;
    const struct {
        const char *key;
        int64_t *number; /* or */
        VfBytes *string;
    } field[] = {
        {"ir", &model->ir_version, NULL},
        {"version", &model->model_version, NULL},
        {"producer", NULL, &model->producer_name},
        {"producer_version", NULL, &model->producer_version},
        {"domain", NULL, &model->domain},
    };
    for (size_t i = 0; i < sizeof field / sizeof field[0]; i++) {
        VF_TRY(vf_vft_accept_word(&p->lex, field[i].key, found));
        if (!*found)
            continue;
        VF_TRY(vf_vft_expect_char(&p->lex, '='));
        if (field[i].number != NULL)
            return vf_vft_parse_int(p, field[i].number);
        return vf_vft_expect(&p->lex, VF_VFT_STRING, "a string", field[i].string);
    }
    return VF_OK;
}

static VfStatus parse_header(VfVftParse *p)
{
    Growing list = {.n_opset = 0};
    VfVftFields fields;
    bool is_opset, is_field;
    do {
        VF_TRY(vf_vft_accept_word(&p->lex, "opset", &is_opset));
        if (is_opset)
            VF_TRY(parse_opset(p, &list));
        VF_TRY(parse_header_field(p, &is_field));
    } while (is_opset || is_field);
    if (list.n_opset != 0) {
        p->model->opset = list.opset;
        p->model->n_opset = (int32_t)list.n_opset;
    }
    VF_TRY(vf_vft_parse_fields(p, &fields));
    p->model->doc = fields.doc;
    p->model->meta = fields.meta;
    p->model->raw = fields.raw;
    return VF_OK;
}

static VfStatus parse_model(VfVftParse *p)
{
    bool found;
    VF_TRY(vf_vft_accept_word(&p->lex, "model", &found));
    if (found)
        VF_TRY(parse_header(p));
    VF_TRY(vf_vft_accept_word(&p->lex, "function", &found));
    while (found) {
        VF_TRY(parse_function(p));
        VF_TRY(vf_vft_accept_word(&p->lex, "function", &found));
    }
    if (!vf_vft_is_word(&p->lex, "graph"))
        return vf_vft_fail(&p->lex, "expected model, function or graph");
    VF_TRY(vf_vft_next(&p->lex));
    VF_TRY(vf_vft_parse_graph(p, p->model->graph));
    if (p->model->first_function != NULL)
        vf_model_resolve_ops(p->model); /* functions may call ones that stand after them */
    return vf_vft_expect(&p->lex, VF_VFT_END, "the end", NULL);
}

static VfStatus parse_with(VfVftParse *p, VfBytes text, const char *file)
{
    VF_TRY_ALLOC(p->scratch, p->err);
    VF_TRY_ALLOC(p->model, p->err);
    if (p->locale == (locale_t)0)
        return vf_no_memory(p->err);
    VF_TRY(vf_scope_init(&p->name, p->scratch, p->err));
    VF_TRY(vf_scope_init(&p->label, p->scratch, p->err));
    VF_TRY(vf_vft_lex_init(&p->lex, text, file, p->model->arena, p->err));
    return parse_model(p);
}

VfStatus vf_vft_parse(VfBytes text, const char *file, VfModel **model, VfErr *err)
{
    VfVftParse p = {.err = err, .model = vf_model_new(), .scratch = vf_arena_new(),
                    .locale = newlocale(LC_ALL_MASK, "C", (locale_t)0)};
    VfStatus status = parse_with(&p, text, file);
    if (p.locale != (locale_t)0)
        freelocale(p.locale);
    vf_arena_free(p.scratch);
    if (status != VF_OK)
        vf_model_free(p.model);
    *model = status == VF_OK ? p.model : NULL;
    return status;
}
