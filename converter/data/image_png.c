#include <errno.h>
#include <png.h>

#include "converter/data/image.h"

/* Drop every fourth byte, in place. */
static void drop_alpha(unsigned char *pixel, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < 3; c++)
            pixel[3 * i + c] = pixel[4 * i + c];
}

/* libpng tells in words alone that it got no memory; errno is 0 before it is called. */
static VfStatus fail(const png_image *png, VfErr *err)
{
    return errno == ENOMEM ? vf_no_memory(err) : vf_fail(err, VF_INVALID, "%s", png->message);
}

static VfStatus decode(VfArena *arena, png_image *png, VfImage *image, VfErr *err)
{
    if (png->width > VF_IMAGE_SIDE_MAX || png->height > VF_IMAGE_SIDE_MAX)
        return vf_fail(err, VF_UNSUPPORTED, "%u x %u pixels, at most %d a side",
                       (unsigned)png->width, (unsigned)png->height, VF_IMAGE_SIDE_MAX);
    png->format = PNG_FORMAT_RGBA;
    unsigned char *pixel = vf_arena_array(arena, (size_t)png->width * png->height, 4);
    VF_TRY_ALLOC(pixel, err);
    if (png_image_finish_read(png, NULL, pixel, 0, NULL) == 0)
        return fail(png, err);
    drop_alpha(pixel, (size_t)png->width * png->height);
    *image = (VfImage){(int32_t)png->width, (int32_t)png->height, pixel};
    return VF_OK;
}

VfStatus vf_image_png(VfArena *arena, const VfMapping *file, VfImage *image, VfErr *err)
{
    png_image png = {.version = PNG_IMAGE_VERSION};
    errno = 0;
    if (png_image_begin_read_from_memory(&png, file->data, file->size) == 0)
        return fail(&png, err);
    VfStatus status = decode(arena, &png, image, err);
    png_image_free(&png);
    return status;
}
