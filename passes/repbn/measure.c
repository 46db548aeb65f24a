/* Moments of both sides of norms on calibration data, batch by batch. */
#include <string.h>

#include "passes/repbn/repbn.h"

/* Norms whose values are kept at once: memory of a run is in proportion to it. */
enum { GROUP = 8 };

static double number(const VfTensor *t, size_t i)
{
    float f;
    if (t->dtype != VF_F32)
        return vf_tensor_get_double(t, i);
    memcpy(&f, (const char *)t->data + i * sizeof f, sizeof f);
    return (double)f;
}

/* Sums over one batch. */
typedef struct Batch {
    const VfTensor *x, *y;
    size_t outer, channels, inner;
    double *x_sum, *y_sum, *xx, *yy, *xy; /* of a channel; the last three are centred */
} Batch;

static void add_sums(const Batch *b)
{
    size_t at = 0;
    for (size_t o = 0; o < b->outer; o++)
        for (size_t c = 0; c < b->channels; c++)
            for (size_t i = 0; i < b->inner; i++, at++) {
                b->x_sum[c] += number(b->x, at);
                b->y_sum[c] += number(b->y, at);
            }
}

static void add_products(const Batch *b, double n)
{
    size_t at = 0;
    for (size_t o = 0; o < b->outer; o++)
        for (size_t c = 0; c < b->channels; c++)
            for (size_t i = 0; i < b->inner; i++, at++) {
                double x = number(b->x, at) - b->x_sum[c] / n;
                double y = number(b->y, at) - b->y_sum[c] / n;
                b->xx[c] += x * x;
                b->yy[c] += y * y;
                b->xy[c] += x * y;
            }
}

/* Put the batch to what was seen before: the parallel form of Welford's sums. */
static void merge(const Batch *b, double n, VfRepBnMoments *m)
{
    double before = (double)m->n, all = before + n;
    for (size_t c = 0; c < b->channels; c++) {
        double dx = b->x_sum[c] / n - m->x_mean[c], dy = b->y_sum[c] / n - m->y_mean[c];
        m->x_var[c] = (m->x_var[c] * before + b->xx[c] + dx * dx * before * n / all) / all;
        m->y_var[c] = (m->y_var[c] * before + b->yy[c] + dy * dy * before * n / all) / all;
        m->cov[c] = (m->cov[c] * before + b->xy[c] + dx * dy * before * n / all) / all;
        m->x_mean[c] += dx * n / all;
        m->y_mean[c] += dy * n / all;
    }
    m->n += (int64_t)n;
}

static bool have_same_dims(const VfTensor *x, const VfTensor *y)
{
    bool is_same = x->rank == y->rank;
    for (int32_t i = 0; is_same && i < x->rank; i++)
        is_same = x->dims[i] == y->dims[i];
    return is_same;
}

VfStatus vf_repbn_add_batch(VfArena *arena, const VfTensor *x, const VfTensor *y, int32_t axis,
                            VfRepBnMoments *moments, VfErr *err)
{
    enum { N_SUM = 5 };
    if (!have_same_dims(x, y) || axis >= x->rank || x->count == 0)
        return vf_fail(err, VF_UNSUPPORTED, "what a norm gives has other sizes than what it reads");
    Batch b = {x, y, .outer = 1, .channels = (size_t)x->dims[axis], .inner = 1};
    for (int32_t i = 0; i < x->rank; i++) {
        if (i < axis)
            b.outer *= (size_t)x->dims[i];
        if (i > axis)
            b.inner *= (size_t)x->dims[i];
    }
    double *sums = VF_NEW_ARRAY(arena, double, N_SUM * b.channels);
    VF_TRY_ALLOC(sums, err);
    double **part[N_SUM] = {&b.x_sum, &b.y_sum, &b.xx, &b.yy, &b.xy};
    for (int i = 0; i < N_SUM; i++)
        *part[i] = sums + (size_t)i * b.channels;
    double n = (double)(b.outer * b.inner);
    add_sums(&b);
    add_products(&b, n);
    merge(&b, n, moments);
    return VF_OK;
}

/* --- sites --- */

typedef struct Group {
    VfArena *scratch;
    int32_t n;
    VfRepBnSite *site;
} Group;

static VfStatus visit(void *user, const VfTensor *const *tensor, VfErr *err)
{
    Group *group = user;
    for (int32_t i = 0; i < group->n; i++) {
        VfRepBnSite *site = &group->site[i];
        const VfTensor *x = tensor[2 * i], *y = tensor[2 * i + 1];
        int32_t axis = site->norm->axis[0];
        if (axis >= x->rank || x->dims[axis] != site->channels)
            return vf_fail(err, VF_INTERNAL, "'%s' has other channels on data", site->norm->label);
        vf_arena_reset(group->scratch);
        VF_TRY(vf_repbn_add_batch(group->scratch, x, y, axis, &site->moments, err));
    }
    return VF_OK;
}

static VfStatus make_room(VfArena *arena, VfRepBnSite *site, VfErr *err)
{
    VfRepBnMoments *m = &site->moments;
    double **part[] = {&m->x_mean, &m->y_mean, &m->x_var, &m->y_var, &m->cov};
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        *part[i] = VF_NEW_ARRAY(arena, double, (size_t)site->channels);
        VF_TRY_ALLOC(*part[i], err);
    }
    m->n = 0;
    return VF_OK;
}

VfStatus vf_repbn_measure(VfPassCx *cx, int32_t n, VfRepBnSite *site, VfErr *err)
{
    VfStatus status = VF_OK;
    for (int32_t i = 0; i < n; i++)
        VF_TRY(make_room(cx->arena, &site[i], err));
    VfArena *scratch = vf_arena_new();
    VF_TRY_ALLOC(scratch, err);
    for (int32_t first = 0; first < n && status == VF_OK; first += GROUP) {
        VfValue *value[2 * GROUP];
        Group group = {scratch, n - first < GROUP ? n - first : GROUP, site + first};
        for (int32_t i = 0; i < group.n; i++) {
            value[2 * i] = group.site[i].norm->x;
            value[2 * i + 1] = group.site[i].norm->y;
        }
        status = cx->calibration->measure(cx->calibration, cx->model, 2 * group.n, value, visit,
                                          &group, err);
    }
    vf_arena_free(scratch);
    return status;
}
