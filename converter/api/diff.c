/* What differs between two models, and with data how far each common tensor moved. */
#include "converter/report/diff.h"

#include "converter/api/compare.h"
#include "converter/api/page.h"
#include "converter/report/html/page_diff.h"
#include "converter/report/html/render.h"

/* What both models computed; b under the names of a, and a once more with other kernels. */
typedef struct Runs {
    VitfoldData *a, *b, *renamed, *noise;
} Runs;

/* The tensors of b that stand for values of a, under the names they have there. */
static VfStatus rename_tensors(const VfDiff *diff, Runs *runs, VfErr *err)
{
    VfArena *arena = diff->arena;
    const VfAlign *align = diff->align;
    VfIntern *table = vf_intern_new(arena);
    const VfArray **array = VF_NEW_ARRAY(arena, const VfArray *, runs->b->n_array);
    VF_TRY_ALLOC(table, err);
    VF_TRY_ALLOC(array, err);
    for (size_t i = 0; i < runs->b->n_array; i++) {
        int32_t id;
        VF_TRY(vf_intern_add(table, runs->b->array[i].name, &id, err));
        if (array[id] == NULL)
            array[id] = &runs->b->array[i].array;
    }
    for (const VfValue *a = align->a->graph->first_value; a != NULL; a = a->next) {
        const VfValue *b = align->value_b[a->id];
        int32_t id = b == NULL ? -1 : vf_intern_find(table, b->name);
        if (a->kind == VF_VALUE_RESULT && a->name.size > 0 && id >= 0)
            VF_TRY(vf_data_put(runs->renamed, a->name, array[id], err));
    }
    return VF_OK;
}

/* The tensors of a that have a counterpart. */
static VfStatus keep_common(const Runs *runs, VitfoldData *common, VfErr *err)
{
    VfIntern *table = vf_intern_new(common->arena);
    VF_TRY_ALLOC(table, err);
    for (size_t i = 0; i < runs->renamed->n_array; i++)
        VF_TRY(vf_intern_add(table, runs->renamed->array[i].name, NULL, err));
    for (size_t i = 0; i < runs->a->n_array; i++)
        if (vf_intern_find(table, runs->a->array[i].name) >= 0)
            VF_TRY(vf_data_put(common, runs->a->array[i].name, &runs->a->array[i].array, err));
    return VF_OK;
}

static VfStatus run_both(const VitfoldModel *a, const VitfoldModel *b,
                         const VitfoldDiffOptions *options, const VfDiff *diff,
                         VitfoldReport *report, Runs *runs, VfErr *err)
{
    static const VfJudge tell = {.strictness = VF_STRICT_NONE};
    VitfoldRunOptions run = options->run;
    size_t ignored = 0;
    run.save_all = true;
    VF_TRY(vf_run_into(a, options->in, &run, &runs->a, err));
    VF_TRY(vf_run_into(b, options->in, &run, &runs->b, err));
    VF_TRY(vf_run_reference(a, options->in, run, &runs->noise, err));
    VF_TRY(rename_tensors(diff, runs, err));
    VitfoldData *common = vitfold_data_new();
    VfStatus status = common == NULL ? vf_no_memory(err) : keep_common(runs, common, err);
    vf_text_string(&report->out, "how far common tensors moved\n");
    if (status == VF_OK)
        status = vf_compare_data(runs->renamed, common, runs->noise, &tell, "moved", report,
                                 &ignored, err);
    vitfold_data_free(common);
    return status;
}

static VfStatus measure(const VitfoldModel *a, const VitfoldModel *b,
                        const VitfoldDiffOptions *options, const VfDiff *diff,
                        VitfoldReport *report, VfErr *err)
{
    Runs runs = {.renamed = vitfold_data_new()};
    VF_TRY_ALLOC(runs.renamed, err);
    VfStatus status = run_both(a, b, options, diff, report, &runs, err);
    vitfold_data_free(runs.a);
    vitfold_data_free(runs.b);
    vitfold_data_free(runs.renamed);
    vitfold_data_free(runs.noise);
    return status;
}

static VfStatus print_head(const VitfoldModel *a, const VitfoldModel *b, VfText *text)
{
    vf_text_string(text, "--- ");
    vf_text_visible(text, vf_bytes(a->path));
    vf_text_string(text, "\n+++ ");
    vf_text_visible(text, vf_bytes(b->path));
    vf_text_char(text, '\n');
    return VF_OK;
}

static VfStatus render_lines(const void *self, VfHtml *html, VfErr *err)
{
    (void)err;
    vf_html_open(html, "pre", "class", "lines", "tabindex", "0", NULL);
    vf_html_bytes(html, *(const VfBytes *)self);
    vf_html_close_line(html);
    return VF_OK;
}

/* `moved`: what the text tells of tensors, or nothing. */
static VfStatus make_page(const VitfoldModel *a, const VitfoldModel *b, const VfDiff *diff,
                          VfBytes moved, VitfoldReport *report, VfErr *err)
{
    VfPage *page;
    VF_TRY(vf_page_new(report->arena, "What differs", &page, err));
    page->from = vf_bytes(a->path);
    page->to = vf_bytes(b->path);
    VF_TRY(vf_page_add_file_map(page, "Before", a, err));
    VF_TRY(vf_page_add_file_map(page, "After", b, err));
    VF_TRY(vf_page_add_diff(page, diff, err));
    if (moved.size > 0)
        VF_TRY(vf_page_add_section(page, (VfPageSection){
            .id = "moved", .title = "How far tensors moved", .render = render_lines,
            .self = &moved}, err));
    return vf_page_render(page, &report->html, err);
}

static VfStatus find(const VitfoldModel *a, const VitfoldModel *b,
                     const VitfoldDiffOptions *options, VitfoldReport *report, VfErr *err)
{
    VfDiff *diff;
    VfDiffStyle style = {.context = (int32_t)options->context, .is_stat = options->stat != 0,
                         .is_full = options->full != 0, .has_color = options->color != 0};
    vf_json_string(&report->json, "a", a->path);
    vf_json_string(&report->json, "b", b->path);
    VF_TRY(vf_diff_models(report->arena, a->ir, b->ir, &diff, err));
    bool is_equal = vf_diff_is_empty(diff);
    if (!is_equal)
        VF_TRY(print_head(a, b, &report->out));
    VF_TRY(vf_diff_text(diff, &style, &report->out, err));
    VF_TRY(vf_diff_json(diff, &report->json, err));
    size_t told = report->out.size;
    if (options->in == NULL)
        vf_json_null(&report->json, "moved");
    else
        VF_TRY(measure(a, b, options, diff, report, err));
    VfBytes moved = {report->out.data == NULL ? "" : report->out.data + told,
                     report->out.size - told};
    if (options->html)
        VF_TRY(make_page(a, b, diff, moved, report, err));
    VF_TRY(vf_labels_check(a->ir->labels, err));
    VF_TRY(vf_labels_check(b->ir->labels, err));
    return is_equal ? VF_OK : vf_fail(err, VF_DIFFERS, "the models differ");
}

int vitfold_diff(const VitfoldModel *a, const VitfoldModel *b, const VitfoldDiffOptions *options,
                 VitfoldReport **result, VitfoldError *err)
{
    static const VitfoldDiffOptions defaults = {.context = 1};
    VitfoldReport *report;
    VfStatus status = vf_report_begin("vitfold.diff.1", &report, err);
    if (status != VF_OK)
        return (int)status;
    status = find(a, b, options == NULL ? &defaults : options, report, err);
    return (int)vf_report_finish(report, status, result, err);
}
