#include "converter/emit/remove_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

enum { MAX_DEPTH = 32, ENTRIES_BYTES = 4096 };

static bool remove_folder(int parent, const char *name, int depth);

static bool remove_entry(int folder, const char *name, int depth)
{
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return false;
    return unlinkat(folder, name, 0) == 0 || remove_folder(folder, name, depth + 1);
}

/* Some entries of the folder; false when none could be removed. Always from the start: where a
 * list goes on that has changed meanwhile is not defined. */
static bool remove_some(int folder, int depth)
{
    union {
        struct dirent64 first;
        char bytes[ENTRIES_BYTES];
    } entries;
    bool is_any = false;
    if (lseek(folder, 0, SEEK_SET) < 0)
        return false;
    ssize_t size = getdents64(folder, &entries, sizeof entries);
    for (ssize_t at = 0; at < size;) {
        const char *entry = entries.bytes + at;
        unsigned short step;
        memcpy(&step, entry + offsetof(struct dirent64, d_reclen), sizeof step);
        if (remove_entry(folder, entry + offsetof(struct dirent64, d_name), depth))
            is_any = true;
        at += step;
    }
    return is_any;
}

static bool remove_folder(int parent, const char *name, int depth)
{
    int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int folder = depth < MAX_DEPTH ? openat(parent, name, flags) : -1;
    if (folder < 0)
        return false;
    while (remove_some(folder, depth))
        continue;
    close(folder);
    return unlinkat(parent, name, AT_REMOVEDIR) == 0;
}

void vf_remove_tree(const char *path)
{
    remove_folder(AT_FDCWD, path, 0);
}
