/* vitfold: a compiler for Vision Transformers in ONNX. The public C interface.
 *
 * Handles are opaque and belong to who made them; each has a free function that allows NULL.
 * Nothing is printed and nothing is global: messages go to the log function of a model, if it
 * has one. Different handles may be used by different threads at once, one handle by one
 * thread at a time; vitfold_run only reads its model. Pages and maps are laid out in a child
 * process, a fork of the caller's, which has ended when the call returns.
 *
 * Functions that can fail return a status, VITFOLD_OK or one of the others, and take an error
 * last, which then holds one sentence; NULL is allowed. Results are set only on success.
 * Structs of options may be NULL for all defaults and else start as {0}; 0 and NULL are defaults.
 *
 * Names in ONNX files may hold any byte, so they come with their size; those given here as
 * terminated strings end at their first 0 byte.
 *
 * Here: models, tensors, running. vitfold_report.h, which this header includes: everything that
 * finds something out or changes a model and reports on it. vitfold_trial.h, included too: trying
 * out models, passes and sites.
 */
#ifndef VF_API_VITFOLD_H
#define VF_API_VITFOLD_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define VITFOLD_API __attribute__((visibility("default")))

/* Also the exit statuses of the command line, but for VITFOLD_NO_MEMORY, which is 6 there, and
 * VITFOLD_CANCELLED, 130. */
enum {
    VITFOLD_OK = 0,
    VITFOLD_DIFFERS = 1,     /* a comparison or check failed; its report is made all the same */
    VITFOLD_USAGE = 2,       /* something was asked for that does not exist */
    VITFOLD_INVALID = 3,     /* a model or data file is invalid or unsafe */
    VITFOLD_UNSUPPORTED = 4, /* an operator, dtype or shape is not supported */
    VITFOLD_INTERNAL = 5,    /* a fault of vitfold itself */
    VITFOLD_IO = 6,          /* reading, writing or mapping failed */
    VITFOLD_NO_MEMORY = 7,
    VITFOLD_CANCELLED = 8    /* a progress function asked to stop; a report tells what is known */
};

typedef struct VfErr VitfoldError;
typedef struct VitfoldModel VitfoldModel;
typedef struct VitfoldData VitfoldData;
typedef struct VitfoldReport VitfoldReport;

/* "0.1.0", and the commit it was built from ("" if that is not known). */
VITFOLD_API const char *vitfold_version(void);
VITFOLD_API const char *vitfold_commit(void);
/* "protobuf-c 1.4.1, openblas 0.3.21, ...": what it was built with. */
VITFOLD_API const char *vitfold_libraries(void);

/* --- errors --- */

VITFOLD_API VitfoldError *vitfold_error_new(void);
VITFOLD_API void vitfold_error_free(VitfoldError *error);
/* The sentence, lower case, without a full stop; "" before the first failure. */
VITFOLD_API const char *vitfold_error_text(const VitfoldError *error);

/* --- models --- */

/* Takes one line of a message. Levels: 0 error, 1 warning, 2 note, 3 detail, 4 debug. */
typedef void VitfoldLogFn(void *user, int level, const char *line);

typedef struct VitfoldLoadOptions {
    const char *linked_data_root; /* folder in which external data may be linked to */
    const char *scratch_folder;   /* for nameless files that hold large new weights; NULL: they
                                   * are kept in memory */
    uint32_t max_nesting; /* protobuf messages inside each other; 0: 100, at most 1000 */
    size_t max_fields;    /* protobuf fields outside of weights; 0: 16 million */
    size_t max_memory;    /* bytes of tensors that a run may need at once; beyond it
                           * VITFOLD_NO_MEMORY, before anything is run; 0: no limit */
    VitfoldLogFn *log;            /* kept by the model */
    void *log_user;
    int log_level;                /* the last level that is passed on */
} VitfoldLoadOptions;

/* Read the ONNX model at `path`. Weights are mapped, not read: the file must stay as it is. */
VITFOLD_API int vitfold_model_load(const char *path, const VitfoldLoadOptions *options,
                                   VitfoldModel **model, VitfoldError *error);
VITFOLD_API void vitfold_model_free(VitfoldModel *model);

enum { VITFOLD_EXTERNAL_AUTO, VITFOLD_EXTERNAL_ALWAYS, VITFOLD_EXTERNAL_NEVER };

typedef struct VitfoldSaveOptions {
    int external_data; /* where weights go; AUTO: to PATH.data when the model is above 2 GB */
} VitfoldSaveOptions;

/* Write the model: whole under its name or not at all. */
VITFOLD_API int vitfold_model_save(const VitfoldModel *model, const char *path,
                                   const VitfoldSaveOptions *options, VitfoldError *error);

/* The same in two steps, to give the file its name when all else has worked: write it beside PATH,
 * without that name; then commit or abandon it. Both free `saving`; NULL is allowed to abandon. The
 * model may be changed or freed between. */
typedef struct VitfoldSaving VitfoldSaving;
VITFOLD_API int vitfold_model_prepare(const VitfoldModel *model, const char *path,
                                      const VitfoldSaveOptions *options, VitfoldSaving **saving,
                                      VitfoldError *error);
VITFOLD_API int vitfold_saving_commit(VitfoldSaving *saving, VitfoldError *error);
VITFOLD_API void vitfold_saving_abandon(VitfoldSaving *saving);

