/* Running the built vitfold in tests. Its path is in the environment as VITFOLD. */
#ifndef VF_TESTS_TOOL_H
#define VF_TESTS_TOOL_H

#include <stddef.h>

enum { VF_TOOL_TEXT_BYTES = 1 << 20 };

typedef struct VfToolResult {
    int status;                     /* exit status; -1: it did not end by itself */
    char out[VF_TOOL_TEXT_BYTES];   /* standard output, terminated, cut if longer */
    char message[VF_TOOL_TEXT_BYTES]; /* standard error, likewise */
} VfToolResult;

/* Run the tool with the words of a command line; they are separated by single spaces, and "@"
 * at the start of a word stands for `folder` and a slash, "%" for the project's testdata. The
 * result is static: it holds until the next call. */
const VfToolResult *vf_tool_run(const char *folder, const char *words);

/* A path in the project's testdata, or in `folder` for "@name". Static, for the next few calls. */
const char *vf_tool_path(const char *folder, const char *word);

/* All bytes of a file on the heap, for free(); NULL if it cannot be read. */
unsigned char *vf_tool_read(const char *path, size_t *size);

/* Skip the program (exit status 77) if there is no tool to run. */
void vf_tool_need(void);

#endif
