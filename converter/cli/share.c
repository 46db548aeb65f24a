#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "converter/cli/cli.h"

static void log_line(void *user, int level, const char *line)
{
    const Cli *cli = user;
    cli->log.sink(cli->log.user, (VfLogLevel)level, line);
}

/* Not /tmp, which often is memory. */
static const char *scratch_folder(void)
{
    const char *wanted = getenv("TMPDIR");
    return wanted != NULL && wanted[0] != '\0' ? wanted : "/var/tmp";
}

VitfoldLoadOptions cli_load_options(Cli *cli)
{
    return (VitfoldLoadOptions){
        .linked_data_root = cli->common->linked_root,
        .max_nesting = (uint32_t)cli->common->max_nesting,
        .max_fields = (size_t)cli->common->max_fields,
        .max_memory = cli->common->max_memory,
        .scratch_folder = scratch_folder(),
        .log = log_line,
        .log_user = cli,
        .log_level = (int)cli->log.level,
    };
}

int cli_load(Cli *cli, const char *path, VitfoldModel **model, VfErr *err)
{
    VitfoldLoadOptions options = cli_load_options(cli);
    return vitfold_model_load(path, &options, model, err);
}

bool cli_ends_in(const char *word, const char *suffix)
{
    size_t n = strlen(word), m = strlen(suffix);
    return n >= m && strcmp(word + n - m, suffix) == 0;
}

int cli_print(const char *text, size_t size, VfErr *err)
{
    if (fwrite(text, 1, size, stdout) == size && fflush(stdout) == 0)
        return VITFOLD_OK;
    return (int)vf_fail(err, VF_IO, "cannot write to standard output: %s", strerror(errno));
}

VfStatus cli_write_beside(const char *path, const char *text, size_t size, VfOutFile **out,
                          VfErr *err)
{
    VF_TRY(vf_out_open(path, out, err));
    VF_TRY(vf_out_write(*out, text, size, err));
    return vf_out_finish(*out, err);
}

/* The file gets its name after the text was printed: a failure of either leaves no file, and
 * nothing is printed when the file cannot be written. */
static int show_both(const char *path, const VitfoldReport *report, bool is_quiet, VfErr *err)
{
    VfOutFile *file = NULL;
    size_t size, n_json;
    const char *text = vitfold_report_text(report, &size);
    const char *json = vitfold_report_json(report, &n_json);
    int status = (int)cli_write_beside(path, json, n_json, &file, err);
    if (status == VITFOLD_OK)
        status = is_quiet ? VITFOLD_OK : cli_print(text, size, err);
    if (status == VITFOLD_OK)
        return (int)vf_out_commit(file, err);
    vf_out_abandon(file);
    return status;
}

static int show(const Cli *cli, const VitfoldReport *report, bool is_quiet, VfErr *err)
{
    const VfOptionMaybe *json = &cli->common->json;
    size_t size;
    if (json->is_given && json->value != NULL && strcmp(json->value, "-") != 0)
        return show_both(json->value, report, is_quiet, err);
    if (is_quiet && !json->is_given)
        return VITFOLD_OK;
    const char *text = json->is_given ? vitfold_report_json(report, &size)
                                      : vitfold_report_text(report, &size);
    return cli_print(text, size, err);
}

int cli_show(const Cli *cli, const VitfoldReport *report, VfErr *err)
{
    return show(cli, report, false, err);
}

int cli_tell(const Cli *cli, const VitfoldReport *report, VfErr *err)
{
    return show(cli, report, cli->common->is_quiet, err);
}

static VfStatus split_dim(const Cli *cli, const char *word, VitfoldDim *dim, VfErr *err)
{
    const char *equals = strrchr(word, '=');
    char *end = NULL;
    errno = 0;
    long long size = equals == NULL ? 0 : strtoll(equals + 1, &end, 10);
    if (equals == NULL || equals == word || *end != '\0' || end == equals + 1 || errno != 0 ||
        size < 1)
        return vf_fail(err, VF_USAGE, "option 'dim': '%s' is not NAME=N", word);
    dim->name = vf_arena_copy(cli->arena, word, (size_t)(equals - word));
    dim->size = size;
    VF_TRY_ALLOC(dim->name, err);
    return VF_OK;
}

int cli_samples(const char *path, VitfoldData **data, VfErr *err)
{
    if (path == NULL)
        return VITFOLD_OK;
    *data = vitfold_data_new();
    if (*data == NULL)
        return (int)vf_no_memory(err);
    return vitfold_data_add_npz(*data, path, err);
}

int cli_dims(const Cli *cli, const VfOptionList *words, VitfoldDim **dim, VfErr *err)
{
    *dim = VF_NEW_ARRAY(cli->arena, VitfoldDim, words->n_item);
    if (*dim == NULL)
        return (int)vf_no_memory(err);
    VfStatus status = VF_OK;
    for (size_t i = 0; i < words->n_item && status == VF_OK; i++)
        status = split_dim(cli, words->item[i], &(*dim)[i], err);
    return (int)status;
}

/* The '=' of NAME=FILE: names may hold one too, so the one after a name of the model. */
static const char *find_equals(const VitfoldModel *model, const char *word)
{
    for (const char *at = strchr(word, '='); at != NULL; at = strchr(at + 1, '='))
        if (vitfold_model_has_input(model, word, (size_t)(at - word)))
            return at;
    return strchr(word, '=');
}

