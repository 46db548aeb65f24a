/* Cases that run the tool in a folder of their own: the fixture, and what most of them expect.
 * Include once in a program; add the fixture with
 * tcase_add_checked_fixture(tcase, set_up, tear_down).
 */
#ifndef VF_TESTS_TOOL_CASE_H
#define VF_TESTS_TOOL_CASE_H

#include <jansson.h>
#include <string.h>

#include "tests/support/check_main.h"
#include "tests/support/temp_folder.h"
#include "tests/support/tool.h"

static char folder[256];

static inline void set_up(void)
{
    vf_temp_folder_make(folder, sizeof folder);
}

static inline void tear_down(void)
{
    vf_temp_folder_remove(folder);
}

/* Run the words; the exit status must be `status`. */
static inline const VfToolResult *expect(int status, const char *words)
{
    const VfToolResult *result = vf_tool_run(folder, words);
    ck_assert_msg(result->status == status, "'%s': status %d, %s", words, result->status,
                  result->message);
    return result;
}

/* The document that the words print; the exit status must be 0. */
static inline json_t *document_of(const char *words)
{
    json_error_t error;
    const VfToolResult *result = expect(0, words);
    json_t *document = json_loads(result->out, JSON_REJECT_DUPLICATES, &error);
    ck_assert_msg(document != NULL, "'%s': %s at line %d", words, error.text, error.line);
    return document;
}

/* Two files of the folder hold the same bytes. */
static inline void assert_same_file(const char *a, const char *b)
{
    size_t n_a, n_b;
    unsigned char *bytes_a = vf_tool_read(vf_tool_path(folder, a), &n_a);
    unsigned char *bytes_b = vf_tool_read(vf_tool_path(folder, b), &n_b);
    ck_assert_ptr_nonnull(bytes_a);
    ck_assert_ptr_nonnull(bytes_b);
    ck_assert_uint_eq(n_a, n_b);
    ck_assert_int_eq(memcmp(bytes_a, bytes_b, n_a), 0);
    free(bytes_a);
    free(bytes_b);
}

/* How often `text` holds `word`. */
static inline int count(const char *text, const char *word)
{
    int n = 0;
    for (const char *at = strstr(text, word); at != NULL; at = strstr(at + 1, word))
        n++;
    return n;
}

#endif
