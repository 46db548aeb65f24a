/* Files that a command writes beside its report: none in place of another or of what was read, and
 * all of them or none. */
#include <string.h>
#include <sys/stat.h>

#include "converter/cli/cli.h"

/* By name, or two names of one file. What is no regular file, as /dev/null, may be named twice. */
static bool is_same_file(const char *a, const char *b)
{
    struct stat x, y;
    if (stat(a, &x) != 0 || stat(b, &y) != 0)
        return strcmp(a, b) == 0;
    return S_ISREG(x.st_mode) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static int check_one(const char *path, const VfOptionList *in, const char *const *other, size_t n,
                     VfErr *err)
{
    bool is_met = false;
    for (size_t i = 0; i < in->n_item; i++)
        is_met |= is_same_file(path, in->item[i]);
    for (size_t i = 0; i < n; i++)
        is_met |= other[i] != NULL && is_same_file(path, other[i]);
    if (is_met)
        return (int)vf_fail(err, VF_USAGE, "'%s' is named for two different files", path);
    return (int)vf_out_check_path(path, err);
}

static const char *json_path(const Cli *cli)
{
    const VfOptionMaybe *json = &cli->common->json;
    bool is_file = json->is_given && json->value != NULL && strcmp(json->value, "-") != 0;
    return is_file ? json->value : NULL;
}

int cli_check_files(const Cli *cli, const VfOptionList *in, const char *const *path, size_t n,
                    VfErr *err)
{
    const char *json = json_path(cli);
    int status = json == NULL ? VITFOLD_OK : check_one(json, in, path, n, err);
    for (size_t i = 0; i < n && status == VITFOLD_OK; i++)
        if (path[i] != NULL)
            status = check_one(path[i], in, path, i, err);
    return status;
}

int cli_check_page(const Cli *cli, const VfOptionList *in, const char *path, VfErr *err)
{
    if (path != NULL && !cli_ends_in(path, ".html"))
        return (int)vf_fail(err, VF_USAGE, "page '%s' does not end in .html", path);
    return cli_check_files(cli, in, &path, 1, err);
}

int cli_svg_file(const VitfoldReport *report, const char *path, CliFile *file, VfErr *err)
{
    *file = (CliFile){.path = path};
    if (path == NULL)
        return VITFOLD_OK;
    file->text = vitfold_report_svg(report, &file->size);
    return file->text != NULL ? VITFOLD_OK
                              : (int)vf_fail(err, VF_USAGE, "there is nothing to plot in '%s'",
                                             path);
}

/* Each gets its name after the text was printed. */
int cli_show_files(const Cli *cli, const VitfoldReport *report, CliFile *file, size_t n,
                   VfErr *err)
{
    int status = VITFOLD_OK;
    for (size_t i = 0; i < n && status == VITFOLD_OK; i++)
        if (file[i].path != NULL && file[i].text != NULL)
            status = (int)cli_write_beside(file[i].path, file[i].text, file[i].size, &file[i].out,
                                           err);
    if (status == VITFOLD_OK)
        status = cli_show(cli, report, err);
    for (size_t i = 0; i < n; i++) {
        if (file[i].out == NULL)
            continue;
        if (status == VITFOLD_OK)
            status = (int)vf_out_commit(file[i].out, err);
        else
            vf_out_abandon(file[i].out);
    }
    return status;
}

int cli_show_page(const Cli *cli, const char *path, const VitfoldReport *report, VfErr *err)
{
    CliFile page = {.path = path};
    page.text = vitfold_report_html(report, &page.size);
    return cli_show_files(cli, report, &page, 1, err);
}
