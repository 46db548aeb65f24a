#include "converter/report/html/page_journal.h"

#include "converter/report/html/site.h"
#include "converter/report/journal_report.h"

typedef struct Builder {
    VfPage *page;
    VfArena *arena;   /* of the page */
    VfArena *scratch; /* reset after each edit */
    const VfJournal *journal;
    VfPast *past;
    VfIntern *part;  /* names of passes; the number is that of the part */
    VfIntern *group; /* looks; the number is that of the row in `slot` */
    struct Slot {
        int32_t part;
        size_t group;
    } *slot;
    size_t slot_capacity, part_capacity;
    size_t n_cleanup; /* kinds of edits of clean-up */
} Builder;

/* --- parts --- */

static VfStatus find_part(Builder *b, const char *name, VfPagePart **part, VfErr *err)
{
    int32_t id;
    VfPage *page = b->page;
    VF_TRY(vf_intern_add(b->part, vf_bytes(name), &id, err));
    if ((size_t)id == page->n_part) {
        VF_TRY(vf_arena_grow(b->arena, (void **)&page->part, &b->part_capacity, page->n_part + 1,
                             sizeof *page->part, err));
        const char *key = vf_arena_printf(b->arena, "pass-%s", name);
        VF_TRY_ALLOC(key, err);
        page->part[page->n_part++] = (VfPagePart){.id = key, .title = name};
    }
    *part = &page->part[id];
    return VF_OK;
}

/* Edits of one rule stand together, in the order in which rules are met. */
static VfStatus gather_rules(Builder *b, VfPagePart *part, VfErr *err)
{
    VfIntern *rule = vf_intern_new(b->arena);
    VfPageGroup *sorted = VF_NEW_ARRAY(b->arena, VfPageGroup, part->n_group);
    size_t n = 0;
    VF_TRY_ALLOC(rule, err);
    VF_TRY_ALLOC(sorted, err);
    for (size_t i = 0; i < part->n_group; i++)
        VF_TRY(vf_intern_add(rule, part->group[i].title, NULL, err));
    for (int32_t k = 0; k < vf_intern_count(rule); k++)
        for (size_t i = 0; i < part->n_group; i++)
            if (vf_intern_find(rule, part->group[i].title) == k)
                sorted[n++] = part->group[i];
    part->group = sorted;
    return VF_OK;
}

/* Parts without anything in them go, and clean-up stands behind what was asked for. */
static VfStatus arrange_parts(Builder *b, VfErr *err)
{
    VfPage *page = b->page;
    VfPagePart *part = VF_NEW_ARRAY(b->arena, VfPagePart, page->n_part);
    size_t n = 0;
    VF_TRY_ALLOC(part, err);
    for (int is_cleanup = 0; is_cleanup < 2; is_cleanup++)
        for (size_t i = 0; i < page->n_part; i++)
            if (page->part[i].n_edit + page->part[i].n_refusal > 0 &&
                page->part[i].is_folded == (is_cleanup == 1))
                part[n++] = page->part[i];
    page->part = part;
    page->n_part = n;
    for (size_t i = 0; i < n; i++) {
        VF_TRY(gather_rules(b, &part[i], err));
        if (!part[i].is_folded && part[i].n_group > 0)
            part[i].group[0].is_open = true;
    }
    return VF_OK;
}

/* --- groups --- */

static const char *plural(int32_t n)
{
    return n == 1 ? "node" : "nodes";
}

static VfStatus change_text(VfArena *arena, const VfEdit *edit, VfBytes *out, VfErr *err)
{
    VfText text;
    vf_text_init(&text, arena);
    if (edit->n_before > 0 && edit->n_after > 0)
        vf_text_printf(&text, "%d %s %d", edit->n_before,
                       edit->n_before == 1 ? "node becomes" : "nodes become", edit->n_after);
    else if (edit->n_before > 0)
        vf_text_printf(&text, "%d %s removed", edit->n_before, plural(edit->n_before));
    else if (edit->n_after > 0)
        vf_text_printf(&text, "%d %s added", edit->n_after, plural(edit->n_after));
    else if (edit->n_move > 0)
        vf_text_string(&text, "operands changed");
    if (edit->n_weight > 0)
        vf_text_printf(&text, "%s%d %s replaced", text.size > 0 ? ", " : "", edit->n_weight,
                       edit->n_weight == 1 ? "weight" : "weights");
    return vf_text_get(&text, out, err);
}

