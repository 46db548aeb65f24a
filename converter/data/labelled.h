/* Labelled data: samples, each with the number of its class.
 *
 * An npz file with `x` (samples along the first axis) and `y` (a class number for each), or a
 * folder with one folder for each class, which holds PNG or JPEG images, or npy arrays. Classes
 * are numbered by their folders' names if all of them are numbers, else in the order of the names.
 * Samples of a folder are read when they are asked for.
 */
#ifndef VF_DATA_LABELLED_H
#define VF_DATA_LABELLED_H

#include "converter/data/array.h"

/* What images become: the short side is made `resize` long, a piece of `height` x `width` cut from
 * the middle, a byte v turned into (v / 255 - mean) / std. One channel is the brightness. */
typedef struct VfImageInput {
    int32_t channels; /* 1 or 3 */
    int32_t height, width, resize;
    bool is_channels_last; /* [height, width, channels], not [channels, height, width] */
    float mean[3], std[3];
} VfImageInput;

typedef struct VfLabelled {
    const char *path;
    VfArray x;           /* dtype and dims of all samples; data is NULL for a folder */
    const int64_t *y;    /* n_sample class numbers, each >= 0 */
    size_t n_sample;
    size_t sample_bytes; /* bytes of one sample of x */
    const char **file;   /* of each sample of a folder */
    bool has_images;     /* and not arrays */
    VfImageInput image;
    size_t n_class;      /* folders */
    bool has_numbers;    /* their names are the class numbers */
} VfLabelled;

/* Read an npz file. All memory in `arena`. Missing arrays, labels that are not whole numbers, and
 * different counts are VF_INVALID. */
VfStatus vf_labelled_read(VfArena *arena, const char *path, VfLabelled *data, VfErr *err);

/* Look through a folder. `image` is what its images become, NULL if none can be taken. Names that
 * begin with a dot are passed over; other things than class folders with files of one kind in them
 * are VF_INVALID. */
VfStatus vf_labelled_folder(VfArena *arena, const char *path, const VfImageInput *image,
                            VfLabelled *data, VfErr *err);

/* Put sample `i` into `to`, sample_bytes long. */
VfStatus vf_labelled_sample(const VfLabelled *data, size_t i, void *to, VfErr *err);

#endif
