/* How much memory of a mapping is there. */
#ifndef VF_TESTS_RESIDENT_H
#define VF_TESTS_RESIDENT_H

#include <check.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Resident bytes of the mapping that holds `at`, as the kernel counts them for this process. */
static inline size_t vf_test_resident(const void *at)
{
    char line[512];
    unsigned long begin, end, kib = 0;
    int is_it = 0, is_known = 0;
    FILE *maps = fopen("/proc/self/smaps", "r");
    ck_assert_ptr_nonnull(maps);
    while (!is_known && fgets(line, sizeof line, maps) != NULL) {
        if (sscanf(line, "%lx-%lx ", &begin, &end) == 2)
            is_it = (uintptr_t)at >= begin && (uintptr_t)at < end;
        is_known = is_it && sscanf(line, "Rss: %lu kB", &kib) == 1;
    }
    fclose(maps);
    ck_assert_msg(is_known, "no mapping holds the address");
    return kib * 1024;
}

#endif
