/* External data: tensor bytes in files beside the model.
 *
 * A location is a path relative to the model's folder. It is opened step by step from that
 * folder; absolute paths, "..", symbolic links, files with several hard links, pipes and
 * devices are refused as VF_INVALID. With a root for linked data, a location that is or leads
 * through links is admitted when the file it leads to lies inside that root. Each file is
 * mapped once.
 */
#ifndef VF_ONNX_EXTERNAL_H
#define VF_ONNX_EXTERNAL_H

#include "runtime/base/arena.h"
#include "runtime/base/bytes.h"
#include "runtime/base/file.h"
#include "runtime/base/status.h"

typedef struct VfMappedFile {
    VfMapping mapping;
    uint64_t device, inode;
    struct VfMappedFile *next;
} VfMappedFile;

/* The mapped files of one model; lives on the heap until vf_mapped_files_free. */
typedef struct VfMappedFiles {
    VfMappedFile *first;
} VfMappedFiles;

/* None, or NULL when out of memory. */
VfMappedFiles *vf_mapped_files_new(void);

/* Unmap all. As VfModel.release_mapping. NULL is allowed. */
void vf_mapped_files_free(void *files);

/* Map the model file itself. */
VfStatus vf_mapped_files_add(VfMappedFiles *files, const char *path, const VfMapping **mapping,
                             VfErr *err);

/* The file at `location` in `folder`. `linked_root` is a folder or NULL. `scratch` is for paths.
 * VF_INVALID: refused; VF_IO: absent or not readable. */
VfStatus vf_external_map(VfMappedFiles *files, VfArena *scratch, const char *folder,
                         VfBytes location, const char *linked_root, const VfMapping **mapping,
                         VfErr *err);

#endif
