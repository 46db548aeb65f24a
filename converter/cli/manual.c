#include "converter/cli/manual.h"

/* Text of a page: nothing in it is a request or an escape. */
static void roff(VfText *text, const char *string)
{
    bool is_start = true;
    for (const char *c = string; *c != '\0'; c++) {
        if (is_start && (*c == '.' || *c == '\''))
            vf_text_string(text, "\\&");
        if (*c == '\\')
            vf_text_string(text, "\\e");
        else if (*c == '-')
            vf_text_string(text, "\\-");
        else
            vf_text_char(text, *c);
        is_start = *c == '\n';
    }
}

static void title(VfText *text, const char *command)
{
    vf_text_string(text, ".\\\" Made by scripts/make_docs from the tables of the program.\n.TH "
                         "VITFOLD");
    for (const char *c = command; *c != '\0'; c++)
        vf_text_char(text, *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c);
    vf_text_printf(text, " 1 \"\" \"vitfold %s\" \"User Commands\"\n.SH NAME\nvitfold",
                   vitfold_version());
    roff(text, command);
    vf_text_string(text, " \\- ");
}

static void option(const VfOption *row, VfText *text)
{
    const char *word = vf_option_word(row);
    vf_text_string(text, ".TP\n");
    if (row->letter != 0)
        vf_text_printf(text, "\\fB\\-%c\\fR, ", row->letter);
    vf_text_string(text, "\\fB\\-\\-");
    roff(text, row->name);
    vf_text_string(text, "\\fR");
    if (row->type == VF_OPTION_MAYBE)
        vf_text_string(text, "[=");
    else if (word[0] != '\0')
        vf_text_char(text, ' ');
    if (word[0] != '\0')
        vf_text_string(text, "\\fI");
    roff(text, word);
    if (word[0] != '\0')
        vf_text_string(text, "\\fR");
    vf_text_string(text, row->type == VF_OPTION_MAYBE ? "]\n" : "\n");
    roff(text, row->help);
    if (row->def != NULL) {
        vf_text_string(text, " (default ");
        roff(text, row->def);
        vf_text_char(text, ')');
    }
    vf_text_char(text, '\n');
}

static void command_page(const VfCommand *one, VfText *text)
{
    const char *name = one->name;
    vf_text_printf(text, "%s\n.SH SYNOPSIS\n\\fBvitfold ", one->summary);
    roff(text, name);
    vf_text_string(text, "\\fR ");
    roff(text, one->operands);
    vf_text_string(text, " [\\fIoptions\\fR]\n.SH OPTIONS\n");
    for (const VfOption *row = one->option; row->name != NULL; row++)
        option(row, text);
    vf_text_string(text, ".SH SEE ALSO\n.BR vitfold (1)\n");
}

static void program_page(const Manual *manual, VfText *text)
{
    vf_text_string(text, "a compiler for Vision Transformers in ONNX\n.SH SYNOPSIS\n"
                         "\\fBvitfold\\fR \\fICOMMAND\\fR [\\fIoptions\\fR]\n.SH DESCRIPTION\n"
                         "Reads a pretrained graph, rewrites attention, norms and linear layers by "
                         "named\npasses, and writes ONNX or C. What was asked for goes to standard "
                         "output,\nmessages go to standard error.\n.SH COMMANDS\n");
    for (const VfCommand *const *one = manual->command; *one != NULL; one++) {
        vf_text_string(text, ".TP\n\\fB");
        roff(text, (*one)->name);
        vf_text_string(text, "\\fR ");
        roff(text, (*one)->operands);
        vf_text_char(text, '\n');
        roff(text, (*one)->summary);
        vf_text_char(text, '\n');
    }
    vf_text_string(text, ".TP\n\\fBhelp\\fR [\\fICOMMAND\\fR]\nthe options of a command\n"
                         ".SH EXIT STATUS\n");
    for (const char *const *word = manual->status; *word != NULL; word += 2)
        vf_text_printf(text, ".TP\n%s\n%s\n", word[0], word[1]);
    vf_text_string(text, ".SH SEE ALSO\n");
    for (const VfCommand *const *one = manual->command; *one != NULL; one++) {
        vf_text_string(text, ".BR vitfold\\-");
        roff(text, (*one)->name);
        vf_text_printf(text, " (1)%s\n", one[1] == NULL ? "" : ",");
    }
}

void cli_manual_page(const Manual *manual, const VfCommand *one, VfText *text)
{
    if (one == NULL) {
        title(text, "");
        program_page(manual, text);
        return;
    }
    char name[64] = "-";
    for (size_t i = 0; one->name[i] != '\0' && i + 2 < sizeof name; i++)
        name[i + 1] = one->name[i];
    title(text, name);
    command_page(one, text);
}
