#include "converter/emit/earlier.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/file.h"
#include "runtime/base/sha256.h"

enum { MAX_DEPTH = 4, DIGITS = VF_SHA256_TEXT - 1, BEFORE_PATH = DIGITS + 2 };

typedef struct Earlier {
    VfArena *arena;
    const char *root;
    VfMapping list; /* FILES */
} Earlier;

static bool is_built(const char *path)
{
    static const char *const built[] = {"executor",  "executor-blas",  "executor-fma",
                                        "executor-blas-fma", "build", "build-blas",
                                        "build-fma", "build-blas-fma"};
    for (size_t i = 0; i < sizeof built / sizeof *built; i++)
        if (strcmp(path, built[i]) == 0)
            return true;
    return strcmp(path, VF_EMIT_LIST) == 0;
}

/* The digest that the list has for `path`, or NULL. */
static const char *find_digest(const Earlier *earlier, const char *path)
{
    const char *at = (const char *)earlier->list.data, *end = at + earlier->list.size;
    size_t n_path = strlen(path);
    while (at < end) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        size_t n = (size_t)((line_end == NULL ? end : line_end) - at);
        if (n == BEFORE_PATH + n_path && memcmp(at + BEFORE_PATH, path, n_path) == 0)
            return at;
        at += n + 1;
    }
    return NULL;
}

static VfStatus is_unchanged(const Earlier *earlier, const char *whole, const char *path,
                             bool *answer, VfErr *err)
{
    const char *digest = find_digest(earlier, path);
    char found[VF_SHA256_TEXT];
    *answer = false;
    if (digest == NULL)
        return VF_OK;
    VF_TRY(vf_sha256_file(whole, found, err));
    *answer = memcmp(digest, found, DIGITS) == 0;
    return VF_OK;
}

static VfStatus check_folder(const Earlier *earlier, const char *inner, int depth, VfErr *err);

/* `path` is relative to the root. */
static VfStatus check_entry(const Earlier *earlier, const char *path, int depth, VfErr *err)
{
    VfFileFacts facts;
    char *whole;
    bool is_ours = false;
    if (depth == 0 && is_built(path))
        return VF_OK;
    VF_TRY(vf_path_join(earlier->arena, earlier->root, path, &whole, err));
    VF_TRY(vf_file_facts(whole, &facts, err));
    if (facts.is_folder && !facts.is_link && depth < MAX_DEPTH)
        return check_folder(earlier, path, depth + 1, err);
    if (facts.is_regular && !facts.is_link)
        VF_TRY(is_unchanged(earlier, whole, path, &is_ours, err));
    if (is_ours)
        return VF_OK;
    return vf_fail(err, VF_USAGE, "folder '%s' holds '%s', which is no unchanged file of an "
                                  "earlier "
                   "emission", earlier->root, path);
}

static VfStatus check_folder(const Earlier *earlier, const char *inner, int depth, VfErr *err)
{
    const char **name;
    size_t n_name;
    char *whole, *path;
    VF_TRY(vf_path_join(earlier->arena, earlier->root, inner, &whole, err));
    if (inner[0] == '\0')
        whole = vf_arena_string(earlier->arena, earlier->root);
    VF_TRY_ALLOC(whole, err);
    /* Its files could not be removed. */
    if (faccessat(AT_FDCWD, whole, W_OK | X_OK, AT_EACCESS) != 0)
        return vf_fail(err, VF_IO, "cannot replace '%s': %s", whole, strerror(errno));
    VF_TRY(vf_folder_list(earlier->arena, whole, &name, &n_name, err));
    for (size_t i = 0; i < n_name; i++) {
        if (inner[0] == '\0')
            path = vf_arena_string(earlier->arena, name[i]);
        else
            path = vf_arena_printf(earlier->arena, "%s/%s", inner, name[i]);
        VF_TRY_ALLOC(path, err);
        VF_TRY(check_entry(earlier, path, depth, err));
    }
    return VF_OK;
}

VfStatus vf_emit_earlier_check(const char *path, VfArena *arena, bool *replaces, VfErr *err)
{
    Earlier earlier = {.arena = arena, .root = path};
    VfFileFacts facts;
    const char **name;
    size_t n_name;
    char *list;
    *replaces = false;
    if (!vf_file_exists(path))
        return VF_OK;
    VF_TRY(vf_file_facts(path, &facts, err));
    if (!facts.is_folder)
        return vf_fail(err, VF_USAGE, "'%s' is there and is no folder", path);
    VF_TRY(vf_folder_list(arena, path, &name, &n_name, err));
    if (n_name == 0)
        return VF_OK;
    VF_TRY(vf_path_join(arena, path, VF_EMIT_LIST, &list, err));
    if (vf_file_exists(list))
        VF_TRY(vf_file_map(list, &earlier.list, err));
    VfStatus status = check_folder(&earlier, "", 0, err);
    vf_file_unmap(&earlier.list);
    *replaces = status == VF_OK;
    return status;
}
