/* Running two models on the same data and telling how far their outputs are apart. */
#include <string.h>

#include "converter/api/compare.h"
#include "converter/api/profile.h"

/* The tensors of one comparison; the parts that are not needed stay NULL. */
typedef struct Sides {
    VitfoldData *a, *b, *noise;
} Sides;

VfStatus vf_run_into(const VitfoldModel *model, const VitfoldData *in,
                     const VitfoldRunOptions *options, VitfoldData **out, VfErr *err)
{
    *out = vitfold_data_new();
    VF_TRY_ALLOC(*out, err);
    VfStatus status = (VfStatus)vitfold_run(model, in, *out, options, err);
    return status == VF_OK ? VF_OK : vf_context(err, "model '%s'", model->path);
}

VfStatus vf_run_reference(const VitfoldModel *model, const VitfoldData *in,
                          VitfoldRunOptions options, VitfoldData **out, VfErr *err)
{
    options.reference = !options.reference;
    return vf_run_into(model, in, &options, out, err);
}

static void free_sides(Sides *sides)
{
    vitfold_data_free(sides->a);
    vitfold_data_free(sides->b);
    vitfold_data_free(sides->noise);
}

/* Outputs first, then what both have by the same name among the intermediates. */
static VfStatus split_outputs(const VitfoldModel *model, const VitfoldData *all,
                              VitfoldData *outputs, VitfoldData *rest, const VitfoldData *other,
                              VfErr *err)
{
    size_t n_output = vitfold_model_n_output(model);
    for (size_t i = 0; i < all->n_array; i++) {
        const VfNamedArray *array = &all->array[i];
        bool is_output = i < n_output;
        if (is_output)
            VF_TRY(vf_data_put(outputs, array->name, &array->array, err));
        else if (vf_data_find(other, array->name) != NULL)
            VF_TRY(vf_data_put(rest, array->name, &array->array, err));
    }
    return VF_OK;
}

/* The intermediates of `rest`, in the order of the graph, and where they lie. */
static VfStatus measure_nodes(const VitfoldModel *a, const Sides *sides, const VitfoldData *rest,
                              VfArena *arena, VfProfile *profile, VfErr *err)
{
    VfBlocks blocks;
    VF_TRY(vf_blocks_find(arena, a, &blocks, err));
    VF_TRY(vf_profile_init(profile, arena, &blocks, rest->n_array, err));
    for (size_t i = 0; i < rest->n_array; i++) {
        const VfNamedArray *want = &rest->array[i];
        VfMoved moved;
        VF_TRY(vf_moved_measure(arena, vf_data_find(sides->b, want->name),
                                vf_data_find(sides->noise, want->name), want, &moved, err));
        vf_profile_add(profile, &moved);
    }
    return VF_OK;
}

static VfStatus compare_nodes(const VitfoldModel *a, const Sides *sides, const VfJudge *judge,
                              VitfoldReport *report, size_t *n_differ, VfErr *err)
{
    VitfoldData *outputs = vitfold_data_new(), *rest = vitfold_data_new();
    VfProfile profile;
    VfStatus status = outputs == NULL || rest == NULL ? vf_no_memory(err) : VF_OK;
    if (status == VF_OK)
        status = split_outputs(a, sides->a, outputs, rest, sides->b, err);
    if (status == VF_OK)
        status = vf_compare_data(sides->b, outputs, sides->noise, judge, "outputs", report,
                                 n_differ, err);
    if (status == VF_OK)
        status = measure_nodes(a, sides, rest, report->arena, &profile, err);
    if (status == VF_OK) {
        vf_text_char(&report->out, '\n');
        vf_profile_json(&profile, "nodes", &report->json);
        vf_profile_text(&profile, report->arena, &report->out);
        status = vf_profile_svg(&profile, report->arena, &report->svg, err);
    }
    vitfold_data_free(outputs);
    vitfold_data_free(rest);
    return status;
}

static VfStatus finish(VitfoldReport *report, size_t n_differ, VfErr *err)
{
    vf_json_int(&report->json, "n_differ", (int64_t)n_differ);
    if (n_differ == 0)
        return VF_OK;
    return vf_fail(err, VF_DIFFERS, "%zu outputs differ by more than they may", n_differ);
}

/* Of both models (`b` may be NULL). */
static VfStatus set_computed(VfJudge *judge, const VitfoldModel *a, const VitfoldModel *b,
                             VfErr *err)
{
    VfDtype other = VF_F32;
    VF_TRY(vf_computed_dtype(a->ir, &judge->computed, err));
    if (b != NULL)
        VF_TRY(vf_computed_dtype(b->ir, &other, err));
    if (vf_close_limit(other, VF_F32) > vf_close_limit(judge->computed, VF_F32))
        judge->computed = other;
    return VF_OK;
}

static VfJudge judge_of(const VitfoldCompareOptions *options, bool is_expected)
{
    VfJudge judge = {.rtol = options->rtol, .atol = options->atol, .limit = options->limit,
                     .n_limit = options->n_limit};
    bool has_limits = options->rtol > 0 || options->atol > 0 || options->n_limit > 0;
    judge.has_got_noise = is_expected;
    judge.strictness = options->report_only ? VF_STRICT_NONE
                       : options->exact     ? VF_STRICT_BITS
                       : has_limits         ? VF_STRICT_LIMITS
                                            : VF_STRICT_CLOSE;
    return judge;
}