static VfStatus look_of(Builder *b, const VfEdit *edit, const VfDrawn *site, VfBytes *look,
                        VfErr *err)
{
    VfText text;
    vf_text_init(&text, b->scratch);
    vf_text_printf(&text, "%s\n%s\n%d %d %d\n", edit->pass, edit->rule, edit->n_before,
                   edit->n_after, edit->n_weight);
    if (site->before != NULL)
        vf_drawing_look(site->before, &text);
    vf_text_string(&text, "--\n");
    if (site->after != NULL)
        vf_drawing_look(site->after, &text);
    return vf_text_get(&text, look, err);
}

/* Clean-up has few of the drawings of a page: what was asked for comes after it. */
static VfStatus draw(Builder *b, const VfPagePart *part, const VfDrawn *site, VfPageGroup *group,
                     VfErr *err)
{
    enum { CLEANUP_MAX = 40 };
    if (part->is_folded && b->n_cleanup++ >= CLEANUP_MAX) {
        group->left_out = "Not drawn: clean-up has as many drawings as it may have.";
        return VF_OK;
    }
    return vf_page_draw(b->page, site, group, err);
}

static VfStatus new_group(Builder *b, int32_t part, const VfEdit *edit, const VfDrawn *site,
                          size_t *index, VfErr *err)
{
    VfPagePart *one = &b->page->part[part];
    VfPageGroup group = {.title = vf_bytes(edit->rule)};
    vf_page_weights_init(&group.weights, b->arena);
    VF_TRY(change_text(b->arena, edit, &group.change, err));
    VF_TRY(draw(b, one, site, &group, err));
    VF_TRY(vf_arena_grow(b->arena, (void **)&one->group, &one->group_capacity,
                         one->n_group + 1, sizeof *one->group, err));
    *index = one->n_group;
    one->group[one->n_group++] = group;
    return VF_OK;
}

static VfStatus find_group(Builder *b, const VfEdit *edit, const VfDrawn *site,
                           VfPageGroup **group, VfErr *err)
{
    VfBytes look;
    VfPagePart *part;
    int32_t id, n = vf_intern_count(b->group);
    VF_TRY(find_part(b, edit->pass, &part, err));
    VF_TRY(look_of(b, edit, site, &look, err));
    VF_TRY(vf_intern_add(b->group, look, &id, err));
    if (id == n) {
        VF_TRY(vf_arena_grow(b->arena, (void **)&b->slot, &b->slot_capacity, (size_t)n + 1,
                             sizeof *b->slot, err));
        b->slot[id].part = (int32_t)(part - b->page->part);
        VF_TRY(new_group(b, b->slot[id].part, edit, site, &b->slot[id].group, err));
    }
    *group = &b->page->part[b->slot[id].part].group[b->slot[id].group];
    part->n_edit++;
    return VF_OK;
}

/* --- places --- */

static VfBytes text_or_none(const char *text)
{
    return text == NULL ? (VfBytes){"", 0} : vf_bytes(text);
}

static VfStatus add_place(Builder *b, int32_t i, VfPageGroup *group, VfErr *err)
{
    const VfEdit *edit = &b->journal->edit[i];
    VfPagePlace place = {.number = i + 1, .label = text_or_none(edit->site),
                         .note = text_or_none(edit->note)};
    VfText text;
    vf_text_init(&text, b->arena);
    VF_TRY(vf_edit_lines(b->journal, b->past, i, &text, err));
    VF_TRY(vf_text_get(&text, &place.lines, err));
    VF_TRY(vf_arena_grow(b->arena, (void **)&group->place, &group->place_capacity,
                         group->n_place + 1, sizeof *group->place, err));
    group->place[group->n_place++] = place;
    for (int32_t k = 0; k < edit->n_weight; k++)
        VF_TRY(vf_page_weight(&group->weights, edit->weight[k].from, edit->weight[k].to, err));
    return VF_OK;
}

