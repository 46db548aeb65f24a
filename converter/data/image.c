#include "converter/data/image.h"

#include <math.h>
#include <string.h>

VfStatus vf_image_read(VfArena *arena, const char *path, VfImage *image, VfErr *err)
{
    static const unsigned char png[] = {0x89, 'P', 'N', 'G'}, jpeg[] = {0xff, 0xd8, 0xff};
    VfMapping file;
    VF_TRY(vf_file_map(path, &file, err));
    VfStatus status;
    if (file.size >= sizeof png && memcmp(file.data, png, sizeof png) == 0)
        status = vf_image_png(arena, &file, image, err);
    else if (file.size >= sizeof jpeg && memcmp(file.data, jpeg, sizeof jpeg) == 0)
        status = vf_image_jpeg(arena, &file, image, err);
    else
        status = vf_fail(err, VF_INVALID, "neither PNG nor JPEG");
    vf_file_unmap(&file);
    return status == VF_OK ? VF_OK : vf_context(err, "cannot read image '%s'", path);
}

/* One line of pixels, in or out: `step` bytes from one to the next. */
typedef struct Line {
    int32_t n;
    size_t step;
} Line;

static double triangle(double x)
{
    return fmax(0, 1 - fabs(x));
}

static unsigned char to_byte(double x)
{
    return (unsigned char)fmax(0, fmin(255, floor(x + 0.5)));
}

/* Pixel `i` of a line `to`: the weighted mean of the pixels of `from` around the same place. */
static void mix_pixel(const unsigned char *in, Line from, unsigned char *out, Line to, int32_t i)
{
    double scale = (double)from.n / to.n, width = fmax(1, scale);
    double center = (i + 0.5) * scale, sum[3] = {0}, all = 0;
    int32_t first = (int32_t)fmax(0, floor(center - width + 0.5));
    int32_t end = (int32_t)fmin(from.n, floor(center + width + 0.5));
    for (int32_t k = first; k < end; k++) {
        double weight = triangle((k + 0.5 - center) / width);
        const unsigned char *pixel = in + (size_t)k * from.step;
        all += weight;
        for (int c = 0; c < 3; c++)
            sum[c] += weight * pixel[c];
    }
    for (int c = 0; c < 3; c++)
        out[(size_t)i * to.step + (size_t)c] = to_byte(sum[c] / all);
}

VfStatus vf_image_resize(VfArena *arena, const VfImage *image, int32_t width, int32_t height,
                         VfImage *out, VfErr *err)
{
    size_t in_row = 3 * (size_t)image->width, out_row = 3 * (size_t)width;
    unsigned char *narrow = vf_arena_array(arena, (size_t)image->height, out_row);
    unsigned char *done = vf_arena_array(arena, (size_t)height, out_row);
    VF_TRY_ALLOC(narrow, err);
    VF_TRY_ALLOC(done, err);
    Line row = {image->width, 3}, new_row = {width, 3};
    Line column = {image->height, out_row}, new_column = {height, out_row};
    for (int32_t y = 0; y < image->height; y++)
        for (int32_t x = 0; x < width; x++)
            mix_pixel(image->pixel + (size_t)y * in_row, row, narrow + (size_t)y * out_row,
                      new_row, x);
    for (int32_t x = 0; x < width; x++)
        for (int32_t y = 0; y < height; y++)
            mix_pixel(narrow + 3 * (size_t)x, column, done + 3 * (size_t)x, new_column, y);
    *out = (VfImage){width, height, done};
    return VF_OK;
}
