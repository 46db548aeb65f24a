/* Recipes as pipelines and pipelines as recipes. */
#ifndef VF_API_RECIPE_H
#define VF_API_RECIPE_H

#include "converter/report/recipe.h"
#include "passes/manager.h"

/* Read the file at `path`. VF_USAGE for a recipe that is none: it is no model file. */
VfStatus vf_recipe_load(VfArena *arena, const char *path, VfRecipe *recipe, VfErr *err);

/* The pipeline that a recipe read from `path` describes, without what `skip` (may be NULL) and the
 * recipe itself leave out. VF_USAGE names the line of what is unknown. */
VfStatus vf_recipe_pipeline(VfArena *arena, const VfRecipe *recipe, const char *path,
                            const char *skip, VfPipeline *pipeline, VfErr *err);

/* Put the passes of `pipeline` and the names of `skip` in a recipe that has the rest. Every option
 * is told, also those with their defaults: those of another version may differ. */
VfStatus vf_recipe_describe(VfArena *arena, const VfPipeline *pipeline, const char *skip,
                            VfRecipe *recipe, VfErr *err);

#endif
