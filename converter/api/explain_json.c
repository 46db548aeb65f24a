#include "converter/api/explanation.h"

static void print_sites(VfJson *json, const VfSaidList *list)
{
    vf_json_array(json, "attention");
    for (size_t i = 0; i < list->n; i++) {
        vf_json_object(json, NULL);
        vf_json_string(json, "name", list->item[i].site);
        vf_json_string(json, "kind", list->item[i].kind);
        vf_json_string(json, "why", list->item[i].reason);
        vf_json_end(json);
    }
    vf_json_end(json);
}

static void print_misses(VfJson *json, const VfSaidList *list)
{
    vf_json_array(json, "misses");
    for (size_t i = 0; i < list->n; i++) {
        vf_json_object(json, NULL);
        vf_json_string(json, "node", list->item[i].node);
        vf_json_string(json, "rule", list->item[i].rule);
        vf_json_string(json, "reason", list->item[i].reason);
        vf_json_end(json);
    }
    vf_json_end(json);
}

static void print_pass(VfJson *json, const VfSaidPass *pass)
{
    vf_json_object(json, NULL);
    vf_json_string(json, "pass", pass->name);
    vf_json_string(json, "untried", pass->untried);
    vf_json_array(json, "sites");
    for (size_t i = 0; i < pass->site.n; i++) {
        const VfSaid *said = &pass->site.item[i];
        vf_json_object_row(json, NULL);
        vf_json_string(json, "site", said->site);
        vf_json_string(json, "rule", said->rule);
        vf_json_string(json, "reason", said->reason);
        vf_json_string(json, "node", said->node);
        vf_json_end(json);
    }
    vf_json_end(json);
    vf_json_end(json);
}

static void print_ends(VfJson *json, const char *key, const VfNodeEnd *end, size_t n)
{
    vf_json_array(json, key);
    for (size_t i = 0; i < n; i++) {
        vf_json_object_row(json, NULL);
        vf_json_string(json, "name", end[i].name);
        vf_json_string(json, "type", end[i].type);
        vf_json_string(json, "op", end[i].op);
        vf_json_string(json, "node", end[i].from);
        vf_json_end(json);
    }
    vf_json_end(json);
}

static void print_detail(VfJson *json, const VfNodeDetail *detail)
{
    vf_json_object(json, NULL);
    vf_json_string(json, "name", detail->name);
    vf_json_string(json, "op", detail->op);
    print_ends(json, "inputs", detail->in, detail->n_in);
    print_ends(json, "outputs", detail->out, detail->n_out);
    vf_json_array(json, "roles");
    for (size_t i = 0; i < detail->role.n; i++) {
        vf_json_object_row(json, NULL);
        vf_json_string(json, "site", detail->role.item[i].site);
        vf_json_string(json, "role", detail->role.item[i].rule);
        vf_json_end(json);
    }
    vf_json_end(json);
    vf_json_end(json);
}

void vf_explanation_json(const VfExplanation *explanation, VfJson *json)
{
    vf_json_string(json, "file", explanation->file);
    print_sites(json, &explanation->attention);
    print_misses(json, &explanation->miss);
    vf_json_array(json, "passes");
    for (size_t i = 0; i < explanation->n_pass; i++)
        print_pass(json, &explanation->pass[i]);
    vf_json_end(json);
    vf_json_array(json, "nodes");
    for (size_t i = 0; i < explanation->n_detail; i++)
        print_detail(json, &explanation->detail[i]);
    vf_json_end(json);
}
