/* Boxes of images. How many NonMaxSuppression takes depends on what they are, so for it they are
 * known when the plan is made.
 */
#include "converter/lower/ops.h"

#include <stdlib.h>
#include <string.h>

#include "passes/ir/attr.h"
#include "runtime/kernels/roi_align.h"

static const int64_t MOST_PAIRS = INT64_C(1) << 31; /* of boxes that are compared: some seconds */

typedef struct Box {
    float low[2], high[2]; /* of both axes */
} Box;

typedef struct Candidate {
    float score;
    int64_t at; /* box of the image */
} Candidate;

typedef struct Place {
    int64_t image, class, box;
} Place;

/* NonMaxSuppression of one model's boxes. */
typedef struct Suppression {
    VfLower *cx;
    const VfTensor *scores; /* images x classes x boxes */
    int64_t n_box, n_class;
    const Box *box;         /* of all images, those of the present one first */
    Candidate *candidate;   /* of a class; those that are taken first */
    int64_t most;           /* boxes taken of a class */
    float iou, score;       /* thresholds */
    bool has_score;
    int64_t n_pair;
    Place *place;
    size_t n_place, cap_place;
} Suppression;

/* The element of an operand that may be left out or empty. */
static VfStatus option_of(VfLower *cx, const VfLowCall *call, int32_t slot, double *value,
                          bool *is_there, VfErr *err)
{
    int32_t n = 0;
    const double *list = NULL;
    if (vf_low_in(call, slot) != NULL)
        VF_TRY(vf_low_numbers(cx, call, call->in[slot], &list, &n, err));
    if (n > 1)
        return vf_fail(err, VF_INVALID, "node '%s': operand %d has %d elements",
                       vf_node_label(call->node), slot, n);
    *is_there = n == 1;
    *value = n == 1 ? list[0] : 0;
    return VF_OK;
}

static VfStatus read_options(const VfLowCall *call, Suppression *s, VfErr *err)
{
    double most, iou, score;
    bool is_there;
    VF_TRY(option_of(s->cx, call, 2, &most, &is_there, err));
    VF_TRY(option_of(s->cx, call, 3, &iou, &is_there, err));
    VF_TRY(option_of(s->cx, call, 4, &score, &s->has_score, err));
    if (!(iou >= 0 && iou <= 1))
        return vf_fail(err, VF_INVALID, "node '%s': an iou_threshold of %g",
                       vf_node_label(call->node), iou);
    s->most = most < 0 ? 0 : most < (double)s->n_box ? (int64_t)most : s->n_box;
    s->iou = (float)iou;
    s->score = (float)score;
    return VF_OK;
}

/* Two corners in any order, or a middle and lengths. */
static VfStatus read_boxes(const VfLowCall *call, const VfTensor *boxes, Suppression *s, VfErr *err)
{
    int64_t form = vf_node_int(call->node, "center_point_box");
    bool is_middle = form == 1;
    size_t n = boxes->count / 4;
    Box *list = VF_NEW_ARRAY(s->cx->arena, Box, n + 1);
    VF_TRY_ALLOC(list, err);
    if (form != 0 && form != 1)
        return vf_low_refuse(err, "center_point_box %lld", (long long)form);
    for (size_t i = 0; i < 2 * n; i++) {
        size_t at = i / 2 * 4 + i % 2;
        float a = (float)vf_tensor_get_double(boxes, at);
        float b = (float)vf_tensor_get_double(boxes, at + 2);
        list[i / 2].low[i % 2] = is_middle ? a - b / 2 : a < b ? a : b;
        list[i / 2].high[i % 2] = is_middle ? a + b / 2 : a < b ? b : a;
    }
    s->box = list;
    return VF_OK;
}

static float area_of(const Box *box)
{
    return (box->high[0] - box->low[0]) * (box->high[1] - box->low[1]);
}

/* Is what both have in common more than the threshold, of what they cover together? */
static bool overlaps(const Box *a, const Box *b, float threshold)
{
    Box both;
    for (int i = 0; i < 2; i++) {
        both.low[i] = a->low[i] > b->low[i] ? a->low[i] : b->low[i];
        both.high[i] = a->high[i] < b->high[i] ? a->high[i] : b->high[i];
        if (both.high[i] <= both.low[i])
            return false;
    }
    float common = area_of(&both), area_a = area_of(a), area_b = area_of(b);
    float all = area_a + area_b - common;
    return common > 0 && area_a > 0 && area_b > 0 && all > 0 && common / all > threshold;
}

/* Best score first, of equal ones the first box; what is no number last. */
static int by_score(const void *left, const void *right)
{
    const Candidate *a = left, *b = right;
    int a_first = a->score > b->score || (a->score == a->score && b->score != b->score);
    int b_first = b->score > a->score || (b->score == b->score && a->score != a->score);
    return a_first || b_first ? b_first - a_first : (a->at > b->at) - (a->at < b->at);
}

