#include "npy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAGIC_BYTES = 6, HEADER_MAX = 65536 };

static const char magic[] = "\x93NUMPY";

/* The header as text; false when the file is no npy file. */
static int read_header(FILE *file, char *header)
{
    unsigned char start[8], size[4] = {0};
    if (fread(start, 1, sizeof start, file) != sizeof start ||
        memcmp(start, magic, MAGIC_BYTES) != 0)
        return 0;
    size_t size_bytes = start[6] == 1 ? 2 : 4;
    if (start[6] < 1 || start[6] > 3 || fread(size, 1, size_bytes, file) != size_bytes)
        return 0;
    size_t n = size[0] | (size_t)size[1] << 8 | (size_t)size[2] << 16 | (size_t)size[3] << 24;
    if (n >= HEADER_MAX || fread(header, 1, n, file) != n)
        return 0;
    header[n] = '\0';
    return 1;
}

/* What stands behind 'key': in the header. */
static const char *value_of(const char *header, const char *key)
{
    const char *at = strstr(header, key);
    at = at == NULL ? NULL : strchr(at, ':');
    if (at == NULL)
        return NULL;
    at++;
    return at + strspn(at, " ");
}

static int has_type(const char *header, const char *type)
{
    const char *value = value_of(header, "'descr'");
    size_t n = strlen(type);
    return value != NULL && value[0] == '\'' && strncmp(value + 1, type, n) == 0 &&
           value[n + 1] == '\'';
}

static int has_shape(const char *header, const ExecutorTensor *tensor)
{
    const char *at = value_of(header, "'shape'");
    if (at == NULL || *at != '(')
        return 0;
    at++;
    for (int i = 0; i < tensor->rank; i++) {
        char *end;
        long long dim = strtoll(at, &end, 10);
        if (end == at || dim != tensor->dims[i])
            return 0;
        at = end + strspn(end, ", ");
    }
    return *at == ')';
}

static int is_c_order(const char *header)
{
    const char *value = value_of(header, "'fortran_order'");
    return value != NULL && strncmp(value, "False", 5) == 0;
}

static const char *read_open(FILE *file, const ExecutorTensor *tensor, void *data)
{
    static const char unknown[] = "no npy file:";
    char *header = malloc(HEADER_MAX);
    const char *why = NULL;
    if (header == NULL || !read_header(file, header))
        why = unknown;
    else if (!has_type(header, tensor->type))
        why = "another element type than the model's in";
    else if (!has_shape(header, tensor) || !is_c_order(header))
        why = "another shape or order than the model's in";
    else if (fread(data, 1, tensor->bytes, file) != tensor->bytes)
        why = "too short:";
    free(header);
    return why;
}

const char *npy_read(const char *path, const ExecutorTensor *tensor, void *data)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return "cannot open";
    const char *why = read_open(file, tensor, data);
    fclose(file);
    return why;
}

long long npy_rows(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *header = malloc(HEADER_MAX), *end = NULL;
    long long rows = -1;
    const char *at = file != NULL && header != NULL && read_header(file, header)
                         ? value_of(header, "'shape'")
                         : NULL;
    if (at != NULL && *at == '(')
        rows = strtoll(at + 1, &end, 10);
    if (end == at + 1)
        rows = -1;
    free(header);
    if (file != NULL)
        fclose(file);
    return rows;
}

/* Length, padded with spaces so that data begins at a multiple of 64 bytes; then the text. */
static int write_header(FILE *file, const ExecutorTensor *tensor)
{
    char header[1024];
    int n = snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (",
                     tensor->type);
    for (int i = 0; i < tensor->rank && n < 900; i++)
        n += snprintf(header + n, sizeof header - (size_t)n, "%lld,%s",
                      (long long)tensor->dims[i], i + 1 < tensor->rank ? " " : "");
    n += snprintf(header + n, sizeof header - (size_t)n, "), }");
    while ((n + 11) % 64 != 0)
        header[n++] = ' ';
    header[n++] = '\n';
    unsigned char start[10] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (unsigned char)(n & 255),
                               (unsigned char)(n >> 8)};
    return fwrite(start, 1, sizeof start, file) == sizeof start &&
           fwrite(header, 1, (size_t)n, file) == (size_t)n;
}

const char *npy_write(const char *path, const ExecutorTensor *tensor, const void *data)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL)
        return "cannot write";
    int is_whole = write_header(file, tensor) &&
                   fwrite(data, 1, tensor->bytes, file) == tensor->bytes;
    return (fclose(file) == 0) & is_whole ? NULL : "cannot write";
}

static double half(unsigned bits)
{
    int exponent = (int)(bits >> 10 & 31);
    double fraction = (double)(bits & 1023) / 1024.0;
    double size = exponent == 31  ? (bits & 1023 ? (double)NAN : (double)INFINITY)
                  : exponent == 0 ? ldexp(fraction, -14)
                                  : ldexp(1.0 + fraction, exponent - 15);
    return bits >> 15 ? -size : size;
}

#define READ(type)                                                     \
    {                                                                  \
        type x;                                                        \
        memcpy(&x, (const char *)data + i * sizeof x, sizeof x);       \
        return (double)x;                                              \
    }

double npy_element(const ExecutorTensor *tensor, const void *data, size_t i)
{
    const char *type = tensor->type;
    if (strcmp(type, "<f4") == 0)
        READ(float)
    if (strcmp(type, "<f8") == 0)
        READ(double)
    if (strcmp(type, "<i8") == 0)
        READ(int64_t)
    if (strcmp(type, "<i4") == 0)
        READ(int32_t)
    if (strcmp(type, "<i2") == 0)
        READ(int16_t)
    if (strcmp(type, "|i1") == 0)
        READ(int8_t)
    if (strcmp(type, "<u8") == 0)
        READ(uint64_t)
    if (strcmp(type, "<u4") == 0)
        READ(uint32_t)
    if (strcmp(type, "<f2") == 0) {
        uint16_t bits;
        memcpy(&bits, (const char *)data + i * sizeof bits, sizeof bits);
        return half(bits);
    }
    if (strcmp(type, "<u2") == 0)
        READ(uint16_t)
    READ(uint8_t)
}
