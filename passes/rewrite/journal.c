#include "passes/rewrite/journal.h"

#include <string.h>

VfJournal *vf_journal_new(VfModel *model)
{
    VfJournal *journal = VF_NEW(model->arena, VfJournal);
    if (journal != NULL)
        journal->model = model;
    return journal;
}

/* Copy `count` items of `item_bytes`; NULL stays NULL for none. */
static VfStatus copy_items(VfArena *arena, const void *from, int32_t count, size_t item_bytes,
                           const void **to, VfErr *err)
{
    *to = NULL;
    if (count <= 0)
        return VF_OK;
    void *copy = vf_arena_array(arena, (size_t)count, item_bytes);
    VF_TRY_ALLOC(copy, err);
    memcpy(copy, from, (size_t)count * item_bytes);
    *to = copy;
    return VF_OK;
}

static VfStatus copy_text(VfArena *arena, const char **text, VfErr *err)
{
    if (*text == NULL)
        return VF_OK;
    const char *copy = vf_arena_string(arena, *text);
    VF_TRY_ALLOC(copy, err);
    *text = copy;
    return VF_OK;
}

static VfStatus copy_edit(VfArena *arena, VfEdit *edit, VfErr *err)
{
    const char **text[] = {&edit->pass, &edit->rule, &edit->site, &edit->note};
    for (size_t i = 0; i < sizeof text / sizeof text[0]; i++)
        VF_TRY(copy_text(arena, text[i], err));
    const void *copy;
    VF_TRY(copy_items(arena, edit->before, edit->n_before, sizeof *edit->before, &copy, err));
    edit->before = copy;
    VF_TRY(copy_items(arena, edit->after, edit->n_after, sizeof *edit->after, &copy, err));
    edit->after = copy;
    VF_TRY(copy_items(arena, edit->swap, edit->n_swap, sizeof *edit->swap, &copy, err));
    edit->swap = copy;
    VF_TRY(copy_items(arena, edit->weight, edit->n_weight, sizeof *edit->weight, &copy, err));
    edit->weight = copy;
    VF_TRY(copy_items(arena, edit->move, edit->n_move, sizeof *edit->move, &copy, err));
    edit->move = copy;
    VF_TRY(copy_items(arena, edit->number, edit->n_number, sizeof *edit->number, &copy, err));
    edit->number = copy;
    return VF_OK;
}

VfStatus vf_journal_add(VfJournal *journal, const VfEdit *edit, VfErr *err)
{
    VfArena *arena = journal->model->arena;
    VfEdit copy = *edit;
    VF_TRY(copy_edit(arena, &copy, err));
    VF_TRY(vf_arena_grow(arena, (void **)&journal->edit, &journal->edit_capacity,
                         (size_t)journal->n_edit + 1, sizeof *journal->edit, err));
    journal->edit[journal->n_edit++] = copy;
    return VF_OK;
}

VfStatus vf_journal_refuse(VfJournal *journal, const VfRefusal *refusal, VfErr *err)
{
    VfArena *arena = journal->model->arena;
    VfRefusal copy = *refusal;
    VF_TRY(copy_text(arena, &copy.pass, err));
    VF_TRY(copy_text(arena, &copy.site, err));
    VF_TRY(copy_text(arena, &copy.reason, err));
    VF_TRY(vf_arena_grow(arena, (void **)&journal->refusal, &journal->refusal_capacity,
                         (size_t)journal->n_refusal + 1, sizeof *journal->refusal, err));
    journal->refusal[journal->n_refusal++] = copy;
    return VF_OK;
}

/* --- names --- */

static VfStatus collect_graph(VfJournal *journal, const VfGraph *graph, VfErr *err);

/* Count one more value or output that is called `name`. */
static VfStatus count_name(VfJournal *journal, VfBytes name, VfErr *err)
{
    int32_t id;
    VF_TRY(vf_intern_add(journal->names, name, &id, err));
    VF_TRY(vf_arena_grow(journal->model->arena, (void **)&journal->n_named,
                         &journal->named_capacity, (size_t)id + 1, sizeof *journal->n_named, err));
    while (journal->n_counted <= id)
        journal->n_named[journal->n_counted++] = 0;
    journal->n_named[id]++;
    return VF_OK;
}

static VfStatus collect_node(VfJournal *journal, const VfNode *node, VfErr *err)
{
    VF_TRY(vf_intern_add(journal->names, node->name, NULL, err));
    for (const VfAttr *attr = node->first_attr; attr != NULL; attr = attr->next) {
        if (attr->type == VF_ATTR_GRAPH && attr->graph != NULL)
            VF_TRY(collect_graph(journal, attr->graph, err));
        for (int32_t i = 0; attr->type == VF_ATTR_GRAPHS && i < attr->n; i++)
            VF_TRY(collect_graph(journal, attr->graphs[i], err));
    }
    return VF_OK;
}

static VfStatus collect_graph(VfJournal *journal, const VfGraph *graph, VfErr *err)
{
    for (const VfValue *value = graph->first_value; value != NULL; value = value->next)
        VF_TRY(count_name(journal, value->name, err));
    for (int32_t i = 0; graph->ret != NULL && i < graph->ret->n_in; i++)
        VF_TRY(count_name(journal, graph->output_name[i], err));
    for (const VfNode *node = graph->first_node; node != NULL; node = node->next)
        VF_TRY(collect_node(journal, node, err));
    return VF_OK;
}

static VfStatus collect_names(VfJournal *journal, VfErr *err)
{
    const VfModel *model = journal->model;
    if (journal->has_names)
        return VF_OK;
    journal->n_counted = 0;
    journal->names = vf_intern_new(model->arena);
    VF_TRY_ALLOC(journal->names, err);
    VF_TRY(collect_graph(journal, model->graph, err));
    for (const VfFunction *f = model->first_function; f != NULL; f = f->next)
        VF_TRY(collect_graph(journal, f->body, err));
    journal->has_names = true;
    return VF_OK;
}

VfStatus vf_journal_may_hide(VfJournal *journal, const VfValue *value, bool *may, VfErr *err)
{
    VF_TRY(collect_names(journal, err));
    int32_t id = value->name.size > 0 ? vf_intern_find(journal->names, value->name) : -1;
    *may = id >= 0 && id < journal->n_counted && journal->n_named[id] > 1;
    return VF_OK;
}

VfStatus vf_journal_name(VfJournal *journal, const char *wanted, VfBytes *name, VfErr *err)
{
    VF_TRY(collect_names(journal, err));
    const char *text = wanted;
    /* Past a few tries the count of names, which only grows, makes the suffix new at once. */
    for (int32_t i = 2; vf_intern_find(journal->names, (VfBytes){text, strlen(text)}) >= 0; i++) {
        int32_t suffix = i < 8 ? i : vf_intern_count(journal->names) + i;
        text = vf_arena_printf(journal->model->arena, "%s_%d", wanted, suffix);
        VF_TRY_ALLOC(text, err);
    }
    int32_t id;
    VF_TRY(vf_intern_add(journal->names, (VfBytes){text, strlen(text)}, &id, err));
    *name = vf_intern_get(journal->names, id);
    return VF_OK;
}
