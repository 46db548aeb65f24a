/* Model files for tests of the tool, written as .vft in the test. */
#ifndef VF_TESTS_VFT_FILE_H
#define VF_TESTS_VFT_FILE_H

/* Write the model that `text` says to `path`; fails the test if that does not work. */
void vf_vft_file(const char *path, const char *text);

#endif
