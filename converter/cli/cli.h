/* The command line: one VfCommand per cmd_*.c, and what the commands share.
 *
 * A command gets its options parsed from its table and its operands checked in number. It
 * returns a status of vitfold.h and leaves the sentence in `err`; main.c prints it and turns
 * the status into an exit status.
 */
#ifndef VF_CLI_CLI_H
#define VF_CLI_CLI_H

#include "converter/api/vitfold.h"
#include "runtime/base/arena.h"
#include "runtime/base/file.h"
#include "runtime/base/log.h"
#include "runtime/base/option.h"
#include "runtime/base/status.h"

/* Options of every command; the first field of every options struct. */
typedef struct CommonOptions {
    int64_t n_verbose;
    bool is_quiet;
    int color; /* auto, always, never */
    VfOptionMaybe json;
    const char *linked_root;
    int64_t max_nesting, max_fields;
    size_t max_memory;
} CommonOptions;

#define CLI_COMMON_ROWS                                                                         \
    {"verbose", "say more; twice: say everything", VF_OPTION_COUNT_UP,                          \
     offsetof(CommonOptions, n_verbose), .letter = 'v'},                                        \
    {"quiet", "only errors, and no table of what was written", VF_OPTION_BOOL,                  \
     offsetof(CommonOptions, is_quiet), .letter = 'q'},                                         \
    {"color", "coloured messages", VF_OPTION_CHOICE, offsetof(CommonOptions, color), "auto",    \
     .choices = "auto|always|never"}

#define CLI_JSON_ROW                                                                            \
    {"json", "the report as JSON: in place of the text, or to a FILE (which must end in .json " \
     "unless glued on with =)", VF_OPTION_MAYBE, offsetof(CommonOptions, json),                 \
     .choices = ".json"}

#define CLI_LOAD_ROWS                                                                           \
    {"allow-linked-data", "admit links to external data that lead into this folder",            \
     VF_OPTION_STRING, offsetof(CommonOptions, linked_root), .value = "ROOT"},                  \
    {"max-nesting", "refuse files with more messages inside each other, of which a subgraph "   \
     "takes three; 0: 100", VF_OPTION_INT, offsetof(CommonOptions, max_nesting), "0", 0, 1000}, \
    {"max-fields", "refuse files with more fields outside of weights, a node has about ten; "   \
     "0: 16 million", VF_OPTION_INT, offsetof(CommonOptions, max_fields), "0", 0, 1e12},        \
    {"max-memory", "refuse to run what needs more for its tensors, such as 512M; 0: no limit",  \
     VF_OPTION_SIZE, offsetof(CommonOptions, max_memory), "0", 0, 1e18}

typedef struct Cli {
    VfArena *arena;
    VfLog log;
    const CommonOptions *common;
} Cli;

typedef struct VfCommand {
    const char *name;
    const char *operands; /* "IN.onnx OUT.onnx", for help */
    const char *summary;
    size_t min_operands, max_operands;
    const VfOption *option;
    size_t options_bytes;
    int (*run)(Cli *cli, const void *options, const VfOptionList *operands, VfErr *err);
} VfCommand;

extern const VfCommand cmd_convert, cmd_inspect, cmd_explain, cmd_passes, cmd_run, cmd_compare,
    cmd_eval, cmd_check, cmd_bench, cmd_emit_c, cmd_diff, cmd_bisect, cmd_sensitivity;

/* --- share.c --- */

/* Load a model with the log and the linked folder of the command line. */
int cli_load(Cli *cli, const char *path, VitfoldModel **model, VfErr *err);

VitfoldLoadOptions cli_load_options(Cli *cli);

/* Print a report as text or JSON, as asked for. Frees nothing. */
int cli_show(const Cli *cli, const VitfoldReport *report, VfErr *err);

/* The same for what a command says of the files that it wrote: with --quiet, only the JSON that was
 * asked for. */
int cli_tell(const Cli *cli, const VitfoldReport *report, VfErr *err);

/* Write to stdout; VITFOLD_IO if that fails. */
int cli_print(const char *text, size_t size, VfErr *err);

bool cli_ends_in(const char *word, const char *suffix);

/* Write a whole file beside PATH, without its name yet; `*out` is the caller's to commit or
 * abandon, also after a failure. */
VfStatus cli_write_beside(const char *path, const char *text, size_t size, VfOutFile **out,
                          VfErr *err);

/* "NAME=N" words to dims in the arena. */
int cli_dims(const Cli *cli, const VfOptionList *words, VitfoldDim **dim, VfErr *err);
/* The same; VITFOLD_USAGE names one that no input of the models has. */
int cli_dims_of(const Cli *cli, const VfOptionList *words, const VitfoldModel *const *model,
                size_t n_model, VitfoldDim **dim, VfErr *err);

/* A new list with the arrays of an npz file; left alone when `path` is NULL. */
int cli_samples(const char *path, VitfoldData **data, VfErr *err);

/* Where the data of a run comes from; the rows are for structs that hold one as `data`. */
typedef struct DataOptions {
    VfOptionList input;
    const char *inputs, *folder, *seed;
    VfOptionList dim;
} DataOptions;

#define CLI_GIVEN_ROWS(Type)                                                                    \
    {"input", "a tensor from a .npy or .pb file, or raw: NAME=FILE or NAME=FILE:f32[1,3,224,224]", \
     VF_OPTION_LIST, offsetof(Type, data.input), .letter = 'i', .value = "NAME=FILE"},          \
    {"inputs", "all tensors of an npz file", VF_OPTION_STRING, offsetof(Type, data.inputs),     \
     .value = "FILE.npz"},                                                                      \
    {"test-data-dir", "a folder with input_0.pb, input_1.pb, ...", VF_OPTION_STRING,            \
     offsetof(Type, data.folder), .value = "DIR"},                                              \
    {"random", "random tensors for inputs that are not given", VF_OPTION_STRING,                \
     offsetof(Type, data.seed), .value = "SEED"}

