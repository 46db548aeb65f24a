/* RoiAlign: what lies in regions of images.
 *
 * roi_align_f32 f64: VfkRoiAlignParams. in: x (batch x channels x in_dim), regions (n x 4: x and y
 * of the first corner, of the last), image of each region (i64); out: y (n x channels x out_dim).
 *
 * A region is cut into out_dim bins. In each the image is sampled in a regular grid, linearly
 * between pixels; a sample farther than a pixel from the image is 0. A bin's value is the mean of
 * its samples, or the greatest of their weighted pixels, which is how ONNX has it. Images are
 * counted as gather.h counts; regions that are no numbers or without end hold no samples, and a bin
 * without samples is 0. The samples that lie near the image are found, so the work has a limit
 * whatever the regions are. Units: regions * out_dim[0].
 */
#ifndef VFK_ROI_ALIGN_H
#define VFK_ROI_ALIGN_H

#include "runtime/kernels/kernel.h"

typedef struct VfkRoiAlignParams {
    int64_t batch;
    int64_t channels;
    int64_t in_dim[2];  /* height, width */
    int64_t out_dim[2];
    int64_t samples;    /* of a bin along each axis; 0: as many as pixels, rounded up */
    int64_t maximum;    /* else the mean */
    int64_t half_pixel; /* middles of pixels lie at halves; else regions are at least a pixel */
    double scale;       /* from coordinates of regions to pixels */
} VfkRoiAlignParams;

#endif
