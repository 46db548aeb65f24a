#include <setjmp.h>
#include <stdio.h>

#include <jpeglib.h>
#include <jerror.h>

#include "converter/data/image.h"

/* libjpeg leaves by a jump when a file is damaged. */
typedef struct Reader {
    struct jpeg_error_mgr errors; /* first, so that libjpeg's pointer to it is one to all */
    jmp_buf out;
    char why[JMSG_LENGTH_MAX];
    unsigned char *pixel;
} Reader;

static void leave(j_common_ptr jpeg)
{
    Reader *reader = (Reader *)jpeg->err;
    jpeg->err->format_message(jpeg, reader->why);
    longjmp(reader->out, 1);
}

/* libjpeg only warns of data that end early, and makes up the rest. Bytes too many do no harm. */
static void warn(j_common_ptr jpeg, int level)
{
    int code = jpeg->err->msg_code;
    if (level < 0 && (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER))
        leave(jpeg);
}

/* Memory for the pixels, once the sizes are known. */
static VfStatus begin(struct jpeg_decompress_struct *jpeg, Reader *reader, VfArena *arena,
                      VfErr *err)
{
    jpeg_read_header(jpeg, TRUE);
    if (jpeg->image_width > VF_IMAGE_SIDE_MAX || jpeg->image_height > VF_IMAGE_SIDE_MAX)
        return vf_fail(err, VF_UNSUPPORTED, "%u x %u pixels, at most %d a side",
                       (unsigned)jpeg->image_width, (unsigned)jpeg->image_height,
                       VF_IMAGE_SIDE_MAX);
    jpeg->out_color_space = JCS_RGB;
    jpeg_start_decompress(jpeg);
    reader->pixel = vf_arena_array(arena, (size_t)jpeg->output_width * jpeg->output_height, 3);
    VF_TRY_ALLOC(reader->pixel, err);
    return VF_OK;
}

static VfStatus decode(struct jpeg_decompress_struct *jpeg, Reader *reader, VfArena *arena,
                       VfImage *image, VfErr *err)
{
    VF_TRY(begin(jpeg, reader, arena, err));
    while (jpeg->output_scanline < jpeg->output_height) {
        JSAMPROW row = reader->pixel + (size_t)jpeg->output_scanline * jpeg->output_width * 3;
        jpeg_read_scanlines(jpeg, &row, 1);
    }
    *image = (VfImage){(int32_t)jpeg->output_width, (int32_t)jpeg->output_height,
                       reader->pixel};
    jpeg_finish_decompress(jpeg);
    return VF_OK;
}

VfStatus vf_image_jpeg(VfArena *arena, const VfMapping *file, VfImage *image, VfErr *err)
{
    struct jpeg_decompress_struct jpeg = {0};
    Reader reader = {0};
    jpeg.err = jpeg_std_error(&reader.errors);
    reader.errors.error_exit = leave;
    reader.errors.emit_message = warn;
    if (setjmp(reader.out) != 0) {
        jpeg_destroy_decompress(&jpeg);
        return reader.errors.msg_code == JERR_OUT_OF_MEMORY
                   ? vf_no_memory(err)
                   : vf_fail(err, VF_INVALID, "%s", reader.why);
    }
    jpeg_create_decompress(&jpeg);
    jpeg_mem_src(&jpeg, file->data, (unsigned long)file->size);
    VfStatus status = decode(&jpeg, &reader, arena, image, err);
    jpeg_destroy_decompress(&jpeg);
    return status;
}