#define CLI_DATA_ROWS(Type)                                                                     \
    CLI_GIVEN_ROWS(Type),                                                                       \
    {"dim", "a symbolic dimension of random tensors (else 1)", VF_OPTION_LIST,                  \
     offsetof(Type, data.dim), .value = "NAME=N"}

/* Labelled data and what is done to its images; for structs that hold one as `labelled`. */
typedef struct LabelledWords {
    const char *data, *mean, *std;
    int64_t batch, n_sample, size, resize;
} LabelledWords;

#define CLI_LABELLED_ROWS(Type)                                                                 \
    {"data", "labelled data: an npz file with x and y, or a folder with a folder for each class, " \
     "of png or jpeg images, or npy arrays", VF_OPTION_STRING, offsetof(Type, labelled.data),   \
     .letter = 'd', .value = "FILE.npz|DIR"},                                                   \
    {"batch", "samples of --data a run; 0: what the model says, or 64", VF_OPTION_INT,          \
     offsetof(Type, labelled.batch), "0", 0, 1e6},                                              \
    {"samples", "only the first N of --data; 0: all", VF_OPTION_INT,                            \
     offsetof(Type, labelled.n_sample), "0", 0, 1e15},                                          \
    {"size", "images: height and width to feed where the model leaves them open", VF_OPTION_INT, \
     offsetof(Type, labelled.size), "0", 0, 16384},                                             \
    {"resize", "images: length of the short side before the middle is cut out; 0: the piece is " \
     "7/8 of it", VF_OPTION_INT, offsetof(Type, labelled.resize), "0", 0, 16384},               \
    {"mean", "images: taken from v/255, one number or one for each channel; else 0 of one "     \
     "channel and the usual ones of ImageNet of three", VF_OPTION_STRING,                       \
     offsetof(Type, labelled.mean), .value = "R,G,B"},                                          \
    {"std", "images: then divided by this; given with --mean", VF_OPTION_STRING,                \
     offsetof(Type, labelled.std), .value = "R,G,B"}

/* What these words say, and the threads. */
int cli_eval_options(const LabelledWords *words, int64_t n_thread, VitfoldEvalOptions *options,
                     VfErr *err);

#define CLI_THREADS_ROW(Type)                                                                   \
    {"threads", "threads to compute with; 0: one for each processor", VF_OPTION_INT,            \
     offsetof(Type, n_thread), "0", 0, 1024, .letter = 't'}

/* A choice: 0 is on, 1 off. */
#define CLI_FUSE_ROW(Type)                                                                      \
    {"fuse", "off: steps stay as the nodes are written, none of several nodes",                 \
     VF_OPTION_CHOICE, offsetof(Type, no_fuse), "on", .choices = "on|off"}

/* Was any input given, or random ones asked for? */
bool cli_has_data(const DataOptions *options);

/* Does --color, `choice`, or the terminal open as `fd` want color? */
bool cli_wants_color(int choice, int fd);

/* Collect the inputs of `model`. With `always`, what is missing is random. `expected` (may be NULL)
 * gets the outputs of a test folder. */
int cli_data(const Cli *cli, const DataOptions *options, const VitfoldModel *model, bool always,
             VitfoldData **data, VitfoldData *expected, VfErr *err);

/* --- files.c --- */

/* A file that a command writes beside its report. */
typedef struct CliFile {
    const char *path; /* NULL: none was asked for */
    const char *text; /* NULL: it has nothing in it and is not written */
    size_t size;
    VfOutFile *out;
} CliFile;

/* Before there is work that would be lost: VITFOLD_USAGE when two of the paths (NULL: not given),
 * the file of --json and the operands `in` are one file. */
int cli_check_files(const Cli *cli, const VfOptionList *in, const char *const *path, size_t n,
                    VfErr *err);

/* The same for a path that --html named (may be NULL); the ending keeps pages apart, too. */
int cli_check_page(const Cli *cli, const VfOptionList *in, const char *path, VfErr *err);

/* The plot of a report; VITFOLD_USAGE if `path` is given and it has none. */
int cli_svg_file(const VitfoldReport *report, const char *path, CliFile *file, VfErr *err);

/* As cli_show, and write the files: all or none of it. */
int cli_show_files(const Cli *cli, const VitfoldReport *report, CliFile *file, size_t n,
                   VfErr *err);

/* The same with the page of the report, if it has one. */
int cli_show_page(const Cli *cli, const char *path, const VitfoldReport *report, VfErr *err);

/* --- convert_emit.c --- */

/* The program of a file that is to be written to `out`. */
typedef struct CliProgramWords {
    const char *out, *folder;
    VitfoldSaveOptions saving; /* of the file */
} CliProgramWords;

/* Whole on the disk but for its name, and what is to be told of it. */
typedef struct CliProgram {
    VitfoldEmission *emission; /* NULL: committed, or there is none */
    VitfoldReport *report;
} CliProgram;

/* Write the program of `model` as a file would have it. Release it in any case. */
int cli_program_prepare(Cli *cli, const VitfoldModel *model, const CliProgramWords *words,
                        CliProgram *program, VfErr *err);

/* Give the folder its name. */
int cli_program_commit(CliProgram *program, VfErr *err);

/* Leave nothing that was not committed. */
void cli_program_release(CliProgram *program);

#endif
