/* What is said of a model around its nodes, and how many of each operator it has. */
#include <string.h>

#include "converter/report/diff_private.h"
#include "passes/ir/equal_private.h"
#include "passes/ir/vft_print.h"

static const VfBytes none = {NULL, 0};

static VfStatus number_fact(VfDiff *diff, const char *what, VfBytes key, int64_t a, int64_t b,
                            VfErr *err)
{
    VfDiffPart part = {.what = what, .key = key};
    if (a == b)
        return VF_OK;
    if (a != 0)
        VF_TRY(vf_diff_number(diff->arena, a, &part.a, err));
    if (b != 0)
        VF_TRY(vf_diff_number(diff->arena, b, &part.b, err));
    return vf_diff_add_part(diff->arena, &diff->facts, part, err);
}

static VfStatus raw_fact(VfDiff *diff, VfBytes key, VfRaw a, VfRaw b, VfErr *err)
{
    VfDiffPart part = {.what = "other fields", .key = key};
    if (vf_equal_raw(a, b))
        return VF_OK;
    const char *text_a = vf_arena_printf(diff->arena, "%zu bytes", a.size);
    const char *text_b = vf_arena_printf(diff->arena, "%zu bytes", b.size);
    VF_TRY_ALLOC(text_a, err);
    VF_TRY_ALLOC(text_b, err);
    part.a = vf_bytes(text_a);
    part.b = vf_bytes(text_b);
    return vf_diff_add_part(diff->arena, &diff->facts, part, err);
}

/* Opsets by the numbers of their domains: of two of one domain the first. */
typedef struct Versions {
    VfIntern *domain;
    const VfOpset **opset;
} Versions;

static VfStatus versions_init(Versions *versions, VfArena *arena, const VfOpset *opset, int32_t n,
                              VfErr *err)
{
    *versions = (Versions){vf_intern_new(arena), VF_NEW_ARRAY(arena, const VfOpset *, (size_t)n)};
    VF_TRY_ALLOC(versions->domain, err);
    VF_TRY_ALLOC(versions->opset, err);
    for (int32_t i = 0; i < n; i++) {
        int32_t id;
        VF_TRY(vf_intern_add(versions->domain, opset[i].domain, &id, err));
        if (versions->opset[id] == NULL)
            versions->opset[id] = &opset[i];
    }
    return VF_OK;
}

static int64_t version_of(const Versions *versions, VfBytes domain)
{
    int32_t id = vf_intern_find(versions->domain, domain);
    return id < 0 ? 0 : versions->opset[id]->version;
}

static VfStatus opset_facts(VfDiff *diff, const VfOpset *a, int32_t n_a, const VfOpset *b,
                            int32_t n_b, VfErr *err)
{
    Versions of_a, of_b;
    VF_TRY(versions_init(&of_a, diff->arena, a, n_a, err));
    VF_TRY(versions_init(&of_b, diff->arena, b, n_b, err));
    for (int32_t i = 0; i < n_a; i++) {
        VfBytes domain = a[i].domain, shown = domain.size > 0 ? domain : vf_bytes("ai.onnx");
        VF_TRY(number_fact(diff, "opset", shown, a[i].version, version_of(&of_b, domain), err));
    }
    for (int32_t i = 0; i < n_b; i++) {
        VfBytes domain = b[i].domain, shown = domain.size > 0 ? domain : vf_bytes("ai.onnx");
        if (version_of(&of_a, domain) == 0)
            VF_TRY(number_fact(diff, "opset", shown, 0, b[i].version, err));
    }
    return VF_OK;
}

static VfStatus model_facts(VfDiff *diff, const VfModel *a, const VfModel *b, VfErr *err)
{
    VfDiffParts *facts = &diff->facts;
    VF_TRY(number_fact(diff, "IR version", none, a->ir_version, b->ir_version, err));
    VF_TRY(opset_facts(diff, a->opset, a->n_opset, b->opset, b->n_opset, err));
    VF_TRY(vf_diff_text_part(diff, facts, "producer", none, a->producer_name, b->producer_name,
                             err));
    VF_TRY(vf_diff_text_part(diff, facts, "producer version", none, a->producer_version,
                             b->producer_version, err));
    VF_TRY(vf_diff_text_part(diff, facts, "domain", none, a->domain, b->domain, err));
    VF_TRY(number_fact(diff, "model version", none, a->model_version, b->model_version, err));
    VF_TRY(vf_diff_text_part(diff, facts, "doc of model", none, a->doc, b->doc, err));
    VF_TRY(vf_diff_meta(diff, facts, "metadata", none, a->meta, b->meta, err));
    return raw_fact(diff, vf_bytes("model"), a->raw, b->raw, err);
}

/* --- inputs and outputs --- */

/* "x: f32[n, 3] = default" */
static VfStatus port_text(VfDiff *diff, const VfModel *model, VfBytes name, const VfType *type,
                          const VfTensor *given, VfBytes *out, VfErr *err)
{
    VfText text;
    VfBytes spelled;
    vf_text_init(&text, diff->arena);
    vf_vft_print_name(&text, name);
    VF_TRY(vf_diff_type(diff->arena, model, type, &spelled, err));
    vf_text_string(&text, ": ");
    vf_text_add(&text, spelled.data, spelled.size);
    if (given != NULL) {
        VF_TRY(vf_diff_constant(diff->arena, given, &spelled, err));
        vf_text_string(&text, " = ");
        vf_text_add(&text, spelled.data, spelled.size);
    }
    return vf_text_get(&text, out, err);
}

