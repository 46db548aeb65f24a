/* Words and "key=value" lists into the fields of an option table. */
#include <string.h>

#include "runtime/base/option.h"

enum { MAX_KNOWN = 64 }; /* options of one table that a hint is looked for among */

/* Number of edits that turn `a` into `b`, at most `limit`; counts swaps as two. */
static size_t edit_distance(const char *a, const char *b, size_t limit)
{
    size_t row[40];
    size_t n = strlen(b);
    if (n + 1 > sizeof row / sizeof row[0])
        return limit;
    for (size_t j = 0; j <= n; j++)
        row[j] = j;
    for (size_t i = 0; a[i] != '\0'; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < n; j++) {
            size_t best = diagonal + (a[i] != b[j]);
            diagonal = row[j + 1];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (diagonal + 1 < best)
                best = diagonal + 1;
            row[j + 1] = best;
        }
    }
    return row[n] < limit ? row[n] : limit;
}

/* The same to the nearest of the beginnings of `known` that end at a dash. */
static size_t distance_to_beginning(const char *word, const char *known, size_t limit)
{
    char part[40];
    for (const char *dash = strchr(known, '-'); dash != NULL; dash = strchr(dash + 1, '-')) {
        size_t n = (size_t)(dash - known);
        if (n >= sizeof part)
            break;
        memcpy(part, known, n);
        part[n] = '\0';
        limit = edit_distance(word, part, limit);
    }
    return limit;
}

/* The known word that `word` begins, or NULL if it begins several as well. */
static const char *begun_word(const char *word, const char *const *known, size_t n_known,
                              size_t limit)
{
    size_t best = limit;
    const char *nearest = NULL;
    for (size_t i = 0; i < n_known; i++) {
        size_t distance = distance_to_beginning(word, known[i], limit);
        if (distance < best)
            nearest = known[i];
        else if (distance == best && best < limit)
            nearest = NULL;
        best = distance < best ? distance : best;
    }
    return nearest;
}

const char *vf_nearest_word(const char *word, const char *const *known, size_t n_known)
{
    size_t limit = strlen(word) < 4 ? 2 : 3, best = limit;
    const char *nearest = NULL;
    for (size_t i = 0; i < n_known; i++) {
        size_t distance = edit_distance(word, known[i], best);
        if (distance < best) {
            best = distance;
            nearest = known[i];
        }
    }
    return nearest != NULL ? nearest : begun_word(word, known, n_known, limit);
}

static VfStatus unknown(const VfOption *table, const char *name, const char *dashes, VfErr *err)
{
    const char *known[MAX_KNOWN];
    size_t n = 0;
    for (const VfOption *row = table; row->name != NULL && n < MAX_KNOWN; row++)
        known[n++] = row->name;
    const char *near = vf_nearest_word(name, known, n);
    if (near == NULL)
        return vf_fail(err, VF_USAGE, "unknown option '%s%s'", dashes, name);
    return vf_fail(err, VF_USAGE, "unknown option '%s%s', did you mean '%s%s'", dashes, name,
                   dashes, near);
}

/* One part of "a=1,b=2". */
typedef struct Part {
    const VfOption *row;
    char *value;
} Part;

static VfStatus finish_part(const Part *part, void *target, VfArena *arena, VfErr *err)
{
    if (part->row == NULL)
        return VF_OK;
    if (part->row->type != VF_OPTION_LIST)
        return vf_option_set(part->row, part->value, target, arena, err);
    for (char *item = part->value; item != NULL;) {
        char *comma = strchr(item, ',');
        if (comma != NULL)
            *comma++ = '\0';
        VF_TRY(vf_option_set(part->row, item, target, arena, err));
        item = comma;
    }
    return VF_OK;
}

static bool can_continue(const Part *part)
{
    return part->row != NULL &&
           (part->row->type == VF_OPTION_LIST || part->row->type == VF_OPTION_STRING);
}

/* Take the part `word` of a list; the value of a part stays open, for it may be continued. */
static VfStatus take_part(const VfOption *table, char *word, Part *part, void *target,
                          VfArena *arena, VfErr *err)
{
    char *equals = strchr(word, '=');
    const VfOption *flag = equals == NULL ? vf_option_find(table, word) : NULL;
    if (equals == NULL && (flag == NULL || flag->type != VF_OPTION_BOOL)) {
        if (can_continue(part)) {
            word[-1] = ',';
            return VF_OK;
        }
        if (flag != NULL)
            return vf_fail(err, VF_USAGE, "option '%s' needs a value", word);
        return unknown(table, word, "", err);
    }
    VF_TRY(finish_part(part, target, arena, err));
    if (equals != NULL)
        *equals = '\0';
    *part = (Part){vf_option_find(table, word), equals == NULL ? NULL : equals + 1};
    if (part->row == NULL)
        return unknown(table, word, "", err);
    if (part->value == NULL) {
        part->value = vf_arena_string(arena, "true");
        VF_TRY_ALLOC(part->value, err);
    }
    return VF_OK;
}

