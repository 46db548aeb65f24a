#include <string.h>

#include "converter/cli/cli.h"
#include "converter/cli/hold.h"

typedef struct Options {
    CommonOptions common;
    DataOptions data; /* its dims stay empty: those of `dim` are fixed in the model */
    const char *out, *passes, *recipe, *save_recipe, *skip, *report, *print_after, *calibration,
        *emit_folder, *effect_svg;
    int64_t stop_after, opset, ir_version;
    int external_data;
    bool check, strict;
    VfOptionList dim;
    int64_t n_thread;
} Options;

static const VfOption table[] = {
    {"output", "the file to write, if it is not the second operand", VF_OPTION_STRING,
     offsetof(Options, out), .letter = 'o', .value = "OUT.onnx"},
    {"passes", "passes in order, with options: softmax-to-relu:act=relu,sites=0-5; 'none' for "
     "none, 'default' (also when nothing is named) for the exact and rounding ones",
     VF_OPTION_STRING, offsetof(Options, passes), .letter = 'p', .value = "LIST"},
    {"recipe", "the passes of a recipe, as --save-recipe writes it", VF_OPTION_STRING,
     offsetof(Options, recipe), .value = "FILE.xml"},
    {"save-recipe", "write the passes that are run, with all their options, for --recipe",
     VF_OPTION_STRING, offsetof(Options, save_recipe), .value = "FILE.xml"},
    {"skip", "passes to leave out", VF_OPTION_STRING, offsetof(Options, skip), .value = "LIST"},
    {"calibration", "samples for passes that measure: arrays named as the model's inputs, or 'x' "
     "for the only one", VF_OPTION_STRING, offsetof(Options, calibration), .value = "FILE.npz"},
    {"report", "what each pass changed: a page with drawings (.html), a diff (.txt) or JSON "
     "(.json)", VF_OPTION_STRING, offsetof(Options, report), .value = "FILE"},
    CLI_GIVEN_ROWS(Options),
    {"effect-svg", "with data: plot of how far the ends of blocks moved, a curve for each pass",
     VF_OPTION_STRING, offsetof(Options, effect_svg), .value = "FILE.svg"},
    {"check", "run old and new on the data, else on random data, before writing, as strictly as "
     "the passes promise", VF_OPTION_BOOL, offsetof(Options, check)},
    {"strict", "a site that is refused, or a named pass without a site, is an error; nothing is "
     "written", VF_OPTION_BOOL, offsetof(Options, strict)},
    {"dim", "fix a symbolic dimension", VF_OPTION_LIST, offsetof(Options, dim), .value = "NAME=N"},
    {"emit-c", "also write the result as a C program, for sizes of 1 where dimensions are open",
     VF_OPTION_STRING, offsetof(Options, emit_folder), .value = "DIR"},
    {"opset", "the opset to write; it is changed before the passes run; 0: that of the model",
     VF_OPTION_INT, offsetof(Options, opset), "0", 0, 1e9},
    {"ir-version", "the IR version to write; 0: that of the model", VF_OPTION_INT,
     offsetof(Options, ir_version), "0", 0, 1e9},
    {"external-data", "weights in OUT.onnx.data; auto: above 2 GB", VF_OPTION_CHOICE,
     offsetof(Options, external_data), "auto", .choices = "auto|always|never"},
    {"stop-after", "at most N edits; -1: no limit", VF_OPTION_INT, offsetof(Options, stop_after),
     "-1", -1, 1e9},
    {"print-after", "print the graph after this pass, or after 'all'", VF_OPTION_STRING,
     offsetof(Options, print_after), .value = "PASS"},
    CLI_THREADS_ROW(Options),
    CLI_JSON_ROW,
    CLI_LOAD_ROWS,
    CLI_COMMON_ROWS,
    {0},
};

typedef struct Conversion {
    Cli *cli;
    const Options *options;
    const char *in, *out;
    VitfoldModel *model;
    VitfoldDim *dim;
    VitfoldReport *journal;
    VitfoldData *calibration, *effect_in;
    /* Written, but without their names until all else has worked. */
    VitfoldSaving *saving;
    CliProgram program;
    CliHold hold; /* while hidden folders lie about */
    VfOutFile *report, *recipe, *svg;
} Conversion;

