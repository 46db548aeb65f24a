/* A folder of its own for a test, removed with all that is in it. */
#ifndef VF_TESTS_TEMP_FOLDER_H
#define VF_TESTS_TEMP_FOLDER_H

#include <stddef.h>

/* Make a new folder; `path` gets its name. Exits the test program if that fails. */
void vf_temp_folder_make(char *path, size_t size);

/* Remove it with the files in it and in its folders. */
void vf_temp_folder_remove(const char *path);

/* How many entries it has. */
size_t vf_temp_folder_count(const char *path);

#endif
