#include "converter/draw/graphviz.h"

#include <graphviz/cgraph.h>
#include <graphviz/gvc.h>
#include <graphviz/gvplugin.h>
#include <graphviz/gvplugin_textlayout.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/draw/words.h"

/* Graphviz measures in points and inches; a point counts as a pixel. */
static const double inch = 72;

typedef struct Layout {
    const VfSketch *sketch;
    GVC_t *gvc;
    graph_t *root;
    node_t **box;
    edge_t **arrow;
    graph_t **group;
} Layout;

/* --- words: a text layout of our own, so that no font is looked up ---
 *
 * The only words Graphviz sees are runs of 'x', one for each column. */

static boolean measure(textspan_t *span, char **font_path)
{
    VfBytes words = {span->str, 0};
    while (span->str[words.size] != '\0')
        words.size++;
    if (font_path != NULL)
        *font_path = NULL;
    span->layout = NULL;
    span->free_layout = NULL;
    span->size.x = vf_draw_width(words, VF_DRAW_SMALL_FONT);
    span->size.y = VF_DRAW_LINE;
    span->yoffset_layout = 0;
    span->yoffset_centerline = 0.2 * VF_DRAW_SMALL_FONT;
    return 1;
}

/* A context that measures by `measure`: of plugins for the same thing the one of highest quality is
 * taken, and those that come with Graphviz have 10 and less. They are not even loaded. */
static GVC_t *new_context(void)
{
    static gvtextlayout_engine_t engine = {measure};
    static gvplugin_installed_t type[] = {{0, "textlayout", 100, &engine, NULL}, {0}};
    static gvplugin_api_t api[] = {{API_textlayout, type}, {(api_t)0, NULL}};
    static gvplugin_library_t library = {"vitfold", api};
    /* The form of the name is how Graphviz tells plugins from other symbols. */
    static const lt_symlist_t builtin[] = {{"gvplugin_vitfold_LTX_library", &library}, {0}};
    return gvContextPlugins(builtin, 1);
}

/* --- numbers of objects ---
 *
 * Graphviz takes addresses for them unless told otherwise, and its results then depend on where
 * memory happened to lie. Names are kept beside them by Graphviz itself. */

static void *open_numbers(graph_t *root, Agdisc_t *with)
{
    (void)root;
    (void)with;
    return calloc(1, sizeof(IDTYPE));
}

static void close_numbers(void *last)
{
    free(last);
}

static long next_number(void *last, int kind, char *name, IDTYPE *number, int is_new)
{
    (void)kind;
    if (last == NULL || name != NULL || !is_new)
        return 0;
    *number = ++*(IDTYPE *)last;
    return 1;
}

static long take_number(void *last, int kind, IDTYPE number)
{
    (void)last;
    (void)kind;
    (void)number;
    return 0;
}

static void drop_number(void *last, int kind, IDTYPE number)
{
    (void)last;
    (void)kind;
    (void)number;
}

static char *name_of_number(void *last, int kind, IDTYPE number)
{
    (void)last;
    (void)kind;
    (void)number;
    return NULL;
}

static void note_number(void *last, int kind, void *object)
{
    (void)last;
    (void)kind;
    (void)object;
}

static graph_t *new_graph(void)
{
    static Agiddisc_t numbers = {open_numbers,   next_number,   take_number, drop_number,
                                 name_of_number, close_numbers, note_number};
    Agdisc_t with = {NULL, &numbers, NULL};
    return agopen((char *)"g", Agdirected, &with);
}

/* --- the drawing as Graphviz has it --- */

static void set_default(graph_t *root, int kind, const char *name, const char *value)
{
    agattr(root, kind, (char *)name, (char *)value);
}

static void set_number(void *object, const char *name, double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.4f", value);
    agset(object, (char *)name, text);
}

static void set_defaults(graph_t *root, bool is_sideways)
{
    set_default(root, AGRAPH, "rankdir", is_sideways ? "LR" : "TB");
    set_default(root, AGRAPH, "nodesep", "0.25");
    set_default(root, AGRAPH, "ranksep", is_sideways ? "0.3" : "0.35");
    set_default(root, AGRAPH, "label", "");
    set_default(root, AGRAPH, "mclimit", "1");
    set_default(root, AGRAPH, "nslimit", "20");
    set_default(root, AGRAPH, "nslimit1", "20");
    set_default(root, AGNODE, "shape", "box");
    set_default(root, AGNODE, "label", "");
    set_default(root, AGNODE, "fixedsize", "true");
    set_default(root, AGNODE, "width", "1");
    set_default(root, AGNODE, "height", "1");
    set_default(root, AGEDGE, "label", "");
    set_default(root, AGEDGE, "arrowsize", "0.7");
}

/* A label as wide as the text that is drawn there later. */
static void set_label(void *object, int32_t columns)
{
    char label[256];
    size_t most = sizeof label - 1, n = (size_t)columns < most ? (size_t)columns : most;
    memset(label, 'x', n);
    label[n] = '\0';
    agset(object, (char *)"label", label);
}

static void add_groups(Layout *layout)
{
    for (int32_t i = 0; i < layout->sketch->n_group; i++) {
        const VfSketchGroup *group = &layout->sketch->group[i];
        char name[32];
        snprintf(name, sizeof name, "cluster_%d", i);
        layout->group[i] = agsubg(group->parent < 0 ? layout->root : layout->group[group->parent],
                                  name, 1);
        set_label(layout->group[i], group->columns);
    }
}

