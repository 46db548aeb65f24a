/* vitfold COMMAND [options]: finds the command, parses its words, prints what went wrong. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "converter/cli/cli.h"
#include "converter/cli/cut_file.h"
#include "converter/cli/manual.h"

static const VfCommand *const command[] = {
    &cmd_convert, &cmd_inspect, &cmd_explain, &cmd_passes, &cmd_run,
    &cmd_compare, &cmd_eval,    &cmd_check,   &cmd_bench,  &cmd_emit_c,
    &cmd_diff,    &cmd_bisect, &cmd_sensitivity, NULL,
};

enum { N_COMMAND = sizeof command / sizeof command[0] - 1 };

static const char *const status_text[] = {
    "0", "done",          "1", "a comparison or check failed", "2", "wrong usage",
    "3", "the file is invalid or unsafe", "4", "not supported", "5", "internal fault",
    "6", "input/output or memory", "130", "interrupted", NULL,
};

/* Status to exit status. */
static const int exit_status[] = {
    [VF_OK] = 0,          [VF_DIFFERS] = 1,  [VF_USAGE] = 2, [VF_INVALID] = 3,
    [VF_UNSUPPORTED] = 4, [VF_INTERNAL] = 5, [VF_IO] = 6,    [VF_NO_MEMORY] = 6,
    [VF_CANCELLED] = 130,
};

static const VfCommand *find_command(const char *name)
{
    for (int i = 0; i < N_COMMAND; i++)
        if (strcmp(command[i]->name, name) == 0)
            return command[i];
    return NULL;
}

static VfStatus unknown_command(const char *name, VfErr *err)
{
    const char *known[N_COMMAND];
    for (int i = 0; i < N_COMMAND; i++)
        known[i] = command[i]->name;
    const char *near = vf_nearest_word(name, known, N_COMMAND);
    if (near == NULL)
        return vf_fail(err, VF_USAGE, "unknown command '%s', see 'vitfold help'", name);
    return vf_fail(err, VF_USAGE, "unknown command '%s', did you mean '%s'", name, near);
}

static void help_all(VfText *text)
{
    vf_text_string(text, "vitfold: a compiler for Vision Transformers in ONNX\n\n"
                         "usage: vitfold COMMAND [options]\n\ncommands\n");
    for (int i = 0; i < N_COMMAND; i++)
        vf_text_printf(text, "  %-11s %s\n", command[i]->name, command[i]->summary);
    vf_text_string(text, "\n'vitfold help COMMAND' tells its options; 'vitfold --version' what "
                         "this is\n\nexit status: 0 done, 1 a comparison or check failed, 2 wrong "
                         "usage, 3 the file is invalid\nor unsafe, 4 not supported, 5 internal "
                         "fault, 6 input/output or memory, 130 interrupted\n");
}

static void help_one(const VfCommand *one, VfText *text)
{
    vf_text_printf(text, "vitfold %s: %s\n\nusage: vitfold %s %s [options]\n\noptions\n", one->name,
                   one->summary, one->name, one->operands);
    vf_option_help(one->option, true, text);
}

static int print_help(VfArena *arena, const char *name, VfErr *err)
{
    VfText text;
    VfBytes done;
    const VfCommand *one = name == NULL ? NULL : find_command(name);
    if (name != NULL && one == NULL)
        return (int)unknown_command(name, err);
    vf_text_init(&text, arena);
    if (one == NULL)
        help_all(&text);
    else
        help_one(one, &text);
    VfStatus status = vf_text_get(&text, &done, err);
    return status != VF_OK ? (int)status : cli_print(done.data, done.size, err);
}

/* A page or a completion, as scripts/make_docs asks for them: "man", "man bench", "bash". */
static int print_manual(VfArena *arena, int n_word, char **word, VfErr *err)
{
    static const Manual manual = {command, status_text};
    VfText text;
    VfBytes done;
    bool is_page = n_word > 0 && strcmp(word[0], "man") == 0;
    const VfCommand *one = n_word > 1 ? find_command(word[1]) : NULL;
    vf_text_init(&text, arena);
    if (n_word > 1 && one == NULL)
        return (int)unknown_command(word[1], err);
    if (is_page)
        cli_manual_page(&manual, one, &text);
    else if (n_word < 1 || !cli_completion(&manual, word[0], &text))
        return (int)vf_fail(err, VF_USAGE, "usage: vitfold manual man|bash|zsh|fish [COMMAND]");
    VfStatus status = vf_text_get(&text, &done, err);
    return status != VF_OK ? (int)status : cli_print(done.data, done.size, err);
}

