/* Which sites a pass may touch: "all", "0-5,9", a name glob, "windows-only", "global-only", or
 * several with commas. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "passes/pass.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Read a number that fits an int32_t; NULL if there is none. */
static const char *read_number(const char *text, const char *end, int32_t *number)
{
    int32_t value = 0;
    if (text == end || !is_digit(*text))
        return NULL;
    for (; text < end && is_digit(*text); text++) {
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, *text - '0', &value))
            return NULL;
    }
    *number = value;
    return text;
}

/* "4" or "0-5". */
static bool parse_range(const char *text, const char *end, int32_t *low, int32_t *high)
{
    const char *at = read_number(text, end, low);
    if (at == NULL)
        return false;
    *high = *low;
    if (at < end && *at == '-')
        at = read_number(at + 1, end, high);
    return at == end && *low <= *high;
}

static bool is_word(const char *text, size_t size, const char *word)
{
    return strlen(word) == size && memcmp(text, word, size) == 0;
}

/* A part of digits and dashes only is meant as a range, never as a glob. */
static bool looks_like_range(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (!is_digit(text[i]) && text[i] != '-')
            return false;
    }
    return true;
}

static VfStatus select_part(const char *text, size_t size, const VfSiteFacts *site, bool *selected,
                            VfErr *err)
{
    int32_t low, high;
    if (looks_like_range(text, size)) {
        if (!parse_range(text, text + size, &low, &high))
            return vf_fail(err, VF_USAGE, "sites '%.*s' is neither a number nor a range like 0-5",
                           (int)size, text);
        *selected = *selected || (low <= site->index && site->index <= high);
    } else if (is_word(text, size, "all")) {
        *selected = true;
    } else if (is_word(text, size, "windows-only")) {
        *selected = *selected || site->is_window;
    } else if (is_word(text, size, "global-only")) {
        *selected = *selected || !site->is_window;
    } else {
        char glob[512];
        if (size >= sizeof glob)
            return vf_fail(err, VF_USAGE, "sites: a name pattern is longer than %d bytes",
                           (int)sizeof glob - 1);
        memcpy(glob, text, size);
        glob[size] = '\0';
        *selected = *selected || fnmatch(glob, site->label, 0) == 0;
    }
    return VF_OK;
}

static VfStatus note_site(VfSitesSeen *seen, const VfSiteFacts *site, bool is_selected, VfErr *err)
{
    if (seen == NULL || site->index < 0)
        return VF_OK;
    for (int32_t i = 0; i < seen->n_site; i++)
        if (seen->site[i].index == site->index)
            return VF_OK;
    void *items = seen->site;
    VF_TRY(vf_arena_grow(seen->arena, &items, &seen->capacity, (size_t)seen->n_site + 1,
                         sizeof *seen->site, err));
    seen->site = items;
    const char *label = vf_arena_string(seen->arena, site->label);
    VF_TRY_ALLOC(label, err);
    seen->site[seen->n_site++] = (VfSeenSite){site->index, label, is_selected};
    return VF_OK;
}

VfStatus vf_sites_select(const VfSites *sites, const VfSiteFacts *site, bool *selected, VfErr *err)
{
    *selected = sites->spec == NULL;
    for (const char *part = sites->spec; part != NULL;) {
        const char *comma = strchr(part, ',');
        size_t size = comma != NULL ? (size_t)(comma - part) : strlen(part);
        VF_TRY(select_part(part, size, site, selected, err));
        part = comma != NULL ? comma + 1 : NULL;
    }
    return note_site(sites->seen, site, *selected, err);
}
