#include "runtime/base/intern.h"

#include <stdbool.h>
#include <string.h>

/* A crit-bit tree. A key is read as 9-bit symbols: 0x100 | byte, and 0 past its end, so
 * that a prefix differs from its extensions. Each fork tests one bit of one symbol; forks
 * come in the order of (symbol, bit) from the root down. A child >= 0 is a fork, a child
 * < 0 is the key with number ~child.
 */
typedef struct Fork {
    size_t symbol;
    uint32_t bit; /* mask within the 9 bits */
    int32_t child[2];
} Fork;

struct VfIntern {
    VfArena *arena;
    VfBytes *key;
    Fork *fork; /* one fewer than keys */
    size_t n_key, key_capacity, fork_capacity;
    int32_t root;
};

VfIntern *vf_intern_new(VfArena *arena)
{
    VfIntern *table = VF_NEW(arena, VfIntern);
    if (table != NULL)
        table->arena = arena;
    return table;
}

static bool is_equal(VfBytes a, VfBytes b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

static uint32_t symbol_at(VfBytes key, size_t i)
{
    return i < key.size ? 0x100u | (unsigned char)key.data[i] : 0;
}

static int side_of(const Fork *fork, VfBytes key)
{
    return (symbol_at(key, fork->symbol) & fork->bit) != 0;
}

/* The one key that can equal `key`. The table must not be empty. */
static int32_t nearest(const VfIntern *table, VfBytes key)
{
    int32_t at = table->root;
    while (at >= 0)
        at = table->fork[at].child[side_of(&table->fork[at], key)];
    return ~at;
}

int32_t vf_intern_find(const VfIntern *table, VfBytes key)
{
    if (table->n_key == 0)
        return -1;
    int32_t id = nearest(table, key);
    return is_equal(table->key[id], key) ? id : -1;
}

/* Where `a` and `b`, which differ, differ first. */
static Fork first_difference(VfBytes a, VfBytes b)
{
    size_t i = 0;
    while (symbol_at(a, i) == symbol_at(b, i))
        i++;
    uint32_t differing = symbol_at(a, i) ^ symbol_at(b, i);
    uint32_t bit = 0x100;
    while ((differing & bit) == 0)
        bit >>= 1;
    return (Fork){.symbol = i, .bit = bit};
}

static bool is_above(const Fork *a, const Fork *b)
{
    return a->symbol != b->symbol ? a->symbol < b->symbol : a->bit > b->bit;
}

/* Hang the new key `id` and the fork that tells it apart into the tree. */
static void link_key(VfIntern *table, int32_t id, Fork fork)
{
    VfBytes key = table->key[id];
    int32_t *link = &table->root;
    while (*link >= 0 && is_above(&table->fork[*link], &fork))
        link = &table->fork[*link].child[side_of(&table->fork[*link], key)];
    int side = side_of(&fork, key);
    fork.child[side] = ~id;
    fork.child[!side] = *link;
    int32_t at = (int32_t)table->n_key - 1;
    table->fork[at] = fork;
    *link = at;
}

static VfStatus make_room(VfIntern *table, VfErr *err)
{
    if (table->n_key >= INT32_MAX - 1)
        return vf_fail(err, VF_UNSUPPORTED, "too many names: more than %d", INT32_MAX - 1);
    void *keys = table->key, *forks = table->fork;
    VF_TRY(vf_arena_grow(table->arena, &keys, &table->key_capacity, table->n_key + 1,
                         sizeof *table->key, err));
    table->key = keys;
    VF_TRY(vf_arena_grow(table->arena, &forks, &table->fork_capacity, table->n_key + 1,
                         sizeof *table->fork, err));
    table->fork = forks;
    return VF_OK;
}

VfStatus vf_intern_add(VfIntern *table, VfBytes key, int32_t *id, VfErr *err)
{
    int32_t near = table->n_key == 0 ? -1 : nearest(table, key);
    int32_t found = near >= 0 && is_equal(table->key[near], key) ? near : -1;
    if (found < 0) {
        VF_TRY(make_room(table, err));
        char *copy = vf_arena_copy(table->arena, key.data, key.size);
        VF_TRY_ALLOC(copy, err);
        found = (int32_t)table->n_key;
        table->key[found] = (VfBytes){copy, key.size};
        if (near < 0)
            table->root = ~found;
        else
            link_key(table, found, first_difference(table->key[near], key));
        table->n_key++;
    }
    if (id != NULL)
        *id = found;
    return VF_OK;
}

VfBytes vf_intern_get(const VfIntern *table, int32_t id)
{
    return table->key[id];
}

int32_t vf_intern_count(const VfIntern *table)
{
    return (int32_t)table->n_key;
}

int vf_bytes_compare(VfBytes a, VfBytes b)
{
    size_t n = a.size < b.size ? a.size : b.size;
    int order = n == 0 ? 0 : memcmp(a.data, b.data, n);
    return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

VfBytes vf_bytes(const char *string)
{
    return (VfBytes){string, strlen(string)};
}