static int print_version(VfArena *arena, VfErr *err)
{
    const char *commit = vitfold_commit();
    char *text = vf_arena_printf(arena, "vitfold %s%s%s%s\n%s\n", vitfold_version(),
                                 commit[0] == '\0' ? "" : " (", commit,
                                 commit[0] == '\0' ? "" : ")", vitfold_libraries());
    return text == NULL ? (int)vf_no_memory(err) : cli_print(text, strlen(text), err);
}

static void set_log(Cli *cli)
{
    const CommonOptions *common = cli->common;
    VfLogLevel level = common->n_verbose >= 2   ? VF_LOG_DEBUG
                       : common->n_verbose == 1 ? VF_LOG_DETAIL
                                                : VF_LOG_NOTE;
    cli->log.level = common->is_quiet ? VF_LOG_ERROR : level;
    cli->log.user = cli_wants_color(common->color, STDERR_FILENO) ? cli : NULL;
}

static int run_command(Cli *cli, const VfCommand *one, int n_word, char **word, VfErr *err)
{
    VfOptionList operands = {0};
    void *options = vf_arena_alloc(cli->arena, one->options_bytes);
    if (options == NULL)
        return (int)vf_no_memory(err);
    VfStatus status = vf_option_defaults(one->option, options, cli->arena, err);
    if (status == VF_OK)
        status = vf_option_parse_words(one->option, n_word, word, options, &operands, cli->arena,
                                       err);
    if (status != VF_OK)
        return (int)status;
    cli->common = options;
    set_log(cli);
    if (operands.n_item < one->min_operands || operands.n_item > one->max_operands)
        return (int)vf_fail(err, VF_USAGE, "usage: vitfold %s %s [options]", one->name,
                            one->operands);
    int checked = cli_check_files(cli, &operands, NULL, 0, err);
    return checked != VITFOLD_OK ? checked : one->run(cli, options, &operands, err);
}

static bool is_word(const char *word, const char *a, const char *b)
{
    return strcmp(word, a) == 0 || strcmp(word, b) == 0;
}

static bool asks_for_help(int n_word, char **word)
{
    for (int i = 0; i < n_word && strcmp(word[i], "--") != 0; i++)
        if (is_word(word[i], "--help", "-h"))
            return true;
    return false;
}

static int dispatch(Cli *cli, int n_word, char **word, VfErr *err)
{
    if (n_word == 0)
        return (int)vf_fail(err, VF_USAGE, "no command, see 'vitfold help'");
    if (is_word(word[0], "help", "--help") || strcmp(word[0], "-h") == 0)
        return print_help(cli->arena, n_word > 1 ? word[1] : NULL, err);
    if (is_word(word[0], "--version", "version"))
        return print_version(cli->arena, err);
    if (strcmp(word[0], "manual") == 0)
        return print_manual(cli->arena, n_word - 1, word + 1, err);
    const VfCommand *one = find_command(word[0]);
    if (one == NULL)
        return (int)unknown_command(word[0], err);
    if (asks_for_help(n_word - 1, word + 1))
        return print_help(cli->arena, one->name, err);
    return run_command(cli, one, n_word - 1, word + 1, err);
}

int main(int n_word, char **word)
{
    cli_watch_cut_files(exit_status[VF_IO]);
    VfErr err = {0};
    /* A write beyond the limit of a file's size fails then, and what was begun is removed. */
    signal(SIGXFSZ, SIG_IGN);
    Cli cli = {.arena = vf_arena_new(), .log = {VF_LOG_NOTE, vf_log_to_stderr, NULL}};
    int status = cli.arena == NULL ? (int)vf_no_memory(&err)
                                   : dispatch(&cli, n_word - 1, word + 1, &err);
    if (status != VITFOLD_OK)
        vf_log(&cli.log, VF_LOG_ERROR, "%s", err.text);
    vf_arena_free(cli.arena);
    return exit_status[status];
}
