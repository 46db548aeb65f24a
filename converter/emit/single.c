/* Kernels in one file: headers are put where they are first included, macros of a source end with
 * it. Kernels do not share names of static functions (the test of --single-file says so). */
#include <string.h>

#include "converter/emit/program.h"

static const char include[] = "#include \"", define[] = "#define ";

typedef struct Joining {
    const VfEmitSet *kernels;
    bool *is_done; /* headers, by number */
    VfText *text;
} Joining;

static bool ends_in(const char *path, const char *suffix)
{
    size_t n = strlen(path), m = strlen(suffix);
    return n >= m && strcmp(path + n - m, suffix) == 0;
}

static bool begins_with(const char *line, size_t n, const char *start)
{
    size_t m = strlen(start);
    return n >= m && memcmp(line, start, m) == 0;
}

static void add_source(const Joining *cx, int i);

static void add_included(const Joining *cx, const char *line, size_t n)
{
    const char *path = line + sizeof include - 1;
    const char *quote = memchr(path, '"', n - (sizeof include - 1));
    int i = quote == NULL ? -1 : vf_emit_source_find(path, (size_t)(quote - path));
    if (i >= 0 && !cx->is_done[i])
        add_source(cx, i);
}

/* Call `visit` with each line and its length without the end. */
static void each_line(const Joining *cx, const VfEmitSource *source,
                      void (*visit)(const Joining *cx, const char *line, size_t n))
{
    const char *at = source->data, *end = at + source->size;
    while (at < end) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        size_t n = (size_t)((line_end == NULL ? end : line_end) - at);
        visit(cx, at, n);
        at += n + 1;
    }
}

static void add_line(const Joining *cx, const char *line, size_t n)
{
    if (begins_with(line, n, include)) {
        add_included(cx, line, n);
        return;
    }
    vf_text_add(cx->text, line, n);
    vf_text_char(cx->text, '\n');
}

static void end_macro(const Joining *cx, const char *line, size_t n)
{
    size_t start = sizeof define - 1, end = start;
    if (!begins_with(line, n, define))
        return;
    while (end < n && line[end] != '(' && line[end] != ' ')
        end++;
    vf_text_printf(cx->text, "#undef %.*s\n", (int)(end - start), line + start);
}

static void add_source(const Joining *cx, int i)
{
    const VfEmitSource *source = &vf_emit_source[i];
    /* Lists are read again, with other macros. */
    cx->is_done[i] = !ends_in(source->path, ".def");
    vf_text_printf(cx->text, "/* --- %s --- */\n", source->path);
    each_line(cx, source, add_line);
    if (ends_in(source->path, ".c"))
        each_line(cx, source, end_macro);
    vf_text_char(cx->text, '\n');
}

static void add_sources(const Joining *cx, bool is_blas)
{
    for (int i = 0; i < cx->kernels->n; i++) {
        const char *path = vf_emit_source[i].path;
        if (cx->kernels->has[i] && ends_in(path, ".c") && ends_in(path, "_blas.c") == is_blas)
            add_source(cx, i);
    }
}

void vf_emit_kernels(const VfEmitSet *kernels, VfArena *arena, VfText *text)
{
    Joining cx = {kernels, VF_NEW_ARRAY(arena, bool, (size_t)kernels->n + 1), text};
    int half = vf_emit_source_find("runtime/kernels/half.h", strlen("runtime/kernels/half.h"));
    text->failed |= cx.is_done == NULL;
    if (text->failed)
        return;
    vf_text_string(text, "/* Not every model needs every helper. */\n"
                         "#pragma GCC diagnostic ignored \"-Wunused-function\"\n\n");
    add_sources(&cx, false);
    if (half >= 0 && kernels->has[half] && !cx.is_done[half])
        add_source(&cx, half);
    vf_text_string(text, "#ifdef EXECUTOR_BLAS\n");
    add_sources(&cx, true);
    vf_text_string(text, "#endif\n\n");
}