static VfStatus compare(const VitfoldModel *a, const VitfoldModel *b, const VitfoldData *in,
                        const VitfoldData *expected, const VitfoldCompareOptions *options,
                        Sides *sides, VitfoldReport *report, VfErr *err)
{
    VitfoldRunOptions run = options->run;
    VfJudge judge = judge_of(options, expected != NULL);
    size_t n_differ = 0;
    VF_TRY(set_computed(&judge, a, b, err));
    run.save_all = options->per_node && b != NULL;
    vf_json_string(&report->json, "a", a->path);
    vf_json_string(&report->json, "b", b == NULL ? NULL : b->path);
    VF_TRY(vf_run_into(a, in, &run, &sides->a, err));
    if (b != NULL)
        VF_TRY(vf_run_into(b, in, &run, &sides->b, err));
    VF_TRY(vf_run_reference(a, in, run, &sides->noise, err));
    if (run.save_all)
        VF_TRY(compare_nodes(a, sides, &judge, report, &n_differ, err));
    else if (b != NULL)
        VF_TRY(vf_compare_data(sides->b, sides->a, sides->noise, &judge, "outputs", report,
                               &n_differ, err));
    else
        VF_TRY(vf_compare_data(sides->a, expected, sides->noise, &judge, "outputs", report,
                               &n_differ, err));
    return finish(report, n_differ, err);
}

int vitfold_compare(const VitfoldModel *a, const VitfoldModel *b, const VitfoldData *in,
                    const VitfoldData *expected, const VitfoldCompareOptions *options,
                    VitfoldReport **result, VitfoldError *err)
{
    static const VitfoldCompareOptions defaults;
    VitfoldReport *report;
    Sides sides = {0};
    if ((b == NULL) == (expected == NULL))
        return (int)vf_fail(err, VF_USAGE, "compare with a model or with expected values");
    VfStatus status = vf_report_begin("vitfold.compare.1", &report, err);
    if (status != VF_OK)
        return (int)status;
    status = compare(a, b, in, expected, options == NULL ? &defaults : options, &sides, report,
                     err);
    free_sides(&sides);
    return (int)vf_report_finish(report, status, result, err);
}

static VfStatus validate(const VitfoldModel *model, const VitfoldModel *original,
                         const VitfoldData *in, const VitfoldRunOptions *run, Sides *sides,
                         VitfoldReport *report, VfErr *err)
{
    static const VfStrictness strictness[] = {[VF_EXACT] = VF_STRICT_BITS,
                                              [VF_ROUNDING] = VF_STRICT_CLOSE,
                                              [VF_RETRAINED] = VF_STRICT_NONE};
    VfJudge judge = {.strictness = strictness[model->exactness]};
    VitfoldRunOptions running = *run;
    size_t n_differ = 0;
    VF_TRY(set_computed(&judge, model, original, err));
    /* BLAS may round a row of a product otherwise when it stands among other rows, and a fused step
     * otherwise than its pieces. */
    running.reference = running.reference || judge.strictness == VF_STRICT_BITS;
    running.no_fuse = running.no_fuse || judge.strictness == VF_STRICT_BITS;
    vf_json_string(&report->json, "file", model->path);
    vf_json_string(&report->json, "exactness", vf_exactness_name(model->exactness));
    vf_text_printf(&report->out, "new against old on the same data; passes were %s\n",
                   vf_exactness_name(model->exactness));
    VF_TRY(vf_run_into(original, in, &running, &sides->a, err));
    VF_TRY(vf_run_into(model, in, &running, &sides->b, err));
    VF_TRY(vf_run_reference(original, in, running, &sides->noise, err));
    VF_TRY(vf_compare_data(sides->b, sides->a, sides->noise, &judge, "outputs", report, &n_differ,
                           err));
    return finish(report, n_differ, err);
}

/* For the summary. */
static VfStatus keep_check(VitfoldModel *model, const VitfoldReport *report, VfErr *err)
{
    char *copy = vf_arena_copy(model->arena, report->document.data, report->document.size);
    VF_TRY_ALLOC(copy, err);
    model->check = (VfBytes){copy, report->document.size};
    return VF_OK;
}

int vitfold_validate(VitfoldModel *model, const VitfoldData *in,
                     const VitfoldRunOptions *options, VitfoldReport **result, VitfoldError *err)
{
    static const VitfoldRunOptions defaults;
    VitfoldReport *report;
    VitfoldModel *original;
    Sides sides = {0};
    VfStatus status = vf_report_begin("vitfold.validate.1", &report, err);
    if (status != VF_OK)
        return (int)status;
    status = vf_load_original(model, &original, err);
    if (status == VF_OK) {
        status = validate(model, original, in, options == NULL ? &defaults : options, &sides,
                          report, err);
        vitfold_model_free(original);
    }
    free_sides(&sides);
    status = vf_report_finish(report, status, result, err);
    if (status != VF_OK && status != VF_DIFFERS)
        return (int)status;
    VfStatus kept = keep_check(model, *result, err);
    if (kept == VF_OK)
        return (int)status;
    vitfold_report_free(*result);
    *result = NULL;
    return (int)kept;
}