/* Before there is work that would be lost. */
static int check_names(const Conversion *cx, VfErr *err)
{
    const Options *options = cx->options;
    const char *file[] = {cx->out, options->report, options->save_recipe, options->emit_folder,
                          options->effect_svg};
    VfStatus status = VF_OK;
    for (size_t i = 0; i < sizeof file / sizeof *file && status == VF_OK; i++)
        status = file[i] == NULL ? VF_OK : vf_out_check_path(file[i], err);
    return (int)status;
}

/* One file for two products would hold the last one only, and a report is no model. A recipe may
 * be put into its full form in place. */
static int check_distinct(const Conversion *cx, VfErr *err)
{
    const VfOptionMaybe *json = &cx->cli->common->json;
    const char *recipe = cx->options->recipe, *saved = cx->options->save_recipe;
    bool is_renewed = recipe != NULL && saved != NULL && strcmp(recipe, saved) == 0;
    const char *file[] = {cx->in, cx->out, is_renewed ? NULL : recipe, cx->options->report,
                          json->is_given ? json->value : NULL, saved,
                          cx->options->effect_svg};
    enum { N_FILE = sizeof file / sizeof *file, FIRST_REPORT = 2 };
    for (int i = FIRST_REPORT; i < N_FILE; i++)
        for (int k = 0; k < i && file[i] != NULL; k++)
            if (file[k] != NULL && strcmp(file[i], file[k]) == 0)
                return (int)vf_fail(err, VF_USAGE, "'%s' is named for two different files",
                                    file[i]);
    return VITFOLD_OK;
}

static int check_words(Conversion *cx, const VfOptionList *path, VfErr *err)
{
    const char *report = cx->options->report;
    cx->in = path->item[0];
    cx->out = path->n_item > 1 ? path->item[1] : cx->options->out;
    if (cx->out == NULL || (path->n_item > 1 && cx->options->out != NULL))
        return (int)vf_fail(err, VF_USAGE, "convert needs one output: IN.onnx OUT.onnx");
    if (report != NULL && !cli_ends_in(report, ".txt") && !cli_ends_in(report, ".json") &&
        !cli_ends_in(report, ".html"))
        return (int)vf_fail(err, VF_USAGE, "report '%s' is none of .html, .txt, .json", report);
    if (cx->options->effect_svg != NULL && !cli_has_data(&cx->options->data))
        return (int)vf_fail(err, VF_USAGE, "option 'effect-svg' needs data, such as --random 1");
    int status = check_names(cx, err);
    if (status == VITFOLD_OK)
        status = check_distinct(cx, err);
    return status != VITFOLD_OK ? status : cli_dims(cx->cli, &cx->options->dim, &cx->dim, err);
}

static void print_graph(void *user, const char *text, size_t size)
{
    (void)user;
    cli_print(text, size, NULL);
}

/* The page is made of the model itself. */
static bool wants_journal(const Options *options)
{
    return options->effect_svg != NULL ||
           (options->report != NULL && !cli_ends_in(options->report, ".html"));
}

static int transform(Conversion *cx, VfErr *err)
{
    const Options *options = cx->options;
    int status = cli_samples(options->calibration, &cx->calibration, err);
    VitfoldPassOptions passes = {
        .passes = options->passes,
        .recipe = options->recipe,
        .skip = options->skip,
        .calibration = cx->calibration,
        .opset = options->opset,
        .ir_version = options->ir_version,
        .stop_after = options->stop_after,
        .is_limited = options->stop_after >= 0,
        .effect_run = {.n_thread = (int)options->n_thread},
        .print_after = options->print_after,
        .print = print_graph,
    };
    if (status == VITFOLD_OK)
        status = cli_load(cx->cli, cx->in, &cx->model, err);
    if (status == VITFOLD_OK)
        status = vitfold_model_fix_dims(cx->model, cx->dim, options->dim.n_item, err);
    if (status == VITFOLD_OK && cli_has_data(&options->data))
        status = cli_data(cx->cli, &options->data, cx->model, false, &cx->effect_in, NULL, err);
    passes.effect_in = cx->effect_in;
    if (status == VITFOLD_OK)
        status = vitfold_transform(cx->model, &passes, wants_journal(options) ? &cx->journal : NULL,
                                   err);
    return status;
}

