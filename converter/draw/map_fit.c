#include <stdio.h>
#include <string.h>

#include "converter/draw/map_private.h"

static bool is_same_box(const VfDrawBox *a, const VfDrawBox *b)
{
    bool is_same = a->n_line == b->n_line && a->tone == b->tone && a->is_point == b->is_point &&
                   a->is_end == b->is_end;
    for (int32_t i = 0; i < a->n_line && is_same; i++)
        is_same = vf_bytes_is_equal(a->line[i], b->line[i]);
    return is_same;
}

static bool is_same_drawing(const VfDrawing *a, const VfDrawing *b)
{
    if (a->n_box != b->n_box || a->n_arrow != b->n_arrow)
        return false;
    for (int32_t i = 0; i < a->n_box; i++)
        if (!is_same_box(&a->box[i], &b->box[i]))
            return false;
    for (int32_t i = 0; i < a->n_arrow; i++)
        if (a->arrow[i].from != b->arrow[i].from || a->arrow[i].to != b->arrow[i].to)
            return false;
    return true;
}

/* How often the `period` pieces from `at` on are repeated behind themselves, below one heading. */
static int32_t repeats(const VfMapPiece *piece, int32_t n_piece, int32_t at, int32_t period)
{
    int32_t i = at + period;
    while (i < n_piece && piece[i].drawn.heading.size == 0 &&
           is_same_drawing(piece[i].drawn.drawing, piece[i - period].drawn.drawing))
        i++;
    return (i - at) / period;
}

/* A run of alike rows: the first ones with the count. */
static VfStatus note_run(VfMap *map, const VfMapPiece *piece, int32_t at, int32_t period,
                         int32_t times, VfDrawRow *row)
{
    for (int32_t i = 0; i < period; i++) {
        const VfMapPiece *last = &piece[at + (times - 1) * period + i];
        const char *note = vf_arena_printf(map->arena, "%d\xc3\x97, to %s", times,
                                           last->drawn.label.data);
        VF_TRY_ALLOC(note, map->err);
        row[i] = piece[at + i].drawn;
        row[i].note = (VfBytes){note, strlen(note)};
    }
    return VF_OK;
}

static VfStatus fold_runs(VfMap *map, const VfMapPiece *piece, int32_t n_piece,
                          VfDrawSheet *sheet)
{
    enum { PERIOD_MAX = 4 };
    for (int32_t i = 0; i < n_piece;) {
        int32_t period = 1, times = 1;
        for (int32_t k = 1; k <= PERIOD_MAX; k++) {
            int32_t n = repeats(piece, n_piece, i, k);
            if (n > 1 && n * k > times * period) {
                period = k;
                times = n;
            }
        }
        VfDrawRow *row = &sheet->row[sheet->n_row];
        if (times == 1)
            row[0] = piece[i].drawn;
        else
            VF_TRY(note_run(map, piece, i, period, times, row));
        sheet->n_row += times == 1 ? 1 : period;
        i += times * period;
    }
    return VF_OK;
}

static int32_t count_boxes(const VfDrawSheet *sheet)
{
    int64_t n = 0;
    for (int32_t i = 0; i < sheet->n_row; i++)
        n += sheet->row[i].drawing->n_box;
    return n > INT32_MAX ? INT32_MAX : (int32_t)n;
}

/* --- rows as boxes --- */

/* The tone that tells most: attention, then norms, then layers. */
static VfTone strongest(VfTone a, VfTone b)
{
    static const int rank[VF_TONE_COUNT] = {
        [VF_TONE_SOFTMAX] = 9, [VF_TONE_POINTWISE] = 8, [VF_TONE_KERNEL] = 7,
        [VF_TONE_ATTENTION] = 6, [VF_TONE_BATCH] = 5, [VF_TONE_NORM] = 4, [VF_TONE_CONV] = 3,
        [VF_TONE_PRODUCT] = 2, [VF_TONE_PLAIN] = 1,
    };
    return rank[b] > rank[a] ? b : a;
}

