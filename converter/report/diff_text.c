/* A diff for people: what the model says, counts, weights, then hunks, each kind of hunk once. */
#include <inttypes.h>
#include <string.h>

#include "converter/report/diff_private.h"
#include "converter/report/node_line.h"
#include "converter/report/table.h"
#include "passes/ir/vft_print.h"

enum {
    SHORT = 160,       /* bytes of a text that is only quoted */
    LINES = 16,        /* of one sort of one hunk, */
    OPERATORS = 8,     /* that the rest of a hunk is counted by, */
    GROUPS = 25,       /* kinds of hunks, */
    PLACES = 6,        /* places of one kind, */
    WEIGHTS = 8,      /* weights and facts of one sort that are printed without is_full */
};

typedef struct Printer {
    const VfDiff *diff;
    const VfDiffStyle *style;
    VfText *text;
} Printer;

static const char sign_of[] = {
    [VF_DIFF_REMOVED] = '-', [VF_DIFF_ADDED] = '+', [VF_DIFF_CHANGED] = '~'};

static void begin(const Printer *p, char sign)
{
    const char *color = sign == '-' ? "31" : sign == '+' ? "32" : sign == '~' ? "33" : "36";
    if (p->style->has_color && sign != ' ')
        vf_text_printf(p->text, "\033[%sm", color);
}

static void end(const Printer *p, char sign)
{
    vf_text_string(p->text, p->style->has_color && sign != ' ' ? "\033[0m\n" : "\n");
}

static void quote(const Printer *p, VfBytes value)
{
    bool is_cut = !p->style->is_full && value.size > SHORT;
    VfBytes part = {value.data, is_cut ? SHORT : value.size};
    vf_text_visible(p->text, part);
    if (is_cut)
        vf_text_printf(p->text, "... (%zu bytes)", value.size);
}

static void say_more(const Printer *p, size_t n, const char *what)
{
    if (n > 0)
        vf_text_printf(p->text, "  ... and %zu more %s (--full)\n", n, what);
}

static size_t limit(const Printer *p, size_t n, size_t most)
{
    return p->style->is_full || n <= most ? n : most;
}

static void print_part(const Printer *p, const VfDiffPart *part, const char *indent)
{
    char sign = part->a.data == NULL && part->b.data != NULL   ? '+'
                : part->b.data == NULL && part->a.data != NULL ? '-'
                                                               : '~';
    begin(p, sign);
    vf_text_printf(p->text, "%s%c %s", indent, sign, part->what);
    if (part->key.size > 0) {
        vf_text_char(p->text, ' ');
        quote(p, part->key);
    }
    if (part->a.data != NULL || part->b.data != NULL)
        vf_text_string(p->text, ": ");
    if (part->a.data != NULL)
        quote(p, part->a);
    if (part->a.data != NULL && part->b.data != NULL)
        vf_text_string(p->text, " -> ");
    if (part->b.data != NULL)
        quote(p, part->b);
    end(p, sign);
}

/* --- counts --- */

static void print_operators(const Printer *p)
{
    VfTable table;
    size_t n = 0;
    vf_table_init(&table, p->diff->arena, "lrrr");
    vf_table_printf(&table, "operator");
    vf_table_printf(&table, "a");
    vf_table_printf(&table, "b");
    vf_table_printf(&table, "b-a");
    for (size_t i = 0; i < p->diff->n_operator; i++) {
        const VfDiffOperator *one = &p->diff->operators[i];
        if (one->a == one->b)
            continue;
        vf_table_cell(&table, one->name);
        vf_table_printf(&table, "%d", (int)one->a);
        vf_table_printf(&table, "%d", (int)one->b);
        vf_table_printf(&table, "%+d", (int)(one->b - one->a));
        n++;
    }
    if (n > 0)
        vf_table_print(&table, 2, p->text);
}

static void print_notes(const Printer *p)
{
    const VfDiffParts *notes = &p->diff->notes;
    static const char *const what[] = {"name of value", "name of node", "declared type",
                                       "doc of node", "doc of value", "metadata of node",
                                       "metadata of value", "other fields of node",
                                       "default written out"};
    for (size_t k = 0; !p->style->is_full && k < sizeof what / sizeof what[0]; k++) {
        size_t n = 0;
        const VfDiffPart *first = NULL;
        for (size_t i = 0; i < notes->n; i++)
            if (strcmp(notes->part[i].what, what[k]) == 0) {
                first = first == NULL ? &notes->part[i] : first;
                n++;
            }
        if (n == 1)
            print_part(p, first, "");
        else if (n > 1)
            vf_text_printf(p->text, "~ %s: %zu differ (--full)\n", what[k], n);
    }
    for (size_t i = 0; p->style->is_full && i < notes->n; i++)
        print_part(p, &notes->part[i], "");
}

