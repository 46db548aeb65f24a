/* Files: mapped whole for reading; written whole or not at all.
 *
 * Paths are bytes; in messages they stand in quotes as they are. Failures are VF_IO and
 * leave nothing open and no file behind.
 */
#ifndef VF_BASE_FILE_H
#define VF_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/arena.h"
#include "runtime/base/status.h"

typedef struct VfFileFacts {
    bool is_regular, is_folder;
    bool is_link; /* the path itself is a symbolic link; the rest is about what it leads to */
    uint64_t size; /* bytes */
    uint64_t device, inode; /* equal for two paths of one file */
    uint64_t n_links; /* hard links */
} VfFileFacts;

/* A read-only view of a whole file. The view of an empty file has data != NULL, size 0.
 * If another process cuts the file while it is mapped, reading the lost part raises SIGBUS. */
typedef struct VfMapping {
    const unsigned char *data;
    size_t size;
} VfMapping;

/* Facts of `path`. A path that does not exist is VF_IO. */
VfStatus vf_file_facts(const char *path, VfFileFacts *facts, VfErr *err);

/* Whether something is at `path`. */
bool vf_file_exists(const char *path);

/* Map the regular file at `path`. */
VfStatus vf_file_map(const char *path, VfMapping *mapping, VfErr *err);

/* Map the regular file open as `fd`, which stays open; `name` is for messages. */
VfStatus vf_file_map_fd(int fd, const char *name, VfMapping *mapping, VfErr *err);

/* Give back the memory of the whole pages among `bytes` at `data`, which lie in a mapping. What is
 * there stays the same: it is read from the file again when it is next needed. */
void vf_file_release(const void *data, size_t bytes);

/* Undo a mapping and empty it. An empty mapping is allowed. */
void vf_file_unmap(VfMapping *mapping);

/* The folder part of `path` ("." if it has none) and the part after it. `folder` is a copy. */
VfStatus vf_path_split(VfArena *arena, const char *path, char **folder, const char **name,
                       VfErr *err);

/* `folder` and `name` with one slash between. A copy. */
VfStatus vf_path_join(VfArena *arena, const char *folder, const char *name, char **path,
                      VfErr *err);

/* Make the folder `path` if it is not there; its parent must be. */
VfStatus vf_folder_make(const char *path, VfErr *err);

/* The names in a folder but "." and "..", sorted by bytes, in `arena`. */
VfStatus vf_folder_list(VfArena *arena, const char *path, const char ***name, size_t *n_name,
                        VfErr *err);

/* A file being written beside its final name. It has no name until it is committed where
 * the file system allows that, else a temporary one in the same folder; so a killed process
 * leaves no half file. A path that is not a regular file (a pipe, /dev/stdout) is written
 * straight through. A symbolic link keeps being one: what it leads to is replaced. */
typedef struct VfOutFile VfOutFile;

/* VF_USAGE if `path` is "-": whoever writes that means standard output, not a file called so. */
VfStatus vf_out_check_path(const char *path, VfErr *err);

/* Begin to write `path`. VF_USAGE as above. The handle is not in an arena: commit or abandon frees
 * it. */
VfStatus vf_out_open(const char *path, VfOutFile **out, VfErr *err);

/* Append bytes. Small pieces are gathered in a buffer; large ones go to the system straight
 * from where they are, so mapped memory is never copied through the heap. */
VfStatus vf_out_write(VfOutFile *out, const void *data, size_t size, VfErr *err);

/* Append zeros until the position is a multiple of `align`. */
VfStatus vf_out_pad(VfOutFile *out, size_t align, VfErr *err);

/* Bytes written so far. */
uint64_t vf_out_position(const VfOutFile *out);

/* Everything to the disk, but not under its name yet. For several files that belong together:
 * finish all, then commit all. */
VfStatus vf_out_finish(VfOutFile *out, VfErr *err);

/* Finish and give the file its name, replacing what was there. Frees `out` also on failure,
 * which leaves what was there. */
VfStatus vf_out_commit(VfOutFile *out, VfErr *err);

/* Leave nothing of it. NULL is allowed. */
void vf_out_abandon(VfOutFile *out);

/* Write a whole file at once. */
VfStatus vf_file_write(const char *path, const void *data, size_t size, VfErr *err);

#endif
