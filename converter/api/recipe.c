#include "converter/api/recipe.h"

#include <string.h>

#include "converter/api/handle.h"
#include "passes/order.h"

VfStatus vf_recipe_load(VfArena *arena, const char *path, VfRecipe *recipe, VfErr *err)
{
    VfMapping file;
    VF_TRY(vf_file_map(path, &file, err));
    VfBytes bytes = {(const char *)file.data, file.size};
    VfStatus status = vf_recipe_read(arena, bytes, path, recipe, err);
    vf_file_unmap(&file);
    return status;
}

/* --- recipe to pipeline --- */

static bool is_skipped(const VfRecipe *recipe, const char *skip, const char *name)
{
    for (int32_t i = 0; i < recipe->n_skip; i++)
        if (strcmp(recipe->skip[i].name, name) == 0)
            return true;
    return vf_pass_is_listed(skip, name);
}

static VfStatus set_options(VfArena *arena, const VfRecipePass *words, VfPipelineItem *item,
                            int *line, VfErr *err)
{
    for (int32_t i = 0; i < words->n_option; i++) {
        const VfRecipeOption *option = &words->option[i];
        *line = option->line;
        for (int32_t k = 0; k < i; k++)
            if (strcmp(words->option[k].name, option->name) == 0)
                return vf_fail(err, VF_USAGE, "option '%s' is given twice", option->name);
        VF_TRY(vf_pipeline_item_set(arena, item, option->name, option->value, err));
    }
    return VF_OK;
}

/* A maker of pipelines and where it is. */
typedef struct Maker {
    VfArena *arena;
    const VfRecipe *recipe;
    const char *path, *skip;
    VfPipeline *pipeline;
    int line;
} Maker;

static VfStatus add_pass(Maker *maker, const VfPass *pass, const VfRecipePass *words, VfErr *err)
{
    if (is_skipped(maker->recipe, maker->skip, pass->name))
        return VF_OK;
    VfPipelineItem *item = &maker->pipeline->item[maker->pipeline->n_item++];
    VF_TRY(vf_pipeline_item_init(maker->arena, pass, words->sites, item, err));
    item->where = vf_arena_printf(maker->arena, "%s:%d", maker->path, words->line);
    VF_TRY_ALLOC(item->where, err);
    return set_options(maker->arena, words, item, &maker->line, err);
}

static VfStatus add_words(Maker *maker, const VfRecipePass *words, VfErr *err)
{
    const VfPass *pass = vf_pass_find(words->name);
    maker->line = words->line;
    if (strcmp(words->name, "default") != 0)
        return pass == NULL ? vf_pass_unknown(words->name, err)
                            : add_pass(maker, pass, words, err);
    if (words->n_option > 0 || words->sites != NULL)
        return vf_fail(err, VF_USAGE, "'default' takes no options: name the pass they are for");
    for (int32_t i = 0; i < vf_pass_count; i++)
        if (vf_pass_table[i]->is_default)
            VF_TRY(add_pass(maker, vf_pass_table[i], words, err));
    return VF_OK;
}

static VfStatus add_all(Maker *maker, VfErr *err)
{
    const VfRecipe *recipe = maker->recipe;
    for (int32_t i = 0; i < recipe->n_skip; i++) {
        maker->line = recipe->skip[i].line;
        if (vf_pass_find(recipe->skip[i].name) == NULL)
            return vf_pass_unknown(recipe->skip[i].name, err);
    }
    for (int32_t i = 0; i < recipe->n_pass; i++)
        VF_TRY(add_words(maker, &recipe->pass[i], err));
    maker->line = 1;
    return vf_pipeline_check_order(maker->pipeline, err);
}

VfStatus vf_recipe_pipeline(VfArena *arena, const VfRecipe *recipe, const char *path,
                            const char *skip, VfPipeline *pipeline, VfErr *err)
{
    Maker maker = {arena, recipe, path, skip, pipeline, 1};
    size_t room = (size_t)recipe->n_pass * (size_t)vf_pass_count;
    VF_TRY(vf_pass_check_list(arena, skip, err));
    *pipeline = (VfPipeline){.item = VF_NEW_ARRAY(arena, VfPipelineItem, room)};
    VF_TRY_ALLOC(pipeline->item, err);
    if (add_all(&maker, err) != VF_OK)
        return vf_context(err, "%s:%d", path, maker.line);
    return VF_OK;
}

