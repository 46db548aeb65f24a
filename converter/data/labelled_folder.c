/* Folders of class folders: what lies in them, and single samples. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "converter/data/image.h"
#include "converter/data/labelled.h"
#include "converter/data/npy.h"

/* --- what lies in it --- */

typedef struct Walk {
    VfArena *arena;
    VfLabelled *data;
    int64_t *y;
    size_t y_capacity, file_capacity;
    bool has_arrays;
} Walk;

/* Names but hidden ones. */
static VfStatus list(VfArena *arena, const char *path, const char ***name, size_t *n, VfErr *err)
{
    size_t all, kept = 0;
    VF_TRY(vf_folder_list(arena, path, name, &all, err));
    for (size_t i = 0; i < all; i++)
        if ((*name)[i][0] != '.')
            (*name)[kept++] = (*name)[i];
    *n = kept;
    return VF_OK;
}

static bool ends_in(const char *name, const char *suffix)
{
    size_t n = strlen(name), m = strlen(suffix);
    return n > m && strcasecmp(name + n - m, suffix) == 0;
}

static VfStatus add_file(Walk *walk, const char *folder, const char *name, int64_t label,
                         VfErr *err)
{
    VfLabelled *data = walk->data;
    bool is_array = ends_in(name, ".npy");
    bool is_image = ends_in(name, ".png") || ends_in(name, ".jpg") || ends_in(name, ".jpeg");
    char *path;
    void *files = (void *)data->file, *labels = walk->y;
    VF_TRY(vf_path_join(walk->arena, folder, name, &path, err));
    if (!is_array && !is_image)
        return vf_fail(err, VF_INVALID, "data '%s': '%s' is neither png, jpeg nor npy", data->path,
                       path);
    walk->has_arrays = walk->has_arrays || is_array;
    data->has_images = data->has_images || is_image;
    if (walk->has_arrays && data->has_images)
        return vf_fail(err, VF_INVALID, "data '%s': holds images and arrays, such as '%s'",
                       data->path, path);
    VF_TRY(vf_arena_grow(walk->arena, &files, &walk->file_capacity, data->n_sample + 1,
                         sizeof *data->file, err));
    VF_TRY(vf_arena_grow(walk->arena, &labels, &walk->y_capacity, data->n_sample + 1,
                         sizeof *walk->y, err));
    data->file = files;
    walk->y = labels;
    data->file[data->n_sample] = path;
    walk->y[data->n_sample++] = label;
    return VF_OK;
}

static VfStatus add_class(Walk *walk, const char *name, int64_t label, VfErr *err)
{
    VfFileFacts facts;
    char *folder;
    const char **file;
    size_t n;
    VF_TRY(vf_path_join(walk->arena, walk->data->path, name, &folder, err));
    VF_TRY(vf_file_facts(folder, &facts, err));
    if (!facts.is_folder)
        return vf_fail(err, VF_INVALID, "data '%s': '%s' is no class folder", walk->data->path,
                       name);
    VF_TRY(list(walk->arena, folder, &file, &n, err));
    for (size_t i = 0; i < n; i++)
        VF_TRY(add_file(walk, folder, file[i], label, err));
    return VF_OK;
}

static bool read_number(const char *name, int64_t *number)
{
    char *end;
    errno = 0;
    *number = strtoll(name, &end, 10);
    return name[0] >= '0' && name[0] <= '9' && *end == '\0' && errno == 0;
}

static bool are_numbers(const char *const *name, size_t n)
{
    int64_t ignored;
    for (size_t i = 0; i < n; i++)
        if (!read_number(name[i], &ignored))
            return false;
    return true;
}

static VfStatus walk_classes(Walk *walk, VfErr *err)
{
    VfLabelled *data = walk->data;
    const char **name;
    VF_TRY(list(walk->arena, data->path, &name, &data->n_class, err));
    data->has_numbers = are_numbers(name, data->n_class);
    for (size_t i = 0; i < data->n_class; i++) {
        int64_t label = (int64_t)i;
        if (data->has_numbers)
            read_number(name[i], &label);
        VF_TRY(add_class(walk, name[i], label, err));
    }
    data->y = walk->y;
    if (data->n_sample == 0)
        return vf_fail(err, VF_INVALID, "data '%s': no samples", data->path);
    return VF_OK;
}

/* --- samples --- */

static VfStatus map_array(VfArena *arena, const char *path, VfMapping *file, VfArray *array,
                          VfErr *err)
{
    VF_TRY(vf_file_map(path, file, err));
    VfStatus status = vf_npy_read(arena, file->data, file->size, path, array, err);
    if (status != VF_OK)
        vf_file_unmap(file);
    return status;
}

/* Arrays are samples as they are: the first one says what all of them are. */
static VfStatus type_of_arrays(VfArena *arena, VfLabelled *data, VfErr *err)
{
    VfMapping file;
    VfArray first;
    int64_t dims[VF_ARRAY_MAX_RANK] = {(int64_t)data->n_sample};
    VF_TRY(map_array(arena, data->file[0], &file, &first, err));
    vf_file_unmap(&file);
    if (first.rank + 1 > VF_ARRAY_MAX_RANK)
        return vf_fail(err, VF_UNSUPPORTED, "'%s' has %d axes", data->file[0], first.rank);
    for (int32_t i = 0; i < first.rank; i++)
        dims[i + 1] = first.dims[i];
    data->sample_bytes = first.bytes;
    return vf_array_init(&data->x, arena, first.dtype, first.rank + 1, dims, NULL, err);
}

