/* The numeric effect as a section of a page. */
#include "converter/api/effect.h"
#include "converter/report/html/render.h"

typedef struct Section {
    const VfEffect *effect;
    VfPageTable output, block;
    VfBytes svg; /* empty: nothing to plot */
} Section;

static void say(VfHtml *html, const char *words)
{
    vf_html_open(html, "p", NULL);
    vf_html_string(html, words);
    vf_html_close_line(html);
}

static VfStatus render(const void *self, VfHtml *html, VfErr *err)
{
    const Section *section = self;
    (void)err;
    if (section->effect->n_stage == 0) {
        say(html, "Nothing moved: no pass made an edit.");
        return VF_OK;
    }
    say(html, "Measured on the data given, against the original. The noise is the distance of the "
              "original from itself with sums in another order.");
    vf_page_render_table(html, &section->output);
    if (section->svg.size > 0)
        vf_page_render_figure(html, "plot", vf_bytes("Along the depth"), section->svg);
    if (section->effect->n_block == 0)
        return VF_OK;
    vf_html_open(html, "details", NULL);
    vf_html_open(html, "summary", NULL);
    vf_html_printf(html, "%d ends of blocks", section->effect->n_block);
    vf_html_close(html);
    vf_page_render_table(html, &section->block);
    vf_html_close_line(html);
    return VF_OK;
}

static VfStatus fill(Section *section, VfArena *arena, VfErr *err)
{
    VfTable table;
    const VfEffect *effect = section->effect;
    vf_effect_outputs(effect, arena, &table);
    VF_TRY(vf_page_table_from(&section->output, &table, err));
    section->output.caption = "Outputs after each pass that edited";
    vf_effect_blocks(effect, arena, &table);
    VF_TRY(vf_page_table_from(&section->block, &table, err));
    section->block.caption = effect->has_residuals
                                 ? "|new \xe2\x88\x92 old| / |old| at the residual adds"
                                 : "|new \xe2\x88\x92 old| / |old| at the layers";
    section->block.is_searchable = true;
    return vf_effect_svg(effect, arena, &section->svg, err);
}

VfStatus vf_effect_section(const VfEffect *effect, VfPage *page, VfErr *err)
{
    if (effect == NULL)
        return VF_OK;
    Section *section = VF_NEW(page->arena, Section);
    VF_TRY_ALLOC(section, err);
    section->effect = effect;
    if (effect->n_stage > 0)
        VF_TRY(fill(section, page->arena, err));
    return vf_page_add_section(page, (VfPageSection){.id = "effect", .title = "Numeric effect",
                                                     .render = render, .self = section}, err);
}
