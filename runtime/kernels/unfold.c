#include "runtime/kernels/conv_unfold.h"

/* The windows of a convolution as rows of a matrix. A window is taken in pieces: the taps along the
 * last axis, each of one element (planes) or of all channels. */

/* Short pieces are moved as so many elements at once; the next piece overwrites what is too
 * much; so there must be room behind, in the source and in the call's rows. */
enum { PIECE_SHORT = 4, PIECE_MEDIUM = 8, PIECE_LONG = 16 };

typedef struct WindowPieces {
    int64_t tap;      /* elements of a tap */
    int64_t step;     /* from tap to tap in x */
    int64_t n;        /* taps of a piece */
    int64_t size;     /* elements of a piece */
    int64_t channels; /* of which each has pieces of its own */
    int is_run;       /* the taps of a piece lie one after the other in x, too */
} WindowPieces;

static WindowPieces window_pieces_of(const VfkConvParams *params)
{
    WindowPieces p = {.tap = params->channels_last ? params->in_channels : 1,
                .step = params->x_step[4] * params->dilation[2],
                .n = params->kernel[2],
                .channels = params->channels_last ? 1 : params->in_channels};
    p.size = p.n * p.tap;
    p.is_run = p.step == p.tap || p.n == 1;
    return p;
}

/* Rows of the windows of an output row: offsets in x, at column 0, or WINDOW_OUTSIDE. */
typedef struct WindowRows {
    int64_t n;
    int64_t at[VFK_UNFOLD_ROWS];
} WindowRows;

#define WINDOW_OUTSIDE INT64_MIN

static void window_rows_of(const VfkConvParams *params, int64_t d, int64_t h, WindowRows *rows)
{
    const int64_t out[2] = {d, h};
    rows->n = params->kernel[0] * params->kernel[1];
    for (int64_t k = 0; k < rows->n; k++) {
        const int64_t position[2] = {k / params->kernel[1], k % params->kernel[1]};
        int64_t offset = 0;
        int inside = 1;
        for (int axis = 0; axis < 2; axis++) {
            const int64_t at = out[axis] * params->stride[axis] +
                               position[axis] * params->dilation[axis] - params->pad[axis];
            inside &= at >= 0 && at < params->in_dim[axis];
            offset += at * params->x_step[2 + axis];
        }
        rows->at[k] = inside ? offset : WINDOW_OUTSIDE;
    }
}

/* Taps [*begin, *end) of a piece of output column `w` that are inside. */
static void window_taps(const VfkConvParams *params, int64_t w, int64_t *begin, int64_t *end)
{
    vfk_inside(0, params->kernel[2], params->dilation[2],
               w * params->stride[2] - params->pad[2], params->in_dim[2], begin, end);
}

/* Whether all columns are inside, and pieces as long as those that are moved at once. */
static int window_is_exact(const VfkConvParams *params, const WindowPieces *p)
{
    int64_t first[2], last[2];
    window_taps(params, 0, &first[0], &first[1]);
    window_taps(params, params->out_dim[2] - 1, &last[0], &last[1]);
    return p->is_run && params->pad[2] == 0 && first[1] == p->n && last[1] == p->n &&
           (p->size == PIECE_SHORT || p->size == PIECE_MEDIUM || p->size == PIECE_LONG);
}

