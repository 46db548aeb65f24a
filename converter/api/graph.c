#include "converter/api/handle.h"
#include "converter/api/model_map.h"
#include "converter/draw/parts.h"
#include "converter/draw/text.h"
#include "converter/lower/lower.h"
#include "passes/ir/infer.h"

static VfStatus put_map(VfArena *arena, const VitfoldModel *model, VfModel *ir, VfText *text,
                        VfErr *err)
{
    VfSiteList sites;
    VfDrawSheet sheet;
    VfSvgOptions options = {.is_document = true, .has_legend = true};
    VF_TRY(vf_sites_find(arena, ir, &sites, err));
    VF_TRY(vf_model_map(arena, ir, &sites, vf_bytes(model->path), &sheet, err));
    return vf_sheet_svg(&sheet, &options, text, err);
}

/* All nodes of the file, with what types can be told. */
static VfStatus put_whole(VfArena *arena, const VfModel *ir, bool is_dot, VfText *text, VfErr *err)
{
    VfDrawing *drawing;
    VF_TRY(vf_infer_graph(ir->graph, vf_evaluator(), err));
    VF_TRY(vf_drawing_of_model(arena, ir, &drawing, err));
    return is_dot ? vf_drawing_dot(drawing, text, err) : vf_drawing_graphml(drawing, text, err);
}

int vitfold_graph(const VitfoldModel *model, int form, const VitfoldDim *dim, size_t n_dim,
                  VitfoldReport **result, VitfoldError *err)
{
    static const char *const name[] = {"svg", "dot", "graphml"};
    VitfoldReport *report;
    VfModel *ir;
    if (form < VITFOLD_GRAPH_SVG || form > VITFOLD_GRAPH_GRAPHML)
        return (int)vf_fail(err, VF_USAGE, "no form of drawing has number %d", form);
    VfStatus status = vf_load_again(model, dim, n_dim, &ir, err);
    if (status != VF_OK)
        return (int)status;
    status = vf_report_begin("vitfold.graph.1", &report, err);
    if (status != VF_OK) {
        vf_model_free(ir);
        return (int)status;
    }
    vf_json_string(&report->json, "model", model->path);
    vf_json_string(&report->json, "form", name[form]);
    status = form == VITFOLD_GRAPH_SVG
                 ? put_map(report->arena, model, ir, &report->out, err)
                 : put_whole(report->arena, ir, form == VITFOLD_GRAPH_DOT, &report->out, err);
    vf_model_free(ir);
    return (int)vf_report_finish(report, status, result, err);
}
