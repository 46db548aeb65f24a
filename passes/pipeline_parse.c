/* The words of --passes: "default", "none", or passes with options. */
#include <stdlib.h>
#include <string.h>

#include "passes/manager.h"
#include "passes/order.h"

/* One pass as written: its name and, joined by commas, its options. */
typedef struct Words {
    const char *name;
    VfText options, sites;
    bool has_sites;
    bool in_sites; /* the last option was "sites": what follows without '=' belongs to it */
} Words;

typedef struct Parser {
    VfArena *arena;
    const char *skip;
    Words *words;
    size_t n_words, capacity;
} Parser;

bool vf_pass_is_listed(const char *list, const char *name)
{
    size_t size = strlen(name);
    for (const char *part = list; part != NULL && *part != '\0';) {
        size_t n = strcspn(part, ",;");
        if (n == size && memcmp(part, name, n) == 0)
            return true;
        part += n;
        part += *part != '\0';
    }
    return false;
}

VfStatus vf_pass_check_list(VfArena *arena, const char *list, VfErr *err)
{
    for (const char *part = list; part != NULL && *part != '\0';) {
        size_t n = strcspn(part, ",;");
        const char *name = vf_arena_copy(arena, part, n);
        VF_TRY_ALLOC(name, err);
        if (vf_pass_find(name) == NULL)
            return vf_pass_unknown(name, err);
        part += n;
        part += *part != '\0';
    }
    return VF_OK;
}

/* Does a part begin a pass, or go on with the options of the one before? Pass names are letters,
 * digits and dashes; numbers, globs and key=value are none. */
static bool begins_pass(const Parser *parser, const char *part, size_t size)
{
    const char *colon = memchr(part, ':', size);
    size_t n = colon != NULL ? (size_t)(colon - part) : size;
    if (parser->n_words == 0)
        return true;
    if (n == 0 || part[0] < 'a' || part[0] > 'z')
        return false;
    for (size_t i = 0; i < n; i++) {
        bool is_name = (part[i] >= 'a' && part[i] <= 'z') || (part[i] >= '0' && part[i] <= '9') ||
                       part[i] == '-';
        if (!is_name)
            return false;
    }
    const Words *last = &parser->words[parser->n_words - 1];
    const char *name = vf_arena_copy(parser->arena, part, n);
    const VfPass *pass = vf_pass_find(last->name);
    bool is_flag = name != NULL && pass != NULL && pass->option != NULL && colon == NULL &&
                   vf_option_find(pass->option, name) != NULL;
    bool is_site_word =
        last->in_sites && name != NULL && vf_pass_is_listed("all,windows-only,global-only", name);
    return !is_flag && !is_site_word;
}

static VfStatus begin_words(Parser *parser, const char *name, size_t size, Words **words,
                            VfErr *err)
{
    VF_TRY(vf_arena_grow(parser->arena, (void **)&parser->words, &parser->capacity,
                         parser->n_words + 1, sizeof *parser->words, err));
    *words = &parser->words[parser->n_words++];
    memset(*words, 0, sizeof **words);
    (*words)->name = vf_arena_copy(parser->arena, name, size);
    VF_TRY_ALLOC((*words)->name, err);
    vf_text_init(&(*words)->options, parser->arena);
    vf_text_init(&(*words)->sites, parser->arena);
    return VF_OK;
}

static void add_option(Words *words, const char *part, size_t size)
{
    static const char key[] = "sites=";
    size_t key_size = sizeof key - 1;
    bool has_key = memchr(part, '=', size) != NULL;
    if (size >= key_size && memcmp(part, key, key_size) == 0) {
        words->has_sites = words->in_sites = true;
        part += key_size;
        size -= key_size;
    } else if (has_key) {
        words->in_sites = false;
    }
    VfText *text = words->in_sites ? &words->sites : &words->options;
    if (text->size > 0)
        vf_text_char(text, ',');
    vf_text_add(text, part, size);
}

static VfStatus take_part(Parser *parser, const char *part, size_t size, bool is_new, VfErr *err)
{
    if (size == 0)
        return VF_OK;
    if (!is_new && !begins_pass(parser, part, size)) {
        add_option(&parser->words[parser->n_words - 1], part, size);
        return VF_OK;
    }
    const char *colon = memchr(part, ':', size);
    size_t n = colon != NULL ? (size_t)(colon - part) : size;
    Words *words;
    VF_TRY(begin_words(parser, part, n, &words, err));
    if (colon != NULL && n + 1 < size)
        add_option(words, colon + 1, size - n - 1);
    return VF_OK;
}

static VfStatus split(Parser *parser, const char *text, VfErr *err)
{
    bool is_new = true;
    for (const char *part = text; *part != '\0';) {
        size_t n = strcspn(part, ",;");
        VF_TRY(take_part(parser, part, n, is_new, err));
        is_new = part[n] == ';';
        part += n;
        part += *part != '\0';
    }
    return VF_OK;
}

VfStatus vf_pipeline_item_init(VfArena *arena, const VfPass *pass, const char *sites,
                               VfPipelineItem *item, VfErr *err)
{
    VfSiteFacts any = {.label = ""};
    bool selected;
    *item = (VfPipelineItem){.pass = pass, .sites = {sites}, .text = pass->name};
    VF_TRY(vf_sites_select(&item->sites, &any, &selected, err));
    if (pass->option == NULL)
        return VF_OK;
    item->options = vf_arena_alloc(arena, pass->options_bytes);
    VF_TRY_ALLOC(item->options, err);
    return vf_option_defaults(pass->option, item->options, arena, err);
}

