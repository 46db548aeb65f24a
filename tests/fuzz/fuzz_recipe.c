/* Recipes: what was read is written, and reads back; and words of pipelines. */
#include <string.h>

#include "converter/report/recipe.h"
#include "passes/manager.h"
#include "tests/fuzz/harness.h"

static void read_back(VfArena *arena, const VfRecipe *recipe)
{
    VfErr err = {0};
    VfText text;
    VfBytes written;
    VfRecipe again;
    vf_text_init(&text, arena);
    if (vf_recipe_write(recipe, &text, &err) != VF_OK) /* XML cannot hold every text */
        return;
    VF_FUZZ_PROMISE(vf_text_get(&text, &written, &err) == VF_OK, "%s\n", err.text);
    VfStatus status = vf_recipe_parse(arena, written, "written", &again, &err);
    VF_FUZZ_PROMISE(status == VF_OK, "written recipe is refused: %s\n", err.text);
}

static void read_words(VfArena *arena, const uint8_t *data, size_t size)
{
    VfErr err = {0};
    VfPipeline pipeline;
    const char *words = vf_arena_copy(arena, data, size);
    VfStatus status = vf_pipeline_parse(arena, words, NULL, &pipeline, &err);
    VF_FUZZ_PROMISE(status == VF_OK || status == VF_USAGE, "status %d: %s\n", (int)status,
                    err.text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    VfErr err = {0};
    VfRecipe recipe;
    VfArena *arena = vf_arena_new();
    if (size > 0 && data[0] != '<')
        read_words(arena, data, size);
    else if (vf_recipe_parse(arena, (VfBytes){(const char *)data, size}, "fuzz", &recipe, &err) ==
             VF_OK)
        read_back(arena, &recipe);
    vf_arena_free(arena);
    return 0;
}
