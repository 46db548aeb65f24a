#include "converter/draw/apart.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/intern.h"
#include "tests/support/arena_case.h"

static int count_fds(void)
{
    int n = 0;
    DIR *folder = opendir("/proc/self/fd");
    ck_assert_ptr_nonnull(folder);
    while (readdir(folder) != NULL)
        n++;
    closedir(folder);
    return n;
}

/* The request says what becomes of the child: its first letter. */
static VfStatus do_as_told(VfBytes request, VfText *out, VfErr *err)
{
    printf("nobody sees this\n");
    fflush(stdout);
    switch (request.data[0]) {
    case 'k':
        raise(SIGKILL);
        break;
    case 'e':
        exit(3);
    case 'f':
        return vf_fail(err, VF_UNSUPPORTED, "a drawing of %s", "nothing");
    case 's':
        for (volatile unsigned i = 0;; i++)
            continue;
    default:
        vf_text_add(out, request.data, request.size);
    }
    return VF_OK;
}

static const VfApartJob job = {"do it", "the child", "for once", 1, do_as_told};

static void check(VfApart *apart, const char *request, VfStatus expected, const char *words)
{
    VfErr err = {.status = VF_OK};
    VfBytes answer = {"", 0};
    VfStatus status = vf_apart_ask(apart, &job, arena, vf_bytes(request), &answer, &err);
    ck_assert_int_eq(status, expected);
    ck_assert_str_eq(status == VF_OK ? answer.data : err.text, words);
}

static const struct {
    const char *request;
    VfStatus status;
    const char *words;
} row[] = {
    {"answer", VF_OK, "answer"},
    {"kill", VF_IO, "cannot do it: the child ended with signal 9, for once"},
    {"exit", VF_IO, "cannot do it: the child ended with status 1, for once"},
    {"fail", VF_UNSUPPORTED, "a drawing of nothing"},
    {"again", VF_OK, "again"},
};
enum { N_ROW = sizeof row / sizeof row[0] };

/* Whatever a child does, the next request is served, and nothing of it is left. */
START_TEST(test_ends)
{
    VfApart apart = {0};
    int n_fd = count_fds();
    for (int i = 0; i < 2 * N_ROW; i++)
        check(&apart, row[i % N_ROW].request, row[i % N_ROW].status, row[i % N_ROW].words);
    vf_apart_stop(&apart);
    vf_apart_stop(&apart);
    ck_assert_int_eq(count_fds(), n_fd);
    ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
    ck_assert_int_eq(errno, ECHILD);
}
END_TEST

/* Then nothing more is tried. */
START_TEST(test_late)
{
    static const char words[] = "cannot do it: the child takes more than 1 seconds";
    VfApart apart = {0};
    check(&apart, "answer", VF_OK, "answer");
    check(&apart, "stay", VF_UNSUPPORTED, words);
    check(&apart, "answer", VF_UNSUPPORTED, words);
    vf_apart_stop(&apart);
}
END_TEST

/* More than a socket holds, both ways. */
START_TEST(test_large)
{
    enum { BYTES = 5000000 };
    VfApart apart = {0};
    VfErr err = {.status = VF_OK};
    VfBytes answer;
    char *data = vf_arena_alloc(arena, BYTES);
    memset(data, 'x', BYTES);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(vf_apart_ask(&apart, &job, arena, (VfBytes){data, BYTES}, &answer, &err),
                         VF_OK);
        ck_assert_uint_eq(answer.size, BYTES);
        ck_assert(memcmp(answer.data, data, BYTES) == 0);
    }
    vf_apart_stop(&apart);
}
END_TEST

/* A program that wants to hear of no child gets the answers, and the failures. */
START_TEST(test_ignored)
{
    VfApart apart = {0};
    signal(SIGCHLD, SIG_IGN);
    check(&apart, "answer", VF_OK, "answer");
    check(&apart, "kill", VF_IO,
          "cannot do it: the child ended with status 0, for once");
    check(&apart, "answer", VF_OK, "answer");
    vf_apart_stop(&apart);
    signal(SIGCHLD, SIG_DFL);
}
END_TEST

/* What a stream of the caller holds is written once, also if the child calls exit. */
START_TEST(test_streams)
{
    VfApart apart = {0};
    char path[] = "/tmp/vitfold-apart-XXXXXX", text[100] = "";
    int fd = mkstemp(path);
    FILE *stream = fdopen(fd, "w+");
    ck_assert_ptr_nonnull(stream);
    unlink(path);
    fputs("once", stream);
    check(&apart, "exit", VF_IO, row[2].words);
    vf_apart_stop(&apart);
    rewind(stream);
    ck_assert_ptr_nonnull(fgets(text, sizeof text, stream));
    ck_assert_str_eq(text, "once");
    fclose(stream);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("draw/apart");
    TCase *tcase = tcase_create("apart");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, test_ends);
    tcase_add_test(tcase, test_late);
    tcase_add_test(tcase, test_large);
    tcase_add_test(tcase, test_ignored);
    tcase_add_test(tcase, test_streams);
    tcase_set_timeout(tcase, 30);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
