#include "runtime/base/sha256.h"

#include <stdio.h>
#include <string.h>

#include "runtime/base/file.h"

enum {
    BLOCK = 64,
    LENGTH_AT = 56,
    PIECE_BYTES = 1 << 20 /* of a file, at a time */
};

/* Cube roots of the first 64 primes: the first 32 bits of their fractions. */
static const uint32_t round_constant[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

void vf_sha256_init(VfSha256 *sha)
{
    static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memset(sha, 0, sizeof *sha);
    memcpy(sha->state, start, sizeof start);
}

static uint32_t rotate(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

static void expand(const unsigned char *block, uint32_t w[64])
{
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
               (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    for (int i = 16; i < 64; i++) {
        uint32_t a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + w[i - 7] +
               (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
    }
}

static void add_block(VfSha256 *sha, const unsigned char *block)
{
    uint32_t w[64], s[8];
    expand(block, w);
    memcpy(s, sha->state, sizeof s);
    for (int i = 0; i < 64; i++) {
        uint32_t a = s[0], e = s[4];
        uint32_t first = s[7] + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) +
                         ((e & s[5]) ^ (~e & s[6])) + round_constant[i] + w[i];
        uint32_t second = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) +
                          ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += first;
        s[0] = first + second;
    }
    for (int i = 0; i < 8; i++)
        sha->state[i] += s[i];
}

void vf_sha256_add(VfSha256 *sha, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    size_t held = sha->size % BLOCK;
    sha->size += size;
    if (held > 0 && held + size >= BLOCK) {
        memcpy(sha->block + held, bytes, BLOCK - held);
        add_block(sha, sha->block);
        bytes += BLOCK - held;
        size -= BLOCK - held;
        held = 0;
    }
    for (; held == 0 && size >= BLOCK; bytes += BLOCK, size -= BLOCK)
        add_block(sha, bytes);
    if (size > 0)
        memcpy(sha->block + held, bytes, size);
}

void vf_sha256_text(VfSha256 *sha, char text[VF_SHA256_TEXT])
{
    static const unsigned char padding[BLOCK] = {0x80};
    unsigned char length[8];
    uint64_t bits = sha->size * 8;
    for (int i = 0; i < 8; i++)
        length[i] = (unsigned char)(bits >> (56 - 8 * i));
    size_t held = sha->size % BLOCK;
    vf_sha256_add(sha, padding, (held < LENGTH_AT ? LENGTH_AT : BLOCK + LENGTH_AT) - held);
    vf_sha256_add(sha, length, sizeof length);
    for (int i = 0; i < 8; i++)
        snprintf(text + (size_t)i * 8, 9, "%08x", sha->state[i]);
}

VfStatus vf_sha256_file(const char *path, char text[VF_SHA256_TEXT], VfErr *err)
{
    VfMapping file;
    VfSha256 sha;
    VF_TRY(vf_file_map(path, &file, err));
    vf_sha256_init(&sha);
    /* Pages are given back as they are read: a large file needs little memory. */
    for (size_t at = 0, n; at < file.size; at += n) {
        n = file.size - at < PIECE_BYTES ? file.size - at : PIECE_BYTES;
        vf_sha256_add(&sha, file.data + at, n);
        vf_file_release(file.data + at, n);
    }
    vf_sha256_text(&sha, text);
    vf_file_unmap(&file);
    return VF_OK;
}
