/* First weights of the convolution, and key positions, from the arrays of files. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "passes/linear/linear.h"

enum { NAME_MAX_BYTES = 512 };

static const VfTensor *find(const VfArrayFile *file, const char *name)
{
    for (int32_t i = 0; i < file->n; i++) {
        if (strcmp(file->name[i], name) == 0)
            return file->tensor[i];
    }
    return NULL;
}

/* By label, by number, then for all sites; `name` is what was found. */
static const VfTensor *find_own(const VfArrayFile *file, const VfAttention *site, const char *what,
                                char *name)
{
    const VfTensor *found;
    int n = snprintf(name, NAME_MAX_BYTES, "%s.%s", site->label, what);
    if (n > 0 && n < NAME_MAX_BYTES && (found = find(file, name)) != NULL)
        return found;
    snprintf(name, NAME_MAX_BYTES, "%d.%s", (int)site->index, what);
    if ((found = find(file, name)) != NULL)
        return found;
    snprintf(name, NAME_MAX_BYTES, "%s", what);
    return find(file, name);
}

/* What an array has to be; `option` names its file. */
typedef struct Wanted {
    const char *option, *name;
    int32_t rank;
    const int64_t *dims;
} Wanted;

static VfStatus fail_shape(const VfLinearSite *work, const Wanted *wanted, VfErr *err)
{
    char *dims = vf_arena_printf(work->cx->arena, "%lld", (long long)wanted->dims[0]);
    for (int32_t i = 1; i < wanted->rank && dims != NULL; i++)
        dims = vf_arena_printf(work->cx->arena, "%s, %lld", dims, (long long)wanted->dims[i]);
    VF_TRY_ALLOC(dims, err);
    return vf_fail(err, VF_USAGE,
                   "option '%s': array '%s' is not [%s] of numbers, as attention '%s' needs",
                   wanted->option, wanted->name, dims, work->site->label);
}

/* A copy in the dtype of the site's result. */
static VfStatus take(const VfLinearSite *work, const VfTensor *from, const Wanted *wanted,
                     const VfTensor **to, VfErr *err)
{
    VfDtype dtype = work->site->out->type.dtype;
    VfTensor *tensor;
    void *data;
    bool is_fit = from->rank == wanted->rank && vf_dtype_info(from->dtype)->is_float;
    for (int32_t i = 0; is_fit && i < wanted->rank; i++)
        is_fit = from->dims[i] == wanted->dims[i];
    if (!is_fit)
        return fail_shape(work, wanted, err);
    VF_TRY(vf_tensor_new(work->cx->model->arena, dtype, from->rank, from->dims, &tensor, &data,
                         err));
    for (size_t i = 0; i < tensor->count; i++) {
        vf_tensor_put_double(data, dtype, i, vf_tensor_get_double(from, i));
        if (!isfinite(vf_tensor_get_double(tensor, i)))
            return vf_fail(err, VF_USAGE,
                           "option '%s': array '%s' holds a number that is not finite in %s, "
                           "which attention '%s' works in",
                           wanted->option, wanted->name, vf_dtype_info(dtype)->name,
                           work->site->label);
    }
    *to = tensor;
    return VF_OK;
}

static VfStatus load_site(VfLinearSite *work, const VfArrayFile *file, VfErr *err)
{
    int64_t n = work->options->kernel, dims[] = {work->d_v.k, 1, n, n};
    char name[NAME_MAX_BYTES];
    const VfTensor *found = find_own(file, work->site, "weight", name);
    if (found == NULL) {
        work->why = "no array of dwc-file is named for it, and none is named 'weight'";
        return VF_OK;
    }
    VF_TRY(take(work, found, &(Wanted){"dwc-file", name, 4, dims}, &work->dwc.kernel, err));
    found = find_own(file, work->site, "bias", name);
    return found == NULL
               ? VF_OK
               : take(work, found, &(Wanted){"dwc-file", name, 1, dims}, &work->dwc.bias, err);
}

/* From SLAB's order, tokens before channels of all heads, to that of the table. */
static VfStatus turn_position(VfLinearSite *work, const VfTensor *from, VfErr *err)
{
    const int64_t dims[] = {work->site->heads.k, work->d.k, work->n_k.k};
    size_t n_channel = (size_t)from->dims[2], n_token = (size_t)from->dims[1];
    VfTensor *tensor;
    void *data;
    VF_TRY(vf_tensor_new(work->cx->model->arena, from->dtype, 3, dims, &tensor, &data, err));
    for (size_t c = 0; c < n_channel; c++) {
        for (size_t j = 0; j < n_token; j++)
            vf_tensor_put_double(data, from->dtype, c * n_token + j,
                                 vf_tensor_get_double(from, j * n_channel + c));
    }
    work->position = tensor;
    return VF_OK;
}

static VfStatus load_position(VfLinearSite *work, const VfArrayFile *file, VfErr *err)
{
    int64_t dims[] = {1, work->n_k.k, 0};
    char name[NAME_MAX_BYTES];
    const VfTensor *given, *found = find_own(file, work->site, "position", name);
    if (found == NULL)
        work->why = "no array of position-file is named for it, and none is named 'position'";
    if (__builtin_mul_overflow(work->site->heads.k, work->d.k, &dims[2]))
        work->why = "its heads are too wide for a table of key positions";
    if (work->why != NULL)
        return VF_OK;
    VF_TRY(take(work, found, &(Wanted){"position-file", name, 3, dims}, &given, err));
    return turn_position(work, given, err);
}

static VfStatus load(VfPassCx *cx, const char *option, const char *path, VfLinearSite *site,
                     int32_t n, VfStatus (*load_one)(VfLinearSite *, const VfArrayFile *, VfErr *),
                     VfErr *err)
{
    VfArrayFile file;
    if (cx->arrays == NULL)
        return vf_fail(err, VF_USAGE, "option '%s': files cannot be read here", option);
    VF_TRY(cx->arrays->read(cx->arrays, cx->arena, path, &file, err));
    for (int32_t i = 0; i < n; i++) {
        if (site[i].why == NULL)
            VF_TRY(load_one(&site[i], &file, err));
    }
    return VF_OK;
}

VfStatus vf_linear_load(VfPassCx *cx, VfLinearSite *site, int32_t n, VfErr *err)
{
    const VfLinearOptions *options = cx->options;
    if (options->dwc == VF_DWC_NPZ)
        VF_TRY(load(cx, "dwc-file", options->dwc_file, site, n, load_site, err));
    if (options->key_position == VF_POSITION_NPZ)
        VF_TRY(load(cx, "position-file", options->position_file, site, n, load_position, err));
    return VF_OK;
}
