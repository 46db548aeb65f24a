#include "converter/onnx/external.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

VfMappedFiles *vf_mapped_files_new(void)
{
    return calloc(1, sizeof(VfMappedFiles));
}

void vf_mapped_files_free(void *opaque)
{
    VfMappedFiles *files = opaque;
    if (files == NULL)
        return;
    for (VfMappedFile *file = files->first; file != NULL;) {
        VfMappedFile *next = file->next;
        vf_file_unmap(&file->mapping);
        free(file);
        file = next;
    }
    free(files);
}

/* Map the open file, or find that it is mapped already. Leaves `fd` open. */
static VfStatus map_open(VfMappedFiles *files, int fd, const char *name,
                         const VfMapping **mapping, VfErr *err)
{
    struct stat facts;
    if (fstat(fd, &facts) != 0)
        return vf_fail(err, VF_IO, "cannot look at '%s': %s", name, strerror(errno));
    VfMappedFile **link = &files->first;
    for (; *link != NULL; link = &(*link)->next) {
        if ((*link)->device == (uint64_t)facts.st_dev && (*link)->inode == (uint64_t)facts.st_ino)
            break;
    }
    if (*link == NULL) {
        VfMappedFile *file = calloc(1, sizeof *file);
        VF_TRY_ALLOC(file, err);
        VfStatus status = vf_file_map_fd(fd, name, &file->mapping, err);
        if (status != VF_OK) {
            free(file);
            return status;
        }
        file->device = (uint64_t)facts.st_dev;
        file->inode = (uint64_t)facts.st_ino;
        *link = file;
    }
    *mapping = &(*link)->mapping;
    return VF_OK;
}

VfStatus vf_mapped_files_add(VfMappedFiles *files, const char *path, const VfMapping **mapping,
                             VfErr *err)
{
    /* Without O_NONBLOCK, opening a pipe that nobody writes would wait for ever. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return vf_fail(err, VF_IO, "cannot open '%s': %s", path, strerror(errno));
    VfStatus status = map_open(files, fd, path, mapping, err);
    close(fd);
    return status;
}

static VfStatus refuse(VfErr *err, const char *location, const char *why)
{
    return vf_fail(err, VF_INVALID, "external data '%s' is refused: %s", location, why);
}

/* Only steps down: no absolute path, no "..", no 0 byte. */
static VfStatus check_location(VfBytes location, const char *text, VfErr *err)
{
    if (location.size == 0)
        return refuse(err, text, "the location is empty");
    if (strlen(text) != location.size)
        return refuse(err, text, "the location holds a 0 byte");
    if (text[0] == '/')
        return refuse(err, text, "the path is absolute");
    for (const char *step = text; step != NULL;) {
        const char *slash = strchr(step, '/');
        size_t n = slash == NULL ? strlen(step) : (size_t)(slash - step);
        if (n == 2 && step[0] == '.' && step[1] == '.')
            return refuse(err, text, "the path has '..'");
        step = slash == NULL ? NULL : slash + 1;
    }
    return VF_OK;
}

/* Open `path`, which is changed, below the open folder `at`, following no link. Closes `at`.
 * Returns -1 with errno. */
static int open_below(int at, char *path)
{
    for (char *step = path; at >= 0;) {
        char *slash = strchr(step, '/');
        if (slash != NULL)
            *slash = '\0';
        int flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC;
        flags |= slash != NULL ? O_DIRECTORY : O_NONBLOCK;
        int next = openat(at, step[0] == '\0' ? "." : step, flags);
        int reason = errno;
        close(at);
        errno = reason;
        at = next;
        if (slash == NULL)
            break;
        step = slash + 1;
    }
    return at;
}

static int open_folder(const char *path)
{
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* Open a location that may lead through links, if it ends inside `root`. The links are resolved
 * to a path first and that path is opened without following any, so a link that changes in
 * between leads nowhere. */
static VfStatus open_linked(VfArena *scratch, const char *folder, const char *location,
                            const char *root, int *fd, VfErr *err)
{
    char *path, real_root[PATH_MAX], real_path[PATH_MAX];
    VF_TRY(vf_path_join(scratch, folder, location, &path, err));
    if (realpath(root, real_root) == NULL)
        return vf_fail(err, VF_IO, "cannot open folder '%s': %s", root, strerror(errno));
    if (realpath(path, real_path) == NULL)
        return vf_fail(err, VF_IO, "cannot open '%s': %s", path, strerror(errno));
    size_t n = strlen(real_root);
    n -= real_root[n - 1] == '/'; /* only "/" ends so */
    if (strncmp(real_root, real_path, n) != 0 || real_path[n] != '/')
        return refuse(err, location, "it leads out of the folder for linked data");
    *fd = open_below(open_folder(real_root), real_path + n + 1);
    if (*fd < 0)
        return vf_fail(err, VF_IO, "cannot open '%s': %s", path, strerror(errno));
    return VF_OK;
}

static VfStatus open_plain(VfArena *scratch, const char *folder, const char *location, int *fd,
                           VfErr *err)
{
    char *steps = vf_arena_string(scratch, location);
    VF_TRY_ALLOC(steps, err);
    *fd = open_below(open_folder(folder), steps);
    if (*fd >= 0)
        return VF_OK;
    /* O_DIRECTORY with O_NOFOLLOW calls a link to a folder no folder. */
    if (errno == ELOOP || errno == ENOTDIR)
        return refuse(err, location, "it leads through a symbolic link (--allow-linked-data)");
    if (errno == ENXIO)
        return refuse(err, location, "it is not a regular file");
    return vf_fail(err, VF_IO, "cannot open '%s' in '%s': %s", location, folder, strerror(errno));
}

static VfStatus check_open(int fd, const char *location, bool is_linked, VfErr *err)
{
    struct stat facts;
    if (fstat(fd, &facts) != 0)
        return vf_fail(err, VF_IO, "cannot look at '%s': %s", location, strerror(errno));
    if (!S_ISREG(facts.st_mode))
        return refuse(err, location, "it is not a regular file");
    if (facts.st_nlink > 1 && !is_linked)
        return refuse(err, location, "the file has several hard links");
    return VF_OK;
}

VfStatus vf_external_map(VfMappedFiles *files, VfArena *scratch, const char *folder,
                         VfBytes location, const char *linked_root, const VfMapping **mapping,
                         VfErr *err)
{
    char *text = vf_arena_copy(scratch, location.data, location.size);
    VF_TRY_ALLOC(text, err);
    VF_TRY(check_location(location, text, err));
    int fd = -1;
    VfStatus status = open_plain(scratch, folder, text, &fd, err);
    if (status == VF_OK)
        status = check_open(fd, text, false, err);
    if (status == VF_INVALID && linked_root != NULL) {
        if (fd >= 0)
            close(fd);
        fd = -1;
        VF_TRY(open_linked(scratch, folder, text, linked_root, &fd, err));
        status = check_open(fd, text, true, err);
    }
    if (status == VF_OK)
        status = map_open(files, fd, text, mapping, err);
    if (fd >= 0)
        close(fd);
    return status;
}