/* --- pipeline to recipe --- */

/* A text that is not there, an empty list: the option was not given and has no default. */
static bool is_unset(const VfOption *row, const void *target)
{
    const void *field = (const char *)target + row->offset;
    switch (row->type) {
    case VF_OPTION_STRING:
        return *(const char *const *)field == NULL;
    case VF_OPTION_LIST:
        return ((const VfOptionList *)field)->n_item == 0;
    case VF_OPTION_MAYBE:
        return ((const VfOptionMaybe *)field)->value == NULL;
    default:
        return false;
    }
}

static VfStatus describe_option(VfArena *arena, const VfOption *row, const void *target,
                                VfRecipeOption *option, VfErr *err)
{
    VfText text;
    VfBytes value;
    vf_text_init(&text, arena);
    vf_option_print(row, target, &text);
    VF_TRY(vf_text_get(&text, &value, err));
    *option = (VfRecipeOption){.name = row->name, .value = value.size == 0 ? "" : value.data};
    return VF_OK;
}

static VfStatus describe_item(VfArena *arena, const VfPipelineItem *item, VfRecipePass *pass,
                              VfErr *err)
{
    size_t n = (size_t)item->pass->n_option;
    VfRecipeOption *option = VF_NEW_ARRAY(arena, VfRecipeOption, n);
    VF_TRY_ALLOC(option, err);
    *pass = (VfRecipePass){.name = item->pass->name, .sites = item->sites.spec, .option = option};
    for (size_t i = 0; i < n; i++) {
        const VfOption *row = &item->pass->option[i];
        if (!is_unset(row, item->options))
            VF_TRY(describe_option(arena, row, item->options, &option[pass->n_option++], err));
    }
    return VF_OK;
}

/* The names of the recipe and of the list, each once. */
static VfStatus describe_skips(VfArena *arena, const char *list, VfRecipe *recipe, VfErr *err)
{
    VfRecipePass *skip = VF_NEW_ARRAY(arena, VfRecipePass, (size_t)vf_pass_count);
    int32_t n = 0;
    VF_TRY_ALLOC(skip, err);
    for (int32_t i = 0; i < vf_pass_count; i++) {
        const char *name = vf_pass_table[i]->name;
        if (is_skipped(recipe, list, name))
            skip[n++] = (VfRecipePass){.name = name};
    }
    recipe->skip = skip;
    recipe->n_skip = n;
    return VF_OK;
}

VfStatus vf_recipe_describe(VfArena *arena, const VfPipeline *pipeline, const char *skip,
                            VfRecipe *recipe, VfErr *err)
{
    VF_TRY(describe_skips(arena, skip, recipe, err));
    VfRecipePass *pass = VF_NEW_ARRAY(arena, VfRecipePass, (size_t)pipeline->n_item);
    VF_TRY_ALLOC(pass, err);
    for (int32_t i = 0; i < pipeline->n_item; i++)
        VF_TRY(describe_item(arena, &pipeline->item[i], &pass[i], err));
    recipe->pass = pass;
    recipe->n_pass = pipeline->n_item;
    recipe->tool = vf_arena_printf(arena, "vitfold %s", vitfold_version());
    VF_TRY_ALLOC(recipe->tool, err);
    return VF_OK;
}

const char *vitfold_recipe_schema(size_t *size)
{
    VfBytes schema = vf_recipe_schema();
    *size = schema.size;
    return schema.data;
}

int vitfold_model_recipe(const VitfoldModel *model, const char **text, size_t *size,
                         VitfoldError *err)
{
    VfText out;
    VfBytes done;
    if (model->recipe == NULL)
        return (int)vf_fail(err, VF_USAGE, "no passes were run over '%s'", model->path);
    vf_text_init(&out, model->arena);
    VfStatus status = vf_recipe_write(model->recipe, &out, err);
    if (status == VF_OK)
        status = vf_text_get(&out, &done, err);
    if (status != VF_OK)
        return (int)status;
    *text = done.data;
    *size = done.size;
    return VITFOLD_OK;
}
