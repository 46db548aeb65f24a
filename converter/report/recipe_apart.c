/* A recipe read in a child process: libxml2's schemas do not survive a failed allocation. */
#include <string.h>

#include "converter/draw/apart.h"
#include "converter/report/recipe.h"

/* --- what the child answers: words, each behind a sign that it is there, and numbers --- */

static void put_number(VfText *out, int32_t number)
{
    vf_text_add(out, &number, sizeof number);
}

static void put_word(VfText *out, const char *word)
{
    put_number(out, word == NULL ? -1 : (int32_t)strlen(word));
    if (word != NULL)
        vf_text_string(out, word);
}

static void put_passes(VfText *out, const VfRecipePass *pass, int32_t n)
{
    put_number(out, n);
    for (int32_t i = 0; i < n; i++) {
        put_word(out, pass[i].name);
        put_word(out, pass[i].sites);
        put_number(out, pass[i].line);
        put_number(out, pass[i].n_option);
        for (int32_t k = 0; k < pass[i].n_option; k++) {
            put_word(out, pass[i].option[k].name);
            put_word(out, pass[i].option[k].value);
            put_number(out, pass[i].option[k].line);
        }
    }
}

/* The request is the name of the file, a 0 byte, and what is in it. */
static VfStatus answer(VfBytes request, VfText *out, VfErr *err)
{
    VfRecipe recipe;
    size_t name_size = strlen(request.data) + 1;
    VfBytes bytes = {request.data + name_size, request.size - name_size};
    VF_TRY(vf_recipe_parse(out->arena, bytes, request.data, &recipe, err));
    put_word(out, recipe.tool);
    put_word(out, recipe.note);
    put_number(out, recipe.is_bare);
    put_passes(out, recipe.skip, recipe.n_skip);
    put_passes(out, recipe.pass, recipe.n_pass);
    return VF_OK;
}

/* --- and what becomes of it --- */

typedef struct Answer {
    VfArena *arena;
    VfBytes left;
    bool has_failed; /* no memory */
} Answer;

static int32_t take_number(Answer *from)
{
    int32_t number;
    memcpy(&number, from->left.data, sizeof number);
    from->left.data += sizeof number;
    from->left.size -= sizeof number;
    return number;
}

static const char *take_word(Answer *from)
{
    int32_t n = take_number(from);
    if (n < 0)
        return NULL;
    const char *word = vf_arena_copy(from->arena, from->left.data, (size_t)n);
    from->has_failed |= word == NULL;
    from->left.data += n;
    from->left.size -= (size_t)n;
    return word;
}

static const VfRecipeOption *take_options(Answer *from, int32_t n)
{
    VfRecipeOption *option = VF_NEW_ARRAY(from->arena, VfRecipeOption, (size_t)n);
    from->has_failed |= option == NULL;
    for (int32_t k = 0; k < n && !from->has_failed; k++) {
        option[k].name = take_word(from);
        option[k].value = take_word(from);
        option[k].line = take_number(from);
    }
    return option;
}

static const VfRecipePass *take_passes(Answer *from, int32_t *n)
{
    *n = take_number(from);
    VfRecipePass *pass = VF_NEW_ARRAY(from->arena, VfRecipePass, (size_t)*n);
    from->has_failed |= pass == NULL;
    for (int32_t i = 0; i < *n && !from->has_failed; i++) {
        pass[i].name = take_word(from);
        pass[i].sites = take_word(from);
        pass[i].line = take_number(from);
        pass[i].n_option = take_number(from);
        pass[i].option = take_options(from, pass[i].n_option);
    }
    return pass;
}

static VfStatus take_recipe(Answer *from, VfRecipe *recipe, VfErr *err)
{
    recipe->tool = take_word(from);
    recipe->note = take_word(from);
    recipe->is_bare = take_number(from) != 0;
    recipe->skip = take_passes(from, &recipe->n_skip);
    if (!from->has_failed)
        recipe->pass = take_passes(from, &recipe->n_pass);
    return from->has_failed ? vf_no_memory(err) : VF_OK;
}

VfStatus vf_recipe_read(VfArena *arena, VfBytes bytes, const char *name, VfRecipe *recipe,
                        VfErr *err)
{
    static const VfApartJob job = {"read a recipe", "libxml2", "as it does without memory", 20,
                                   answer};
    VfApart apart = {0};
    VfText request;
    Answer from = {.arena = arena};
    *recipe = (VfRecipe){0};
    if (bytes.size > VF_RECIPE_BYTES_MAX)
        return vf_fail(err, VF_USAGE, "%s:1: it has %zu bytes, a recipe at most %d", name,
                       bytes.size, VF_RECIPE_BYTES_MAX);
    vf_text_init(&request, arena);
    vf_text_add(&request, name, strlen(name) + 1);
    vf_text_add(&request, bytes.data, bytes.size);
    if (request.failed)
        return vf_no_memory(err);
    VfStatus status = vf_apart_ask(&apart, &job, arena, (VfBytes){request.data, request.size},
                                   &from.left, err);
    vf_apart_stop(&apart);
    VF_TRY(status);
    return take_recipe(&from, recipe, err);
}