static void add_boxes(Layout *layout)
{
    for (int32_t i = 0; i < layout->sketch->n_box; i++) {
        const VfSketchBox *box = &layout->sketch->box[i];
        char name[32];
        snprintf(name, sizeof name, "%d", i);
        layout->box[i] = agnode(layout->root, name, 1);
        set_number(layout->box[i], "width", box->width / inch);
        set_number(layout->box[i], "height", box->height / inch);
        if (box->group >= 0)
            agsubnode(layout->group[box->group], layout->box[i], 1);
    }
}

static void add_arrows(Layout *layout)
{
    for (int32_t i = 0; i < layout->sketch->n_arrow; i++) {
        const VfSketchArrow *arrow = &layout->sketch->arrow[i];
        char name[32];
        snprintf(name, sizeof name, "%d", i);
        layout->arrow[i] = agedge(layout->root, layout->box[arrow->from],
                                  layout->box[arrow->to], name, 1);
        set_label(layout->arrow[i], arrow->columns);
    }
}

/* --- what came out --- */

static double flip(const Layout *layout, double y)
{
    return GD_bb(layout->root).UR.y - y;
}

static VfDrawPoint point_of(const Layout *layout, pointf p)
{
    return (VfDrawPoint){p.x - GD_bb(layout->root).LL.x, flip(layout, p.y)};
}

static VfDrawRect rect_of(const Layout *layout, boxf box)
{
    VfDrawPoint corner = point_of(layout, (pointf){box.LL.x, box.UR.y});
    return (VfDrawRect){corner.x, corner.y, box.UR.x - box.LL.x, box.UR.y - box.LL.y};
}

static VfStatus read_arrow(VfArena *arena, const Layout *layout, edge_t *edge, VfDrawCurve *curve,
                           VfErr *err)
{
    const splines *spline = ED_spl(edge);
    if (spline == NULL || spline->size == 0)
        return vf_fail(err, VF_IO, "cannot lay out a drawing: Graphviz leaves out an arrow, as it "
                                   "does without memory");
    const bezier *b = &spline->list[0];
    VfDrawPoint *point = VF_NEW_ARRAY(arena, VfDrawPoint, (size_t)b->size);
    VF_TRY_ALLOC(point, err);
    curve->n = (int32_t)b->size;
    for (int32_t i = 0; i < curve->n; i++)
        point[i] = point_of(layout, b->list[i]);
    curve->point = point;
    curve->has_tip = b->eflag != 0;
    if (curve->has_tip)
        curve->tip = point_of(layout, b->ep);
    textlabel_t *label = ED_label(edge);
    curve->has_label = label != NULL && label->set;
    if (curve->has_label)
        curve->label = point_of(layout, label->pos);
    return VF_OK;
}

static VfStatus read_layout(VfArena *arena, const Layout *in, VfDrawLayout *out, VfErr *err)
{
    boxf all = GD_bb(in->root);
    out->width = all.UR.x - all.LL.x;
    out->height = all.UR.y - all.LL.y;
    for (int32_t i = 0; i < in->sketch->n_box; i++) {
        double width = ND_width(in->box[i]) * inch, height = ND_height(in->box[i]) * inch;
        VfDrawPoint middle = point_of(in, ND_coord(in->box[i]));
        out->box[i] = (VfDrawRect){middle.x - width / 2, middle.y - height / 2, width, height};
    }
    for (int32_t i = 0; i < in->sketch->n_group; i++)
        if (agfstnode(in->group[i]) != NULL)
            out->group[i] = rect_of(in, GD_bb(in->group[i]));
    for (int32_t i = 0; i < in->sketch->n_arrow; i++)
        VF_TRY(read_arrow(arena, in, in->arrow[i], &out->arrow[i], err));
    return VF_OK;
}

/* --- one layout --- */

/* What Graphviz says is kept by it (aglasterr) and not printed. */
static int say_nothing(char *words)
{
    (void)words;
    return 0;
}

static VfStatus lay_out(VfArena *arena, Layout *layout, VfDrawLayout *out, VfErr *err)
{
    layout->root = new_graph();
    if (layout->root == NULL)
        return vf_no_memory(err);
    set_defaults(layout->root, layout->sketch->is_sideways);
    add_groups(layout);
    add_boxes(layout);
    add_arrows(layout);
    VfStatus status = VF_OK;
    if (gvLayout(layout->gvc, layout->root, "dot") == 0) {
        status = read_layout(arena, layout, out, err);
        gvFreeLayout(layout->gvc, layout->root);
    } else {
        status = vf_fail(err, VF_IO, "cannot lay out a drawing: Graphviz finds no layout "
                                     "'dot' ('dot -c' makes its list of plugins)");
    }
    agclose(layout->root);
    return status;
}

VfStatus vf_graphviz_layout(VfArena *arena, const VfSketch *sketch, VfDrawLayout *layout,
                            VfErr *err)
{
    Layout work = {
        .sketch = sketch,
        .box = VF_NEW_ARRAY(arena, node_t *, (size_t)sketch->n_box),
        .arrow = VF_NEW_ARRAY(arena, edge_t *, (size_t)sketch->n_arrow),
        .group = VF_NEW_ARRAY(arena, graph_t *, (size_t)sketch->n_group),
    };
    if (work.box == NULL || work.arrow == NULL || work.group == NULL)
        return vf_no_memory(err);
    agseterrf(say_nothing);
    work.gvc = new_context();
    VF_TRY_ALLOC(work.gvc, err);
    VfStatus status = lay_out(arena, &work, layout, err);
    gvFreeContext(work.gvc);
    return status;
}
