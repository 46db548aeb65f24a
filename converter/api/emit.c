/* A model as a C program: plans, handed to the emitter. */
#include <inttypes.h>
#include <string.h>

#include "converter/api/emit_plans.h"
#include "converter/api/sites.h"
#include "converter/data/npy.h"
#include "converter/emit/emit_c.h"
#include "runtime/base/sha256.h"

/* One of the models of a program. */
typedef struct Source {
    const VitfoldModel *model;
    VfEmitPlans plans;
} Source;

struct VitfoldEmission {
    VfArena *arena;
    VfEmission *folder; /* NULL until it is written */
};

/* The one for the fixed shapes, or for the largest batch. */
static const VfPlan *last_plan(const Source *source)
{
    return source->plans.range[source->plans.n_range - 1].high;
}

typedef struct Emit {
    const VitfoldData *in;
    const VitfoldEmitOptions *options;
    VitfoldReport *report;
    VfArena *arena; /* the report's */
    Source source[VF_EMIT_MAX_MODELS];
    VfEmitModel model[VF_EMIT_MAX_MODELS];
    int32_t n_model;
    VitfoldData *expected;
} Emit;

/* --- facts for the front matter --- */

static VfStatus opsets_of(VfArena *arena, const VfModel *ir, const char **opsets, VfErr *err)
{
    VfText text;
    VfBytes done;
    vf_text_init(&text, arena);
    vf_text_string(&text, "");
    for (int32_t i = 0; i < ir->n_opset; i++) {
        vf_text_string(&text, i > 0 ? ", " : "");
        vf_text_string(&text, ir->opset[i].domain.size == 0 ? "ai.onnx"
                                                            : vf_show(arena, ir->opset[i].domain));
        vf_text_printf(&text, " %lld", (long long)ir->opset[i].version);
    }
    VF_TRY(vf_text_get(&text, &done, err));
    *opsets = done.data;
    return VF_OK;
}

/* Whether the program fixes a dimension of the input that the model leaves open. */
static bool is_open(const VfModel *ir, const VfValue *input, const VitfoldBatch *batch)
{
    for (int32_t k = 0; k < input->type.rank; k++) {
        VfDim dim = input->type.dims[k];
        bool is_batch = batch != NULL && k == 0 && dim.sym > VF_SYM_ONE &&
                        vf_bytes_is_equal(vf_symbol_text(ir->symbols, dim.sym),
                                          vf_bytes(batch->name));
        if (!vf_dim_is_known(dim) && !is_batch)
            return true;
    }
    return input->type.rank < 0;
}

/* Inputs whose declared shapes leave dimensions open. */
static VfStatus open_inputs(VfArena *arena, const VfModel *ir, const VitfoldBatch *batch,
                            const char **open, VfErr *err)
{
    VfText text;
    VfBytes done;
    vf_text_init(&text, arena);
    vf_text_string(&text, "");
    for (int32_t i = 0; i < ir->graph->n_input; i++) {
        const VfValue *input = ir->graph->input[i];
        if (is_open(ir, input, batch) && vf_is_required_input(input))
            vf_text_printf(&text, "%s\"%s\" %s", text.size > 0 ? ", " : "",
                           vf_show(arena, input->name),
                           vf_type_text(ir->arena, ir->symbols, &input->type));
    }
    VF_TRY(vf_text_get(&text, &done, err));
    *open = done.data;
    return VF_OK;
}

static VfStatus describe(Emit *cx, const Source *source, VfEmitModel *model, VfErr *err)
{
    const VitfoldModel *from = source->model;
    VfOpCount *op;
    size_t n_op;
    int64_t n_node;
    char *folder;
    const char *name;
    VF_TRY(vf_path_split(cx->arena, from->path, &folder, &name, err));
    VF_TRY(vf_count_ops(cx->arena, from->ir, &op, &n_op, &n_node, err));
    *model = (VfEmitModel){.n_range = source->plans.n_range, .file = {name, strlen(name)},
                           .n_node = (int32_t)n_node};
    memcpy(model->range, source->plans.range, sizeof model->range);
    char *digest = vf_arena_alloc(cx->arena, VF_SHA256_TEXT);
    VF_TRY_ALLOC(digest, err);
    VF_TRY(vf_sha256_file(from->path, digest, err));
    model->sha256 = digest;
    VF_TRY(opsets_of(cx->arena, from->ir, &model->opsets, err));
    return open_inputs(cx->arena, from->ir, cx->options->batch, &model->open, err);
}

