#include <math.h>

#include "converter/api/inspect.h"

static void print_dim(VfJson *json, const char *key, const VfSymbols *symbols, VfDim dim)
{
    if (vf_dim_is_known(dim))
        vf_json_int(json, key, dim.k);
    else if (dim.sym == VF_SYM_UNKNOWN)
        vf_json_null(json, key);
    else
        vf_json_string(json, key, vf_dim_text(json->text.arena, symbols, dim));
}

static void print_type(VfJson *json, const VfSymbols *symbols, VfBytes name, const VfType *type)
{
    vf_json_object_row(json, NULL);
    vf_json_bytes(json, "name", name);
    vf_json_string(json, "type", vf_type_text(json->text.arena, symbols, type));
    vf_json_string(json, "dtype", vf_dtype_info(type->dtype)->name);
    if (type->rank < 0) {
        vf_json_null(json, "dims");
    } else {
        vf_json_array_row(json, "dims");
        for (int32_t i = 0; i < type->rank; i++)
            print_dim(json, NULL, symbols, type->dims[i]);
        vf_json_end(json);
    }
    vf_json_end(json);
}

static void print_ends(VfJson *json, const VfModel *ir)
{
    const VfGraph *graph = ir->graph;
    vf_json_array(json, "inputs");
    for (int32_t i = 0; i < graph->n_input; i++)
        if (vf_is_required_input(graph->input[i]))
            print_type(json, ir->symbols, graph->input[i]->name, &graph->input[i]->type);
    vf_json_end(json);
    vf_json_array(json, "outputs");
    for (int32_t i = 0; i < graph->ret->n_in; i++)
        print_type(json, ir->symbols, graph->output_name[i], &graph->output_type[i]);
    vf_json_end(json);
}

static void print_header(VfJson *json, const VfInspection *inspection)
{
    const VfModel *ir = inspection->model->ir;
    vf_json_string(json, "file", inspection->model->path);
    vf_json_int(json, "ir_version", ir->ir_version);
    vf_json_bytes(json, "producer", ir->producer_name);
    vf_json_bytes(json, "producer_version", ir->producer_version);
    vf_json_array(json, "opsets");
    for (int32_t i = 0; i < ir->n_opset; i++) {
        vf_json_object_row(json, NULL);
        vf_json_bytes(json, "domain", ir->opset[i].domain);
        vf_json_int(json, "version", ir->opset[i].version);
        vf_json_end(json);
    }
    vf_json_end(json);
}

static void print_counts(VfJson *json, const VfInspection *inspection)
{
    vf_json_int(json, "nodes", inspection->n_node);
    vf_json_object(json, "operators");
    for (size_t i = 0; i < inspection->n_op; i++)
        vf_json_int(json, inspection->op[i].name.data, inspection->op[i].n);
    vf_json_end(json);
}

static void print_op_cost(VfJson *json, const VfOpCost *op)
{
    vf_json_object_row(json, NULL);
    vf_json_bytes(json, "operator", op->name);
    vf_json_int(json, "nodes", op->n);
    vf_json_double(json, "flops", op->flops);
    vf_json_int(json, "parameters", op->n_parameter);
    vf_json_double(json, "parameter_bytes", op->parameter_bytes);
    vf_json_double(json, "result_bytes", op->result_bytes);
    vf_json_int(json, "nodes_of_unknown_shape", op->n_unknown);
    vf_json_end(json);
}

static void print_cost(VfJson *json, const VfInspection *inspection)
{
    if (!inspection->has_cost) {
        vf_json_null(json, "cost");
        return;
    }
    const VfCost *cost = &inspection->cost;
    vf_json_object(json, "cost");
    vf_json_object_row(json, "assumed_dims");
    for (size_t i = 0; i < inspection->n_assumed; i++)
        vf_json_int(json, inspection->assumed[i].name, inspection->assumed[i].size);
    vf_json_end(json);
    vf_json_int(json, "parameters", cost->n_parameter);
    vf_json_double(json, "parameter_bytes", cost->parameter_bytes);
    vf_json_double(json, "flops", cost->flops);
    vf_json_double(json, "activation_bytes", cost->activation_bytes);
    vf_json_int(json, "nodes_of_unknown_shape", cost->n_unknown);
    vf_json_array(json, "by_operator");
    for (size_t i = 0; i < inspection->n_op_cost; i++)
        print_op_cost(json, &inspection->op_cost[i]);
    vf_json_end(json);
    vf_json_end(json);
}

