/* SHA-256 (FIPS 180-4): names the exact bytes of a file. */
#ifndef VF_BASE_SHA256_H
#define VF_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/base/status.h"

enum { VF_SHA256_TEXT = 65 }; /* 64 hexadecimal digits and a terminating 0 */

typedef struct VfSha256 {
    uint32_t state[8];
    uint64_t size; /* bytes so far */
    unsigned char block[64];
} VfSha256;

void vf_sha256_init(VfSha256 *sha);

/* Append bytes; any number of calls. */
void vf_sha256_add(VfSha256 *sha, const void *data, size_t size);

/* The digest in lower case. `sha` must be initialised again before further use. */
void vf_sha256_text(VfSha256 *sha, char text[VF_SHA256_TEXT]);

/* The digest of a regular file. VF_IO: it cannot be read. */
VfStatus vf_sha256_file(const char *path, char text[VF_SHA256_TEXT], VfErr *err);

#endif
