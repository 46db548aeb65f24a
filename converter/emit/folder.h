/* A folder that appears whole under its name or not at all.
 *
 * Files are written into a hidden folder beside, which takes the name at the end. What may be
 * there before: nothing, an empty folder, or a folder with nothing but the unchanged files of an
 * earlier emission (its FILES says which) and what its Makefile builds; that one is replaced.
 */
#ifndef VF_EMIT_FOLDER_H
#define VF_EMIT_FOLDER_H

#include "converter/emit/emit_c.h"
#include "runtime/base/file.h"
#include "runtime/base/sha256.h"
#include "runtime/base/text.h"

typedef struct VfEmitFolder {
    VfArena *arena;
    const char *path;      /* links resolved */
    const char *temporary; /* NULL once it is gone */
    bool replaces;
    VfText list; /* FILES */
    VfOutFile *out;
    VfSha256 sha;
    const char *current; /* path of the open file */
    VfEmitFile *file;
    size_t n_file, capacity;
    uint64_t bytes;
} VfEmitFolder;

/* Begin. VF_USAGE when something else is there. Then commit or abandon. */
VfStatus vf_emit_folder_open(VfEmitFolder *folder, const char *path, VfArena *arena, VfErr *err);

/* Begin the file `path` (its folders are made), append to it, end it. */
VfStatus vf_emit_folder_begin(VfEmitFolder *folder, const char *path, VfErr *err);
VfStatus vf_emit_folder_put(void *folder, const void *data, size_t size, VfErr *err);
VfStatus vf_emit_folder_end(VfEmitFolder *folder, VfErr *err);

/* Begin, append, end. */
VfStatus vf_emit_folder_add(VfEmitFolder *folder, const char *path, const void *data, size_t size,
                            VfErr *err);

/* Write FILES: the folder is whole, but for its name. */
VfStatus vf_emit_folder_finish(VfEmitFolder *folder, VfErr *err);

/* Give the finished folder its name. */
VfStatus vf_emit_folder_commit(VfEmitFolder *folder, VfErr *err);

/* Leave nothing. Does nothing after a commit. */
void vf_emit_folder_abandon(VfEmitFolder *folder);

#endif