/* --- samples --- */

/* The array as main.c of the program takes it, for types that npy files do not have: 16-bit ones as
 * u16, bytes as u8, several elements in a byte as a list of bytes. */
static VfStatus as_npy(VfArena *arena, const VfArray *array, VfArray *npy, VfErr *err)
{
    const VfDtypeInfo *info = vf_dtype_info(array->dtype);
    int64_t bytes = (int64_t)array->bytes;
    *npy = *array;
    if (info->bits < 8)
        return vf_array_init(npy, arena, VF_U8, 1, &bytes, array->data, err);
    if (array->dtype == VF_BF16)
        npy->dtype = VF_U16;
    else if (info->bits == 8 && info->is_float)
        npy->dtype = VF_U8;
    return VF_OK;
}

static VfStatus add_sample(Emit *cx, const VfPlanTensor *tensor, bool is_output,
                           VfEmitSample *sample, VfErr *err)
{
    const VfArray *array = vf_data_find(is_output ? cx->expected : cx->in, tensor->name);
    VfArray npy;
    VfText header;
    bool may_be_less = cx->options->batch != NULL;
    if (array == NULL || array->bytes > tensor->bytes ||
        (array->bytes < tensor->bytes && !may_be_less))
        return vf_fail(err, VF_INTERNAL, "a sample is not that of the plan");
    vf_text_init(&header, cx->arena);
    *sample = (VfEmitSample){.tensor = tensor, .data = array->data, .bytes = array->bytes,
                              .is_output = is_output};
    VF_TRY(as_npy(cx->arena, array, &npy, err));
    VF_TRY(vf_npy_header(&header, &npy, err));
    return vf_text_get(&header, &sample->npy, err);
}

static VfStatus add_samples(Emit *cx, VfErr *err)
{
    const VfPlan *plan = last_plan(&cx->source[0]);
    VitfoldRunOptions running = {.reference = 1, .no_fuse = cx->options->no_fuse};
    int32_t n = 0;
    VfEmitSample *sample = VF_NEW_ARRAY(cx->arena, VfEmitSample,
                                        (size_t)plan->n_input + (size_t)plan->n_output);
    VF_TRY_ALLOC(sample, err);
    cx->expected = vitfold_data_new();
    VF_TRY_ALLOC(cx->expected, err);
    VF_TRY((VfStatus)vitfold_run(cx->source[0].model, cx->in, cx->expected, &running, err));
    for (int32_t i = 0; i < plan->n_input; i++)
        VF_TRY(add_sample(cx, &plan->input[i], false, &sample[n++], err));
    for (int32_t i = 0; i < plan->n_output; i++)
        VF_TRY(add_sample(cx, &plan->output[i], true, &sample[n++], err));
    cx->model[0].sample = sample;
    cx->model[0].n_sample = n;
    return VF_OK;
}

/* --- report --- */

/* What --weights-dtype did. */
static void print_narrow(const VfEmitWeights *weights, VfText *text, VfArena *arena)
{
    if (weights->dtype == VF_EMIT_F32)
        return;
    vf_text_string(text, "  narrow    ");
    vf_text_bytes(text, (double)weights->file_bytes);
    vf_text_printf(text, " in the file, %d tensors widened on loading", weights->n_narrow);
    if (weights->n_narrow > 0)
        vf_text_printf(text, "; largest error %.3g", weights->error);
    if (weights->error > 0)
        vf_text_printf(text, ", at most %.3g of a tensor's largest value ('%s')",
                       weights->relative_error, vf_show(arena, weights->worst));
    if (weights->n_too_large > 0)
        vf_text_printf(text, "; %d kept as f32, for they hold larger numbers",
                       weights->n_too_large);
    vf_text_char(text, '\n');
}

