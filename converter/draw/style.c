#include "converter/draw/svg.h"

/* Fill and outline of each tone, light and dark. Words keep a contrast of 7:1 and more on every
 * fill. */
static const struct {
    const char *fill, *line, *dark_fill, *dark_line;
} color[VF_TONE_COUNT] = {
    [VF_TONE_PLAIN] = {"#f5f6f8", "#8a93a0", "#252b33", "#7d8896"},
    [VF_TONE_CONTEXT] = {"#ffffff", "#a9b1bc", "#171b20", "#5c6672"},
    [VF_TONE_REMOVED] = {"#fde4e1", "#b42318", "#46201d", "#f0796c"},
    [VF_TONE_ADDED] = {"#dff5e3", "#1a7f37", "#173a22", "#4ecb71"},
    [VF_TONE_CHANGED] = {"#fff3cc", "#9a6700", "#3f3210", "#e3b341"},
    [VF_TONE_MARKED] = {"#fbdfee", "#b3186d", "#45172f", "#f778ba"},
    [VF_TONE_SITE] = {"#e3e9fd", "#3451b2", "#1f2a52", "#8da4ef"},
    [VF_TONE_SOFTMAX] = {"#ffe3cf", "#b54708", "#48260f", "#f79c58"},
    [VF_TONE_POINTWISE] = {"#d9f0f7", "#0b6e8a", "#11333f", "#56bcd8"},
    [VF_TONE_KERNEL] = {"#dcf3ea", "#0b7a5b", "#123a2f", "#4fcba3"},
    [VF_TONE_ATTENTION] = {"#f1e4d6", "#7c5324", "#3a2b1b", "#c99d6b"},
    [VF_TONE_NORM] = {"#e3e9fd", "#3451b2", "#1f2a52", "#8da4ef"},
    [VF_TONE_BATCH] = {"#eee2fc", "#6f3fb5", "#33214f", "#b794f0"},
    [VF_TONE_PRODUCT] = {"#eceff3", "#4d5866", "#2c343d", "#a4b0be"},
    [VF_TONE_CONV] = {"#f3f2d3", "#66650f", "#33330f", "#c5c35a"},
};

static const char shared_rules[] =
    ".vfd{font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;"
    "max-width:100%;height:auto}\n"
    ".vfd text{fill:var(--vfd-ink);text-anchor:middle;white-space:pre}\n"
    ".vfd .op{font-weight:700}\n"
    ".vfd .box rect{fill:var(--f);stroke:var(--l);stroke-width:1.2}\n"
    ".vfd .arrow path{fill:none;stroke:var(--vfd-arrow);stroke-width:1.2}\n"
    ".vfd .arrow .tip{fill:var(--vfd-arrow)}\n"
    ".vfd .arrow text{font-size:10px;fill:var(--vfd-dim)}\n"
    ".vfd .group rect{fill:var(--vfd-group);stroke:var(--vfd-edge)}\n"
    ".vfd .group text{font-size:10px;fill:var(--vfd-dim)}\n"
    ".vfd .paper{fill:var(--vfd-paper)}\n"
    ".vfd .legend text,.vfd .heading,.vfd .label,.vfd .note{text-anchor:start}\n"
    ".vfd .heading{font-weight:700;font-size:14px}\n"
    ".vfd .label{fill:var(--vfd-dim)}\n"
    ".vfd .note{fill:var(--vfd-dim);font-size:10px}\n"
    ".vfd .tone-context rect{stroke-dasharray:2 2}\n"
    ".vfd .box.tone-context text{fill:var(--vfd-dim)}\n"
    ".vfd .tone-removed rect,.vfd .arrow.tone-removed path{stroke-dasharray:6 3}\n"
    ".vfd .tone-removed rect,.vfd .tone-changed rect{stroke-width:2}\n"
    ".vfd .tone-added rect{stroke-width:2.4}\n"
    ".vfd .tone-marked rect,.vfd .arrow.tone-marked path{stroke-width:3.2}\n";

/* Arrows that have a tone of their own; others are grey. */
static const VfTone arrow_tone[] = {VF_TONE_REMOVED, VF_TONE_ADDED, VF_TONE_CHANGED,
                                    VF_TONE_MARKED};

static void put_light(VfText *text)
{
    vf_text_string(text, "--vfd-ink:#14181d;--vfd-dim:#4a5462;--vfd-arrow:#6a7480;"
                         "--vfd-paper:#fff;--vfd-group:#00000008;--vfd-edge:#c9cfd7");
    for (int i = 0; i < VF_TONE_COUNT; i++)
        vf_text_printf(text, ";--f%d:%s;--l%d:%s", i, color[i].fill, i, color[i].line);
}

static void put_dark(VfText *text)
{
    vf_text_string(text, "--vfd-ink:#eef1f4;--vfd-dim:#b3bdc9;--vfd-arrow:#93a0ae;"
                         "--vfd-paper:#14181d;--vfd-group:#ffffff0a;--vfd-edge:#3b444f");
    for (int i = 0; i < VF_TONE_COUNT; i++)
        vf_text_printf(text, ";--f%d:%s;--l%d:%s", i, color[i].dark_fill, i, color[i].dark_line);
}

void vf_drawing_style(VfText *text)
{
    vf_text_string(text, ".vfd{");
    put_light(text);
    vf_text_string(text, "}\n@media screen and (prefers-color-scheme:dark){"
                         ":root:not([data-theme=light]) .vfd,:root.vfd{");
    put_dark(text);
    vf_text_string(text, "}}\n@media screen{[data-theme=dark] .vfd{");
    put_dark(text);
    vf_text_string(text, "}}\n");
    vf_text_string(text, shared_rules);
    for (int i = 0; i < VF_TONE_COUNT; i++)
        vf_text_printf(text, ".vfd .tone-%s{--f:var(--f%d);--l:var(--l%d)}\n",
                       vf_tone_name((VfTone)i), i, i);
    for (size_t i = 0; i < sizeof arrow_tone / sizeof arrow_tone[0]; i++) {
        const char *name = vf_tone_name(arrow_tone[i]);
        vf_text_printf(text, ".vfd .arrow.tone-%s path{stroke:var(--l)}\n"
                             ".vfd .arrow.tone-%s .tip{fill:var(--l)}\n", name, name);
    }
}