static void print_finite(VfJson *json, const char *key, double value)
{
    if (isfinite(value))
        vf_json_double(json, key, value);
    else
        vf_json_null(json, key);
}

static void print_attention(VfJson *json, const VfSymbols *symbols, const VfAttention *site)
{
    vf_json_object(json, NULL);
    vf_json_int(json, "index", site->index);
    vf_json_string(json, "kind", vf_attention_kind_name(site->kind));
    vf_json_string(json, "name", site->label);
    vf_json_string(json, "why", site->why);
    print_dim(json, "heads", symbols, site->heads);
    print_dim(json, "queries", symbols, site->n_q);
    print_dim(json, "keys", symbols, site->n_k);
    print_dim(json, "width", symbols, site->d);
    print_dim(json, "value_width", symbols, site->d_v);
    print_finite(json, "scale", site->scale);
    vf_json_bool(json, "has_runtime_scale", site->scale_value != NULL);
    vf_json_string(json, "mask", vf_mask_kind_name(site->mask));
    vf_json_bool(json, "has_bias", site->has_bias);
    vf_json_bool(json, "is_cross", site->is_cross);
    vf_json_bool(json, "is_causal", site->is_causal);
    vf_json_bool(json, "is_window", site->is_window);
    print_dim(json, "windows", symbols, site->windows);
    vf_json_array_row(json, "grid");
    print_dim(json, NULL, symbols, site->grid_h);
    print_dim(json, NULL, symbols, site->grid_w);
    vf_json_end(json);
    print_dim(json, "prefix_tokens", symbols, site->prefix);
    vf_json_string(json, "act", site->act);
    if (site->kind == VF_ATTENTION_POINTWISE)
        print_finite(json, "alpha", site->alpha);
    vf_json_end(json);
}

static void print_layer_norm(VfJson *json, const VfSymbols *symbols, const VfLayerNorm *site)
{
    vf_json_object_row(json, NULL);
    vf_json_string(json, "name", site->label);
    vf_json_bool(json, "is_rms", site->is_rms);
    vf_json_bool(json, "is_decomposed", site->is_decomposed);
    vf_json_bool(json, "is_over_channels", site->is_over_channels);
    vf_json_double(json, "epsilon", site->epsilon);
    print_dim(json, "width", symbols, site->width);
    vf_json_bool(json, "has_scale", site->scale != NULL);
    vf_json_bool(json, "has_shift", site->shift != NULL);
    vf_json_end(json);
}

static void print_batch_norm(VfJson *json, const VfBatchNorm *site, const VfFoldFacts *fold)
{
    vf_json_object(json, NULL);
    vf_json_string(json, "name", site->label);
    vf_json_bool(json, "rep", site->is_rep);
    vf_json_int(json, "channels", site->channels);
    vf_json_double(json, "epsilon", site->epsilon);
    vf_json_string(json, "fold", vf_fold_direction_name(fold->direction));
    vf_json_bool(json, "needs_border_map", fold->needs_border_map);
    vf_json_string(json, "why_not_forward", fold->why_not_forward);
    vf_json_string(json, "why_not_backward", fold->why_not_backward);
    vf_json_end(json);
}

static void print_sites(VfJson *json, const VfInspection *inspection)
{
    const VfSiteList *sites = &inspection->sites;
    const VfSymbols *symbols = inspection->clean->symbols;
    vf_json_object(json, "sites");
    vf_json_array(json, "attention");
    for (int32_t i = 0; i < sites->attention.n_site; i++)
        print_attention(json, symbols, &sites->attention.site[i]);
    vf_json_end(json);
    vf_json_array(json, "layer_norm");
    for (int32_t i = 0; i < sites->norm.n_layer; i++)
        print_layer_norm(json, symbols, &sites->norm.layer[i]);
    vf_json_end(json);
    vf_json_array(json, "batch_norm");
    for (int32_t i = 0; i < sites->norm.n_batch; i++)
        print_batch_norm(json, &sites->norm.batch[i], &sites->fold[i]);
    vf_json_end(json);
    vf_json_end(json);
}

void vf_inspection_json(const VfInspection *inspection, VfJson *json)
{
    vf_json_object(json, NULL);
    print_header(json, inspection);
    print_ends(json, inspection->model->ir);
    print_counts(json, inspection);
    print_cost(json, inspection);
    print_sites(json, inspection);
    vf_json_end(json);
}
