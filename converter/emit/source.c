#include "converter/emit/source.h"

#include <stdio.h>
#include <string.h>

enum { MAX_PATH = 256 };

static const char include[] = "#include \"";

int vf_emit_source_find(const char *path, size_t n_path)
{
    for (int i = 0; vf_emit_source[i].path != NULL; i++)
        if (strlen(vf_emit_source[i].path) == n_path &&
            memcmp(vf_emit_source[i].path, path, n_path) == 0)
            return i;
    return -1;
}

VfStatus vf_emit_set_init(VfEmitSet *set, VfArena *arena, VfErr *err)
{
    set->n = 0;
    while (vf_emit_source[set->n].path != NULL)
        set->n++;
    set->has = VF_NEW_ARRAY(arena, bool, (size_t)set->n + 1);
    VF_TRY_ALLOC(set->has, err);
    return VF_OK;
}

static VfStatus add_path(VfEmitSet *set, const char *path, size_t n_path, VfErr *err);

/* Includes stand at the start of a line; the closing quote is before its end. */
static VfStatus add_included(VfEmitSet *set, const VfEmitSource *source, VfErr *err)
{
    const char *at = source->data, *end = at + source->size;
    while (at < end) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        size_t n = (size_t)((line_end == NULL ? end : line_end) - at), skip = sizeof include - 1;
        const char *quote = n > skip && memcmp(at, include, skip) == 0
                                ? memchr(at + skip, '"', n - skip)
                                : NULL;
        if (quote != NULL)
            VF_TRY(add_path(set, at + skip, (size_t)(quote - at) - skip, err));
        at += n + 1;
    }
    return VF_OK;
}

static VfStatus add_path(VfEmitSet *set, const char *path, size_t n_path, VfErr *err)
{
    int i = vf_emit_source_find(path, n_path);
    if (i < 0)
        return vf_fail(err, VF_INTERNAL, "there is no source '%.*s'", (int)n_path, path);
    if (set->has[i])
        return VF_OK;
    set->has[i] = true;
    return add_included(set, &vf_emit_source[i], err);
}

VfStatus vf_emit_set_add_kernel(VfEmitSet *set, const char *name, VfErr *err)
{
    char path[MAX_PATH];
    int n = snprintf(path, sizeof path, "runtime/kernels/%s", name);
    if (n < 0 || (size_t)n >= sizeof path)
        return vf_fail(err, VF_INTERNAL, "the name of source '%s' is too long", name);
    return add_path(set, path, (size_t)n, err);
}
