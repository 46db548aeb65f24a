#include "runtime/base/option.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/size.h"

/* How the values of one type are read. `value` is never NULL. */
typedef VfStatus SetFn(const VfOption *row, const char *value, void *field, VfArena *arena,
                       VfErr *err);

const VfOption *vf_option_find(const VfOption *table, const char *name)
{
    for (const VfOption *row = table; row->name != NULL; row++)
        if (strcmp(row->name, name) == 0)
            return row;
    return NULL;
}

VfStatus vf_option_list_add(VfOptionList *list, const char *item, VfArena *arena, VfErr *err)
{
    void *items = list->item;
    VF_TRY(vf_arena_grow(arena, &items, &list->capacity, list->n_item + 1, sizeof *list->item,
                         err));
    list->item = items;
    list->item[list->n_item++] = item;
    return VF_OK;
}

static VfStatus check_bounds(const VfOption *row, const char *value, double number, VfErr *err)
{
    bool is_bounded = row->min < 0 || row->min > 0 || row->max < 0 || row->max > 0;
    if (!is_bounded || (number >= row->min && number <= row->max))
        return VF_OK;
    return vf_fail(err, VF_USAGE, "option '%s': %s is not within %.15g to %.15g", row->name, value,
                   row->min, row->max);
}

static VfStatus set_bool(const VfOption *row, const char *value, void *field, VfArena *arena,
                         VfErr *err)
{
    static const struct {
        const char *word;
        bool value;
    } spelling[] = {{"true", true}, {"1", true},   {"yes", true}, {"on", true},
                    {"false", false}, {"0", false}, {"no", false}, {"off", false}};
    (void)arena;
    for (size_t i = 0; i < sizeof spelling / sizeof spelling[0]; i++) {
        if (strcmp(spelling[i].word, value) == 0) {
            *(bool *)field = spelling[i].value;
            return VF_OK;
        }
    }
    return vf_fail(err, VF_USAGE, "option '%s': '%s' is neither true nor false", row->name, value);
}

static VfStatus set_int(const VfOption *row, const char *value, void *field, VfArena *arena,
                        VfErr *err)
{
    (void)arena;
    char *end;
    errno = 0;
    long long number = strtoll(value, &end, 10);
    if (end == value || *end != '\0' || errno != 0)
        return vf_fail(err, VF_USAGE, "option '%s': '%s' is not an integer", row->name, value);
    VF_TRY(check_bounds(row, value, (double)number, err));
    *(int64_t *)field = number;
    return VF_OK;
}

static VfStatus set_size(const VfOption *row, const char *value, void *field, VfArena *arena,
                         VfErr *err)
{
    static const char suffix[] = "kMG";
    (void)arena;
    char *end;
    errno = 0;
    unsigned long long number = strtoull(value, &end, 10);
    bool is_number = end != value && errno == 0 && value[0] >= '0' && value[0] <= '9';
    size_t bytes = (size_t)number;
    const char *unit = *end == '\0' ? NULL : strchr(suffix, *end);
    if (is_number && unit != NULL) {
        is_number = vf_size_mul(bytes, (size_t)1024 << (10 * (unit - suffix)), &bytes);
        end++;
    }
    if (!is_number || *end != '\0')
        return vf_fail(err, VF_USAGE, "option '%s': '%s' is not a size in bytes", row->name,
                       value);
    VF_TRY(check_bounds(row, value, (double)bytes, err));
    *(size_t *)field = bytes;
    return VF_OK;
}

static VfStatus set_double(const VfOption *row, const char *value, void *field, VfArena *arena,
                           VfErr *err)
{
    (void)arena;
    char *end;
    double number = strtod(value, &end);
    if (end == value || *end != '\0' || !isfinite(number))
        return vf_fail(err, VF_USAGE, "option '%s': '%s' is not a number", row->name, value);
    VF_TRY(check_bounds(row, value, number, err));
    *(double *)field = number;
    return VF_OK;
}

static VfStatus set_string(const VfOption *row, const char *value, void *field, VfArena *arena,
                           VfErr *err)
{
    (void)row, (void)arena, (void)err;
    *(const char **)field = value;
    return VF_OK;
}

static VfStatus set_choice(const VfOption *row, const char *value, void *field, VfArena *arena,
                           VfErr *err)
{
    (void)arena;
    int i = 0;
    size_t size = strlen(value);
    for (const char *at = row->choices; at != NULL; i++) {
        size_t n = strcspn(at, "|");
        if (n == size && memcmp(at, value, n) == 0) {
            *(int *)field = i;
            return VF_OK;
        }
        at = at[n] == '\0' ? NULL : at + n + 1;
    }
    return vf_fail(err, VF_USAGE, "option '%s': '%s' is not one of %s", row->name, value,
                   row->choices);
}

