#include "runtime/base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static VfStatus fail_io(VfErr *err, const char *what, const char *path)
{
    return vf_fail(err, VF_IO, "cannot %s '%s': %s", what, path, strerror(errno));
}

VfStatus vf_file_facts(const char *path, VfFileFacts *facts, VfErr *err)
{
    struct stat own, reached;
    if (lstat(path, &own) != 0 || stat(path, &reached) != 0)
        return fail_io(err, "look at", path);
    *facts = (VfFileFacts){
        .is_regular = S_ISREG(reached.st_mode),
        .is_folder = S_ISDIR(reached.st_mode),
        .is_link = S_ISLNK(own.st_mode),
        .size = (uint64_t)reached.st_size,
        .device = (uint64_t)reached.st_dev,
        .inode = (uint64_t)reached.st_ino,
        .n_links = (uint64_t)reached.st_nlink,
    };
    return VF_OK;
}

bool vf_file_exists(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0;
}

VfStatus vf_file_map_fd(int fd, const char *name, VfMapping *mapping, VfErr *err)
{
    struct stat facts;
    if (fstat(fd, &facts) != 0)
        return fail_io(err, "look at", name);
    if (!S_ISREG(facts.st_mode))
        return vf_fail(err, VF_IO, "cannot map '%s': not a regular file", name);
    if (facts.st_size < 0 || (uint64_t)facts.st_size > PTRDIFF_MAX)
        return vf_fail(err, VF_IO, "cannot map '%s': file is too large", name);
    size_t size = (size_t)facts.st_size;
    *mapping = (VfMapping){(const unsigned char *)"", size};
    if (size == 0)
        return VF_OK;
    void *data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED)
        return fail_io(err, "map", name);
    mapping->data = data;
    return VF_OK;
}

VfStatus vf_file_map(const char *path, VfMapping *mapping, VfErr *err)
{
    /* Without O_NONBLOCK, opening a pipe that nobody writes would wait for ever. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return fail_io(err, "open", path);
    VfStatus status = vf_file_map_fd(fd, path, mapping, err);
    close(fd);
    return status;
}

void vf_file_release(const void *data, size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t before = (page - (uintptr_t)data % page) % page;
    if (bytes < before + page)
        return;
    size_t whole = (bytes - before) / page * page;
    /* Nobody can write to the mapping, so its pages are the file's. Failing costs memory only. */
    madvise((char *)(uintptr_t)data + before, whole, MADV_DONTNEED);
}

void vf_file_unmap(VfMapping *mapping)
{
    if (mapping->size > 0)
        munmap((void *)(uintptr_t)mapping->data, mapping->size);
    *mapping = (VfMapping){NULL, 0};
}

VfStatus vf_path_split(VfArena *arena, const char *path, char **folder, const char **name,
                       VfErr *err)
{
    const char *slash = strrchr(path, '/');
    *name = slash == NULL ? path : slash + 1;
    if (slash == NULL)
        *folder = vf_arena_string(arena, ".");
    else
        *folder = vf_arena_copy(arena, path, slash == path ? 1 : (size_t)(slash - path));
    VF_TRY_ALLOC(*folder, err);
    return VF_OK;
}

VfStatus vf_path_join(VfArena *arena, const char *folder, const char *name, char **path,
                      VfErr *err)
{
    size_t n = strlen(folder);
    const char *slash = n > 0 && folder[n - 1] == '/' ? "" : "/";
    *path = vf_arena_printf(arena, "%s%s%s", folder, slash, name);
    VF_TRY_ALLOC(*path, err);
    return VF_OK;
}

VfStatus vf_folder_make(const char *path, VfErr *err)
{
    struct stat facts;
    VF_TRY(vf_out_check_path(path, err));
    if (mkdir(path, 0777) == 0)
        return VF_OK;
    int reason = errno;
    if (reason == EEXIST && stat(path, &facts) == 0 && S_ISDIR(facts.st_mode))
        return VF_OK;
    errno = reason;
    return fail_io(err, "make folder", path);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static VfStatus add_name(VfArena *arena, const char *entry, const char ***name, size_t *n_name,
                         size_t *capacity, VfErr *err)
{
    if (strcmp(entry, ".") == 0 || strcmp(entry, "..") == 0)
        return VF_OK;
    void *items = *name;
    VF_TRY(vf_arena_grow(arena, &items, capacity, *n_name + 1, sizeof **name, err));
    *name = items;
    (*name)[*n_name] = vf_arena_string(arena, entry);
    VF_TRY_ALLOC((*name)[*n_name], err);
    ++*n_name;
    return VF_OK;
}

VfStatus vf_folder_list(VfArena *arena, const char *path, const char ***name, size_t *n_name,
                        VfErr *err)
{
    DIR *folder = opendir(path);
    if (folder == NULL)
        return fail_io(err, "open folder", path);
    *name = NULL;
    *n_name = 0;
    size_t capacity = 0;
    VfStatus status = VF_OK;
    struct dirent *entry;
    while (status == VF_OK && (entry = readdir(folder)) != NULL)
        status = add_name(arena, entry->d_name, name, n_name, &capacity, err);
    closedir(folder);
    if (status == VF_OK && *n_name > 1)
        qsort(*name, *n_name, sizeof **name, compare_names);
    return status;
}
