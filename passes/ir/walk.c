#include "passes/ir/walk.h"

static VfStatus walk_subgraphs(const VfNode *node, VfNodeReader *visit, void *self, VfErr *err)
{
    for (const VfAttr *attr = node->first_attr; attr != NULL; attr = attr->next) {
        if (attr->type == VF_ATTR_GRAPH && attr->graph != NULL)
            VF_TRY(vf_graph_each_node(attr->graph, visit, self, err));
        for (int32_t i = 0; attr->type == VF_ATTR_GRAPHS && i < attr->n; i++)
            VF_TRY(vf_graph_each_node(attr->graphs[i], visit, self, err));
    }
    return VF_OK;
}

VfStatus vf_graph_each_node(const VfGraph *graph, VfNodeReader *visit, void *self, VfErr *err)
{
    for (const VfNode *node = graph->first_node; node != NULL; node = node->next) {
        VF_TRY(visit(self, node, err));
        VF_TRY(walk_subgraphs(node, visit, self, err));
    }
    return VF_OK;
}