static VfStatus unknown_option(const VfPass *pass, const char *name, VfErr *err)
{
    const char *known[32];
    size_t n = 0;
    for (int32_t i = 0; i < pass->n_option && n < sizeof known / sizeof *known; i++)
        known[n++] = pass->option[i].name;
    const char *near = vf_nearest_word(name, known, n);
    if (near == NULL)
        return vf_fail(err, VF_USAGE, "pass '%s' has no option '%s'", pass->name, name);
    return vf_fail(err, VF_USAGE, "pass '%s' has no option '%s', did you mean '%s'", pass->name,
                   name, near);
}

static VfStatus set_list(VfArena *arena, const VfOption *row, const char *value, void *target,
                         VfErr *err)
{
    for (const char *part = value; part != NULL;) {
        const char *comma = strchr(part, ',');
        size_t size = comma != NULL ? (size_t)(comma - part) : strlen(part);
        const char *item = vf_arena_copy(arena, part, size);
        VF_TRY_ALLOC(item, err);
        VF_TRY(vf_option_set(row, item, target, arena, err));
        part = comma != NULL ? comma + 1 : NULL;
    }
    return VF_OK;
}

VfStatus vf_pipeline_item_set(VfArena *arena, VfPipelineItem *item, const char *name,
                              const char *value, VfErr *err)
{
    const VfPass *pass = item->pass;
    const VfOption *row = pass->option != NULL ? vf_option_find(pass->option, name) : NULL;
    if (row == NULL)
        return unknown_option(pass, name, err);
    VfStatus status = row->type == VF_OPTION_LIST
                          ? set_list(arena, row, value, item->options, err)
                          : vf_option_set(row, value, item->options, arena, err);
    return status == VF_OK ? VF_OK : vf_context(err, "pass '%s'", pass->name);
}

static VfStatus make_item(VfArena *arena, const VfPass *pass, const Words *words,
                          VfPipelineItem *item, VfErr *err)
{
    VfBytes options = {"", 0}, sites = {words->has_sites ? "" : NULL, 0};
    if (words->options.size > 0)
        VF_TRY(vf_text_get(&words->options, &options, err));
    if (words->sites.size > 0)
        VF_TRY(vf_text_get(&words->sites, &sites, err));
    VF_TRY(vf_pipeline_item_init(arena, pass, sites.data, item, err));
    item->text = vf_arena_printf(arena, "%s%s%s%s%s%s", pass->name,
                                 options.size > 0 || sites.size > 0 ? ":" : "", options.data,
                                 options.size > 0 && sites.size > 0 ? "," : "",
                                 sites.size > 0 ? "sites=" : "", sites.size > 0 ? sites.data : "");
    VF_TRY_ALLOC(item->text, err);
    if (pass->option == NULL && options.size > 0)
        return vf_fail(err, VF_USAGE, "pass '%s' has no option '%s'", pass->name, options.data);
    if (pass->option == NULL)
        return VF_OK;
    const char *owner = vf_arena_printf(arena, "pass '%s'", pass->name);
    VF_TRY_ALLOC(owner, err);
    return vf_option_parse(pass->option, options, owner, item->options, arena, err);
}

static VfStatus add_item(Parser *parser, const VfPass *pass, const Words *words,
                         VfPipeline *pipeline, VfErr *err)
{
    if (vf_pass_is_listed(parser->skip, pass->name))
        return VF_OK;
    VF_TRY(make_item(parser->arena, pass, words, &pipeline->item[pipeline->n_item], err));
    pipeline->n_item++;
    return VF_OK;
}

static VfStatus add_default(Parser *parser, const Words *words, VfPipeline *pipeline, VfErr *err)
{
    if (words->options.size > 0 || words->has_sites)
        return vf_fail(err, VF_USAGE, "'default' takes no options: name the pass they are for");
    for (int32_t i = 0; i < vf_pass_count; i++) {
        if (vf_pass_table[i]->is_default)
            VF_TRY(add_item(parser, vf_pass_table[i], words, pipeline, err));
    }
    return VF_OK;
}

VfStatus vf_pipeline_parse(VfArena *arena, const char *text, const char *skip, VfPipeline *pipeline,
                           VfErr *err)
{
    Parser parser = {.arena = arena, .skip = skip};
    *pipeline = (VfPipeline){0};
    VF_TRY(vf_pass_check_list(arena, skip, err));
    VF_TRY(split(&parser, text, err));
    if (parser.n_words == 0)
        return vf_fail(err, VF_USAGE, "no pass is named; 'none' stands for none");
    size_t room = parser.n_words * (size_t)vf_pass_count;
    pipeline->item = VF_NEW_ARRAY(arena, VfPipelineItem, room);
    VF_TRY_ALLOC(pipeline->item, err);
    for (size_t i = 0; i < parser.n_words; i++) {
        const Words *words = &parser.words[i];
        const VfPass *pass = vf_pass_find(words->name);
        if (strcmp(words->name, "default") == 0)
            VF_TRY(add_default(&parser, words, pipeline, err));
        else if (pass != NULL)
            VF_TRY(add_item(&parser, pass, words, pipeline, err));
        else if (strcmp(words->name, "none") != 0)
            return vf_pass_unknown(words->name, err);
        else if (parser.n_words > 1)
            return vf_fail(err, VF_USAGE, "'none' goes with no other pass");
    }
    return vf_pipeline_check_order(pipeline, err);
}
