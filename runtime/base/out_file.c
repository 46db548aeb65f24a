/* Files that appear whole or not at all. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "runtime/base/file.h"

enum {
    BUFFER_BYTES = 1 << 16,
    DIRECT_BYTES = 1 << 14, /* pieces from here on are not gathered */
    MAX_TRIES = 100,        /* names tried for a temporary file */
    MAX_WRITE = 1 << 23     /* one call writes; big enough to keep a disk busy */
};

struct VfOutFile {
    int fd;
    bool is_direct; /* written straight through: a pipe or device */
    bool is_named;  /* `temporary` exists in the folder */
    bool is_finished;
    mode_t mode;    /* of the file it replaces, or 0 */
    char *path;     /* what the user said, for messages */
    char *real;     /* the file to replace, links resolved */
    char *temporary;
    uint64_t position;
    size_t n_buffered;
    unsigned char buffer[BUFFER_BYTES];
};

static VfStatus fail_out(VfErr *err, const char *what, const VfOutFile *out)
{
    return vf_fail(err, VF_IO, "cannot %s '%s': %s", what, out->path, strerror(errno));
}

/* Bytes to write may lie in a mapped file, which another process can cut. */
static VfStatus fail_write(VfErr *err, const VfOutFile *out)
{
    if (errno != EFAULT)
        return fail_out(err, "write", out);
    return vf_fail(err, VF_IO, "cannot write '%s': a file that it is made of was cut short",
                   out->path);
}

static void free_out(VfOutFile *out)
{
    if (out->fd >= 0)
        close(out->fd);
    free(out->path);
    free(out->real);
    free(out->temporary);
    free(out);
}

/* Where `path` leads: itself, or through links to the file they name. A link to a pipe, as
 * /dev/stdout may be, names no file. */
static char *resolve(const char *path)
{
    struct stat link, target;
    bool is_link = lstat(path, &link) == 0 && S_ISLNK(link.st_mode);
    if (!is_link || (stat(path, &target) == 0 && !S_ISREG(target.st_mode)))
        return strdup(path);
    return realpath(path, NULL);
}

/* A name in the same folder that no file has, hidden, telling whose it was. */
static VfStatus temporary_name(VfOutFile *out, int try, VfErr *err)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const char *slash = strrchr(out->real, '/');
    int n_folder = slash == NULL ? 0 : (int)(slash + 1 - out->real);
    free(out->temporary);
    out->temporary = NULL;
    if (asprintf(&out->temporary, "%.*s.vitfold-%ld-%lx-%d.tmp", n_folder, out->real,
                 (long)getpid(), (unsigned long)now.tv_nsec, try) < 0) {
        out->temporary = NULL;
        return vf_no_memory(err);
    }
    return VF_OK;
}

