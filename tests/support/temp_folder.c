#include "tests/support/temp_folder.h"

#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void vf_temp_folder_make(char *path, size_t size)
{
    const char *root = getenv("TMPDIR");
    snprintf(path, size, "%s/vitfold-test-XXXXXX", root == NULL ? "/tmp" : root);
    if (mkdtemp(path) == NULL) {
        perror(path);
        exit(EXIT_FAILURE);
    }
}

static int remove_entry(const char *path, const struct stat *facts, int type, struct FTW *walk)
{
    (void)facts, (void)type, (void)walk;
    return remove(path);
}

void vf_temp_folder_remove(const char *path)
{
    nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

size_t vf_temp_folder_count(const char *path)
{
    size_t n = 0;
    DIR *folder = opendir(path);
    if (folder == NULL)
        return 0;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
        n += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(folder);
    return n;
}
