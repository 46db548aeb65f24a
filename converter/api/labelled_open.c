#include "converter/api/labelled_open.h"

#include <math.h>

/* What the published evaluations of most ImageNet models take. */
static const float usual_mean[] = {0.485f, 0.456f, 0.406f}, usual_std[] = {0.229f, 0.224f, 0.225f};
static const double usual_share = 0.875; /* of the short side is the piece */

VfStatus vf_single_input(const VitfoldModel *model, const VfValue **input, VfErr *err)
{
    const VfGraph *graph = model->ir->graph;
    *input = NULL;
    for (int32_t i = 0; i < graph->n_input; i++) {
        if (!vf_is_required_input(graph->input[i]))
            continue;
        if (*input != NULL)
            return vf_fail(err, VF_UNSUPPORTED, "eval needs a model with one input, this has %zu",
                           vitfold_model_n_input(model));
        *input = graph->input[i];
    }
    if (*input == NULL)
        return vf_fail(err, VF_UNSUPPORTED, "eval needs a model with one input, this has 0");
    return VF_OK;
}

static int32_t channels_at(const VfType *type, int32_t axis)
{
    VfDim dim = type->dims[axis];
    return vf_dim_is_known(dim) && (dim.k == 1 || dim.k == 3) ? (int32_t)dim.k : 0;
}

/* A side of the picture: the model's, or where that is open the one asked for. */
static VfStatus find_side(const VfValue *input, int32_t axis, int64_t wanted, int32_t *side,
                          VfErr *err)
{
    enum { SIDE_MAX = 1 << 14 };
    VfDim dim = input->type.dims[axis];
    int64_t size = vf_dim_is_known(dim) ? dim.k : wanted;
    if (size <= 0)
        return vf_fail(err, VF_USAGE, "input '%s' takes images of any size: give one with --size",
                       vf_value_label(input));
    if ((wanted > 0 && size != wanted) || size > SIDE_MAX)
        return vf_fail(err, VF_USAGE, "size %lld is asked for, input '%s' takes %lld",
                       (long long)wanted, vf_value_label(input), (long long)size);
    *side = (int32_t)size;
    return VF_OK;
}

static void find_scale(const VitfoldEvalOptions *options, VfImageInput *image)
{
    bool is_given = options->std[0] > 0;
    for (int c = 0; c < 3; c++) {
        bool is_gray = image->channels == 1;
        image->mean[c] = is_given ? (float)options->mean[c] : is_gray ? 0 : usual_mean[c];
        image->std[c] = is_given ? (float)options->std[c] : is_gray ? 1 : usual_std[c];
    }
}

/* Leaves `*has_image` false where the input is none for images. */
static VfStatus find_image(const VfValue *input, const VitfoldEvalOptions *options,
                           VfImageInput *image, bool *has_image, VfErr *err)
{
    const VfType *type = &input->type;
    *has_image = false;
    if (type->dtype != VF_F32 || type->rank != 4)
        return VF_OK;
    int32_t first = channels_at(type, 1), last = channels_at(type, 3);
    if (first == 0 && last == 0)
        return VF_OK;
    *image = (VfImageInput){.channels = first > 0 ? first : last, .is_channels_last = first == 0};
    int32_t row = image->is_channels_last ? 1 : 2;
    VF_TRY(find_side(input, row, options->size, &image->height, err));
    VF_TRY(find_side(input, row + 1, options->size, &image->width, err));
    int32_t shorter = image->height < image->width ? image->height : image->width;
    image->resize = options->resize > 0 ? (int32_t)options->resize
                                        : (int32_t)lround(shorter / usual_share);
    find_scale(options, image);
    *has_image = true;
    return VF_OK;
}

VfStatus vf_labelled_open(VfArena *arena, const char *path, const VitfoldModel *model,
                          const VitfoldEvalOptions *options, VfLabelled *data, VfErr *err)
{
    VfFileFacts facts;
    const VfValue *input;
    VfImageInput image;
    bool has_image;
    VF_TRY(vf_file_facts(path, &facts, err));
    if (!facts.is_folder)
        return vf_labelled_read(arena, path, data, err);
    VF_TRY(vf_single_input(model, &input, err));
    VF_TRY(find_image(input, options, &image, &has_image, err));
    return vf_labelled_folder(arena, path, has_image ? &image : NULL, data, err);
}

const char *vf_labelled_preprocessing(VfArena *arena, const VfLabelled *data)
{
    const VfImageInput *image = &data->image;
    if (!data->has_images)
        return "none";
    const char *start = vf_arena_printf(
        arena, "short side to %d (triangle filter, antialiased), middle %dx%d, %s, v/255",
        image->resize, image->height, image->width,
        image->channels == 1 ? "brightness" : "RGB");
    if (image->channels == 1)
        return vf_arena_printf(arena, "%s, mean %g, std %g", start, (double)image->mean[0],
                               (double)image->std[0]);
    return vf_arena_printf(arena, "%s, mean %g %g %g, std %g %g %g", start, (double)image->mean[0],
                           (double)image->mean[1], (double)image->mean[2], (double)image->std[0],
                           (double)image->std[1], (double)image->std[2]);
}
