#include "runtime/base/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "runtime/base/pages.h"
#include "runtime/base/size.h"

enum {
    SMALL_ALIGN = 16,          /* aligned for any type */
    LARGE_ALIGN = 64,          /* a cache line, for vector loads */
    LARGE_BYTES = 256,         /* from here on an allocation gets LARGE_ALIGN */
    FIRST_BLOCK = 4096,        /* blocks double from here ... */
    LARGEST_BLOCK = 1 << 20,   /* ... up to here; larger requests get a block of their own */
    PAGED_BYTES = 1 << 20,     /* from here on an allocation may lie in a file */
    PIECE_BYTES = 1 << 18,     /* of a stream: stays in the cache until it is written */
    HUGE_PAGE = 2 << 20,
    HUGE_BLOCK = 32 << 20, /* what its last page wastes is little of it */
    HEADER_BYTES = LARGE_ALIGN /* room of the block header, so that payloads are aligned */
};

typedef struct Block {
    struct Block *next;
    size_t size; /* payload bytes */
    size_t used;
} Block;

_Static_assert(sizeof(Block) <= HEADER_BYTES, "the header must fit before an aligned payload");

/* One allocation in a file. Apart from its data, which may be mapped for reading only. */
typedef struct Paged {
    struct Paged *next;
    const void *data;
    size_t bytes;
} Paged;

struct VfArena {
    Block *first;   /* all blocks in order of use; those after `current` are empty */
    Block *current;
    Paged *paged;
    const char *folder;   /* of those files; NULL: none */
    unsigned char *piece; /* buffer of streams, made for the first */
    size_t next_bytes; /* payload of the next ordinary block */
    size_t used;
    bool is_huge; /* blocks lie in huge pages */
};

static unsigned char *payload(Block *block)
{
    return (unsigned char *)block + HEADER_BYTES;
}

VfArena *vf_arena_new(void)
{
    VfArena *arena = calloc(1, sizeof *arena);
    if (arena != NULL)
        arena->next_bytes = FIRST_BLOCK - HEADER_BYTES;
    return arena;
}

void vf_arena_page_to(VfArena *arena, const char *folder)
{
    arena->folder = folder;
}

void vf_arena_use_huge_pages(VfArena *arena)
{
    arena->is_huge = true;
}

static void free_paged(VfArena *arena)
{
    for (Paged *paged = arena->paged; paged != NULL;) {
        Paged *next = paged->next;
        vf_pages_unmap(paged->data, paged->bytes);
        free(paged);
        paged = next;
    }
    arena->paged = NULL;
}

void vf_arena_free(VfArena *arena)
{
    if (arena == NULL)
        return;
    free_paged(arena);
    for (Block *block = arena->first; block != NULL;) {
        Block *next = block->next;
        free(block);
        block = next;
    }
    free(arena->piece);
    free(arena);
}

void vf_arena_reset(VfArena *arena)
{
    free_paged(arena);
    for (Block *block = arena->first; block != NULL; block = block->next)
        block->used = 0;
    arena->current = arena->first;
    arena->used = 0;
}

static void *take(Block *block, size_t bytes, size_t align)
{
    size_t start = (block->used + align - 1) & ~(align - 1);
    if (start > block->size || bytes > block->size - start)
        return NULL;
    block->used = start + bytes;
    return payload(block) + start;
}

/* Room for `total` bytes, made larger in huge pages, which only an arena gets that would fill one.
 * A system without such pages ignores the advice. */
static Block *new_block(const VfArena *arena, size_t *total)
{
    if (!arena->is_huge || (arena->used < HUGE_PAGE && *total < HUGE_PAGE))
        return vf_size_align(*total, LARGE_ALIGN, total) ? aligned_alloc(LARGE_ALIGN, *total)
                                                         : NULL;
    if (!vf_size_align(*total < HUGE_BLOCK ? HUGE_BLOCK : *total, HUGE_PAGE, total))
        return NULL;
    Block *block = aligned_alloc(HUGE_PAGE, *total);
#ifdef MADV_HUGEPAGE
    if (block != NULL)
        madvise(block, *total, MADV_HUGEPAGE);
#endif
    return block;
}

/* Put a block with room for `bytes` after the current one and make it current. */
static bool add_block(VfArena *arena, size_t bytes)
{
    size_t size = bytes > arena->next_bytes ? bytes : arena->next_bytes;
    size_t total;
    if (!vf_size_add(size, HEADER_BYTES, &total))
        return false;
    Block *block = new_block(arena, &total);
    if (block == NULL)
        return false;
    *block = (Block){.size = total - HEADER_BYTES};
    if (arena->current == NULL) {
        arena->first = block;
    } else {
        block->next = arena->current->next;
        arena->current->next = block;
    }
    arena->current = block;
    if (arena->next_bytes < LARGEST_BLOCK - HEADER_BYTES)
        arena->next_bytes = 2 * (arena->next_bytes + HEADER_BYTES) - HEADER_BYTES;
    return true;
}

/* Take over the mapping `data`; false when there is no memory to remember it. */
static bool keep_paged(VfArena *arena, const void *data, size_t bytes)
{
    Paged *paged = data != NULL ? malloc(sizeof *paged) : NULL;
    if (paged == NULL) {
        if (data != NULL)
            vf_pages_unmap(data, bytes);
        return false;
    }
    *paged = (Paged){arena->paged, data, bytes};
    arena->paged = paged;
    arena->used += bytes;
    return true;
}

