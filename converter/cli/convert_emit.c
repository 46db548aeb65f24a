/* convert --emit-c: the program of the file that convert writes, before either has its name. */
#include <string.h>
#include <unistd.h>

#include "converter/cli/cli.h"

/* A copy of the file to be, in a hidden folder beside it: the program tells the digest of the file
 * and is made from what the file says, which is not to the letter what is in memory. */
typedef struct Scratch {
    char *folder, *file, *data;
} Scratch;

static VfStatus make_scratch(VfArena *arena, const char *out, Scratch *scratch, VfErr *err)
{
    char *parent;
    const char *name;
    VF_TRY(vf_path_split(arena, out, &parent, &name, err));
    scratch->folder = vf_arena_printf(arena, "%s/.vitfold-%ld.tmp", parent, (long)getpid());
    VF_TRY_ALLOC(scratch->folder, err);
    scratch->file = vf_arena_printf(arena, "%s/%s", scratch->folder, name);
    VF_TRY_ALLOC(scratch->file, err);
    scratch->data = vf_arena_printf(arena, "%s.data", scratch->file);
    VF_TRY_ALLOC(scratch->data, err);
    return vf_folder_make(scratch->folder, err);
}

static void remove_scratch(const Scratch *scratch)
{
    unlink(scratch->file);
    unlink(scratch->data);
    rmdir(scratch->folder);
}

static int emit(const VitfoldModel *model, const CliProgramWords *words, CliProgram *program,
                VfErr *err)
{
    VitfoldEmitOptions options = {.title = words->out};
    VitfoldData *in = vitfold_data_new();
    if (in == NULL)
        return (int)vf_no_memory(err);
    int status = vitfold_data_add_random(in, model, 1, NULL, 0, err);
    if (status == VITFOLD_OK)
        status = vitfold_emit_prepare(model, in, &options, words->folder, &program->emission,
                                      &program->report, err);
    vitfold_data_free(in);
    return status;
}

static int emit_file(Cli *cli, const char *file, const CliProgramWords *words, CliProgram *program,
                     VfErr *err)
{
    VitfoldModel *model;
    int status = cli_load(cli, file, &model, err);
    if (status != VITFOLD_OK)
        return status;
    status = emit(model, words, program, err);
    vitfold_model_free(model);
    return status;
}

int cli_program_prepare(Cli *cli, const VitfoldModel *model, const CliProgramWords *words,
                        CliProgram *program, VfErr *err)
{
    Scratch scratch = {NULL, NULL, NULL};
    *program = (CliProgram){0};
    int status = (int)make_scratch(cli->arena, words->out, &scratch, err);
    if (status != VITFOLD_OK)
        return status;
    status = vitfold_model_save(model, scratch.file, &words->saving, err);
    if (status == VITFOLD_OK)
        status = emit_file(cli, scratch.file, words, program, err);
    remove_scratch(&scratch);
    return status;
}

int cli_program_commit(CliProgram *program, VfErr *err)
{
    VitfoldEmission *emission = program->emission;
    program->emission = NULL;
    return emission == NULL ? VITFOLD_OK : vitfold_emission_commit(emission, err);
}

void cli_program_release(CliProgram *program)
{
    vitfold_emission_abandon(program->emission);
    vitfold_report_free(program->report);
    *program = (CliProgram){0};
}
