#include "passes/grid_option.h"

#include <string.h>

enum { SIDE_MAX = 1 << 15 };

/* A decimal number from 0 up to SIDE_MAX at `*text`, which moves behind it. */
static bool read_number(const char **text, int64_t *number)
{
    const char *at = *text;
    *number = 0;
    for (; *at >= '0' && *at <= '9' && *number <= SIDE_MAX; at++)
        *number = *number * 10 + (*at - '0');
    bool is_number = at > *text && *number <= SIDE_MAX;
    *text = at;
    return is_number;
}

bool vf_grid_option(const char *text, int64_t *h, int64_t *w)
{
    int64_t rows, columns;
    bool is_grid = read_number(&text, &rows) && *text++ == 'x' && read_number(&text, &columns) &&
                   *text == '\0' && rows > 0 && columns > 0;
    if (is_grid) {
        *h = rows;
        *w = columns;
    }
    return is_grid;
}

bool vf_prefix_option(const char *text, int64_t *prefix)
{
    int64_t number;
    bool is_number = read_number(&text, &number) && *text == '\0';
    if (is_number)
        *prefix = number;
    return is_number;
}

VfStatus vf_grid_options_check(const char *grid, const char *prefix, VfErr *err)
{
    int64_t h, w;
    if (strcmp(grid, "auto") != 0 && !vf_grid_option(grid, &h, &w))
        return vf_fail(err, VF_USAGE, "option 'grid': '%s' is neither auto nor like 14x14", grid);
    if (strcmp(prefix, "auto") != 0 && !vf_prefix_option(prefix, &h))
        return vf_fail(err, VF_USAGE, "option 'prefix': '%s' is neither auto nor a number", prefix);
    return VF_OK;
}