static VfStatus input_text(VfDiff *diff, const VfModel *model, const VfValue *input, VfBytes *out,
                           VfErr *err)
{
    *out = none;
    if (input == NULL)
        return VF_OK;
    return port_text(diff, model, input->name, &input->type, input->tensor, out, err);
}

static VfStatus input_facts(VfDiff *diff, const VfGraphPair *pair, VfErr *err)
{
    const VfAlign *align = diff->align;
    for (int32_t i = 0; i < pair->a->n_input; i++) {
        const VfValue *a = pair->a->input[i], *b = align->value_b[a->id];
        VfDiffPart part = {.what = "input", .key = a->name};
        if (b != NULL && b->kind != VF_VALUE_INPUT)
            b = NULL;
        VF_TRY(input_text(diff, align->a, a, &part.a, err));
        VF_TRY(input_text(diff, align->b, b, &part.b, err));
        if (!vf_bytes_is_equal(part.a, part.b))
            VF_TRY(vf_diff_add_part(diff->arena, &diff->facts, part, err));
    }
    for (int32_t i = 0; i < pair->b->n_input; i++) {
        const VfValue *b = pair->b->input[i], *a = align->value_a[b->id];
        VfDiffPart part = {.what = "input", .key = b->name};
        if (a != NULL && a->kind == VF_VALUE_INPUT)
            continue;
        VF_TRY(input_text(diff, align->b, b, &part.b, err));
        VF_TRY(vf_diff_add_part(diff->arena, &diff->facts, part, err));
    }
    return VF_OK;
}

static VfStatus output_text(VfDiff *diff, const VfGraph *graph, int32_t i, VfBytes *out,
                            VfErr *err)
{
    *out = none;
    if (i >= graph->ret->n_in)
        return VF_OK;
    return port_text(diff, graph->model, graph->output_name[i], &graph->output_type[i], NULL, out,
                     err);
}

/* Outputs are told by place; one that is computed by another value too. */
static VfStatus output_facts(VfDiff *diff, const VfGraphPair *pair, VfErr *err)
{
    const VfGraph *a = pair->a, *b = pair->b;
    for (int32_t i = 0; i < a->ret->n_in || i < b->ret->n_in; i++) {
        VfDiffPart part = {.what = "output"};
        VF_TRY(output_text(diff, a, i, &part.a, err));
        VF_TRY(output_text(diff, b, i, &part.b, err));
        part.key = i < a->ret->n_in ? a->output_name[i] : b->output_name[i];
        const VfValue *x = vf_node_in(a->ret, i), *y = vf_node_in(b->ret, i);
        if (vf_bytes_is_equal(part.a, part.b)) {
            if (vf_align_is_same(diff->align, x, y))
                continue;
            part.what = "source of output";
            part.a = x == NULL ? none : vf_bytes(vf_value_label(x));
            part.b = y == NULL ? none : vf_bytes(vf_value_label(y));
        }
        VF_TRY(vf_diff_add_part(diff->arena, &diff->facts, part, err));
    }
    return VF_OK;
}

/* --- functions --- */

static VfStatus function_facts(VfDiff *diff, const VfModel *from, const VfModel *to, bool is_back,
                               VfErr *err)
{
    for (const VfFunction *f = from->first_function; f != NULL; f = f->next) {
        const VfFunction *g = vf_function_find(to, f->domain, f->name, f->overload);
        VfText text;
        VfDiffPart part = {.what = "function"};
        if (g != NULL) {
            if (!is_back)
                VF_TRY(opset_facts(diff, f->opset, f->n_opset, g->opset, g->n_opset, err));
            continue;
        }
        vf_text_init(&text, diff->arena);
        vf_vft_print_operator(&text, f->domain, f->name, f->overload);
        VF_TRY(vf_text_get(&text, &part.key, err));
        const char *size = vf_arena_printf(diff->arena, "%d nodes", (int)f->body->n_node);
        VF_TRY_ALLOC(size, err);
        *(is_back ? &part.b : &part.a) = vf_bytes(size);
        VF_TRY(vf_diff_add_part(diff->arena, &diff->facts, part, err));
    }
    return VF_OK;
}

VfStatus vf_diff_facts(VfDiff *diff, VfErr *err)
{
    const VfAlign *align = diff->align;
    VF_TRY(model_facts(diff, align->a, align->b, err));
    for (size_t i = 0; i < align->n_pair; i++) {
        const VfGraphPair *pair = &align->pair[i];
        const VfGraph *a = pair->a, *b = pair->b;
        VF_TRY(vf_diff_text_part(diff, &diff->facts, "name of graph", pair->label, a->name, b->name,
                                 err));
        VF_TRY(vf_diff_text_part(diff, &diff->facts, "doc of graph", a->name, a->doc, b->doc, err));
        VF_TRY(vf_diff_meta(diff, &diff->facts, "metadata of graph", a->name, a->meta, b->meta,
                            err));
        VF_TRY(raw_fact(diff, a->name, a->raw, b->raw, err));
        VF_TRY(input_facts(diff, pair, err));
        VF_TRY(output_facts(diff, pair, err));
    }
    VF_TRY(function_facts(diff, align->a, align->b, false, err));
    return function_facts(diff, align->b, align->a, true, err);
}
