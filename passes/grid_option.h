/* The options "grid" and "prefix" of passes that lay tokens out on a grid. */
#ifndef VF_GRID_OPTION_H
#define VF_GRID_OPTION_H

#include "passes/pass.h"

/* Rows for the members `grid` and `prefix`, strings, of an options struct. */
#define VF_GRID_OPTION_ROWS(Options)                            \
    {.name = "grid",                                            \
     .help = "token grid as HxW, or auto: read from the graph", \
     .type = VF_OPTION_STRING,                                  \
     .offset = offsetof(Options, grid),                         \
     .def = "auto"},                                            \
    {.name = "prefix",                                          \
     .help = "tokens before the grid, or auto: read from the graph", \
     .type = VF_OPTION_STRING,                                  \
     .offset = offsetof(Options, prefix),                       \
     .def = "auto"}

/* VF_USAGE: one of them is neither auto nor what it should be. */
VfStatus vf_grid_options_check(const char *grid, const char *prefix, VfErr *err);

/* What was given; false for auto, which leaves the results alone. */
bool vf_grid_option(const char *text, int64_t *h, int64_t *w);
bool vf_prefix_option(const char *text, int64_t *prefix);

#endif
