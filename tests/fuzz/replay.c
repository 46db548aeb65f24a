/* A harness without a fuzzer: every file named runs through it once, so that seeds and findings
 * are tests of every build.
 */
#include "tests/fuzz/harness.h"

static int replay(const char *path)
{
    FILE *file = fopen(path, "rb");
    static uint8_t data[1 << 20];
    if (file == NULL) {
        fprintf(stderr, "cannot read '%s'\n", path);
        return 1;
    }
    size_t size = fread(data, 1, sizeof data, file);
    fclose(file);
    /* In memory of its own size, so that sanitizers see a step past its end. */
    uint8_t *copy = malloc(size + (size == 0));
    VF_FUZZ_PROMISE(copy != NULL, "out of memory\n");
    for (size_t i = 0; i < size; i++)
        copy[i] = data[i];
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
    return 0;
}

int main(int argc, char **argv)
{
    int n_bad = 0;
    for (int i = 1; i < argc; i++)
        n_bad += replay(argv[i]);
    printf("%d files replayed, %d unreadable\n", argc - 1, n_bad);
    return n_bad > 0 || argc == 1;
}
