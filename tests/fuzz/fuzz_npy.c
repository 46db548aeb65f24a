/* Arrays: npy from memory and, where the bytes begin as a zip archive does, npz from a file. */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "converter/data/npy.h"
#include "converter/data/npz.h"
#include "tests/fuzz/harness.h"

static void read_archive(VfArena *arena, const uint8_t *data, size_t size)
{
    VfErr err = {0};
    VfNamedArray *array;
    size_t n_array;
    char path[40];
    int file = memfd_create("npz", MFD_CLOEXEC);
    VF_FUZZ_PROMISE(file >= 0 && write(file, data, size) == (ssize_t)size, "cannot write\n");
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    VfStatus status = vf_npz_read(arena, path, &array, &n_array, &err);
    VF_FUZZ_PROMISE(status != VF_INTERNAL, "internal fault: %s\n", err.text);
    close(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    VfErr err = {0};
    VfArray array;
    VfArena *arena = vf_arena_new();
    if (size > 2 && memcmp(data, "PK", 2) == 0)
        read_archive(arena, data, size);
    else
        VF_FUZZ_PROMISE(vf_npy_read(arena, data, size, "fuzz", &array, &err) != VF_INTERNAL,
                        "internal fault: %s\n", err.text);
    vf_arena_free(arena);
    return 0;
}
