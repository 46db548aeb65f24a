/* A panel of floats in registers, sixteen lanes whatever the width of vectors. Internal to
 * runtime/kernels.
 *
 * Sums of a row run in the lanes and are merged in a tree at its end, so they are the same in
 * every instruction set; where VFK_FMA is defined multiply-adds are fused. Rows are whole panels
 * long.
 */
#ifndef VFK_PANEL_H
#define VFK_PANEL_H

#include "runtime/kernels/tile.h"

enum { PANEL_PARTS = PANEL_f32 / LANES_f32 };
typedef struct Panel {
    Vector_f32 part[PANEL_PARTS];
} Panel;

static inline Panel panel_load(const float *from)
{
    Panel x;
    memcpy(&x, from, sizeof x);
    return x;
}

/* Lanes that are merged. */
typedef float PanelHalf __attribute__((vector_size(32)));
typedef float PanelQuarter __attribute__((vector_size(16)));

static inline float panel_sum(const Panel *x)
{
    PanelHalf half[2];
    memcpy(half, x, sizeof half);
    half[0] += half[1];
    PanelQuarter quarter[2];
    memcpy(quarter, half, sizeof quarter);
    quarter[0] += quarter[1];
    return (quarter[0][0] + quarter[0][2]) + (quarter[0][1] + quarter[0][3]);
}

static inline float panel_row_sum(const float *x, int64_t n)
{
    Panel sum = {{{0.0f}}};
    for (int64_t j = 0; j < n; j += PANEL_f32) {
        const Panel a = panel_load(x + j);
        for (int i = 0; i < PANEL_PARTS; i++) {
            sum.part[i] += a.part[i];
        }
    }
    return panel_sum(&sum);
}

static inline float panel_row_product(const float *x, const float *y, int64_t n)
{
    Panel sum = {{{0.0f}}};
    for (int64_t j = 0; j < n; j += PANEL_f32) {
        const Panel a = panel_load(x + j), b = panel_load(y + j);
        for (int i = 0; i < PANEL_PARTS; i++) {
            sum.part[i] = VFK_MADD_f32(a.part[i], b.part[i], sum.part[i]);
        }
    }
    return panel_sum(&sum);
}

#endif
