/* The grid of tokens that the convolution runs over: given, found by the matcher, or that of a
 * window. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "passes/grid_option.h"
#include "passes/linear/linear.h"
#include "passes/match/axis.h"
#include "runtime/base/text.h"

/* The two token factors of an axis, as windows have them. */
static bool grid_of_axis(const VfAxis *axis, int64_t *h, int64_t *w)
{
    if (axis == NULL || axis->n != 2)
        return false;
    const VfFactor *f = axis->factor;
    *h = f[0].dim.k;
    *w = f[1].dim.k;
    return f[0].role == VF_ROLE_TOKEN && f[1].role == VF_ROLE_TOKEN && vf_dim_is_known(f[0].dim) &&
           vf_dim_is_known(f[1].dim);
}

static bool grid_of_window(const VfLinearSite *work, int64_t n, int64_t *h, int64_t *w)
{
    VfAxes *axes = NULL;
    const VfLettered *q = &work->q;
    VfErr err = {0};
    if (vf_axes_new(work->cx->arena, work->cx->model, &axes, &err) != VF_OK)
        return false;
    for (int32_t a = 0; a < q->rank; a++) {
        if (q->letter[a] == work->query && grid_of_axis(vf_axis_get(axes, q->value, a), h, w) &&
            *h * *w == n)
            return true;
    }
    *h = *w = (int64_t)llround(sqrt((double)n));
    return (work->site->is_window || n == 1) && *h * *w == n;
}

/* How many keys stand before the grid, when each key stands for `stride` x `stride` queries. */
static bool fit_keys(VfTokenGrid *grid, int64_t n_k, int64_t stride)
{
    if (grid->h % stride != 0 || grid->w % stride != 0)
        return false;
    int64_t n = grid->h / stride * (grid->w / stride);
    int64_t outside = n_k - n, all = grid->prefix + grid->suffix;
    if (outside != 0 && outside != all)
        return false;
    grid->stride = stride;
    grid->key_prefix = outside == 0 ? 0 : grid->prefix;
    grid->key_suffix = outside == 0 ? 0 : grid->suffix;
    return true;
}

static const char *text_of(const VfLinearSite *work, const char *format, int64_t a, int64_t b)
{
    VfText text;
    VfBytes out = {NULL, 0};
    vf_text_init(&text, work->cx->arena);
    vf_text_printf(&text, format, (long long)a, (long long)b);
    return vf_text_get(&text, &out, NULL) == VF_OK ? out.data : "the token grid is not known";
}

static const char *fit(VfLinearSite *work, int64_t n_q, int64_t n_k)
{
    VfTokenGrid *grid = &work->grid;
    if (n_q < n_k)
        return text_of(work,
                       "%lld queries over %lld keys give a convolution of V no place for every "
                       "key: use dwc=off",
                       n_q, n_k);
    grid->suffix = n_q - grid->prefix - grid->h * grid->w;
    if (grid->suffix < 0)
        return text_of(work,
                       "%lld queries are fewer than the prefix and the token grid of %lld: give "
                       "grid=HxW or dwc=off",
                       n_q, grid->h * grid->w);
    for (int64_t stride = 1; stride <= grid->h && stride <= grid->w; stride++) {
        if (fit_keys(grid, n_k, stride))
            return NULL;
    }
    return text_of(work,
                   "%lld keys are not a reduced grid of the %lld queries: use dwc=off",
                   n_k, n_q);
}

/* The matcher's grid may be that of the keys: then the queries' is larger by whole steps. */
static void take_found(VfLinearSite *work, int64_t n_q, int64_t n_k)
{
    const VfAttention *site = work->site;
    VfTokenGrid *grid = &work->grid;
    grid->h = site->grid_h.k;
    grid->w = site->grid_w.k;
    grid->prefix = vf_dim_is_known(site->prefix) ? site->prefix.k : 0;
    for (int64_t s = 2; n_q > n_k && s * s * n_k <= n_q; s++) {
        if (grid->h * grid->w == n_k && s * s * n_k == n_q) {
            grid->h *= s;
            grid->w *= s;
            return;
        }
    }
}

const char *vf_linear_find_grid(VfLinearSite *work)
{
    const VfAttention *site = work->site;
    VfTokenGrid *grid = &work->grid;
    bool is_given = strcmp(work->options->grid, "auto") != 0;
    bool is_found = vf_dim_is_known(site->grid_h) && vf_dim_is_known(site->grid_w);
    if (!vf_dim_is_known(work->n_q) || !vf_dim_is_known(work->n_k) || !vf_dim_is_known(work->d_v))
        return "the number of tokens depends on the input, and the convolution needs a "
               "fixed grid: use dwc=off";
    int64_t n_q = work->n_q.k, n_k = work->n_k.k;
    if (site->is_cross && n_q == n_k && !is_given)
        return "queries and keys are different tokens, so V lies on another grid: "
               "use dwc=off";
    if (is_found)
        take_found(work, n_q, n_k);
    if (is_given) {
        (void)vf_grid_option(work->options->grid, &grid->h, &grid->w);
        if (!is_found)
            grid->prefix = n_q - grid->h * grid->w;
    } else if (!is_found && !grid_of_window(work, n_q, &grid->h, &grid->w)) {
        return "the token grid is not known: give grid=HxW or dwc=off";
    }
    (void)vf_prefix_option(work->options->prefix, &grid->prefix);
    if (grid->prefix < 0)
        return text_of(work, "%lld queries are fewer than the grid of %lld given", n_q,
                       grid->h * grid->w);
    return fit(work, n_q, n_k);
}