/* Inputs that a run must be given (those without a default), and outputs. */
VITFOLD_API size_t vitfold_model_n_input(const VitfoldModel *model);
VITFOLD_API size_t vitfold_model_n_output(const VitfoldModel *model);
VITFOLD_API const char *vitfold_model_input_name(const VitfoldModel *model, size_t i,
                                                 size_t *size);
VITFOLD_API const char *vitfold_model_output_name(const VitfoldModel *model, size_t i,
                                                  size_t *size);
/* 1 if one of these inputs is called so, else 0. */
VITFOLD_API int vitfold_model_has_input(const VitfoldModel *model, const char *name, size_t size);

/* A fixed size for a symbolic dimension. */
typedef struct VitfoldDim {
    const char *name;
    int64_t size;
} VitfoldDim;

/* A symbolic dimension that stays open: any size from `min` to `max`, both included. */
typedef struct VitfoldBatch {
    const char *name;
    int64_t min, max;
} VitfoldBatch;

/* Fix symbolic dimensions of inputs and outputs in the model itself. VITFOLD_USAGE names the
 * dimension that no input has. */
VITFOLD_API int vitfold_model_fix_dims(VitfoldModel *model, const VitfoldDim *dim, size_t n_dim,
                                       VitfoldError *error);

/* VITFOLD_USAGE names the dimension that no input of any of the models has. */
VITFOLD_API int vitfold_model_check_dims(const VitfoldModel *const *model, size_t n_model,
                                         const VitfoldDim *dim, size_t n_dim,
                                         VitfoldError *error);

/* --- tensors --- */

typedef struct VitfoldTensor {
    const char *name;
    size_t name_size;
    int dtype;           /* number of ONNX's TensorProto.DataType: 1 float, 7 int64, ... */
    int rank;
    const int64_t *dims;
    const void *data;    /* C order, little endian */
    size_t bytes;        /* a sequence, an optional or strings have dtype 0 and no bytes */
} VitfoldTensor;

/* An empty list of named tensors. */
VITFOLD_API VitfoldData *vitfold_data_new(void);
VITFOLD_API void vitfold_data_free(VitfoldData *data);

VITFOLD_API size_t vitfold_data_count(const VitfoldData *data);
/* Tensor `i` below the count; pointers are valid until the list is freed. */
VITFOLD_API VitfoldTensor vitfold_data_at(const VitfoldData *data, size_t i);

/* Add a copy of a tensor; one of the same name is replaced. `bytes` need not be set. */
VITFOLD_API int vitfold_data_add(VitfoldData *data, const VitfoldTensor *tensor,
                                 VitfoldError *error);

/* Add all arrays of an npz file. */
VITFOLD_API int vitfold_data_add_npz(VitfoldData *data, const char *path, VitfoldError *error);

/* Add input `name` of `model` from a file: .npy, .pb (the message of the input's
 * type: TensorProto, SequenceProto or OptionalProto), or else raw little-endian
 * elements. Raw files need `type`, "f32[1,3,224,224]", or a model input of known type. `type`
 * may be NULL. Strings come from .pb files alone. */
VITFOLD_API int vitfold_data_add_file(VitfoldData *data, const VitfoldModel *model,
                                      const char *name, const char *path, const char *type,
                                      VitfoldError *error);

/* Add input_0.pb, input_1.pb, ... of a folder as the model's inputs, and output_0.pb, ... to
 * `expected` (may be NULL) as its outputs. */
VITFOLD_API int vitfold_data_add_folder(VitfoldData *data, VitfoldData *expected,
                                        const VitfoldModel *model, const char *path,
                                        VitfoldError *error);

/* Add random tensors for the model's inputs that are missing: floats in [-1, 1), integers in
 * [0, 8); the same for the same seed. Symbolic dimensions are those of `dim`, else 1. */
VITFOLD_API int vitfold_data_add_random(VitfoldData *data, const VitfoldModel *model,
                                        uint64_t seed, const VitfoldDim *dim, size_t n_dim,
                                        VitfoldError *error);

enum { VITFOLD_FORMAT_NPY, VITFOLD_FORMAT_NPZ, VITFOLD_FORMAT_PB };

/* Write all as one npz file. */
VITFOLD_API int vitfold_data_save_npz(const VitfoldData *data, const char *path,
                                      VitfoldError *error);
/* Write into a folder, made if needed: NAME.npy, outputs.npz, or output_0.pb, output_1.pb, ... in
 * order; what is no tensor of numbers goes to .pb files alone. Bytes of names that cannot stand in
 * file names become '_'. */
VITFOLD_API int vitfold_data_save_folder(const VitfoldData *data, const char *path, int format,
                                         VitfoldError *error);

/* --- running --- */

typedef struct VitfoldRunOptions {
    int n_thread;  /* 0: one for each processor */
    int save_all;  /* also every intermediate result */
    int reference; /* plain kernels, without BLAS */
    int lists;     /* outputs may be sequences and optionals; else VITFOLD_UNSUPPORTED */
    int no_fuse;   /* steps stay as the nodes are written */
} VitfoldRunOptions;

/* Execute the model; outputs are added to `out` in order. Any number of threads may run one model
 * at once, each with an `out` of its own, while none changes it. The bits of the outputs do not
 * depend on `n_thread`. VITFOLD_INVALID where an index in the data lies outside its axis. */
VITFOLD_API int vitfold_run(const VitfoldModel *model, const VitfoldData *in, VitfoldData *out,
                            const VitfoldRunOptions *options, VitfoldError *error);

#ifdef __cplusplus
}
#endif

#include "vitfold_report.h"
#include "vitfold_trial.h"

#endif