static VfStatus open_named(VfOutFile *out, VfErr *err)
{
    for (int try = 0; try < MAX_TRIES; try++) {
        VF_TRY(temporary_name(out, try, err));
        out->fd = open(out->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        out->is_named = out->fd >= 0;
        if (out->is_named)
            return VF_OK;
        if (errno != EEXIST)
            break;
    }
    return fail_out(err, "write", out);
}

static VfStatus open_unnamed(VfOutFile *out, VfErr *err)
{
    char *copy = strdup(out->real);
    VF_TRY_ALLOC(copy, err);
    out->fd = open(dirname(copy), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
    free(copy);
    return out->fd >= 0 ? VF_OK : open_named(out, err);
}

static VfStatus open_target(VfOutFile *out, VfErr *err)
{
    struct stat facts;
    bool exists = stat(out->path, &facts) == 0;
    if (exists && S_ISDIR(facts.st_mode)) {
        errno = EISDIR;
        return fail_out(err, "write", out);
    }
    out->is_direct = exists && !S_ISREG(facts.st_mode);
    if (out->is_direct) {
        out->fd = open(out->path, O_WRONLY | O_CLOEXEC);
        return out->fd >= 0 ? VF_OK : fail_out(err, "write", out);
    }
    out->mode = exists ? facts.st_mode & 0777 : 0;
    return open_unnamed(out, err);
}

VfStatus vf_out_check_path(const char *path, VfErr *err)
{
    if (strcmp(path, "-") != 0)
        return VF_OK;
    return vf_fail(err, VF_USAGE,
                   "'-' is no file to write: /dev/stdout is standard output, ./- a file called so");
}

VfStatus vf_out_open(const char *path, VfOutFile **result, VfErr *err)
{
    VF_TRY(vf_out_check_path(path, err));
    VfOutFile *out = calloc(1, sizeof *out);
    VF_TRY_ALLOC(out, err);
    out->fd = -1;
    out->path = strdup(path);
    out->real = resolve(path);
    VfStatus status = VF_OK;
    if (out->path == NULL)
        status = vf_no_memory(err);
    else if (out->real == NULL)
        status = fail_out(err, "write", out);
    else if (out->real[0] == '\0')
        status = vf_fail(err, VF_IO, "cannot write '': the name is empty");
    else
        status = open_target(out, err);
    if (status != VF_OK) {
        free_out(out);
        return status;
    }
    *result = out;
    return VF_OK;
}

/* Let the disk start on a large piece while the next one is copied, so that the final fsync has
 * little left to wait for. Only a hint: where it cannot be given, fsync does all. */
static void start_writeback(const VfOutFile *out, size_t n)
{
    off_t end = n < MAX_WRITE ? -1 : lseek(out->fd, 0, SEEK_CUR);
    if (end >= 0)
        (void)sync_file_range(out->fd, end - (off_t)n, (off_t)n, SYNC_FILE_RANGE_WRITE);
}

static VfStatus write_all(VfOutFile *out, const unsigned char *data, size_t size, VfErr *err)
{
    while (size > 0) {
        ssize_t n = write(out->fd, data, size < MAX_WRITE ? size : MAX_WRITE);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail_write(err, out);
        start_writeback(out, (size_t)n);
        data += n;
        size -= (size_t)n;
    }
    return VF_OK;
}

static VfStatus flush(VfOutFile *out, VfErr *err)
{
    VF_TRY(write_all(out, out->buffer, out->n_buffered, err));
    out->n_buffered = 0;
    return VF_OK;
}

VfStatus vf_out_write(VfOutFile *out, const void *data, size_t size, VfErr *err)
{
    if (size == 0)
        return VF_OK;
    if (size > BUFFER_BYTES - out->n_buffered)
        VF_TRY(flush(out, err));
    out->position += size;
    if (size >= DIRECT_BYTES) {
        VF_TRY(flush(out, err));
        return write_all(out, data, size, err);
    }
    memcpy(out->buffer + out->n_buffered, data, size);
    out->n_buffered += size;
    return VF_OK;
}

VfStatus vf_out_pad(VfOutFile *out, size_t align, VfErr *err)
{
    static const unsigned char zeros[256];
    size_t over = (size_t)(out->position % align);
    for (size_t left = over == 0 ? 0 : align - over; left > 0;) {
        size_t n = left < sizeof zeros ? left : sizeof zeros;
        VF_TRY(vf_out_write(out, zeros, n, err));
        left -= n;
    }
    return VF_OK;
}

uint64_t vf_out_position(const VfOutFile *out)
{
    return out->position;
}

VfStatus vf_out_finish(VfOutFile *out, VfErr *err)
{
    if (out->is_finished)
        return VF_OK;
    VF_TRY(flush(out, err));
    if (!out->is_direct && fsync(out->fd) != 0)
        return fail_out(err, "write", out);
    out->is_finished = true;
    return VF_OK;
}

/* Give a file without a name a temporary one. linkat cannot replace a file, rename can. */
static VfStatus link_unnamed(VfOutFile *out, VfErr *err)
{
    char self[64];
    snprintf(self, sizeof self, "/proc/self/fd/%d", out->fd);
    for (int try = 0; try < MAX_TRIES; try++) {
        VF_TRY(temporary_name(out, try, err));
        if (linkat(AT_FDCWD, self, AT_FDCWD, out->temporary, AT_SYMLINK_FOLLOW) == 0) {
            out->is_named = true;
            return VF_OK;
        }
        if (errno != EEXIST)
            break;
    }
    return fail_out(err, "write", out);
}

static VfStatus give_name(VfOutFile *out, VfErr *err)
{
    VF_TRY(vf_out_finish(out, err));
    if (out->is_direct)
        return VF_OK;
    if (out->mode != 0 && fchmod(out->fd, out->mode) != 0)
        return fail_out(err, "write", out);
    if (!out->is_named)
        VF_TRY(link_unnamed(out, err));
    if (rename(out->temporary, out->real) != 0)
        return fail_out(err, "write", out);
    out->is_named = false;
    return VF_OK;
}

VfStatus vf_out_commit(VfOutFile *out, VfErr *err)
{
    VfStatus status = give_name(out, err);
    vf_out_abandon(out);
    return status;
}

void vf_out_abandon(VfOutFile *out)
{
    if (out == NULL)
        return;
    if (out->is_named)
        unlink(out->temporary);
    free_out(out);
}

VfStatus vf_file_write(const char *path, const void *data, size_t size, VfErr *err)
{
    VfOutFile *out;
    VF_TRY(vf_out_open(path, &out, err));
    VfStatus status = vf_out_write(out, data, size, err);
    if (status != VF_OK) {
        vf_out_abandon(out);
        return status;
    }
    return vf_out_commit(out, err);
}
