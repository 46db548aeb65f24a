/* Pictures: decoded and scaled as Pillow does it, and damaged ones. */
#include "converter/data/image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/data/npy.h"
#include "tests/support/arena_case.h"
#include "tests/support/tool.h"

static const char *path_of(const char *name)
{
    char word[200];
    snprintf(word, sizeof word, "%%images/%s", name);
    return vf_tool_path("", word);
}

/* The pixels of NAME.npy. */
static VfArray expected(const char *name)
{
    VfErr err = {0};
    VfArray array;
    char file[100];
    size_t size;
    snprintf(file, sizeof file, "%s.npy", name);
    unsigned char *bytes = vf_tool_read(path_of(file), &size);
    ck_assert_msg(bytes != NULL, "%s", file);
    void *copy = vf_arena_copy(arena, bytes, size);
    free(bytes);
    ck_assert_int_eq(vf_npy_read(arena, copy, size, file, &array, &err), VF_OK);
    return array;
}

static void check_pixels(const VfImage *image, const char *name, int most)
{
    VfArray want = expected(name);
    const unsigned char *pixel = want.data;
    ck_assert_int_eq(image->height, (int)want.dims[0]);
    ck_assert_int_eq(image->width, (int)want.dims[1]);
    for (size_t i = 0; i < want.count; i++)
        ck_assert_msg(abs(image->pixel[i] - pixel[i]) <= most, "%s: byte %zu is %d, not %d", name,
                      i, image->pixel[i], pixel[i]);
}

static const struct {
    const char *file, *pixels;
} image_row[] = {
    {"wide.png", "wide_png"},       {"alpha.png", "alpha_png"}, {"palette.png", "palette_png"},
    {"gray.png", "gray_png"},       {"tall.jpg", "tall_jpg"},   {"gray.jpg", "gray_jpg"},
    {"progressive.jpg", "progressive_jpg"},
};
enum { N_IMAGE = sizeof image_row / sizeof *image_row };

START_TEST(decodes)
{
    VfErr err = {0};
    VfImage image;
    VfStatus status = vf_image_read(arena, path_of(image_row[_i].file), &image, &err);
    ck_assert_msg(status == VF_OK, "%s", err.text);
    check_pixels(&image, image_row[_i].pixels, 0);
}
END_TEST

static const struct {
    const char *file, *pixels;
    int32_t width, height;
} scale_row[] = {
    {"wide.png", "wide_png_24x16", 24, 16}, {"wide.png", "wide_png_92x62", 92, 62},
    {"wide.png", "wide_png_46x10", 46, 10}, {"wide.png", "wide_png_7x31", 7, 31},
    {"wide.png", "wide_png", 46, 31},       {"tall.jpg", "tall_jpg_16x28", 16, 28},
};

START_TEST(scales)
{
    VfErr err = {0};
    VfImage image, scaled;
    ck_assert_int_eq(vf_image_read(arena, path_of(scale_row[_i].file), &image, &err), VF_OK);
    ck_assert_int_eq(vf_image_resize(arena, &image, scale_row[_i].width, scale_row[_i].height,
                                     &scaled, &err), VF_OK);
    check_pixels(&scaled, scale_row[_i].pixels, 1); /* Pillow's weights have 22 bits */
}
END_TEST

/* Every file cut at every 7th byte, and with a byte changed, is an image or a sentence. */
START_TEST(damage)
{
    size_t size;
    unsigned char *bytes = vf_tool_read(path_of(image_row[_i].file), &size);
    VfImage image;
    bool is_png = strstr(image_row[_i].file, "png") != NULL;
    for (size_t n = 0; n < 2 * size; n += 7) {
        VfErr err = {0};
        bool is_cut = n < size;
        unsigned char *copy = malloc(size + 1);
        ck_assert_ptr_nonnull(copy);
        memcpy(copy, bytes, size);
        if (!is_cut)
            copy[n - size] ^= 0x55;
        VfMapping file = {copy, is_cut ? n : size};
        VfStatus status = is_png ? vf_image_png(arena, &file, &image, &err)
                                 : vf_image_jpeg(arena, &file, &image, &err);
        ck_assert(status == VF_OK || err.text[0] != '\0');
        ck_assert(status == VF_OK || status == VF_INVALID || status == VF_UNSUPPORTED);
        ck_assert(!is_cut || !is_png || status != VF_OK || n + 12 >= size);
        free(copy);
        vf_arena_reset(arena);
    }
    free(bytes);
}
END_TEST

START_TEST(other_files)
{
    VfErr err = {0};
    VfImage image;
    ck_assert_int_eq(vf_image_read(arena, path_of("wide_png.npy"), &image, &err), VF_INVALID);
    ck_assert_ptr_nonnull(strstr(err.text, "neither PNG nor JPEG"));
    ck_assert_int_eq(vf_image_read(arena, path_of("none.png"), &image, &err), VF_IO);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("data/image");
    TCase *tcase = tcase_create("image");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, decodes, 0, N_IMAGE);
    tcase_add_loop_test(tcase, scales, 0, (int)(sizeof scale_row / sizeof *scale_row));
    tcase_add_loop_test(tcase, damage, 0, N_IMAGE);
    tcase_add_test(tcase, other_files);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