static VfStatus set_list(const VfOption *row, const char *value, void *field, VfArena *arena,
                         VfErr *err)
{
    (void)row;
    return vf_option_list_add(field, value, arena, err);
}

static VfStatus set_maybe(const VfOption *row, const char *value, void *field, VfArena *arena,
                          VfErr *err)
{
    (void)row, (void)arena, (void)err;
    *(VfOptionMaybe *)field = (VfOptionMaybe){true, value};
    return VF_OK;
}

/* Type, bytes of its field, word for its value in help, reader. */
static const struct {
    size_t bytes;
    const char *word;
    SetFn *set;
} type_row[VF_OPTION_TYPE_COUNT] = {
    [VF_OPTION_BOOL] = {sizeof(bool), "", set_bool},
    [VF_OPTION_INT] = {sizeof(int64_t), "N", set_int},
    [VF_OPTION_SIZE] = {sizeof(size_t), "BYTES", set_size},
    [VF_OPTION_DOUBLE] = {sizeof(double), "X", set_double},
    [VF_OPTION_STRING] = {sizeof(const char *), "TEXT", set_string},
    [VF_OPTION_CHOICE] = {sizeof(int), "WORD", set_choice},
    [VF_OPTION_LIST] = {sizeof(VfOptionList), "ITEM", set_list},
    [VF_OPTION_MAYBE] = {sizeof(VfOptionMaybe), "FILE", set_maybe},
    [VF_OPTION_COUNT_UP] = {sizeof(int64_t), "", set_int},
};

/* What a value of `row` looks like: "N", "relu|gelu", "FILE"; "" for BOOL. */
const char *vf_option_word(const VfOption *row)
{
    if (row->value != NULL)
        return row->value;
    return row->type == VF_OPTION_CHOICE ? row->choices : type_row[row->type].word;
}

VfStatus vf_option_set(const VfOption *row, const char *value, void *target, VfArena *arena,
                       VfErr *err)
{
    return type_row[row->type].set(row, value, (char *)target + row->offset, arena, err);
}

VfStatus vf_option_defaults(const VfOption *table, void *target, VfArena *arena, VfErr *err)
{
    for (const VfOption *row = table; row->name != NULL; row++) {
        memset((char *)target + row->offset, 0, type_row[row->type].bytes);
        if (row->def != NULL && vf_option_set(row, row->def, target, arena, err) != VF_OK)
            return vf_fail(err, VF_INTERNAL, "option '%s': default '%s' is not valid", row->name,
                           row->def);
    }
    return VF_OK;
}

void vf_option_print(const VfOption *row, const void *target, VfText *text)
{
    const void *field = (const char *)target + row->offset;
    const VfOptionList *list = field;
    const char *string = NULL;
    switch (row->type) {
    case VF_OPTION_BOOL:
        vf_text_string(text, *(const bool *)field ? "true" : "false");
        return;
    case VF_OPTION_INT:
    case VF_OPTION_COUNT_UP:
        vf_text_printf(text, "%lld", (long long)*(const int64_t *)field);
        return;
    case VF_OPTION_SIZE:
        vf_text_printf(text, "%zu", *(const size_t *)field);
        return;
    case VF_OPTION_DOUBLE:
        vf_text_double(text, *(const double *)field);
        return;
    case VF_OPTION_CHOICE:
        string = row->choices;
        for (int i = 0; i < *(const int *)field; i++)
            string += strcspn(string, "|") + 1;
        vf_text_add(text, string, strcspn(string, "|"));
        return;
    case VF_OPTION_LIST:
        for (size_t i = 0; i < list->n_item; i++)
            vf_text_printf(text, "%s%s", i == 0 ? "" : ",", list->item[i]);
        return;
    case VF_OPTION_MAYBE:
        string = ((const VfOptionMaybe *)field)->value;
        break;
    case VF_OPTION_STRING:
        string = *(const char *const *)field;
        break;
    case VF_OPTION_TYPE_COUNT:
        break;
    }
    vf_text_string(text, string == NULL ? "" : string);
}

void vf_option_help(const VfOption *table, bool is_command, VfText *text)
{
    for (const VfOption *row = table; row->name != NULL; row++) {
        const char *word = vf_option_word(row);
        const char *dashes = is_command ? "--" : "";
        vf_text_string(text, "  ");
        if (is_command && row->letter != 0)
            vf_text_printf(text, "-%c, ", row->letter);
        if (row->type == VF_OPTION_MAYBE)
            vf_text_printf(text, "%s%s[=%s]", dashes, row->name, word);
        else if (word[0] == '\0')
            vf_text_printf(text, "%s%s", dashes, row->name);
        else
            vf_text_printf(text, "%s%s%s%s", dashes, row->name, is_command ? " " : "=", word);
        vf_text_printf(text, "\n      %s", row->help);
        if (row->def != NULL)
            vf_text_printf(text, " (default %s)", row->def);
        vf_text_char(text, '\n');
    }
}