static void print_weights(const VfEmitWeights *weights, VfText *text, VfJson *json, VfArena *arena)
{
    vf_json_int(json, "weights_bytes", (int64_t)weights->bytes);
    vf_json_int(json, "weights_file_bytes", (int64_t)weights->file_bytes);
    vf_json_int(json, "n_weight", weights->n);
    vf_json_int(json, "n_weight_stored", weights->n_stored);
    vf_json_int(json, "n_weight_narrow", weights->n_narrow);
    vf_json_int(json, "n_weight_too_large", weights->n_too_large);
    vf_json_double(json, "weights_error", weights->error);
    vf_json_double(json, "weights_relative_error", weights->relative_error);
    vf_text_string(text, "  weights   ");
    vf_text_bytes(text, (double)weights->bytes);
    vf_text_printf(text, ", %d tensors, %d of them stored\n", weights->n, weights->n_stored);
    print_narrow(weights, text, arena);
}

static const char *title_of(const Emit *cx, int32_t i)
{
    return i == 0 && cx->options->title != NULL ? cx->options->title : cx->source[i].model->path;
}

static void print_batch(const VitfoldBatch *batch, const VfEmitModel *model, VfText *text,
                        VfJson *json)
{
    if (batch == NULL)
        return;
    vf_json_object(json, "batch");
    vf_json_int(json, "min", batch->min);
    vf_json_int(json, "max", batch->max);
    vf_json_end(json);
    vf_text_printf(text, "  batch     %" PRId64 " to %" PRId64, batch->min, batch->max);
    if (model->n_range > 1)
        vf_text_printf(text, "; a batch of %" PRId64 " has calls of its own, %d of them",
                       model->range[0].min, model->range[0].high->n_step);
    vf_text_char(text, '\n');
}

static void print_model(const Emit *cx, const VfEmitted *emitted, int32_t i)
{
    VfText *text = &cx->report->out;
    VfJson *json = &cx->report->json;
    const VfPlan *plan = last_plan(&cx->source[i]);
    vf_json_object(json, NULL);
    vf_json_string(json, "file", title_of(cx, i));
    vf_json_string(json, "sha256", cx->model[i].sha256);
    vf_json_int(json, "nodes", cx->model[i].n_node);
    vf_json_int(json, "steps", emitted->model[i].n_step);
    vf_json_int(json, "kernels", emitted->model[i].n_kernel);
    vf_json_int(json, "arena_bytes", (int64_t)emitted->model[i].arena_bytes);
    vf_json_int(json, "scratch_bytes", (int64_t)emitted->model[i].scratch_bytes);
    vf_json_int(json, "tensor_bytes", (int64_t)plan->total_bytes);
    vf_json_int(json, "live_bytes", (int64_t)plan->live_bytes);
    vf_text_printf(text, "%s\n  code      %d calls of %d kernels for %d nodes\n",
                   title_of(cx, i), emitted->model[i].n_step, emitted->model[i].n_kernel,
                   cx->model[i].n_node);
    print_batch(cx->options->batch, &cx->model[i], text, json);
    vf_text_string(text, "  arena     ");
    vf_text_bytes(text, (double)plan->arena_bytes);
    vf_text_string(text, " (all tensors ");
    vf_text_bytes(text, (double)plan->total_bytes);
    vf_text_string(text, ", most at once ");
    vf_text_bytes(text, (double)plan->live_bytes);
    vf_text_string(text, "), scratch ");
    vf_text_bytes(text, (double)emitted->model[i].scratch_bytes);
    vf_text_char(text, '\n');
    print_weights(&emitted->model[i].weights, text, json, cx->arena);
    vf_json_end(json);
}

static void print_report(const Emit *cx, const char *path, const VfEmitted *emitted)
{
    VfText *text = &cx->report->out;
    VfJson *json = &cx->report->json;
    vf_json_string(json, "folder", path);
    vf_json_array(json, "models");
    for (int32_t i = 0; i < cx->n_model; i++)
        print_model(cx, emitted, i);
    vf_json_end(json);
    vf_json_array(json, "files");
    for (int32_t i = 0; i < emitted->n_file; i++) {
        vf_json_object_row(json, NULL);
        vf_json_string(json, "path", emitted->file[i].path);
        vf_json_int(json, "bytes", (int64_t)emitted->file[i].bytes);
        vf_json_end(json);
    }
    vf_json_end(json);
    vf_text_printf(text, "%s: %d files, ", path, emitted->n_file);
    vf_text_bytes(text, (double)emitted->bytes);
    vf_text_string(text, ", see its README.md\n");
}

/* --- all --- */

