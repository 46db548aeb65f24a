/* The .vft cases of a folder: files that a test runs one by one. */
#ifndef VF_TESTS_CASE_FILES_H
#define VF_TESTS_CASE_FILES_H

#include "runtime/base/arena.h"

typedef struct VfCaseFiles {
    const char **path; /* sorted; they live as long as the program */
    int n;
} VfCaseFiles;

/* The cases in `folder`, a path in the project. None, after a line that says why, when it cannot
 * be read. */
VfCaseFiles vf_case_files(const char *folder);

/* The text of a case, terminated, in `arena`. For use within a test: fails it on error. */
char *vf_case_text(VfArena *arena, const char *path);

#endif
