/* Pictures: PNG and JPEG files as red, green and blue bytes, and making them smaller or larger.
 *
 * What a file holds besides (transparency, profiles, orientation) is dropped. Files are trusted in
 * nothing: sizes are checked before memory is asked for, damage is VF_INVALID.
 */
#ifndef VF_DATA_IMAGE_H
#define VF_DATA_IMAGE_H

#include <stdint.h>

#include "runtime/base/arena.h"
#include "runtime/base/file.h"

enum { VF_IMAGE_SIDE_MAX = 1 << 15 };

typedef struct VfImage {
    int32_t width, height;
    const unsigned char *pixel; /* three bytes each, row by row from the top */
} VfImage;

/* Read the file at `path`; its first bytes say which kind it is. Pixels in `arena`. */
VfStatus vf_image_read(VfArena *arena, const char *path, VfImage *image, VfErr *err);

/* Decode the bytes of one kind. */
VfStatus vf_image_png(VfArena *arena, const VfMapping *file, VfImage *image, VfErr *err);
VfStatus vf_image_jpeg(VfArena *arena, const VfMapping *file, VfImage *image, VfErr *err);

/* `image` with another width and height, each from 1 to the most. A pixel is the mean of those
 * below a triangle as wide as two pixels of the coarser of both grids: bilinear when it grows,
 * without aliases when it shrinks. First along rows, then along columns, rounded to bytes after
 * each. */
VfStatus vf_image_resize(VfArena *arena, const VfImage *image, int32_t width, int32_t height,
                         VfImage *out, VfErr *err);

#endif
