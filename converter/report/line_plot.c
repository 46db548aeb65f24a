#include "converter/report/line_plot.h"

#include <math.h>
#include <stdio.h>

#include "converter/report/svg.h"

/* All in pixels. */
enum { WIDTH = 720, LEFT = 64, PLOT_WIDTH = 620, PANEL_HEIGHT = 200, PANEL_STEP = 260, TOP = 40,
       LEGEND_STEP = 18 };

static const char *const color_table[] = {"#1b5e9e", "#c2410c", "#3f7d20", "#7b3294", "#8a6d00",
                                          "#4d4d4d"};
enum { COLOR_COUNT = sizeof color_table / sizeof color_table[0] };

static const char *color_of(int32_t color)
{
    return color_table[(color < 0 ? 0 : color) % COLOR_COUNT];
}

static int32_t longest(const VfPlotPanel *panel)
{
    int32_t n = 1;
    for (int32_t i = 0; i < panel->n_line; i++)
        n = panel->line[i].n > n ? panel->line[i].n : n;
    return n;
}

static double x_at(int32_t i, int32_t n)
{
    return n < 2 ? LEFT + PLOT_WIDTH / 2.0 : LEFT + PLOT_WIDTH * (double)i / (n - 1);
}

static double scaled(const VfPlotPanel *panel, double y)
{
    return panel->is_log ? log10(y) : y;
}

static double y_at(const VfPlotPanel *panel, double top, double y)
{
    double low = scaled(panel, panel->low), high = scaled(panel, panel->high);
    double share = (scaled(panel, y) - low) / (high - low);
    return top + PANEL_HEIGHT * (1 - fmax(0, fmin(1, share)));
}

static void put_step(const VfPlotPanel *panel, double top, double value, VfText *text)
{
    double y = y_at(panel, top, value);
    char label[40];
    snprintf(label, sizeof label, panel->is_log ? "%.0e" : "%.4g", value);
    vf_text_printf(text, "<path d=\"M%d %.2fH%d\" stroke=\"#e3e3e3\"/>\n", LEFT, y,
                   LEFT + PLOT_WIDTH);
    vf_svg_words(text, LEFT - 6, y + 4, "end", label);
}

/* Four steps of a plain axis; of decades at most eight, all whole. */
static void put_steps(const VfPlotPanel *panel, double top, VfText *text)
{
    enum { STEPS = 4, MOST_DECADES = 8 };
    if (!panel->is_log) {
        for (int i = 0; i <= STEPS; i++)
            put_step(panel, top, panel->low + (panel->high - panel->low) * i / STEPS, text);
        return;
    }
    int low = (int)lround(log10(panel->low)), high = (int)lround(log10(panel->high));
    int step = 1 + (high - low - 1) / MOST_DECADES;
    for (int decade = low; decade <= high; decade += step)
        put_step(panel, top, pow(10, decade), text);
}

/* Frame, steps of the y axis, at most twelve of the x axis. */
static void put_axes(const VfPlotPanel *panel, double top, int32_t n, VfText *text)
{
    enum { MOST_TICKS = 12 };
    vf_text_printf(text, "<rect x=\"%d\" y=\"%.2f\" width=\"%d\" height=\"%d\" fill=\"none\" "
                         "stroke=\"#999\"/>\n", LEFT, top, PLOT_WIDTH, PANEL_HEIGHT);
    vf_svg_words(text, LEFT, top - 8, "start", panel->title);
    put_steps(panel, top, text);
    int32_t step = 1 + (n - 1) / MOST_TICKS;
    for (int32_t i = 0; i < n; i += step) {
        char label[16];
        snprintf(label, sizeof label, "%d", i);
        vf_svg_words(text, x_at(i, n), top + PANEL_HEIGHT + 16, "middle", label);
    }
}

static void put_line(const VfPlotPanel *panel, const VfPlotLine *line, double top, int32_t n,
                     VfText *text)
{
    bool is_down = false;
    vf_text_string(text, "<path d=\"");
    for (int32_t i = 0; i < line->n; i++) {
        if (!isfinite(scaled(panel, line->y[i]))) {
            is_down = false;
            continue;
        }
        vf_text_printf(text, "%c%.2f %.2f", is_down ? 'L' : 'M', x_at(i, n),
                       y_at(panel, top, line->y[i]));
        if (!is_down)
            vf_text_string(text, "h0"); /* a point alone is seen too: caps are round */
        is_down = true;
    }
    vf_text_printf(text, "\" fill=\"none\" stroke=\"%s\" stroke-width=\"2.5\" "
                         "stroke-linecap=\"round\"%s/>\n",
                   color_of(line->color), line->is_dashed ? " stroke-dasharray=\"2 6\"" : "");
}

static void put_legend(const VfPlotPanel *panel, double top, VfText *text)
{
    int32_t n = 0;
    for (int32_t i = 0; i < panel->n_line; i++) {
        const VfPlotLine *line = &panel->line[i];
        double y = top + n * LEGEND_STEP;
        if (line->label == NULL)
            continue;
        vf_text_printf(text, "<path d=\"M%d %.2fh28\" stroke=\"%s\" stroke-width=\"2.5\"%s/>\n",
                       LEFT, y - 4, color_of(line->color),
                       line->is_dashed ? " stroke-dasharray=\"2 6\"" : "");
        vf_svg_words(text, LEFT + 36, y, "start", line->label);
        n++;
    }
}

void vf_plot_svg(const VfPlotPanel *panel, int32_t n_panel, const char *x_label, VfText *text)
{
    int32_t n_label = 0;
    for (int32_t i = 0; n_panel > 0 && i < panel[0].n_line; i++)
        n_label += panel[0].line[i].label != NULL;
    int32_t legend = TOP + n_panel * PANEL_STEP, height = legend + n_label * LEGEND_STEP + 12;
    vf_text_printf(text, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                         "viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"12\">\n"
                         "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n",
                   WIDTH, height, WIDTH, height, WIDTH, height);
    for (int32_t i = 0; i < n_panel; i++) {
        double top = TOP + i * PANEL_STEP;
        int32_t n = longest(&panel[i]);
        put_axes(&panel[i], top, n, text);
        for (int32_t k = 0; k < panel[i].n_line; k++)
            put_line(&panel[i], &panel[i].line[k], top, n, text);
    }
    vf_svg_words(text, LEFT + PLOT_WIDTH / 2.0, legend - 20, "middle", x_label);
    if (n_panel > 0)
        put_legend(&panel[0], legend + 12, text);
    vf_text_string(text, "</svg>\n");
}