static VfStatus parse_parts(const VfOption *table, char *copy, void *target, VfArena *arena,
                            VfErr *err)
{
    Part part = {NULL, NULL};
    for (char *word = copy; word != NULL;) {
        char *comma = strchr(word, ',');
        if (comma != NULL)
            *comma++ = '\0';
        VF_TRY(take_part(table, word, &part, target, arena, err));
        word = comma;
    }
    return finish_part(&part, target, arena, err);
}

VfStatus vf_option_parse(const VfOption *table, VfBytes text, const char *owner, void *target,
                         VfArena *arena, VfErr *err)
{
    if (text.size == 0)
        return VF_OK;
    char *copy = vf_arena_copy(arena, text.data, text.size);
    VF_TRY_ALLOC(copy, err);
    if (memchr(copy, 0, text.size) != NULL)
        return vf_fail(err, VF_USAGE, "%s: options hold a 0 byte", owner);
    if (parse_parts(table, copy, target, arena, err) != VF_OK)
        return vf_context(err, "%s", owner);
    return VF_OK;
}

/* The words of a command line and how far they are read. */
typedef struct Words {
    const VfOption *table;
    char *const *word;
    int n_word, next;
    void *target;
    VfArena *arena;
} Words;

static bool ends_in(const char *word, const char *suffix)
{
    size_t n = strlen(word), m = strlen(suffix);
    return n > m && strcmp(word + n - m, suffix) == 0;
}

/* Apply `row` with the value glued to it (may be NULL) or the next word. */
static VfStatus apply(Words *words, const VfOption *row, const char *value, VfErr *err)
{
    void *field = (char *)words->target + row->offset;
    const char *next = words->next < words->n_word ? words->word[words->next] : NULL;
    if (row->type == VF_OPTION_COUNT_UP && value == NULL) {
        ++*(int64_t *)field;
        return VF_OK;
    }
    if (row->type == VF_OPTION_BOOL && value == NULL)
        value = "true";
    if (row->type == VF_OPTION_MAYBE && value == NULL) {
        bool is_taken = next != NULL && (strcmp(next, "-") == 0 || ends_in(next, row->choices));
        *(VfOptionMaybe *)field = (VfOptionMaybe){true, is_taken ? next : NULL};
        words->next += is_taken;
        return VF_OK;
    }
    if (value == NULL) {
        if (next == NULL)
            return vf_fail(err, VF_USAGE, "option '--%s' needs a value", row->name);
        value = next;
        words->next++;
    }
    return vf_option_set(row, value, words->target, words->arena, err);
}

static VfStatus long_option(Words *words, const char *word, VfErr *err)
{
    size_t n = strcspn(word, "=");
    char *name = vf_arena_copy(words->arena, word, n);
    VF_TRY_ALLOC(name, err);
    const VfOption *row = vf_option_find(words->table, name);
    if (row == NULL)
        return unknown(words->table, name, "--", err);
    return apply(words, row, word[n] == '=' ? word + n + 1 : NULL, err);
}

/* "-v", "-qv", "-oFILE", "-o FILE". */
static VfStatus short_options(Words *words, const char *word, VfErr *err)
{
    for (const char *at = word; *at != '\0'; at++) {
        const VfOption *row = words->table;
        while (row->name != NULL && row->letter != *at)
            row++;
        if (row->name == NULL)
            return vf_fail(err, VF_USAGE, "unknown option '-%c'", *at);
        bool is_flag = row->type == VF_OPTION_BOOL || row->type == VF_OPTION_COUNT_UP;
        VF_TRY(apply(words, row, is_flag || at[1] == '\0' ? NULL : at + 1, err));
        if (!is_flag)
            return VF_OK;
    }
    return VF_OK;
}

VfStatus vf_option_parse_words(const VfOption *table, int n_word, char *const *word, void *target,
                               VfOptionList *operands, VfArena *arena, VfErr *err)
{
    Words words = {table, word, n_word, 0, target, arena};
    bool only_operands = false;
    while (words.next < n_word) {
        const char *at = word[words.next++];
        if (only_operands || at[0] != '-' || at[1] == '\0')
            VF_TRY(vf_option_list_add(operands, at, arena, err));
        else if (strcmp(at, "--") == 0)
            only_operands = true;
        else if (at[1] == '-')
            VF_TRY(long_option(&words, at + 2, err));
        else
            VF_TRY(short_options(&words, at + 1, err));
    }
    return VF_OK;
}