static VfStatus add_edit(Builder *b, int32_t i, VfErr *err)
{
    VfDrawn site;
    VfPageGroup *group;
    VF_TRY(vf_site_draw(b->scratch, b->journal, b->past, i, &site, err));
    VF_TRY(find_group(b, &b->journal->edit[i], &site, &group, err));
    VF_TRY(add_place(b, i, group, err));
    vf_arena_reset(b->scratch);
    return VF_OK;
}

/* --- refusals --- */

static VfStatus find_reason(Builder *b, VfPagePart *part, VfBytes words, VfPageReason **reason,
                            VfErr *err)
{
    for (size_t i = 0; i < part->n_reason; i++)
        if (vf_bytes_is_equal(part->reason[i].reason, words)) {
            *reason = &part->reason[i];
            return VF_OK;
        }
    VF_TRY(vf_arena_grow(b->arena, (void **)&part->reason, &part->reason_capacity,
                         part->n_reason + 1, sizeof *part->reason, err));
    *reason = &part->reason[part->n_reason++];
    **reason = (VfPageReason){.reason = words};
    return VF_OK;
}

static VfStatus add_refusal(Builder *b, const VfRefusal *refusal, VfErr *err)
{
    VfPagePart *part;
    VfPageReason *reason;
    VF_TRY(find_part(b, refusal->pass, &part, err));
    VF_TRY(find_reason(b, part, vf_bytes(refusal->reason), &reason, err));
    VF_TRY(vf_arena_grow(b->arena, (void **)&reason->site, &reason->site_capacity,
                         reason->n_site + 1, sizeof *reason->site, err));
    reason->site[reason->n_site++] = text_or_none(refusal->site);
    part->n_refusal++;
    return VF_OK;
}

/* --- the whole --- */

/* By id of a node: the last edit, from 1, that made it or changed what it reads. */
static VfStatus last_edits(VfArena *arena, const VfJournal *journal, int32_t **last, VfErr *err)
{
    *last = VF_NEW_ARRAY(arena, int32_t, (size_t)journal->model->n_node_id);
    VF_TRY_ALLOC(*last, err);
    for (int32_t i = 0; i < journal->n_edit; i++) {
        const VfEdit *edit = &journal->edit[i];
        for (int32_t k = 0; k < edit->n_after; k++)
            (*last)[edit->after[k]->id] = i + 1;
        for (int32_t k = 0; k < edit->n_move; k++)
            (*last)[edit->move[k].node->id] = i + 1;
    }
    return VF_OK;
}


static VfStatus describe(Builder *b, const VfPagePass *pass, VfErr *err)
{
    VfPagePart *part;
    VF_TRY(find_part(b, pass->name, &part, err));
    part->summary = pass->summary;
    part->badge = pass->exactness;
    part->is_folded = pass->is_cleanup;
    return VF_OK;
}

static VfStatus build(Builder *b, const VfPagePass *pass, size_t n_pass, VfErr *err)
{
    b->part = vf_intern_new(b->arena);
    b->group = vf_intern_new(b->arena);
    VF_TRY_ALLOC(b->part, err);
    VF_TRY_ALLOC(b->group, err);
    VF_TRY(vf_past_new(b->arena, b->journal, &b->past, err));
    for (size_t i = 0; i < n_pass; i++)
        VF_TRY(describe(b, &pass[i], err));
    for (int32_t i = 0; i < b->journal->n_edit; i++)
        VF_TRY(add_edit(b, i, err));
    for (int32_t i = 0; i < b->journal->n_refusal; i++)
        VF_TRY(add_refusal(b, &b->journal->refusal[i], err));
    VF_TRY(arrange_parts(b, err));
    int32_t *last;
    VF_TRY(last_edits(b->arena, b->journal, &last, err));
    return vf_page_add_nodes(b->page, b->journal->model, last, err);
}

VfStatus vf_page_add_journal(VfPage *page, const VfJournal *journal, const VfPagePass *pass,
                             size_t n_pass, VfErr *err)
{
    Builder b = {.page = page, .arena = page->arena, .journal = journal};
    b.scratch = vf_arena_new();
    VF_TRY_ALLOC(b.scratch, err);
    VfStatus status = build(&b, pass, n_pass, err);
    vf_apart_stop(&page->layouter);
    vf_arena_free(b.scratch);
    page->parts_title = "Passes";
    return status;
}
