#include "converter/report/bar_plot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "converter/report/svg.h"

/* All in pixels; LABEL_BYTES in bytes of about seven pixels. */
enum { WIDTH = 720, LEFT = 290, PLOT_WIDTH = 340, TOP = 40, STEP = 22, BAR_HEIGHT = 14,
       LABEL_BYTES = 38 };

/* The end of a label says more than its beginning: the path of a node. */
static void put_label(const char *label, double y, VfText *text)
{
    char cut[LABEL_BYTES + 1];
    size_t n = strlen(label);
    if (n <= LABEL_BYTES) {
        vf_svg_words(text, LEFT - 8, y, "end", label);
        return;
    }
    snprintf(cut, sizeof cut, "...%s", label + n - (LABEL_BYTES - 3));
    vf_svg_words(text, LEFT - 8, y, "end", cut);
}

static void find_range(const VfBar *bar, int32_t n, double *low, double *high)
{
    *low = *high = 0;
    for (int32_t i = 0; i < n; i++) {
        if (!isfinite(bar[i].value))
            continue;
        *low = fmin(*low, bar[i].value);
        *high = fmax(*high, bar[i].value);
    }
    if (*high <= *low)
        *high = *low + 1;
}

void vf_bars_svg(const char *title, const VfBar *bar, int32_t n, VfText *text)
{
    double low, high;
    int32_t height = TOP + n * STEP + 16;
    find_range(bar, n, &low, &high);
    double zero = LEFT + PLOT_WIDTH * -low / (high - low);
    vf_text_printf(text, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                         "viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"12\">\n"
                         "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n",
                   WIDTH, height, WIDTH, height, WIDTH, height);
    vf_svg_words(text, 16, 20, "start", title);
    for (int32_t i = 0; i < n; i++) {
        double value = isfinite(bar[i].value) ? bar[i].value : high;
        double end = LEFT + PLOT_WIDTH * (value - low) / (high - low);
        double top = TOP + i * STEP;
        char words[40];
        snprintf(words, sizeof words, "%.3g", bar[i].value);
        put_label(bar[i].label, top + BAR_HEIGHT - 3, text);
        vf_text_printf(text, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%d\" "
                             "fill=\"%s\"/>\n",
                       fmin(zero, end), top, fabs(end - zero), BAR_HEIGHT,
                       value < 0 ? "#1b5e9e" : "#c2410c");
        vf_svg_words(text, fmax(zero, end) + 6, top + BAR_HEIGHT - 3, "start", words);
    }
    vf_text_printf(text, "<path d=\"M%.2f %dV%d\" stroke=\"#999\"/>\n</svg>\n", zero, TOP - 6,
                   TOP + n * STEP);
}

void vf_bar_text(double value, double most, int width, VfText *text)
{
    if (!(value > 0))
        return;
    double length = isfinite(value) ? width * value / most : width;
    vf_text_repeat(text, '#', length < 1 ? 1 : length > width ? (size_t)width
                                                                : (size_t)lround(length));
}
