#include "converter/report/html/page_reason.h"

#include <string.h>

#include "converter/draw/parts.h"
#include "converter/report/html/drawn.h"
#include "converter/report/html/site.h"
#include "converter/report/html/trail.h"

enum { NAMED_MAX = 32 };

/* What is to be drawn: what the reason names, and the ways between. */
typedef struct Scene {
    const VfPageReasoned *said;
    const VfNode *node[NAMED_MAX];
    VfDrawTint tint[NAMED_MAX];
    VfDrawEdgeTint edge[2 * NAMED_MAX];
    int32_t n_node, n_edge;
} Scene;

/* Does the reason name it, in quotes? */
static bool is_named(const char *reason, const char *label)
{
    size_t n = strlen(label);
    for (const char *at = strstr(reason, label); n > 0 && at != NULL; at = strstr(at + 1, label))
        if (at > reason && at[-1] == '\'' && at[n] == '\'')
            return true;
    return false;
}

static void add_node(Scene *scene, const VfNode *node, VfTone tone)
{
    for (int32_t i = 0; i < scene->n_node; i++)
        if (scene->node[i] == node)
            return;
    if (scene->n_node == NAMED_MAX)
        return;
    scene->tint[scene->n_node] = (VfDrawTint){node, tone};
    scene->node[scene->n_node++] = node;
}

static void add_edge(Scene *scene, const VfValue *value, const VfNode *user)
{
    if (scene->n_edge < 2 * NAMED_MAX)
        scene->edge[scene->n_edge++] = (VfDrawEdgeTint){value, user, VF_TONE_MARKED};
}

/* Mark what `user` reads of `maker`. */
static void mark_edges(Scene *scene, const VfNode *maker, const VfNode *user)
{
    for (int32_t i = 0; i < user->n_in; i++) {
        const VfValue *value = vf_node_in(user, i);
        if (value != NULL && value->kind == VF_VALUE_RESULT && value->def == maker)
            add_edge(scene, value, user);
    }
}

/* The way between two nodes, marked; the nodes on it that are not marked themselves are plain. */
static VfStatus add_trail(Scene *scene, const VfNode *a, const VfNode *b, VfArena *scratch,
                          VfErr *err)
{
    VfTrail trail;
    VF_TRY(vf_trail_find(scratch, a, b, &trail, err));
    for (int32_t i = 0; i < trail.n; i++)
        add_node(scene, trail.node[i], VF_TONE_PLAIN);
    for (int32_t i = 1; i < trail.n; i++)
        mark_edges(scene, trail.node[i - 1], trail.node[i]);
    return VF_OK;
}

/* Operands and results of `node` that the reason names. */
static void mark_values(Scene *scene, const VfNode *node)
{
    for (int32_t i = 0; i < node->n_out; i++) {
        const VfValue *value = vf_node_out(node, i);
        if (value != NULL && is_named(scene->said->reason, vf_value_label(value)))
            add_edge(scene, value, NULL);
    }
    for (int32_t i = 0; i < node->n_in; i++) {
        const VfValue *value = vf_node_in(node, i);
        if (value != NULL && is_named(scene->said->reason, vf_value_label(value)))
            add_edge(scene, value, node);
    }
}

static VfStatus set_scene(Scene *scene, VfArena *scratch, VfErr *err)
{
    const VfPageReasoned *said = scene->said;
    add_node(scene, said->node, VF_TONE_MARKED);
    for (int32_t i = 0; i < said->n_named; i++)
        add_node(scene, said->named[i], VF_TONE_MARKED);
    if (said->site != NULL && said->site != said->node) {
        add_node(scene, said->site, VF_TONE_SITE);
        VF_TRY(add_trail(scene, said->site, said->node, scratch, err));
    }
    for (int32_t i = 0; i < said->n_named; i++)
        if (said->named[i] != said->node)
            VF_TRY(add_trail(scene, said->node, said->named[i], scratch, err));
    for (int32_t i = 0, n = scene->n_node; i < n; i++)
        mark_values(scene, scene->node[i]);
    return VF_OK;
}