static void print_counts(const Printer *p)
{
    const VfDiff *diff = p->diff;
    size_t node[3] = {0}, weight[3] = {0};
    for (size_t i = 0; i < diff->n_node; i++)
        node[diff->node[i].kind]++;
    for (size_t i = 0; i < diff->n_weight; i++)
        weight[diff->weight[i].kind]++;
    vf_text_printf(p->text, "nodes: %zu same, %zu changed, %zu removed, %zu added", diff->n_same,
                   node[VF_DIFF_CHANGED], node[VF_DIFF_REMOVED], node[VF_DIFF_ADDED]);
    if (diff->n_hunk > 0)
        vf_text_printf(p->text, "; %zu edits of %zu kinds", diff->n_hunk, diff->n_group);
    vf_text_printf(p->text, "\nconstants: %zu changed, %zu removed, %zu added\n",
                   weight[VF_DIFF_CHANGED], weight[VF_DIFF_REMOVED], weight[VF_DIFF_ADDED]);
}

/* --- weights --- */

static VfStatus print_constant(const Printer *p, const VfTensor *tensor, VfErr *err)
{
    VfBytes text;
    VF_TRY(vf_diff_constant(p->diff->arena, tensor, &text, err));
    const char *digest = memmem(text.data, text.size, "] digest ", 9);
    if (digest != NULL)
        text.size = (size_t)(digest + 1 - text.data);
    vf_text_visible(p->text, text);
    return VF_OK;
}

static VfStatus print_weight(const Printer *p, const VfDiffWeight *weight, VfErr *err)
{
    const VfValue *a = weight->a, *b = weight->b;
    const VfTensor *one = a != NULL ? a->tensor : b->tensor;
    const VfWeightChange *change = &weight->change;
    begin(p, sign_of[weight->kind]);
    vf_text_printf(p->text, "%c ", sign_of[weight->kind]);
    quote(p, vf_bytes(vf_value_label(a != NULL ? a : b)));
    vf_text_string(p->text, ": ");
    VF_TRY(print_constant(p, one, err));
    if (weight->kind == VF_DIFF_CHANGED && (!change->is_measured || one->count <= 8)) {
        vf_text_string(p->text, " -> ");
        VF_TRY(print_constant(p, b->tensor, err));
    } else if (change->is_measured) {
        vf_text_printf(p->text, ": %zu of %zu differ, norm %.3g (relative %.3g), largest %.3g",
                       change->n_differ, one->count, change->norm, change->norm_rel,
                       change->max_abs);
    }
    end(p, sign_of[weight->kind]);
    return VF_OK;
}

static VfStatus print_weights(const Printer *p, VfErr *err)
{
    static const VfDiffKind order[] = {VF_DIFF_CHANGED, VF_DIFF_REMOVED, VF_DIFF_ADDED};
    for (size_t k = 0; k < 3; k++) {
        size_t n = 0, most = order[k] == VF_DIFF_CHANGED ? WEIGHTS : WEIGHTS / 3;
        for (size_t i = 0; i < p->diff->n_weight; i++) {
            if (p->diff->weight[i].kind != order[k])
                continue;
            if (n++ < limit(p, p->diff->n_weight, most))
                VF_TRY(print_weight(p, &p->diff->weight[i], err));
        }
        if (!p->style->is_full && n > most) {
            vf_text_printf(p->text, "  ... and %zu more constants %s (--full)\n", n - most,
                           vf_diff_kind_name(order[k]));
        }
    }
    return VF_OK;
}

/* --- hunks --- */

/* Exporters name results after their nodes: then the node's name at the end says nothing. */
static VfStatus cut_name(const Printer *p, const VfNode *node, VfBytes *line, VfErr *err)
{
    const VfValue *out = vf_node_out(node, 0);
    VfText text;
    VfBytes tail;
    if (node->name.size == 0 || out == NULL || out->name.size < node->name.size ||
        memcmp(out->name.data, node->name.data, node->name.size) != 0)
        return VF_OK;
    vf_text_init(&text, p->diff->arena);
    vf_text_string(&text, " @");
    vf_vft_print_name(&text, node->name);
    VF_TRY(vf_text_get(&text, &tail, err));
    if (tail.size < line->size &&
        memcmp(line->data + line->size - tail.size, tail.data, tail.size) == 0)
        line->size -= tail.size;
    return VF_OK;
}

static VfStatus print_line(const Printer *p, char sign, const VfNode *node, VfErr *err)
{
    VfBytes line;
    VF_TRY(vf_report_node_line(p->diff->arena, node, &line, err));
    VF_TRY(cut_name(p, node, &line, err));
    begin(p, sign);
    vf_text_printf(p->text, "%c ", sign);
    vf_text_add(p->text, line.data, line.size);
    end(p, sign);
    return VF_OK;
}

static VfStatus print_node(const Printer *p, const VfDiffNode *node, VfErr *err)
{
    if (node->kind == VF_DIFF_REMOVED)
        return print_line(p, '-', node->a, err);
    if (node->kind == VF_DIFF_ADDED)
        return print_line(p, '+', node->b, err);
    VF_TRY(print_line(p, '~', node->b, err));
    for (size_t i = 0; i < node->parts.n; i++)
        print_part(p, &node->parts.part[i], "    ");
    return VF_OK;
}

