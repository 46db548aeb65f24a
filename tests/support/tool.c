#include "tests/support/tool.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/check_main.h"

enum { MAX_WORDS = 32, WORD_BYTES = 512, N_PATH = 8 };

const char *vf_tool_path(const char *folder, const char *word)
{
    static char path[N_PATH][WORD_BYTES];
    static size_t next;
    char *out = path[next++ % N_PATH];
    const char *source = getenv("VITFOLD_SOURCE");
    if (word[0] == '@')
        snprintf(out, WORD_BYTES, "%s/%s", folder, word + 1);
    else if (word[0] == '%')
        snprintf(out, WORD_BYTES, "%s/testdata/%s", source == NULL ? "." : source, word + 1);
    else
        snprintf(out, WORD_BYTES, "%s", word);
    return out;
}

/* A word may be NAME=@FILE too. */
static void expand(const char *folder, const char *word, char *out)
{
    const char *equals = strchr(word, '=');
    if (equals != NULL && (equals[1] == '@' || equals[1] == '%'))
        snprintf(out, WORD_BYTES, "%.*s%s", (int)(equals + 1 - word), word,
                 vf_tool_path(folder, equals + 1));
    else
        snprintf(out, WORD_BYTES, "%s", vf_tool_path(folder, word));
}

static void read_text(FILE *file, char *text)
{
    rewind(file);
    text[fread(text, 1, VF_TOOL_TEXT_BYTES - 1, file)] = '\0';
}

static void child(char **word, FILE *out, FILE *message)
{
    dup2(fileno(out), STDOUT_FILENO);
    dup2(fileno(message), STDERR_FILENO);
    execv(word[0], word);
    _exit(127);
}

const VfToolResult *vf_tool_run(const char *folder, const char *words)
{
    static VfToolResult result;
    static char expanded[MAX_WORDS][WORD_BYTES], line[4096];
    char *word[MAX_WORDS + 2] = {getenv("VITFOLD")};
    int n = 1, state = 0;
    snprintf(line, sizeof line, "%s", words);
    for (char *at = strtok(line, " "); at != NULL && n <= MAX_WORDS; at = strtok(NULL, " ")) {
        expand(folder, at, expanded[n - 1]);
        word[n] = expanded[n - 1];
        n++;
    }
    FILE *out = tmpfile(), *message = tmpfile();
    ck_assert_ptr_nonnull(out);
    ck_assert_ptr_nonnull(message);
    pid_t pid = fork();
    if (pid == 0)
        child(word, out, message);
    ck_assert_int_gt(pid, 0);
    ck_assert_int_eq(waitpid(pid, &state, 0), pid);
    result.status = WIFEXITED(state) ? WEXITSTATUS(state) : -1;
    read_text(out, result.out);
    read_text(message, result.message);
    fclose(out);
    fclose(message);
    return &result;
}

unsigned char *vf_tool_read(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return NULL;
    fseek(file, 0, SEEK_END);
    long end = ftell(file);
    rewind(file);
    *size = end < 0 ? 0 : (size_t)end;
    unsigned char *data = malloc(*size + 1);
    if (data != NULL && fread(data, 1, *size, file) != *size) {
        free(data);
        data = NULL;
    }
    fclose(file);
    return data;
}

void vf_tool_need(void)
{
    const char *tool = getenv("VITFOLD");
    if (tool != NULL && access(tool, X_OK) == 0)
        return;
    printf("skipped: VITFOLD names no program\n");
    exit(VF_TEST_SKIPPED);
}
