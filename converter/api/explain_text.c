/* An explanation for people: sites that a pass treats alike share their reason. */
#include <string.h>

#include "converter/api/explanation.h"

enum { N_NAME_SHOWN = 4 };

static bool is_alike(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static void print_quoted(VfText *text, const char *name)
{
    vf_text_char(text, '\'');
    vf_text_visible(text, vf_bytes(name == NULL ? "?" : name));
    vf_text_char(text, '\'');
}

static void print_attention(const VfSaidList *list, VfText *text)
{
    if (list->n > 0)
        vf_text_printf(text, "attention: %zu %s\n", list->n, list->n == 1 ? "site" : "sites");
    for (size_t i = 0; i < list->n; i++) {
        const VfSaid *said = &list->item[i];
        vf_text_printf(text, "  %d ", (int)said->index);
        print_quoted(text, said->site);
        vf_text_printf(text, " %s", said->kind);
        vf_text_string(text, said->reason == NULL ? "" : ": ");
        vf_text_visible(text, vf_bytes(said->reason == NULL ? "" : said->reason));
        vf_text_char(text, '\n');
    }
}

static bool is_site(const VfSaidList *attention, const VfSaid *miss)
{
    for (size_t i = 0; i < attention->n; i++)
        if (is_alike(attention->item[i].site, miss->site))
            return true;
    return false;
}

/* Misses that are no sites; a site of another kind has told its reason. */
static void print_misses(const VfExplanation *explanation, VfText *text)
{
    bool is_first = true;
    for (size_t i = 0; i < explanation->miss.n; i++) {
        const VfSaid *miss = &explanation->miss.item[i];
        if (is_site(&explanation->attention, miss))
            continue;
        vf_text_string(text, is_first ? "no attention\n" : "");
        is_first = false;
        vf_text_string(text, "  ");
        print_quoted(text, miss->site);
        vf_text_printf(text, " (nearest: %s): ", miss->rule);
        vf_text_visible(text, vf_bytes(miss->reason));
        vf_text_char(text, '\n');
    }
}

static bool are_alike(const VfSaid *a, const VfSaid *b)
{
    return is_alike(a->rule, b->rule) && is_alike(a->reason, b->reason);
}

static bool is_told(const VfSaidList *list, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (are_alike(&list->item[k], &list->item[i]))
            return true;
    return false;
}

/* Site i and those after it that are alike. */
static void print_group(const VfSaidList *list, size_t i, bool is_full, VfText *text)
{
    const VfSaid *first = &list->item[i];
    size_t n = 0, most = is_full ? list->n : N_NAME_SHOWN;
    for (size_t k = i; k < list->n; k++)
        n += are_alike(first, &list->item[k]);
    vf_text_printf(text, first->reason == NULL ? "  can change %zu: " : "  leaves %zu: ", n);
    for (size_t k = i, shown = 0; k < list->n && shown < most; k++) {
        if (!are_alike(first, &list->item[k]))
            continue;
        vf_text_string(text, shown++ == 0 ? "" : ", ");
        print_quoted(text, list->item[k].site);
    }
    if (n > most)
        vf_text_printf(text, " and %zu more", n - most);
    vf_text_string(text, first->reason == NULL ? " (" : "\n    ");
    vf_text_visible(text, vf_bytes(first->reason == NULL ? first->rule : first->reason));
    vf_text_string(text, first->reason == NULL ? ")\n" : "\n");
}

static void print_pass(const VfSaidPass *pass, bool is_full, VfText *text)
{
    vf_text_printf(text, "%s\n", pass->name);
    if (pass->untried != NULL)
        vf_text_printf(text, "  not tried: %s\n", pass->untried);
    for (size_t i = 0; i < pass->site.n; i++)
        if (!is_told(&pass->site, i))
            print_group(&pass->site, i, is_full, text);
}

static void print_idle(const VfExplanation *explanation, VfText *text)
{
    const char *before = "no site: ";
    for (size_t i = 0; i < explanation->n_pass; i++) {
        const VfSaidPass *pass = &explanation->pass[i];
        if (pass->untried != NULL || pass->site.n > 0)
            continue;
        vf_text_printf(text, "%s%s", before, pass->name);
        before = ", ";
    }
    vf_text_string(text, before[0] == ',' ? "\n" : "");
}

static void print_end(const char *word, const VfNodeEnd *end, VfText *text)
{
    vf_text_printf(text, "  %s ", word);
    print_quoted(text, end->name);
    vf_text_printf(text, " %s, %s%s", end->type, end->n_use > 0 ? "read by " : "", end->op);
    if (end->from != NULL) {
        vf_text_char(text, ' ');
        print_quoted(text, end->from);
    }
    if (end->n_use > 1)
        vf_text_printf(text, " and %d more", (int)end->n_use - 1);
    vf_text_char(text, '\n');
}

static void print_detail(const VfNodeDetail *detail, VfText *text)
{
    vf_text_string(text, "node ");
    print_quoted(text, detail->name);
    vf_text_printf(text, ": %s\n", detail->op);
    for (size_t i = 0; i < detail->n_in; i++)
        print_end("reads", &detail->in[i], text);
    for (size_t i = 0; i < detail->n_out; i++)
        print_end("gives", &detail->out[i], text);
    for (size_t i = 0; i < detail->role.n; i++) {
        vf_text_printf(text, "  %s ", detail->role.item[i].rule);
        if (detail->role.item[i].site != NULL)
            print_quoted(text, detail->role.item[i].site);
        vf_text_char(text, '\n');
    }
    vf_text_printf(text, "  %s\n", detail->line);
}

void vf_explanation_text(const VfExplanation *explanation, bool is_full, VfText *text)
{
    for (size_t i = 0; i < explanation->n_detail; i++)
        print_detail(&explanation->detail[i], text);
    print_attention(&explanation->attention, text);
    print_misses(explanation, text);
    for (size_t i = 0; i < explanation->n_pass; i++)
        if (explanation->pass[i].site.n > 0 ||
            (explanation->pass[i].untried != NULL && explanation->n_detail == 0))
            print_pass(&explanation->pass[i], is_full, text);
    if (explanation->n_detail == 0)
        print_idle(explanation, text);
}