#define UNFOLD(dtype, T) \
    static void window_piece_##dtype(const WindowPieces *p, const T *x, int64_t at, \
                                     const int64_t inside[2], T *to) \
    { \
        const int64_t begin = inside[0], end = inside[1]; \
        memset(to, 0, (size_t)(begin * p->tap) * sizeof(T)); \
        if (p->is_run && begin < end) { \
            memcpy(to + begin * p->tap, x + (at + begin * p->step), \
                   (size_t)((end - begin) * p->tap) * sizeof(T)); \
        } \
        for (int64_t t = begin; !p->is_run && t < end; t++) { \
            memcpy(to + t * p->tap, x + (at + t * p->step), (size_t)p->tap * sizeof(T)); \
        } \
        memset(to + end * p->tap, 0, (size_t)((p->n - end) * p->tap) * sizeof(T)); \
    } \
    static inline void window_at_once_##dtype(const T *from, int64_t n, T *to) \
    { \
        if (n == PIECE_SHORT) { \
            memcpy(to, from, PIECE_SHORT * sizeof(T)); \
        } else if (n == PIECE_MEDIUM) { \
            memcpy(to, from, PIECE_MEDIUM * sizeof(T)); \
        } else { \
            memcpy(to, from, PIECE_LONG * sizeof(T)); \
        } \
    } \
    /* The matrix row of output column `w`. The image ends at x_end, and elements of the unit at \
     * `room`. */ \
    static void window_pixel_##dtype(const VfkConvParams *params, const WindowPieces *p, \
                                     const WindowRows *rows, const T *x, const T *x_end, \
                                     int64_t w, T *to, const T *room) \
    { \
        const int64_t column = (w * params->stride[2] - params->pad[2]) * params->x_step[4]; \
        const int64_t depth = p->size * p->channels * rows->n; \
        int64_t inside[2]; \
        window_taps(params, w, &inside[0], &inside[1]); \
        const int64_t n = p->size <= PIECE_SHORT    ? PIECE_SHORT \
                          : p->size <= PIECE_MEDIUM ? PIECE_MEDIUM \
                                                    : PIECE_LONG; \
        const int is_short = p->is_run && p->size <= PIECE_LONG && inside[0] == 0 && \
                             inside[1] == p->n && room - to >= depth + PIECE_LONG; \
        for (int64_t c = 0; c < p->channels; c++, x += params->x_step[1]) { \
            for (int64_t k = 0; k < rows->n; k++, to += p->size) { \
                if (rows->at[k] == WINDOW_OUTSIDE) { \
                    memset(to, 0, (size_t)p->size * sizeof(T)); \
                    continue; \
                } \
                const int64_t at = rows->at[k] + column; \
                if (is_short && x_end - x - at >= n) { \
                    window_at_once_##dtype(x + at, n, to); \
                } else { \
                    window_piece_##dtype(p, x, at, inside, to); \
                } \
            } \
        } \
    } \
    /* The matrix rows of a line of pixels whose pieces are moved at once, without too much: piece \
     * by piece, so that lines of x are read from end to end. */ \
    static void window_line_##dtype(const VfkConvParams *params, const WindowPieces *p, \
                                    const WindowRows *rows, const T *x, T *to) \
    { \
        const int64_t width = params->out_dim[2], depth = p->size * p->channels * rows->n; \
        const int64_t step = params->stride[2] * params->x_step[4]; \
        for (int64_t c = 0; c < p->channels; c++, x += params->x_step[1]) { \
            for (int64_t k = 0; k < rows->n; k++, to += p->size) { \
                for (int64_t w = 0; w < width; w++) { \
                    if (rows->at[k] == WINDOW_OUTSIDE) { \
                        memset(to + w * depth, 0, (size_t)p->size * sizeof(T)); \
                    } else { \
                        window_at_once_##dtype(x + rows->at[k] + w * step, p->size, \
                                               to + w * depth); \
                    } \
                } \
            } \
        } \
    } \
    void VFK_FN(unfold, dtype)(const VfkArgs *args) \
    { \
        const VfkConvParams *params = args->params; \
        const WindowPieces p = window_pieces_of(params); \
        const int is_exact = window_is_exact(params, &p); \
        const int64_t width = params->out_dim[2]; \
        const int64_t lines = params->out_dim[0] * params->out_dim[1]; \
        const int64_t depth = params->in_channels * vfk_volume(params->kernel); \
        const T *room = (const T *)args->out[0] + args->end * width * depth; \
        int64_t last = (params->in_channels - 1) * params->x_step[1]; \
        for (int axis = 0; axis < 3; axis++) { \
            last += (params->in_dim[axis] - 1) * params->x_step[2 + axis]; \
        } \
        for (int64_t u = args->begin; u < args->end; u++) { \
            const T *x = (const T *)args->in[0] + u / lines * params->x_step[0]; \
            T *to = (T *)args->out[0] + u * width * depth; \
            WindowRows rows; \
            window_rows_of(params, u % lines / params->out_dim[1], u % params->out_dim[1], &rows); \
            if (is_exact) { \
                window_line_##dtype(params, &p, &rows, x, to); \
                continue; \
            } \
            for (int64_t w = 0; w < width; w++, to += depth) { \
                window_pixel_##dtype(params, &p, &rows, x, x + last + 1, w, to, room); \
            } \
        } \
    }

UNFOLD(b4, uint32_t)
UNFOLD(b8, uint64_t)
