/* Options as rows of a table: the only place that says what an option is called, what it
 * means, what it may be and where its value goes. Parsing, help and documents come from it.
 *
 * A table describes the fields of one plain struct. Values of text options point into the
 * words that were parsed or into the arena; they live as long as those do.
 *
 * Spelled "key=value,key=value" after a pass name, "--key value" or "--key=value" on the
 * command line. A mistake is VF_USAGE with a sentence that names the option.
 */
#ifndef VF_BASE_OPTION_H
#define VF_BASE_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/arena.h"
#include "runtime/base/bytes.h"
#include "runtime/base/status.h"
#include "runtime/base/text.h"

/* The field that an option fills. */
typedef enum VfOptionType {
    VF_OPTION_BOOL,   /* bool; "--key" or "key" sets it, "key=true|false|1|0|yes|no" too */
    VF_OPTION_INT,    /* int64_t */
    VF_OPTION_SIZE,   /* size_t bytes; suffixes k M G are powers of 1024 */
    VF_OPTION_DOUBLE, /* double, finite */
    VF_OPTION_STRING, /* const char *, NULL where there is no default */
    VF_OPTION_CHOICE, /* int: index in `choices` */
    VF_OPTION_LIST,   /* VfOptionList; on the command line each use appends one item, after a
                       * pass name the items are those between commas: "sites=0-5,9" */
    VF_OPTION_MAYBE,  /* VfOptionMaybe: a text that may be left out; a separate word is taken as
                       * the value only if it is "-" or ends in `choices` (".json") */
    VF_OPTION_COUNT_UP, /* int64_t: how often it was given, "-v -v" */
    VF_OPTION_TYPE_COUNT
} VfOptionType;

typedef struct VfOptionList {
    const char **item; /* in order; in the arena */
    size_t n_item, capacity;
} VfOptionList;

typedef struct VfOptionMaybe {
    bool is_given;
    const char *value; /* NULL if given without a value */
} VfOptionMaybe;

/* One row. A table ends with the row {0}. */
typedef struct VfOption {
    const char *name; /* "act"; without dashes */
    const char *help; /* what it does, lower case, one line, no full stop */
    VfOptionType type;
    size_t offset;       /* offsetof the field */
    const char *def;     /* default, spelled as a user would; NULL: false, 0, NULL, empty */
    double min, max;     /* bounds of numbers, both included; not checked if both are 0 */
    const char *choices; /* "relu|relu2|gelu"; the suffix of a MAYBE value */
    char letter;         /* short form on the command line, or 0 */
    const char *value;   /* what help calls the value: "FILE"; NULL for a word from the type */
} VfOption;

/* Fill every field of `target` with its default. VF_INTERNAL if a default breaks its own row. */
VfStatus vf_option_defaults(const VfOption *table, void *target, VfArena *arena, VfErr *err);

/* Set one option from `value`, which stays where it is. The row must be of this table. */
VfStatus vf_option_set(const VfOption *row, const char *value, void *target, VfArena *arena,
                       VfErr *err);

/* Parse "key=value,key=value" over `target`, which must hold its defaults. A part without "="
 * sets the BOOL of that name, or else continues the list or text before it, so lists need no
 * quotes. `text` is copied into `arena`. `owner` ("pass 'fold-bn'") begins the sentence of a
 * mistake. Empty text is no option. */
VfStatus vf_option_parse(const VfOption *table, VfBytes text, const char *owner, void *target,
                         VfArena *arena, VfErr *err);

/* Parse command line words over `target`. Words that are no options are collected in
 * `operands`; after "--" all are. "-" is an operand. Words must outlive the target. */
VfStatus vf_option_parse_words(const VfOption *table, int n_word, char *const *word, void *target,
                               VfOptionList *operands, VfArena *arena, VfErr *err);

/* The row called `name`, or NULL. */
const VfOption *vf_option_find(const VfOption *table, const char *name);

/* Append one item, kept as the pointer it is. */
VfStatus vf_option_list_add(VfOptionList *list, const char *item, VfArena *arena, VfErr *err);

/* What help calls the value of `row`: "FILE", "N", "auto|always"; empty where it takes none. */
const char *vf_option_word(const VfOption *row);

/* Help, one paragraph a row. `is_command` prints dashes and letters. */
void vf_option_help(const VfOption *table, bool is_command, VfText *text);

/* The value that `target` holds for `row`, spelled as vf_option_set reads it. */
void vf_option_print(const VfOption *row, const void *target, VfText *text);

/* Of several table names the one nearest to a mistyped `word`, or NULL if none is near. */
const char *vf_nearest_word(const char *word, const char *const *known, size_t n_known);

#endif
