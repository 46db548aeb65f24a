#include "converter/emit/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "converter/emit/earlier.h"
#include "converter/emit/remove_tree.h"

enum { MAX_TRIES = 100 };

static VfStatus fail_at(VfErr *err, const char *what, const char *path)
{
    return vf_fail(err, VF_IO, "cannot %s '%s': %s", what, path, strerror(errno));
}

/* --- beginning --- */

/* `path` without slashes at its end and, if it is there, without links. */
static VfStatus resolve(VfEmitFolder *folder, const char *path, VfErr *err)
{
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/')
        n--;
    if (n == 0)
        return vf_fail(err, VF_USAGE, "the name of the folder is empty");
    folder->path = vf_arena_copy(folder->arena, path, n);
    VF_TRY_ALLOC(folder->path, err);
    char *real = realpath(folder->path, NULL);
    if (real == NULL)
        return VF_OK;
    folder->path = vf_arena_string(folder->arena, real);
    free(real);
    VF_TRY_ALLOC(folder->path, err);
    return VF_OK;
}

static VfStatus make_temporary(VfEmitFolder *folder, VfErr *err)
{
    char *parent;
    const char *name;
    VF_TRY(vf_path_split(folder->arena, folder->path, &parent, &name, err));
    for (int i = 0; i < MAX_TRIES; i++) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        const char *path = vf_arena_printf(folder->arena, "%s/.vitfold-%ld-%lx-%d.tmp", parent,
                                           (long)getpid(), (unsigned long)now.tv_nsec, i);
        VF_TRY_ALLOC(path, err);
        if (mkdir(path, 0777) == 0) {
            folder->temporary = path;
            return VF_OK;
        }
        if (errno != EEXIST)
            break;
    }
    return fail_at(err, "write", folder->path);
}

VfStatus vf_emit_folder_open(VfEmitFolder *folder, const char *path, VfArena *arena, VfErr *err)
{
    *folder = (VfEmitFolder){.arena = arena};
    vf_text_init(&folder->list, arena);
    VF_TRY(vf_out_check_path(path, err));
    VF_TRY(resolve(folder, path, err));
    VF_TRY(vf_emit_earlier_check(folder->path, arena, &folder->replaces, err));
    return make_temporary(folder, err);
}

/* --- files --- */

static VfStatus make_parents(const VfEmitFolder *folder, const char *path, VfErr *err)
{
    for (const char *slash = strchr(path, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        const char *parent = vf_arena_printf(folder->arena, "%s/%.*s", folder->temporary,
                                             (int)(slash - path), path);
        VF_TRY_ALLOC(parent, err);
        VF_TRY(vf_folder_make(parent, err));
    }
    return VF_OK;
}

VfStatus vf_emit_folder_begin(VfEmitFolder *folder, const char *path, VfErr *err)
{
    char *whole;
    VF_TRY(make_parents(folder, path, err));
    VF_TRY(vf_path_join(folder->arena, folder->temporary, path, &whole, err));
    vf_sha256_init(&folder->sha);
    folder->current = vf_arena_string(folder->arena, path);
    VF_TRY_ALLOC(folder->current, err);
    return vf_out_open(whole, &folder->out, err);
}

VfStatus vf_emit_folder_put(void *user, const void *data, size_t size, VfErr *err)
{
    VfEmitFolder *folder = user;
    vf_sha256_add(&folder->sha, data, size);
    return vf_out_write(folder->out, data, size, err);
}

VfStatus vf_emit_folder_end(VfEmitFolder *folder, VfErr *err)
{
    char digest[VF_SHA256_TEXT];
    uint64_t bytes = vf_out_position(folder->out);
    VfOutFile *out = folder->out;
    folder->out = NULL;
    VF_TRY(vf_out_commit(out, err));
    vf_sha256_text(&folder->sha, digest);
    vf_text_printf(&folder->list, "%s  %s\n", digest, folder->current);
    VF_TRY(vf_arena_grow(folder->arena, (void **)&folder->file, &folder->capacity,
                         folder->n_file + 1, sizeof *folder->file, err));
    folder->file[folder->n_file++] = (VfEmitFile){folder->current, bytes};
    folder->bytes += bytes;
    return VF_OK;
}

VfStatus vf_emit_folder_add(VfEmitFolder *folder, const char *path, const void *data, size_t size,
                            VfErr *err)
{
    VF_TRY(vf_emit_folder_begin(folder, path, err));
    VF_TRY(vf_emit_folder_put(folder, data, size, err));
    return vf_emit_folder_end(folder, err);
}

/* --- end --- */

static VfStatus sync_folder(const char *path, VfErr *err)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int failed = fd < 0 || fsync(fd) != 0;
    VfStatus status = failed ? fail_at(err, "write", path) : VF_OK;
    if (fd >= 0)
        close(fd);
    return status;
}

/* Where the system cannot exchange two names, there is a moment without the folder. */
static VfStatus exchange(const VfEmitFolder *folder, VfErr *err)
{
    if (renameat2(AT_FDCWD, folder->temporary, AT_FDCWD, folder->path, RENAME_EXCHANGE) == 0) {
        vf_remove_tree(folder->temporary);
        return VF_OK;
    }
    const char *old = vf_arena_printf(folder->arena, "%s.old", folder->temporary);
    VF_TRY_ALLOC(old, err);
    if (rename(folder->path, old) != 0)
        return fail_at(err, "replace", folder->path);
    if (rename(folder->temporary, folder->path) != 0) {
        VfStatus status = fail_at(err, "replace", folder->path);
        rename(old, folder->path);
        return status;
    }
    vf_remove_tree(old);
    return VF_OK;
}

VfStatus vf_emit_folder_finish(VfEmitFolder *folder, VfErr *err)
{
    VfBytes list;
    VF_TRY(vf_text_get(&folder->list, &list, err));
    VF_TRY(vf_emit_folder_add(folder, VF_EMIT_LIST, list.data, list.size, err));
    return sync_folder(folder->temporary, err);
}

VfStatus vf_emit_folder_commit(VfEmitFolder *folder, VfErr *err)
{
    char *parent;
    const char *name;
    VF_TRY(vf_path_split(folder->arena, folder->path, &parent, &name, err));
    if (folder->replaces)
        VF_TRY(exchange(folder, err));
    else if (rename(folder->temporary, folder->path) != 0)
        return fail_at(err, "write", folder->path);
    folder->temporary = NULL;
    return sync_folder(parent, err);
}

void vf_emit_folder_abandon(VfEmitFolder *folder)
{
    vf_out_abandon(folder->out);
    folder->out = NULL;
    if (folder->temporary != NULL)
        vf_remove_tree(folder->temporary);
    folder->temporary = NULL;
}
