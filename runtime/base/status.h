/* How a vitfold function says that it failed.
 *
 * A function that can fail returns a VfStatus and takes a `VfErr *err` last. On failure it
 * fills one sentence: lower case, no full stop, what failed first, the subject in quotes:
 * "cannot map 'w.bin': file ends at byte 4096". A caller that knows more prepends context:
 * "node 'blk.0/MatMul': ...". `err` may be NULL; then only the status is returned.
 *
 * "No match" is an answer, not an error. A broken invariant is VF_INTERNAL.
 */
#ifndef VF_BASE_STATUS_H
#define VF_BASE_STATUS_H

/* Numbered as the exit statuses of the command line, but for the last two (exit 6 and 130). */
typedef enum VfStatus {
    VF_OK = 0,
    VF_DIFFERS = 1,     /* a comparison or a check failed */
    VF_USAGE = 2,       /* the caller asked for something that does not exist */
    VF_INVALID = 3,     /* the model or data file is invalid or unsafe */
    VF_UNSUPPORTED = 4, /* valid, but not supported: names operator, dtype or shape, and node */
    VF_INTERNAL = 5,    /* a broken invariant of vitfold itself */
    VF_IO = 6,          /* reading, writing or mapping failed */
    VF_NO_MEMORY = 7,   /* an allocation failed */
    VF_CANCELLED = 8    /* the caller asked to stop; what is known so far is told */
} VfStatus;

enum { VF_ERR_TEXT_BYTES = 2048 };

typedef struct VfErr {
    VfStatus status;              /* VF_OK until something failed */
    char text[VF_ERR_TEXT_BYTES]; /* one sentence, UTF-8, always terminated; cut if longer */
} VfErr;

#define VF_PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))

/* Store `status` and the formatted sentence in `err` (may be NULL); return `status`. */
VfStatus vf_fail(VfErr *err, VfStatus status, const char *fmt, ...) VF_PRINTF(3, 4);

/* Put the formatted words and ": " before the sentence of `err`; return its status. */
VfStatus vf_context(VfErr *err, const char *fmt, ...) VF_PRINTF(2, 3);

/* vf_fail for a failed allocation. */
VfStatus vf_no_memory(VfErr *err);

/* Return the status of `call` from this function unless it is VF_OK. */
#define VF_TRY(call)                                  \
    do {                                              \
        VfStatus vf_try_status_ = (call);             \
        if (vf_try_status_ != VF_OK)                  \
            return vf_try_status_;                    \
    } while (0)

/* Return VF_NO_MEMORY from this function if `pointer` is NULL. */
#define VF_TRY_ALLOC(pointer, err)                    \
    do {                                              \
        if ((pointer) == NULL)                        \
            return vf_no_memory(err);                 \
    } while (0)

#endif