/* NULL when there is no file for it. */
static void *take_paged(VfArena *arena, size_t bytes)
{
    void *data = arena->folder != NULL ? vf_pages_map(arena->folder, bytes) : NULL;
    return keep_paged(arena, data, bytes) ? data : NULL;
}

void *vf_arena_alloc(VfArena *arena, size_t bytes)
{
    size_t room = bytes == 0 ? 1 : bytes;
    void *in_file = room >= PAGED_BYTES ? take_paged(arena, room) : NULL;
    if (in_file != NULL)
        return in_file;
    size_t align = room >= LARGE_BYTES ? LARGE_ALIGN : SMALL_ALIGN;
    void *data = arena->current == NULL ? NULL : take(arena->current, room, align);
    while (data == NULL && arena->current != NULL && arena->current->next != NULL) {
        arena->current = arena->current->next;
        data = take(arena->current, room, align);
    }
    if (data == NULL) {
        if (!add_block(arena, room))
            return NULL;
        data = take(arena->current, room, align);
    }
    arena->used += room;
    return memset(data, 0, room);
}

/* --- streams --- */

static bool open_stream_file(VfArenaStream *stream)
{
    VfArena *arena = stream->arena;
    if (arena->folder == NULL || stream->bytes < PAGED_BYTES)
        return false;
    if (arena->piece == NULL)
        arena->piece = aligned_alloc(LARGE_ALIGN, PIECE_BYTES);
    if (arena->piece != NULL)
        stream->fd = vf_pages_open(arena->folder, stream->bytes);
    return stream->fd >= 0;
}

bool vf_arena_stream_begin(VfArenaStream *stream, VfArena *arena, size_t bytes)
{
    *stream = (VfArenaStream){.arena = arena, .bytes = bytes, .fd = -1};
    if (!open_stream_file(stream))
        stream->memory = vf_arena_alloc(arena, bytes);
    return stream->fd >= 0 || stream->memory != NULL;
}

static void finish_piece(VfArenaStream *stream)
{
    if (stream->fd >= 0 && !stream->has_failed)
        stream->has_failed =
            !vf_pages_put(stream->fd, stream->done, stream->arena->piece, stream->piece);
    stream->done += stream->piece;
    stream->piece = 0;
}

size_t vf_arena_stream_next(VfArenaStream *stream, void **piece)
{
    finish_piece(stream);
    size_t left = stream->bytes - stream->done;
    if (stream->has_failed)
        return 0;
    stream->piece = stream->fd >= 0 && left > PIECE_BYTES ? PIECE_BYTES : left;
    *piece = stream->fd >= 0 ? stream->arena->piece : stream->memory + stream->done;
    return stream->piece;
}

const void *vf_arena_stream_end(VfArenaStream *stream)
{
    finish_piece(stream);
    if (stream->fd < 0)
        return stream->memory;
    if (stream->has_failed) {
        vf_pages_close(stream->fd);
        return NULL;
    }
    const void *data = vf_pages_view(stream->fd, stream->bytes);
    return keep_paged(stream->arena, data, stream->bytes) ? data : NULL;
}

const void *vf_arena_stream_copy(VfArena *arena, const void *data, size_t bytes)
{
    VfArenaStream stream;
    void *piece;
    if (!vf_arena_stream_begin(&stream, arena, bytes))
        return NULL;
    for (size_t n; (n = vf_arena_stream_next(&stream, &piece)) > 0;)
        memcpy(piece, (const char *)data + stream.done, n);
    return vf_arena_stream_end(&stream);
}

/* --- */

void *vf_arena_array(VfArena *arena, size_t count, size_t item_bytes)
{
    size_t bytes;
    return vf_size_mul(count, item_bytes, &bytes) ? vf_arena_alloc(arena, bytes) : NULL;
}

char *vf_arena_copy(VfArena *arena, const void *data, size_t bytes)
{
    if (bytes == SIZE_MAX)
        return NULL;
    char *copy = vf_arena_alloc(arena, bytes + 1);
    if (copy != NULL && bytes > 0)
        memcpy(copy, data, bytes);
    return copy;
}

char *vf_arena_string(VfArena *arena, const char *text)
{
    return vf_arena_copy(arena, text, strlen(text));
}

char *vf_arena_printf(VfArena *arena, const char *fmt, ...)
{
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, fmt, args);
    char *text = n < 0 ? NULL : vf_arena_alloc(arena, (size_t)n + 1);
    if (text != NULL)
        vsnprintf(text, (size_t)n + 1, fmt, again);
    va_end(again);
    va_end(args);
    return text;
}

size_t vf_arena_used(const VfArena *arena)
{
    return arena->used;
}

VfStatus vf_arena_grow(VfArena *arena, void **items, size_t *capacity, size_t need,
                       size_t item_bytes, VfErr *err)
{
    if (need <= *capacity)
        return VF_OK;
    size_t wanted = *capacity < 8 ? 8 : *capacity;
    if (!vf_size_mul(wanted, 2, &wanted) || wanted < need)
        wanted = need;
    void *grown = vf_arena_array(arena, wanted, item_bytes);
    VF_TRY_ALLOC(grown, err);
    if (*capacity > 0)
        memcpy(grown, *items, *capacity * item_bytes);
    *items = grown;
    *capacity = wanted;
    return VF_OK;
}
