#include "runtime/base/pages.h"

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

void *vf_pages_map(const char *folder, size_t bytes)
{
    if (bytes == 0 || bytes > (size_t)INT64_MAX)
        return NULL;
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0)
        fd = open_and_unlink(folder);
    if (fd < 0)
        return NULL;
    void *data = MAP_FAILED;
    if (posix_fallocate(fd, 0, (off_t)bytes) == 0)
        data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    return data == MAP_FAILED ? NULL : data;
}

void vf_pages_unmap(void *data, size_t bytes)
{
    munmap(data, bytes);
}
