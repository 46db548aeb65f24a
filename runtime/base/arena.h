/* Memory that is freed all at once.
 *
 * Three lifetimes use arenas: a model's, a pass's (reset after each pass), a plan's.
 * A function that returns arena memory says of which arena. Every allocation can fail
 * and then returns NULL; sizes that overflow count as failure. Memory is zeroed.
 * An arena is used by one thread at a time.
 */
#ifndef VF_BASE_ARENA_H
#define VF_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/status.h"

typedef struct VfArena VfArena;

/* A new, empty arena, or NULL. */
VfArena *vf_arena_new(void);

/* Let allocations of 1 MiB and more lie in nameless files in `folder`, which must stay readable for
 * the life of the arena: what is made of weights then needs no memory of their size. Where
 * no such file can be made they are ordinary memory. NULL: none from here on. */
void vf_arena_page_to(VfArena *arena, const char *folder);

/* Let what comes after the first 2 MiB lie in huge pages, where the system has them: memory that
 * is read again and again then takes few places in the processor's table of pages. Each 32 MiB
 * may take up to a huge page more than is used of them. */
void vf_arena_use_huge_pages(VfArena *arena);

/* Free `arena` and all that was allocated from it. NULL is allowed. */
void vf_arena_free(VfArena *arena);

/* Forget all allocations but keep the memory for reuse. */
void vf_arena_reset(VfArena *arena);

/* `bytes` zeroed bytes aligned for any type (to 64 bytes from 256 bytes on), or NULL.
 * 0 bytes give a pointer of their own too. */
void *vf_arena_alloc(VfArena *arena, size_t bytes);

/* `count` zeroed items of `item_bytes`, or NULL, also when the product overflows. */
void *vf_arena_array(VfArena *arena, size_t count, size_t item_bytes);

/* A copy of `bytes` bytes at `data` with a terminating 0 byte added, or NULL. */
char *vf_arena_copy(VfArena *arena, const void *data, size_t bytes);

/* A copy of a terminated string, or NULL. */
char *vf_arena_string(VfArena *arena, const char *text);

/* A formatted string, or NULL. */
char *vf_arena_printf(VfArena *arena, const char *fmt, ...) VF_PRINTF(2, 3);

/* Bytes handed out since the arena was made or reset. */
size_t vf_arena_used(const VfArena *arena);

/* Grow an array kept in an arena: make room for at least `need` items. `*items` is moved
 * (old memory stays in the arena), `*capacity` updated. VF_NO_MEMORY leaves both alone. */
VfStatus vf_arena_grow(VfArena *arena, void **items, size_t *capacity, size_t need,
                       size_t item_bytes, VfErr *err);

/* Memory of known size that is filled front to back, piece by piece, and read only afterwards.
 * Where large allocations lie in files this is the cheap way to make one; elsewhere it is one
 * piece of ordinary memory. An arena has one open stream at a time.
 *
 *     VfArenaStream stream;
 *     if (!vf_arena_stream_begin(&stream, arena, bytes)) ...
 *     while ((n = vf_arena_stream_next(&stream, &piece)) > 0) fill piece[0..n)
 *     data = vf_arena_stream_end(&stream);
 */
typedef struct VfArenaStream {
    VfArena *arena;
    size_t bytes, done, piece; /* in all; before the current piece; of the current piece */
    unsigned char *memory;     /* all of it, or NULL: a file */
    int fd;
    bool has_failed;
} VfArenaStream;

/* False: no memory, and nothing to end. */
bool vf_arena_stream_begin(VfArenaStream *stream, VfArena *arena, size_t bytes);

/* The piece before is filled; where the next one is to be put, and its bytes: a multiple of 64
 * except for the last. Its contents are undefined. 0: that was all. */
size_t vf_arena_stream_next(VfArenaStream *stream, void **piece);

/* The whole, aligned to 64 bytes; NULL when the disk failed on the way. Must be called; calling it
 * before all pieces are filled leaves the rest undefined. */
const void *vf_arena_stream_end(VfArenaStream *stream);

/* A copy for reading only, made by a stream; NULL as above. */
const void *vf_arena_stream_copy(VfArena *arena, const void *data, size_t bytes);

#define VF_NEW(arena, type) ((type *)vf_arena_alloc((arena), sizeof(type)))
#define VF_NEW_ARRAY(arena, type, count) ((type *)vf_arena_array((arena), (count), sizeof(type)))

#endif
