/* Inside of the generator of random networks: the network as it grows. */
#ifndef VF_TEST_RANDOM_NET_H
#define VF_TEST_RANDOM_NET_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "runtime/base/text.h"

enum { N_KEPT = 16 };

/* A weight that may be used again. */
typedef struct Kept {
    int number;
    int64_t in, out;
} Kept;

/* The network as it grows: tokens are [batch, n, c]. Value v0 is the input. */
typedef struct Net {
    uint64_t state;
    VfText text;
    int n_value, n_const, opset, n_kept, extra;
    int last_scale; /* of a norm; 0: none yet */
    int n_branch;   /* graphs of attributes so far */
    int depth;      /* of them around here */
    bool has_flag;  /* the graph has an input `flag`, one bool */
    int64_t batch, n, c, heads;
    int64_t side; /* of the image; 0: the input holds tokens */
    Kept kept[N_KEPT];
} Net;

static inline int64_t pick(Net *net, int64_t n)
{
    net->state = net->state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((net->state >> 33) % (uint64_t)n);
}

/* Append a node with one result; its number. */
VF_PRINTF(2, 3) static inline int node(Net *net, const char *fmt, ...)
{
    char line[256];
    va_list args;
    va_start(args, fmt);
    vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    vf_text_printf(&net->text, "    v%d = %s\n", ++net->n_value, line);
    return net->n_value;
}

/* Append a constant, "f32[4] {1, 2, 3, 4}"; its number. */
VF_PRINTF(2, 3) static inline int constant(Net *net, const char *fmt, ...)
{
    char line[256];
    va_list args;
    va_start(args, fmt);
    vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    vf_text_printf(&net->text, "    c%d = const %s\n", ++net->n_const, line);
    return net->n_const;
}

static inline int vector(Net *net, int64_t n, double low, double high)
{
    return constant(net, "f32[%d] random(%d, %g, %g)", (int)n, (int)pick(net, 100000), low, high);
}

static inline int number(Net *net, double x)
{
    return constant(net, "f32[] {%.9g}", x);
}

/* The mean of v<x> along `axis`, kept. */
int vf_net_mean(Net *net, int x, int axis);

/* A batch norm over the channels of an image. */
int vf_net_norm_image(Net *net, int x);

/* Some norm of v<x> in some spelling. */
int vf_net_norm(Net *net, int x);

/* A part of a network: v<x> to a value of the same shape. */
typedef int NetPart(Net *net, int x);

/* An If whose branches are the two parts of v<x>. */
int vf_net_if(Net *net, int x, NetPart *yes, NetPart *no);

#endif