static int refuse_strictly(const Conversion *cx, size_t n_refusal, size_t n_idle, VfErr *err)
{
    VfText text;
    VfBytes done;
    vf_text_init(&text, cx->cli->arena);
    if (n_refusal > 0)
        vf_text_printf(&text, "%zu sites were left alone", n_refusal);
    for (size_t i = 0; i < n_idle; i++)
        vf_text_printf(&text, "%s'%s'", i > 0 ? ", " : n_refusal > 0 ? " and " : "",
                       vitfold_model_idle_pass(cx->model, i));
    if (n_idle > 0)
        vf_text_string(&text, " found no site to change");
    VfStatus status = vf_text_get(&text, &done, err);
    return (int)(status != VF_OK ? status : vf_fail(err, VF_UNSUPPORTED, "%s: nothing is written",
                                                    done.data));
}

static int check_strict(const Conversion *cx, VfErr *err)
{
    size_t n_refusal = vitfold_model_n_refusal(cx->model);
    size_t n_idle = vitfold_model_n_idle_pass(cx->model);
    if (!cx->options->strict || n_refusal + n_idle == 0)
        return VITFOLD_OK;
    size_t size;
    VitfoldReport *report;
    VitfoldSummaryOptions summary = {.dim = cx->dim, .n_dim = cx->options->dim.n_item};
    int status = vitfold_summarize(cx->model, &summary, &report, err);
    if (status != VITFOLD_OK)
        return status;
    vf_log(&cx->cli->log, VF_LOG_NOTE, "%s", vitfold_report_text(report, &size));
    vitfold_report_free(report);
    return refuse_strictly(cx, n_refusal, n_idle, err);
}

static int validate(Conversion *cx, VfErr *err)
{
    VitfoldRunOptions running = {.n_thread = (int)cx->options->n_thread};
    VitfoldReport *report = NULL;
    VitfoldData *random = cx->effect_in == NULL ? vitfold_data_new() : NULL;
    if (cx->effect_in == NULL && random == NULL)
        return (int)vf_no_memory(err);
    int status = random == NULL ? VITFOLD_OK
                                : vitfold_data_add_random(random, cx->model, 1, NULL, 0, err);
    if (status == VITFOLD_OK)
        status = vitfold_validate(cx->model, random == NULL ? cx->effect_in : random, &running,
                                  &report, err);
    vitfold_data_free(random);
    if (report == NULL)
        return status;
    size_t size;
    const char *text = vitfold_report_text(report, &size);
    bool is_shown = !cx->cli->common->json.is_given && !cx->cli->common->is_quiet;
    int shown = is_shown ? cli_print(text, size, err) : VITFOLD_OK;
    if (shown == VITFOLD_OK && is_shown)
        shown = cli_print("\n", 1, err);
    /* The table, which repeats it, does not come when it failed. */
    if (status == VITFOLD_DIFFERS && cx->cli->common->json.is_given)
        shown = cli_show(cx->cli, report, err);
    vitfold_report_free(report);
    return shown != VITFOLD_OK ? shown : status;
}

static bool wants_page(const Conversion *cx)
{
    return cx->options->report != NULL && cli_ends_in(cx->options->report, ".html");
}

/* A page is part of the table and comes with it. */
static VfStatus write_report(Conversion *cx, VfErr *err)
{
    const char *path = cx->options->report;
    size_t size;
    if (path == NULL || wants_page(cx))
        return VF_OK;
    const char *text = cli_ends_in(path, ".json") ? vitfold_report_json(cx->journal, &size)
                                              : vitfold_report_text(cx->journal, &size);
    return cli_write_beside(path, text, size, &cx->report, err);
}

static VfStatus write_recipe(Conversion *cx, VfErr *err)
{
    const char *path = cx->options->save_recipe, *text;
    size_t size;
    if (path == NULL)
        return VF_OK;
    int status = vitfold_model_recipe(cx->model, &text, &size, err);
    return status != VITFOLD_OK ? (VfStatus)status
                                : cli_write_beside(path, text, size, &cx->recipe, err);
}

static VfStatus write_svg(Conversion *cx, VfErr *err)
{
    size_t size;
    const char *path = cx->options->effect_svg;
    if (path == NULL)
        return VF_OK;
    const char *svg = vitfold_report_svg(cx->journal, &size);
    if (svg == NULL)
        return vf_fail(err, VF_USAGE, "option 'effect-svg': there is no effect to plot, no pass "
                                      "made an edit or the model has no blocks");
    return cli_write_beside(path, svg, size, &cx->svg, err);
}

