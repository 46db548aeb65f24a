/* A run of bytes with its length: names in ONNX files may hold any byte, also 0. */
#ifndef VF_BASE_BYTES_H
#define VF_BASE_BYTES_H

#include <stddef.h>

typedef struct VfBytes {
    const char *data; /* not owned; a 0 byte follows where it is from an arena or intern table */
    size_t size;
} VfBytes;

#endif
