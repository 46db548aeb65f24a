#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "converter/cli/cli.h"
#include "converter/cli/hold.h"

typedef struct Options {
    CommonOptions common;
    DataOptions data;
    const char *folder, *with;
    int weights, weights_dtype, no_fuse;
    bool is_single_file;
} Options;

static const VfOption table[] = {
    {"output", "the folder to write; what an earlier emission left there is replaced",
     VF_OPTION_STRING, offsetof(Options, folder), .letter = 'o', .value = "DIR"},
    {"with", "a second model for the same program, which then compares the two",
     VF_OPTION_STRING, offsetof(Options, with), .value = "MODEL2"},
    {"weights", "where they go: a file that the program reads, or an array in C", VF_OPTION_CHOICE,
     offsetof(Options, weights), "file", .choices = "file|c"},
    {"weights-dtype", "how float32 weights are stored; they are widened on loading",
     VF_OPTION_CHOICE, offsetof(Options, weights_dtype), "f32", .choices = "f32|f16|bf16"},
    {"single-file", "the kernels inside model.c", VF_OPTION_BOOL,
     offsetof(Options, is_single_file)},
    CLI_FUSE_ROW(Options),
    CLI_GIVEN_ROWS(Options),
    {"dim", "a symbolic dimension (else 1); as A..B a batch that stays open, the first dimension "
     "of inputs", VF_OPTION_LIST, offsetof(Options, data.dim), .value = "NAME=N|A..B"},
    CLI_JSON_ROW,
    CLI_LOAD_ROWS,
    CLI_COMMON_ROWS,
    {0},
};

/* "NAME=A..B", whose '=' is at `equals`. */
static VfStatus split_range(Cli *cli, const char *word, const char *equals, VitfoldBatch *batch,
                            VfErr *err)
{
    char *dots, *end = NULL;
    errno = 0;
    batch->min = strtoll(equals + 1, &dots, 10);
    if (dots != equals + 1 && strncmp(dots, "..", 2) == 0 && dots[2] != '\0')
        batch->max = strtoll(dots + 2, &end, 10);
    if (equals == word || end == NULL || *end != '\0' || errno != 0)
        return vf_fail(err, VF_USAGE, "option 'dim': '%s' is not NAME=N or NAME=A..B", word);
    char *name = vf_arena_copy(cli->arena, word, (size_t)(equals - word));
    VF_TRY_ALLOC(name, err);
    batch->name = name;
    return VF_OK;
}

/* Find the range among the words of --dim and put a size in its place: that of random data, two
 * samples or what of the range is nearest. */
static VfStatus take_range(Cli *cli, VfOptionList *words, VitfoldBatch *batch, VfErr *err)
{
    const char **word = VF_NEW_ARRAY(cli->arena, const char *, words->n_item);
    VF_TRY_ALLOC(word, err);
    for (size_t i = 0; i < words->n_item; i++) {
        const char *equals = strrchr(words->item[i], '=');
        word[i] = words->item[i];
        if (equals == NULL || strstr(equals, "..") == NULL)
            continue;
        if (batch->name != NULL)
            return vf_fail(err, VF_USAGE, "option 'dim': only one dimension can be a range, not "
                           "'%s' and '%s'", batch->name, words->item[i]);
        VF_TRY(split_range(cli, words->item[i], equals, batch, err));
        int64_t size = batch->min > 2 || batch->max < 2 ? batch->min : 2;
        word[i] = vf_arena_printf(cli->arena, "%s=%lld", batch->name,
                                  (long long)(size < 1 ? 1 : size));
        VF_TRY_ALLOC(word[i], err);
    }
    words->item = word;
    return VF_OK;
}

/* Is the dimension of the range given as a size, too? */
static VfStatus check_once(const VfOptionList *words, const VitfoldBatch *batch, VfErr *err)
{
    size_t n = strlen(batch->name), n_met = 0;
    for (size_t i = 0; i < words->n_item; i++)
        n_met += strncmp(words->item[i], batch->name, n) == 0 && words->item[i][n] == '=';
    return n_met == 1 ? VF_OK
                      : vf_fail(err, VF_USAGE, "option 'dim': '%s' is given twice", batch->name);
}

/* The hidden folder of what is not yet whole goes, too, when a signal ends the program. */
static int emit_whole(const VitfoldModel *model, const VitfoldData *in,
                      const VitfoldEmitOptions *emitting, const char *folder,
                      VitfoldReport **report, VfErr *err)
{
    CliHold hold;
    VitfoldEmission *emission;
    cli_hold(&hold);
    int status = vitfold_emit_prepare(model, in, emitting, folder, &emission, report, err);
    if (status == VITFOLD_OK && cli_hold_is_over(&hold))
        vitfold_emission_abandon(emission);
    else if (status == VITFOLD_OK)
        status = vitfold_emission_commit(emission, err);
    cli_release(&hold);
    return status;
}

static int emit(Cli *cli, const Options *options, const VitfoldModel *model,
                const VitfoldModel *with, VfErr *err)
{
    VitfoldData *in;
    VitfoldReport *report;
    VitfoldBatch batch = {0};
    DataOptions data = options->data;
    int status = (int)take_range(cli, &data.dim, &batch, err);
    if (status == VITFOLD_OK && batch.name != NULL)
        status = (int)check_once(&data.dim, &batch, err);
    if (status != VITFOLD_OK)
        return status;
    /* Data that was asked for goes into the folder as a sample; else only its shapes matter. */
    VitfoldEmitOptions emitting = {
        .with = with,
        .weights_dtype = options->weights_dtype,
        .weights_in_c = options->weights,
        .is_single_file = options->is_single_file,
        .no_fuse = options->no_fuse,
        .with_samples = cli_has_data(&data),
        .batch = batch.name == NULL ? NULL : &batch,
    };
    status = cli_data(cli, &data, model, true, &in, NULL, err);
    if (status != VITFOLD_OK)
        return status;
    report = NULL;
    status = emit_whole(model, in, &emitting, options->folder, &report, err);
    vitfold_data_free(in);
    if (status == VITFOLD_OK)
        status = cli_tell(cli, report, err);
    vitfold_report_free(report);
    return status;
}

static int run(Cli *cli, const void *words, const VfOptionList *path, VfErr *err)
{
    const Options *options = words;
    VitfoldModel *model = NULL, *with = NULL;
    if (options->folder == NULL)
        return (int)vf_fail(err, VF_USAGE, "emit-c needs the folder to write: --output DIR");
    int status = cli_load(cli, path->item[0], &model, err);
    if (status == VITFOLD_OK && options->with != NULL)
        status = cli_load(cli, options->with, &with, err);
    if (status == VITFOLD_OK)
        status = emit(cli, options, model, with, err);
    vitfold_model_free(model);
    vitfold_model_free(with);
    return status;
}

const VfCommand cmd_emit_c = {
    "emit-c", "MODEL", "write a model as a C program", 1, 1, table, sizeof(Options), run,
};