static int64_t find_candidates(Suppression *s, int64_t image, int64_t class)
{
    int64_t n = 0, first = (image * s->n_class + class) * s->n_box;
    for (int64_t i = 0; i < s->n_box; i++) {
        float score = (float)vf_tensor_get_double(s->scores, (size_t)(first + i));
        if (!s->has_score || score > s->score)
            s->candidate[n++] = (Candidate){score, i};
    }
    qsort(s->candidate, (size_t)n, sizeof *s->candidate, by_score);
    return n;
}

static VfStatus suppress(Suppression *s, int64_t image, int64_t class, VfErr *err)
{
    int64_t n = find_candidates(s, image, class), n_taken = 0;
    for (int64_t i = 0; i < n && n_taken < s->most; i++) {
        int64_t at = s->candidate[i].at, k = 0;
        while (k < n_taken && !overlaps(&s->box[at], &s->box[s->candidate[k].at], s->iou))
            k++;
        s->n_pair += k;
        if (s->n_pair > MOST_PAIRS)
            return vf_low_refuse(err, "more than %lld pairs of boxes", (long long)MOST_PAIRS);
        if (k < n_taken)
            continue;
        s->candidate[n_taken++].at = at;
        VF_TRY(vf_arena_grow(s->cx->arena, (void **)&s->place, &s->cap_place, s->n_place + 1,
                             sizeof *s->place, err));
        s->place[s->n_place++] = (Place){image, class, at};
    }
    return VF_OK;
}

VfStatus vf_lower_non_max_suppression(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfTensor *tensor;
    void *data;
    for (int32_t i = 0; i < 2; i++)
        VF_TRY(vf_low_need_known(call, call->in[i], err));
    Suppression s = {.cx = cx, .scores = call->in[1]->known, .n_box = call->in[1]->dims[2],
                     .n_class = call->in[1]->dims[1]};
    VF_TRY(read_options(call, &s, err));
    VF_TRY(read_boxes(call, call->in[0]->known, &s, err));
    s.candidate = VF_NEW_ARRAY(cx->arena, Candidate, s.scores->count + 1);
    VF_TRY_ALLOC(s.candidate, err);
    for (int64_t i = 0; s.scores->count > 0 && i < call->in[1]->dims[0]; i++) {
        for (int64_t k = 0; k < s.n_class; k++)
            VF_TRY(suppress(&s, i, k, err));
        s.box += s.n_box;
    }
    VF_TRY(vf_tensor_new(cx->arena, VF_I64, 2, (int64_t[2]){(int64_t)s.n_place, 3}, &tensor, &data,
                         err));
    if (s.n_place > 0)
        memcpy(data, s.place, tensor->bytes);
    return vf_low_const(cx, tensor, &call->out[0], err);
}

/* --- RoiAlign --- */

enum { MOST_SAMPLES = 1024 }; /* of a bin along an axis, if the model says how many */

static VfStatus read_roi_align(const VfLowCall *call, VfkRoiAlignParams *p, VfErr *err)
{
    static const char *const mode[] = {"avg", "max", NULL};
    static const char *const coordinates[] = {"output_half_pixel", "half_pixel", NULL};
    int32_t m, c = 0;
    VF_TRY(vf_low_choose(vf_node_string(call->node, "mode"), mode, &m, err));
    if (call->opset >= 16)
        VF_TRY(vf_low_choose(vf_node_string(call->node, "coordinate_transformation_mode"),
                             coordinates, &c, err));
    *p = (VfkRoiAlignParams){.samples = vf_node_int(call->node, "sampling_ratio"), .maximum = m,
                             .half_pixel = c, .scale = vf_node_float(call->node, "spatial_scale")};
    if (p->samples < 0 || p->samples > MOST_SAMPLES)
        return vf_low_refuse(err, "a sampling_ratio of %lld", (long long)p->samples);
    return VF_OK;
}

VfStatus vf_lower_roi_align(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfkRoiAlignParams p;
    VfLowValue *in[3], *out;
    VF_TRY(read_roi_align(call, &p, err));
    for (int32_t i = 0; i < 3; i++)
        VF_TRY(vf_low_dense(cx, call->in[i], &in[i], err));
    VF_TRY(vf_low_result(cx, call, 0, &out, err));
    p.batch = in[0]->dims[0];
    p.channels = in[0]->dims[1];
    for (int32_t i = 0; i < 2; i++) {
        p.in_dim[i] = in[0]->dims[2 + i];
        p.out_dim[i] = out->dims[2 + i];
    }
    VfLowEmit emit = {.op = "roi_align", .dtype = out->dtype, .params = &p, .n_in = 3, .n_out = 1,
                      .in = in, .out = &out,
                      .units = out->count == 0 ? 0 : out->dims[0] * p.out_dim[0],
                      .unit_cost = 20 * (double)(p.channels * p.out_dim[1]),
                      .flops = 40 * (double)out->count};
    return vf_low_emit(cx, &emit, err);
}
