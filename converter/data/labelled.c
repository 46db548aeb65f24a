#include "converter/data/labelled.h"

#include <math.h>

#include "converter/data/npz.h"
#include "runtime/base/intern.h"

static VfStatus read_label(const VfArray *y, size_t i, const char *path, int64_t *label,
                           VfErr *err)
{
    double value = vf_array_get_double(y, i);
    if (!(value >= 0 && value < 9007199254740992.0 && value == floor(value)))
        return vf_fail(err, VF_INVALID, "data '%s': label %zu is no class number: %g", path, i,
                       value);
    *label = (int64_t)value;
    return VF_OK;
}

VfStatus vf_labelled_read(VfArena *arena, const char *path, VfLabelled *data, VfErr *err)
{
    VfNamedArray *array;
    size_t n_array;
    VF_TRY(vf_npz_read(arena, path, &array, &n_array, err));
    const VfArray *x = vf_array_find(array, n_array, vf_bytes("x"));
    const VfArray *y = vf_array_find(array, n_array, vf_bytes("y"));
    if (x == NULL || y == NULL)
        return vf_fail(err, VF_INVALID, "data '%s': array '%s' is missing", path,
                       x == NULL ? "x" : "y");
    if (x->rank < 1 || y->rank != 1 || x->dims[0] != y->dims[0])
        return vf_fail(err, VF_INVALID, "data '%s': x is %s and y is %s, counts must agree", path,
                       vf_array_text(arena, x), vf_array_text(arena, y));
    int64_t *label = VF_NEW_ARRAY(arena, int64_t, y->count);
    VF_TRY_ALLOC(label, err);
    for (size_t i = 0; i < y->count; i++)
        VF_TRY(read_label(y, i, path, &label[i], err));
    *data = (VfLabelled){.path = path, .x = *x, .y = label, .n_sample = y->count,
                         .sample_bytes = y->count == 0 ? 0 : x->bytes / y->count};
    return VF_OK;
}
