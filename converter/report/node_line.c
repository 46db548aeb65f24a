#include "converter/report/node_line.h"

#include "passes/ir/vft.h"

VfStatus vf_report_node_line(VfArena *arena, const VfNode *node, VfBytes *line, VfErr *err)
{
    VfText text;
    vf_text_init(&text, arena);
    VF_TRY(vf_vft_print_node(node, &text, err));
    return vf_text_get(&text, line, err);
}