static VfStatus type_of_images(VfArena *arena, const VfImageInput *image, VfLabelled *data,
                               VfErr *err)
{
    if (image == NULL)
        return vf_fail(err, VF_UNSUPPORTED, "data '%s': the model takes no images: no float32 "
                       "input of four axes with 1 or 3 channels", data->path);
    data->image = *image;
    int64_t n = (int64_t)data->n_sample, c = image->channels, h = image->height, w = image->width;
    const int64_t first[] = {n, c, h, w}, last[] = {n, h, w, c};
    data->sample_bytes = (size_t)(c * h * w) * sizeof(float);
    return vf_array_init(&data->x, arena, VF_F32, 4, image->is_channels_last ? last : first, NULL,
                         err);
}

VfStatus vf_labelled_folder(VfArena *arena, const char *path, const VfImageInput *image,
                            VfLabelled *data, VfErr *err)
{
    Walk walk = {.arena = arena, .data = data};
    *data = (VfLabelled){.path = path};
    VF_TRY(walk_classes(&walk, err));
    return data->has_images ? type_of_images(arena, image, data, err)
                            : type_of_arrays(arena, data, err);
}

static VfStatus read_array(VfArena *arena, const VfLabelled *data, const char *path, void *to,
                           VfErr *err)
{
    VfMapping file;
    VfArray array;
    VF_TRY(map_array(arena, path, &file, &array, err));
    bool is_alike = array.dtype == data->x.dtype && array.rank + 1 == data->x.rank &&
                    (array.rank == 0 || memcmp(array.dims, data->x.dims + 1,
                                               (size_t)array.rank * sizeof *array.dims) == 0);
    if (is_alike)
        memcpy(to, array.data, array.bytes);
    vf_file_unmap(&file);
    return is_alike ? VF_OK : vf_fail(err, VF_INVALID, "'%s' is %s, '%s' is another", path,
                                      vf_array_text(arena, &array), data->file[0]);
}

/* Brightness as in ITU-R BT.601, rounded to a byte. */
static float value_of(const VfImageInput *input, const unsigned char *pixel, int32_t channel)
{
    double value = pixel[channel];
    if (input->channels == 1)
        value = floor(0.299 * pixel[0] + 0.587 * pixel[1] + 0.114 * pixel[2] + 0.5);
    return ((float)value / 255 - input->mean[channel]) / input->std[channel];
}

/* The middle of `image`, pixel by pixel. */
static void put_piece(const VfImageInput *input, const VfImage *image, float *to)
{
    int32_t top = (int32_t)lrint((image->height - input->height) / 2.0);
    int32_t left = (int32_t)lrint((image->width - input->width) / 2.0);
    int32_t h = input->height, w = input->width, n_channel = input->channels;
    for (int32_t y = 0; y < h; y++)
        for (int32_t x = 0; x < w; x++) {
            size_t place = (size_t)(y + top) * (size_t)image->width + (size_t)(x + left);
            for (int32_t c = 0; c < n_channel; c++) {
                size_t at = input->is_channels_last ? (size_t)((y * w + x) * n_channel + c)
                                                    : (size_t)((c * h + y) * w + x);
                to[at] = value_of(input, image->pixel + 3 * place, c);
            }
        }
}

/* The long side is cut, not rounded, to whole pixels. */
static VfStatus read_image(VfArena *arena, const VfLabelled *data, const char *path, void *to,
                           VfErr *err)
{
    const VfImageInput *input = &data->image;
    VfImage image, resized;
    VF_TRY(vf_image_read(arena, path, &image, err));
    bool is_wide = image.width > image.height;
    int64_t longer = is_wide ? image.width : image.height;
    int64_t shorter = is_wide ? image.height : image.width;
    int64_t side = input->resize * longer / shorter;
    if (side > VF_IMAGE_SIDE_MAX)
        return vf_fail(err, VF_UNSUPPORTED, "image '%s' is too long: %d x %d", path, image.width,
                       image.height);
    VF_TRY(vf_image_resize(arena, &image, is_wide ? (int32_t)side : input->resize,
                           is_wide ? input->resize : (int32_t)side, &resized, err));
    if (resized.width < input->width || resized.height < input->height)
        return vf_fail(err, VF_USAGE,
                       "image '%s' is %d x %d when its short side is %d, no piece of %d x %d", path,
                       resized.width, resized.height, input->resize, input->width, input->height);
    put_piece(input, &resized, to);
    return VF_OK;
}

VfStatus vf_labelled_sample(const VfLabelled *data, size_t i, void *to, VfErr *err)
{
    if (data->file == NULL) {
        memcpy(to, (const char *)data->x.data + i * data->sample_bytes, data->sample_bytes);
        return VF_OK;
    }
    VfArena *arena = vf_arena_new();
    VF_TRY_ALLOC(arena, err);
    VfStatus status = data->has_images ? read_image(arena, data, data->file[i], to, err)
                                       : read_array(arena, data, data->file[i], to, err);
    vf_arena_free(arena);
    return status;
}
