#include "runtime/base/pages.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Not every file system has files without a name. */
static int open_and_unlink(const char *folder)
{
    char path[4096];
    int n = snprintf(path, sizeof path, "%s/vitfold-XXXXXX", folder);
    if (n < 0 || (size_t)n >= sizeof path)
        return -1;
    int fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    return fd;
}

int vf_pages_open(const char *folder, size_t bytes)
{
    if (bytes == 0 || bytes > (size_t)INT64_MAX)
        return -1;
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0)
        fd = open_and_unlink(folder);
    if (fd >= 0 && posix_fallocate(fd, 0, (off_t)bytes) != 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

void *vf_pages_map(const char *folder, size_t bytes)
{
    int fd = vf_pages_open(folder, bytes);
    if (fd < 0)
        return NULL;
    void *data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    return data == MAP_FAILED ? NULL : data;
}

bool vf_pages_put(int fd, size_t offset, const void *data, size_t n)
{
    const char *from = data;
    while (n > 0) {
        ssize_t done = pwrite(fd, from, n, (off_t)offset);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        from += done;
        offset += (size_t)done;
        n -= (size_t)done;
    }
    return true;
}

const void *vf_pages_view(int fd, size_t bytes)
{
    void *data = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    return data == MAP_FAILED ? NULL : data;
}

void vf_pages_unmap(const void *data, size_t bytes)
{
    munmap((void *)(uintptr_t)data, bytes);
}

void vf_pages_close(int fd)
{
    close(fd);
}