static VfStatus count_line(VfMap *map, int32_t n, const char *what, VfBytes *line, int32_t *n_line)
{
    if (n == 0)
        return VF_OK;
    const char *text = vf_arena_printf(map->arena, "%d %s", n, what);
    VF_TRY_ALLOC(text, map->err);
    line[(*n_line)++] = (VfBytes){text, strlen(text)};
    return VF_OK;
}

/* `n` pieces from `at` on as one box. */
static VfStatus add_summary(VfMap *map, const VfMapPiece *piece, int32_t at, int32_t n,
                            VfDrawing *drawing)
{
    VfBytes line[VF_TONE_COUNT + 2];
    int32_t n_line = 1, n_tone[VF_TONE_COUNT] = {0};
    VfDrawBox box = {.line = line, .tone = VF_TONE_PLAIN, .group = -1};
    line[0] = piece[at].drawn.label;
    if (n > 1) {
        const char *to = vf_arena_printf(map->arena, "to %s",
                                         piece[at + n - 1].drawn.label.data);
        VF_TRY_ALLOC(to, map->err);
        line[n_line++] = (VfBytes){to, strlen(to)};
    }
    for (int32_t i = at; i < at + n; i++)
        for (int32_t k = 0; k < piece[i].drawn.drawing->n_box; k++) {
            const VfDrawBox *one = &piece[i].drawn.drawing->box[k];
            if (one->node != NULL && !one->is_point)
                n_tone[one->tone]++;
        }
    for (int tone = VF_TONE_COUNT - 1; tone >= 0; tone--) {
        if (n_tone[tone] > 0)
            box.tone = strongest(box.tone, (VfTone)tone);
        VF_TRY(count_line(map, n_tone[tone], vf_tone_label((VfTone)tone), line, &n_line));
    }
    box.n_line = n_line;
    int32_t number;
    VF_TRY(vf_drawing_add_box(drawing, &box, &number, map->err));
    VfDrawArrow arrow = {.from = number - 1, .to = number};
    return number == 0 ? VF_OK : vf_drawing_add_arrow(drawing, &arrow, map->err);
}

static VfStatus summarize(VfMap *map, const VfMapPiece *piece, int32_t n_piece,
                          VfDrawSheet *sheet)
{
    enum { PER_ROW = 6 };
    int32_t each = (n_piece + VF_MAP_BOX_MAX - 1) / VF_MAP_BOX_MAX;
    int32_t n_box = (n_piece + each - 1) / each;
    sheet->n_row = 0;
    for (int32_t i = 0; i < n_box; i += PER_ROW) {
        VfDrawing *drawing = vf_drawing_new(map->arena, map->ask->title);
        VF_TRY_ALLOC(drawing, map->err);
        drawing->is_sideways = true;
        for (int32_t k = i; k < n_box && k < i + PER_ROW; k++) {
            int32_t at = k * each, n = n_piece - at < each ? n_piece - at : each;
            VF_TRY(add_summary(map, piece, at, n, drawing));
        }
        sheet->row[sheet->n_row++] = (VfDrawRow){
            .heading = {"", 0}, .label = {"", 0}, .note = {"", 0}, .drawing = drawing};
    }
    return VF_OK;
}

VfStatus vf_map_fit(VfMap *map, const VfMapPiece *piece, int32_t n_piece, VfDrawSheet *sheet)
{
    sheet->row = VF_NEW_ARRAY(map->arena, VfDrawRow, (size_t)n_piece);
    VF_TRY_ALLOC(sheet->row, map->err);
    for (int32_t i = 0; i < n_piece; i++)
        sheet->row[sheet->n_row++] = piece[i].drawn;
    if (count_boxes(sheet) <= VF_MAP_BOX_MAX)
        return VF_OK;
    sheet->n_row = 0;
    VF_TRY(fold_runs(map, piece, n_piece, sheet));
    if (count_boxes(sheet) <= VF_MAP_BOX_MAX)
        return VF_OK;
    return summarize(map, piece, n_piece, sheet);
}