/* Unchanged nodes beside the hunk, in the graph its first node belongs to. */
static VfStatus print_context(const Printer *p, const VfDiffNode *node, bool is_before, VfErr *err)
{
    const VfNode *at = node->a != NULL ? node->a : node->b;
    const size_t *changed = node->a != NULL ? p->diff->at_a : p->diff->at_b;
    int32_t n = 0;
    const VfNode *last = at;
    while (n < p->style->context) {
        const VfNode *next = is_before ? last->prev : last->next;
        if (next == NULL || changed[next->id] != 0)
            break;
        last = next;
        n++;
        if (!is_before)
            VF_TRY(print_line(p, ' ', last, err));
    }
    for (; is_before && last != at; last = last->next)
        VF_TRY(print_line(p, ' ', last, err));
    return VF_OK;
}

static VfStatus print_head(const Printer *p, const VfDiffGroup *group, VfErr *err)
{
    const VfDiff *diff = p->diff;
    size_t n = diff->hunk[diff->grouped[group->first]].n, shown = limit(p, group->n, PLACES);
    begin(p, '@');
    vf_text_printf(p->text, "@@ %zu node%s", n, n == 1 ? "" : "s");
    if (group->n > 1)
        vf_text_printf(p->text, ", alike at %zu places", group->n);
    vf_text_string(p->text, ": ");
    for (size_t k = 0; k < shown; k++) {
        VfBytes place;
        VF_TRY(vf_diff_place(diff, &diff->hunk[diff->grouped[group->first + k]], &place, err));
        vf_text_string(p->text, k > 0 ? ", " : "");
        quote(p, place);
    }
    vf_text_string(p->text, shown < group->n ? ", ... @@" : " @@");
    end(p, '@');
    return VF_OK;
}

/* What is not printed of a hunk, by operator. */
static VfStatus print_rest(const Printer *p, const VfDiffHunk *hunk, VfDiffKind kind, size_t shown,
                           VfErr *err)
{
    const VfDiff *diff = p->diff;
    VfIntern *name = vf_intern_new(diff->arena);
    size_t count[OPERATORS] = {0}, n = 0, n_other = 0;
    VF_TRY_ALLOC(name, err);
    for (size_t i = 0; i < hunk->n; i++) {
        const VfDiffNode *node = &diff->node[diff->member[hunk->first + i]];
        int32_t id;
        if (node->kind != kind || n++ < shown)
            continue;
        VF_TRY(vf_intern_add(name, (node->a != NULL ? node->a : node->b)->op_type, &id, err));
        if (id < OPERATORS)
            count[id]++;
        else
            n_other++;
    }
    if (n <= shown)
        return VF_OK;
    begin(p, sign_of[kind]);
    vf_text_printf(p->text, "%c ... and %zu more:", sign_of[kind], n - shown);
    for (int32_t i = 0; i < OPERATORS && i < vf_intern_count(name); i++) {
        vf_text_printf(p->text, "%s %zu ", i > 0 ? "," : "", count[i]);
        quote(p, vf_intern_get(name, i));
    }
    if (n_other > 0)
        vf_text_printf(p->text, ", %zu others", n_other);
    end(p, sign_of[kind]);
    return VF_OK;
}

static VfStatus print_group(const Printer *p, const VfDiffGroup *group, VfErr *err)
{
    static const VfDiffKind order[] = {VF_DIFF_REMOVED, VF_DIFF_ADDED, VF_DIFF_CHANGED};
    const VfDiff *diff = p->diff;
    const VfDiffHunk *hunk = &diff->hunk[diff->grouped[group->first]];
    const size_t *member = diff->member + hunk->first;
    VF_TRY(print_head(p, group, err));
    VF_TRY(print_context(p, &diff->node[member[0]], true, err));
    for (size_t k = 0; k < 3; k++) {
        size_t n = 0, most = limit(p, hunk->n, LINES);
        for (size_t i = 0; i < hunk->n; i++)
            if (diff->node[member[i]].kind == order[k] && n++ < most)
                VF_TRY(print_node(p, &diff->node[member[i]], err));
        VF_TRY(print_rest(p, hunk, order[k], most, err));
    }
    return print_context(p, &diff->node[member[hunk->n - 1]], false, err);
}

VfStatus vf_diff_text(const VfDiff *diff, const VfDiffStyle *style, VfText *text, VfErr *err)
{
    Printer p = {diff, style, text};
    size_t shown = limit(&p, diff->n_group, GROUPS);
    if (vf_diff_is_empty(diff))
        return VF_OK;
    for (size_t i = 0; i < limit(&p, diff->facts.n, WEIGHTS); i++)
        print_part(&p, &diff->facts.part[i], "");
    say_more(&p, diff->facts.n - limit(&p, diff->facts.n, WEIGHTS), "facts");
    print_counts(&p);
    print_operators(&p);
    print_notes(&p);
    if (style->is_stat)
        return VF_OK;
    VF_TRY(print_weights(&p, err));
    for (size_t i = 0; i < shown; i++)
        VF_TRY(print_group(&p, &diff->group[i], err));
    say_more(&p, diff->n_group - shown, "kinds of edits");
    return VF_OK;
}