static VfStatus commit(VfOutFile **file, VfErr *err)
{
    VfOutFile *out = *file;
    *file = NULL;
    return out == NULL ? VF_OK : vf_out_commit(out, err);
}

static int write_all(Conversion *cx, VfErr *err)
{
    VitfoldSaveOptions saving = {.external_data = cx->options->external_data};
    int status = (int)write_report(cx, err);
    if (status == VITFOLD_OK)
        status = (int)write_recipe(cx, err);
    if (status == VITFOLD_OK)
        status = (int)write_svg(cx, err);
    if (status == VITFOLD_OK)
        status = vitfold_model_prepare(cx->model, cx->out, &saving, &cx->saving, err);
    if (status != VITFOLD_OK || cx->options->emit_folder == NULL)
        return status;
    cli_hold(&cx->hold);
    return cli_program_prepare(cx->cli, cx->model,
                               &(CliProgramWords){cx->out, cx->options->emit_folder, saving},
                               &cx->program, err);
}

/* The folder first: only there may something have come in the way meanwhile. */
static int commit_all(Conversion *cx, VfErr *err)
{
    VitfoldSaving *saving = cx->saving;
    if (cli_hold_is_over(&cx->hold))
        return (int)vf_fail(err, VF_IO, "interrupted"); /* and the program ends by the signal */
    int status = cli_program_commit(&cx->program, err);
    if (status != VITFOLD_OK)
        return status;
    cx->saving = NULL;
    status = vitfold_saving_commit(saving, err);
    if (status == VITFOLD_OK)
        status = (int)commit(&cx->report, err);
    if (status == VITFOLD_OK)
        status = (int)commit(&cx->recipe, err);
    if (status == VITFOLD_OK)
        status = (int)commit(&cx->svg, err);
    return status;
}

/* The table comes after the file is written, for it takes the model apart, and before the file has
 * its name, which may be that of the original it is compared with. */
static int show(Conversion *cx, VfErr *err)
{
    size_t size;
    VitfoldReport *report;
    VitfoldSummaryOptions summary = {.dim = cx->dim, .n_dim = cx->options->dim.n_item,
                                     .html = wants_page(cx)};
    int status = vitfold_summarize(cx->model, &summary, &report, err);
    if (status != VITFOLD_OK)
        return status;
    const char *page = vitfold_report_html(report, &size);
    if (page != NULL)
        status = (int)cli_write_beside(cx->options->report, page, size, &cx->report, err);
    if (status == VITFOLD_OK)
        status = cli_tell(cx->cli, report, err);
    vitfold_report_free(report);
    return status;
}

/* Last, when both have their names. */
static int show_program(const Conversion *cx, VfErr *err)
{
    size_t size;
    if (cx->program.report == NULL || cx->cli->common->json.is_given || cx->cli->common->is_quiet)
        return VITFOLD_OK;
    const char *text = vitfold_report_text(cx->program.report, &size);
    return cli_print(text, size, err);
}

static int convert(Conversion *cx, const VfOptionList *path, VfErr *err)
{
    int status = check_words(cx, path, err);
    if (status == VITFOLD_OK)
        status = transform(cx, err);
    if (status == VITFOLD_OK)
        status = check_strict(cx, err);
    if (status == VITFOLD_OK && cx->options->check)
        status = validate(cx, err);
    if (status == VITFOLD_OK)
        status = write_all(cx, err);
    if (status == VITFOLD_OK)
        status = show(cx, err);
    if (status == VITFOLD_OK)
        status = commit_all(cx, err);
    return status == VITFOLD_OK ? show_program(cx, err) : status;
}

static int run(Cli *cli, const void *options, const VfOptionList *path, VfErr *err)
{
    Conversion cx = {.cli = cli, .options = options};
    int status = convert(&cx, path, err);
    vitfold_saving_abandon(cx.saving);
    cli_program_release(&cx.program);
    vf_out_abandon(cx.report);
    vf_out_abandon(cx.recipe);
    vf_out_abandon(cx.svg);
    vitfold_report_free(cx.journal);
    vitfold_data_free(cx.calibration);
    vitfold_data_free(cx.effect_in);
    vitfold_model_free(cx.model);
    cli_release(&cx.hold);
    return status;
}

const VfCommand cmd_convert = {
    "convert", "IN.onnx OUT.onnx", "run passes over a model and write the result", 1, 2, table,
    sizeof(Options), run,
};
