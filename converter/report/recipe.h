/* A recipe: the words of a pipeline as an XML file, so that it can be kept and replayed.
 *
 * Here it is only words. That passes and options exist is for who makes a pipeline of them, and
 * the lines are kept for the sentences of that. The form is the RelaxNG schema recipe.rng, which
 * is compiled in and shipped beside the program; docs/recipe.md explains it.
 *
 * Reading trusts nothing: at most VF_RECIPE_BYTES_MAX of UTF-8 without 0 bytes, no DOCTYPE and
 * therefore no entities of its own, nothing fetched, nesting bounded by libxml2.
 * Writing has one form, which reads back as the same recipe: reading and writing it again gives
 * the same bytes.
 */
#ifndef VF_REPORT_RECIPE_H
#define VF_REPORT_RECIPE_H

#include "runtime/base/arena.h"
#include "runtime/base/bytes.h"
#include "runtime/base/status.h"
#include "runtime/base/text.h"

enum { VF_RECIPE_BYTES_MAX = 1 << 20 };

typedef struct VfRecipeOption {
    const char *name, *value;
    int line;
} VfRecipeOption;

typedef struct VfRecipePass {
    const char *name;
    const char *sites; /* NULL: all */
    const VfRecipeOption *option;
    int32_t n_option;
    int line; /* in the file, from 1; not written */
} VfRecipePass;

typedef struct VfRecipe {
    const char *tool; /* "vitfold 0.1.0": what wrote it; NULL: unknown */
    const char *note; /* free text, or NULL */
    bool is_bare;     /* clean-up passes do not run around the pipeline */
    const VfRecipePass *skip; /* passes left out: name and line alone */
    const VfRecipePass *pass; /* in order */
    int32_t n_skip, n_pass;
} VfRecipe;

/* Parse and check, in a child process: libxml2 may crash when it gets no memory (apart.h), which is
 * VF_IO then. Everything is a copy in `arena`. VF_USAGE with one sentence that begins
 * "NAME:LINE: ". */
VfStatus vf_recipe_read(VfArena *arena, VfBytes bytes, const char *name, VfRecipe *recipe,
                        VfErr *err);

/* The same in this process, one thread at a time. */
VfStatus vf_recipe_parse(VfArena *arena, VfBytes bytes, const char *name, VfRecipe *recipe,
                         VfErr *err);

/* VF_USAGE where a text holds what XML cannot: control characters, bytes that are not UTF-8. */
VfStatus vf_recipe_write(const VfRecipe *recipe, VfText *text, VfErr *err);

/* The RelaxNG schema. */
VfBytes vf_recipe_schema(void);

#endif