/* The ':' of FILE:f32[1,3], or NULL. */
static char *find_type(char *path)
{
    char *colon = strrchr(path, ':');
    size_t n = strlen(path);
    return colon != NULL && path[n - 1] == ']' && strchr(colon, '[') != NULL ? colon : NULL;
}

static int add_input(const Cli *cli, const VitfoldModel *model, const char *word,
                     VitfoldData *data, VfErr *err)
{
    const char *equals = find_equals(model, word);
    if (equals == NULL)
        return (int)vf_fail(err, VF_USAGE, "option 'input': '%s' is not NAME=FILE", word);
    char *name = vf_arena_copy(cli->arena, word, (size_t)(equals - word));
    char *path = vf_arena_string(cli->arena, equals + 1);
    if (name == NULL || path == NULL)
        return (int)vf_no_memory(err);
    char *type = find_type(path);
    if (type != NULL)
        *type++ = '\0';
    return vitfold_data_add_file(data, model, name, path, type, err);
}

int cli_dims_of(const Cli *cli, const VfOptionList *words, const VitfoldModel *const *model,
                size_t n_model, VitfoldDim **dim, VfErr *err)
{
    int status = cli_dims(cli, words, dim, err);
    return status != VITFOLD_OK
               ? status
               : vitfold_model_check_dims(model, n_model, *dim, words->n_item, err);
}

static int add_random(const DataOptions *options, const VitfoldModel *model,
                      const VitfoldDim *dim, VitfoldData *data, VfErr *err)
{
    char *end = NULL;
    errno = 0;
    unsigned long long seed = options->seed == NULL ? 0 : strtoull(options->seed, &end, 10);
    if (options->seed != NULL && (end == options->seed || *end != '\0' || errno != 0))
        return (int)vf_fail(err, VF_USAGE, "option 'random': '%s' is not a number", options->seed);
    return vitfold_data_add_random(data, model, seed, dim, options->dim.n_item, err);
}

int cli_data(const Cli *cli, const DataOptions *options, const VitfoldModel *model, bool always,
             VitfoldData **result, VitfoldData *expected, VfErr *err)
{
    VitfoldDim *dim;
    VitfoldData *data = vitfold_data_new();
    if (data == NULL)
        return (int)vf_no_memory(err);
    int status = cli_dims_of(cli, &options->dim, &model, 1, &dim, err);
    if (status == VITFOLD_OK && options->folder != NULL)
        status = vitfold_data_add_folder(data, expected, model, options->folder, err);
    if (status == VITFOLD_OK && options->inputs != NULL)
        status = vitfold_data_add_npz(data, options->inputs, err);
    for (size_t i = 0; i < options->input.n_item && status == VITFOLD_OK; i++)
        status = add_input(cli, model, options->input.item[i], data, err);
    if (status == VITFOLD_OK && (options->seed != NULL || always))
        status = add_random(options, model, dim, data, err);
    if (status == VITFOLD_OK)
        *result = data;
    else
        vitfold_data_free(data);
    return status;
}

bool cli_has_data(const DataOptions *options)
{
    return options->input.n_item > 0 || options->inputs != NULL || options->folder != NULL ||
           options->seed != NULL;
}

bool cli_wants_color(int choice, int fd)
{
    const char *none = getenv("NO_COLOR"), *terminal = getenv("TERM");
    if (choice != 0)
        return choice == 1;
    return isatty(fd) && (none == NULL || none[0] == '\0') &&
           (terminal == NULL || strcmp(terminal, "dumb") != 0);
}

/* One number for all channels, or three with commas. */
static VfStatus read_channels(const char *name, const char *word, double *value, VfErr *err)
{
    const char *at = word;
    int n = 0;
    for (bool is_more = true; is_more && n < 3; n++) {
        char *end;
        value[n] = strtod(at, &end);
        if (end == at || !isfinite(value[n]))
            break;
        is_more = *end == ',';
        at = is_more ? end + 1 : end;
    }
    if (*at != '\0' || at == word || at[-1] == ',' || (n != 1 && n != 3))
        return vf_fail(err, VF_USAGE, "option '%s': '%s' is neither one number nor three", name,
                       word);
    for (; n < 3; n++)
        value[n] = value[0];
    return VF_OK;
}

int cli_eval_options(const LabelledWords *words, int64_t n_thread, VitfoldEvalOptions *options,
                     VfErr *err)
{
    *options = (VitfoldEvalOptions){.run = {.n_thread = (int)n_thread}, .batch = words->batch,
                                    .n_sample = words->n_sample, .size = words->size,
                                    .resize = words->resize};
    if (words->mean == NULL && words->std == NULL)
        return VITFOLD_OK;
    if (words->mean == NULL || words->std == NULL)
        return (int)vf_fail(err, VF_USAGE, "options 'mean' and 'std' are given together");
    VfStatus status = read_channels("mean", words->mean, options->mean, err);
    if (status == VF_OK)
        status = read_channels("std", words->std, options->std, err);
    for (int c = 0; c < 3 && status == VF_OK; c++)
        if (!(options->std[c] > 0))
            status = vf_fail(err, VF_USAGE, "option 'std': '%s' is not above 0", words->std);
    return (int)status;
}
