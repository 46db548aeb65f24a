#include "converter/report/diff_private.h"
#include "converter/report/node_line.h"

static void json_text(VfJson *json, const char *key, VfBytes value)
{
    if (value.data == NULL)
        vf_json_null(json, key);
    else
        vf_json_bytes(json, key, value);
}

static void json_parts(VfJson *json, const char *key, const VfDiffParts *parts)
{
    vf_json_array(json, key);
    for (size_t i = 0; i < parts->n; i++) {
        const VfDiffPart *part = &parts->part[i];
        vf_json_object_row(json, NULL);
        vf_json_string(json, "what", part->what);
        json_text(json, "key", part->key);
        json_text(json, "a", part->a);
        json_text(json, "b", part->b);
        vf_json_end(json);
    }
    vf_json_end(json);
}

static void json_counts(const VfDiff *diff, VfJson *json)
{
    int64_t node[3] = {0}, weight[3] = {0};
    for (size_t i = 0; i < diff->n_node; i++)
        node[diff->node[i].kind]++;
    for (size_t i = 0; i < diff->n_weight; i++)
        weight[diff->weight[i].kind]++;
    vf_json_object_row(json, "nodes_count");
    vf_json_int(json, "same", (int64_t)diff->n_same);
    for (int i = 0; i < 3; i++)
        vf_json_int(json, vf_diff_kind_name((VfDiffKind)i), node[i]);
    vf_json_end(json);
    vf_json_object_row(json, "weights_count");
    for (int i = 0; i < 3; i++)
        vf_json_int(json, vf_diff_kind_name((VfDiffKind)i), weight[i]);
    vf_json_end(json);
    vf_json_array(json, "operators");
    for (size_t i = 0; i < diff->n_operator; i++) {
        vf_json_object_row(json, NULL);
        vf_json_bytes(json, "op", diff->operators[i].name);
        vf_json_int(json, "a", diff->operators[i].a);
        vf_json_int(json, "b", diff->operators[i].b);
        vf_json_end(json);
    }
    vf_json_end(json);
}

static VfStatus json_constant(VfJson *json, const char *key, const VfValue *value, VfErr *err)
{
    VfBytes text = {NULL, 0};
    if (value != NULL)
        VF_TRY(vf_diff_constant(json->text.arena, value->tensor, &text, err));
    json_text(json, key, text);
    return VF_OK;
}

static VfStatus json_weight(const VfDiffWeight *weight, VfJson *json, VfErr *err)
{
    const VfValue *a = weight->a, *b = weight->b;
    const VfWeightChange *change = &weight->change;
    vf_json_object(json, NULL);
    vf_json_string(json, "change", vf_diff_kind_name(weight->kind));
    vf_json_string(json, "name_a", a == NULL ? NULL : vf_value_label(a));
    vf_json_string(json, "name_b", b == NULL ? NULL : vf_value_label(b));
    VF_TRY(json_constant(json, "a", a, err));
    VF_TRY(json_constant(json, "b", b, err));
    if (change->is_measured) {
        vf_json_int(json, "elements", (int64_t)a->tensor->count);
        vf_json_int(json, "differ", (int64_t)change->n_differ);
        vf_json_double(json, "norm", change->norm);
        vf_json_double(json, "norm_rel", change->norm_rel);
        vf_json_double(json, "max_abs", change->max_abs);
    }
    vf_json_end(json);
    return VF_OK;
}

static VfStatus json_line(VfJson *json, const char *key, const VfNode *node, VfErr *err)
{
    VfBytes line = {NULL, 0};
    if (node != NULL)
        VF_TRY(vf_report_node_line(json->text.arena, node, &line, err));
    json_text(json, key, line);
    return VF_OK;
}

static VfStatus json_node(const VfDiffNode *node, VfJson *json, VfErr *err)
{
    vf_json_object(json, NULL);
    vf_json_string(json, "change", vf_diff_kind_name(node->kind));
    vf_json_string(json, "name_a", node->a == NULL ? NULL : vf_node_label(node->a));
    vf_json_string(json, "name_b", node->b == NULL ? NULL : vf_node_label(node->b));
    VF_TRY(json_line(json, "a", node->a, err));
    VF_TRY(json_line(json, "b", node->b, err));
    json_parts(json, "parts", &node->parts);
    vf_json_int(json, "hunk", (int64_t)node->hunk);
    vf_json_end(json);
    return VF_OK;
}

static VfStatus json_groups(const VfDiff *diff, VfJson *json, VfErr *err)
{
    vf_json_array(json, "groups");
    for (size_t i = 0; i < diff->n_group; i++) {
        const VfDiffGroup *group = &diff->group[i];
        vf_json_object(json, NULL);
        vf_json_int(json, "nodes", (int64_t)diff->hunk[diff->grouped[group->first]].n);
        vf_json_array(json, "hunks");
        for (size_t k = 0; k < group->n; k++) {
            VfBytes place;
            size_t hunk = diff->grouped[group->first + k];
            VF_TRY(vf_diff_place(diff, &diff->hunk[hunk], &place, err));
            vf_json_object_row(json, NULL);
            vf_json_int(json, "hunk", (int64_t)hunk);
            vf_json_bytes(json, "place", place);
            vf_json_end(json);
        }
        vf_json_end(json);
        vf_json_end(json);
    }
    vf_json_end(json);
    return VF_OK;
}

VfStatus vf_diff_json(const VfDiff *diff, VfJson *json, VfErr *err)
{
    vf_json_bool(json, "equal", vf_diff_is_empty(diff));
    json_parts(json, "facts", &diff->facts);
    json_counts(diff, json);
    vf_json_array(json, "weights");
    for (size_t i = 0; i < diff->n_weight; i++)
        VF_TRY(json_weight(&diff->weight[i], json, err));
    vf_json_end(json);
    vf_json_array(json, "nodes");
    for (size_t i = 0; i < diff->n_node; i++)
        VF_TRY(json_node(&diff->node[i], json, err));
    vf_json_end(json);
    VF_TRY(json_groups(diff, json, err));
    json_parts(json, "notes", &diff->notes);
    return VF_OK;
}
