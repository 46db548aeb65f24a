/* What shells complete: commands, their options, the words of a choice; else files. */
#include <string.h>

#include "converter/cli/manual.h"

/* Between single quotes of a shell; zsh takes brackets and colons of a help text for its own. */
static void quoted(VfText *text, const char *string, bool for_zsh)
{
    for (const char *c = string; *c != '\0'; c++) {
        if (*c == '\'')
            vf_text_string(text, "'\\'");
        else if (for_zsh && strchr("[]:\\", *c) != NULL)
            vf_text_char(text, '\\');
        vf_text_char(text, *c);
    }
}

/* "auto|always" to "auto always" */
static void choices(VfText *text, const VfOption *row)
{
    for (const char *c = row->choices; *c != '\0'; c++)
        vf_text_char(text, *c == '|' ? ' ' : *c);
}

static bool takes_word(const VfOption *row) { return vf_option_word(row)[0] != '\0'; }

static bool is_optional(const VfOption *row) { return row->type == VF_OPTION_MAYBE; }

static void names(VfText *text, const Manual *manual)
{
    for (const VfCommand *const *one = manual->command; *one != NULL; one++)
        vf_text_printf(text, "%s ", (*one)->name);
    vf_text_string(text, "help");
}

/* --- bash --- */

static void bash_command(VfText *text, const VfCommand *one)
{
    vf_text_printf(text, "    %s)\n        words='", one->name);
    for (const VfOption *row = one->option; row->name != NULL; row++)
        vf_text_printf(text, "%s--%s", row == one->option ? "" : " ", row->name);
    vf_text_string(text, "'\n        case $before in\n");
    for (const VfOption *row = one->option; row->name != NULL; row++) {
        if (!takes_word(row) || is_optional(row))
            continue;
        vf_text_string(text, "        ");
        if (row->letter != 0)
            vf_text_printf(text, "-%c | ", row->letter);
        vf_text_printf(text, "--%s) words='", row->name);
        if (row->type == VF_OPTION_CHOICE)
            choices(text, row);
        vf_text_string(text, "' ;;\n");
    }
    vf_text_string(text, "        esac\n        ;;\n");
}

static void bash(const Manual *manual, VfText *text)
{
    vf_text_string(text, "# Made by scripts/make_docs from the tables of the program.\n"
                         "_vitfold()\n{\n    local word=${COMP_WORDS[COMP_CWORD]} words=''\n"
                         "    local before=${COMP_WORDS[COMP_CWORD - 1]}\n"
                         "    if [ \"$COMP_CWORD\" = 1 ] || [ \"$before\" = help ]; then\n"
                         "        words='");
    names(text, manual);
    vf_text_string(text, "'\n    else\n    case ${COMP_WORDS[1]} in\n");
    for (const VfCommand *const *one = manual->command; *one != NULL; one++)
        bash_command(text, *one);
    vf_text_string(text, "    esac\n    fi\n"
                         "    # An operand is a file: options are offered once a word looks like "
                         "one.\n    case $words:$word in --*:-* | [!-]*) ;; *) words='' ;; esac\n"
                         "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n}\n"
                         "complete -o default -F _vitfold vitfold\n");
}

/* --- zsh --- */

static void zsh_option(VfText *text, const VfOption *row)
{
    const char *end = is_optional(row) ? "=-" : takes_word(row) ? "=" : "";
    bool is_repeated = row->type == VF_OPTION_LIST || row->type == VF_OPTION_COUNT_UP;
    vf_text_printf(text, " \\\n            %s", is_repeated ? "'*'" : "");
    if (row->letter != 0)
        vf_text_printf(text, "{-%c%s,--%s%s}'[", row->letter, end[0] == '\0' ? "" : "+", row->name,
                       end);
    else
        vf_text_printf(text, "'--%s%s[", row->name, end);
    quoted(text, row->help, true);
    vf_text_char(text, ']');
    if (takes_word(row)) {
        vf_text_string(text, is_optional(row) ? "::" : ":");
        quoted(text, row->type == VF_OPTION_CHOICE ? row->name : vf_option_word(row), true);
        vf_text_string(text, row->type == VF_OPTION_CHOICE ? ":(" : ":_files");
        if (row->type == VF_OPTION_CHOICE) {
            choices(text, row);
            vf_text_char(text, ')');
        }
    }
    vf_text_char(text, '\'');
}

static void zsh(const Manual *manual, VfText *text)
{
    vf_text_string(text, "#compdef vitfold\n# Made by scripts/make_docs from the tables of the "
                         "program.\n_vitfold()\n{\n    if ((CURRENT == 2)); then\n"
                         "        local -a commands=(");
    for (const VfCommand *const *one = manual->command; *one != NULL; one++) {
        vf_text_printf(text, "\n            '%s:", (*one)->name);
        quoted(text, (*one)->summary, true);
        vf_text_char(text, '\'');
    }
    vf_text_string(text, ")\n        _describe command commands\n        return\n    fi\n"
                         "    local command=${words[2]}\n    shift words\n    ((CURRENT--))\n"
                         "    case $command in\n");
    for (const VfCommand *const *one = manual->command; *one != NULL; one++) {
        vf_text_printf(text, "    %s)\n        _arguments -S", (*one)->name);
        for (const VfOption *row = (*one)->option; row->name != NULL; row++)
            zsh_option(text, row);
        vf_text_string(text, " \\\n            '*:file:_files'\n        ;;\n");
    }
    vf_text_string(text, "    esac\n}\n_vitfold \"$@\"\n");
}

/* --- fish --- */

static void fish_option(VfText *text, const VfCommand *one, const VfOption *row)
{
    vf_text_printf(text, "complete -c vitfold -n '__fish_seen_subcommand_from %s' -l %s", one->name,
                   row->name);
    if (row->letter != 0)
        vf_text_printf(text, " -s %c", row->letter);
    if (takes_word(row) && !is_optional(row))
        vf_text_string(text, row->type == VF_OPTION_CHOICE ? " -x -a '" : " -r");
    if (row->type == VF_OPTION_CHOICE) {
        choices(text, row);
        vf_text_char(text, '\'');
    }
    vf_text_string(text, " -d '");
    quoted(text, row->help, false);
    vf_text_string(text, "'\n");
}

static void fish(const Manual *manual, VfText *text)
{
    vf_text_string(text, "# Made by scripts/make_docs from the tables of the program.\n");
    for (const VfCommand *const *one = manual->command; *one != NULL; one++) {
        vf_text_printf(text, "complete -c vitfold -n __fish_use_subcommand -a %s -d '",
                       (*one)->name);
        quoted(text, (*one)->summary, false);
        vf_text_string(text, "'\n");
        for (const VfOption *row = (*one)->option; row->name != NULL; row++)
            fish_option(text, *one, row);
    }
}

typedef struct Shell {
    const char *name;
    void (*write)(const Manual *manual, VfText *text);
} Shell;

static const Shell shell_table[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};

bool cli_completion(const Manual *manual, const char *shell, VfText *text)
{
    for (size_t i = 0; i < sizeof shell_table / sizeof *shell_table; i++)
        if (strcmp(shell_table[i].name, shell) == 0) {
            shell_table[i].write(manual, text);
            return true;
        }
    return false;
}
