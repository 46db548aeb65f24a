/* Arrays of files for passes. */
#include "converter/api/calibration.h"
#include "converter/data/npz.h"

static VfStatus read(const VfArrayReader *self, VfArena *arena, const char *path,
                     VfArrayFile *file, VfErr *err)
{
    (void)self;
    VfNamedArray *array;
    size_t n;
    VF_TRY(vf_npz_read(arena, path, &array, &n, err));
    if (n > INT32_MAX)
        return vf_fail(err, VF_UNSUPPORTED, "file '%s' holds %zu arrays", path, n);
    VfTensor *tensor = VF_NEW_ARRAY(arena, VfTensor, n);
    file->name = VF_NEW_ARRAY(arena, const char *, n);
    file->tensor = VF_NEW_ARRAY(arena, const VfTensor *, n);
    VF_TRY_ALLOC(tensor, err);
    VF_TRY_ALLOC(file->name, err);
    VF_TRY_ALLOC(file->tensor, err);
    file->n = (int32_t)n;
    for (size_t i = 0; i < n; i++) {
        const VfArray *a = &array[i].array;
        file->name[i] = vf_arena_copy(arena, array[i].name.data, array[i].name.size);
        VF_TRY_ALLOC(file->name[i], err);
        tensor[i] = (VfTensor){a->dtype, a->rank, a->dims, a->count, a->bytes, a->data,
                               VF_STORAGE_LENT};
        file->tensor[i] = &tensor[i];
    }
    return VF_OK;
}

const VfArrayReader *vf_array_reader(void)
{
    static const VfArrayReader reader = {read};
    return &reader;
}