static VfStatus draw(const VfPageReasoned *said, VfArena *scratch, VfDrawing **drawing,
                     VfErr *err)
{
    Scene *scene = VF_NEW(scratch, Scene);
    VF_TRY_ALLOC(scene, err);
    scene->said = said;
    VF_TRY(set_scene(scene, scratch, err));
    VfDrawPart part = {.title = vf_bytes(said->reason), .n_node = scene->n_node,
                       .node = scene->node, .n_context = said->n_context,
                       .n_tint = scene->n_node, .tint = scene->tint,
                       .n_edge_tint = scene->n_edge, .edge_tint = scene->edge};
    return vf_drawing_of_part(scratch, &part, drawing, err);
}

/* --- groups --- */

/* The words but for what stands in quotes, and the look. */
static VfStatus look_of(VfArena *arena, const VfPageReasoned *said, const VfDrawing *drawing,
                        VfBytes *look, VfErr *err)
{
    VfText text;
    bool is_quoted = false;
    vf_text_init(&text, arena);
    vf_text_string(&text, said->title == NULL ? "" : said->title);
    vf_text_char(&text, '\n');
    for (const char *at = said->reason; *at != '\0'; at++) {
        if (*at == '\'')
            is_quoted = !is_quoted;
        else if (!is_quoted)
            vf_text_char(&text, *at);
    }
    vf_text_char(&text, '\n');
    if (drawing != NULL)
        vf_drawing_look(drawing, &text);
    return vf_text_get(&text, look, err);
}

static VfPageGroup *find_group(VfPagePart *part, VfBytes look)
{
    for (size_t i = 0; i < part->n_group; i++)
        if (vf_bytes_is_equal(part->group[i].look, look))
            return &part->group[i];
    return NULL;
}

static VfStatus new_group(VfPage *page, VfPagePart *part, const VfPageReasoned *said,
                          const VfDrawing *drawing, VfPageGroup **group, VfErr *err)
{
    VF_TRY(vf_arena_grow(page->arena, (void **)&part->group, &part->group_capacity,
                         part->n_group + 1, sizeof *part->group, err));
    *group = &part->group[part->n_group++];
    **group = (VfPageGroup){.alone = "Around it", .is_open = part->n_group == 1};
    vf_page_weights_init(&(*group)->weights, page->arena);
    const char *title = vf_arena_printf(page->arena, "%s%s%s",
                                        said->title == NULL ? "" : said->title,
                                        said->title == NULL ? "" : ": ", said->reason);
    VF_TRY_ALLOC(title, err);
    (*group)->title = vf_bytes(title);
    VfDrawn drawn = {.before = drawing};
    return drawing == NULL ? VF_OK : vf_page_draw(page, &drawn, *group, err);
}

static VfStatus copy(VfArena *arena, VfBytes words, VfBytes *out, VfErr *err)
{
    const char *data = vf_arena_copy(arena, words.data == NULL ? "" : words.data, words.size);
    VF_TRY_ALLOC(data, err);
    *out = (VfBytes){data, words.size};
    return VF_OK;
}

/* Places of one group may have reasons that differ in names: those tell their own. */
static VfStatus add_place(VfPage *page, VfPageGroup *group, const VfPageReasoned *said, VfErr *err)
{
    VfPagePlace place = {.number = said->number, .note = {"", 0}};
    bool is_first = group->n_place == 0;
    VF_TRY(copy(page->arena, vf_bytes(said->label), &place.label, err));
    VF_TRY(copy(page->arena, said->lines, &place.lines, err));
    if (!is_first && strchr(said->reason, '\'') != NULL)
        VF_TRY(copy(page->arena, vf_bytes(said->reason), &place.note, err));
    VF_TRY(vf_arena_grow(page->arena, (void **)&group->place, &group->place_capacity,
                         group->n_place + 1, sizeof *group->place, err));
    group->place[group->n_place++] = place;
    return VF_OK;
}

VfStatus vf_page_add_reason(VfPage *page, VfPagePart *part, const VfPageReasoned *said,
                            VfArena *scratch, VfErr *err)
{
    VfDrawing *drawing = NULL;
    VfBytes look;
    if (said->node != NULL)
        VF_TRY(draw(said, scratch, &drawing, err));
    VF_TRY(look_of(page->arena, said, drawing, &look, err));
    VfPageGroup *group = find_group(part, look);
    if (group == NULL) {
        VF_TRY(new_group(page, part, said, drawing, &group, err));
        group->look = look;
    }
    VF_TRY(add_place(page, group, said, err));
    part->n_edit++;
    vf_arena_reset(scratch);
    return VF_OK;
}