static VfStatus emit(Emit *cx, const char *path, VitfoldEmission *emission, VfErr *err)
{
    VfEmitShapes shapes;
    VfEmitted emitted;
    VfEmitOptions options = {
        .version = vitfold_version(),
        .weights_dtype = (VfEmitDtype)cx->options->weights_dtype,
        .weights_in_c = cx->options->weights_in_c != 0,
        .is_single_file = cx->options->is_single_file != 0,
        .n_model = cx->n_model,
        .model = cx->model,
    };
    if (options.weights_in_c && options.weights_dtype != VF_EMIT_F32)
        return vf_fail(err, VF_USAGE, "weights in C are not widened, so they cannot be stored "
                       "narrow");
    if (options.is_single_file && cx->n_model > 1)
        return vf_fail(err, VF_USAGE, "a single file holds one model, not two");
    VF_TRY(vf_emit_shapes_init(&shapes, cx->source[0].model, cx->in, cx->options->batch,
                               cx->arena, err));
    shapes.no_fuse = cx->options->no_fuse != 0;
    for (int32_t i = 0; i < cx->n_model; i++) {
        Source *source = &cx->source[i];
        VF_TRY(vf_emit_plans_init(&source->plans, source->model, &shapes, cx->arena, err));
        VF_TRY(describe(cx, source, &cx->model[i], err));
    }
    if (cx->options->with_samples)
        VF_TRY(add_samples(cx, err));
    VF_TRY(vf_emit_prepare(&options, path, emission->arena, &emission->folder, &emitted, err));
    print_report(cx, path, &emitted);
    return VF_OK;
}

static VitfoldEmission *new_emission(void)
{
    VfArena *arena = vf_arena_new();
    VitfoldEmission *emission = arena == NULL ? NULL : VF_NEW(arena, VitfoldEmission);
    if (emission == NULL)
        vf_arena_free(arena);
    else
        emission->arena = arena;
    return emission;
}

static VfStatus emit_into(Emit *cx, const char *path, VitfoldEmission *emission, VfErr *err)
{
    if (emission == NULL)
        return vf_no_memory(err);
    VfStatus status = emit(cx, path, emission, err);
    for (int32_t i = 0; i < cx->n_model; i++)
        vf_emit_plans_release(&cx->source[i].plans);
    if (cx->expected != NULL)
        vitfold_data_free(cx->expected);
    return status;
}

int vitfold_emit_prepare(const VitfoldModel *model, const VitfoldData *in,
                         const VitfoldEmitOptions *options, const char *path,
                         VitfoldEmission **result, VitfoldReport **report_result,
                         VitfoldError *err)
{
    static const VitfoldEmitOptions defaults;
    VitfoldReport *report;
    VfStatus status = vf_report_begin("vitfold.emit.1", &report, err);
    if (status != VF_OK)
        return (int)status;
    Emit cx = {.in = in, .options = options == NULL ? &defaults : options, .report = report,
               .arena = report->arena, .source = {{.model = model}}, .n_model = 1};
    if (cx.options->with != NULL)
        cx.source[cx.n_model++].model = cx.options->with;
    VitfoldEmission *emission = new_emission();
    status = emit_into(&cx, path, emission, err);
    status = vf_report_finish(report, status, report_result, err);
    if (status == VF_OK)
        *result = emission;
    else
        vitfold_emission_abandon(emission);
    return (int)status;
}

int vitfold_emission_commit(VitfoldEmission *emission, VitfoldError *err)
{
    VfStatus status = vf_emission_commit(emission->folder, err);
    vf_arena_free(emission->arena);
    return (int)status;
}

void vitfold_emission_abandon(VitfoldEmission *emission)
{
    if (emission == NULL)
        return;
    vf_emission_abandon(emission->folder);
    vf_arena_free(emission->arena);
}

int vitfold_emit_c(const VitfoldModel *model, const VitfoldData *in,
                   const VitfoldEmitOptions *options, const char *path, VitfoldReport **result,
                   VitfoldError *err)
{
    VitfoldEmission *emission;
    VitfoldReport *report;
    int status = vitfold_emit_prepare(model, in, options, path, &emission, &report, err);
    if (status != VITFOLD_OK)
        return status;
    status = vitfold_emission_commit(emission, err);
    if (status == VITFOLD_OK)
        *result = report;
    else
        vitfold_report_free(report);
    return status;
}
