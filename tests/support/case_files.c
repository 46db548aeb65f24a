#include "tests/support/case_files.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/file.h"

static VfStatus list(VfArena *arena, const char *folder, VfCaseFiles *files, VfErr *err)
{
    const char *source = getenv("VITFOLD_SOURCE");
    const char **name;
    char *path;
    size_t n;
    VF_TRY(vf_path_join(arena, source != NULL ? source : ".", folder, &path, err));
    VF_TRY(vf_folder_list(arena, path, &name, &n, err));
    files->path = VF_NEW_ARRAY(arena, const char *, n);
    VF_TRY_ALLOC(files->path, err);
    for (size_t i = 0; i < n; i++) {
        size_t size = strlen(name[i]);
        char *file;
        if (size <= 4 || strcmp(name[i] + size - 4, ".vft") != 0)
            continue;
        VF_TRY(vf_path_join(arena, path, name[i], &file, err));
        files->path[files->n++] = file;
    }
    return VF_OK;
}

VfCaseFiles vf_case_files(const char *folder)
{
    static VfArena *arena; /* keeps the paths reachable */
    VfCaseFiles files = {0};
    VfErr err = {0};
    if (arena == NULL)
        arena = vf_arena_new();
    if (arena == NULL || list(arena, folder, &files, &err) != VF_OK) {
        fprintf(stderr, "no cases in '%s': %s\n", folder, err.text);
        files.n = 0;
    }
    return files;
}

char *vf_case_text(VfArena *arena, const char *path)
{
    VfMapping mapping;
    VfErr err = {0};
    VfStatus status = vf_file_map(path, &mapping, &err);
    ck_assert_msg(status == VF_OK, "%s", err.text);
    char *text = vf_arena_copy(arena, mapping.data, mapping.size);
    vf_file_unmap(&mapping);
    ck_assert_ptr_nonnull(text);
    return text;
}
